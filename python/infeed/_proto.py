"""Protocol buffers without their classes: the fields of a message, and what tf.train.Example holds."""

import struct

_CUT = "it is cut or no message"


def fields(message):
    """The fields of a message as (number, value): an int, or bytes. ValueError: it is none."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind, number = tag & 7, tag >> 3
        if not number:
            raise ValueError(_CUT)
        if kind == 0:
            value, at = _varint(message, at)
        elif kind == 2:
            size, at = _varint(message, at)
            value, at = message[at:at + size], at + size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = message[at:at + size], at + size
        else:
            raise ValueError(_CUT)
        if at > len(message):
            raise ValueError(_CUT)
        yield number, value


def _varint(message, at):
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            break
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise ValueError(_CUT)


def example(record):
    """The features of a serialized tf.train.Example as {name: (dtype, how many values)}; None: it is none."""
    try:
        found, any_ = {}, False
        for number, value in fields(record):
            if number != 1 or not isinstance(value, bytes):
                return None
            any_ = True
            _features(value, found, _feature)
        return found if any_ else None
    except (ValueError, KeyError, UnicodeDecodeError):
        return None


def sequence(record):
    """The same of a tf.train.SequenceExample: (features of the context, {name: (dtype, how many steps)})."""
    try:
        context, lists, any_ = {}, {}, False
        for number, value in fields(record):
            if number not in (1, 2) or not isinstance(value, bytes):
                return None
            any_ = any_ or number == 2
            _features(value, *((context, _feature) if number == 1 else (lists, _feature_list)))
        return (context, lists) if any_ else None
    except (ValueError, KeyError, UnicodeDecodeError):
        return None


def _features(message, found, read):
    for number, entry in fields(message):
        pair = dict(fields(entry))
        if number != 1 or not set(pair) <= {1, 2}:
            raise ValueError(_CUT)
        found[pair.get(1, b"").decode()] = read(pair.get(2, b""))


def _feature_list(message):
    steps = [_feature(value) for number, value in fields(message)]
    return (next((dtype for dtype, _ in steps if dtype), None), len(steps))


def _feature(message):
    """(dtype, how many values) of a Feature; its values may be packed or not."""
    dtype, count = None, 0
    for number, values in fields(message):
        dtype = {1: "bytes", 2: "float32", 3: "int64"}[number]
        for _, value in fields(values):
            if dtype == "bytes" or isinstance(value, int):
                count += 1
            elif dtype == "float32":
                if len(value) % 4:
                    raise ValueError(_CUT)
                count += len(value) // 4
            else:
                count += sum(b < 0x80 for b in value)
    return dtype, count


def tensor(record):
    """(TensorFlow's number of the dtype, shape) of a serialized TensorProto; None: it is none."""
    try:
        found = dict(fields(record))
        if not set(found) <= {1, 2, 3, *range(4, 19)} or not isinstance(found.get(1), int) or not isinstance(found.get(2), bytes):
            return None
        shape = [dict(fields(dim)).get(1, 0) for number, dim in fields(found[2]) if number == 2]
        return found[1], [struct.unpack("<q", struct.pack("<Q", n))[0] for n in shape]
    except (ValueError, AttributeError, TypeError):
        return None
