"""The functions inside `Dataset.map`: run natively, over elements whose results differ in shape."""

import numpy as np
import pytest
from messages import example, sequence

import infeed
from infeed import InvalidArgumentError, io

ROWS = [example(x=[float(i), 1.0], v=list(range(i % 3)), s=b"s%d" % i) for i in range(20)]
SEQUENCES = [sequence({"c": i}, w=[[1]] * (i % 4)) for i in range(20)]
FIXED = {"x": io.FixedLenFeature([2], "float32"), "s": io.FixedLenFeature([], "string")}
MORE = {**FIXED, "v": io.VarLenFeature("int64"), "w": io.FixedLenSequenceFeature([], "int64", allow_missing=True)}
CONTEXT, LISTS = {"c": io.FixedLenFeature([], "int64")}, {"w": io.FixedLenSequenceFeature([1], "int64")}


def plain(value):
    """An element in plain Python."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    return value if isinstance(value, bytes) else np.asarray(value).tolist()


FUNCTIONS = {
    "parse_single_example": (ROWS, lambda v: io.parse_single_example(v, FIXED)),
    "any length": (ROWS, lambda v: io.parse_single_example(v, MORE)),
    "parse_single_sequence_example": (SEQUENCES, lambda v: io.parse_single_sequence_example(v, CONTEXT, LISTS)),
    "decode_raw": ([b"ab" * (i % 3) for i in range(20)], lambda v: io.decode_raw(v, "int16")),
    "decode_csv": ([b"%d,x" % i for i in range(20)], lambda v: tuple(io.decode_csv(v, [[0], [""]]))),
    "parse_tensor": ([io.serialize_tensor(np.arange(i % 3)) for i in range(20)], lambda v: io.parse_tensor(v, "int64", shape=[None])),
    "serialize_tensor": ([b"a" * i for i in range(20)], lambda v: io.serialize_tensor(v)),
    "read_file": ([__file__.encode()] * 3, lambda v: io.read_file(v)),
    "two operations": (ROWS, lambda v: io.decode_raw(io.parse_single_example(v, FIXED)["s"], "uint8")),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_elements_are_what_the_function_gives_for_each(name):
    values, fn = FUNCTIONS[name]
    ds = infeed.Dataset.from_tensor_slices(values).map(fn)
    assert [plain(e) for e in ds.as_numpy_iterator()] == [plain(fn(v)) for v in values]
    assert "Python" not in ds.explain()


@pytest.mark.parametrize("features", [FIXED, MORE])
def test_batches(features):
    def fn(v):
        return io.parse_example(v, features)

    ds = infeed.Dataset.from_tensor_slices(ROWS).batch(6).map(fn)
    assert [plain(e) for e in ds.as_numpy_iterator()] == [plain(fn(ROWS[i:i + 6])) for i in range(0, 20, 6)]
    assert "Python" not in ds.explain()


def test_batches_of_sequences():
    def fn(v):
        return io.parse_sequence_example(v, CONTEXT, LISTS)

    ds = infeed.Dataset.from_tensor_slices(SEQUENCES).batch(7).map(fn)
    assert [plain(e) for e in ds.as_numpy_iterator()] == [plain(fn(SEQUENCES[i:i + 7])) for i in range(0, 20, 7)]
    assert "Python" not in ds.explain()


def test_a_bad_element_comes_after_the_good_ones():
    ds = infeed.Dataset.from_tensor_slices([*ROWS[:13], b"nonsense", ROWS[13]]).map(lambda v: io.parse_single_example(v, FIXED))
    seen = []
    with pytest.raises(InvalidArgumentError, match="the example cannot be read"):
        for e in ds.as_numpy_iterator():
            seen.append(e["s"])
    assert seen == [b"s%d" % i for i in range(13)]


def test_specs():
    ds = infeed.Dataset.from_tensor_slices(ROWS).map(lambda v: io.parse_single_example(v, MORE))
    spec = ds.element_spec
    assert {k: (s.shape, s.dtype.name) for k, s in spec.items()} == {
        "x": ((2,), "float32"), "s": ((), "object"), "v": ((None,), "int64"), "w": ((None,), "int64")}
    raw = infeed.Dataset.from_tensor_slices([[b"ab"], [b"c"]])
    assert raw.map(lambda v: io.decode_raw(v, "int16", fixed_length=4)).element_spec.shape == (1, 2)
    assert raw.map(lambda v: io.decode_raw(v, "int16")).element_spec.shape == (1, None)
    assert raw.map(lambda v: io.parse_tensor(v[0], "int16", shape=[None, 2])).element_spec.shape == (None, 2)
