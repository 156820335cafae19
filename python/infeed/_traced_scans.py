"""What stand-ins do with NumPy's functions that sort, search and add up along an axis, and that pick values by truth."""

import numpy as np

from infeed import _trace
from infeed._trace import Tensor, cast
from infeed._traced_indices import mask, positions, take
from infeed._traced_shapes import axis_of, broadcast_to, common, concatenate, expand_dims, ravel, reshape, swapaxes, viewed
from infeed._traced_sums import _only
from infeed._traced_ufuncs import as_bool, call


def _along(name, op, function):
    def method(a, axis=None, dtype=None, out=None):
        _only(a, name, out=out)
        if a.dtype.kind not in "biuf":
            a._trace.end(f"it uses {name} of {a.dtype}")
        a, axis = (ravel(a) if a.ndim else reshape(a, 1), 0) if axis is None else (a, axis_of(a, axis))
        dtype = function(np.ones(1, a.dtype), dtype=dtype).dtype
        return viewed(cast(a, dtype), op, {"axis": axis}, a._shape)

    return method


cumsum, cumprod = _along("np.cumsum", "cumsum", np.cumsum), _along("np.cumprod", "cumprod", np.cumprod)


def accumulate(trace, ufunc, array, axis=0, dtype=None, out=None):
    """np.add.accumulate and its like."""
    methods = {np.add: cumsum, np.multiply: cumprod}
    if ufunc not in methods or type(array) is not Tensor:
        trace.end(f"it uses np.{ufunc.__name__}.accumulate")
    return methods[ufunc](array, axis, dtype, out)


def _sorted(a, axis, op, result=None):
    """A sort of numbers along an axis; the engine sorts along the last one."""
    a, axis = (ravel(a), 0) if axis is None else (a, axis_of(a, axis))
    if a.dtype.kind not in "biuf":
        a._trace.end(f"it sorts {a.dtype}")
    x = swapaxes(cast(a, np.uint8) if a.dtype == bool else a, axis, -1)
    made = a._trace.add(op, [x], {"axis": a.ndim - 1}, [(x._shape, x._dtype if result is None else result)])[0]
    return swapaxes(cast(made, a.dtype) if result is None else made, axis, -1)


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    _only(a, "np.sort", order=order)
    return _sorted(a, axis, "sort")


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    _only(a, "np.argsort", order=order)
    if kind not in ("stable", "mergesort") and not stable:
        a._trace.end("it uses np.argsort without kind='stable', which puts equal values in any order")
    return _sorted(a, axis, "argsort", np.int64)


def searchsorted(a, v, side="left", sorter=None):
    trace = _trace.trace_of((a, v))
    a, v = [trace.tensor(trace.operand(x)) for x in (a, v)]
    if sorter is not None or side not in ("left", "right") or a.ndim != 1:
        trace.end("it uses np.searchsorted with sorter= or of more than one dimension")
    a, v = common(trace, [a, v])
    if a.dtype.kind not in "iuf":
        trace.end(f"it uses np.searchsorted of {a.dtype}")
    return trace.add("searchsorted", [a, v], {"right": side == "right"}, [(v._shape, np.int64)])[0]


def digitize(x, bins, right=False):
    trace, side = _trace.trace_of((x, bins)), "left" if right else "right"
    if type(bins) is Tensor:
        trace.end("it uses np.digitize with bins that are values of its argument")
    bins = np.asarray(bins)
    if bins.ndim != 1 or bins.dtype.kind not in "biuf":
        trace.end(f"it uses np.digitize with bins of {bins.dtype}{list(bins.shape)}")
    steps = bins[1:] >= bins[:-1]
    if steps.all():
        return searchsorted(bins, x, side)
    if (bins[1:] > bins[:-1]).any() or not (bins == bins).all():
        trace.end("it uses np.digitize with bins that are not sorted")
    return len(bins) - searchsorted(bins[::-1], x, side)


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    trace = _trace.trace_of((element, test_elements))
    x, among = trace.tensor(trace.operand(element)), trace.tensor(trace.operand(test_elements))
    among = ravel(among) if among.ndim else reshape(among, 1)
    if (among._shape[0] or 0) > 256:
        trace.end("it uses np.isin with more than 256 values")
    x, among = common(trace, [x, among])
    found = (expand_dims(x, x.ndim) == among).any(-1)
    return np.logical_not(found) if invert else found


def nonzero(a):
    if not a.ndim:
        a._trace.end("it uses np.nonzero of a single value")
    which = as_bool(a)
    found = []
    for axis in range(a.ndim):
        at = reshape(positions(a, axis), [-1] + [1] * (a.ndim - 1 - axis))
        found.append(mask(broadcast_to(at, a.shape) if a.ndim > 1 else at, which))
    return tuple(found)


def flatnonzero(a):
    return nonzero(ravel(a) if a.ndim else reshape(a, 1))[0]


def argwhere(a):
    return np.stack(nonzero(a), -1)


def extract(condition, arr):
    trace = _trace.trace_of((condition, arr))
    condition, arr = [ravel(t) if t.ndim else reshape(t, 1) for t in (trace.tensor(trace.operand(v)) for v in (condition, arr))]
    return mask(arr, as_bool(condition))


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    if return_index or return_inverse or return_counts or axis is not None or not sorted:
        ar._trace.end("it uses np.unique with arguments that infeed does not run natively")
    x = _sorted(ar if ar.ndim else reshape(ar, 1), None, "sort")
    at = positions(x, 0)
    before = take(x, np.maximum(at - 1, 0), 0)
    other = x != before
    if equal_nan and x.dtype.kind == "f":
        other = other & ~(call(x._trace, np.isnan, (x,)) & call(x._trace, np.isnan, (before,)))
    return mask(x, (at == 0) | other)


def append(arr, values, axis=None):
    trace = _trace.trace_of((arr, values))
    arr, values = [trace.tensor(trace.operand(v)) for v in (arr, values)]
    if axis is None:
        arr, values, axis = *[ravel(t) if t.ndim else reshape(t, 1) for t in (arr, values)], 0
    return concatenate([arr, values], axis)
