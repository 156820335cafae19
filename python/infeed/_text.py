"""Text: how columns of str and bytes get into the engine, and come out as bytes.

In the engine a column of text is its strings one after the other, as UTF-8 where they
were str, and int64 numbers that say where each begins and ends.
"""

import ctypes

import numpy as np

from infeed import _native
from infeed._errors import InvalidArgumentError

_AT_ONCE = 1 << 20  # code points checked at a time, to use little memory


def as_bytes(value):
    """A str or bytes as bytes; InvalidArgumentError for others and for what UTF-8 cannot hold."""
    if isinstance(value, bytes):
        return bytes(value)
    if not isinstance(value, str):
        raise InvalidArgumentError(f"there is text in it, and also {value!r:.60} of type {type(value).__name__}; give values of one kind")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"{value!r:.60} has a lone surrogate, which UTF-8 cannot hold; give bytes, such as of "
                         "s.encode('utf-8', 'surrogateescape')") from None


def objects(values):
    """An array of bytes objects, of an array of text or a nested list of str and bytes."""
    a = values if isinstance(values, np.ndarray) else np.asarray(values, object)
    if a.dtype.kind == "U":
        a = np.char.encode(a, "utf-8")
    if a.dtype.kind == "S":
        return a.astype(object)
    out = np.empty(a.shape, object)
    out.reshape(-1)[:] = [as_bytes(v) for v in a.flat]
    return out


def pack(a):
    """A contiguous array of text as (uint8 bytes, int64 offsets), as the engine reads it."""
    if a.dtype.kind == "U":
        try:
            a = np.char.encode(a, "utf-8")
        except UnicodeEncodeError as e:
            raise InvalidArgumentError(f"text that was written into the array later cannot be given as UTF-8: {e}") from e
    if a.dtype.kind == "S" and a.itemsize:
        lengths = np.char.str_len(a).reshape(-1)
        rows = np.ascontiguousarray(a).reshape(-1).view(np.uint8).reshape(-1, a.itemsize)
        data = rows[np.arange(a.itemsize) < lengths[:, None]]
    else:
        values = [b""] * a.size if a.dtype.kind == "S" else [as_bytes(v) for v in a.flat]
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        data = np.frombuffer(b"".join(values), np.uint8)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return data, offsets


def check(a, what):
    """Raises InvalidArgumentError for text in a contiguous array of dtype U that UTF-8 cannot hold."""
    if not a.nbytes:
        return
    points = a.reshape(-1).view(np.uint32)
    for start in range(0, len(points), _AT_ONCE):
        part = points[start:start + _AT_ONCE]
        bad = (part & 0xFFFFF800 == 0xD800) | (part > 0x10FFFF)
        if bad.any():
            row = (start + int(bad.argmax())) // max(len(points) // max(len(a) if a.ndim else 1, 1), 1)
            raise InvalidArgumentError(f"{what} has text in row {row} that UTF-8 cannot hold, such as a lone surrogate; "
                                       "give bytes, such as np.char.encode(a, 'utf-8', 'surrogateescape')")


class Maker:
    """Makes arrays of bytes objects of columns of text in the engine's memory. For one thread at a time."""

    def __init__(self):
        self._call = _native.Call()
        api = ctypes.pythonapi
        for i, f in ((2, api.PyBytes_FromStringAndSize), (3, api.Py_DecRef)):
            self._call.struct.arg[i] = ctypes.cast(f, ctypes.c_void_p).value

    def __call__(self, address, shape):
        """The array of a shape whose column begins at an address."""
        out = np.empty(shape, object)
        if out.size:
            s = self._call.struct
            s.arg[0], s.arg[1], s.data = address, out.size, out.ctypes.data
            status = _native.library().quick_texts(self._call.address)
            if status < 0:
                raise self._call.error(status)
        return out
