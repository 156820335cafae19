"""Stand-ins: what functions are given while they are traced (see `_trace`)."""

import numpy as np


class Tensor:
    """A stand-in for a component of an element, or for what is computed from them."""

    __slots__ = ("_trace", "_value", "_shape", "_dtype", "__weakref__")
    __array_priority__ = 1000
    __hash__ = None

    def __init__(self, trace, value, shape, dtype):
        self._trace, self._value, self._shape, self._dtype = trace, value, shape, dtype

    @property
    def __class__(self):
        """What functions see that ask: arrays, and NumPy's numbers for single values."""
        if self._shape:
            return np.ndarray
        return bytes if self._dtype.hasobject else self._dtype.type

    @property
    def shape(self):
        if None not in self._shape:
            return self._shape
        return tuple([Dimension(self, i) if d is None else d for i, d in enumerate(self._shape)])

    @property
    def dtype(self):
        return self._dtype

    @property
    def ndim(self):
        return len(self._shape)

    @property
    def itemsize(self):
        return self._dtype.itemsize

    @property
    def nbytes(self):
        for d in self._shape:
            self._known(d, "size")
        return self.size * self.itemsize

    def _known(self, dimension, what):
        if dimension is None:
            self._trace.end(f"it needs the {what} of its argument of shape {self._shape}, which differs between elements")
        return dimension

    def __repr__(self):
        return f"<traced {self._dtype}{list(self._shape)}>"

    def __len__(self):
        if not self._shape:
            raise TypeError("len() of unsized object")
        return self._known(self._shape[0], "length")

    def __iter__(self):
        if not self._shape:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(len(self))])

    def __getattr__(self, name):
        if hasattr(self.__class__, name):
            self._trace.end(f"it {_VALUES}" if name.startswith("__array_") else f"it uses .{name} of its argument")
        raise AttributeError(f"{self.__class__.__name__!r} object has no attribute {name!r}")


def shape_of(value):
    """The shape of a stand-in or an array; None for dimensions that differ between elements."""
    return value._shape if type(value) is Tensor else value.shape


class Parts:
    """A stand-in for a component that the engine has in several parts: a ragged one, or one of unknown rank.

    Functions can hand it on; whatever else they do with it ends the trace.
    """

    __slots__ = ("structure", "parts")
    __hash__ = None

    def __init__(self, structure, parts):
        self.structure, self.parts = structure, parts

    @property
    def __class__(self):
        return np.ndarray

    def __repr__(self):
        return "<traced ragged component>"

    def __getattr__(self, name):
        self.ends()

    def ends(self, *args, **kwargs):
        """Ends the trace."""
        self.parts[0]._trace.end("it uses a component that is ragged, or of unknown rank")


for _name in ("len iter getitem contains bool array eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod "
              "pow rpow matmul rmatmul and rand or ror xor rxor neg pos abs invert index int float").split():
    setattr(Parts, f"__{_name}__", Parts.ends)


class Dimension:
    """A dimension that differs between elements, as functions see it: a number (see `_traced_sizes`), which they can give to reshape."""

    __slots__ = ("tensor", "axis")
    __hash__ = None

    def __init__(self, tensor, axis):
        self.tensor, self.axis = tensor, axis

    def __repr__(self):
        return "None"

    def index(self, *args, **kwargs):
        """Ends the trace: it is not known which number this is."""
        self.tensor._known(None, f"dimension {self.axis}")


class Count:
    """A number of Python's that differs between elements: a size, or what is computed from sizes."""

    __slots__ = ("value", "of")  # an int64 stand-in; the stand-in whose size it is, if it is one's
    __hash__ = None

    def __init__(self, value, of=None):
        self.value, self.of = value, of

    def index(self, *args, **kwargs):
        """Ends the trace: it is not known which number this is."""
        self.value._trace.end("it needs a size of its argument, which differs between elements, as a number")


_VALUES = ("needs the values of its argument as Python's or NumPy's; write x.astype(dtype) in place of np.asarray(x) and np.float32(x), "
           "and np.stack in place of np.array")


def _ends(what):
    def method(self, *args, **kwargs):
        self._trace.end(f"it {what}")

    return method


for _what, _names in {
    "needs the truth of values of its argument, as in an `if`": "__bool__",
    _VALUES: "__float__ __int__ __complex__ __index__ __array__ __bytes__ __dlpack__ __buffer__",
    "looks for a value in its argument": "__contains__",
    "assigns to items of its argument": "__setitem__ __delitem__",
    "changes its argument in place": "__iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __imatmul__ "
                                     "__iand__ __ior__ __ixor__ __ilshift__ __irshift__",
    "formats its argument": "__format__ __str__",
    "copies or pickles its argument": "__copy__ __deepcopy__ __reduce__ __reduce_ex__",
}.items():
    for _name in _names.split():
        setattr(Tensor, _name, _ends(_what))


def _with_stand_in(self, other):
    return NotImplemented if type(other) is Tensor else self.index()


SIZES = (Dimension, Count)
for _class in SIZES:
    for _name in "bool int float complex index str format array neg pos abs invert round iter len getitem reduce_ex".split():
        setattr(_class, f"__{_name}__", _class.index)
    for _name in "pow truediv divmod and or xor lshift rshift".split():
        setattr(_class, f"__{_name}__", _with_stand_in)
        setattr(_class, f"__r{_name}__", _with_stand_in)
