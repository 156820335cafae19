"""What stand-ins do with NumPy's functions that are made of its others."""

import operator

import numpy as np

from infeed import _trace
from infeed._trace import Tensor, cast
from infeed._traced_indices import flip
from infeed._traced_shapes import broadcast_to, concatenate, expand_dims, ravel, reshape, swapaxes, transpose
from infeed._traced_sums import _keep, _only, _over, all_, max_, mean, min_, sum_
from infeed._traced_ufuncs import broadcast, call


def _tensors(*values):
    trace = _trace.trace_of(values)
    return trace, [trace.tensor(trace.operand(v)) for v in values]


def _at_least(rank, places):
    def function(*arys):
        made = []
        for t in _tensors(*arys)[1]:
            for at in places(t.ndim):
                t = expand_dims(t, at)
            made.append(t)
        return made[0] if len(made) == 1 else type(np.atleast_1d(0, 0))(made)

    return function


atleast_1d = _at_least(1, lambda rank: [0] if rank < 1 else [])
atleast_2d = _at_least(2, lambda rank: [0] * (2 - rank))
atleast_3d = _at_least(3, lambda rank: {0: [0, 0, 0], 1: [0, 2], 2: [2]}.get(rank, []))


def dstack(tup):
    return concatenate([atleast_3d(t) for t in _tensors(*tup)[1]], 2)


def flipud(m):
    return flip(m, 0)


def fliplr(m):
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    a, b = axes
    k = operator.index(k) % 4
    if k == 0:
        return m
    if k == 2:
        return flip(flip(m, a), b)
    return swapaxes(flip(m, b), a, b) if k == 1 else flip(swapaxes(m, a, b), b)


def _triangle(keep):
    def function(m, k=0):
        shape = (m._shape * 2 if m.ndim == 1 else m._shape)[-2:]
        if not m.ndim or None in shape:
            m._trace.end(f"it takes a triangle of a value of shape {m._shape}")
        inside = np.tri(*shape, k=k if keep else k - 1, dtype=bool)
        return np.where(inside, m, np.zeros(1, m.dtype)) if keep else np.where(inside, np.zeros(1, m.dtype), m)

    return function


tril, triu = _triangle(True), _triangle(False)


def broadcast_arrays(*args, subok=False):
    trace, tensors = _tensors(*args)
    shape = broadcast(trace, *[t._shape for t in tensors])
    if None in shape:
        trace.end("it broadcasts values of shapes that differ between elements")
    return tuple(broadcast_to(t, shape) for t in tensors)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    trace, (x, y) = _tensors(a, b)
    if x.dtype.kind not in "biuf" or y.dtype.kind not in "biuf":
        trace.end(f"it uses np.isclose of {x.dtype} and {y.dtype}")
    y = cast(y, np.result_type(y.dtype, 1.0))
    near = call(trace, np.less_equal, (abs(x - y), atol + rtol * abs(y))) & call(trace, np.isfinite, (y,)) | (x == y)
    return near | (call(trace, np.isnan, (x,)) & call(trace, np.isnan, (y,))) if equal_nan else near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return all_(isclose(a, b, rtol, atol, equal_nan))


def average(a, axis=None, weights=None, returned=False, *, keepdims=np._NoValue):
    if weights is None and not returned:
        return mean(a, axis, keepdims=_keep(keepdims))
    trace, (a, weights) = _tensors(a, weights)
    if returned or a._shape != weights._shape:
        trace.end("it uses np.average with returned=, or weights of another shape")
    dtype = np.result_type(a.dtype, weights.dtype, *(["f8"] if a.dtype.kind in "biu" else []))
    total = sum_(cast(weights, dtype), axis, dtype, None, _keep(keepdims))
    return sum_(call(trace, np.multiply, (a, weights), dtype), axis, None, None, _keep(keepdims)) / total


def _without_nan(x, value):
    return np.where(call(x._trace, np.isnan, (x,)), x.dtype.type(value), x) if x.dtype.kind == "f" else x


