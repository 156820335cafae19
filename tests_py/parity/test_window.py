"""Dataset.window."""

from cases import case, expect

BEHIND = "An error behind the last window is raised"


@case([[0, 1, 2], [3, 4, 5], [6]], cardinality=3)
def test_size(lib):
    return lib.Dataset.range(7).window(3)


@case([[0, 1, 2], [3, 4, 5]], cardinality=2)
def test_drop_remainder(lib):
    return lib.Dataset.range(7).window(3, drop_remainder=True)


@case([[0, 1, 2], [1, 2, 3], [2, 3], [3]])
def test_shift(lib):
    return lib.Dataset.range(4).window(3, shift=1)


@case([[0, 1, 2], [1, 2, 3]])
def test_shift_and_drop_remainder(lib):
    return lib.Dataset.range(4).window(3, 1, drop_remainder=True)


@case([[0, 1], [4, 5]])
def test_shift_larger_than_size(lib):
    return lib.Dataset.range(7).window(2, shift=4)


@case([[0, 2], [2, 4], [4]])
def test_stride(lib):
    return lib.Dataset.range(6).window(2, stride=2)


@case([[0, 2, 4], [1, 3, 5]])
def test_shift_stride_and_drop_remainder(lib):
    return lib.Dataset.range(6).window(3, shift=1, stride=2, drop_remainder=True)


@case([([1, 2], [b"a", b"b"])])
def test_of_tuples(lib):
    return lib.Dataset.from_tensor_slices(([1, 2], ["a", "b"])).window(2)


@case([{"a": [1, 2]}])
def test_of_dicts(lib):
    return lib.Dataset.from_tensor_slices({"a": [1, 2]}).window(2, name="pairs")


@case([[[0, 1], [2, 3]], [[4, 5]]])
def test_of_batches(lib):
    return lib.Dataset.range(6).batch(2).window(2)


@case([], cardinality=0)
def test_of_nothing(lib):
    return lib.Dataset.range(0).window(2)


@case([[0, 0], [0, 0]], cardinality=-1, limit=2)
def test_without_end(lib):
    return lib.Dataset.range(1).repeat().window(2)


@case([[0, 1, 2], [1, 2, 3]])
def test_batched_by_flat_map(lib):
    return lib.Dataset.range(4).window(3, 1, drop_remainder=True).flat_map(lambda w: w.batch(3))


@case([([0, 1], [5, 6]), ([2], [7])])
def test_zipped_by_flat_map(lib):
    ds = lib.Dataset.zip(lib.Dataset.range(3), lib.Dataset.range(5, 8))
    return ds.window(2).flat_map(lambda a, b: lib.Dataset.zip(a.batch(2), b.batch(2)))


@case([[0, 1], [2, 3], [4]])
def test_of_windows(lib):
    return lib.Dataset.range(5).window(2).window(2).flat_map(lambda w: w.flat_map(lambda v: v.batch(2)))


@case([], raises="InvalidArgument")
def test_size_zero(lib):
    return lib.Dataset.range(3).window(0)


@case([], raises="InvalidArgument")
def test_shift_zero(lib):
    return lib.Dataset.range(3).window(2, shift=0)


@case([], raises="InvalidArgument")
def test_stride_zero(lib):
    return lib.Dataset.range(3).window(2, stride=0)


@case([[0], [3]], raises=None, infeed=expect(raises="FailedPrecondition"), differs=BEHIND)
def test_what_fails_behind_the_windows(lib):
    return lib.Dataset.range(5).apply(lib.assert_cardinality(9)).window(1, shift=3)


@case([[0, 1]], raises=None, infeed=expect(raises="FailedPrecondition"), differs=BEHIND)
def test_what_fails_in_a_dropped_window(lib):
    return lib.Dataset.range(3).apply(lib.assert_cardinality(9)).window(2, drop_remainder=True)
