"""Serialized tf.train.Examples, SequenceExamples and TensorProtos, made without TensorFlow."""

import struct


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def feature(value):
    """A tf.train.Feature of bytes, floats or ints: one value, or a list. None is one without a list."""
    if value is None:
        return b""
    values = value if isinstance(value, list) else [value]
    if values and isinstance(values[0], bytes):
        return field(1, b"".join(field(1, v) for v in values))
    if values and isinstance(values[0], float):
        return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))
    return field(3, field(1, b"".join(map(varint, values))))


NO_FLOATS = field(2, b"")  # a feature whose list of floats is empty


def entry(key, payload):
    return field(1, field(1, key.encode()) + field(2, payload))


def example(**features):
    """A tf.train.Example; features may be serialized ones."""
    return field(1, b"".join(entry(k, v if v is NO_FLOATS else feature(v)) for k, v in features.items()))


def sequence(context=None, **lists):
    """A tf.train.SequenceExample: lists has the steps of each feature list."""
    inner = b"".join(entry(k, feature(v)) for k, v in (context or {}).items())
    steps = b"".join(entry(k, b"".join(field(1, feature(v)) for v in values)) for k, values in lists.items())
    return field(1, inner) + field(2, steps)
