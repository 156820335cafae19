"""What stand-ins do with operators and NumPy's ufuncs.

The dtypes of a ufunc's loop are NumPy's own answer; operands are cast to them, so
that an operation of the engine has operands of one dtype.
"""

import functools
import warnings

import numpy as np

from infeed import _trace
from infeed._stand_in import SIZES
from infeed._trace import WEAK, Tensor, cast

# Ufuncs that are an operation of the engine of the same name.
_SAME = ("add subtract multiply divide floor_divide remainder fmod power negative absolute sign square sqrt cbrt reciprocal "
         "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not "
         "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift "
         "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh "
         "arctanh hypot logaddexp logaddexp2 floor ceil trunc rint isnan isinf isfinite signbit copysign heaviside "
         "maximum minimum fmax fmin deg2rad rad2deg conjugate").split()
_OPERATIONS = {getattr(np, name): name for name in _SAME}
_OPERATIONS.update({np.fabs: "absolute", np.radians: "deg2rad", np.degrees: "rad2deg", np.float_power: "power"})

_LOGICAL = {np.logical_and, np.logical_or, np.logical_xor, np.logical_not}
_COMPARISONS = {np.equal: "__eq__", np.not_equal: "__ne__", np.less: "__lt__", np.less_equal: "__le__",
                np.greater: "__gt__", np.greater_equal: "__ge__"}
_IDENTITY_OF_INTS = {np.floor, np.ceil, np.trunc, np.conjugate}


def broadcast(trace, *shapes):
    """The shape of what an elementwise operation makes; None where it is not known."""
    rank = max(map(len, shapes))
    out = [1] * rank
    for shape in shapes:
        for i, d in enumerate(shape, rank - len(shape)):
            if out[i] == 1 or out[i] is None and d != 1:
                out[i] = d
            elif d not in (1, None, out[i]):
                trace.end(f"it joins values of shapes {' and '.join(map(str, shapes))}, which cannot be broadcast")
    return tuple(out)


def elementwise(trace, op, operands, dtype):
    """A node of an elementwise operation; the operands have the dtype that it needs."""
    shape = broadcast(trace, *[t._shape for t in operands])
    return trace.add(op, operands, {}, [(shape, dtype)])[0]


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """Stand-ins' __array_ufunc__."""
    trace = _trace.trace_of(inputs) or self._trace
    if kwargs.get("out") is not None:
        trace.end(f"it writes the result of np.{ufunc.__name__} into an array (out=)")
    if method == "reduce":
        from infeed import _traced_sums

        return _traced_sums.reduce_of_ufunc(trace, ufunc, *inputs, **kwargs)
    if method == "accumulate":
        from infeed import _traced_scans

        return _traced_scans.accumulate(trace, ufunc, *inputs, **kwargs)
    if method != "__call__":
        trace.end(f"it uses np.{ufunc.__name__}.{method}")
    kwargs = {k: v for k, v in kwargs.items() if v is not None and (k, v) not in (("casting", "same_kind"), ("order", "K"),
                                                                                 ("subok", True), ("where", True))}
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        trace.end(f"it uses np.{ufunc.__name__} with {', '.join(kwargs)}")
    return call(trace, ufunc, inputs, dtype)


def call(trace, ufunc, inputs, dtype=None):
    """A ufunc of stand-ins, arrays and numbers."""
    if ufunc is np.matmul:
        from infeed import _traced_sums

        return _traced_sums.matmul(trace, *inputs)
    if ufunc is np.divmod:
        return call(trace, np.floor_divide, inputs, dtype), call(trace, np.remainder, inputs, dtype)
    if any([type(v) in SIZES for v in inputs]):
        return _with_sizes(trace, ufunc, inputs, dtype)
    inputs = [trace.operand(v) for v in inputs]
    for v in inputs:
        if type(v) not in WEAK and (v.dtype.hasobject or v.dtype.kind in "SU"):
            return _text(trace, ufunc, inputs)
    if ufunc in _LOGICAL:
        operands = [as_bool(trace.tensor(v)) for v in inputs]
        return elementwise(trace, _OPERATIONS[ufunc], operands, bool)
    if ufunc in _COMPARISONS and (known := _out_of_range(trace, ufunc, inputs)) is not None:
        return known
    loop, result = _loop(trace, ufunc, inputs, dtype)
    return _apply(trace, ufunc, inputs, loop, result)


