"""Dataset.concatenate."""

from cases import case


@case([0, 1, 5, 6], cardinality=4)
def test_two(lib):
    return lib.Dataset.range(2).concatenate(lib.Dataset.range(5, 7))


@case([(1, b"a"), (2, b"b")])
def test_tuples(lib):
    return lib.Dataset.from_tensors((1, "a")).concatenate(lib.Dataset.from_tensors((2, "b")))


@case([0, 1], cardinality=2)
def test_with_nothing(lib):
    return lib.Dataset.range(2).concatenate(lib.Dataset.range(0))


@case([0, 1])
def test_of_nothing(lib):
    return lib.Dataset.range(0).concatenate(lib.Dataset.range(2))


@case([0, 1, 0, 1])
def test_with_itself(lib):
    ds = lib.Dataset.range(2)
    return ds.concatenate(ds)


@case([0, 7, 7], cardinality=-1, limit=3)
def test_with_a_dataset_without_end(lib):
    return lib.Dataset.range(1).concatenate(lib.Dataset.range(7, 8).repeat())


@case([0, 0, 0], cardinality=-1, limit=3)
def test_of_a_dataset_without_end(lib):
    return lib.Dataset.range(1).repeat().concatenate(lib.Dataset.range(7, 8))


@case([0, 2, 0], cardinality=-2)
def test_of_unknown_cardinality(lib):
    return lib.Dataset.range(3).filter(lambda x: x != 1).concatenate(lib.Dataset.range(1))


@case([[0, 1], [0, 1, 2]])
def test_shapes_are_merged(lib):
    two = lib.Dataset.range(3).batch(3, drop_remainder=True)
    return lib.Dataset.range(2).batch(2, drop_remainder=True).concatenate(two)


@case([0, 1, 2, 3], cardinality=4)
def test_three(lib):
    return lib.Dataset.range(2).concatenate(lib.Dataset.range(2, 3)).concatenate(lib.Dataset.range(3, 4), name="all")


@case([], raises="Type")
def test_other_dtype(lib):
    return lib.Dataset.range(2).concatenate(lib.Dataset.from_tensors(0.5))


@case([], raises="Type")
def test_other_structure(lib):
    return lib.Dataset.range(2).concatenate(lib.Dataset.from_tensors((1, 2)))


@case([], raises="Type")
def test_other_keys(lib):
    return lib.Dataset.from_tensors({"a": 1}).concatenate(lib.Dataset.from_tensors({"b": 1}))


@case([], raises="Attribute")
def test_not_a_dataset(lib):
    return lib.Dataset.range(2).concatenate(3)
