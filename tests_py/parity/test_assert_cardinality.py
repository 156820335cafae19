"""assert_cardinality."""

from cases import case


def evens(lib, n=6):
    return lib.Dataset.range(n).filter(lambda x: x % 2 == 0)


@case([0, 2, 4], cardinality=3)
def test_holds(lib):
    return evens(lib).apply(lib.assert_cardinality(3))


@case([], cardinality=0)
def test_zero(lib):
    return evens(lib, 0).apply(lib.assert_cardinality(0))


@case([0, 0, 0], cardinality=-1, limit=3)
def test_infinite(lib):
    return lib.Dataset.from_tensors(0).repeat().filter(lambda x: x == 0).apply(lib.assert_cardinality(lib.INFINITE_CARDINALITY))


@case([0, 2, 4], raises="FailedPrecondition")
def test_fewer(lib):
    return evens(lib).apply(lib.assert_cardinality(4))


@case([0, 2], raises="FailedPrecondition")
def test_more(lib):
    return evens(lib).apply(lib.assert_cardinality(2))


@case([[0, 2], [4]], cardinality=2)
def test_batched(lib):
    return evens(lib).apply(lib.assert_cardinality(3)).batch(2)
