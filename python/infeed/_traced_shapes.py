"""What stand-ins do with NumPy's functions that change shapes and join values."""

import math
import operator

import numpy as np

from infeed import _trace
from infeed._stand_in import Dimension
from infeed._trace import Tensor, cast


def axis_of(t, axis, rank=None):
    rank = t.ndim if rank is None else rank
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        t._trace.end(f"it uses axis {axis} of a value of {rank} dimensions")
    return axis % rank


def axes_of(t, axis, rank=None):
    """axis, None or several, as a sorted list counted from the front."""
    if axis is None:
        return list(range(t.ndim))
    return sorted({axis_of(t, a, rank) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))})


def _count(shape):
    return None if None in shape else math.prod(shape)


def reshape(t, *shape, order="C", **kwargs):
    shape = kwargs.pop("newshape", kwargs.pop("shape", shape))
    kwargs.pop("copy", None)
    if kwargs or order != "C":
        t._trace.end("it uses reshape with an order other than C")
    if isinstance(shape, tuple) and len(shape) == 1 and isinstance(shape[0], (tuple, list, np.ndarray)):
        shape = shape[0]
    shape = [d if type(d) is Dimension else operator.index(d) for d in (shape if hasattr(shape, "__len__") else (shape,))]
    if any(type(d) is Dimension for d in shape) or None in t._shape:
        return _reshape_unknown(t, shape)
    count, rest = math.prod(t._shape), math.prod(d for d in shape if d != -1)
    if shape.count(-1) > 1 or min(shape, default=0) < -1 or (count % rest if -1 in shape and rest else count != rest):
        t._trace.end(f"it reshapes a value of shape {t._shape} into {tuple(shape)}")
    shape = tuple(count // max(rest, 1) if d == -1 else d for d in shape)
    return viewed(t, "reshape", {"shape": shape}, shape)


def _reshape_unknown(t, shape):
    """A reshape whose dimensions are found when the program runs."""
    operands, sizes = _sizes(t, shape)
    if sizes.count(-1) > 1 or any(d < -1 for d in sizes if isinstance(d, int)):
        t._trace.end(f"it reshapes a value of shape {t._shape} into {tuple(shape)}")
    out = tuple(d if isinstance(d, int) and d != -1 else None for d in sizes)
    return t._trace.add("reshape", operands, {"shape": sizes}, [(out, t._dtype)])[0]


def _sizes(t, shape):
    """The operands of a node that makes a shape of a stand-in, and the shape as core/op reads it: of dimensions of theirs too."""
    operands, sizes = [t], []
    for d in shape:
        if type(d) is Dimension:
            of = t._trace.tensor(d.tensor)
            known = [i for i, o in enumerate(operands) if o is of]
            operands += [] if known else [of]
            d = [known[0] if known else len(operands) - 1, d.axis]
        sizes.append(d)
    return operands, sizes


def viewed(t, op, attrs, shape):
    """A node that has some of the values of another, of the same dtype."""
    return t._trace.add(op, [t], attrs, [(shape, t._dtype)])[0]


def expand_dims(t, axis):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = t.ndim + len(axes)
    axes = axes_of(t, tuple(axes), rank)
    shape = list(t._shape)
    for a in axes:
        shape.insert(a, 1)
    return viewed(t, "expand_dims", {"axes": axes}, tuple(shape))


def squeeze(t, axis=None):
    if axis is None and None in t._shape:
        t._trace.end(f"it squeezes a value of shape {t._shape}, whose dimensions differ between elements")
    axes = [i for i, d in enumerate(t._shape) if d == 1] if axis is None else axes_of(t, axis)
    if any(t._shape[a] not in (1, None) for a in axes):
        t._trace.end(f"it squeezes axes {axes} of a value of shape {t._shape}")
    return viewed(t, "squeeze", {"axes": axes}, tuple(d for i, d in enumerate(t._shape) if i not in axes)) if axes else t


def ravel(t, order="C"):
    return reshape(t, -1, order=order) if t.ndim != 1 else t


def transpose(t, *axes):
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = axes[0] or ()
    order = [axis_of(t, a) for a in axes] if axes else list(range(t.ndim))[::-1]
    if sorted(order) != list(range(t.ndim)):
        t._trace.end(f"it transposes a value of shape {t._shape} by {axes}")
    if order == list(range(t.ndim)):
        return t
    return viewed(t, "transpose", {"axes": order}, tuple(t._shape[a] for a in order))


def swapaxes(t, axis1, axis2):
    order = list(range(t.ndim))
    a, b = axis_of(t, axis1), axis_of(t, axis2)
    order[a], order[b] = order[b], order[a]
    return transpose(t, order)


def moveaxis(t, source, destination):
    source, destination = [[axis_of(t, a) for a in (x if isinstance(x, (tuple, list)) else (x,))] for x in (source, destination)]
    order = [a for a in range(t.ndim) if a not in source]
    for to, of in sorted(zip(destination, source)):
        order.insert(to, of)
    return transpose(t, order)


def broadcast_to(array, shape, subok=False):
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    shape = [d if type(d) is Dimension else operator.index(d) for d in shape]
    t, out = array, tuple(None if type(d) is Dimension else d for d in shape)
    pad = len(shape) - t.ndim
    if pad < 0 or any(None not in (d, out[pad + i]) and d not in (1, out[pad + i]) for i, d in enumerate(t._shape)):
        t._trace.end(f"it broadcasts a value of shape {t._shape} to {tuple(shape)}")
    operands, sizes = _sizes(t, shape)
    return t._trace.add("broadcast_to", operands, {"shape": sizes}, [(out, t._dtype)])[0]


def concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    trace = _trace.trace_of(arrays)
    if out is not None:
        trace.end("it writes the result of np.concatenate into an array (out=)")
    if type(arrays) is Tensor:
        arrays = list(arrays)
    tensors = common(trace, [trace.tensor(trace.operand(a)) for a in arrays], dtype)
    if axis is None:
        tensors, axis = [ravel(t) for t in tensors], 0
    first = tensors[0]
    axis = axis_of(first, axis)
    shape = list(first._shape)
    for t in tensors[1:]:
        for i, d in enumerate(t._shape):
            if t.ndim != first.ndim or i != axis and None not in (d, shape[i]) and d != shape[i]:
                trace.end(f"it concatenates values of shapes {first._shape} and {t._shape}")
            shape[i] = d if shape[i] is None else shape[i]
    sizes = [t._shape[axis] for t in tensors]
    shape[axis] = None if None in sizes else sum(sizes)
    return trace.add("concatenate", tensors, {"axis": axis}, [(tuple(shape), first._dtype)])[0]


def common(trace, tensors, dtype=None):
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
    axis = axis_of(tensors[0], axis, tensors[0].ndim + 1)
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
