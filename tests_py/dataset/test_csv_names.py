"""make_csv_dataset: names and dtypes that are found in headers and first rows, of files of every kind."""

import gzip
import zlib

import pytest

import infeed

TABLE = b'a b,"n\nm"\n1,x\n,"y, z"\n'
WANT = {"a b": [1, 0], "n\nm": [b"x", b"y, z"]}


def read(path, content, **more):
    path.write_bytes(content)
    ds = infeed.make_csv_dataset(str(path), 10, **{"num_epochs": 1, "shuffle": False, **more})
    return [{k: v.tolist() for k, v in batch.items()} for batch in ds]


PACKED = {"GZIP": gzip.compress, "ZLIB": zlib.compress, "": lambda b: b}


@pytest.mark.parametrize("compression", PACKED)
@pytest.mark.parametrize("auto", [False, True])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "BOM"])
def test_of_every_compression(tmp_path, compression, auto, mark):
    content = PACKED[compression](mark.encode() + TABLE + 20 * b"7,q\n")
    got = read(tmp_path / "x", content, compression_type="AUTO" if auto else compression)[0]
    assert {k: v[:2] for k, v in got.items()} == WANT


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=repr)
def test_ends_of_rows(tmp_path, end):
    assert read(tmp_path / "x", end.join(["a,b", "1,x", "2,y"]).encode()) == [{"a": [1, 2], "b": [b"x", b"y"]}]


def test_what_only_python_takes_for_a_number_is_text(tmp_path):
    assert read(tmp_path / "x", b"a\n1_000\n") == [{"a": [b"1_000"]}]


@pytest.mark.parametrize("content, more, error, text", [
    (b"", {}, infeed.InvalidArgumentError, "is empty; a header was expected"),
    ("\ufeff".encode(), {}, infeed.InvalidArgumentError, "the first row of .* is empty; a header"),
    (b"\na\n", {}, infeed.InvalidArgumentError, "the first row of .* is empty; a header"),
    (b"a\n1\n", {"field_delim": "::"}, infeed.InvalidArgumentError, "field_delim is '::'; give one character"),
    (b"a\n1\n", {"field_delim": '"'}, infeed.InvalidArgumentError, "field_delim is '\"'; give one character"),
    (b"a\n1\n", {"encoding": "none"}, infeed.InvalidArgumentError, "encoding is 'none'; give one that Python knows"),
    (b"a\n" + b"x" * 200_000, {}, infeed.InvalidArgumentError, "cannot be read .*; give column_names and column_defaults"),
    (b"a\n1\n", {"compression_type": "GZIP"}, infeed.DataLossError, "this is not GZIP but looks like text"),
    (gzip.compress(b"a\n1\n")[:-9], {"compression_type": "GZIP"}, infeed.DataLossError, "ends before its GZIP stream does"),
], ids=lambda v: v if isinstance(v, str) else "")
def test_what_has_no_names_is_told(tmp_path, content, more, error, text):
    with pytest.raises(error, match=text):
        read(tmp_path / "x", content, **more)


def test_no_files():
    with pytest.raises(infeed.InvalidArgumentError, match="file_pattern is an empty list"):
        infeed.make_csv_dataset([], 2)
