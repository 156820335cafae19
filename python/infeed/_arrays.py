"""Arrays of what users give: arrays of any library, lists, text.

Python's numbers become int32 and float32 where TensorFlow makes them so.
"""

import itertools
import sys

import numpy as np

from infeed import _text
from infeed._errors import InvalidArgumentError


def slices(leaves):
    """The arrays that `from_tensor_slices` slices, from [(path, value), ...], and the dtypes of their elements."""
    if not leaves:
        raise InvalidArgumentError("from_tensor_slices: there is no array to slice; give at least one")
    arrays, dtypes = [], []
    for path, value in leaves:
        try:
            a, dtype = as_array(value, f"from_tensor_slices: component{path}")
        except InvalidArgumentError as e:
            if not _differ(value):
                raise
            raise InvalidArgumentError(f"from_tensor_slices: component{path} has rows of different lengths, which are no array; "
                                       "Dataset.from_indexable takes them, as a list with an element for each row") from e
        if a.ndim == 0:
            raise InvalidArgumentError(f"from_tensor_slices: component{path} is a single value ({value!r:.60}) and cannot "
                                       "be sliced; give arrays of at least one dimension")
        if arrays and len(a) != len(arrays[0]):
            raise InvalidArgumentError(f"from_tensor_slices: component{path} has {len(a)} rows and component"
                                       f"{leaves[0][0]} has {len(arrays[0])}; all need the same first dimension")
        arrays.append(a)
        dtypes.append(dtype)
    return arrays, dtypes


def _differ(rows):
    """Whether rows are sequences or arrays of different lengths."""
    if not isinstance(rows, (list, tuple, np.ndarray)) or isinstance(rows, np.ndarray) and not rows.ndim:
        return False
    return len({len(r) for r in rows if isinstance(r, (list, tuple)) or isinstance(r, np.ndarray) and r.ndim}) > 1


def tensor(value, what):
    """A value as an array, and its dtype; numbers and text alone too."""
    if isinstance(value, (bool, int, float, complex, str, bytes)) and not isinstance(value, np.generic):
        a, dtype = as_array([value], what)
        return a.reshape(()), dtype
    return as_array(value, what)


def as_array(value, what, of_function=False):
    """A C-contiguous array in native byte order, and the dtype of its elements.

    There is no copy where it is one already. Text has elements of dtype object, and
    comes as an array of dtype S, U, or of bytes objects. Lists with numbers of NumPy's in
    them are what NumPy makes of them in results of functions, and elsewhere as in TensorFlow.
    """
    if value is None:
        raise InvalidArgumentError(f"{what} is None; give an array")
    if hasattr(value, "element_spec"):  # NumPy would read it to its end
        raise InvalidArgumentError(f"{what} is a dataset, which is no array; flat_map and interleave take functions that give datasets, "
                                   "and list(ds) has its elements")
    try:
        a, text = _from_python(value, of_function) if isinstance(value, (list, range)) else _from_array(value)
    except (ValueError, TypeError, OverflowError) as e:
        raise InvalidArgumentError(f"{what} cannot be made an array: {e}") from e
    if text and a.dtype.hasobject:
        return a, a.dtype
    if a.dtype.hasobject and not a.ndim:
        raise InvalidArgumentError(f"{what} is a {type(value).__name__}, which is no array; give an array or a list")
    if a.dtype.hasobject:
        raise InvalidArgumentError(f"{what} is an array of Python objects, which cannot be a column; make it one of "
                                   "numbers, or of str or bytes only")
    if not a.dtype.isnative:
        a = a.astype(a.dtype.newbyteorder("="))
    a = a if a.flags.c_contiguous else np.ascontiguousarray(a)
    if a.dtype.kind == "U" and a.ndim:
        _text.check(a, what)
    return a, np.dtype(object) if text else a.dtype


