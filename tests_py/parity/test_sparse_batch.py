"""Dataset.sparse_batch."""

from cases import case, expect


def rows(lib, *lengths):
    return lib.Dataset.from_generator(lambda: ([n] * n for n in lengths), output_signature=lib.TensorSpec((None,), lib.int32))


def sparse(indices, values, *shape):
    return {"indices": indices, "values": values, "shape": list(shape)}


@case([sparse([[0, 0]], [1], 2, 4), sparse([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], [2, 2, 3, 3, 3], 2, 4)], cardinality=-2)
def test_rows(lib):
    return rows(lib, 1, 0, 2, 3).sparse_batch(2, [4])


@case([sparse([[0, 0], [1, 0], [1, 1]], [1, 2, 2], 2, 2), sparse([[0, 0], [0, 1], [0, 2]], [3, 3, 3], 1, 3)])
def test_rows_as_long_as_the_longest(lib):
    return rows(lib, 1, 2, 3).sparse_batch(2, [None])


@case([sparse([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 2, 0], 2, 3)], cardinality=1)
def test_zeros_are_values(lib):
    return lib.Dataset.from_tensor_slices([[0, 1], [2, 0]]).sparse_batch(2, [3])


@case([sparse([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]], [1.0, 2.0, 3.0, 4.0], 1, 3, 4)])
def test_matrices(lib):
    return lib.Dataset.from_tensors([[1.0, 2.0], [3.0, 4.0]]).sparse_batch(1, [3, 4])


@case([sparse([[0], [1]], [0, 1], 2), sparse([[0]], [2], 1)])
def test_scalars(lib):
    return lib.Dataset.range(3).sparse_batch(2, [])


@case([sparse([[0, 0], [1, 0]], [b"a", b"b"], 2, 2)])
def test_text(lib):
    return lib.Dataset.from_tensor_slices([[b"a"], [b"b"]]).sparse_batch(2, [2])


@case([sparse([[0, 0]], [1], 1, 2)], raises="DataLoss")
def test_a_row_that_is_too_long(lib):
    return rows(lib, 1, 5).sparse_batch(1, [2])


@case([], raises="InvalidArgument")
def test_a_shape_of_another_rank(lib):
    return rows(lib, 1, 2).sparse_batch(2, [4, 4])


@case([], raises="InvalidArgument")
def test_size_zero(lib):
    return rows(lib, 1).sparse_batch(0, [4])


@case([], raises="Value")
def test_negative_dimension(lib):
    return rows(lib, 1).sparse_batch(1, [-1])


@case([], raises="Type")
def test_two_components(lib):
    return lib.Dataset.zip((rows(lib, 1), rows(lib, 1))).sparse_batch(2, [4])


@case([sparse([[0]], [1], 4), sparse([[0], [1]], [2, 2], 4)], infeed=expect([], raises="Unimplemented"), differs="Sparse tensors are not taken apart")
def test_unbatch(lib):
    return rows(lib, 1, 2).sparse_batch(2, [4]).unbatch()
