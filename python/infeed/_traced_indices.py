"""What stand-ins do with indices and with NumPy's functions that pick values by their place."""

import operator

import numpy as np

from infeed import _trace, _traced_sizes
from infeed._stand_in import SIZES, Dimension
from infeed._trace import Tensor, cast
from infeed._traced_shapes import axes_of, axis_of, broadcast_to, concatenate, expand_dims, ravel, reshape, squeeze, viewed
from infeed._traced_ufuncs import call


def getitem(t, key):
    """Stand-ins' __getitem__."""
    keys = key if isinstance(key, tuple) else (key,)
    keys = tuple(np.asarray(k) if isinstance(k, list) and _trace.trace_of(k) is None else k for k in keys)
    if len(keys) == 1 and type(keys[0]) is Tensor:
        return _by_stand_in(t, keys[0])
    if any(_by_value(k) for k in keys):
        return _by_values(t, keys)
    if any(isinstance(k, np.ndarray) and (k.ndim or k.dtype == bool) or isinstance(k, (bool, np.bool_)) for k in keys):
        return _by_arrays(t, keys)
    return _basic(t, keys)


def _by_stand_in(t, index):
    return mask(t, index) if index.dtype == bool else take(t, index, 0)


def mask(t, which):
    """The values for which a stand-in of bools is true: as many as there are in each element."""
    trace = _trace.trace_of((t, which))
    t, rank = trace.tensor(t), which.ndim
    if not 0 < rank <= t.ndim or any(None not in pair and pair[0] != pair[1] for pair in zip(t._shape, which._shape)):
        trace.end(f"it selects from a value of shape {t._shape} by a mask of shape {which._shape}")
    return trace.add("mask", [t, which], {}, [((None, *t._shape[rank:]), t._dtype)])[0]


def _by_value(k):
    """Whether an index depends on the element."""
    return type(k) is Tensor or isinstance(k, slice) and any(type(b) is Tensor or type(b) in SIZES for b in (k.start, k.stop, k.step))


def _by_values(t, keys):
    """Single indices and bounds of slices that are values; the other indices are as they always are."""
    if any(isinstance(k, np.ndarray) and (k.ndim or k.dtype == bool) or type(k) is Tensor and k.ndim for k in keys):
        t._trace.end("it indexes by several values of its argument along with others")
    keys, axis = list(_whole(t, keys)), t.ndim
    for i in reversed(range(len(keys))):
        if keys[i] is None:
            continue
        axis -= 1
        if type(keys[i]) is Tensor:
            t = take(t, keys.pop(i), axis)
        elif _by_value(keys[i]):
            t, keys[i] = _slice_at(t, axis, keys[i]), slice(None)
    return _basic(t, tuple(keys))


def _slice_at(t, axis, k):
    """A slice whose bounds are values."""
    trace, operands, step = _trace.trace_of((t, k.start, k.stop)), [t], 1 if k.step is None else k.step
    if type(step) is Tensor or type(step) in SIZES or operator.index(step) == 0:
        trace.end("it slices by a step that is a value of its argument, or 0")
    for bound in (k.start, k.stop):
        if bound is None:
            continue
        if type(bound) is not Tensor:
            bound = _traced_sizes.stand_in(bound) if type(bound) in SIZES else trace.constant(np.int64(operator.index(bound)))
        if bound.ndim or bound.dtype.kind not in "iu":
            trace.end(f"it slices by a value of {bound.dtype}{list(bound._shape)}")
        operands.append(_number(bound))
    attrs = {"axis": axis, "step": operator.index(step), "start": k.start is not None, "stop": k.stop is not None}
    return trace.add("slice_at", operands, attrs, [(t._shape[:axis] + (None,) + t._shape[axis + 1:], t._dtype)])[0]


def _by_arrays(t, keys):
    if None in t._shape:
        if len(keys) == 1 and keys[0].dtype.kind in "iu":
            return take(t, keys[0], 0)
        t._trace.end(f"it indexes a value of shape {t._shape} by arrays")
    try:
        places = np.arange(t.size).reshape(t._shape)[keys]
    except IndexError as e:
        t._trace.end(str(e))
    return reshape(take(ravel(t), places.reshape(-1), 0), places.shape)


def _basic(t, keys):
    if not all(k is None or k is Ellipsis or isinstance(k, slice) or hasattr(k, "__index__") for k in keys):
        t._trace.end(f"it indexes by {keys!r:.60}")
    parts, shape, new, sliced = [], [], [], False
    for k in _whole(t, keys):
        if k is None:
            new.append(len(shape) + len(new))
            continue
        part, d = _part(t, k, t._shape[len(parts)])
        sliced = sliced or part != [None, None, 1]
        parts.append(part)
        shape += [] if d == "gone" else [d]
    if sliced:
        t = viewed(t, "slice", {"parts": parts}, tuple(shape))
    return expand_dims(t, tuple(new)) if new else t


def _whole(t, keys):
    """Indices with one for each axis: without Ellipsis."""
    used = sum(k is not None and k is not Ellipsis for k in keys)
    at = [i for i, k in enumerate(keys) if k is Ellipsis] or [len(keys)]
    if used > t.ndim or len(at) > 1:
        t._trace.end(f"it uses {used} indices on a value of shape {t._shape}")
    return keys[:at[0]] + (slice(None),) * (t.ndim - used) + keys[at[0] + 1:]


