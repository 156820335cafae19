"""Dataset.batch."""

import numpy as np
from cases import case, expect


@case([[0, 1], [2, 3], [4]], cardinality=3)
def test_batch_size(lib):
    return lib.Dataset.range(5).batch(2)


@case([[0, 1], [2, 3]], cardinality=2)
def test_drop_remainder(lib):
    return lib.Dataset.range(5).batch(2, drop_remainder=True)


@case([[0, 1, 2]])
def test_larger_than_the_dataset(lib):
    return lib.Dataset.range(3).batch(10)


@case([], cardinality=0)
def test_larger_than_the_dataset_dropped(lib):
    return lib.Dataset.range(3).batch(10, drop_remainder=True)


@case([], cardinality=0)
def test_empty(lib):
    return lib.Dataset.range(0).batch(2)


@case([[[0, 1], [2, 3]], [[4, 5]]])
def test_of_batches(lib):
    return lib.Dataset.range(6).batch(2).batch(2)


@case([([1, 2], {"a": [[1, 2], [3, 4]], "b": [b"x", b"y"]})])
def test_nested(lib):
    return lib.Dataset.from_tensor_slices(([1, 2], {"a": [[1, 2], [3, 4]], "b": ["x", "y"]})).batch(2)


@case([[b"a", b""], [b"ccc"]])
def test_text(lib):
    return lib.Dataset.from_tensor_slices(["a", "", "ccc"]).batch(2)


@case([[0, 1], [2, 3]])
def test_num_parallel_calls(lib):
    return lib.Dataset.range(4).batch(2, num_parallel_calls=2, deterministic=True)


@case([[0, 1], [2, 3]], order="multiset", passes=None)
def test_not_deterministic(lib):
    return lib.Dataset.range(4).batch(2, num_parallel_calls=2, deterministic=False)


@case([[0, 1], [0, 1]], cardinality=-1, limit=2)
def test_without_end(lib):
    return lib.Dataset.range(2).repeat().batch(2)


@case([[[], []]])
def test_rows_without_values(lib):
    return lib.Dataset.from_tensor_slices(np.zeros((2, 0))).batch(2)


@case([[0, 1]])
def test_name(lib):
    return lib.Dataset.range(2).batch(2, name="pairs")


@case([], raises="InvalidArgument")
def test_rows_of_unequal_length(lib):
    ds = lib.Dataset.from_generator(lambda: [[1], [1, 2]], output_signature=lib.TensorSpec((None,), lib.int32))
    return ds.batch(2)


@case([], raises="InvalidArgument")
def test_size_zero(lib):
    return lib.Dataset.range(3).batch(0)


@case([], raises="InvalidArgument")
def test_size_below_zero(lib):
    return lib.Dataset.range(3).batch(-1)


@case([], raises="Type")
def test_size_is_no_int(lib):
    return lib.Dataset.range(3).batch(2.5)


def broken_off(lib, n=3):
    """n numbers, and then an error at the end."""
    return lib.Dataset.range(n).apply(lib.assert_cardinality(n + 2))


@case([[0, 1]], raises="FailedPrecondition")
def test_what_fails_in_a_dropped_remainder(lib):
    return broken_off(lib).batch(2, drop_remainder=True)


@case([[0, 1]], raises="FailedPrecondition")
def test_what_fails_in_a_dropped_remainder_of_padded_batch(lib):
    return broken_off(lib).padded_batch(2, drop_remainder=True)


@case([[0, 1]], raises="FailedPrecondition")
def test_what_fails_in_a_dropped_remainder_of_rebatch(lib):
    return broken_off(lib).batch(1).rebatch(2, drop_remainder=True)


@case([], raises="FailedPrecondition")
def test_what_fails_before_all(lib):
    return broken_off(lib, 0).batch(2, drop_remainder=True)


@case([], raises="DataLoss")
def test_a_file_that_is_cut_in_a_dropped_remainder(lib):
    return lib.TFRecordDataset(lib.path("cut.tfrecord")).batch(2, drop_remainder=True)


@case([[0, -1]], raises="InvalidArgument", infeed=expect([[0, -1]], raises=None), differs="A dropped remainder is not made where there is random access")
def test_what_fails_in_a_dropped_remainder_of_known_length(lib):
    parsed = lib.Dataset.from_tensor_slices(["0", "-1", "x"]).map(lambda s: lib.io.decode_csv(s, [[0]])[0])
    return parsed.batch(2, drop_remainder=True)
