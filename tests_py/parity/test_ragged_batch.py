"""Dataset.ragged_batch."""

from cases import case, expect

ONCE = "Windows have no ragged components"
PADDED = "Arrays out of ragged components are padded"


def rows(lib, *lengths):
    return lib.Dataset.from_generator(lambda: ([n] * n for n in lengths), output_signature=lib.TensorSpec((None,), lib.int32))


@case([[[1], [2, 2]], [[3, 3, 3]]], cardinality=-2)
def test_rows(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2)


@case([[[1], [2, 2]]])
def test_drop_remainder(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2, drop_remainder=True)


@case([[[], [1]]])
def test_row_without_values(lib):
    return rows(lib, 0, 1).ragged_batch(2)


@case([[[1], [2, 2]]])
def test_row_splits_dtype(lib):
    return rows(lib, 1, 2).ragged_batch(2, row_splits_dtype=lib.int32)


@case([[0, 1], [2]])
def test_scalars_are_dense(lib):
    return lib.Dataset.range(3).ragged_batch(2)


@case([[[1, 2], [3, 4]]])
def test_rows_of_known_length_are_dense(lib):
    return lib.Dataset.from_tensor_slices([[1, 2], [3, 4]]).ragged_batch(2)


@case([([[1], [2, 3]], [5, 6])])
def test_tuple(lib):
    signature = (lib.TensorSpec((None,), lib.int32), lib.TensorSpec((), lib.int32))
    return lib.Dataset.from_generator(lambda: [([1], 5), ([2, 3], 6)], output_signature=signature).ragged_batch(2)


@case([[[b"a"], [b"b", b"c"]]])
def test_text(lib):
    ds = lib.Dataset.from_generator(lambda: [["a"], ["b", "c"]], output_signature=lib.TensorSpec((None,), lib.string))
    return ds.ragged_batch(2)


@case([])
def test_empty(lib):
    return rows(lib).ragged_batch(2)


@case([], raises="InvalidArgument")
def test_size_zero(lib):
    return rows(lib, 1).ragged_batch(0)


@case([[1], [2, 2], [3, 3, 3]])
def test_unbatch(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).unbatch()


@case([[1], [2, 2]])
def test_unbatch_of_whole_batches(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2, drop_remainder=True).unbatch()


@case([([1], 5), ([2, 2], 6), ([3, 3, 3], 7)])
def test_unbatch_of_a_tuple(lib):
    return lib.Dataset.zip((rows(lib, 1, 2, 3), lib.Dataset.range(5, 8))).ragged_batch(2).unbatch()


@case([([1], 0), ([2, 2], 1)], raises="InvalidArgument")
def test_unbatch_of_unequally_many(lib):
    return lib.Dataset.zip((rows(lib, 1, 2, 3).ragged_batch(2), lib.Dataset.range(4).batch(2))).unbatch()


@case([[b"a"], [b"b", b"c"]])
def test_unbatch_of_text(lib):
    ds = lib.Dataset.from_generator(lambda: [["a"], ["b", "c"]], output_signature=lib.TensorSpec((None,), lib.string))
    return ds.ragged_batch(2).unbatch()


@case([[2], [3, 3], [4, 4, 4]])
def test_map_of_rows(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).unbatch().map(lambda x: x + 1)


@case([[[1], [2, 2], [3, 3, 3]], [[], [4] * 4]])
def test_rows_are_batched_again(lib):
    return rows(lib, 1, 2, 3, 0, 4).ragged_batch(2).unbatch().batch(3)


@case([[[2, 2], [3, 3, 3]], [[4] * 4]])
def test_rows_that_are_filtered_are_batched_again(lib):
    return rows(lib, 1, 2, 3, 0, 4).ragged_batch(2).unbatch().filter(lambda x: lib.length(x) > 1).batch(2)


@case([], raises="InvalidArgument")
def test_what_a_map_makes_of_rows_is_not_ragged(lib):
    return rows(lib, 1, 2).ragged_batch(2).unbatch().map(lambda x: x).batch(2)


@case([[[[1], [2, 2]], [[3, 3, 3], [4] * 4]]])
def test_batch(lib):
    return rows(lib, 1, 2, 3, 4).ragged_batch(2).batch(2)


@case([], raises="InvalidArgument")
def test_batch_of_batches_of_two_sizes(lib):
    return rows(lib, 1, 2, 3, 4, 5).ragged_batch(2).skip(1).batch(2)


@case([[[1], [2, 2]], [[3, 3, 3], [4] * 4]])
def test_unbatch_of_batches_of_batches(lib):
    return rows(lib, 1, 2, 3, 4).ragged_batch(2).batch(2).unbatch()


@case([[[[1], [2, 2]], [[3, 3, 3], [4] * 4]]])
def test_ragged_batch_of_ragged_batches(lib):
    return rows(lib, 1, 2, 3, 4).ragged_batch(2).ragged_batch(2)


@case([[[1], [2, 2], [3, 3, 3]], [[4] * 4]])
def test_rebatch(lib):
    return rows(lib, 1, 2, 3, 4).ragged_batch(2).rebatch(3)


@case([[[1], [2, 2], [3, 3, 3]]])
def test_rebatch_drop_remainder(lib):
    return rows(lib, 1, 2, 3, 4).ragged_batch(2).rebatch(3, drop_remainder=True)


@case([[[1]], [[2, 2], [3, 3, 3]], [[4] * 4]])
def test_rebatch_to_sizes_in_turn(lib):
    return rows(lib, 1, 2, 3, 4).ragged_batch(3).rebatch([1, 2])


@case([], raises="Type", infeed=expect([], raises="Unimplemented"), differs=PADDED)
def test_padded_batch(lib):
    return rows(lib, 1, 2).ragged_batch(2).padded_batch(2)


@case([], raises="Type", infeed=expect([[[1, 0], [2, 2]]], raises=None), differs=PADDED)
def test_padded_batch_of_rows(lib):
    return rows(lib, 1, 2).ragged_batch(2).unbatch().padded_batch(2)


@case([[[[1], [2, 2]]]], infeed=expect([], raises="Unimplemented"), differs=ONCE)
def test_window(lib):
    return rows(lib, 1, 2).ragged_batch(2).window(1).flat_map(lambda w: w.batch(1))
