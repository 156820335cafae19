"""NumPy's functions and methods of arrays on stand-ins: which function here does what."""

import importlib

import numpy as np

from infeed import _trace, _traced_ufuncs
from infeed._trace import Tensor, cast
from infeed._traced_indices import diff, filled, flip, getitem, pad, repeat, roll, split, take, tile
from infeed._traced_shapes import (broadcast_to, column_stack, concatenate, expand_dims, hstack, moveaxis, ravel, reshape, squeeze,
                                   stack, swapaxes, transpose, vstack)
from infeed._traced_sums import (all_, any_, argmax, argmin, count_nonzero, dot, max_, mean, min_, outer, prod, ptp, std, sum_, var)
from infeed._traced_ufuncs import call, elementwise


def _later(module, name):
    """A function of a module that is imported when it is first called: most programs call none of them."""
    def function(*args, **kwargs):
        return getattr(importlib.import_module(f"infeed.{module}"), name)(*args, **kwargs)

    return function


def where(condition, *xy):
    trace = _trace.trace_of((condition, *xy))
    if not xy:
        from infeed import _traced_scans

        return _traced_scans.nonzero(condition)
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


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, **kwargs):
    value = np.full((), fill_value, dtype or a.dtype)
    return filled(a, value, a.shape if shape is None else tuple(np.atleast_1d(shape).tolist()))


def _like(value):
    return lambda a, dtype=None, *args, **kwargs: full_like(a, value, dtype, *args, **kwargs)


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
    "sum": sum_, "prod": prod, "max": max_, "min": min_, "any": any_, "all": all_, "argmax": argmax, "argmin": argmin,
    "mean": mean, "var": var, "std": std, "clip": clip, "round": round_, "take": take, "repeat": repeat, "dot": dot,
    **{name: _later("_traced_scans", name) for name in "cumsum cumprod argsort searchsorted nonzero".split()},
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
    np.clip: clip, np.round: round_, np.around: round_, np.nan_to_num: nan_to_num, np.sum: sum_, np.prod: prod,
    np.max: max_, np.min: min_, np.amax: max_, np.amin: min_, np.any: any_, np.all: all_, np.argmax: argmax,
    np.argmin: argmin, np.mean: mean, np.var: var, np.std: std, np.ptp: ptp, np.count_nonzero: count_nonzero,
    np.dot: dot, np.outer: outer, np.copy: _copy, np.real: Tensor.real.fget, np.imag: Tensor.imag.fget,
    np.zeros_like: _like(0), np.ones_like: _like(1), np.full_like: full_like, np.empty_like: _like(0),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim, np.size: lambda a, axis=None: a.size if axis is None else len(
        moveaxis(a, axis, 0)),
}
for _module, _names in {
    "_traced_scans": "cumsum cumprod sort argsort searchsorted digitize isin nonzero flatnonzero argwhere extract unique append",
    "_traced_more": "atleast_1d atleast_2d atleast_3d dstack flipud fliplr rot90 tril triu broadcast_arrays isclose allclose average "
                  "nansum nanmean nanmax nanmin select inner polyval meshgrid array_split vsplit hsplit dsplit",
}.items():
    for _name in _names.split():
        _FUNCTIONS[getattr(np, _name)] = _later(_module, _name)
_FUNCTIONS[np.linalg.norm] = _later("_traced_more", "norm")
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


_OF_SEVERAL = ("concatenate stack vstack hstack dstack column_stack where clip take dot outer searchsorted digitize isin extract append "
               "atleast_1d atleast_2d atleast_3d broadcast_arrays isclose allclose average select inner polyval meshgrid")
_OF_ONE = set(_FUNCTIONS) - {getattr(np, name) for name in _OF_SEVERAL.split()}


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
