"""Dataset.take."""

from cases import case


@case([0, 1], cardinality=2)
def test_count(lib):
    return lib.Dataset.range(5).take(2)


@case([0, 1, 2], cardinality=3)
def test_more_than_there_are(lib):
    return lib.Dataset.range(3).take(10)


@case([], cardinality=0)
def test_zero(lib):
    return lib.Dataset.range(3).take(0)


@case([0, 1, 2], cardinality=3)
def test_minus_one_is_all(lib):
    return lib.Dataset.range(3).take(-1)


@case([0, 1, 0], cardinality=3)
def test_of_a_dataset_without_end(lib):
    return lib.Dataset.range(2).repeat().take(3)


@case([0, 2], cardinality=-2)
def test_of_unknown_cardinality(lib):
    return lib.Dataset.range(9).filter(lambda x: x % 2 == 0).take(2)


@case([[0, 1]])
def test_of_batches(lib):
    return lib.Dataset.range(5).batch(2).take(1)


@case([])
def test_of_nothing(lib):
    return lib.Dataset.range(0).take(2)


@case([(1, b"a")])
def test_tuple(lib):
    return lib.Dataset.from_tensor_slices(([1, 2], ["a", "b"])).take(1, name="first")


@case([], raises="Type")
def test_count_is_no_int(lib):
    return lib.Dataset.range(3).take(1.5)
