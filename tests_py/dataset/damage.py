"""Bytes of records and protobuf messages, whole and damaged, made without infeed."""

import struct

_TABLE = []
for _n in range(256):
    for _ in range(8):
        _n = _n >> 1 ^ (0x82F63B78 if _n & 1 else 0)
    _TABLE.append(_n)


def masked_crc(data):
    """The masked CRC-32C that TFRecord files hold."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(record):
    """A record as TFRecord files hold it."""
    length = struct.pack("<Q", len(record))
    return length + masked_crc(length) + record + masked_crc(record)


def flipped(data, at, bit=0):
    out = bytearray(data)
    out[at] ^= 1 << bit
    return bytes(out)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def message(number, content):
    """A field of a protobuf message that holds bytes or another message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(kind, values):
    """A tf.train.Feature."""
    if kind == "bytes":
        return message(1, b"".join(message(1, v) for v in values))
    if kind == "float":
        return message(2, message(1, struct.pack(f"<{len(values)}f", *values)))
    return message(3, message(1, b"".join(varint(v % (1 << 64)) for v in values)))


def field(name, content):
    """An entry of tf.train.Features."""
    return message(1, message(1, name.encode()) + message(2, content))


def example(**features):
    """A tf.train.Example."""
    return message(1, b"".join(field(k, v) for k, v in features.items()))
