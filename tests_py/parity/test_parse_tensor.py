"""io.parse_tensor."""

import numpy as np
from cases import case, expect
from outcomes import Spec

FIVE = b"\x08\x09\x12\x00\x22\x08\x05\x00\x00\x00\x00\x00\x00\x00"
PAIR = b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80\x3f\x00\x00\x00\x40"
TEXTS = b"\x08\x07\x12\x04\x12\x02\x08\x02\x22\x05\x02\x01abc"
# The same pair in the field for floats, and one value that stands for both.
TYPED = b"\x08\x01\x12\x04\x12\x02\x08\x02\x2a\x08\x00\x00\x80\x3f\x00\x00\x00\x40"
REPEATED = b"\x08\x01\x12\x04\x12\x02\x08\x02\x2a\x04\x00\x00\x80\x3f"


def rank(dtype, n):
    """TensorFlow's spec has no rank."""
    return {"spec": Spec("Tensor", None, dtype), "infeed": expect(spec=Spec("Tensor", (None,) * n, dtype)),
            "differs": "Specs have the rank that the first element has"}


def parsed(lib, dtype, *protos):
    return lib.Dataset.from_tensor_slices(list(protos)).map(lambda s: lib.io.parse_tensor(s, getattr(lib, dtype)))


@case([5], **rank("int64", 0))
def test_scalar(lib):
    return parsed(lib, "int64", FIVE)


@case([[1.0, 2.0]], **rank("float32", 1))
def test_vector(lib):
    return parsed(lib, "float32", PAIR)


@case([[b"ab", b"c"]], **rank("object", 1))
def test_text(lib):
    return parsed(lib, "string", TEXTS)


@case([[1.0, 2.0]], **rank("float32", 1))
def test_typed_field(lib):
    return parsed(lib, "float32", TYPED)


@case([[1.0, 1.0]], **rank("float32", 1))
def test_last_value_is_repeated(lib):
    return parsed(lib, "float32", REPEATED)


@case([[[1, 2], [3, 4]]], **rank("uint16", 2))
def test_what_was_serialised(lib):
    ds = lib.Dataset.from_tensors(np.array([[1, 2], [3, 4]], np.uint16))
    return ds.map(lambda x: lib.io.parse_tensor(lib.io.serialize_tensor(x), lib.uint16))


@case([[True, False]], **rank("bool", 1))
def test_bools_that_were_serialised(lib):
    return lib.Dataset.from_tensors([True, False]).map(lambda x: lib.io.parse_tensor(lib.io.serialize_tensor(x), lib.bool))


@case([], raises="InvalidArgument")
def test_other_dtype(lib):
    return parsed(lib, "int32", FIVE)


@case([], raises="InvalidArgument")
def test_not_a_tensor(lib):
    return parsed(lib, "int64", b"\xff\xff\xff")


@case([], raises="InvalidArgument")
def test_cut(lib):
    return parsed(lib, "int64", FIVE[:-3])


@case([], raises="InvalidArgument")
def test_fewer_bytes_than_the_shape(lib):
    return parsed(lib, "float32", PAIR.replace(b"\x12\x04\x12\x02\x08\x02", b"\x12\x04\x12\x02\x08\x03"))
