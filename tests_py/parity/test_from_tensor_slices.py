"""Dataset.from_tensor_slices."""

import collections

import numpy as np
from cases import case
from outcomes import Spec

Pair = collections.namedtuple("Pair", "u v")


@case([1, 2, 3], cardinality=3)
def test_list_of_ints(lib):
    return lib.Dataset.from_tensor_slices([1, 2, 3])


@case([0.5, 1.5])
def test_list_of_floats(lib):
    return lib.Dataset.from_tensor_slices([0.5, 1.5])


@case([[1, 2], [3, 4]])
def test_nested_lists(lib):
    return lib.Dataset.from_tensor_slices([[1, 2], [3, 4]])


@case([True, False])
def test_bools(lib):
    return lib.Dataset.from_tensor_slices([True, False])


@case([b"a", b"", b"h\xc3\xa9"])
def test_text(lib):
    return lib.Dataset.from_tensor_slices(["a", b"", "h\u00e9"])


@case([[b"a", b"bc"], [b"", b"d"]])
def test_rows_of_text(lib):
    return lib.Dataset.from_tensor_slices([["a", "bc"], ["", "d"]])


@case([(1, 0.5), (2, 1.5)])
def test_tuple(lib):
    return lib.Dataset.from_tensor_slices(([1, 2], [0.5, 1.5]))


@case([(1,), (2,)])
def test_tuple_of_one(lib):
    return lib.Dataset.from_tensor_slices(([1, 2],))


@case([{"x": 1, "a": [1, 2]}, {"x": 2, "a": [3, 4]}])
def test_dict(lib):
    return lib.Dataset.from_tensor_slices({"x": [1, 2], "a": [[1, 2], [3, 4]]})


@case([(1, {"b": (2, b"p")}), (3, {"b": (4, b"q")})])
def test_nested(lib):
    return lib.Dataset.from_tensor_slices(([1, 3], {"b": ([2, 4], ["p", "q"])}))


@case([Pair(1, 2), Pair(3, 4)])
def test_named_tuple(lib):
    return lib.Dataset.from_tensor_slices(Pair([1, 3], [2, 4]))


@case([[[0, 1], [2, 3]], [[4, 5], [6, 7]]])
def test_array_of_rank_3(lib):
    return lib.Dataset.from_tensor_slices(np.arange(8, dtype=np.uint8).reshape(2, 2, 2))


@case([(1, 1, 1, 1, 1.0, 1j)])
def test_numpy_dtypes(lib):
    dtypes = (np.int8, np.int16, np.uint16, np.uint64, np.float16, np.complex64)
    return lib.Dataset.from_tensor_slices(tuple(np.array([1j if d is np.complex64 else 1], d) for d in dtypes))


@case([[], []])
def test_rows_without_values(lib):
    return lib.Dataset.from_tensor_slices(np.zeros((2, 0), np.float32))


@case([], cardinality=0)
def test_no_rows(lib):
    return lib.Dataset.from_tensor_slices(np.zeros((0, 3), np.int64))


@case([], cardinality=0)
def test_empty_list_is_float32(lib):
    return lib.Dataset.from_tensor_slices([])


@case([3, 1])
def test_strided_array(lib):
    return lib.Dataset.from_tensor_slices(np.arange(4)[::-2])


@case([1.0, 2.5])
def test_ints_and_floats_mixed(lib):
    return lib.Dataset.from_tensor_slices([1, 2.5])


@case([], raises="Value")
def test_scalar(lib):
    return lib.Dataset.from_tensor_slices(3)


@case([], raises="Value")
def test_unequal_lengths(lib):
    return lib.Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))


@case([], raises="Value")
def test_ragged_list(lib):
    return lib.Dataset.from_tensor_slices([[1], [2, 3]])


@case([], raises="Value")
def test_nothing_to_slice(lib):
    return lib.Dataset.from_tensor_slices(())


@case([1, 2])
def test_name(lib):
    return lib.Dataset.from_tensor_slices([1, 2], name="numbers")


@case([], cardinality=0, spec=Spec("Tensor", (2,), "object"))
def test_no_rows_of_objects_are_text(lib):
    return lib.Dataset.from_tensor_slices(np.empty((0, 2), object))


@case([[], []], spec=Spec("Tensor", (0,), "object"))
def test_rows_without_objects_are_text(lib):
    return lib.Dataset.from_tensor_slices(np.empty((2, 0), object))
