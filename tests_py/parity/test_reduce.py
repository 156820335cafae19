"""Dataset.reduce."""

import numpy as np
from cases import case

ZERO = np.int64(0)


@case([10])
def test_sum(lib):
    return lib.Dataset.range(5).reduce(ZERO, lambda s, x: s + x)


@case([(5, 10)])
def test_state_is_a_tuple(lib):
    return lib.Dataset.range(5).reduce((ZERO, ZERO), lambda s, x: (s[0] + 1, s[1] + x))


@case([{"n": 2, "sum": 7}])
def test_state_is_a_dict(lib):
    return lib.Dataset.range(3, 5).reduce({"n": ZERO, "sum": ZERO}, lambda s, x: {"n": s["n"] + 1, "sum": s["sum"] + x})


@case([14])
def test_elements_are_tuples(lib):
    ds = lib.Dataset.from_tensor_slices((np.array([1, 3]), np.array([2, 4])))
    return ds.reduce(ZERO, lambda s, e: s + e[0] * e[1])


@case([[4.0, 6.0]])
def test_state_is_an_array(lib):
    ds = lib.Dataset.from_tensor_slices(np.array([[1, 2], [3, 4]], np.float32))
    return ds.reduce(np.zeros(2, np.float32), lambda s, x: s + x)


@case([7])
def test_of_nothing(lib):
    return lib.Dataset.range(0).reduce(np.int64(7), lambda s, x: s + x)


@case([3])
def test_count(lib):
    return lib.Dataset.from_tensor_slices(["a", "b", "c"]).reduce(0, lambda n, _: n + 1)


@case([6])
def test_of_batches(lib):
    return lib.Dataset.range(4).batch(2).reduce(ZERO, lambda s, x: s + lib.np.sum(x), name="sum")


@case([], raises="Type")
def test_state_changes_its_dtype(lib):
    return lib.Dataset.range(3).reduce(ZERO, lambda s, x: lib.cast(s + x, lib.float32))


@case([], raises="InvalidArgument")
def test_state_changes_its_structure(lib):
    return lib.Dataset.range(3).reduce(ZERO, lambda s, x: (s, x))


@case([], raises="InvalidArgument")
def test_a_source_fails(lib):
    return lib.CsvDataset(lib.path("bad_int.csv"), [lib.int64], select_cols=[0]).reduce(ZERO, lambda s, x: s + 1)
