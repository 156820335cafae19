"""Dataset.filter."""

from cases import case, expect


@case([0, 2, 4], cardinality=-2)
def test_predicate(lib):
    return lib.Dataset.range(6).filter(lambda x: x % 2 == 0)


@case([(1, 0.5), (3, 2.5)])
def test_tuple_is_unpacked(lib):
    return lib.Dataset.from_tensor_slices(([1, 2, 3], [0.5, 1.5, 2.5])).filter(lambda x, y: y != 1.5)


@case([{"a": 3, "b": b"y"}])
def test_dict(lib):
    return lib.Dataset.from_tensor_slices({"a": [1, 3], "b": ["x", "y"]}).filter(lambda e: e["a"] > 2)


@case([b"keep"])
def test_text(lib):
    return lib.Dataset.from_tensor_slices(["keep", "drop"]).filter(lambda s: s == b"keep")


@case([b"keep"], infeed=expect([]), differs="Text is bytes, and equals no str")
def test_text_and_str(lib):
    return lib.Dataset.from_tensor_slices(["keep", "drop"]).filter(lambda s: s == "keep")


@case([[2, 3]])
def test_of_batches(lib):
    return lib.Dataset.range(4).batch(2).filter(lambda x: lib.np.all(x > 1))


@case([])
def test_nothing_passes(lib):
    return lib.Dataset.range(4).filter(lambda x: x > 9)


@case([0, 1, 2])
def test_everything_passes(lib):
    return lib.Dataset.range(3).filter(lambda x: x >= 0)


@case([], cardinality=-2)
def test_empty(lib):
    return lib.Dataset.range(0).filter(lambda x: x > 0)


@case([0, 1])
def test_constant_true(lib):
    return lib.Dataset.range(2).filter(lambda x: True)


@case([0, 0, 0], cardinality=-2, limit=3)
def test_without_end(lib):
    return lib.Dataset.range(2).repeat().filter(lambda x: x == 0)


@case([0, 6])
def test_two_filters(lib):
    return lib.Dataset.range(10).filter(lambda x: x % 2 == 0).filter(lambda x: x % 3 == 0)


@case([[0, 3], [6]])
def test_batched(lib):
    return lib.Dataset.range(9).filter(lambda x: x % 3 == 0).batch(2)


@case([1, 2])
def test_name(lib):
    return lib.Dataset.range(3).filter(lambda x: x > 0, name="positive")


@case([], raises="Value")
def test_result_is_no_bool(lib):
    return lib.Dataset.range(3).filter(lambda x: x + 1)


@case([], raises="Value")
def test_result_is_no_scalar(lib):
    return lib.Dataset.range(4).batch(2).filter(lambda x: x > 1)
