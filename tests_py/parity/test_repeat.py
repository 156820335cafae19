"""Dataset.repeat."""

from cases import case


@case([0, 1, 0, 1, 0, 1], cardinality=6)
def test_count(lib):
    return lib.Dataset.range(2).repeat(3)


@case([0, 1, 0, 1, 0], cardinality=-1, limit=5)
def test_no_count(lib):
    return lib.Dataset.range(2).repeat()


@case([0, 1, 0, 1, 0], cardinality=-1, limit=5)
def test_minus_one(lib):
    return lib.Dataset.range(2).repeat(-1)


@case([], cardinality=0)
def test_zero(lib):
    return lib.Dataset.range(2).repeat(0)


@case([0, 1], cardinality=2)
def test_one(lib):
    return lib.Dataset.range(2).repeat(1)


@case([], cardinality=0)
def test_of_nothing(lib):
    return lib.Dataset.range(0).repeat(3)


@case([])
def test_of_nothing_for_ever(lib):
    return lib.Dataset.range(0).repeat()


@case([0, 0, 0, 0], cardinality=4)
def test_twice(lib):
    return lib.Dataset.range(1).repeat(2).repeat(2)


@case([0, 2, 0, 2], cardinality=-2)
def test_of_unknown_cardinality(lib):
    return lib.Dataset.range(4).filter(lambda x: x % 2 == 0).repeat(2)


@case([[0, 1], [2], [0, 1], [2]])
def test_of_batches(lib):
    return lib.Dataset.range(3).batch(2).repeat(2)


@case([[0, 1], [2, 0], [1, 2]])
def test_batches_go_over_the_seam(lib):
    return lib.Dataset.range(3).repeat(2).batch(2)


@case([0, 1, 0, 1])
def test_name(lib):
    return lib.Dataset.range(2).repeat(2, name="twice")


@case([], raises="Type")
def test_count_is_no_int(lib):
    return lib.Dataset.range(2).repeat(1.5)
