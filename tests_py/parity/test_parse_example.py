"""io.parse_example, inside map and over batches."""

from cases import case, expect
from files import NOTHING, example, floats, integers, texts

TWO = [example(i=integers(7), f=floats(0.5, 1.5), s=texts(b"ab")), example(i=integers(-1), f=floats(2.5, 3.5), s=texts(b""))]
UNEVEN = [example(v=integers(1, 2), s=texts(b"x")), example(v=integers()), example(), example(v=integers(3), s=texts(b"y", b"z"))]


def parsed(lib, protos, features, **more):
    """Serialised examples, parsed as one batch."""
    ds = lib.Dataset.from_tensor_slices(protos).batch(len(protos))
    return ds.map(lambda batch: lib.io.parse_example(batch, features(lib), **more))


@case([{"i": [7, -1], "f": [[0.5, 1.5], [2.5, 3.5]], "s": [b"ab", b""]}])
def test_fixed_len_features(lib):
    return parsed(lib, TWO, lambda lib: {
        "i": lib.io.FixedLenFeature([], lib.int64), "f": lib.io.FixedLenFeature([2], lib.float32),
        "s": lib.io.FixedLenFeature([], lib.string)})


@case([{"i": [[7], [-1]]}])
def test_shape_of_one(lib):
    return parsed(lib, TWO, lambda lib: {"i": lib.io.FixedLenFeature([1], lib.int64)})


@case([{"v": [[[1, 2], [3, 4]]]}])
def test_matrix(lib):
    return parsed(lib, [example(v=integers(1, 2, 3, 4))], lambda lib: {"v": lib.io.FixedLenFeature([2, 2], lib.int64)})


@case([{"n": [5, 5]}])
def test_default_value(lib):
    return parsed(lib, TWO, lambda lib: {"n": lib.io.FixedLenFeature([], lib.int64, default_value=5)})


@case([{"n": [[0.5, 1.5], [0.5, 1.5]]}])
def test_default_value_of_a_shape(lib):
    return parsed(lib, TWO, lambda lib: {"n": lib.io.FixedLenFeature([2], lib.float32, [0.5, 1.5])})


@case([{"n": [b"none", b"none"]}])
def test_default_text(lib):
    return parsed(lib, TWO, lambda lib: {"n": lib.io.FixedLenFeature([], lib.string, "none")})


@case([{"i": [3, 5]}])
def test_default_for_a_feature_without_a_list(lib):
    return parsed(lib, [example(i=integers(3)), example(i=NOTHING)], lambda lib: {"i": lib.io.FixedLenFeature([], lib.int64, 5)})


@case([{"v": {"indices": [[0, 0], [0, 1], [3, 0]], "values": [1, 2, 3], "shape": [4, 2]}}])
def test_var_len_feature(lib):
    return parsed(lib, UNEVEN, lambda lib: {"v": lib.io.VarLenFeature(lib.int64)})


@case([{"s": {"indices": [[0, 0], [3, 0], [3, 1]], "values": [b"x", b"y", b"z"], "shape": [4, 2]}}])
def test_var_len_feature_of_text(lib):
    return parsed(lib, UNEVEN, lambda lib: {"s": lib.io.VarLenFeature(lib.string)})


@case([{"v": {"indices": [], "values": [], "shape": [2, 0]}}])
def test_var_len_feature_that_nobody_has(lib):
    return parsed(lib, TWO, lambda lib: {"v": lib.io.VarLenFeature(lib.float32)})


@case([{"v": [[1, 2], [0, 0], [0, 0], [3, 0]]}])
def test_fixed_len_sequence_feature(lib):
    return parsed(lib, UNEVEN, lambda lib: {"v": lib.io.FixedLenSequenceFeature([], lib.int64, allow_missing=True)})


@case([{"v": [[1, 2], [-1, -1], [-1, -1], [3, -1]]}])
def test_fixed_len_sequence_feature_default(lib):
    return parsed(lib, UNEVEN, lambda lib: {"v": lib.io.FixedLenSequenceFeature([], lib.int64, True, default_value=-1)})


@case([{"v": [[[1, 2], [3, 4]], [[5, 6], [0, 0]]]}])
def test_fixed_len_sequence_feature_of_pairs(lib):
    protos = [example(v=integers(1, 2, 3, 4)), example(v=integers(5, 6))]
    return parsed(lib, protos, lambda lib: {"v": lib.io.FixedLenSequenceFeature([2], lib.int64, True)})


@case([{"i": [7, -1], "v": {"indices": [[0, 0], [1, 0]], "values": [b"ab", b""], "shape": [2, 1]}}])
def test_kinds_mixed(lib):
    return parsed(lib, [TWO[0].replace(b"\x01s", b"\x01v"), TWO[1].replace(b"\x01s", b"\x01v")], lambda lib: {
        "i": lib.io.FixedLenFeature([], lib.int64), "v": lib.io.VarLenFeature(lib.string)})


@case([{"i": [7, -1]}])
def test_example_names(lib):
    return parsed(lib, TWO, lambda lib: {"i": lib.io.FixedLenFeature([], lib.int64)}, example_names=["a", "b"])


@case([{"i": [7, -1]}])
def test_of_records(lib):
    ds = lib.TFRecordDataset(lib.path("examples.tfrecord")).batch(2)
    return ds.map(lambda batch: lib.io.parse_example(batch, {"i": lib.io.FixedLenFeature([], lib.int64)}))


