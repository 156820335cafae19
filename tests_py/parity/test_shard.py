"""Dataset.shard."""

from cases import case


@case([0, 3, 6, 9], cardinality=4)
def test_first(lib):
    return lib.Dataset.range(10).shard(3, 0)


@case([2, 5, 8], cardinality=3)
def test_last(lib):
    return lib.Dataset.range(10).shard(3, 2)


@case([0, 1, 2])
def test_one_shard(lib):
    return lib.Dataset.range(3).shard(1, 0)


@case([], cardinality=0)
def test_more_shards_than_elements(lib):
    return lib.Dataset.range(2).shard(5, 3)


@case([], cardinality=0)
def test_of_nothing(lib):
    return lib.Dataset.range(0).shard(2, 1)


@case([1, 1, 1], cardinality=-1, limit=3)
def test_without_end(lib):
    return lib.Dataset.range(2).repeat().shard(2, 1)


@case([2, 6], cardinality=-2)
def test_of_unknown_cardinality(lib):
    return lib.Dataset.range(9).filter(lambda x: x % 2 == 0).shard(2, 1).take(2)


@case([[2, 3]])
def test_of_batches(lib):
    return lib.Dataset.range(6).batch(2).shard(3, 1)


@case([3, 9])
def test_of_a_shard(lib):
    return lib.Dataset.range(12).shard(3, 0).shard(2, 1)


@case([], raises="InvalidArgument")
def test_no_shards(lib):
    return lib.Dataset.range(3).shard(0, 0)


@case([], raises="InvalidArgument")
def test_index_too_large(lib):
    return lib.Dataset.range(3).shard(2, 2)


@case([], raises="InvalidArgument")
def test_index_below_zero(lib):
    return lib.Dataset.range(3).shard(2, -1)


@case([b"a"], raises="DataLoss")
def test_a_file_that_is_cut_in_another_shard(lib):
    return lib.TFRecordDataset(lib.path("cut.tfrecord")).shard(2, 0)
