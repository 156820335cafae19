"""Sizes that differ between elements, as traced functions see them: numbers of Python's, which they compare and compute with."""

import numpy as np

from infeed import _trace, _traced_ufuncs
from infeed._stand_in import SIZES, Count, Dimension, Tensor


def stand_in(size):
    """The int64 stand-in for a size."""
    if type(size) is Count:
        return size.value
    return size.tensor._trace.add("size", [size.tensor], {"axes": [size.axis]}, [((), np.int64)])[0]


def component(size):
    """The stand-in for a size that is a component of a result: an int32, as Python's numbers are there."""
    of, axes = (size.tensor, [size.axis]) if type(size) is Dimension else (size.of, None)
    if of is None:
        size.index()  # what is computed from sizes may need an int64
    axes = list(range(of.ndim)) if axes is None else axes
    return of._trace.add("size", [of], {"axes": axes, "dtype": "<i4"}, [((), np.int32)])[0]


def size_of(t):
    """How many values a stand-in has."""
    return Count(t._trace.add("size", [t], {"axes": list(range(t.ndim))}, [((), np.int64)])[0], t)


def _computed(size, ufunc, inputs):
    """The stand-in for a ufunc of sizes and ints; the trace ends at anything else. Stand-ins do it themselves."""
    if any(type(v) is Tensor for v in inputs):
        return NotImplemented
    if any(type(v) not in SIZES and (type(v) is not int or abs(v) >> 62) for v in inputs):
        size.index()
    inputs = [stand_in(v) if type(v) in SIZES else v for v in inputs]
    return _traced_ufuncs.call(_trace.trace_of(inputs), ufunc, inputs)


def _operator(ufunc, compares, reflected):
    def method(self, other):
        if ufunc in _DIVISIONS and type(other) is not Tensor and (reflected or type(other) is not int or other == 0):
            self.index()  # Python raises ZeroDivisionError, and NumPy does not
        made = _computed(self, ufunc, (other, self) if reflected else (self, other))
        return made if compares or made is NotImplemented else Count(made)

    return method


_DIVISIONS = (np.floor_divide, np.remainder)

for _name, _ufunc in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "floordiv": np.floor_divide, "mod": np.remainder}.items():
    for _class in SIZES:
        setattr(_class, f"__{_name}__", _operator(_ufunc, False, False))
        setattr(_class, f"__r{_name}__", _operator(_ufunc, False, True))
for _name, _ufunc in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}.items():
    for _class in SIZES:
        setattr(_class, f"__{_name}__", _operator(_ufunc, True, False))

_UFUNCS = {np.maximum, np.minimum, np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.add, np.subtract, np.multiply}


def _array_ufunc(self, ufunc, method, *inputs, **kwargs):
    if any(type(v) is Tensor for v in inputs):
        return NotImplemented
    if ufunc not in _UFUNCS or method != "__call__" or kwargs:
        self.index()
    return _computed(self, ufunc, inputs)


for _class in SIZES:
    _class.__array_ufunc__ = _array_ufunc

Tensor.size = property(lambda self: size_of(self) if None in self._shape else int(np.prod(self._shape, dtype=object)))
