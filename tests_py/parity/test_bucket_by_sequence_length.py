"""Dataset.bucket_by_sequence_length."""

from cases import case, expect


def rows(lib, *lengths):
    return lib.Dataset.from_generator(lambda: ([n] * n for n in lengths), output_signature=lib.TensorSpec((None,), lib.int32))


@case([[[1, 0], [2, 2]], [[3, 3, 3], [3, 3, 3]], [[1]]])
def test_two_buckets(lib):
    return rows(lib, 1, 3, 2, 1, 3).bucket_by_sequence_length(lib.length, [3], [2, 2])


@case([[[4, 4, 4, 4]], [[1], [1]], [[2, 2]]])
def test_size_of_each_bucket(lib):
    return rows(lib, 1, 4, 2, 1).bucket_by_sequence_length(lib.length, [2, 4], [2, 3, 1])


@case([[[1, 0, 0], [2, 2, 0]]])
def test_pad_to_bucket_boundary(lib):
    return rows(lib, 1, 2).bucket_by_sequence_length(lib.length, [4], [2, 2], pad_to_bucket_boundary=True)


@case([[[1, 0, 0, 0, 0], [2, 2, 0, 0, 0]]])
def test_padded_shapes(lib):
    return rows(lib, 1, 2).bucket_by_sequence_length(lib.length, [4], [2, 2], padded_shapes=[5])


@case([[[1, -1], [2, 2]]])
def test_padding_values(lib):
    return rows(lib, 1, 2).bucket_by_sequence_length(lib.length, [4], [2, 2], padding_values=-1)


@case([[[2, 2], [2, 2]]])
def test_no_padding(lib):
    return rows(lib, 2, 2).bucket_by_sequence_length(lib.length, [4], [2, 2], no_padding=True)


@case([[[1], [1]]])
def test_drop_remainder(lib):
    return rows(lib, 1, 4, 1).bucket_by_sequence_length(lib.length, [3], [2, 2], drop_remainder=True)


@case([([[1, 0], [2, 2]], [5, 6])])
def test_tuple(lib):
    signature = (lib.TensorSpec((None,), lib.int32), lib.TensorSpec((), lib.int32))
    ds = lib.Dataset.from_generator(lambda: [([1], 5), ([2, 2], 6)], output_signature=signature)
    return ds.bucket_by_sequence_length(lambda x, y: lib.length(x), [4], [2, 2])


@case([[[4, 4, 4, 4]], [[1]]])
def test_length_on_a_boundary(lib):
    return rows(lib, 1, 4).bucket_by_sequence_length(lib.length, [4], [2, 1], name="buckets")


@case([])
def test_of_nothing(lib):
    return rows(lib).bucket_by_sequence_length(lib.length, [3], [2, 2])


@case([], raises="Internal", infeed=expect(raises="InvalidArgument"), differs="An error in a window's function keeps its class")
def test_longer_than_the_last_boundary(lib):
    return rows(lib, 5).bucket_by_sequence_length(lib.length, [3], [1, 1], pad_to_bucket_boundary=True)


@case([], raises="InvalidArgument")
def test_no_padding_of_unequal_rows(lib):
    return rows(lib, 1, 2).bucket_by_sequence_length(lib.length, [4], [2, 2], no_padding=True)


@case([], raises="Value")
def test_wrong_number_of_sizes(lib):
    return rows(lib, 1).bucket_by_sequence_length(lib.length, [3], [2])


@case([[[1]], [[3, 3, 3]]], infeed=expect([], raises="InvalidArgument"), differs="bucket_boundaries have to rise")
def test_boundaries_that_do_not_rise(lib):
    return rows(lib, 1, 3).bucket_by_sequence_length(lib.length, [5, 2], [1, 1, 1])
