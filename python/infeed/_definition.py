"""Definitions: the operations of a dataset as data, for the engine to run.

A `Node` is an operation with its arguments and inputs. It is immutable and can be
pickled; what holds arrays keeps references to them, and tells the engine where
they lie in this process when a dataset is opened.
"""

import numpy as np

from infeed._errors import InvalidArgumentError


class Node:
    """One operation: its name and arguments as core/pipeline knows them."""

    __slots__ = ("op", "args", "inputs")

    def __init__(self, op, args, inputs=()):
        self.op, self.args, self.inputs = op, args, tuple(inputs)

    def document(self):
        """The definition as the engine reads it."""
        return {"op": self.op, "args": self.args, "inputs": [n.document() for n in self.inputs]}

    def names(self):
        """The operations, the source first."""
        return [name for n in self.inputs for name in n.names()] + [self.op]


class Slices(Node):
    """The source whose elements are the rows of arrays, which are used in place."""

    __slots__ = ("structure", "arrays")

    def __init__(self, structure, arrays):
        super().__init__("from_tensor_slices", {})
        self.structure, self.arrays = structure, arrays

    def document(self):
        arrays = [{"dtype": plain(a.dtype).str, "shape": a.shape[1:], "address": a.ctypes.data if a.nbytes else 0,
                   "bytes": a.nbytes} for a in self.arrays]
        args = {"rows": len(self.arrays[0]), "structure": self.structure.document(), "arrays": arrays}
        return {"op": self.op, "args": args, "inputs": []}


def plain(dtype):
    """A dtype of NumPy's own with values as large: engines know no others, such as bfloat16."""
    return dtype if dtype.kind != "V" else np.dtype(f"V{dtype.itemsize}")


def slices(leaves):
    """The arrays that `from_tensor_slices` slices, from [(path, value), ...]."""
    if not leaves:
        raise InvalidArgumentError("from_tensor_slices: there is no array to slice; give at least one")
    arrays = []
    for path, value in leaves:
        a = as_array(value, f"from_tensor_slices: component{path}")
        if a.ndim == 0:
            raise InvalidArgumentError(f"from_tensor_slices: component{path} is a single value ({value!r:.60}) and cannot "
                                       "be sliced; give arrays of at least one dimension")
        if arrays and len(a) != len(arrays[0]):
            raise InvalidArgumentError(f"from_tensor_slices: component{path} has {len(a)} rows and component"
                                       f"{leaves[0][0]} has {len(arrays[0])}; all need the same first dimension")
        arrays.append(a)
    return arrays


def as_array(value, what):
    """A C-contiguous array of fixed-size values in native byte order; no copy where it is one already."""
    if value is None:
        raise InvalidArgumentError(f"{what} is None; give an array")
    try:
        a = _from_python(value) if isinstance(value, (list, range)) else np.asarray(value)
    except (ValueError, TypeError, OverflowError) as e:
        raise InvalidArgumentError(f"{what} cannot be made an array: {e}") from e
    if a.dtype.hasobject:
        raise InvalidArgumentError(f"{what} is an array of Python objects, which cannot be a column; make it one of "
                                   "numbers, or of bytes of a fixed size with a.astype('S')")
    if not a.dtype.isnative:
        a = a.astype(a.dtype.newbyteorder("="))
    return a if a.flags.c_contiguous else np.ascontiguousarray(a)


def _from_python(value):
    """An array of a list, with the dtypes that TensorFlow gives: int32 and float32 where they do."""
    a = np.asarray(value)
    if a.dtype.kind in "iu":
        narrow = np.iinfo(np.int32)
        fits = not a.size or (a.min() >= narrow.min and a.max() <= narrow.max)
        if not fits and a.dtype == np.uint64 and a.max() > np.iinfo(np.int64).max:
            raise OverflowError(f"{a.max()} is not an int64")
        return a.astype(np.int32 if fits else np.int64)
    if a.dtype.kind == "f":
        first = value
        while isinstance(first, (list, tuple)) and first:
            first = first[0]
        kind = getattr(first, "dtype", None)
        return a.astype(kind if kind is not None and np.dtype(kind).kind == "f" else np.float32)
    return a.astype(np.complex128) if a.dtype.kind == "c" else a
