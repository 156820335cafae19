"""infeed convert: elements in each format come out of each other one as they were, and nothing is left of what is broken off."""

import json
import os
import pathlib
import re
import signal

import ml_dtypes
import numpy as np
import pytest

import infeed
from infeed import _load_tf, _spec_text

RECORDS = [b"record %d" % i for i in range(300)] + [b"", b"\0" * 1000]


@pytest.fixture
def records(tmp_path):
    """A TFRecord file."""
    with infeed.io.TFRecordWriter(tmp_path / "from.tfrecord") as w:
        for r in RECORDS:
            w.write(r)
    return tmp_path / "from.tfrecord"


def read(path):
    return list(infeed.TFRecordDataset(path, compression_type="AUTO") if os.path.isfile(path) else infeed.Dataset.load(path))


def test_there_and_back(records, tmp_path, ask):
    """From records to a snapshot, to TensorFlow's format, and to records again."""
    at = records
    for to, name, compression, what in [
        ("infeed", "a snapshot", "AUTO", "snapshot, AUTO"), ("tf", "saved", "SNAPPY", "dataset saved by tf.data, SNAPPY"),
        ("infeed", "again", "zstd", "snapshot, ZSTD"), (None, "x.tfrecord.gz", None, "TFRecord file, GZIP"), ("tf", "direct", None, "NONE"),
        ("tfrecord", "plain", None, "TFRecord file, NONE"),
    ]:
        options = (["--to", to] if to else []) + (["--compression", compression] if compression else [])
        status, out = ask("convert", at, tmp_path / name, *options)
        assert status == 0 and out.err == "" and f"{tmp_path / name}: 302 elements" in out.out and what in out.out
        at = tmp_path / name
        assert read(at) == RECORDS
    assert at.read_bytes() == records.read_bytes()
    status, out = ask("convert", at, tmp_path / "by name", "--json")
    found = json.loads(out.out)
    assert (found["what"], found["elements"], found["from"]["what"]) == ("snapshot", 302, "TFRecord file")
    assert found["bytes"] == sum(f.stat().st_size for f in (tmp_path / "by name").rglob("*") if f.is_file())


def test_elements_of_all_kinds(tmp_path, ask):
    ds = infeed.Dataset.from_tensor_slices(({"b": np.ones((9, 2), "float32"), "a": [b"x"] * 9}, np.arange(9)))
    ds = ds.map(lambda d, n: (d, np.full(int(n) % 3, n)))
    ds.save(tmp_path / "own")
    assert ask("convert", tmp_path / "own", tmp_path / "tf", "--to", "tf", "--compression", "GZIP")[0] == 0
    assert ask("convert", tmp_path / "tf", tmp_path / "back")[0] == 0
    for folder in ("tf", "back"):
        loaded = infeed.Dataset.load(tmp_path / folder)
        assert [(d["a"], d["b"].tolist(), n.tolist()) for d, n in loaded] == [(d["a"], d["b"].tolist(), n.tolist()) for d, n in ds]
    status, out = ask("convert", tmp_path / "own", tmp_path / "x.tfrecord")
    assert status == 1 and "one string of bytes for each element, and the elements are ({'b'" in out.err and not (tmp_path / "x.tfrecord").exists()
    infeed.Dataset.from_tensor_slices({"r": [b"1", b"22"]}).save(tmp_path / "one string")
    assert ask("convert", tmp_path / "one string", tmp_path / "x.tfrecord")[0] == 0
    assert read(tmp_path / "x.tfrecord") == [b"1", b"22"]
    infeed.Dataset.range(0).save(tmp_path / "none")
    assert ask("convert", tmp_path / "none", tmp_path / "none for tf", "--to", "tf")[0] == 0
    assert read(tmp_path / "none for tf") == []


