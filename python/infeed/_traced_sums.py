"""What stand-ins do with NumPy's sums and the like, and with its products of matrices."""

import math
import operator

import numpy as np

from infeed import _trace, _traced_ufuncs
from infeed._trace import Tensor, cast
from infeed._traced_shapes import axes_of, common, expand_dims, ravel, reshape, squeeze
from infeed._traced_ufuncs import call, elementwise


def _reduce(t, op, axis, keepdims, result, initial=None):
    axes = axes_of(t, axis)
    shape = [1 if i in axes else d for i, d in enumerate(t._shape) if keepdims or i not in axes]
    return t._trace.add(op, [t], {"axes": axes, "keepdims": bool(keepdims)}, [(tuple(shape), result)])[0]


def _only(t, name, **kwargs):
    for k, v in kwargs.items():
        if v is not None and v is not np._NoValue and not (k == "where" and v is True):
            t._trace.end(f"it uses {name} with {k}=")


def _keep(keepdims):
    return keepdims is not np._NoValue and bool(keepdims)


def _added(name, op, function):
    def method(t, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
        _only(t, name, out=out, where=where, initial=initial)
        if t.dtype.kind not in "biufc":
            t._trace.end(f"it uses {name} of {t.dtype}")
        dtype = function(np.ones(1, t.dtype), dtype=dtype).dtype
        if dtype.kind == "c":
            t._trace.end(f"it uses {name} of complex numbers")
        return _reduce(cast(t, dtype), op, axis, _keep(keepdims), dtype)

    return method


sum_, prod = _added("sum", "sum", np.sum), _added("prod", "prod", np.prod)


def _extreme(name):
    def method(t, axis=None, out=None, keepdims=False, initial=None, where=True):
        _only(t, name, out=out, where=where, initial=initial)
        if t.dtype.kind not in "biuf":
            t._trace.end(f"it uses {name} of {t.dtype}")
        if any(t._shape[a] == 0 for a in axes_of(t, axis)):
            t._trace.end(f"it asks for the {name} of no values")
        return _reduce(t, name, axis, _keep(keepdims), t.dtype)

    return method


max_, min_ = _extreme("max"), _extreme("min")


def _logical(name, op):
    def method(t, axis=None, out=None, keepdims=False, where=True):
        _only(t, name, out=out, where=where)
        return _reduce(_traced_ufuncs.as_bool(t), op, axis, _keep(keepdims), bool)

    return method


any_, all_ = _logical("any", "any"), _logical("all", "all")


def _place(name):
    def method(t, axis=None, out=None, keepdims=False):
        _only(t, name, out=out)
        if t.dtype.kind not in "biuf" or any(t._shape[a] == 0 for a in axes_of(t, axis)):
            t._trace.end(f"it uses {name} of {t.dtype} values of shape {t._shape}")
        if axis is None and t.ndim != 1:
            flat = method(ravel(t) if t.ndim else reshape(t, 1), 0)
            return expand_dims(flat, tuple(range(t.ndim))) if _keep(keepdims) and t.ndim else flat
        return _reduce(t, name, 0 if axis is None else operator.index(axis), _keep(keepdims), np.int64)

    return method


argmax, argmin = _place("argmax"), _place("argmin")


def _number(t, axes):
    """How many values there are along axes: a number, or a stand-in where they differ."""
    if None not in [t._shape[a] for a in axes]:
        return math.prod(t._shape[a] for a in axes)
    return t._trace.add("size", [t], {"axes": axes}, [((), np.int64)])[0]


def mean(t, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    _only(t, "mean", out=out, where=where)
    if t.dtype.kind not in "biufc":
        t._trace.end(f"it uses mean of {t.dtype}")
    result = np.mean(np.ones(1, t.dtype), dtype=dtype).dtype
    within = np.dtype(np.float32) if result == np.float16 and dtype is None else result
    total = sum_(cast(t, within), axis, within, None, keepdims)
    return cast(_over(total, _number(t, axes_of(t, axis))), result)


def _over(total, n):
    """total / n, with total's dtype."""
    return elementwise(total._trace, "divide", [total, total._trace.tensor(n, total.dtype)], total.dtype)


def var(t, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=np._NoValue, correction=np._NoValue):
    _only(t, "var", out=out, where=where, mean=mean, correction=correction)
    if t.dtype.kind not in "biuf":
        t._trace.end(f"it uses var of {t.dtype}")
    result = np.var(np.ones(1, t.dtype), dtype=dtype).dtype
    within = np.dtype(np.float32) if result == np.float16 and dtype is None else result
    axes = axes_of(t, axis)
    n = _number(t, axes)
    x = cast(t, within)
    middle = _over(sum_(x, axis, within, None, True), n)
    away = call(t._trace, np.subtract, (x, middle))
    square = elementwise(t._trace, "multiply", [away, away], within)
    left = call(t._trace, np.maximum, (call(t._trace, np.subtract, (n, ddof)), 0)) if type(n) is Tensor else max(n - ddof, 0)
    return cast(_over(sum_(square, axis, within, None, keepdims), left), result)


def std(t, *args, **kwargs):
    v = var(t, *args, **kwargs)
    return call(t._trace, np.sqrt, (v,))


def ptp(a, axis=None, out=None, keepdims=False):
    return call(a._trace, np.subtract, (max_(a, axis, out, keepdims), min_(a, axis, out, keepdims)))


def count_nonzero(a, axis=None, *, keepdims=False):
    return sum_(_traced_ufuncs.as_bool(a), axis, np.int64, None, keepdims)


def reduce_of_ufunc(trace, ufunc, array, axis=0, dtype=None, out=None, keepdims=False, **kwargs):
    """np.add.reduce and its like."""
    methods = {np.add: sum_, np.multiply: prod, np.maximum: max_, np.minimum: min_, np.logical_and: all_, np.logical_or: any_}
    if ufunc not in methods or kwargs or type(array) is not Tensor:
        trace.end(f"it uses np.{ufunc.__name__}.reduce")
    given = {} if dtype is None else {"dtype": dtype}
    return methods[ufunc](array, axis, out=out, keepdims=keepdims, **given)


def matmul(trace, a, b):
    """Matrices by matrices or vectors, as `@` does."""
    a, b = common(trace, [trace.tensor(trace.operand(v)) for v in (a, b)])
    if not (a.ndim and b.ndim) or a.dtype.kind not in "iuf":
        trace.end(f"it multiplies matrices of {a.dtype}{list(a._shape)} and {b.dtype}{list(b._shape)}")
    vectors = a.ndim == 1, b.ndim == 1
    a, b = expand_dims(a, 0) if vectors[0] else a, expand_dims(b, 1) if vectors[1] else b
    if None not in (a._shape[-1], b._shape[-2]) and a._shape[-1] != b._shape[-2]:
        trace.end(f"it multiplies matrices of shapes {a._shape} and {b._shape}")
    outer = _traced_ufuncs.broadcast(trace, a._shape[:-2], b._shape[:-2])
    if a.dtype == np.float16:
        given = [cast(a, np.float32), cast(b, np.float32)]
    else:
        given = [a, b]
    out = trace.add("matmul", given, {}, [(outer + (a._shape[-2], b._shape[-1]), given[0].dtype)])[0]
    trace.exact = trace.exact and a.dtype.kind != "f"
    gone = tuple(i for i, v in zip((-2, -1), vectors) if v)
    out = squeeze(out, gone) if gone else out
    return cast(out, a.dtype)


def dot(a, b, out=None):
    trace = _trace.trace_of((a, b))
    a, b = trace.tensor(trace.operand(a)), trace.tensor(trace.operand(b))
    if out is not None or a.ndim > 2 or b.ndim > 2:
        trace.end("it uses np.dot of more than two dimensions")
    if not (a.ndim and b.ndim):
        return call(trace, np.multiply, (a, b))
    return matmul(trace, a, b)


def outer(a, b, out=None):
    trace = _trace.trace_of((a, b))
    a, b = [ravel(t) if t.ndim else reshape(t, 1) for t in (trace.tensor(trace.operand(v)) for v in (a, b))]
    return call(trace, np.multiply, (expand_dims(a, 1), expand_dims(b, 0)))