def _with_sizes(trace, ufunc, inputs, dtype):
    """A ufunc of stand-ins and sizes, which are Python's numbers: the others' dtype holds."""
    from infeed import _traced_sizes

    one = [1 if type(v) in SIZES else trace.operand(v) for v in inputs]
    loop, result = _loop(trace, ufunc, one, dtype)
    made = []
    for v, given, d in zip(inputs, one, loop):
        if type(v) in SIZES:
            if d.kind not in "fc" and d not in _WIDE:
                v.index()  # NumPy raises OverflowError where it does not fit
            given = cast(_traced_sizes.stand_in(v), d)
        made.append(given)
    return _apply(trace, ufunc, made, loop, result)


_WIDE = (np.dtype(np.int32), np.dtype(np.int64))


def _apply(trace, ufunc, inputs, loop, result):
    if ufunc in _COMPARISONS and set(loop) == {np.dtype(np.int64), np.dtype(np.uint64)}:
        return _compare_signs(trace, ufunc, inputs)
    kind = loop[0].kind
    if len(set(loop)) > 1 or kind not in "biufc" or loop[0].itemsize > 16 or loop[0].char == "g":
        trace.end(f"it uses np.{ufunc.__name__} of {', '.join(map(str, loop))}")
    operands = [trace.tensor(v, d) for v, d in zip(inputs, loop)]
    if ufunc is np.positive or ufunc in _IDENTITY_OF_INTS and kind in "biu":
        return operands[0]
    if ufunc is np.absolute and kind in "bu" or ufunc is np.conjugate and kind == "f":
        return operands[0]
    if ufunc in (np.isnan, np.isinf, np.isfinite) and kind in "biu":
        op = "equal" if ufunc is np.isfinite else "not_equal"
        return elementwise(trace, op, operands * 2, bool)
    if ufunc in (np.isnan, np.isinf, np.isfinite) and kind == "c":
        join = np.logical_and if ufunc is np.isfinite else np.logical_or
        return join(ufunc(operands[0].real), ufunc(operands[0].imag))
    if ufunc in (np.power, np.float_power) and (easy := _power(trace, inputs, operands)) is not None:
        return easy
    if ufunc not in _OPERATIONS:
        trace.end(f"it uses np.{ufunc.__name__}, which infeed does not run natively")
    if kind == "c" and (ufunc not in _COMPLEX):
        trace.end(f"it uses np.{ufunc.__name__} of complex numbers")
    return elementwise(trace, _OPERATIONS[ufunc], operands, result)


_COMPLEX = {np.add, np.subtract, np.multiply, np.divide, np.negative, np.square, np.equal, np.not_equal, np.absolute, np.conjugate}


def _power(trace, inputs, operands):
    """Powers that NumPy makes otherwise than by pow, or that may be errors."""
    x, dtype = operands[0], operands[0].dtype
    exponent = None if type(inputs[1]) is Tensor else np.asarray(inputs[1])
    if dtype.kind == "i":
        if exponent is None or (exponent < 0).any():
            trace.end("it raises ints to powers that may be negative, which is an error in NumPy")
    if exponent is not None and exponent.size == 1 and exponent.ndim == 0:
        if exponent == 2:
            return elementwise(trace, "square", [x], dtype)
        if exponent == 1:
            return x
        if exponent == 0.5 and dtype.kind == "f":
            return elementwise(trace, "sqrt", [x], dtype)
        if exponent == -1 and dtype.kind == "f":
            return elementwise(trace, "reciprocal", [x], dtype)
    if dtype.kind == "c":
        trace.end("it raises complex numbers to powers")
    return None


def _loop(trace, ufunc, inputs, dtype):
    """The dtypes of the operands and of the result of NumPy's loop for these inputs."""
    given = tuple([type(v) if type(v) in WEAK else v.dtype for v in inputs])
    if ufunc.nout != 1 or ufunc.signature is not None or len(given) != ufunc.nin:
        trace.end(f"it uses np.{ufunc.__name__}, which infeed does not run natively")
    try:
        loop, result = _resolved(ufunc, given, None if dtype is None else np.dtype(dtype))
    except AttributeError:  # NumPy before 1.25
        loop, result = _loop_by_trial(ufunc, inputs, given, dtype)
    except TypeError as e:
        trace.end(f"np.{ufunc.__name__} of {', '.join(getattr(d, '__name__', str(d)) for d in given)}: {e}")
    for v, d in zip(inputs, loop):
        if type(v) is int and d.kind in "iu" and not _fits(v, d):
            trace.end(f"it uses {v} as {d}, which cannot hold it")
    return loop, result


