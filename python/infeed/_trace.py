"""Tracing: a function given to `map` is called with stand-ins, which note what is done with them.

What was noted is a program for the engine (the JSON form is in core/op/doc.go). A
stand-in has a dtype and a shape, in which None is a dimension that differs between
elements. Whatever needs the values themselves ends the trace, and the function then
runs as Python.

Operations of infeed note themselves by `record`.
"""

import base64
import functools
import hashlib
import json
import threading

import numpy as np

from infeed import _arrays, _definition, _text
from infeed._errors import InvalidArgumentError
from infeed._spec import Structure, TensorSpec
from infeed._stand_in import SIZES, Parts, Tensor

_LEAF = Structure("leaf")

# How much closures may bring into a program, in bytes.
_CONSTANT_BYTES = 64 << 20

# What makes values that equal NumPy's bit for bit; of others `agree` allows a few ulp.
_EXACT = frozenset(
    "const cast reshape expand_dims squeeze select slice take gather transpose concatenate broadcast_to text_equal "
    "add subtract multiply divide negative absolute square sqrt reciprocal sign maximum minimum fmax fmin floor_divide "
    "remainder fmod equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not "
    "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift floor ceil trunc rint isnan isinf isfinite signbit "
    "copysign heaviside conjugate real imag max min argmax argmin size deg2rad rad2deg "
    "slice_at mask positions cumsum cumprod sort argsort searchsorted".split())


WEAK = (int, float, complex)  # Python's numbers, which leave other operands their dtype


class EndOfTrace(BaseException):
    """The function did what cannot be noted. Derives from BaseException to pass by `except Exception`."""


class Traced:
    """What a function was traced to: the program, and what elements it makes."""

    __slots__ = ("document", "structure", "specs", "exact", "_hash")

    def __init__(self, document, structure, specs, exact):
        self.document = document  # for core/op
        self.structure, self.specs = structure, specs  # as a Dataset has them
        self.exact = exact  # whether results equal the function's own bit for bit; None: they are random
        self._hash = None

    @property
    def hash(self):
        """What tells the program apart from others."""
        if self._hash is None:
            self._hash = hashlib.sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()[:12]
        return self._hash


class Trace:
    """The program of one call of a function, as far as it has come."""

    def __init__(self, parent=None):
        self.parent = parent  # in which this one is
        self.level = parent.level + 1 if parent else 0
        self.nodes = []
        self.values = 0
        self.reason = None  # why it ended
        self.exact = True
        self.randoms = 0  # how many random operations there are
        self._constants = {}
        self._bytes = 0

    def end(self, reason):
        """Ends the trace, for good."""
        self.reason = self.reason or reason
        raise EndOfTrace(self.reason)

    def add(self, op, operands, attrs, results):
        """Adds a node; the stand-ins for its results, of (shape, dtype) each."""
        if self.reason:
            raise EndOfTrace(self.reason)
        operands = [t if t._trace is self else self._from_outside(t) for t in operands]
        made = [self.value(shape, dtype) for shape, dtype in results]
        for t in (*operands, *made):
            if t._dtype.kind == "f" and t._dtype.num >= 256:  # float8_e5m2: not NumPy's, but of the kind of NumPy's
                self.end(f"it uses {t._dtype}")
        self.nodes.append({"op": op, "in": [t._value for t in operands], "attrs": attrs})
        if op.startswith("random"):
            self.exact = None
        elif self.exact and any([t._dtype.kind in "fc" for t in made]):
            of_complex = any(t._dtype.kind == "c" for t in operands) and op in ("multiply", "divide", "square", "absolute")
            self.exact = op in _EXACT and not of_complex
        return made

    def value(self, shape, dtype):
        self.values += 1
        return Tensor(self, self.values - 1, tuple(shape), np.dtype(dtype))

    def constant(self, value, dtype=None):
        """The stand-in for an array or number that the function brought along."""
        if type(value) in (bool, int, float) and -1 << 63 <= value < 1 << 63:
            key, attrs, dtype = _number(type(value), repr(value), dtype)
            if key not in self._constants:
                self._constants[key] = self.add("const", [], attrs, [((), dtype)])[0]
            return self._constants[key]
        a = self.constant_array(value)
        if dtype is not None:
            with np.errstate(all="ignore"):
                a = np.asarray(a).astype(dtype)
        a = np.ascontiguousarray(a).reshape(a.shape)
        texts = None
        if a.dtype.kind in "SUO":
            texts = _texts(self, a)
            key = (a.shape, tuple(texts))
        else:
            key = _key(a)
        if key not in self._constants:
            self._constants[key] = self._new_constant(a, texts)
        return self._constants[key]

    def operand(self, value):
        """value as a stand-in, an array or a Python number."""
        if type(value) is Tensor or type(value) in WEAK:
            return value
        if isinstance(value, (list, tuple)) and trace_of(value) is not None:
            return stack(self, value)
        return self.constant_array(value)

    def constant_array(self, value):
        """An array of what the function brought along."""
        if type(value) in SIZES:
            value.index()
        if isinstance(value, (np.ndarray, np.generic)):
            return np.asarray(value)
        try:
            with np.errstate(all="ignore"):
                return np.asarray(value)
        except Exception as e:
            self.end(f"it uses {value!r:.60}, which is no array ({e})")

    def _new_constant(self, a, texts):
        self._bytes += a.nbytes if texts is None else sum(map(len, texts))
        if self._bytes > _CONSTANT_BYTES:
            self.end(f"it uses arrays of more than {_CONSTANT_BYTES >> 20} MiB that are no arguments")
        if texts is not None:
            attrs = {"dtype": "|O", "shape": a.shape, "texts": [_base64(t) for t in texts]}
            return self.add("const", [], attrs, [(a.shape, object)])[0]
        attrs = {"dtype": _native(self, a.dtype), "shape": a.shape, "data": _base64(a.tobytes())}
        return self.add("const", [], attrs, [(a.shape, a.dtype)])[0]

    def tensor(self, value, dtype=None):
        """value as a stand-in of this trace, cast to dtype."""
        if type(value) is not Tensor:
            if isinstance(value, (list, tuple)):
                value = self.operand(value)
            if type(value) is not Tensor:
                return self.constant(value, dtype)
        if value._trace is not self:
            value = self._from_outside(value)
        return value if dtype is None else cast(value, dtype)

    def _from_outside(self, value):
        """The constant that stands for a value of a function in which this one is, and which returns a dataset."""
        parent = self.parent
        if value._trace.level >= self.level or not hasattr(parent, "captured"):
            value._trace.end("its argument was used in another function that was being traced")
        attrs = parent.captured(parent.tensor(value))
        key = attrs["$const"]
        if key not in self._constants:
            self._constants[key] = self.add("const", [], attrs, [(value._shape, value._dtype)])[0]
        return self._constants[key]


