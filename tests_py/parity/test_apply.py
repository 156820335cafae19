"""Dataset.apply."""

from cases import case


@case([0, 2, 4])
def test_function(lib):
    return lib.Dataset.range(3).apply(lambda ds: ds.map(lambda x: x * 2))


@case([[0, 1], [2]])
def test_chained(lib):
    return lib.Dataset.range(5).apply(lambda ds: ds.take(3)).apply(lambda ds: ds.batch(2))


@case([0, 1], cardinality=2)
def test_identity(lib):
    return lib.Dataset.range(2).apply(lambda ds: ds)


@case([7], cardinality=1)
def test_another_dataset(lib):
    return lib.Dataset.range(2).apply(lambda ds: lib.Dataset.from_tensors(7))


@case([], raises="Type")
def test_result_is_no_dataset(lib):
    return lib.Dataset.range(2).apply(lambda ds: 3)


@case([], raises="Type")
def test_not_a_function(lib):
    return lib.Dataset.range(2).apply(3)