def nansum(a, axis=None, dtype=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
    _only(a, "np.nansum", out=out, initial=initial, where=where)
    return sum_(_without_nan(a, 0), axis, dtype, None, _keep(keepdims))


def nanmean(a, axis=None, dtype=None, out=None, keepdims=np._NoValue, *, where=np._NoValue):
    _only(a, "np.nanmean", out=out, where=where)
    if a.dtype.kind != "f" or a.dtype == np.float16:
        return mean(a, axis, dtype, None, _keep(keepdims)) if a.dtype.kind != "f" else a._trace.end("it uses np.nanmean of float16")
    count = np.logical_not(call(a._trace, np.isnan, (a,)))
    count = sum_(cast(count, np.int64), axis, np.int64, None, _keep(keepdims))
    return _over(nansum(a, axis, dtype, None, keepdims), count)


def _nan_extreme(name, of, least):
    def function(a, axis=None, out=None, keepdims=np._NoValue, initial=np._NoValue, where=np._NoValue):
        _only(a, name, out=out, initial=initial, where=where)
        if a.dtype.kind != "f":
            return of(a, axis, None, _keep(keepdims))
        none = all_(call(a._trace, np.isnan, (a,)), axis, None, _keep(keepdims))
        return np.where(none, a.dtype.type(np.nan), of(_without_nan(a, least), axis, None, _keep(keepdims)))

    return function


nanmax, nanmin = _nan_extreme("np.nanmax", max_, -np.inf), _nan_extreme("np.nanmin", min_, np.inf)


def select(condlist, choicelist, default=0):
    trace = _trace.trace_of((*condlist, *choicelist, default))
    choices = [trace.operand(c) for c in (*choicelist, default)]
    dtype = np.result_type(*[c.dtype if hasattr(c, "dtype") else c for c in choices])
    *choices, out = [trace.tensor(c, dtype) for c in choices]
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        out = np.where(condition, choice, out)
    return out


def inner(a, b):
    trace, (a, b) = _tensors(a, b)
    if not (a.ndim and b.ndim):
        return call(trace, np.multiply, (a, b))
    if a.ndim > 2 or b.ndim > 2:
        trace.end("it uses np.inner of more than two dimensions")
    return call(trace, np.matmul, (a, transpose(b)))


def polyval(p, x):
    if type(x) is not Tensor or type(p) is Tensor or np.ndim(p) != 1:
        _trace.trace_of((p, x)).end("it uses np.polyval with coefficients that are values of its argument")
    y = call(x._trace, np.multiply, (x, 0))
    y = np.where(False, y, np.zeros((), y.dtype))  # 0 also where x is infinite
    for c in np.asarray(p):
        y = y * x + c
    return y


def norm(x, ord=None, axis=None, keepdims=False):
    """np.linalg.norm of vectors."""
    if x.dtype.kind not in "biuf" or ord not in (None, 1, 2, np.inf) or ord is not None and (axis is None and x.ndim != 1 or np.ndim(axis)):
        x._trace.end(f"it uses np.linalg.norm with ord={ord!r} of {x.dtype}")
    x = x if x.dtype.kind == "f" else cast(x, np.float64)
    if ord == 1:
        return sum_(abs(x), axis, keepdims=keepdims)
    if ord == np.inf:
        return max_(abs(x), axis, keepdims=keepdims)
    x._trace.exact = x._trace.exact and axis is not None  # NumPy uses BLAS where there is no axis
    if ord is None and np.ndim(axis) and len(axis) > 2:
        x._trace.end("it uses np.linalg.norm over more than two axes")
    return np.sqrt(sum_(x * x, axis, keepdims=keepdims))


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    trace, tensors = _tensors(*xi)
    tensors = [ravel(t) if t.ndim else reshape(t, 1) for t in tensors]
    rank = len(tensors)
    shaped = [reshape(t, [-1 if i == k else 1 for i in range(rank)]) for k, t in enumerate(tensors)]
    if indexing == "xy" and rank > 1:
        shaped = [swapaxes(t, 0, 1) for t in shaped]
    made = shaped if sparse else list(broadcast_arrays(*shaped))
    return type(np.meshgrid([0]))(made)


def vsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, min(1, ary.ndim - 1))


def dsplit(ary, indices_or_sections):
    return np.split(ary, indices_or_sections, 2)


def array_split(ary, indices_or_sections, axis=0):
    if not hasattr(indices_or_sections, "__index__"):
        return np.split(ary, indices_or_sections, axis)
    n, sections = ary._known(ary._shape[axis], "length"), operator.index(indices_or_sections)
    sizes = [n // sections + (i < n % sections) for i in range(sections)]
    return np.split(ary, np.cumsum(sizes)[:-1].tolist(), axis)