def test_snapshots_and_several_files(records, tmp_path, ask):
    list(infeed.Dataset.range(20).snapshot(tmp_path / "kept"))
    assert ask("convert", tmp_path / "kept", tmp_path / "tf", "--to", "tf")[0] == 0
    assert [int(x) for x in infeed.Dataset.load(tmp_path / "tf")] == list(range(20))
    status, out = ask("convert", records, records, tmp_path / "twice")
    assert status == 0 and read(tmp_path / "twice") == RECORDS * 2
    status, out = ask("convert", records, tmp_path / "kept", tmp_path / "x")
    assert status == 1 and "kept is a folder" in out.err and not (tmp_path / "x").exists()


TF = pathlib.Path(__file__).parents[2] / "testdata" / "tf"


def test_snapshots_of_tensorflow_need_a_spec(tmp_path, ask):
    status, out = ask("convert", TF / "snapshot" / "default_snappy", tmp_path / "x")
    assert status == 1 and "stores 3 tensors of each, int64, float32, int64" in out.err and '--spec "(float32' in out.err
    assert ask("convert", TF / "snapshot" / "default_snappy", tmp_path / "x", "--spec", "(float32[4], int64[])")[0] == 0
    assert sorted(int(n) for _, n in infeed.Dataset.load(tmp_path / "x")) == sorted(
        int(n) for _, n in infeed.Dataset.load(TF / "snapshot" / "default_snappy", (infeed.TensorSpec((4,)), infeed.TensorSpec((), "int64"))))
    assert ask("convert", TF / "distributed" / "gzip", tmp_path / "y", "--to", "tf")[0] == 0
    assert len(read(tmp_path / "y")) == 20
    status, out = ask("convert", TF / "distributed" / "gzip", tmp_path / "z", "--spec", "float32[")
    assert status == 1 and "says no spec" in out.err
    status, out = ask("convert", tmp_path / "x", tmp_path / "z", "--spec", "int64[]")
    assert status == 1 and "element_spec is" in out.err


@pytest.mark.parametrize("text,spec", [
    ("int64[]", infeed.TensorSpec((), "int64")), ("(string[ ],)", (infeed.TensorSpec((), object),)),
    ("{'a?[]': uint8[28,28], \"b\": (bool[?], ragged float32[3, ?])}",
     {"a?[]": infeed.TensorSpec((28, 28), "uint8"), "b": (infeed.TensorSpec((None,), bool), infeed.RaggedTensorSpec((3, None), "float32"))}),
    ("bfloat16[?, 3]", infeed.TensorSpec((None, 3), ml_dtypes.bfloat16)), ("()", ()),
])
def test_specs_are_read(text, spec):
    assert _spec_text.parse(text) == spec


@pytest.mark.parametrize("text", ["int64[]", "(string[],)", "{'a': uint8[28, ?], 'b': (bool[?], ragged float32[?, ?])}", "bfloat16[3]", "ragged string[?, ?]", "Point(y=float32[], x=int64[2])"])
def test_specs_are_read_as_they_are_printed(text):
    structure, spec = _load_tf.described(_spec_text.parse(text))
    assert _spec_text.text(spec) == text


def test_specs_of_named_tuples_are_read():
    point = _spec_text.parse("Point(y=float32[], x=int64[2])")
    assert type(point).__name__ == "Point" and point._asdict() == {"y": infeed.TensorSpec(()), "x": infeed.TensorSpec((2,), "int64")}


@pytest.mark.parametrize("text", ["", "int64", "(int64[]", "nothing[3]", "[int64[]]", "int64[-1]", "f(int64[])", "__import__('os')", "{x: int64[]}"])
def test_what_is_no_spec(text):
    with pytest.raises(infeed.InvalidArgumentError, match="says no spec of elements"):
        _spec_text.parse(text)