@functools.lru_cache(1 << 10)
def _resolved(ufunc, given, dtype):
    signature = {} if dtype is None else {"signature": (None,) * ufunc.nin + (dtype,)}
    *loop, result = ufunc.resolve_dtypes(given + (None,), casting="same_kind", **signature)
    return loop, result


def _fits(number, dtype):
    least, most = _limits(dtype)
    return least <= number <= most


@functools.lru_cache(None)
def _limits(dtype):
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def _loop_by_trial(ufunc, inputs, given, dtype):
    small = [v if type(v) in WEAK else np.ones(1, d) for v, d in zip(inputs, given)]
    with np.errstate(all="ignore"):
        result = ufunc(*small, **({} if dtype is None else {"dtype": dtype})).dtype
        loop = np.result_type(*small) if ufunc in _COMPARISONS else result
        if result == bool and ufunc not in _COMPARISONS:
            loop = np.result_type(*small)
    return [loop] * ufunc.nin, result


def as_bool(t):
    return cast(t, bool)


def _out_of_range(trace, ufunc, inputs):
    """A comparison with a Python int that the other's dtype cannot hold: it is known."""
    for i, v in enumerate(inputs):
        other = inputs[1 - i]
        if type(v) is int and type(other) is Tensor and other.dtype.kind in "iu":
            if not _fits(v, other.dtype):
                pair = (v, 0) if i == 0 else (0, v)
                same = "equal" if getattr(pair[0], _COMPARISONS[ufunc])(pair[1]) else "not_equal"
                return elementwise(trace, same, [other, other], bool)
    return None


def _compare_signs(trace, ufunc, inputs):
    """int64 with uint64: by value, as NumPy does."""
    a, b = map(trace.tensor, inputs)
    if a.dtype.kind == "u":
        swapped = {np.less: np.greater, np.less_equal: np.greater_equal, np.greater: np.less, np.greater_equal: np.less_equal}
        return _compare_signs(trace, swapped.get(ufunc, ufunc), [b, a])
    zero, whole = trace.constant(np.int64(0)), cast(a, np.uint64)
    compared = elementwise(trace, _OPERATIONS[ufunc], [whole, b], bool)
    negative = elementwise(trace, "less", [a, zero], bool)
    if ufunc in (np.less, np.less_equal, np.not_equal):
        return elementwise(trace, "logical_or", [negative, compared], bool)
    positive = elementwise(trace, "logical_not", [negative], bool)
    return elementwise(trace, "logical_and", [positive, compared], bool)


def _text(trace, ufunc, inputs):
    if ufunc not in (np.equal, np.not_equal):
        trace.end(f"it uses np.{ufunc.__name__} of text")
    for v in inputs:
        if type(v) is not Tensor and (text := next((str(t) for t in getattr(v, "flat", ()) if isinstance(t, str)), None)) is not None:
            why = f"text comes as bytes, which no str equals; compare it with {text.encode('utf-8', 'replace')!r:.60}, not {text!r:.60}"
            warnings.warn(why, stacklevel=4)  # at the user's line
            trace.end(f"it compares text with str: {why}")
    a, b = [trace.tensor(v) for v in inputs]
    if not (a.dtype.hasobject and b.dtype.hasobject):
        trace.end("it compares text with numbers")
    same = trace.add("text_equal", [a, b], {}, [(broadcast(trace, a._shape, b._shape), bool)])[0]
    return same if ufunc is np.equal else np.logical_not(same)


def _operator(ufunc, reflected=False):
    def method(self, other):
        if other is None or isinstance(other, (dict, set)):
            self._trace.end(f"it computes with {other!r:.60}")
        return call(_trace.trace_of((self, other)), ufunc, (other, self) if reflected else (self, other))

    return method


for _name, _ufunc in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
                      "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and": np.bitwise_and, "or": np.bitwise_or,
                      "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift, "divmod": np.divmod}.items():
    setattr(Tensor, f"__{_name}__", _operator(_ufunc))
    setattr(Tensor, f"__r{_name}__", _operator(_ufunc, reflected=True))
for _ufunc, _name in _COMPARISONS.items():
    setattr(Tensor, _name, _operator(_ufunc))
for _name, _ufunc in {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}.items():
    setattr(Tensor, f"__{_name}__", lambda self, _ufunc=_ufunc: call(self._trace, _ufunc, (self,)))
Tensor.__array_ufunc__ = array_ufunc
