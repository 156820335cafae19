"""What values of Python hold, as bytes that tell them apart: functions by their code and all that they use."""

import collections
import copyreg
import dataclasses
import dis
import enum
import functools
import hashlib
import importlib.util
import inspect
import logging
import os
import pathlib
import random
import re
import site
import sys
import sysconfig
import threading
import types

import numpy as np

from infeed import _definition


class Unhashable(Exception):
    """What cannot be told apart by its content."""


def digest(data):
    """A hash as text."""
    return hashlib.sha256(data).hexdigest()[:32]


_PART = 16 << 20  # bytes


def _hash(data):
    """SHA-256 of bytes; where they are many, of the hashes of their parts, which several threads make."""
    if len(data) <= _PART:
        return hashlib.sha256(data).digest()
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(4, len(os.sched_getaffinity(0)))) as pool:
        parts = pool.map(lambda at: hashlib.sha256(data[at:at + _PART]).digest(), range(0, len(data), _PART))
        return hashlib.sha256(b"".join(parts)).digest()


class Contents:
    """Bytes for values, each looked at once."""

    def __init__(self):
        self.inside_of = {}  # id -> depth, of the values that are being looked at: some refer to themselves
        self.known = {}  # id -> (value, bytes) of those that were

    def dataset(self, node):
        """Bytes for a dataset among the values."""
        raise NotImplementedError

    def value(self, v):
        """Bytes that tell a value apart."""
        if v is None or v is Ellipsis or isinstance(v, (bool, int, float, complex, str, bytes)) and type(v).__module__ == "builtins":
            return f"{type(v).__name__} {v!r}".encode()
        if id(v) in self.inside_of:
            return f"outer {self.inside_of[id(v)]}".encode()
        if id(v) not in self.known:
            self.inside_of[id(v)] = len(self.inside_of)
            try:
                made = f"{type(v).__qualname__}(".encode() + self.inside(v) + b")"
            finally:
                del self.inside_of[id(v)]
            self.known[id(v)] = v, made
        return self.known[id(v)][1]

    def all(self, values):
        return b",".join(digest(self.value(v)).encode() for v in values)

    def inside(self, v):
        if type(v) is np.ndarray:
            return self.array(v)
        if isinstance(v, (np.generic, np.dtype, range, pathlib.PurePath, enum.Enum)):
            return f"{getattr(v, 'dtype', '')} {v!r}".encode()
        if isinstance(v, (list, tuple, collections.deque)) and not hasattr(v, "__dict__"):
            return self.all(v)
        if type(v) in (set, frozenset):
            return b",".join(sorted(digest(self.value(x)).encode() for x in v))
        if type(v) in (dict, types.MappingProxyType):
            return self.all([x for item in v.items() for x in item])
        if isinstance(v, re.Pattern):
            return self.all((v.pattern, v.flags))
        if isinstance(v, functools.partial):
            return self.all((v.func, v.args, v.keywords))
        if isinstance(v, types.MethodType):
            return self.all((v.__func__, v.__self__))
        if isinstance(v, (types.BuiltinMethodType, types.MethodWrapperType)) and not isinstance(v.__self__, (types.ModuleType, type)):
            return self.all((v.__name__, v.__self__))
        if isinstance(v, functools._lru_cache_wrapper):
            return self.all((v.__wrapped__,))
        if isinstance(v, (staticmethod, classmethod)):
            return self.all((v.__func__,))
        if isinstance(v, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            return f"{v.__objclass__.__qualname__}.{v.__name__}".encode()
        if isinstance(v, (logging.Logger, *_LOCKS)) or any(v is m for m in _MARKS):
            return getattr(v, "name", "").encode()  # no element depends on what it holds
        if isinstance(v, types.CodeType):
            return self.code(v)
        if isinstance(v, types.ModuleType):
            return self.module(v)
        if isinstance(v, (types.BuiltinFunctionType, np.ufunc, type)) or inspect.isroutine(v):
            return self.named(v)
        return self.instance(v)

    def array(self, a):
        head = f"{a.dtype.str} {a.dtype!r} {a.shape} ".encode()
        if a.dtype.hasobject:
            return head + self.all(a.ravel().tolist())
        return head + _hash(np.ascontiguousarray(a).reshape(-1).view(np.uint8).data if a.ndim and a.size else a.tobytes())

    def code(self, c):
        return self.all((c.co_code, c.co_names, c.co_varnames, c.co_freevars, c.co_cellvars, c.co_flags,
                         getattr(c, "co_exceptiontable", b""), *c.co_consts))

    def module(self, m):
        kind = _origin(m.__name__)
        if kind != "user":
            return f"{m.__name__} {kind}".encode()
        file = getattr(m, "__file__", None)
        if file is None:
            raise Unhashable(f"the module {m.__name__} has no file")
        return pathlib.Path(file).read_bytes()

    def named(self, v):
        """A function or class: that of a package by name and version, others by what they are."""
        module = getattr(v, "__module__", None) or getattr(type(getattr(v, "__self__", None)), "__module__", "builtins")
        kind = _origin(module)
        if kind != "user":
            return f"{module}.{getattr(v, '__qualname__', getattr(v, '__name__', v))} {kind}".encode()
        if isinstance(v, types.FunctionType):
            return self.all((v.__code__, v.__defaults__, v.__kwdefaults__, *[x for pair in captured(v) for x in pair]))
        if isinstance(v, type):
            own = {k: x for k, x in vars(v).items() if k not in ("__dict__", "__weakref__", "__doc__", "__module__", "__annotations__",
                                                                 "__firstlineno__", "__static_attributes__", "__annotate_func__")}
            return self.all((v.__qualname__, *v.__bases__, own))
        raise Unhashable(f"{v!r:.80} is a function whose code is not known")

    def instance(self, v):
        kind = type(v)
        if isinstance(v, property):
            return self.all((v.fget, v.fset, v.fdel))
        if hasattr(v, "_node") and isinstance(v._node, _definition.Node):
            return self.dataset(v._node)
        slots = [s for c in kind.__mro__ for s in ([c.__slots__] if isinstance(getattr(c, "__slots__", ()), str) else getattr(c, "__slots__", ()))]
        own = {**{s: getattr(v, s) for s in slots if s not in ("__dict__", "__weakref__") and hasattr(v, s)}, **getattr(v, "__dict__", {})}
        if isinstance(v, collections.defaultdict):
            own["default_factory"] = v.default_factory
        base = [x for x in (list, tuple, dict, set, frozenset, str, bytes, int, float, np.ndarray) if isinstance(v, x)][:1]
        held = [v.view(np.ndarray) if b is np.ndarray else b(v) for b in base]
        bare = _origin(kind.__module__) != "user" and not own and not held
        made = _made_of(v) if bare else ()
        if bare and not made or isinstance(v, (types.GeneratorType, random.Random, np.random.Generator, np.random.RandomState)):
            raise Unhashable(f"a {kind.__module__}.{kind.__qualname__} is not known by its content")
        return self.all((kind, own, *held, *made))


def _made_of(v):
    """What pickle would make a value of, as of a date; nothing where that is not all, as of what is consumed."""
    if isinstance(v, (bytearray, memoryview)):
        return (bytes(v),)
    if hasattr(v, "__next__"):
        return ()
    try:
        made = v.__reduce_ex__(2)
    except Exception:  # whatever it is, such a value cannot be told apart
        return ()
    if isinstance(made, str):
        return (made,)
    return () if made[0] is copyreg.__newobj__ and len(made[1]) == 1 and not any(made[2:]) else made[1:3]


_MARKS = (NotImplemented, inspect.Parameter.empty, dataclasses.MISSING, getattr(dataclasses, "_HAS_DEFAULT_FACTORY", None))
_LOCKS = (type(threading.Lock()), type(threading.RLock()))


def captured(fn):
    """Names and values of what a function uses from outside: its closure, globals that its code names, and what it imports.

    Of a module of the user's, what the code may take from it as well.
    """
    out = []
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            out.append((f"closure {name}", cell.cell_contents))
        except ValueError:  # it is empty
            out.append((f"closure {name}", None))
    used, imports, names = set(), set(), set()
    for code in _codes(fn.__code__):
        _uses(code, used, imports)
        names.update(code.co_names)
    out += [(f"global {name}", fn.__globals__[name]) for name in sorted(used) if name in fn.__globals__]
    out += [(f"import {name}", _imported(name, level, fn.__globals__)) for name, level in sorted(imports)]
    modules = [(what, v) for what, v in out if isinstance(v, types.ModuleType)]
    for what, module in modules:
        if _origin(module.__name__) == "user":
            found = [(f"{what}.{n}", vars(module)[n]) for n in sorted(names) if n in vars(module)]
            out += found
            modules += [(w, v) for w, v in found if isinstance(v, types.ModuleType) and all(v is not m for _, m in modules)]
    if fn.__dict__:
        out.append(("attributes", fn.__dict__))
    return out


def _codes(code):
    """Code and that of the functions in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


def _uses(code, used, imports):
    """Adds the globals that code names, and the modules that it imports, as (name, level)."""
    constants = []
    for i in dis.get_instructions(code):
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            used.add(i.argval)
        elif i.opname == "IMPORT_NAME":  # behind its level and what it is to give
            level = constants[-2] if len(constants) > 1 else 0
            imports.add((i.argval, level if type(level) is int else 0))
        elif i.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            constants.append(i.argval)


def _imported(name, level, names):
    """The module that an import in a function gives; name and version where it is not the user's, so that it is not loaded for this."""
    full = "." * level + name
    try:
        full = importlib.util.resolve_name(full, names.get("__package__"))
        top = full.partition(".")[0]
        file = getattr(sys.modules[top], "__file__", None) if top in sys.modules else importlib.util.find_spec(top).origin
        if top in sys.stdlib_module_names or top in sys.builtin_module_names or top == "infeed":
            return full, _origin(top)
        return (full, _version(top, file)) if file is not None and _package(file) else importlib.import_module(full)
    except Exception:  # the function may never come there
        return full


@functools.lru_cache(None)
def _origin(module):
    """"user" for code that may change; else what version of what package or Python a module is of."""
    top = module.partition(".")[0]
    if top == "infeed":
        import infeed

        return infeed.__version__
    if top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return f"Python {sys.version_info[:2]}" if top != "__main__" else "user"
    found = sys.modules.get(top)
    file = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", [])), None)
    if file is None or not _package(file):
        return "user"
    return f"{top} {getattr(found, '__version__', None) or _version(top, file)}"


def _version(top, file):
    """The version of a package, or what stands for it."""
    import importlib.metadata  # here: it takes 25 ms

    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        return os.stat(file).st_mtime_ns


def _package(file):
    """Whether a file is of a package that was installed."""
    places = [sysconfig.get_paths()[k] for k in ("purelib", "platlib")] + [site.getusersitepackages()]
    return any(pathlib.Path(file).is_relative_to(p) for p in places)
