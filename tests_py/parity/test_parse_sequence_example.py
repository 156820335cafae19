"""io.parse_sequence_example: (context, sequences, lengths of the sequences)."""

from cases import case
from files import floats, integers, sequence_example, texts

ONE = sequence_example({"id": integers(7), "tag": texts(b"x")}, {"a": [integers(1), integers(2)], "b": [floats(0.5, 1.5)]})
TWO = sequence_example({"id": integers(8), "tag": texts(b"y")}, {"a": [integers(3)], "b": [floats(2.5, 3.5), floats(4.5, 5.5)]})


def parsed(lib, context=None, sequence=None, protos=(ONE, TWO), **more):
    """Serialised sequence examples, parsed as one batch."""
    make = {k: f(lib) for k, f in (("context_features", context), ("sequence_features", sequence)) if f}
    ds = lib.Dataset.from_tensor_slices(list(protos)).batch(len(protos))
    return ds.map(lambda batch: lib.io.parse_sequence_example(batch, **make, **more))


@case([({"id": [7, 8], "tag": [b"x", b"y"]}, {}, {})])
def test_context(lib):
    return parsed(lib, lambda lib: {"id": lib.io.FixedLenFeature([], lib.int64), "tag": lib.io.FixedLenFeature([], lib.string)})


@case([({}, {"a": [[1, 2], [3, 0]]}, {"a": [2, 1]})])
def test_sequence(lib):
    return parsed(lib, None, lambda lib: {"a": lib.io.FixedLenSequenceFeature([], lib.int64)})


@case([({"id": [7, 8]}, {"b": [[[0.5, 1.5], [0.0, 0.0]], [[2.5, 3.5], [4.5, 5.5]]]}, {"b": [1, 2]})])
def test_both(lib):
    return parsed(lib, lambda lib: {"id": lib.io.FixedLenFeature([], lib.int64)},
                  lambda lib: {"b": lib.io.FixedLenSequenceFeature([2], lib.float32)})


@case([({"none": [5, 5]}, {}, {})])
def test_default_in_the_context(lib):
    return parsed(lib, lambda lib: {"none": lib.io.FixedLenFeature([], lib.int64, 5)})


@case([({}, {"none": [[], []]}, {"none": [0, 0]})])
def test_missing_sequence_that_may(lib):
    return parsed(lib, None, lambda lib: {"none": lib.io.FixedLenSequenceFeature([], lib.int64, allow_missing=True)})


@case([({}, {"a": {"indices": [[0, 0, 0], [0, 1, 0], [1, 0, 0]], "values": [1, 2, 3], "shape": [2, 2, 1]}}, {})])
def test_var_len_sequence(lib):
    return parsed(lib, None, lambda lib: {"a": lib.io.VarLenFeature(lib.int64)})


@case([({"id": {"indices": [[0, 0], [1, 0]], "values": [7, 8], "shape": [2, 1]}}, {}, {})])
def test_var_len_context(lib):
    return parsed(lib, lambda lib: {"id": lib.io.VarLenFeature(lib.int64)})


@case([({"id": [7, 8]}, {}, {})])
def test_example_names(lib):
    return parsed(lib, lambda lib: {"id": lib.io.FixedLenFeature([], lib.int64)}, example_names=["p", "q"])


@case([], raises="InvalidArgument")
def test_missing_context(lib):
    return parsed(lib, lambda lib: {"none": lib.io.FixedLenFeature([], lib.int64)})


@case([], raises="InvalidArgument")
def test_missing_sequence(lib):
    return parsed(lib, None, lambda lib: {"none": lib.io.FixedLenSequenceFeature([], lib.int64)})


@case([], raises="InvalidArgument")
def test_wrong_dtype(lib):
    return parsed(lib, None, lambda lib: {"a": lib.io.FixedLenSequenceFeature([], lib.float32)})


@case([], raises="InvalidArgument")
def test_not_a_sequence_example(lib):
    return parsed(lib, lambda lib: {"id": lib.io.FixedLenFeature([], lib.int64)}, protos=[b"not a proto"])


@case([], raises="Value")
def test_no_features(lib):
    return parsed(lib)
