"""Dataset.snapshot, save and load: what is stored is what comes back."""

import collections
import os
import pathlib

import ml_dtypes
import numpy as np
import pytest

import infeed
import infeed.testing

COMPRESSIONS = [None, "NONE", "AUTO", "GZIP", "SNAPPY", "ZSTD"]
DTYPES = ["bool", *"bhilqBHILQefdgFDG", "S5", "U3", "M8[ns]", "M8[D]", "m8[s]", ">i4", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4]
Pair = collections.namedtuple("Pair", ["first", "second"])


def same(a, b):
    """Whether two elements are equal: structure, dtypes, shapes and values."""
    if isinstance(a, dict):
        return type(a) is type(b) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tuple):
        return getattr(a, "_fields", ()) == getattr(b, "_fields", ()) and len(a) == len(b) and all(map(same, a, b))
    x, y = np.asarray(a), np.asarray(b)
    if x.dtype.hasobject:
        return x.shape == y.shape and all(np.array_equal(p, q) if isinstance(p, np.ndarray) else p == q for p, q in zip(x.ravel(), y.ravel()))
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def elements():
    """Datasets of all kinds of elements."""
    slices = infeed.Dataset.from_tensor_slices
    yield "scalars", infeed.Dataset.range(100)
    yield "no elements", infeed.Dataset.range(0)
    yield "nested", slices(({"x": np.ones((5, 2, 3), "float32"), "a": [b"one", b"", b"three", b"\0", b"5" * 70000]}, (np.arange(5),)))
    yield "numbers as keys", slices({2: np.arange(3), 1: np.ones(3)})
    yield "named tuple", slices(Pair(np.arange(4), [b"a", b"b", b"c", b"d"]))
    yield "zero-size", slices(np.ones((6, 0, 3), "int16"))
    yield "no components", infeed.Dataset.range(3).map(lambda x: ())
    yield "ragged", infeed.Dataset.range(9).map(lambda x: np.arange(int(x) % 4)).ragged_batch(4)
    yield "ragged, batched", infeed.Dataset.range(8).map(lambda x: np.arange(int(x) % 4)).ragged_batch(2).batch(2)
    yield "rows of ragged batches", infeed.Dataset.range(9).map(lambda x: np.arange(int(x) % 4)).ragged_batch(4, row_splits_dtype="int32").unbatch()
    yield "shapes that differ", infeed.Dataset.range(20).map(lambda x: {"v": np.full((int(x) % 3, 2), x), "t": np.array([b"x"] * (int(x) % 2), object)})
    yield "large", slices(np.random.default_rng(1).integers(0, 255, (3, 1 << 20), "uint8"))
    for dtype in DTYPES:
        yield f"{np.dtype(dtype)}", slices(np.arange(12).reshape(6, 2).astype("int64").astype(dtype))
    yield "raw bytes", slices(np.frombuffer(bytes(range(36)), "V3").reshape(6, 2))
    yield "records", slices(np.array([(k, k / 2) for k in range(6)], [("n", "<i4"), ("f", "<f8")]))


@pytest.mark.parametrize("name", [n for n, _ in elements()])
def test_what_is_stored_comes_back(name, tmp_path):
    ds = dict(elements())[name]
    want = list(ds)
    for compression in COMPRESSIONS:
        folder = tmp_path / f"a [folder] {compression} ü"
        ds.save(folder, compression)
        loaded = infeed.Dataset.load(folder)
        assert len(loaded) == len(want)
        assert all(map(same, loaded, want))
        assert [s.dtype for s in loaded._node.specs] == [s.dtype for s in ds._node.specs]
        if want:
            assert same(loaded[-1], want[-1])
    kept = ds.snapshot(tmp_path / "kept", fingerprint="1")
    for _ in range(2):
        got = list(kept)
        assert len(got) == len(want) and all(map(same, got, want))


def test_later_passes_and_datasets_read(tmp_path):
    calls = []

    def slow(x):
        calls.append(int(x))
        return x

    def make():
        return infeed.Dataset.range(50).map(slow).snapshot(tmp_path, fingerprint="1")

    ds = make()
    first = [int(x) for x in ds]
    made = len(calls)
    assert made >= 50
    assert [int(x) for x in ds] == first and [int(x) for x in make().take(50)] == first
    assert len(calls) - made <= 1  # the first element, to see what the function returns


