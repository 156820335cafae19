"""Dataset.take_while."""

from cases import case


@case([0, 1, 2], cardinality=-2)
def test_predicate(lib):
    return lib.Dataset.range(9).take_while(lambda x: x < 3)


@case([0, 1])
def test_does_not_begin_again(lib):
    return lib.Dataset.from_tensor_slices([0, 1, 5, 0]).take_while(lambda x: x < 3)


@case([])
def test_nothing(lib):
    return lib.Dataset.range(9).take_while(lambda x: x < 0)


@case([0, 1, 2])
def test_everything(lib):
    return lib.Dataset.range(3).take_while(lambda x: x < 9, name="all")


@case([(1, b"a")])
def test_tuple_is_unpacked(lib):
    return lib.Dataset.from_tensor_slices(([1, 2], ["a", "b"])).take_while(lambda n, s: n < 2)


@case([[0, 1]])
def test_of_batches(lib):
    return lib.Dataset.range(4).batch(2).take_while(lambda x: lib.np.all(x < 2))


@case([0, 1, 2])
def test_of_a_dataset_without_end(lib):
    return lib.Dataset.counter().take_while(lambda x: x < 3)


@case([0, 1, 0, 1])
def test_repeated(lib):
    return lib.Dataset.range(5).take_while(lambda x: x < 2).repeat(2)


@case([])
def test_of_nothing(lib):
    return lib.Dataset.range(0).take_while(lambda x: x < 2)


@case([], raises="Value")
def test_result_is_no_bool(lib):
    return lib.Dataset.range(3).take_while(lambda x: x)
