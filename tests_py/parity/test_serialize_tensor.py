"""io.serialize_tensor: the bytes are those of a TensorProto."""

import numpy as np
from cases import case


@case([b"\x08\x09\x12\x00\x22\x08\x05\x00\x00\x00\x00\x00\x00\x00"])
def test_scalar(lib):
    return lib.Dataset.range(5, 6).map(lambda x: lib.io.serialize_tensor(x))


@case([b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80\x3f\x00\x00\x00\x40"])
def test_vector(lib):
    return lib.Dataset.from_tensors([1.0, 2.0]).map(lambda x: lib.io.serialize_tensor(x, name="v"))


@case([b"\x08\x07\x12\x04\x12\x02\x08\x02B\x02abB\x01c"])
def test_text(lib):
    return lib.Dataset.from_tensors(["ab", "c"]).map(lambda x: lib.io.serialize_tensor(x))


@case()
def test_bool_matrix(lib):
    return lib.Dataset.from_tensors(np.eye(2, dtype=bool)).map(lambda x: lib.io.serialize_tensor(x))


@case()
def test_no_values(lib):
    return lib.Dataset.from_tensors(np.zeros((0, 3), np.int16)).map(lambda x: lib.io.serialize_tensor(x))


@case()
def test_complex(lib):
    return lib.Dataset.from_tensors(np.array([1j, 2], np.complex128)).map(lambda x: lib.io.serialize_tensor(x))


@case()
def test_elements_of_a_batch(lib):
    return lib.Dataset.range(6).batch(2).map(lambda x: lib.io.serialize_tensor(x))