@functools.lru_cache(1 << 12)
def _number(kind, text, dtype):
    """The key, the attributes and the dtype of a number of Python's as a constant."""
    with np.errstate(all="ignore"):
        a = np.asarray(kind(text) if kind is not bool else text == "True")
        a = a if dtype is None else a.astype(dtype)
    return _key(a), {"dtype": _definition.code(a.dtype), "shape": a.shape, "data": _base64(a.tobytes())}, a.dtype


def _key(a):
    return a.shape, a.dtype.str, a.dtype.name, a.tobytes()


def _base64(data):
    return base64.b64encode(data).decode()


def _native(trace, dtype):
    if not dtype.isnative or dtype.hasobject or dtype.names:
        trace.end(f"it uses an array of dtype {dtype}")
    return _definition.code(dtype)


def _texts(trace, a):
    """The values of an array of text, as bytes."""
    out = []
    for v in a.flat:
        if isinstance(v, str):
            v = v.encode("utf-8", "surrogateescape")
        if not isinstance(v, bytes):
            trace.end(f"it uses an array of Python objects such as {v!r:.60}")
        out.append(bytes(v))
    return out


def trace_of(values):
    """The trace of the stand-ins among nested values, the innermost of them; None where there is none."""
    found = None
    for v in values:
        if type(v) is Tensor:
            here = v._trace
        elif isinstance(v, (list, tuple)):
            here = trace_of(v)
        else:
            here = trace_of(v.values()) if isinstance(v, dict) else None
        if here is not None and (found is None or here.level > found.level):
            found = here
    return found


def record(op, operands, attrs, results):
    """Notes an operation of infeed; the stand-ins for its results, one for each TensorSpec of results.

    operands: at least one stand-in, and arrays, which become constants. Those of
    text are given as strings of any length. attrs: for JSON, what core/op's
    operation of that name reads. Results of text have dtype object.
    """
    trace = trace_of(operands)
    given = [trace.tensor(t) for t in operands]
    return trace.add(op, given, attrs, [(s.shape, s.dtype) for s in results])


def cast(t, dtype):
    """A stand-in converted as by astype."""
    dtype = np.dtype(dtype)
    if t.dtype == dtype:
        return t
    if dtype.kind not in "biufc" or t.dtype.kind not in "biufc":
        t._trace.end(f"it converts {t.dtype} to {dtype}")
    return t._trace.add("cast", [t], {"dtype": dtype.str}, [(t._shape, dtype)])[0]


def stack(trace, values):
    """Nested lists of stand-ins and numbers as one stand-in, as np.asarray makes an array of them."""
    from infeed import _traced_shapes

    return _traced_shapes.stacked(trace, values)


_local = threading.local()


def active():
    """The trace that this thread is in; None where it is in none."""
    found = getattr(_local, "trace", None)
    return None if found is not None and found.reason else found


class entered:
    """A context in which this thread is in a trace."""

    def __init__(self, trace):
        self._before, self._trace = active(), trace

    def __enter__(self):
        _local.trace = self._trace

    def __exit__(self, *_):
        _local.trace = self._before