def _from_array(value):
    """What NumPy makes of an array, and whether it is text."""
    refuse_masks(value)
    a = _asarray(value)
    if a.ndim and not hasattr(value, "dtype"):  # another sequence, such as a deque
        if _is_text(a, _types(list(a.flat)) if a.dtype.hasobject else ()):
            return _text.objects(value), True
    if a.dtype == object and (not a.size or _all_text(_types(list(a.flat)))):  # an empty one is of text, as in TensorFlow
        return _text.objects(a), True
    return a, a.dtype.kind in "SU"


def _from_python(value, of_function):
    """An array of a list, and whether it is text; int32 and float32 where TensorFlow makes them so."""
    types = _types(value)
    # Of text, NumPy makes rows as long as the longest one, which may be more than there is memory for.
    a = np.asarray(value, object) if _all_text(types) else _asarray(value)
    if a.dtype == object and any(isinstance(v, (list, tuple, np.ndarray)) for v in a.flat):  # NumPy before 1.24, and text
        raise ValueError("what is in it differs in length (it has an inhomogeneous shape)")
    types = _types(list(a.flat)) if a.dtype.hasobject else types
    refuse_masks(value, types)
    if _is_text(a, types):
        return _text.objects(a if a.dtype.hasobject else value), True
    if of_function and any(issubclass(t, (np.number, np.bool_)) for t in types):
        return a, False
    if a.dtype.kind in "fO" and types and all(issubclass(t, (int, np.integer)) for t in types):
        a = _whole(np.asarray(value, object))  # not the floats that NumPy makes of a mix of int64 and uint64
    if a.dtype.kind in "iu" and _all_arrays(value, a.dtype):
        return a, False
    if a.dtype.kind in "iu":
        narrow = np.iinfo(np.int32)
        fits = not a.size or (a.min() >= narrow.min and a.max() <= narrow.max)
        return a.astype(np.int32) if fits else _whole(a), False
    if a.dtype.kind == "f":
        first = value
        while isinstance(first, (list, tuple)) and first:
            first = first[0]
        kind = getattr(first, "dtype", None)
        return a.astype(kind if kind is not None and np.dtype(kind).kind == "f" else np.float32), False
    return a.astype(np.complex128) if a.dtype.kind == "c" else a, False


def _all_arrays(values, dtype):
    return all(_all_arrays(v, dtype) if isinstance(v, (list, tuple)) else isinstance(v, np.ndarray) and v.dtype == dtype for v in values)


def _asarray(value):
    try:
        return np.asarray(value)
    except UnicodeDecodeError:  # a mix of str and of bytes that are not ASCII
        return np.asarray(value, object)


def _is_text(a, types):
    """Whether an array that NumPy made of values of these types was made of text."""
    return a.dtype.kind in "SU" or a.dtype == object and _all_text(types)


def _all_text(types):
    return bool(types) and all(issubclass(t, (str, bytes)) for t in types)


def _whole(a):
    """The ints of an array as int64."""
    for v in (a.min(), a.max()) if a.size else ():
        if not -1 << 63 <= int(v) < 1 << 63:
            raise OverflowError(f"{v} is not an int64")
    return a.astype(np.int64)


def refuse_masks(value, types=()):
    """Raises ValueError where a value, or what is in it (of these types, if they are known), has a mask."""
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)  # who has such arrays imported it, which takes 15 ms
    if masked and any(issubclass(t, masked) for t in types or (_types(value) if isinstance(value, (list, tuple)) else {type(value)})):
        raise ValueError("it has a mask, which elements cannot have; give a.filled(value), and np.ma.getmaskarray(a) as a "
                         "component of its own if the mask is needed")


def _types(values):
    """The types of what nested lists and tuples hold; for plain arrays in them, those of the arrays' values."""
    if isinstance(values, range):
        return {int}
    found, level = set(), values
    while True:
        here = set(map(type, level))
        nested = tuple(t for t in here if issubclass(t, (list, tuple)))
        found |= here.difference(nested, (np.ndarray,))
        if np.ndarray in here:
            found |= {v.dtype.type for v in level if type(v) is np.ndarray}
        if not nested:
            return found
        level = list(itertools.chain.from_iterable(v for v in level if isinstance(v, nested)))
