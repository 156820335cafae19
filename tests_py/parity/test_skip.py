"""Dataset.skip."""

from cases import case


@case([2, 3, 4], cardinality=3)
def test_count(lib):
    return lib.Dataset.range(5).skip(2)


@case([], cardinality=0)
def test_more_than_there_are(lib):
    return lib.Dataset.range(3).skip(10)


@case([0, 1, 2], cardinality=3)
def test_zero(lib):
    return lib.Dataset.range(3).skip(0)


@case([], cardinality=0)
def test_minus_one_is_everything(lib):
    return lib.Dataset.range(3).skip(-1)


@case([1, 0, 1], cardinality=-1, limit=3)
def test_of_a_dataset_without_end(lib):
    return lib.Dataset.range(2).repeat().skip(3)


@case([4, 6, 8], cardinality=-2)
def test_of_unknown_cardinality(lib):
    return lib.Dataset.range(9).filter(lambda x: x % 2 == 0).skip(2)


@case([[2, 3], [4]])
def test_of_batches(lib):
    return lib.Dataset.range(5).batch(2).skip(1)


@case([2, 3], cardinality=2)
def test_before_take(lib):
    return lib.Dataset.range(9).skip(2).take(2)


@case([2, 3], cardinality=2)
def test_after_take(lib):
    return lib.Dataset.range(9).take(4).skip(2, name="rest")


@case([], raises="Type")
def test_count_is_no_int(lib):
    return lib.Dataset.range(3).skip("1")


@case([], raises="DataLoss")
def test_a_file_that_is_cut_in_what_is_skipped(lib):
    return lib.TFRecordDataset(lib.path("cut.tfrecord")).skip(9)
