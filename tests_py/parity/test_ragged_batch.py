"""Dataset.ragged_batch."""

from cases import case, expect

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


@case([[[[1], [2, 2]], [[3, 3, 3], []]], [[[4] * 4]]])
def test_window(lib):
    return rows(lib, 1, 2, 3, 0, 4).ragged_batch(2).window(2).flat_map(lambda w: w.batch(2))


@case([[[1], [2, 2]], [[2, 2], [3, 3, 3]]])
def test_window_of_rows(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).unbatch().window(2, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(2))


@case([[1], [2, 2], [3, 3, 3]])
def test_rows_of_windows(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).window(2).flat_map(lambda w: w.unbatch())


@case([([[1], [2, 2]], 0), ([[3, 3, 3]], 1)])
def test_windows_of_a_tuple(lib):
    return lib.Dataset.zip((rows(lib, 1, 2, 3).ragged_batch(2), lib.Dataset.range(2))).window(2).flat_map(lambda a, b: lib.Dataset.zip((a, b)))


@case([[[2], [3, 3]], [[4, 4, 4]]])
def test_map(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).map(lambda x: x + 1)


@case([[2], [4, 4], [6, 6, 6]])
def test_unbatch_of_a_map(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).map(lambda x: x * 2).unbatch()


@case([([[1], [2, 2]], 1), ([[3, 3, 3]], 2)])
def test_map_that_hands_it_on(lib):
    return lib.Dataset.zip((rows(lib, 1, 2, 3).ragged_batch(2), lib.Dataset.range(2))).map(lambda x, n: (x, n + 1))


@case([[[2], [3, 3]], [[4, 4, 4]]])
def test_scan(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).scan(lib.array(0), lambda s, x: (s + 1, x + 1))


@case([0, 0, 1])
def test_flat_map_of_what_is_beside_it(lib):
    ds = lib.Dataset.zip((rows(lib, 1, 2, 3).ragged_batch(1), lib.Dataset.range(3)))
    return ds.flat_map(lambda x, n: lib.Dataset.range(n))


@case([[[1], [2, 2]], [[3, 3, 3]], [[1], [2, 2]], [[3, 3, 3]]])
def test_cache_and_repeat(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).cache().repeat(2).prefetch(1)


@case([[2, 2]])
def test_take_skip_and_shard_of_rows(lib):
    return rows(lib, 1, 2, 3, 4).ragged_batch(2).unbatch().take(3).skip(1).shard(2, 0)


@case(order="law", law=lambda got: sorted(map(len, got[0])) == [1, 2, 3], passes=None)
def test_shuffle_of_rows(lib):
    return rows(lib, 1, 2, 3).ragged_batch(2).unbatch().shuffle(3, seed=1).batch(3)
