"""Fingerprints of definitions: what the elements of a dataset depend on, as a hash for each part.

A fingerprint is a dict from a part, in words, to a hash, so that two can be compared
and what differs can be said. Order does not matter but for the numbers of operations.
"""

import dis
import enum
import functools
import hashlib
import importlib.metadata
import inspect
import os
import pathlib
import re
import site
import sys
import sysconfig
import types

import numpy as np

from infeed import _definition, _template
from infeed._errors import InvalidArgumentError

# Operations on which the elements do not depend.
_SAME = {"prefetch", "snapshot"}
# Arguments on which they do not depend, or that are looked at otherwise.
_APART = {"drawn", "address", "bytes", "offsets", "buffer_size_of_files", "call", "calls", "hash", "name", "about"}


class Unhashable(Exception):
    """What cannot be told apart by its content."""


def parts_of(node, identity="stat", given=None, functions=None):
    """The parts of the fingerprint of a definition, and of functions of its elements by name.

    identity: "stat" tells files apart by size and modification time, "content" by what
    they hold. given: stands for what cannot be hashed. Raises InvalidArgumentError where
    there is such and nothing is given.
    """
    parts = {} if given is None else {"fingerprint": _digest(given.encode())}
    all_ = _Parts(parts, identity, given is not None)
    all_.add_definition(node, "")
    for name, function in (functions or {}).items():
        all_.add_function(function, name)
    return parts


def digest_of(parts):
    """The fingerprint as text."""
    return _digest("\n".join(f"{k}={v}" for k, v in sorted(parts.items())).encode())


def difference(theirs, ours):
    """What differs between the parts of two fingerprints, as sentences."""
    out = [f"{k} is new" for k in ours if k not in theirs] + [f"{k} is gone" for k in theirs if k not in ours]
    return out + [f"{k} changed" for k in ours if k in theirs and theirs[k] != ours[k]]


def _same(node):
    """Whether an operation changes no element, nor their order."""
    return node.op in _SAME and not getattr(node, "reader", None)


def _below(node):
    """The first node, from one on down, that is not the same as its input."""
    while _same(node):
        node = node.inputs[0]
    return node


def _digest(data):
    return hashlib.sha256(data).hexdigest()[:32]


