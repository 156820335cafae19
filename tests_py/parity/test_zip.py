"""Dataset.zip."""

from cases import case


@case([(0, 5), (1, 6)], cardinality=2)
def test_two(lib):
    return lib.Dataset.zip(lib.Dataset.range(2), lib.Dataset.range(5, 7))


@case([(0, 5), (1, 6)])
def test_a_tuple(lib):
    return lib.Dataset.zip((lib.Dataset.range(2), lib.Dataset.range(5, 7)))


@case([(0, 5), (1, 6)])
def test_datasets(lib):
    return lib.Dataset.zip(datasets=(lib.Dataset.range(2), lib.Dataset.range(5, 7)), name="pairs")


@case([{"a": 0, "b": 5}])
def test_a_dict(lib):
    return lib.Dataset.zip({"a": lib.Dataset.range(1), "b": lib.Dataset.range(5, 7)})


@case([(0, (1, 2))])
def test_nested(lib):
    one, two, three = (lib.Dataset.range(i, i + 1) for i in (0, 1, 2))
    return lib.Dataset.zip((one, (two, three)))


@case([((0, 1), 2)])
def test_of_tuples(lib):
    return lib.Dataset.zip(lib.Dataset.from_tensor_slices(([0], [1])), lib.Dataset.range(2, 4))


@case([0, 1])
def test_one_dataset(lib):
    return lib.Dataset.zip(lib.Dataset.range(2))


@case([(0,), (1,)])
def test_tuple_of_one(lib):
    return lib.Dataset.zip((lib.Dataset.range(2),))


@case([(0, 0), (1, 0)], cardinality=2)
def test_with_a_dataset_without_end(lib):
    return lib.Dataset.zip(lib.Dataset.range(2), lib.Dataset.range(1).repeat())


@case([], cardinality=0)
def test_with_nothing(lib):
    return lib.Dataset.zip(lib.Dataset.range(0), lib.Dataset.range(3))


@case([(0, 0), (2, 1)], cardinality=-2)
def test_with_unknown_cardinality(lib):
    return lib.Dataset.zip(lib.Dataset.range(9).filter(lambda x: x % 2 == 0), lib.Dataset.range(2))


@case([(0, 0), (1, 1)])
def test_with_itself(lib):
    ds = lib.Dataset.range(2)
    return lib.Dataset.zip(ds, ds)


@case([([0, 1], [b"a"]), ([2], [b"b"])])
def test_of_batches(lib):
    return lib.Dataset.zip(lib.Dataset.range(3).batch(2), lib.Dataset.from_tensor_slices([["a"], ["b"]]))


@case([], raises="Type")
def test_not_a_dataset(lib):
    return lib.Dataset.zip(lib.Dataset.range(2), 3)


@case([], raises="Type")
def test_a_list(lib):
    return lib.Dataset.zip([lib.Dataset.range(2), lib.Dataset.range(2)])


@case([], raises="Type")
def test_no_arguments(lib):
    return lib.Dataset.zip()
