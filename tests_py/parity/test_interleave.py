"""Dataset.interleave."""

from cases import case


def tens(lib):
    """A function from x to the dataset 10 x, 10 x + 1, 10 x + 2."""
    return lambda x: lib.Dataset.range(3).map(lambda y: x * 10 + y)


@case([0, 10, 1, 11, 2, 12, 20, 21, 22])
def test_cycle_length(lib):
    return lib.Dataset.range(3).interleave(tens(lib), cycle_length=2)


@case([0, 1, 10, 11, 2, 12, 20, 21, 22])
def test_block_length(lib):
    return lib.Dataset.range(3).interleave(tens(lib), cycle_length=2, block_length=2)


@case([0, 1, 2, 10, 11, 12])
def test_cycle_of_one(lib):
    return lib.Dataset.range(2).interleave(tens(lib), cycle_length=1)


@case([0, 10, 20, 1, 11, 21, 2, 12, 22])
def test_cycle_longer_than_the_input(lib):
    return lib.Dataset.range(3).interleave(tens(lib), cycle_length=9)


@case([0, 1, 2, 10, 11, 12])
def test_block_longer_than_the_inputs(lib):
    return lib.Dataset.range(2).interleave(tens(lib), cycle_length=2, block_length=9)


@case([0, 10, 1, 11, 2, 12, 20, 21, 22], cardinality=-2)
def test_num_parallel_calls(lib):
    return lib.Dataset.range(3).interleave(tens(lib), cycle_length=2, num_parallel_calls=2)


@case([0, 10, 1, 11, 2, 12])
def test_autotune_and_deterministic(lib):
    return lib.Dataset.range(2).interleave(tens(lib), cycle_length=2, num_parallel_calls=lib.AUTOTUNE, deterministic=True)


@case([0, 1, 2, 10, 11, 12], order="multiset", passes=None)
def test_not_deterministic(lib):
    return lib.Dataset.range(2).interleave(tens(lib), cycle_length=2, num_parallel_calls=2, deterministic=False)


@case([0, 0, 0, 1, 1, 2])
def test_inputs_of_unequal_length(lib):
    ds = lib.Dataset.from_tensor_slices([1, 2, 3])
    return ds.interleave(lambda n: lib.Dataset.range(lib.cast(n, lib.int64)), cycle_length=3)


@case([0, 0, 1])
def test_inputs_without_elements(lib):
    ds = lib.Dataset.from_tensor_slices([0, 1, 0, 2])
    return ds.interleave(lambda n: lib.Dataset.range(lib.cast(n, lib.int64)), cycle_length=2)


@case([b"one", b"five", b"two", b"", b"four"])
def test_of_files(lib):
    names = lib.Dataset.from_tensor_slices([lib.path("lines.txt"), lib.path("more.txt")])
    return names.interleave(lambda name: lib.TextLineDataset(name), cycle_length=2)


@case([b"a", b"c", b"bb", b"dd", b""])
def test_of_a_source_itself(lib):
    names = lib.Dataset.from_tensor_slices([lib.path("three.tfrecord"), lib.path("more.tfrecord")])
    return names.interleave(lib.TFRecordDataset, cycle_length=2, name="files")


@case([1, 2, 3, 4])
def test_from_tensor_slices_of_the_element(lib):
    return lib.Dataset.from_tensor_slices([[1, 2], [3, 4]]).interleave(lambda x: lib.Dataset.from_tensor_slices(x), cycle_length=1)


@case([(0, 5), (1, 6), (0, 5), (1, 6)])
def test_tuple_is_unpacked(lib):
    ds = lib.Dataset.from_tensor_slices(([0, 1], [5, 6]))
    return ds.interleave(lambda a, b: lib.Dataset.from_tensors((a, b)).repeat(2), cycle_length=2)


@case([0, 1, 2, 10, 11, 12, 20, 21, 22], order="multiset")
def test_no_cycle_length(lib):
    """TensorFlow's default is the number of cores, so the order differs between machines."""
    return lib.Dataset.range(3).interleave(tens(lib))


@case([0, 1, 2, 3])
def test_no_cycle_length_over_one_input(lib):
    return lib.Dataset.range(1).interleave(lambda x: lib.Dataset.range(4))


@case([])
def test_of_nothing(lib):
    return lib.Dataset.range(0).interleave(tens(lib), cycle_length=2)


@case([0, 10, 1, 11], limit=4)
def test_inputs_without_end(lib):
    return lib.Dataset.range(3).interleave(lambda x: lib.Dataset.counter(x * 10), cycle_length=2)


@case([], raises="Attribute")
def test_result_is_no_dataset(lib):
    return lib.Dataset.range(3).interleave(lambda x: x, cycle_length=2)


@case([b"five"], raises="NotFound")
def test_an_input_fails(lib):
    names = lib.Dataset.from_tensor_slices([lib.path("more.txt"), lib.path("none.txt")])
    return names.interleave(lib.TextLineDataset, cycle_length=1)


@case([], raises="InvalidArgument")
def test_cycle_of_zero(lib):
    return lib.Dataset.range(3).interleave(tens(lib), cycle_length=0)


@case([], raises="InvalidArgument")
def test_block_of_zero(lib):
    return lib.Dataset.range(3).interleave(tens(lib), cycle_length=2, block_length=0)
