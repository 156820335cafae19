"""parse_example and parse_single_example."""

import numpy as np
import pytest
from both import Case, can_be_traced, differences, eager, of_tensorflow, traced
from messages import NO_FLOATS, example

import infeed

A = example(x=[1.0, 2.0], y=3, s=[b"a", b"bc"])
B = example(x=[1.0], y=-3, s=[b"z"])
DAMAGE = "TensorFlow takes lengths beyond the end for the end, and so damage for an empty example"
LONG = example(x=[1.0, 2.0, 3.0, 4.0])


def fixed(lib, *args, **kwargs):
    return lib.io.FixedLenFeature(*args, **kwargs)


def seq(lib, shape, dtype, **kwargs):
    return lib.io.FixedLenSequenceFeature(shape, dtype, **{"allow_missing": True, **kwargs})


def single(name, x, features, **more):
    return Case(name, x, lambda lib, v: lib.io.parse_single_example(v, features(lib)), **more)


def batch(name, x, features, **more):
    return Case("batch: " + name, x, lambda lib, v: lib.io.parse_example(v, features(lib)), **more)


def default(name, x, **more):
    """A case of default_value: the feature q, which no example has."""
    return single("default: " + name, A, lambda lib: {"q": x(lib)}, **more)


FIXED = [
    single("all", A, lambda t: {"x": fixed(t, [2], t.float32), "y": fixed(t, [], t.int64), "s": fixed(t, [2], t.string)}),
    single("shape as an int", A, lambda t: {"x": fixed(t, 2, t.float32)}),
    single("shape as a tuple", A, lambda t: {"y": fixed(t, (), t.int64)}),
    single("shape as an array", A, lambda t: {"x": fixed(t, np.array([2]), t.float32)}),
    single("two dimensions", A, lambda t: {"x": fixed(t, [1, 2], t.float32), "s": fixed(t, [2, 1, 1], t.string)}),
    single("negative int", B, lambda t: {"y": fixed(t, [], t.int64)}),
    single("shape None in it", A, lambda t: {"x": fixed(t, [None], t.float32)}),
    single("no shape", A, lambda t: {"x": fixed(t, None, t.float32)}),
    single("shape -1", A, lambda t: {"x": fixed(t, [-1], t.float32)}),
    single("shape 0", A, lambda t: {"x": fixed(t, [0], t.float32)}),
    single("shape 0, not there", A, lambda t: {"q": fixed(t, [0], t.float32)}),
    single("too few values", A, lambda t: {"x": fixed(t, [3], t.float32)}),
    single("too many values", A, lambda t: {"x": fixed(t, [], t.float32)}),
    single("another dtype", A, lambda t: {"x": fixed(t, [2], t.int64)}),
    single("text for a number", A, lambda t: {"s": fixed(t, [2], t.int64)}),
    single("a number for text", A, lambda t: {"y": fixed(t, [], t.string)}),
    single("missing", A, lambda t: {"q": fixed(t, [], t.int64)}),
    single("a feature without a list", example(x=None), lambda t: {"x": fixed(t, [], t.float32, 5.0)}),
    single("a feature with an empty list", example(x=NO_FLOATS), lambda t: {"x": fixed(t, [], t.float32, 5.0)}),
    single("no bytes", b"", lambda t: {"x": fixed(t, [2], t.float32, [1.0, 2.0])}),
    single("the same key twice", example(x=1) + example(x=2), lambda t: {"x": fixed(t, [], t.int64)}),
    batch("all", [A, A], lambda t: {"x": fixed(t, [2], t.float32), "y": fixed(t, [], t.int64), "s": fixed(t, [2], t.string)}),
    batch("one", [A], lambda t: {"y": fixed(t, [1], t.int64)}),
    batch("default in some", [A, example(), B], lambda t: {"y": fixed(t, [], t.int64, 9)}),
    batch("missing in the second", [A, example()], lambda t: {"y": fixed(t, [], t.int64)}),
    batch("a single text", A, lambda t: {"y": fixed(t, [], t.int64), "x": t.io.VarLenFeature(t.float32)}),
    batch("a matrix", [[A, A]], lambda t: {"y": fixed(t, [], t.int64)}),
    batch("empty", [], lambda t: {"x": fixed(t, [2], t.float32), "y": t.io.VarLenFeature(t.int64), "z": seq(t, [], t.string)}),
]
DTYPES = [
    *(single(f"dtype {d!r}", A, lambda t, d=d, k=k: {k: fixed(t, [2], d)})
      for d, k in ((np.float32, "x"), ("float32", "x"), (float, "x"), ("string", "s"), (object, "s"))),
    *(single(f"dtype {d}", A, lambda t, d=d: {"x": fixed(t, [2], getattr(t, d))}) for d in ("int32", "float64", "bool", "uint8")),
    single("dtype None", A, lambda t: {"x": fixed(t, [2], None)}),
    single("what is no dtype", A, lambda t: {"x": fixed(t, [2], "what")}),
    single("dtype int", A, lambda t: {"y": fixed(t, [], int)}, why="NumPy's dtypes", gives={"y": np.array(3)}),
    single("var of int32", A, lambda t: {"x": t.io.VarLenFeature(t.int32)}),
    single("var without dtype", A, lambda t: {"x": t.io.VarLenFeature(None)}),
    single("sequence of int32", A, lambda t: {"x": seq(t, [], t.int32)}),
]
DEFAULTS = [
    default("scalar", lambda t: fixed(t, [], t.int64, 7)),
    default("list", lambda t: fixed(t, [2], t.int64, [7, 8])),
    default("nested", lambda t: fixed(t, [2, 1], t.float32, [[7], [8.5]])),
    default("flat for two dimensions", lambda t: fixed(t, [1, 2], t.int64, [7, 8])),
    default("one in a list for a scalar", lambda t: fixed(t, [], t.int64, [7])),
    default("scalar for two", lambda t: fixed(t, [2], t.int64, 7)),
    default("three for two", lambda t: fixed(t, [2], t.int64, [7, 8, 9])),
    default("float for int", lambda t: fixed(t, [], t.int64, 7.5)),
    default("int for float", lambda t: fixed(t, [], t.float32, 7)),
    default("bool for int", lambda t: fixed(t, [], t.int64, True)),
    default("bool for float", lambda t: fixed(t, [], t.float32, True)),
    default("text for int", lambda t: fixed(t, [], t.int64, "a")),
    default("int for text", lambda t: fixed(t, [], t.string, 1)),
    default("str", lambda t: fixed(t, [], t.string, "\u00e9")),
    default("bytes", lambda t: fixed(t, [2], t.string, [b"\0", b""])),
    default("array", lambda t: fixed(t, [2], t.int64, np.array([1, 2]))),
    default("array of another int", lambda t: fixed(t, [2], t.int64, np.array([1, 2], np.int32))),
    default("an int beyond int64", lambda t: fixed(t, [], t.int64, 1 << 63), why="an overflow is a TypeError", gives=TypeError()),
    default("not used", lambda t: fixed(t, [], t.int64, 7)),
]
ANY_LENGTH = [
    single("var", A, lambda t: {"x": t.io.VarLenFeature(t.float32), "s": t.io.VarLenFeature(t.string)}),
    single("var, not there", A, lambda t: {"q": t.io.VarLenFeature(t.int64)}),
    single("var of another dtype", A, lambda t: {"x": t.io.VarLenFeature(t.int64)}),
    batch("var", [A, example(), B], lambda t: {"x": t.io.VarLenFeature(t.float32), "s": t.io.VarLenFeature(t.string)}),
    batch("var, not there", [A, B], lambda t: {"q": t.io.VarLenFeature(t.float32)}),
    batch("var of another dtype", [A, example(s=1)], lambda t: {"s": t.io.VarLenFeature(t.string)}),
    single("sequence", A, lambda t: {"x": seq(t, [], t.float32)}),
    single("sequence, not there", A, lambda t: {"q": seq(t, [3], t.string)}),
    single("sequence of pairs", LONG, lambda t: {"x": seq(t, [2], t.float32)}),
    single("sequence of (1, 2)", LONG, lambda t: {"x": seq(t, [1, 2], t.float32)}),
    single("sequence that does not divide", LONG, lambda t: {"x": seq(t, [3], t.float32)}),
    single("sequence of unknown", A, lambda t: {"x": seq(t, [None], t.float32)}),
    single("sequence without shape", A, lambda t: {"x": seq(t, None, t.float32)}, why="no shape is said so", gives=ValueError()),
    single("sequence without allow_missing", A, lambda t: {"x": t.io.FixedLenSequenceFeature([], t.float32)}),
    single("sequence of another dtype", A, lambda t: {"x": seq(t, [], t.int64)}),
    batch("sequence", [A, example(), B], lambda t: {"x": seq(t, [], t.float32), "s": seq(t, [], t.string)}),
    batch("sequence of pairs", [LONG, A], lambda t: {"x": seq(t, [2], t.float32)}),
    batch("sequence, default", [LONG, A], lambda t: {"x": seq(t, [2], t.float32, default_value=5.0)}),
    batch("sequence, default text", [A, B], lambda t: {"s": seq(t, [], t.string, default_value="pp")}),
    batch("sequence, default of two", [A, B], lambda t: {"x": seq(t, [], t.float32, default_value=[5.0, 6.0])}),
    batch("sequence, not there", [A, B], lambda t: {"q": seq(t, [2], t.int64)}),
]
ARGUMENTS = [
    single("no features", A, lambda t: {}),
    single("features None", A, lambda t: None),
    single("features as a list", A, lambda t: [("x", fixed(t, [2], t.float32))], why="what is no dict is an InvalidArgumentError",
           gives=ValueError()),
    single("a number as feature", A, lambda t: {"x": 3}),
    single("a dtype as feature", A, lambda t: {"x": t.float32}),
    single("an int as key", A, lambda t: {1: fixed(t, [], t.int64)}),
    single("bytes as key", A, lambda t: {b"y": fixed(t, [], t.int64)}),
    single("a vector", [A], lambda t: {"y": fixed(t, [], t.int64)}),
    single("a number", 3, lambda t: {"y": fixed(t, [], t.int64)}),
    single("None", None, lambda t: {"y": fixed(t, [], t.int64)}),
    batch("numbers", np.array([3, 4]), lambda t: {"y": fixed(t, [], t.int64)}),
    batch("an array", np.array([A, A], object), lambda t: {"y": fixed(t, [], t.int64)}),
    single("cut", A[:-1], lambda t: {"y": fixed(t, [], t.int64)}),
    single("no example", b"nonsense", lambda t: {"y": fixed(t, [], t.int64, 1)}),
    batch("the second cut", [A, A[:-1]], lambda t: {"y": fixed(t, [], t.int64)}),
    single("a length beyond the end", b"\x0a\xff\xff\xff\xff\x07", lambda t: {"y": fixed(t, [], t.int64, 1)}, why=DAMAGE,
           gives=ValueError()),
    single("a length of 2^63", b"\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", lambda t: {"y": fixed(t, [], t.int64, 1)}, why=DAMAGE,
           gives=ValueError()),
    Case("names", [A, example()], lambda t, v: t.io.parse_example(v, {"y": fixed(t, [], t.int64)}, example_names=["n0", "n1"])),
    Case("too few names", [A, A], lambda t, v: t.io.parse_example(v, {"y": fixed(t, [], t.int64)}, example_names=["n0"])),
    Case("a name", A, lambda t, v: t.io.parse_single_example(v, {"y": fixed(t, [], t.int64)}, example_names="n", name="op")),
]
CASES = FIXED + DTYPES + DEFAULTS + ANY_LENGTH + ARGUMENTS


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_tensorflow(case, tensorflow, infeed):
    ours, theirs = eager(infeed, case), of_tensorflow(tensorflow, case)
    if case.why:
        assert differences(ours, theirs), "TensorFlow gives the same by now"
        theirs = case.gives
    assert not differences(ours, theirs)


