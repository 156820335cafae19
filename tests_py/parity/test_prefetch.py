"""Dataset.prefetch."""

from cases import case


@case([0, 1, 2], cardinality=3)
def test_buffer_size(lib):
    return lib.Dataset.range(3).prefetch(2)


@case([0, 1, 2])
def test_autotune(lib):
    return lib.Dataset.range(3).prefetch(lib.AUTOTUNE)


@case([0, 1, 2])
def test_zero(lib):
    return lib.Dataset.range(3).prefetch(0)


@case([0, 1, 2])
def test_no_buffer_size(lib):
    return lib.Dataset.range(3).prefetch(None, name="ahead")


@case([], cardinality=0)
def test_of_nothing(lib):
    return lib.Dataset.range(0).prefetch(1)


@case([[0, 1], [2]])
def test_of_batches(lib):
    return lib.Dataset.range(3).batch(2).prefetch(1)


@case([0, 0, 0], cardinality=-1, limit=3)
def test_without_end(lib):
    return lib.Dataset.range(1).repeat().prefetch(4)


@case([0, 2, 4])
def test_in_the_middle(lib):
    return lib.Dataset.range(3).prefetch(1).map(lambda x: x * 2).prefetch(1)


@case([], raises="InvalidArgument")
def test_below_minus_one(lib):
    return lib.Dataset.range(3).prefetch(-2)