def test_a_random_order_is_that_of_the_first_pass(tmp_path):
    def make():
        return infeed.Dataset.range(60).shuffle(60).snapshot(tmp_path)

    ds = make()
    first = [int(x) for x in ds]
    assert first != sorted(first)
    assert [int(x) for x in ds] == first == [int(x) for x in make()]
    assert sorted(int(x) for x in make().shuffle(60, seed=1)) == sorted(first)


def test_save_replaces_and_keeps_what_was_there_when_it_fails(tmp_path):
    infeed.Dataset.range(9).save(tmp_path)
    loaded = infeed.Dataset.load(tmp_path)

    def bad(x):
        if x == 5:
            raise KeyError("five")
        return x

    with pytest.raises(KeyError, match="five"):
        infeed.Dataset.range(9).map(bad).save(tmp_path)
    assert [int(x) for x in loaded] == list(range(9))
    infeed.Dataset.range(3).save(tmp_path, "ZSTD")
    assert [int(x) for x in infeed.Dataset.load(tmp_path)] == [0, 1, 2]
    assert len(os.listdir(tmp_path / "chunks")) == 1


def test_errors_come_at_their_place_in_every_pass(tmp_path):
    def bad(x):
        if x == 7:
            raise KeyError("seven")
        return x

    ds = infeed.Dataset.range(10).map(bad).snapshot(tmp_path, fingerprint="1")
    for _ in range(3):
        got = []
        with pytest.raises(KeyError, match="seven"):
            for x in ds:
                got.append(int(x))
        assert got == list(range(7))


def test_loading_says_what_is_wrong(tmp_path):
    with pytest.raises(infeed.NotFoundError):
        infeed.Dataset.load(tmp_path / "nothing")
    with pytest.raises(infeed.NotFoundError, match="no snapshot"):
        infeed.Dataset.load(tmp_path)
    infeed.Dataset.range(4).save(tmp_path / "s")
    with pytest.raises(infeed.InvalidArgumentError, match="element_spec"):
        infeed.Dataset.load(tmp_path / "s", infeed.TensorSpec((), "int32"))
    assert infeed.Dataset.load(tmp_path / "s", infeed.TensorSpec((), "int64"))[3] == 3
    chunk = next((tmp_path / "s" / "chunks").iterdir())
    text = bytearray(chunk.read_bytes())
    text[70] ^= 1
    chunk.write_bytes(text)
    with pytest.raises(infeed.DataLossError) as e:
        list(infeed.Dataset.load(tmp_path / "s"))
    assert e.value.path == str(chunk) and e.value.offset == 64
    os.remove(tmp_path / "s" / "manifest.json")
    with pytest.raises(infeed.DataLossError, match="not finished"):
        infeed.Dataset.load(tmp_path / "s")


@pytest.mark.parametrize("bad,text", [
    (lambda d, p: d.save(p, "LZ4"), "compression"), (lambda d, p: d.snapshot(p, "LZ4"), "compression"), (lambda d, p: d.save(5), "path"),
    (lambda d, p: d.save(b"\xff"), "not UTF-8"), (lambda d, p: d.snapshot(b"\xff"), "not UTF-8"), (lambda d, p: d.save(p, format="parquet"), "format"), (lambda d, p: d.snapshot(p, identity="inode"), "identity"),
    (lambda d, p: d.snapshot(p, fingerprint=3), "fingerprint"), (lambda d, p: d.repeat().save(p), "infinite"),
    (lambda d, p: list(d.repeat().snapshot(p)), "infinite"), (lambda d, p: d.window(2).save(p), "cannot be stored"),
])
def test_arguments(bad, text, tmp_path):
    with pytest.raises(infeed.InvalidArgumentError, match=text):
        bad(infeed.Dataset.range(4), tmp_path)