@case([{"i": 7}, {"i": -1}])
def test_of_single_records(lib):
    ds = lib.TFRecordDataset(lib.path("examples.tfrecord"))
    return ds.map(lambda one: lib.io.parse_example(one, {"i": lib.io.FixedLenFeature([], lib.int64)}))


@case([], raises="InvalidArgument")
def test_missing_feature(lib):
    return parsed(lib, TWO, lambda lib: {"n": lib.io.FixedLenFeature([], lib.int64)})


@case([], raises="InvalidArgument")
def test_wrong_dtype(lib):
    return parsed(lib, TWO, lambda lib: {"i": lib.io.FixedLenFeature([], lib.float32)})


@case([], raises="InvalidArgument")
def test_wrong_number_of_values(lib):
    return parsed(lib, TWO, lambda lib: {"f": lib.io.FixedLenFeature([3], lib.float32)})


@case([], raises="InvalidArgument")
def test_wrong_dtype_of_var_len(lib):
    return parsed(lib, TWO, lambda lib: {"i": lib.io.VarLenFeature(lib.string)})


@case([], raises="InvalidArgument")
def test_not_an_example(lib):
    return parsed(lib, [b"not a proto"], lambda lib: {"i": lib.io.FixedLenFeature([], lib.int64)})


@case([], raises="InvalidArgument")
def test_values_that_fill_no_step(lib):
    return parsed(lib, [example(v=integers(1, 2, 3))], lambda lib: {"v": lib.io.FixedLenSequenceFeature([2], lib.int64, True)})


@case([], raises="Type")
def test_int32_feature(lib):
    return parsed(lib, TWO, lambda lib: {"i": lib.io.FixedLenFeature([], lib.int32)})


@case([], raises="Value")
def test_no_features(lib):
    return parsed(lib, TWO, lambda lib: {})


@case([], raises="Value")
def test_sequence_that_may_not_be_missing(lib):
    return parsed(lib, TWO, lambda lib: {"v": lib.io.FixedLenSequenceFeature([], lib.int64)})


@case([{"v": [[1, 2], [], [], [3]]}])
def test_ragged_feature(lib):
    return parsed(lib, UNEVEN, lambda lib: {"v": lib.io.RaggedFeature(lib.int64)})


@case([{"x": [[b"x"], [], [], [b"y", b"z"]], "y": [[b"x"], [], [], [b"y", b"z"]], "v": [[1, 2], [], [], [3]]}])
def test_ragged_features_of_one_key(lib):
    return parsed(lib, UNEVEN, lambda lib: {"x": lib.io.RaggedFeature(lib.string, value_key="s"),
                                            "y": lib.io.RaggedFeature(lib.string, "s"),
                                            "v": lib.io.RaggedFeature(lib.int64, row_splits_dtype=lib.int64)})


@case([[1, 2], [], [], [3]])
def test_rows_of_a_ragged_feature(lib):
    return parsed(lib, UNEVEN, lambda lib: {"v": lib.io.RaggedFeature(lib.int64)}).map(lambda e: e["v"]).unbatch()


@case([{"v": [[[1, 2], [3, 4]], [], [[5, 6]]]}])
def test_ragged_feature_of_uniform_rows(lib):
    protos = [example(v=integers(1, 2, 3, 4)), example(), example(v=integers(5, 6))]
    return parsed(lib, protos, lambda lib: {"v": lib.io.RaggedFeature(lib.int64, partitions=[lib.io.RaggedFeature.UniformRowLength(2)])})


@case([{"v": [[[1], [2, 3]], [[4]]]}], infeed=expect([], raises="Unimplemented"), differs="parse_example gives what is ragged in one dimension")
def test_ragged_feature_of_rows(lib):
    protos = [example(v=integers(1, 2, 3), n=integers(1, 2)), example(v=integers(4), n=integers(1))]
    return parsed(lib, protos, lambda lib: {"v": lib.io.RaggedFeature(lib.int64, partitions=[lib.io.RaggedFeature.RowLengths("n")])})


@case([], raises="InvalidArgument")
def test_wrong_dtype_of_ragged(lib):
    return parsed(lib, TWO, lambda lib: {"i": lib.io.RaggedFeature(lib.string)})


@case([], raises="Value")
def test_int32_ragged_feature(lib):
    return parsed(lib, TWO, lambda lib: {"i": lib.io.RaggedFeature(lib.int32)})


@case([{"v": [[], []]}])
def test_default_of_no_values(lib):
    return parsed(lib, [example(v=integers())] * 2, lambda lib: {"v": lib.io.FixedLenFeature([0], lib.int64, default_value=[])})


@case([], raises="InvalidArgument")
def test_default_of_no_values_is_none(lib):
    return parsed(lib, TWO, lambda lib: {"v": lib.io.FixedLenFeature([0], lib.string, default_value=[])})


@case([{"i": [7, 5]}], infeed=expect([], raises="InvalidArgument"), differs="An example that is cut is an error")
def test_a_field_that_is_cut(lib):
    return parsed(lib, [TWO[0], b"junk"], lambda lib: {"i": lib.io.FixedLenFeature([], lib.int64, 5)})
