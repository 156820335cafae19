"""save(format="tf"): what tf.data.Dataset.load, and Dataset.load here, read back equal."""

import collections
import os
import pathlib
import signal
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import infeed

Point = collections.namedtuple("Point", ["y", "x"])
NUMBERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
           "complex64", "complex128", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e4m3b11fnuz,
           ml_dtypes.float8_e5m2fnuz, ml_dtypes.int4, ml_dtypes.uint4]


@pytest.fixture(scope="module")
def tf():
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed")


def kinds():
    """Datasets of all kinds of elements that TensorFlow has."""
    slices = infeed.Dataset.from_tensor_slices
    yield "scalars", infeed.Dataset.range(300)
    yield "no elements", infeed.Dataset.range(0)
    yield "one component in a tuple", slices((np.arange(3),))
    yield "nested", slices(({"x": np.ones((5, 2, 3), "float32"), "a": [b"one", b"", b"three", b"\0", b"5" * 7000]}, (np.arange(5), Point(np.ones(5), np.arange(5)))))
    yield "zero-size", slices((np.ones((6, 0, 3), "int16"), np.arange(6)))
    yield "no strings", slices((np.zeros((2, 0), "S1"), np.arange(2)))
    yield "shapes that differ", infeed.Dataset.range(20).map(lambda x: {"v": np.full((int(x) % 3, 2), x), "t": np.array([b"x"] * (int(x) % 2), object)})
    yield "large", slices(np.random.default_rng(1).integers(0, 255, (2, 1 << 20), "uint8"))
    for dtype in NUMBERS:
        yield np.dtype(dtype).name, slices((np.arange(12).reshape(6, 2).astype(dtype), np.arange(6).astype(dtype)))
    yield "strings of a fixed size", slices((np.array([b"ab", b"", b"a\0b"]), np.array(["é", "", "a\0b"])))


def same(a, b):
    """Whether an element is equal to one of TensorFlow's: structure, dtypes, shapes and values."""
    if isinstance(a, dict):
        return isinstance(b, dict) and set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        names = getattr(a, "_fields", None)
        return names == getattr(b, "_fields", None) and (names is None or type(a).__name__ == type(b).__name__) and len(a) == len(b) and all(map(same, a, b))
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "U":
        a = np.char.encode(a, "utf-8")
    if a.dtype.kind in "OS":
        return a.shape == b.shape and list(map(bytes, a.ravel())) == list(map(bytes, b.ravel()))
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def of_tensorflow(tf, path, compression):
    ds = tf.data.Dataset.load(str(path), compression=compression)
    return ds, [tf.nest.map_structure(lambda t: t.numpy(), e) for e in ds]


def check(tf, ds, path, compression):
    ds.save(path, compression, format="tf")
    want = list(ds)
    loaded, got = of_tensorflow(tf, path, None if compression in (None, "NONE") else "SNAPPY" if compression == "AUTO" else compression)
    assert len(got) == len(want) == loaded.cardinality()
    assert all(map(same, want, got))
    again = infeed.Dataset.load(path)
    assert len(list(again)) == again.cardinality() == len(want)
    assert all(map(same, got, again))  # strings are strings of any size now
    return loaded, again


@pytest.mark.parametrize("name", [n for n, _ in kinds()])
def test_tensorflow_reads_what_is_saved(name, tf, tmp_path):
    ds = dict(kinds())[name]
    loaded, again = check(tf, ds, tmp_path / "a folder ü", None)
    for ours, theirs in zip(ds._node.specs, tf.nest.flatten(loaded.element_spec)):
        assert ours.shape == tuple(theirs.shape)
        assert ours.dtype.kind in "OSU" and theirs.dtype == tf.string or ours.dtype == theirs.dtype.as_numpy_dtype
    assert [s.shape for s in again._node.specs] == [s.shape for s in ds._node.specs]


@pytest.mark.parametrize("compression", ["NONE", "GZIP", "SNAPPY", "AUTO"])
def test_with_each_compression(compression, tf, tmp_path):
    for name, ds in kinds():
        if name in ("scalars", "no elements", "nested", "large"):  # TensorFlow cannot read its own Snappy of large tensors
            check(tf, ds, tmp_path / name, compression)