def test_states_hold(tmp_path):
    def make(workers, path=str(tmp_path)):
        options = infeed.Options()
        options.threading.private_threadpool_size = workers
        return infeed.Dataset.range(25).filter(lambda x: x % 3 != 1).shuffle(5, seed=2).snapshot(path).batch(2).with_options(options)

    infeed.testing.assert_resumable(make, every=3)
    infeed.Dataset.range(25).save(tmp_path / "saved")
    infeed.testing.assert_resumable(lambda workers, path=str(tmp_path / "saved"): infeed.Dataset.load(path).shuffle(seed=1).batch(2), every=4)


PATHS = ["plain", "a folder", "[x]", "*?", "{a,b}", "grüße-世界", "a'b\"c\\\\d", "-x", "%s"]


@pytest.mark.parametrize("name", PATHS)
def test_any_path(name, tmp_path, monkeypatch):
    """Absolute, relative, linked, as bytes, and of any characters."""
    monkeypatch.chdir(tmp_path)
    ds = infeed.Dataset.range(5).map(lambda x: x + 1)
    want = [1, 2, 3, 4, 5]
    for folder in (name, tmp_path / name / "below", os.fsencode(str(tmp_path / name / "bytes"))):
        assert [int(x) for x in ds.snapshot(folder)] == want
        assert [int(x) for x in ds.snapshot(folder)] == want
        assert len(os.listdir(folder)) in (1, 3)
    ds.save(os.path.join("saved", name), "ZSTD")
    os.symlink(os.path.join("saved", name), "link")
    for folder in (os.path.join("saved", name), "link", tmp_path / "saved" / name, "./link/../" + name):
        assert [int(x) for x in infeed.Dataset.load(folder)] == want
    monkeypatch.chdir("/")  # where it was defined counts
    relative = infeed.Dataset.load(os.path.relpath(tmp_path / "link", "/"))
    monkeypatch.chdir(tmp_path)
    assert [int(x) for x in relative] == want


def test_a_folder_that_is_read_only(tmp_path):
    infeed.Dataset.range(3).save(tmp_path / "here")
    for folder in (tmp_path / "here", tmp_path / "here" / "chunks"):
        os.chmod(folder, 0o555)
    for file in (tmp_path / "here").rglob("*.*"):
        os.chmod(file, 0o444)
    try:
        assert [int(x) for x in infeed.Dataset.load(tmp_path / "here")] == [0, 1, 2]
    finally:
        for folder in (tmp_path / "here", tmp_path / "here" / "chunks"):
            os.chmod(folder, 0o755)


@pytest.mark.parametrize("name", ["NONE", "GZIP", "SNAPPY", "ZSTD", "AUTO", "streams"])
def test_golden_snapshots(name):
    """Those that the tests of core/snapshot keep: 20 elements, numbered."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "snapshots" / "version-1" / name
    ds = infeed.Dataset.load(folder)
    assert [int(e["a"]) for e in ds] == list(range(20)) and list(ds.element_spec) == list("abcdef")
    assert [e["d"].split() for e in ds] == [[b"text", b"%d" % i] for i in range(20)]


def test_a_file_where_a_folder_is_needed(tmp_path):
    (tmp_path / "f").write_text("x")
    for path in (tmp_path / "f", tmp_path / "f" / "below" / "it"):
        for format in ("infeed", "tf"):
            with pytest.raises(infeed.InvalidArgumentError, match='f" is a file, and a folder is needed there; give another path'):
                infeed.Dataset.range(3).save(path, format=format)
    infeed.Dataset.range(3).save(tmp_path / "s")
    for path in (tmp_path / "f", tmp_path / "s" / "manifest.json"):
        with pytest.raises(infeed.NotFoundError, match="is a file; give the folder that save or snapshot wrote"):
            infeed.Dataset.load(path)
    with pytest.raises(infeed.NotFoundError, match="is not there; give the folder"):
        infeed.Dataset.load(tmp_path / "nothing")
    assert (tmp_path / "f").read_text() == "x" and sorted(os.listdir(tmp_path)) == ["f", "s"]



@pytest.mark.parametrize("use", [lambda p: infeed.Dataset.range(3).save(p), lambda p: infeed.Dataset.range(3).snapshot(p), infeed.Dataset.load])
def test_an_empty_path_is_not_the_current_folder(use, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("", b""):
        with pytest.raises(infeed.InvalidArgumentError, match="path is b?'', which would be the current folder"):
            use(path)
    assert not any(tmp_path.iterdir())
