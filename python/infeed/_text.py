"""Text in columns of a fixed size: how it gets in without loss, and comes out as bytes.

NumPy's own text types fill values up with NULs, and drop all NULs at the end of a
value that is read. Where a value ends in NUL, the column holds each value with a
byte after its end instead, as a dtype V that NumPy leaves alone.
"""

import numpy as np

from infeed._errors import InvalidArgumentError

_END = b"\1"
_AT_ONCE = 1 << 20  # code points checked at a time, to use little memory


def column(values):
    """An array of a nested list of str and bytes that holds exactly these. Raises ValueError for others."""
    objects = np.asarray(values, object)
    texts = [_as_utf8(v) for v in objects.flat]
    if any(t.endswith(b"\0") for t in texts):
        ended = np.array([t + _END for t in texts])
        a = ended.view(f"V{ended.itemsize}")
    else:
        a = np.array(texts, "S")
    return a.reshape(objects.shape)


def _as_utf8(value):
    if isinstance(value, bytes):
        return bytes(value)
    if not isinstance(value, str):
        raise ValueError(f"there is text in it, and also {value!r:.60} of type {type(value).__name__}; give values of one kind")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{value!r:.60} has a lone surrogate, which UTF-8 cannot hold; give bytes, such as of "
                         "s.encode('utf-8', 'surrogateescape')") from None


def check(a, what):
    """Raises InvalidArgumentError for text in a contiguous array of dtype U that UTF-8 cannot hold."""
    if not a.nbytes:
        return
    points = a.reshape(-1).view(np.uint32)
    for start in range(0, len(points), _AT_ONCE):
        part = points[start:start + _AT_ONCE]
        bad = (part & 0xFFFFF800 == 0xD800) | (part > 0x10FFFF)
        if bad.any():
            row = (start + int(bad.argmax())) // (len(points) // len(a))
            raise InvalidArgumentError(f"{what} has text in row {row} that UTF-8 cannot hold, such as a lone surrogate; "
                                       "give bytes, such as np.char.encode(a, 'utf-8', 'surrogateescape')")


def decoder(dtype):
    """The function that makes an array of bytes objects of a column of text of this dtype."""
    return {"S": _of_bytes, "U": _of_str, "V": _of_ended}[dtype.kind]


def _of_bytes(a):
    return a.astype(object)


def _of_str(a):
    try:
        return np.char.encode(a, "utf-8").astype(object)
    except ValueError as e:
        raise InvalidArgumentError(f"text that was written into the array later cannot be given as UTF-8: {e}") from e


def _of_ended(a):
    out = a.view(f"S{a.itemsize}").astype(object)
    flat = out.reshape(-1)
    for i, value in enumerate(flat):
        flat[i] = value[:-1]
    return out