def test_shards(tf, tmp_path):
    ds = infeed.Dataset.from_tensor_slices({"x": np.arange(10), "t": [b"%d" % i for i in range(10)]})
    ds.save(tmp_path, shard_func=lambda e: e["x"] % 3, format="tf")
    loaded, got = of_tensorflow(tf, tmp_path, None)
    assert sorted((int(e["x"]), e["t"]) for e in got) == [(i, b"%d" % i) for i in range(10)]
    in_turn = tf.data.Dataset.load(str(tmp_path), reader_func=lambda shards: shards.flat_map(lambda x: x))
    assert [int(e["x"]) for e in in_turn] == [int(e["x"]) for e in infeed.Dataset.load(tmp_path)] == [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]


def test_saving_again(tf, tmp_path):
    infeed.Dataset.range(9).save(tmp_path, format="tf")

    def bad(x):
        if x == 5:
            raise KeyError("five")
        return x

    with pytest.raises(KeyError, match="five"):
        infeed.Dataset.range(9).map(bad).save(tmp_path, format="tf")
    assert [int(x) for x in of_tensorflow(tf, tmp_path, None)[1]] == list(range(9))
    assert len(os.listdir(tmp_path)) == 3
    infeed.Dataset.load(tmp_path).concatenate(infeed.Dataset.range(2)).save(tmp_path, format="tf")  # of itself, which tf.data loses
    assert [int(x) for x in of_tensorflow(tf, tmp_path, None)[1]] == [*range(9), 0, 1]
    infeed.Dataset.from_tensor_slices([b"a"]).save(tmp_path, format="tf")
    assert of_tensorflow(tf, tmp_path, None)[1] == [b"a"]
    infeed.Dataset.range(2).save(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["chunks", "manifest.json"]
    tf.data.Dataset.range(4).save(str(tmp_path))
    infeed.Dataset.range(3).save(tmp_path, format="tf")
    assert [int(x) for x in infeed.Dataset.load(tmp_path)] == [0, 1, 2]


def rows(k):
    return np.full((int(k) % 3, 2), k)


def test_ragged_tensors(tf, tmp_path):
    vectors = infeed.Dataset.range(10).map(lambda k: np.arange(int(k) % 4)).ragged_batch(4)
    words = infeed.Dataset.range(5).map(lambda k: np.array([b"x" * int(k)] * (int(k) % 3), object)).ragged_batch(2, row_splits_dtype="int32")
    for name, ds in [("vectors", vectors), ("matrices", infeed.Dataset.range(7).map(rows).ragged_batch(3)), ("words", words),
                     ("numbered", vectors.enumerate())]:
        for compression in (None, "GZIP", "SNAPPY"):
            ds.save(tmp_path / name, compression, format="tf")
            loaded = tf.data.Dataset.load(str(tmp_path / name), compression=compression)
            again = infeed.Dataset.load(tmp_path / name)
            assert len(list(ds)) == len(list(loaded)) == again.cardinality()
            for ours, theirs, back in zip(ds, loaded, again):
                if isinstance(ours, tuple):
                    assert int(ours[0]) == int(theirs[0]) == int(back[0])
                    ours, theirs, back = ours[1], theirs[1], back[1]
                assert isinstance(theirs, tf.RaggedTensor) and theirs.ragged_rank == 1
                assert [r.tolist() for r in ours] == theirs.to_list() == [r.tolist() for r in back]
                assert all(r.dtype == b.dtype for r, b in zip(ours, back)) and (ours[0].dtype.hasobject or theirs.dtype == ours[0].dtype)
    again = tf.data.Dataset.load(str(tmp_path / "numbered"), compression="SNAPPY")
    again.save(str(tmp_path / "theirs"))  # which TensorFlow takes as its own
    assert [r.to_list() for _, r in tf.data.Dataset.load(str(tmp_path / "theirs"))] == [[r.tolist() for r in e] for e in vectors]
    vectors.unbatch().save(tmp_path / "rows", format="tf")
    assert [r.numpy().tolist() for r in tf.data.Dataset.load(str(tmp_path / "rows"))] == [list(range(k % 4)) for k in range(10)]
    mixed = infeed.Dataset.range(4).map(lambda k: np.zeros((1, int(k)))).ragged_batch(4)
    with pytest.raises(infeed.UnimplementedError, match="element 0.*rows of shapes.*padded_batch"):
        mixed.save(tmp_path / "mixed", format="tf")
    assert not (tmp_path / "mixed").exists()


def test_sparse_tensors(tf, tmp_path):
    def example(k):
        feature = {"v": tf.train.Feature(int64_list=tf.train.Int64List(value=range(k)))}
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    ds = infeed.Dataset.from_tensor_slices([example(k) for k in range(7)]).batch(3)
    ds = ds.map(lambda r: infeed.io.parse_example(r, {"v": infeed.io.VarLenFeature("int64")}))
    ds.save(tmp_path / "s", format="tf")
    loaded = list(tf.data.Dataset.load(str(tmp_path / "s")))
    again = infeed.Dataset.load(tmp_path / "s")
    assert len(loaded) == 3
    for ours, theirs, back in zip(ds, loaded, again):
        assert isinstance(theirs["v"], tf.SparseTensor) and isinstance(back["v"], infeed.io.SparseTensor)
        for name in ("indices", "values", "dense_shape"):
            assert np.array_equal(getattr(ours["v"], name), getattr(theirs["v"], name)) and np.array_equal(getattr(ours["v"], name), getattr(back["v"], name))
    again.save(tmp_path / "again", format="tf")  # as TensorFlow's own
    assert all(np.array_equal(a["v"].values, b["v"].values) for a, b in zip(loaded, tf.data.Dataset.load(str(tmp_path / "again"))))


def test_tensors_of_any_rank(tf, tmp_path):
    values = [np.float32(1), np.ones(2, "float32"), np.ones((2, 3), "float32")]
    tf.data.Dataset.from_generator(lambda: iter(values), output_signature=tf.TensorSpec(None, tf.float32)).save(str(tmp_path / "theirs"))
    infeed.Dataset.load(tmp_path / "theirs").save(tmp_path / "ours", format="tf")
    loaded = tf.data.Dataset.load(str(tmp_path / "ours"))
    assert loaded.element_spec.shape.rank is None
    assert [x.numpy().tolist() for x in loaded] == [v.tolist() for v in values] == [np.asarray(x).tolist() for x in infeed.Dataset.load(tmp_path / "ours")]


@pytest.mark.parametrize("make,error,text", [
    (lambda d: d.from_tensor_slices(np.arange(3).astype("M8[s]")), infeed.UnimplementedError, "datetime64.*int64"),
    (lambda d: d.range(3).map(lambda x: ()), infeed.UnimplementedError, "without components"),
    (lambda d: d.from_tensor_slices({2: np.arange(3)}), infeed.InvalidArgumentError, "str keys only, and this one has 2"),
    (lambda d: d.range(3).repeat(), infeed.InvalidArgumentError, "infinite"),
    (lambda d: d.range(4).map(lambda k: np.arange(int(k))).ragged_batch(2).batch(2), infeed.UnimplementedError, "batches of ragged batches"),
    (lambda d: d.range(4).window(2), infeed.InvalidArgumentError, "cannot be stored"),
])
def test_what_tensorflow_does_not_have(make, error, text, tmp_path):
    with pytest.raises(error, match=text):
        make(infeed.Dataset).save(tmp_path / "s", format="tf")
    assert not os.path.exists(tmp_path / "s")


def test_compressions_that_tensorflow_does_not_have(tmp_path):
    with pytest.raises(infeed.InvalidArgumentError, match="ZSTD.*TensorFlow does not read"):
        infeed.Dataset.range(3).save(tmp_path / "s", "ZSTD", format="tf")


KILLED = """
import sys, infeed, time
def slow(x):
    if int(x) == 20:
        print("begun", flush=True)
    time.sleep(0.0002)
    return x
infeed.Dataset.range(10000).map(slow).save(sys.argv[1], format="tf")
print("done", flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_is_broken_off_is_not_there(how, tmp_path):
    """A process that is killed while it saves leaves what was saved before; one that is interrupted leaves nothing else either."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    infeed.Dataset.range(7).save(tmp_path / "s", format="tf")
    for folder in ("s", "new"):
        process = subprocess.Popen([sys.executable, script, tmp_path / folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout.readline() == "begun\n"
        process.send_signal(how)
        assert process.communicate()[0] == ""
        assert process.returncode == -how
    assert [int(x) for x in infeed.Dataset.load(tmp_path / "s")] == list(range(7))
    with pytest.raises(infeed.NotFoundError):
        infeed.Dataset.load(tmp_path / "new")
    if how == signal.SIGINT:
        assert len(os.listdir(tmp_path / "s")) == 3 and not (tmp_path / "new").exists()
    infeed.Dataset.range(5).save(pathlib.Path(tmp_path / "new"), format="tf")
    assert [int(x) for x in infeed.Dataset.load(tmp_path / "new")] == list(range(5))