@pytest.mark.parametrize("case", [c for c in CASES if can_be_traced(c)], ids=str)
def test_traced(case, infeed):
    ours, now = traced(infeed, case), eager(infeed, case)
    if isinstance(now, Exception):
        assert isinstance(ours, str) and str(now) in ours or isinstance(ours, Exception) and str(ours) == str(now)
    else:
        assert not differences(ours, now)


@pytest.mark.parametrize("says, feature", [
    ("feature 'q' has no shape; give one", lambda io: io.FixedLenFeature(None, "int64")),
    ("feature 'q' has the shape .-1.; dimensions are 0 or more", lambda io: io.FixedLenFeature([-1], "int64")),
    ("for any number of values use FixedLenSequenceFeature or VarLenFeature", lambda io: io.FixedLenFeature([None], "int64")),
    ("default_value of 1 values for the shape .2.", lambda io: io.FixedLenFeature([2], "int64", 3)),
    ("default_value of 2 values; steps are filled up with one", lambda io: seq_of_two(io)),
    ('feature "q" .int64. is required, and is not there; the example has "s", "x", "y"', lambda io: io.FixedLenFeature([], "int64")),
    ("feature 'q' has the partitions .RowLengths.key='a'., RowSplits.key='b'..; none, or one of RowLengths",
     lambda io: io.RaggedFeature("int64", partitions=[io.RaggedFeature.RowLengths("a"), io.RaggedFeature.RowSplits("b")])),
    ("feature 'q' has the partitions .ValueRowIds", lambda io: io.RaggedFeature("int64", partitions=[io.RaggedFeature.ValueRowIds("a")])),
    ("feature 'q' has rows of length 0; give a number, 1 or more", lambda io: io.RaggedFeature("int64", "x", io.RaggedFeature.UniformRowLength(0))),
    ("feature 'q' has row_splits_dtype int8; it must be int32 or int64", lambda io: io.RaggedFeature("int64", row_splits_dtype="int8")),
    ("feature 'q' has no dtype; give one", lambda io: io.VarLenFeature(None)),
    ("feature 'q' has dtype int32; examples hold float32, int64 and text", lambda io: io.VarLenFeature("int32")),
])
def test_what_errors_say(infeed, says, feature):
    with pytest.raises((ValueError, NotImplementedError), match=says):
        infeed.io.parse_single_example(A, {"q": feature(infeed.io)})


def seq_of_two(io):
    return io.FixedLenSequenceFeature([], "int64", allow_missing=True, default_value=[1, 2])


@pytest.mark.parametrize("fill", [None, -1])
def test_a_sparse_tensor_is_made_dense_as_tensorflow_does(fill):
    import tensorflow as tf

    ours, theirs = (io.parse_example([A, B, LONG], {"x": io.VarLenFeature("float32"), "s": io.VarLenFeature(text)})
                    for io, text in ((infeed.io, "string"), (tf.io, tf.string)))
    assert ours["x"].to_dense(fill).tolist() == tf.sparse.to_dense(theirs["x"], fill).numpy().tolist()
    assert ours["s"].to_dense().tolist() == tf.sparse.to_dense(theirs["s"]).numpy().tolist()
