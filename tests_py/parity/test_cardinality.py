"""Dataset.cardinality, and len."""

from cases import case, expect

FOLLOWS = "A cardinality that follows is told"


@case(cardinality=3)
def test_through_batch_and_map(lib):
    return lib.Dataset.range(5).map(lambda x: x + 1).batch(2)


@case(cardinality=-1)
def test_infinite(lib):
    return lib.Dataset.range(5).repeat().batch(2)


@case(cardinality=-2)
def test_unknown(lib):
    return lib.Dataset.range(5).filter(lambda x: True).batch(2)


@case(cardinality=4)
def test_of_infinite_and_finite(lib):
    return lib.Dataset.range(5).repeat().take(4)


@case(cardinality=-1)
def test_of_unknown_for_ever(lib):
    return lib.Dataset.range(5).filter(lambda x: x > 3).repeat()


@case(cardinality=0)
def test_of_nothing_for_ever(lib):
    return lib.Dataset.range(0).repeat()


@case([(True, True)])
def test_constants(lib):
    infinite, unknown = lib.Dataset.range(2).repeat(), lib.Dataset.range(2).filter(lambda x: x > 0)
    return bool(infinite.cardinality() == lib.INFINITE_CARDINALITY), bool(unknown.cardinality() == lib.UNKNOWN_CARDINALITY)


@case([3])
def test_len(lib):
    return len(lib.Dataset.range(5).batch(2))


@case([], raises="Type")
def test_len_of_infinite(lib):
    return len(lib.Dataset.range(5).repeat())


@case([], raises="Type")
def test_len_of_unknown(lib):
    return len(lib.Dataset.range(5).filter(lambda x: x > 1))


@case([True])
def test_truth(lib):
    return bool(lib.Dataset.range(0))


@case([[0, 1], [2, 3], [4, 5]], cardinality=-2, infeed=expect(cardinality=3), differs=FOLLOWS)
def test_rebatched_full_batches(lib):
    return lib.Dataset.range(6).batch(3, drop_remainder=True).rebatch(2)


@case([], cardinality=-2, infeed=expect(cardinality=0), differs=FOLLOWS)
def test_none_of_unknown_many(lib):
    return lib.Dataset.range(3).filter(lambda x: x > 0).take(0)