class _Parts:
    def __init__(self, parts, identity, given):
        self.parts, self.identity, self.given = parts, identity, given
        self.inside_of = {}  # id -> depth, of the values that are being looked at: some refer to themselves
        self.known = {}  # id -> (value, bytes) of those that were
        self.texts = []  # strings in memory, which may be paths

    # -- definitions ------------------------------------------------------------------

    def add_definition(self, node, where):
        nodes = [n for n in node.nodes() if not _same(n)]
        numbers = {id(n): i + 1 for i, n in enumerate(nodes)}
        for i, n in enumerate(nodes):
            name = f"{where}{i + 1}. {n.op}"
            self.add_node(n, name)
            inputs = [numbers[id(_below(x))] for x in n.inputs]
            if inputs and inputs != [i]:  # not simply what the one before makes
                self.put(f"{name}: inputs", lambda: self.value(inputs))

    def put(self, name, make):
        try:
            self.parts[name] = _digest(make())
        except Unhashable as e:
            if not self.given:
                raise InvalidArgumentError(f'snapshot: {name} cannot be hashed, since {e}; give fingerprint="v1", and another text whenever '
                                           "it makes other elements") from None

    def add_node(self, node, name):
        if isinstance(node, _definition.Slices):
            for k, (array, dtype) in enumerate(zip(node.arrays, node.dtypes)):
                self.put(f"{name}: array {k}", lambda a=array: self.array(np.asarray(a)))
                if dtype.hasobject:
                    self.texts += [t for t in np.ravel(np.asarray(array, object))[:100_000] if isinstance(t, (bytes, str))]
            return
        if node.op == "snapshot":
            if node.shard:
                self.add_function(node.shard, f"{name}: shard_func")
            self.add_definition(node.reader._node, f"{name}, reader_func: ")
            return
        self.add_arguments(name, node.args)
        if node.op in ("load", "load_tf", "parts") and getattr(node, "like", None) is None:
            self.add_loaded(name, node.arguments()["path"])
        if node.op == "list_files":
            self.add_listed(node, name)
        if hasattr(node, "obj") and not self.given:
            self.put(f"{name}: object", lambda: self.value(node.obj))
        for f in node.functions():
            self.add_function(f, name)

    def add_arguments(self, name, args):
        args = dict(args)
        if "filenames" in args:
            self.add_files(name, args.pop("filenames"))
            args.pop("buffer_size", None)
        if args.get("drawn") is True:
            args.pop("seed", None)
        if name.endswith((". load", ". load_tf")):
            args = {k: v for k, v in args.items() if v is not None and k != "path"}
        args = {k: v for k, v in args.items() if k not in _APART}
        if args:
            self.put(f"{name}: arguments", lambda: self.value(args))

    def add_listed(self, node, name):
        from infeed import _dataset

        plain = _definition.Node("list_files", {**node.args, "shuffle": False}, structure=node.structure)
        self.add_files(name, sorted(os.fsdecode(f) for f in _dataset.Dataset(plain)))

    def add_files(self, name, files):
        """Files that are read; a name that differs between elements is that of one seen elsewhere."""
        if not isinstance(files, list) or any(isinstance(f, _template.Value) for f in files):
            known = [t for t in self.texts if os.path.isfile(t)]
            if not known and not any(": file " in p for p in self.parts):
                self.put(f"{name}: filenames", lambda: _unhashable("which files are read is known only when they are read"))
            files = [os.fsdecode(t) for t in known]
        elif len(files) > 1:
            self.put(f"{name}: order of files", lambda: self.value([os.fsdecode(f) for f in files]))
        for file in files:
            self.put(f"{name}: file {file}", lambda f=file: self.file(f))

    def file(self, path):
        try:
            if self.identity == "content":
                with open(path, "rb") as f:
                    return hashlib.file_digest(f, "sha256").digest() if hasattr(hashlib, "file_digest") else hashlib.sha256(f.read()).digest()
            found = os.stat(path)
        except OSError as e:
            return f"missing {type(e).__name__}".encode()
        return f"{found.st_size} {found.st_mtime_ns}".encode()

    def add_loaded(self, name, path):
        from infeed import _snapshot

        self.put(f"{name}: what is stored", lambda: _snapshot.manifest_bytes(path))

    def add_function(self, function, name):
        function.decide()
        template = getattr(function, "_template", None)
        if template is not None:
            self.put(f"{name}: program", lambda: self.value(_plain(template.program)))
            self.add_definition(template._node, f"{name}, inside: ")
        elif getattr(function, "_traced", None) is not None:
            self.put(f"{name}: program", lambda: self.value(_plain(function._traced.document)))
        elif not self.given and function.op != "from_indexable":
            self.add_python(name, function.fn)

    def add_python(self, name, fn):
        """A function of Python, its parts by themselves, to be able to say which one changed."""
        self.put(f"{name}: Python", lambda: f"{sys.version_info[:2]} {np.__version__}".encode())
        if not isinstance(fn, types.FunctionType):
            self.put(f"{name}: object", lambda: self.value(fn))
            return
        self.inside_of[id(fn)] = 0
        self.put(f"{name}: code", lambda: self.code(fn.__code__))
        if fn.__defaults__ or fn.__kwdefaults__:
            self.put(f"{name}: defaults", lambda: self.value((fn.__defaults__, fn.__kwdefaults__)))
        for what, value in _captured(fn):
            self.put(f"{name}: {what}", lambda v=value: self.value(v))

    # -- values of Python ---------------------------------------------------------------

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
        return b",".join(_digest(self.value(v)).encode() for v in values)

    def inside(self, v):
        if isinstance(v, np.ndarray):
            return self.array(v)
        if isinstance(v, (np.generic, np.dtype, range, pathlib.PurePath, enum.Enum)):
            return f"{getattr(v, 'dtype', '')} {v!r}".encode()
        if isinstance(v, (list, tuple)) and not hasattr(v, "__dict__"):
            return self.all(v)
        if isinstance(v, (set, frozenset)):
            return b",".join(sorted(_digest(self.value(x)).encode() for x in v))
        if isinstance(v, dict):
            return self.all([x for item in v.items() for x in item])
        if isinstance(v, re.Pattern):
            return self.all((v.pattern, v.flags))
        if isinstance(v, functools.partial):
            return self.all((v.func, v.args, v.keywords))
        if isinstance(v, types.MethodType):
            return self.all((v.__func__, v.__self__))
        if isinstance(v, types.CodeType):
            return self.code(v)
        if isinstance(v, types.ModuleType):
            return self.module(v)
        if isinstance(v, (types.BuiltinFunctionType, np.ufunc, type)) or inspect.isroutine(v):
            return self.named(v)
        return self.instance(v)

    def array(self, a):
        head = f"{a.dtype.str} {a.shape} ".encode()
        if a.dtype.hasobject:
            return head + self.all(a.ravel().tolist())
        h = hashlib.sha256(np.ascontiguousarray(a).view(np.uint8).data if a.ndim and a.size else a.tobytes())
        return head + h.digest()

    def code(self, c):
        return self.all((c.co_code, c.co_names, c.co_varnames, c.co_freevars, c.co_cellvars, c.co_flags, *c.co_consts))

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
            return self.all((v.__code__, v.__defaults__, v.__kwdefaults__, *[x for pair in _captured(v) for x in pair]))
        if isinstance(v, type):
            own = {k: x for k, x in vars(v).items() if k not in ("__dict__", "__weakref__", "__doc__", "__module__", "__annotations__",
                                                                 "__firstlineno__", "__static_attributes__", "__annotate_func__")}
            return self.all((v.__qualname__, *v.__bases__, own))
        raise Unhashable(f"{v!r:.80} is a function whose code is not known")

    def instance(self, v):
        kind = type(v)
        if isinstance(v, (staticmethod, classmethod)):
            return self.all((v.__func__,))
        if isinstance(v, property):
            return self.all((v.fget, v.fset, v.fdel))
        if hasattr(v, "_node") and isinstance(v._node, _definition.Node):
            return repr(sorted(parts_of(v._node, self.identity).items())).encode()
        slots = [s for c in kind.__mro__ for s in ([c.__slots__] if isinstance(getattr(c, "__slots__", ()), str) else getattr(c, "__slots__", ()))]
        own = {**{s: getattr(v, s) for s in slots if s not in ("__dict__", "__weakref__") and hasattr(v, s)}, **getattr(v, "__dict__", {})}
        if _origin(kind.__module__) != "user" and not own or isinstance(v, (types.GeneratorType, np.random.Generator, np.random.RandomState)):
            raise Unhashable(f"a {kind.__module__}.{kind.__qualname__} is not known by its content")
        base = [x for x in (list, tuple, dict, set, frozenset, str, bytes, int, float) if isinstance(v, x)]
        return self.all((kind, own, *[b(v) for b in base[:1]]))


def _unhashable(why):
    raise Unhashable(why)


def _plain(document):
    """A program without what differs from run to run."""
    from infeed import _subdataset

    return _subdataset._without_seeds(document)


def _captured(fn):
    """Names and values of what a function uses from outside: its closure, and globals that its code names."""
    out = []
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            out.append((f"closure {name}", cell.cell_contents))
        except ValueError:  # it is empty
            out.append((f"closure {name}", None))
    for name in sorted(_global_names(fn.__code__)):
        if name in fn.__globals__:
            out.append((f"global {name}", fn.__globals__[name]))
    return out


def _global_names(code):
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names |= _global_names(const)
    return names


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
    if file is None:
        return "user"
    places = [sysconfig.get_paths()[k] for k in ("purelib", "platlib")] + [site.getusersitepackages()]
    if not any(pathlib.Path(file).is_relative_to(p) for p in places):
        return "user"
    version = getattr(found, "__version__", None)
    if version is None:
        try:
            version = importlib.metadata.version(top)
        except importlib.metadata.PackageNotFoundError:
            version = os.stat(file).st_mtime_ns
    return f"{top} {version}"