def test_what_is_there_stays_without_force(records, tmp_path, ask):
    for name, options in [("own", []), ("saved", ["--to", "tf"]), ("x.tfrecord", [])]:
        infeed.Dataset.from_tensor_slices([b"old"]).save(tmp_path / "old")
        assert ask("convert", tmp_path / "old", tmp_path / name, *options)[0] == 0
        before = sorted(os.listdir(tmp_path))
        status, out = ask("convert", records, tmp_path / name, *options)
        assert status == 1 and f"{tmp_path / name} is there; --force replaces it" in out.err
        assert read(tmp_path / name) == [b"old"]
        status, out = ask("convert", records, tmp_path / name, *options, "--force")
        assert status == 0 and read(tmp_path / name) == RECORDS and sorted(os.listdir(tmp_path)) == before
    (tmp_path / "empty").mkdir()
    assert ask("convert", records, tmp_path / "empty")[0] == 0
    assert ask("convert", records, tmp_path / "empty", "--to", "tf", "--force")[0] == 0  # in another format
    assert read(tmp_path / "empty") == RECORDS and not (tmp_path / "empty" / "manifest.json").exists()


@pytest.mark.parametrize("arguments,text", [
    (["nothing", "x"], "nothing is not there"), (["r", "r", "--force"], "both SRC and DST"), (["r", "no/x"], "the folder .*no is not there"),
    (["r", "folder", "--force"], "other things in it"), (["r", "folder", "--to", "tfrecord", "--force"], "is a folder, and a TFRecord file"),
    (["r", "file", "--force"], "is a file, and a snapshot"), (["r", "x", "--compression", "LZ4"], "must be NONE, AUTO, GZIP, SNAPPY, ZSTD"),
    (["r", "x", "--to", "tf", "--compression", "zstd"], "must be NONE, AUTO, GZIP, SNAPPY"), (["r", "x.tfrecord", "--compression", "SNAPPY"], "NONE, GZIP, ZLIB, ZSTD"),
    (["folder", "x"], "holds no snapshot"), (["file", "x"], "text that begins with"), (["r", "r", "gone", "x"], "gone is not there"),
])
def test_what_cannot_be(arguments, text, records, tmp_path, ask, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.rename(records, "r")
    os.makedirs("folder")
    for name in ("folder/mine.txt", "file"):
        with open(name, "w") as file:
            file.write("mine, and no records")
    status, out = ask("convert", *arguments)
    assert status == 1 and out.out == ""
    assert re.search(text, out.err), out.err
    assert sorted(os.listdir(".")) == ["file", "folder", "r"] and os.listdir("folder") == ["mine.txt"]


def test_damage_leaves_what_is_there(records, tmp_path, ask):
    text = records.read_bytes()
    records.write_bytes(text[:5000])
    for name, options in [("own", []), ("saved", ["--to", "tf"]), ("x.tfrecord", [])]:
        status, out = ask("convert", records, tmp_path / name, *options, "--json")
        found = json.loads(out.out)
        assert status == 1 and found["file"] == str(records) and found["kind"] == "DataLossError"
        assert os.listdir(tmp_path) == [records.name]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to", ["infeed", "tf", "tfrecord"])
def test_what_is_broken_off_leaves_nothing(how, to, records, tmp_path, terminal):
    """A signal comes when the bar is drawn for the first time; where that is too late on a busy machine, all is there."""
    records.write_bytes(records.read_bytes() * 10_000)  # files of records put together are one
    for _ in range(9):
        t = terminal("convert", records, tmp_path / "new", "--to", to, "--compression", "GZIP", "--force")
        t.wait_for("convert ")
        t.process.send_signal(how)
        status, out = t.end()
        if status == 128 + how and not (tmp_path / "new").exists():
            break
        assert status in (0, 128 + how)
        assert len(infeed.Dataset.load(tmp_path / "new")) == 3_020_000 if to == "infeed" else (tmp_path / "new").exists()
    assert out == "" and "Traceback" not in t.drawn
    assert os.listdir(tmp_path) == [records.name]


def test_progress(records, tmp_path, terminal):
    infeed.Dataset.range(5000).save(tmp_path / "s")
    for arguments in [(tmp_path / "s", tmp_path / "tf", "--to", "tf"), (records, tmp_path / "own"), (tmp_path / "own", tmp_path / "x.tfrecord")]:
        t = terminal("convert", *arguments)
        status, out = t.end()
        assert status == 0 and "elements" in out and "\r\x1b[Kconvert " in t.drawn and t.drawn.endswith("\r\x1b[K")
