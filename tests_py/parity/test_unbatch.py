"""Dataset.unbatch."""

from cases import case


@case([0, 1, 2, 3, 4], cardinality=-2)
def test_batches(lib):
    return lib.Dataset.range(5).batch(2).unbatch()


@case([(1, b"a"), (2, b"b")])
def test_tuple(lib):
    return lib.Dataset.from_tensors(([1, 2], ["a", "b"])).unbatch()


@case([{"x": [1, 2]}, {"x": [3, 4]}])
def test_dict_of_rows(lib):
    return lib.Dataset.from_tensors({"x": [[1, 2], [3, 4]]}).unbatch()


@case([0, 1, 2, 3])
def test_twice(lib):
    return lib.Dataset.range(4).batch(2).batch(2).unbatch().unbatch()


@case([0, 1, 2, 3])
def test_full_batches(lib):
    return lib.Dataset.range(5).batch(2, drop_remainder=True).unbatch()


@case([], cardinality=-2)
def test_empty(lib):
    return lib.Dataset.range(0).batch(2).unbatch()


@case([1])
def test_batch_without_rows(lib):
    return lib.Dataset.from_generator(lambda: [[], [1]], output_signature=lib.TensorSpec((None,), lib.int32)).unbatch()


@case([[0, 1, 2], [3, 4]])
def test_batched_again(lib):
    return lib.Dataset.range(5).batch(2).unbatch().batch(3)


@case([], raises="InvalidArgument")
def test_unequal_first_dimensions(lib):
    signature = (lib.TensorSpec((None,), lib.int32), lib.TensorSpec((None,), lib.int32))
    return lib.Dataset.from_generator(lambda: [([1, 2], [1])], output_signature=signature).unbatch()


@case([], raises="Value")
def test_unequal_known_dimensions(lib):
    return lib.Dataset.from_tensors(([1, 2], [1])).unbatch()


@case([], raises="Value")
def test_scalars(lib):
    return lib.Dataset.range(3).unbatch()


@case([], raises="InvalidArgument")
def test_no_rows_beside_some(lib):
    signature = (lib.TensorSpec((0,), lib.int32), lib.TensorSpec((None,), lib.int32))
    return lib.Dataset.from_generator(lambda: [([], [1, 2])], output_signature=signature).unbatch()
