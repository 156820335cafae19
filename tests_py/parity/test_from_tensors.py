"""Dataset.from_tensors."""

import numpy as np
from cases import case


@case([[1, 2, 3]], cardinality=1)
def test_list(lib):
    return lib.Dataset.from_tensors([1, 2, 3])


@case([7])
def test_scalar(lib):
    return lib.Dataset.from_tensors(7)


@case([0.5])
def test_python_float_is_float32(lib):
    return lib.Dataset.from_tensors(0.5)


@case([b"ab"])
def test_text(lib):
    return lib.Dataset.from_tensors("ab")


@case([([1, 2], {"a": 0.5, "b": b"x"})])
def test_nested(lib):
    return lib.Dataset.from_tensors(([1, 2], {"a": 0.5, "b": "x"}))


@case([([1], [1, 2])])
def test_unequal_lengths_are_components(lib):
    return lib.Dataset.from_tensors(([1], [1, 2]))


@case([[]])
def test_empty_list(lib):
    return lib.Dataset.from_tensors([])


@case([[[0, 1], [2, 3]]])
def test_array(lib):
    return lib.Dataset.from_tensors(np.arange(4).reshape(2, 2))


@case([1, 1])
def test_repeated(lib):
    return lib.Dataset.from_tensors(1).repeat(2)


@case([], raises="Value")
def test_ragged_list(lib):
    return lib.Dataset.from_tensors([[1], [2, 3]])
