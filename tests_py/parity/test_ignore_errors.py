"""Dataset.ignore_errors."""

from cases import case, expect

SKIPS = "ignore_errors goes on behind a damaged record"


def fallible(lib):
    """0, 1, then an element that cannot be parsed, then 3."""
    ds = lib.Dataset.from_tensor_slices(["0", "1", "x", "3"])
    return ds.map(lambda s: lib.io.decode_csv(s, [[0]])[0])


@case([0, 1, 3], cardinality=-2)
def test_map_fails(lib):
    return fallible(lib).ignore_errors()


@case([0, 1, 3])
def test_log_warning(lib):
    return fallible(lib).ignore_errors(log_warning=True, name="brave")


@case([0, 1], raises="InvalidArgument")
def test_without_it(lib):
    return fallible(lib)


@case([0, 1, 2], cardinality=-2)
def test_nothing_fails(lib):
    return lib.Dataset.range(3).ignore_errors()


@case([])
def test_everything_fails(lib):
    return lib.Dataset.from_tensor_slices(["x", "y"]).map(lambda s: lib.io.decode_csv(s, [[0]])[0]).ignore_errors()


@case([])
def test_of_nothing(lib):
    return lib.Dataset.range(0).ignore_errors()


@case([[0, 1], [3]])
def test_batched(lib):
    return fallible(lib).ignore_errors().batch(2)


@case([[0, 1], [3]], infeed=expect([[0, 1]]), differs="A batch with an element that fails is dropped whole")
def test_of_batches(lib):
    return fallible(lib).batch(2).ignore_errors()


@case([0, 1, 3, 0, 1, 3])
def test_repeated(lib):
    return fallible(lib).ignore_errors().repeat(2)


@case([(1, b"a", 0.5)])
def test_csv_with_a_bad_last_row(lib):
    return lib.CsvDataset(lib.path("bad_int.csv"), [lib.int32, lib.string, lib.float32]).ignore_errors()


@case([b"a"], infeed=expect([b"a", b""]), differs=SKIPS)
def test_records_with_a_flipped_payload(lib):
    return lib.TFRecordDataset(lib.path("payload.tfrecord")).ignore_errors()