def _part(t, k, n):
    """One index as core/op reads it, and the dimension that is left."""
    if not isinstance(k, slice):
        i = operator.index(k)
        if n is not None and not -n <= i < n:
            t._trace.end(f"it uses index {i} of {n} values")
        return i, "gone"
    part = [None if x is None else operator.index(x) for x in (k.start, k.stop, k.step)]
    part[2] = 1 if part[2] is None else part[2]
    if part[2] == 0:
        t._trace.end("it slices with step 0")
    if n is not None:
        d = len(range(*slice(*part).indices(n)))
        return ([None, None, 1] if d == n and part[2] == 1 else part), d
    return part, None if part != [None, None, 1] or n is None else n


def _number(t):
    """Integers as int64s; what is too large is the largest, which is out of bounds too."""
    return cast(np.minimum(t, t.dtype.type(np.iinfo(np.int64).max)) if t.dtype == np.uint64 else t, np.int64)


def take(a, indices, axis=None, out=None, mode="raise"):
    trace = _trace.trace_of((a, indices))
    if out is not None or mode != "raise":
        trace.end("it uses np.take with out= or mode=")
    if type(a) is not Tensor:
        a = trace.tensor(np.asarray(a))
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_of(a, axis)
    n = a._shape[axis]
    if type(indices) is Tensor:
        if indices.dtype.kind not in "iu":
            trace.end(f"it indexes by values of dtype {indices.dtype}")
        shape = a._shape[:axis] + indices._shape + a._shape[axis + 1:]
        return trace.add("gather", [a, _number(indices)], {"axis": axis}, [(shape, a._dtype)])[0]
    indices = np.asarray(indices)
    if indices.dtype.kind not in "iu" and indices.size:
        trace.end(f"it indexes by values of dtype {indices.dtype}")
    if n is not None and indices.size and not (-n <= indices.min() and indices.max() < n):
        trace.end(f"it uses indices from {indices.min()} to {indices.max()} of {n} values")
    out = viewed(a, "take", {"axis": axis, "indices": indices.reshape(-1).tolist()},
                  a._shape[:axis] + (indices.size,) + a._shape[axis + 1:])
    if indices.ndim == 1:
        return out
    return squeeze(out, axis) if indices.ndim == 0 else reshape(out, a.shape[:axis] + indices.shape + a.shape[axis + 1:])


def split(ary, indices_or_sections, axis=0):
    axis = axis_of(ary, axis)
    if hasattr(indices_or_sections, "__index__"):
        sections, n = operator.index(indices_or_sections), ary._known(ary._shape[axis], "length")
        if n % sections:
            ary._trace.end(f"it splits {n} values into {sections}")
        indices_or_sections = range(n // sections, n, n // sections) if sections > 1 else []
    edges = [0, *indices_or_sections, None]
    return [ary[(slice(None),) * axis + (slice(a, b),)] for a, b in zip(edges, edges[1:])]


def flip(m, axis=None):
    axes = axes_of(m, axis)
    return m[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(m.ndim))]


def roll(a, shift, axis=None):
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), a.shape)
    for s, x in zip(np.atleast_1d(shift).tolist(), np.atleast_1d(axis).tolist()):
        x = axis_of(a, x)
        n = a._shape[x]
        if n is None:
            a = take(a, (positions(a, x) - s) % np.maximum(_traced_sizes.stand_in(Dimension(a, x)), 1), x)
        else:
            a = take(a, (np.arange(n) - s) % max(n, 1), x)
    return a


def positions(t, axis):
    """0, 1, ... along an axis."""
    n = t._shape[axis]
    return t._trace.add("positions", [t], {"axis": axis}, [((n,), np.int64)])[0]


def repeat(a, repeats, axis=None):
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_of(a, axis)
    if a._shape[axis] is not None:
        return take(a, np.repeat(np.arange(a._shape[axis]), repeats), axis)
    times = operator.index(repeats)
    if times <= 0:
        return a[(slice(None),) * axis + (slice(times, 0),)]
    return take(a, positions(concatenate([a] * times, axis), axis) // times, axis)


def tile(A, reps):
    reps = np.atleast_1d(reps).tolist()
    while A.ndim < len(reps):
        A = expand_dims(A, 0)
    for axis, n in enumerate([1] * (A.ndim - len(reps)) + reps):
        if n != 1:
            A = concatenate([A] * n, axis) if n else A[(slice(None),) * axis + (slice(0),)]
    return A


def pad(array, pad_width, mode="constant", constant_values=0):
    if mode != "constant" or np.ndim(constant_values):
        array._trace.end(f"it uses np.pad with mode {mode!r}")
    widths = np.broadcast_to(pad_width, (array.ndim, 2)).tolist()
    for axis, (before, after) in enumerate(widths):
        if before or after:
            fill = np.asarray(constant_values).astype(array.dtype)
            parts = [filled(array, fill, array.shape[:axis] + (n,) + array.shape[axis + 1:]) for n in (before, after)]
            array = concatenate([parts[0], array, parts[1]], axis)
    return array


def filled(t, value, shape):
    """An array of a shape, whose sizes may be those of t, that has one value everywhere."""
    if not any(type(d) is Dimension for d in shape):
        return np.full(shape, value)
    return broadcast_to(t._trace.tensor(value), shape)


def diff(a, n=1, axis=-1):
    axis = axis_of(a, axis)
    for _ in range(n):
        at = (slice(None),) * axis
        a = call(a._trace, np.not_equal if a.dtype == bool else np.subtract, (a[at + (slice(1, None),)], a[at + (slice(None, -1),)]))
    return a
