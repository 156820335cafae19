"""Dataset.get_single_element."""

from cases import case


@case([7])
def test_scalar(lib):
    return lib.Dataset.from_tensors(7).get_single_element()


@case([[0, 1, 2]])
def test_batch(lib):
    return lib.Dataset.range(3).batch(5).get_single_element()


@case([(1, {"a": b"x"})])
def test_nested(lib):
    return lib.Dataset.from_tensors((1, {"a": "x"})).get_single_element(name="one")


@case([[1, 2, 3]])
def test_after_map(lib):
    return lib.Dataset.range(3).map(lambda x: x + 1).batch(3).get_single_element()


@case([], raises="InvalidArgument")
def test_of_nothing(lib):
    return lib.Dataset.range(0).get_single_element()


@case([], raises="InvalidArgument")
def test_of_two(lib):
    return lib.Dataset.range(2).get_single_element()


@case([], raises="NotFound")
def test_a_source_fails(lib):
    return lib.TextLineDataset(lib.path("none.txt")).get_single_element()
