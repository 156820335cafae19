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


@pytest.mark.parametrize("text", ["string", "object", object, str, bytes])
def test_names_of_text(tmp_path, text):
    assert read(tmp_path / "x", b"a,b\n1,x\n", column_defaults=["int32", text]) == [{"a": [1], "b": [b"x"]}]
    assert list(infeed.CsvDataset(tmp_path / "x", ["int32", text], header=True)) == [(1, b"x")]


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


@pytest.mark.parametrize("parallel", [None, 2])
@pytest.mark.parametrize("errors, want", [("skip", [1, 2, 4]), ("truncate", None), ("raise", None)])
def test_what_is_done_with_bad_rows(tmp_path, errors, want, parallel):
    """In the rows that dtypes are found in, and in all."""
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,x\n2,y\n3\n4,w\n")
    for more in ({}, {"column_defaults": ["int32", str]}):
        def read():
            ds = infeed.make_csv_dataset(str(path), 10, num_epochs=1, shuffle=False, num_parallel_reads=parallel, errors=errors, **more)
            return [n for batch in ds for n in batch["a"].tolist()]
        if want is None:
            with pytest.raises(infeed.InvalidArgumentError, match="row 4 of .*x.csv has 1 fields, and there are 2 columns; |x.csv at byte 12: line 4: the row .* has 1 fields"):
                read()
        else:
            assert read() == want
    with pytest.raises(infeed.InvalidArgumentError, match='errors is .drop.; it must be "raise", "skip" or "truncate"'):
        infeed.make_csv_dataset(str(path), 10, errors="drop")


def test_a_last_row_that_is_torn(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,b\n1,x\n2,"y')
    ds = infeed.make_csv_dataset(str(path), 10, num_epochs=1, shuffle=False, errors="truncate")
    assert [batch["a"].tolist() for batch in ds] == [[1]]


def test_a_stream_that_is_cut_in_its_first_rows(tmp_path):
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"".join(b"%d,x%d\n" % (i, i) for i in range(5000)))[:-2000])
    with pytest.raises(infeed.DataLossError, match=f"{path} at byte"):
        list(infeed.make_csv_dataset(str(path), 10, num_epochs=1, compression_type="GZIP", num_rows_for_inference=None))
    ds = infeed.make_csv_dataset(str(path), 1, num_epochs=1, shuffle=False, compression_type="AUTO", num_rows_for_inference=None, errors="truncate")
    got = [int(batch["a"][0]) for batch in ds]
    assert got == list(range(len(got))) and 100 < len(got) < 5000
