"""What stand-ins do with NumPy's functions, and their methods: shapes, indices, sums."""

import math
import operator

import numpy as np

from infeed import _trace, _traced_ufuncs
from infeed._trace import Tensor, cast
from infeed._traced_ufuncs import call, elementwise

# -- shapes ------------------------------------------------------------------------------


def _axis(t, axis, rank=None):
    rank = t.ndim if rank is None else rank
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        t._trace.end(f"it uses axis {axis} of a value of {rank} dimensions")
    return axis % rank


def _axes(t, axis, rank=None):
    """axis, None or several, as a sorted list counted from the front."""
    if axis is None:
        return list(range(t.ndim))
    return sorted({_axis(t, a, rank) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))})


def _count(shape):
    return None if None in shape else math.prod(shape)


def reshape(t, *shape, order="C", **kwargs):
    shape = kwargs.pop("newshape", kwargs.pop("shape", shape))
    kwargs.pop("copy", None)
    if kwargs or order != "C":
        t._trace.end("it uses reshape with an order other than C")
    if len(shape) == 1 and not hasattr(shape[0], "__index__") if isinstance(shape, tuple) else False:
        shape = shape[0]
    shape = tuple(operator.index(d) for d in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    count, known = _count(t._shape), [d for d in shape if d >= 0]
    out = shape
    if count is not None:
        rest = math.prod(known)
        if shape.count(-1) > 1 or len(known) + shape.count(-1) < len(shape) or (count != rest if -1 not in shape else (count % rest if rest else count)):
            t._trace.end(f"it reshapes a value of shape {t._shape} into {shape}")
        out = tuple(d if d >= 0 else count // max(rest, 1) for d in shape)
    elif t.ndim and -1 in shape and t._shape[0] is None and shape[0] == -1:
        out = (None, *shape[1:])
    out = tuple(None if d == -1 else d for d in out)
    return _viewed(t, "reshape", {"shape": [-1 if d is None else d for d in shape] if count is None else list(out)}, out)


def _viewed(t, op, attrs, shape):
    """A node that has some of the values of another, of the same dtype."""
    return t._trace.add(op, [t], attrs, [(shape, t._dtype)])[0]


def expand_dims(t, axis):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = t.ndim + len(axes)
    axes = _axes(t, tuple(axes), rank)
    shape = list(t._shape)
    for a in axes:
        shape.insert(a, 1)
    return _viewed(t, "expand_dims", {"axes": axes}, tuple(shape))


def squeeze(t, axis=None):
    if axis is None and None in t._shape:
        t._trace.end(f"it squeezes a value of shape {t._shape}, whose dimensions differ between elements")
    axes = [i for i, d in enumerate(t._shape) if d == 1] if axis is None else _axes(t, axis)
    if any(t._shape[a] not in (1, None) for a in axes):
        t._trace.end(f"it squeezes axes {axes} of a value of shape {t._shape}")
    return _viewed(t, "squeeze", {"axes": axes}, tuple(d for i, d in enumerate(t._shape) if i not in axes)) if axes else t


def ravel(t, order="C"):
    return reshape(t, -1, order=order) if t.ndim != 1 else t


def transpose(t, *axes):
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = axes[0] or ()
    order = [_axis(t, a) for a in axes] if axes else list(range(t.ndim))[::-1]
    if sorted(order) != list(range(t.ndim)):
        t._trace.end(f"it transposes a value of shape {t._shape} by {axes}")
    if order == list(range(t.ndim)):
        return t
    return _viewed(t, "transpose", {"axes": order}, tuple(t._shape[a] for a in order))


def swapaxes(t, axis1, axis2):
    order = list(range(t.ndim))
    a, b = _axis(t, axis1), _axis(t, axis2)
    order[a], order[b] = order[b], order[a]
    return transpose(t, order)


def moveaxis(t, source, destination):
    source, destination = [[_axis(t, a) for a in (x if isinstance(x, (tuple, list)) else (x,))] for x in (source, destination)]
    order = [a for a in range(t.ndim) if a not in source]
    for to, of in sorted(zip(destination, source)):
        order.insert(to, of)
    return transpose(t, order)


def broadcast_to(t, shape, subok=False):
    shape = tuple(operator.index(d) for d in (shape if isinstance(shape, (tuple, list)) else (shape,)))
    pad = len(shape) - t.ndim
    if pad < 0 or any(d not in (1, None, shape[pad + i]) for i, d in enumerate(t._shape)):
        t._trace.end(f"it broadcasts a value of shape {t._shape} to {shape}")
    return _viewed(t, "broadcast_to", {"shape": shape}, shape)


def concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    trace = _trace.trace_of(arrays)
    if out is not None:
        trace.end("it writes the result of np.concatenate into an array (out=)")
    if type(arrays) is Tensor:
        arrays = list(arrays)
    tensors = _common(trace, [trace.tensor(trace.operand(a)) for a in arrays], dtype)
    if axis is None:
        tensors, axis = [ravel(t) for t in tensors], 0
    first = tensors[0]
    axis = _axis(first, axis)
    shape = list(first._shape)
    for t in tensors[1:]:
        for i, d in enumerate(t._shape):
            if t.ndim != first.ndim or i != axis and None not in (d, shape[i]) and d != shape[i]:
                trace.end(f"it concatenates values of shapes {first._shape} and {t._shape}")
            shape[i] = d if shape[i] is None else shape[i]
    sizes = [t._shape[axis] for t in tensors]
    shape[axis] = None if None in sizes else sum(sizes)
    return trace.add("concatenate", tensors, {"axis": axis}, [(tuple(shape), first._dtype)])[0]


def _common(trace, tensors, dtype=None):
    """Stand-ins cast to the dtype that NumPy would give them together."""
    if any(t._dtype.hasobject for t in tensors):
        if not all(t._dtype.hasobject for t in tensors):
            trace.end("it joins text and numbers")
        return tensors
    dtype = np.result_type(*[t._dtype for t in tensors]) if dtype is None else np.dtype(dtype)
    return [cast(t, dtype) for t in tensors]


def stack(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    trace = _trace.trace_of(arrays)
    tensors = [trace.tensor(trace.operand(a)) for a in arrays]
    if len({t.ndim for t in tensors}) > 1:
        trace.end(f"it stacks values of shapes {', '.join(str(t._shape) for t in tensors)}")
    axis = _axis(tensors[0], axis, tensors[0].ndim + 1)
    return concatenate([expand_dims(t, axis) for t in tensors], axis, out, dtype)


def stacked(trace, values):
    """Nested lists as np.asarray makes an array of them; Python's numbers do not widen the others' dtype."""
    parts = [stacked(trace, v) if isinstance(v, (list, tuple)) and _trace.trace_of(v) is not None else v for v in values]
    given = [trace.operand(v) for v in parts]
    if any(not hasattr(v, "dtype") for v in given) and not any(v.dtype.hasobject for v in given if hasattr(v, "dtype")):
        dtype = np.result_type(*[np.asarray(v) if not hasattr(v, "dtype") else v.dtype for v in given])
        given = [trace.constant(v, dtype) if not hasattr(v, "dtype") else v for v in given]
    return stack([trace.tensor(v) for v in given])


def vstack(tup, **kwargs):
    trace = _trace.trace_of(tup)
    return concatenate([_at_least_2d(trace.tensor(t)) for t in tup], 0, **kwargs)


def hstack(tup, **kwargs):
    trace = _trace.trace_of(tup)
    tensors = [t if t.ndim else reshape(t, 1) for t in map(trace.tensor, tup)]
    return concatenate(tensors, 0 if tensors[0].ndim == 1 else 1, **kwargs)


def column_stack(tup):
    trace = _trace.trace_of(tup)
    return concatenate([transpose(_at_least_2d(t)) if t.ndim < 2 else t for t in map(trace.tensor, tup)], 1)


def _at_least_2d(t):
    return reshape(t, 1, 1) if t.ndim == 0 else expand_dims(t, 0) if t.ndim == 1 else t


def split(ary, indices_or_sections, axis=0):
    axis = _axis(ary, axis)
    n = ary._known(ary._shape[axis], "length")
    if hasattr(indices_or_sections, "__index__"):
        sections = operator.index(indices_or_sections)
        if n % sections:
            ary._trace.end(f"it splits {n} values into {sections}")
        indices_or_sections = range(n // sections, n, n // sections) if sections > 1 else []
    edges = [0, *indices_or_sections, n]
    return [ary[(slice(None),) * axis + (slice(a, b),)] for a, b in zip(edges, edges[1:])]


def flip(m, axis=None):
    axes = _axes(m, axis)
    return m[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(m.ndim))]


def roll(a, shift, axis=None):
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), a.shape)
    for s, x in zip(np.atleast_1d(shift).tolist(), np.atleast_1d(axis).tolist()):
        x = _axis(a, x)
        n = a._known(a._shape[x], "length")
        a = take(a, (np.arange(n) - s) % max(n, 1), x)
    return a


def repeat(a, repeats, axis=None):
    if axis is None:
        a, axis = ravel(a), 0
    axis = _axis(a, axis)
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
    axis = _axis(a, axis)
    for _ in range(n):
        at = (slice(None),) * axis
        a = call(a._trace, np.not_equal if a.dtype == bool else np.subtract, (a[at + (slice(1, None),)], a[at + (slice(None, -1),)]))
    return a


def _like(make):
    def like(a, *args, dtype=None, shape=None, **kwargs):
        shape = tuple(a._known(d, "shape") for d in a._shape) if shape is None else shape
        return make(shape, *args, dtype=dtype or a.dtype)

    return like


# -- indices -------------------------------------------------------------------------------


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
        t = _viewed(t, "slice", {"parts": parts}, tuple(shape))
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
    axis = _axis(a, axis)
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
    out = _viewed(a, "take", {"axis": axis, "indices": indices.reshape(-1).tolist()},
                  a._shape[:axis] + (indices.size,) + a._shape[axis + 1:])
    if indices.ndim == 1:
        return out
    if None not in shape:
        return reshape(out, shape)
    return squeeze(out, axis) if indices.ndim == 0 else trace.end("it takes values of unknown shape by a table of indices")


# -- choices ---------------------------------------------------------------------------------


def where(condition, *xy):
    trace = _trace.trace_of((condition, *xy))
    if len(xy) != 2:
        trace.end("it asks where values are true, which gives shapes that differ between elements")
    x, y = [trace.operand(v) for v in xy]
    c = _traced_ufuncs.as_bool(trace.tensor(condition))
    dtype = _together(x, y)
    if dtype.hasobject or dtype.kind in "SU":
        trace.end("it chooses between texts")
    operands = [c, trace.tensor(x, dtype), trace.tensor(y, dtype)]
    return elementwise(trace, "select", operands, dtype)


def _together(*values):
    """The dtype that NumPy gives arrays and Python numbers together."""
    return np.result_type(*[v.dtype if hasattr(v, "dtype") else v for v in values])


def clip(a, a_min=np._NoValue, a_max=np._NoValue, out=None, *, min=np._NoValue, max=np._NoValue, **kwargs):
    trace = _trace.trace_of((a, a_min, a_max, min, max))
    if out is not None or kwargs:
        trace.end(f"it uses np.clip with {', '.join(kwargs) or 'out'}")
    low, high = [next((v for v in pair if v is not np._NoValue and v is not None), None) for pair in ((a_min, min), (a_max, max))]
    a, low, high = [v if v is None else trace.operand(v) for v in (a, low, high)]
    dtype = _together(*[v for v in (a, low, high) if v is not None])
    for v in (low, high):
        if type(v) is int and dtype.kind in "iu" and not np.iinfo(dtype).min <= v <= np.iinfo(dtype).max:
            trace.end(f"it clips to {v}, which {dtype} cannot hold")
    t = trace.tensor(a, dtype)
    if low is not None:
        t = elementwise(trace, "maximum", [t, trace.tensor(low, dtype)], dtype)
    if high is not None:
        t = elementwise(trace, "minimum", [t, trace.tensor(high, dtype)], dtype)
    return t


def round_(a, decimals=0, out=None):
    if out is not None:
        a._trace.end("it writes the result of np.round into an array (out=)")
    if a.dtype.kind in "iu" and decimals >= 0:
        return a
    if decimals or a.dtype.kind != "f":
        a._trace.end(f"it rounds {a.dtype} to {decimals} decimals")
    return call(a._trace, np.rint, (a,))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if x.dtype.kind != "f":
        return x if x.dtype.kind in "biu" else x._trace.end("it uses np.nan_to_num of complex numbers")
    info = np.finfo(x.dtype)
    high, low = (info.max if posinf is None else posinf), (info.min if neginf is None else neginf)
    out = where(call(x._trace, np.isnan, (x,)), x.dtype.type(nan), x)
    out = where(call(x._trace, np.equal, (x, x.dtype.type(np.inf))), x.dtype.type(high), out)
    return where(call(x._trace, np.equal, (x, x.dtype.type(-np.inf))), x.dtype.type(low), out)


# -- sums and the like ---------------------------------------------------------------------------


def _reduce(t, op, axis, keepdims, result, initial=None):
    axes = _axes(t, axis)
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


_sum, _prod = _added("sum", "sum", np.sum), _added("prod", "prod", np.prod)


def _extreme(name):
    def method(t, axis=None, out=None, keepdims=False, initial=None, where=True):
        _only(t, name, out=out, where=where, initial=initial)
        if t.dtype.kind not in "biuf":
            t._trace.end(f"it uses {name} of {t.dtype}")
        if any(t._shape[a] == 0 for a in _axes(t, axis)):
            t._trace.end(f"it asks for the {name} of no values")
        return _reduce(t, name, axis, _keep(keepdims), t.dtype)

    return method


_max, _min = _extreme("max"), _extreme("min")


def _logical(name, op):
    def method(t, axis=None, out=None, keepdims=False, where=True):
        _only(t, name, out=out, where=where)
        return _reduce(_traced_ufuncs.as_bool(t), op, axis, _keep(keepdims), bool)

    return method


_any, _all = _logical("any", "any"), _logical("all", "all")


def _place(name):
    def method(t, axis=None, out=None, keepdims=False):
        _only(t, name, out=out)
        if t.dtype.kind not in "biuf" or any(t._shape[a] == 0 for a in _axes(t, axis)):
            t._trace.end(f"it uses {name} of {t.dtype} values of shape {t._shape}")
        if axis is None and t.ndim != 1:
            flat = method(ravel(t) if t.ndim else reshape(t, 1), 0)
            return expand_dims(flat, tuple(range(t.ndim))) if _keep(keepdims) and t.ndim else flat
        return _reduce(t, name, 0 if axis is None else operator.index(axis), _keep(keepdims), np.int64)

    return method


_argmax, _argmin = _place("argmax"), _place("argmin")


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
    total = _sum(cast(t, within), axis, within, None, keepdims)
    return cast(_over(total, _number(t, _axes(t, axis))), result)


def _over(total, n):
    """total / n, with total's dtype."""
    return elementwise(total._trace, "divide", [total, total._trace.tensor(n, total.dtype)], total.dtype)


def var(t, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=np._NoValue, correction=np._NoValue):
    _only(t, "var", out=out, where=where, mean=mean, correction=correction)
    if t.dtype.kind not in "biuf":
        t._trace.end(f"it uses var of {t.dtype}")
    result = np.var(np.ones(1, t.dtype), dtype=dtype).dtype
    within = np.dtype(np.float32) if result == np.float16 and dtype is None else result
    axes = _axes(t, axis)
    n = _number(t, axes)
    x = cast(t, within)
    middle = _over(_sum(x, axis, within, None, True), n)
    away = call(t._trace, np.subtract, (x, middle))
    square = elementwise(t._trace, "multiply", [away, away], within)
    left = call(t._trace, np.maximum, (call(t._trace, np.subtract, (n, ddof)), 0)) if type(n) is Tensor else max(n - ddof, 0)
    return cast(_over(_sum(square, axis, within, None, keepdims), left), result)


def std(t, *args, **kwargs):
    v = var(t, *args, **kwargs)
    return call(t._trace, np.sqrt, (v,))


def ptp(a, axis=None, out=None, keepdims=False):
    return call(a._trace, np.subtract, (_max(a, axis, out, keepdims), _min(a, axis, out, keepdims)))


def count_nonzero(a, axis=None, *, keepdims=False):
    return _sum(_traced_ufuncs.as_bool(a), axis, np.int64, None, keepdims)


def reduce_of_ufunc(trace, ufunc, array, axis=0, dtype=None, out=None, keepdims=False, **kwargs):
    """np.add.reduce and its like."""
    methods = {np.add: _sum, np.multiply: _prod, np.maximum: _max, np.minimum: _min, np.logical_and: _all, np.logical_or: _any}
    if ufunc not in methods or kwargs or type(array) is not Tensor:
        trace.end(f"it uses np.{ufunc.__name__}.reduce")
    given = {} if dtype is None else {"dtype": dtype}
    return methods[ufunc](array, axis, out=out, keepdims=keepdims, **given)


def matmul(trace, a, b):
    """Matrices by matrices or vectors, as `@` does."""
    a, b = _common(trace, [trace.tensor(trace.operand(v)) for v in (a, b)])
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


# -- NumPy's protocol --------------------------------------------------------------------------------


def _copy(t, *args, **kwargs):
    return t


def astype(t, dtype, order="K", casting="unsafe", subok=True, copy=True):
    if casting != "unsafe" and not np.can_cast(t.dtype, dtype, casting):
        t._trace.end(f"it casts {t.dtype} to {np.dtype(dtype)} by rule {casting!r}")
    return cast(t, dtype)


def _part_of(ufunc_name):
    def part(t):
        if t.dtype.kind == "c":
            half = np.dtype(f"f{t.dtype.itemsize // 2}")
            return elementwise(t._trace, ufunc_name, [t], half)
        return t if ufunc_name == "real" else cast(call(t._trace, np.multiply, (t, 0)), t.dtype)

    return part


_METHODS = {
    "reshape": reshape, "ravel": ravel, "flatten": ravel, "transpose": transpose, "swapaxes": swapaxes, "squeeze": squeeze,
    "sum": _sum, "prod": _prod, "max": _max, "min": _min, "any": _any, "all": _all, "argmax": _argmax, "argmin": _argmin,
    "mean": mean, "var": var, "std": std, "clip": clip, "round": round_, "take": take, "repeat": repeat, "dot": dot,
    "astype": astype, "copy": _copy, "__getitem__": getitem, "conj": lambda t: call(t._trace, np.conjugate, (t,)),
    "conjugate": lambda t: call(t._trace, np.conjugate, (t,)),
}
for _name, _method in _METHODS.items():
    setattr(Tensor, _name, _method)
Tensor.T = property(lambda t: transpose(t))
Tensor.mT = property(lambda t: swapaxes(t, -1, -2))
Tensor.real = property(_part_of("real"))
Tensor.imag = property(_part_of("imag"))

_FUNCTIONS = {
    np.reshape: reshape, np.ravel: ravel, np.transpose: transpose, np.swapaxes: swapaxes, np.moveaxis: moveaxis,
    np.expand_dims: expand_dims, np.squeeze: squeeze, np.broadcast_to: broadcast_to, np.concatenate: concatenate,
    np.stack: stack, np.vstack: vstack, np.hstack: hstack, np.column_stack: column_stack, np.split: split, np.flip: flip,
    np.roll: roll, np.repeat: repeat, np.tile: tile, np.pad: pad, np.diff: diff, np.take: take, np.where: where,
    np.clip: clip, np.round: round_, np.around: round_, np.nan_to_num: nan_to_num, np.sum: _sum, np.prod: _prod,
    np.max: _max, np.min: _min, np.amax: _max, np.amin: _min, np.any: _any, np.all: _all, np.argmax: _argmax,
    np.argmin: _argmin, np.mean: mean, np.var: var, np.std: std, np.ptp: ptp, np.count_nonzero: count_nonzero,
    np.dot: dot, np.outer: outer, np.copy: _copy, np.real: Tensor.real.fget, np.imag: Tensor.imag.fget,
    np.zeros_like: _like(np.zeros), np.ones_like: _like(np.ones), np.full_like: _like(np.full), np.empty_like: _like(np.zeros),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim, np.size: lambda a, axis=None: a.size if axis is None else len(
        moveaxis(a, axis, 0)),
}
if hasattr(np, "astype"):
    _FUNCTIONS[np.astype] = lambda x, dtype, **kwargs: cast(x, dtype)


def array_function(self, func, types, args, kwargs):
    """Stand-ins' __array_function__."""
    found = _FUNCTIONS.get(func)
    trace = _trace.trace_of(args) or _trace.trace_of(kwargs.values()) or self._trace
    if found is None:
        return _written_in_python(trace, func, args, kwargs)
    first, *rest = args if args else (None,)
    if args and func in _OF_ONE and type(first) is not Tensor:
        first = trace.tensor(trace.operand(first))
    return found(first, *rest, **kwargs) if args else found(**kwargs)


_OF_ONE = {f for f in _FUNCTIONS} - {np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.where, np.clip, np.take,
                                     np.dot, np.outer}


def _written_in_python(trace, func, args, kwargs):
    """Functions of NumPy that are made of others: they are traced as the user's own."""
    inner = getattr(func, "_implementation", None)
    name = getattr(func, "__name__", str(func))
    if inner is None:
        trace.end(f"it uses np.{name}, which infeed does not run natively")
    try:
        return inner(*args, **kwargs)
    except _trace.EndOfTrace:
        trace.reason = f"it uses np.{name}, which infeed does not run natively"
        raise _trace.EndOfTrace(trace.reason) from None


Tensor.__array_function__ = array_function