def trace(fn, structure, specs, integers=False):
    """What fn does with elements, as `Traced`; or in words why it cannot be known.

    structure, specs: of the elements, as a Dataset has them. A tuple is given
    to fn as positional arguments, anything else as one. The function is called
    twice, since what differs from call to call is not a function of the element.
    integers: its result is an integer of any dtype.
    """
    first = _once(fn, structure, specs, integers)
    if isinstance(first, str):
        return first
    second = _once(fn, structure, specs, integers)
    if isinstance(second, str):
        return second
    if first.document != second.document and json.dumps(first.document) != json.dumps(second.document):
        return "it does something else, or uses another number, each time it is called"
    return first


def _once(fn, structure, specs, integers):
    t = Trace(active())
    leaves = [t.value(s.shape, s.dtype) for s in specs]
    with entered(t):
        try:
            result = as_result(call(fn, structure, structure.pack(leaves)))
            if t.reason:
                return t.reason
            if integers and type(result) in SIZES:
                result = _traced_sizes.stand_in(result)
            return _results(t, result)
        except EndOfTrace as e:
            return t.reason or str(e)
        except Exception as e:
            return t.reason or f"it raised {type(e).__name__}: {e}"
        finally:
            t.reason = t.reason or "its argument was used after the call in which it was given"


def call(fn, structure, element):
    """fn of an element: a tuple is spread over the arguments, as by tf.data."""
    return fn(*element) if structure.kind == "tuple" else fn(element)


def as_result(result):
    """What a function returned, as the element that it stands for: a list is a tuple, as in tf.data; those in it are arrays."""
    return tuple(result) if result.__class__ is list else result


def _results(t, result):
    outer, leaves = Structure.of(result)
    tensors, parts = [], []
    for path, v in leaves:
        if type(v) is Parts:
            tensors += map(t.tensor, v.parts)
        else:
            tensors.append(_result(t, path, v))
        parts.append(v.structure if type(v) is Parts else _LEAF)
    structure = outer.replaced(iter(parts))
    document = {"nodes": t.nodes, "outputs": [x._value for x in tensors], "structure": structure.document()}
    specs = [TensorSpec(x._shape, x._dtype) for x in tensors]
    return Traced(document, structure, specs, t.exact)


def _result(t, path, value):
    """A component that a function returned, as a stand-in. Python's numbers become int32 and float32."""
    if type(value) is Tensor:
        return t.tensor(value)
    if type(value) in SIZES:
        return t.tensor(_traced_sizes.component(value))
    if isinstance(value, list) and trace_of(value) is not None:
        return stack(t, value)
    return t.constant(result_array(value, f"the result{path}"))


def result_array(value, what):
    """A component that a function returned, as the array that elements have; text as objects of bytes."""
    if isinstance(value, (str, bytes)):
        return np.asarray(_text.as_bytes(value), object)
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return _arrays.as_array([value], what)[0].reshape(())
    if isinstance(value, np.ndarray) and value.dtype.hasobject and not value.size:
        return value  # of no text
    a, dtype = _arrays.as_array(value, what, of_function=True)
    if dtype.hasobject:
        return _text.objects(a)
    return a


def agree(native, own, exact=True):
    """Whether a program's result is the function's own: None, or in words what differs.

    native, own: elements of arrays, nested alike. exact: values must be equal; False:
    floats may differ by 2 ulp of the greatest value of their component; None: values
    are random and are not compared.
    """
    if isinstance(native, np.number) and type(native) is type(own) and native == own:
        return None
    a, b = _ragged.split(native, "the result"), _ragged.split(own, "the result")
    if a[0].document() != b[0].document():
        return f"the results are nested as {a[0].document()} and as {b[0].document()}"
    for (path, x), (_, y) in zip(a[1], b[1]):
        try:
            y = result_array(y, f"the result{path}")
        except InvalidArgumentError as e:
            return str(e)
        x = np.asarray(x, object if isinstance(x, bytes) else None)  # NumPy's own text drops NULs at its end
        if difference := _difference(x, np.asarray(y), exact):
            return f"the result{path} {difference}"
    return None


def _difference(x, y, exact):
    if x.dtype.kind in "SU":
        x = x.astype(object)
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        return f"is {x.dtype}{list(x.shape)} when run natively, and {y.dtype}{list(y.shape)} by Python"
    if exact is None:
        return None
    if x.dtype.kind == "V" or x.dtype.hasobject:
        same = x.tobytes() == y.tobytes() if x.dtype.kind == "V" else bool(np.all(x == y))
        return None if same else "has other values when run natively"
    with np.errstate(all="ignore"):
        same = (x == y) | ((x != x) & (y != y))
        if not exact and x.dtype.kind in "fc" and not same.all():
            size = np.abs(np.where(np.isfinite(y), y, 0)).max()
            same |= np.abs(x - y) <= 2 * np.spacing(size)
    if same.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"is {x[at]!r} at {list(at)} when run natively, and {y[at]!r} by Python"


from infeed import _ragged, _traced_functions, _traced_sizes, _traced_ufuncs  # noqa: E402,F401  they add methods to Tensor
