"""What stand-ins do with indices and with NumPy's functions that pick values by their place."""

import operator

import numpy as np

from infeed import _trace
from infeed._trace import Tensor, cast
from infeed._traced_shapes import axes_of, axis_of, concatenate, expand_dims, ravel, reshape, squeeze, viewed
from infeed._traced_ufuncs import call


def getitem(t, key):
    """Stand-ins' __getitem__."""
    keys = key if isinstance(key, tuple) else (key,)
    keys = tuple(np.asarray(k) if isinstance(k, list) and _trace.trace_of(k) is None else k for k in keys)
    if len(keys) == 1 and type(keys[0]) is Tensor:
        return _by_stand_in(t, keys[0])
    if any(type(k) is Tensor for k in keys):
        t._trace.end("it indexes by values of its argument along with others")
    if any(isinstance(k, np.ndarray) and (k.ndim or k.dtype == bool) or isinstance(k, (bool, np.bool_)) for k in keys):
        return _by_arrays(t, keys)
    return _basic(t, keys)


def _by_stand_in(t, index):
    if index.dtype == bool:
        t._trace.end("it selects by a mask, which gives shapes that differ between elements")
    return take(t, index, 0)


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
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > t.ndim or sum(k is Ellipsis for k in keys) > 1:
        t._trace.end(f"it uses {used} indices on a value of shape {t._shape}")
    if Ellipsis not in keys:
        keys += (Ellipsis,)
    at = keys.index(Ellipsis)
    keys = keys[:at] + (slice(None),) * (t.ndim - used) + keys[at + 1:]
    parts, shape, new, sliced = [], [], [], False
    for k in keys:
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
        return trace.add("gather", [a, cast(indices, np.int64)], {"axis": axis}, [(shape, a._dtype)])[0]
    indices = np.asarray(indices)
    if indices.dtype.kind not in "iu" and indices.size:
        trace.end(f"it indexes by values of dtype {indices.dtype}")
    if n is not None and indices.size and not (-n <= indices.min() and indices.max() < n):
        trace.end(f"it uses indices from {indices.min()} to {indices.max()} of {n} values")
    shape = a._shape[:axis] + indices.shape + a._shape[axis + 1:]
    out = viewed(a, "take", {"axis": axis, "indices": indices.reshape(-1).tolist()},
                  a._shape[:axis] + (indices.size,) + a._shape[axis + 1:])
    if indices.ndim == 1:
        return out
    if None not in shape:
        return reshape(out, shape)
    return squeeze(out, axis) if indices.ndim == 0 else trace.end("it takes values of unknown shape by a table of indices")


def split(ary, indices_or_sections, axis=0):
    axis = axis_of(ary, axis)
    n = ary._known(ary._shape[axis], "length")
    if hasattr(indices_or_sections, "__index__"):
        sections = operator.index(indices_or_sections)
        if n % sections:
            ary._trace.end(f"it splits {n} values into {sections}")
        indices_or_sections = range(n // sections, n, n // sections) if sections > 1 else []
    edges = [0, *indices_or_sections, n]
    return [ary[(slice(None),) * axis + (slice(a, b),)] for a, b in zip(edges, edges[1:])]


def flip(m, axis=None):
    axes = axes_of(m, axis)
    return m[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(m.ndim))]


def roll(a, shift, axis=None):
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), a.shape)
    for s, x in zip(np.atleast_1d(shift).tolist(), np.atleast_1d(axis).tolist()):
        x = axis_of(a, x)
        n = a._known(a._shape[x], "length")
        a = take(a, (np.arange(n) - s) % max(n, 1), x)
    return a


def repeat(a, repeats, axis=None):
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_of(a, axis)
    return take(a, np.repeat(np.arange(a._known(a._shape[axis], "length")), repeats), axis)


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
        parts = []
        for n in (before, after):
            shape = list(array.shape)
            shape[axis] = n
            array._known(None if None in shape else 0, "shape")
            parts.append(np.full(shape, constant_values, array.dtype))
        array = concatenate([parts[0], array, parts[1]], axis) if before or after else array
    return array


def diff(a, n=1, axis=-1):
    axis = axis_of(a, axis)
    for _ in range(n):
        at = (slice(None),) * axis
        a = call(a._trace, np.not_equal if a.dtype == bool else np.subtract, (a[at + (slice(1, None),)], a[at + (slice(None, -1),)]))
    return a
