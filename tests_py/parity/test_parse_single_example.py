"""io.parse_single_example."""

from cases import case, expect
from files import example, floats, integers, texts
from outcomes import Spec

PROTOS = [example(i=integers(7), f=floats(0.5, 1.5), v=integers(1, 2)), example(i=integers(-1), f=floats(2.5, 3.5))]


def parsed(lib, features, protos=PROTOS):
    return lib.Dataset.from_tensor_slices(protos).map(lambda one: lib.io.parse_single_example(one, features(lib)))


@case([{"i": 7, "f": [0.5, 1.5]}, {"i": -1, "f": [2.5, 3.5]}])
def test_fixed_len_features(lib):
    return parsed(lib, lambda lib: {"i": lib.io.FixedLenFeature([], lib.int64), "f": lib.io.FixedLenFeature([2], lib.float32)})


@case([{"n": 5}, {"n": 5}])
def test_default_value(lib):
    return parsed(lib, lambda lib: {"n": lib.io.FixedLenFeature([], lib.int64, 5)})


@case([{"v": {"indices": [[0], [1]], "values": [1, 2], "shape": [2]}}, {"v": {"indices": [], "values": [], "shape": [0]}}],
      infeed=expect([{"v": [1, 2]}, {"v": []}], spec={"v": Spec("Tensor", (None,), "int64")}),
      differs="A VarLenFeature of a single example is a vector")
def test_var_len_feature(lib):
    return parsed(lib, lambda lib: {"v": lib.io.VarLenFeature(lib.int64)})


@case([{"v": [1, 2]}, {"v": []}])
def test_fixed_len_sequence_feature(lib):
    return parsed(lib, lambda lib: {"v": lib.io.FixedLenSequenceFeature([], lib.int64, allow_missing=True)})


@case([{"s": b"ab"}])
def test_text(lib):
    return parsed(lib, lambda lib: {"s": lib.io.FixedLenFeature([], lib.string)}, [example(s=texts(b"ab"))])


@case([{"x": [7, -1]}])
def test_batched_after(lib):
    return parsed(lib, lambda lib: {"i": lib.io.FixedLenFeature([], lib.int64)}).map(lambda e: {"x": e["i"]}).batch(2)


@case([{"i": 7}], raises="InvalidArgument")
def test_missing_feature(lib):
    return parsed(lib, lambda lib: {"i": lib.io.FixedLenFeature([], lib.int64)}, [PROTOS[0], example()])


@case([], raises="InvalidArgument")
def test_wrong_dtype(lib):
    return parsed(lib, lambda lib: {"i": lib.io.FixedLenFeature([], lib.string)})


@case([], raises="InvalidArgument")
def test_wrong_number_of_values(lib):
    return parsed(lib, lambda lib: {"f": lib.io.FixedLenFeature([], lib.float32)})


@case([], raises="InvalidArgument")
def test_not_an_example(lib):
    return parsed(lib, lambda lib: {"i": lib.io.FixedLenFeature([], lib.int64)}, [b"not a proto"])


@case([], raises="Value")
def test_a_batch(lib):
    ds = lib.Dataset.from_tensor_slices(PROTOS).batch(2)
    return ds.map(lambda batch: lib.io.parse_single_example(batch, {"i": lib.io.FixedLenFeature([], lib.int64)}))


ROWS = [example(v=integers(1, 2, 3), n=integers(2, 0, 1), s=integers(0, 2, 2, 3), a=integers(0, 2, 2), z=integers(2, 2, 3)), example()]


@case([{"v": [1, 2, 3]}, {"v": []}])
def test_ragged_feature(lib):
    return parsed(lib, lambda lib: {"v": lib.io.RaggedFeature(lib.int64)}, ROWS)


@case([{"v": [[1, 2], [], [3]]}])
def test_ragged_feature_of_row_lengths(lib):
    return parsed(lib, lambda lib: {"v": lib.io.RaggedFeature(lib.int64, partitions=[lib.io.RaggedFeature.RowLengths("n")])}, ROWS[:1])


@case([{"v": [[1, 2], [], [3]]}])
def test_ragged_feature_of_row_splits(lib):
    return parsed(lib, lambda lib: {"v": lib.io.RaggedFeature(lib.int64, partitions=[lib.io.RaggedFeature.RowSplits("s")])}, ROWS[:1])


@case([{"v": [[1, 2], [], [3]]}])
def test_ragged_feature_of_row_starts(lib):
    return parsed(lib, lambda lib: {"v": lib.io.RaggedFeature(lib.int64, partitions=[lib.io.RaggedFeature.RowStarts("a")])}, ROWS[:1])


@case([{"v": [[1, 2], [], [3]]}])
def test_ragged_feature_of_row_limits(lib):
    return parsed(lib, lambda lib: {"v": lib.io.RaggedFeature(lib.int64, partitions=[lib.io.RaggedFeature.RowLimits("z")])}, ROWS[:1])


@case([{"x": [[1, 2], [3, 4]]}])
def test_ragged_feature_of_uniform_rows(lib):
    return parsed(lib, lambda lib: {"x": lib.io.RaggedFeature(lib.int64, "v", [lib.io.RaggedFeature.UniformRowLength(2)])},
                  [example(v=integers(1, 2, 3, 4))])


def short(lib, validate):
    rows = [lib.io.RaggedFeature.RowLengths("n")]
    return parsed(lib, lambda lib: {"v": lib.io.RaggedFeature(lib.int64, partitions=rows, validate=validate)}, [example(v=integers(1, 2, 3), n=integers(2))])


@case([], raises="InvalidArgument")
def test_ragged_feature_of_rows_that_do_not_fit(lib):
    return short(lib, False)


@case([], raises="InvalidArgument")
def test_ragged_feature_that_is_validated(lib):
    return short(lib, True)


@case([[1, 2], [], [3]])
def test_rows_of_a_ragged_feature(lib):
    ds = parsed(lib, lambda lib: {"v": lib.io.RaggedFeature(lib.int64, partitions=[lib.io.RaggedFeature.RowLengths("n")])}, ROWS)
    return ds.map(lambda e: e["v"]).unbatch()
