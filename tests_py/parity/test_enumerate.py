"""Dataset.enumerate."""

from cases import case


@case([(0, 5), (1, 6)], cardinality=2)
def test_numbers(lib):
    return lib.Dataset.range(5, 7).enumerate()


@case([(3, 5), (4, 6)])
def test_start(lib):
    return lib.Dataset.range(5, 7).enumerate(start=3)


@case([(-1, b"a"), (0, b"b")])
def test_start_below_zero(lib):
    return lib.Dataset.from_tensor_slices(["a", "b"]).enumerate(-1, name="places")


@case([(0, (1, b"a"))])
def test_of_tuples(lib):
    return lib.Dataset.from_tensor_slices(([1], ["a"])).enumerate()


@case([(0, [0, 1]), (1, [2])])
def test_of_batches(lib):
    return lib.Dataset.range(3).batch(2).enumerate()


@case([], cardinality=0)
def test_of_nothing(lib):
    return lib.Dataset.range(0).enumerate()


@case([(0, 0), (1, 0)], cardinality=-1, limit=2)
def test_without_end(lib):
    return lib.Dataset.range(1).repeat().enumerate()


@case([(0, 0), (1, 2)], cardinality=-2)
def test_of_unknown_cardinality(lib):
    return lib.Dataset.range(3).filter(lambda x: x != 1).enumerate()


@case([], raises="Type")
def test_start_is_no_int(lib):
    return lib.Dataset.range(3).enumerate("1")
