"""Bad files and bad content: a clear error at its place, or the policy; never wrong data.

Each damage is one row of a table. Texts are matched where they say what to do.
"""

import gzip
import os
import struct
import subprocess
import sys
import textwrap
import tracemalloc
import zlib

import numpy as np
import pytest

import infeed
from infeed import Dataset

from .conftest import with_workers
from .damage import example, feature, field, flipped, frame, masked_crc, message, varint

RECORDS = [b"zero", b"first record", b"", b"third"]
GOOD = b"".join(map(frame, RECORDS))
AT = len(frame(RECORDS[0]))  # where record 1 begins
SIZE = len(frame(RECORDS[1]))


def walk(ds):
    """The elements before the first error, and the error."""
    it, out = iter(ds), []
    try:
        for element in it:
            out.append(element)
    except infeed.Error as e:
        with pytest.raises(type(e)):
            next(it)  # it stays where it failed
        return out, e, it
    return out, None, it


def lost(path, offset, error):
    assert type(error) is infeed.DataLossError, error
    assert (error.path, error.offset) == (str(path), offset) and f"{path} at byte {offset}" in str(error)


# -- TFRecord ---------------------------------------------------------------------

FIELDS = {"length": range(8), "checksum of the length": range(8, 12), "content": range(12, SIZE - 4),
          "checksum of the content": range(SIZE - 4, SIZE)}
PACKED = {"": lambda b: b, "GZIP": gzip.compress, "ZLIB": zlib.compress}


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("compression", PACKED)
def test_every_flipped_bit_of_a_record(tmp_path, name, compression):
    path = tmp_path / "x"
    for byte in FIELDS[name]:
        for bit in range(8) if not compression else (0, 7):
            path.write_bytes(PACKED[compression](flipped(GOOD, AT + byte, bit)))
            got, error, _ = walk(infeed.TFRecordDataset(path, compression))
            assert got == RECORDS[:1]
            lost(path, AT, error)
    # What can be told is left out: the record where its length is right.
    got, error, it = walk(infeed.TFRecordDataset(path, compression, errors="skip"))
    assert error is None and got == RECORDS[:1] + RECORDS[2:] and it.stats().lost == 1
    got, error, it = walk(infeed.TFRecordDataset(path, compression, errors="truncate"))
    assert error is None and got == RECORDS[:1] and it.stats().lost == 1


@pytest.mark.parametrize("compression", PACKED)
@pytest.mark.parametrize("errors", ["raise", "skip", "truncate", "ignore_errors"])
def test_a_file_cut_at_every_byte(tmp_path, compression, errors):
    path, starts = tmp_path / "x", np.cumsum([0, *(len(frame(r)) for r in RECORDS)]).tolist()
    for cut in range(len(GOOD)):
        path.write_bytes(PACKED[compression](GOOD[:cut]))
        ds = infeed.TFRecordDataset(path, compression, errors=errors if errors != "ignore_errors" else "raise")
        got, error, it = walk(ds if errors != "ignore_errors" else ds.ignore_errors())
        whole = sum(s <= cut for s in starts) - 1
        assert got == RECORDS[:whole], cut
        if cut == starts[whole]:
            assert error is None
        elif errors == "raise":
            lost(path, starts[whole], error)
        else:
            assert error is None and it.stats().lost == 1


@pytest.mark.parametrize("length", [1 << 31, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize("compression", PACKED)
def test_lengths_beyond_the_file(tmp_path, length, compression):
    path, header = tmp_path / "x", struct.pack("<Q", length)
    path.write_bytes(PACKED[compression](GOOD[:AT] + header + masked_crc(header) + GOOD[AT:]))
    got, error, _ = walk(infeed.TFRecordDataset(path, compression))
    assert got == RECORDS[:1] and str(length) in str(error)
    lost(path, AT, error)
    if not compression:
        with pytest.raises(infeed.DataLossError, match=str(length)):
            len(infeed.TFRecordDataset(path).indexed())


@pytest.mark.parametrize("content, looks_like", [
    (b"some text, of some length\n" * 3, 'text that begins with "some text'), (b"<!DOCTYPE html>" * 3, "text that begins"),
    (b"abc", "text"), (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG image"), (b"\xff\xd8\xff\xe0" + bytes(50), "a JPEG image"),
    (b"PK\3\4" + bytes(50), "a zip archive"), (bytes(100), "00 00 00 00"), (b"\xff" * 100, "ff ff ff ff"),
    (gzip.compress(GOOD), 'gzip; give compression_type="GZIP"'), (zlib.compress(GOOD), 'zlib; give compression_type="ZLIB"'),
], ids=lambda v: v if isinstance(v, str) else "")
def test_what_is_no_tfrecord(tmp_path, content, looks_like):
    path = tmp_path / "x"
    path.write_bytes(content)
    got, error, _ = walk(infeed.TFRecordDataset(path))
    lost(path, 0, error)
    assert not got and "not a TFRecord file" in str(error) and looks_like in str(error)


# -- compressed streams -----------------------------------------------------------

LINES = b"".join(b"line %d of a few\n" % i for i in range(60))
STREAMS = {"GZIP": gzip.compress(LINES, mtime=0), "ZLIB": zlib.compress(LINES)}


@pytest.mark.parametrize("compression", STREAMS)
@pytest.mark.parametrize("auto", [False, True])
def test_a_stream_cut_at_every_byte(tmp_path, compression, auto):
    path, whole, want = tmp_path / "x", STREAMS[compression], LINES.splitlines()
    # What zlib is is known by content only where some of it comes out.
    for cut in range(1 if not auto else 4 if compression == "GZIP" else 60, len(whole)):
        path.write_bytes(whole[:cut])
        got, error, _ = walk(infeed.TextLineDataset(path, "AUTO" if auto else compression))
        assert isinstance(error, infeed.DataLossError) and error.path == str(path), cut
        assert got == want[:len(got)], cut


@pytest.mark.parametrize("compression", STREAMS)
def test_a_stream_with_flipped_bits(tmp_path, compression):
    path, whole = tmp_path / "x", STREAMS[compression]
    header = 10 if compression == "GZIP" else 2
    for at in range(header, len(whole)):
        path.write_bytes(damaged := flipped(whole, at, at % 8))
        got, error, _ = walk(infeed.TextLineDataset(path, compression))
        if error is None:  # a bit that fills up a byte
            assert got == LINES.splitlines() and zlib.decompress(damaged, 47) == LINES, at
        else:
            assert isinstance(error, infeed.DataLossError) and error.path == str(path), at


@pytest.mark.parametrize("compression", STREAMS)
@pytest.mark.parametrize("parallel", [None, 2])
def test_damage_behind_damage_is_passed(tmp_path, compression, parallel):
    """Where a search for the next record meets a stream that ends badly, errors that are ignored come to an end."""
    path = tmp_path / "x"
    for at in (0, AT, AT + SIZE):  # of a length that is wrong
        stream = PACKED[compression](flipped(GOOD, at) + bytes(range(256)))
        for cut in range(len(stream) - 12, len(stream)):
            for whole in (stream[:cut], flipped(stream, cut)):
                path.write_bytes(whole)
                kept, error, _ = walk(infeed.TFRecordDataset(path, compression, errors="skip"))
                got, _, it = walk(infeed.TFRecordDataset([path, path], compression, num_parallel_reads=parallel).ignore_errors())
                assert error is None and sorted(got) == sorted(2 * kept) and it.stats().lost >= 2


@pytest.mark.parametrize("compression", STREAMS)
def test_a_stream_read_as_another(tmp_path, compression):
    path = tmp_path / "x"
    path.write_bytes(STREAMS[compression])
    other = "ZLIB" if compression == "GZIP" else "GZIP"
    with pytest.raises(infeed.DataLossError, match=f"(?i){compression}"):
        list(infeed.TextLineDataset(path, other))
    path.write_bytes(LINES)
    with pytest.raises(infeed.DataLossError):
        list(infeed.TextLineDataset(path, compression))


# -- CSV --------------------------------------------------------------------------

@pytest.mark.parametrize("rows, want", [
    (b"1,a\n2\n", r"line 2: the row \"2\" has 1 fields, and 2 are expected"), (b"1,a\n2,b,c\n", "line 2: .*has 3 fields"),
    (b"1,a\nx,b\n", 'line 2: field 0 is not a valid int32: "x"'), (b"1,a\n,b\n", "line 2: field 0 is required but missing"),
    (b"1,a\n2.5,b\n", "2.5"), (b"1,a\n3000000000,b\n", "int32"), (b"1,a\n0x10,b\n", "0x10"), (b"1,a\n1_0,b\n", "1_0"),
    (b"1,a\n2\x003,b\n", "2.x003"), (b'1,a\n2,"b', "line 2: .*begins with a quote and has none at its end"),
    (b'1,a\n2,"b\n3,c\n', "line 2: .*has none at its end"), (b'1,a\n2,b"c\n', "has a quote inside"), (b'1,a\n2,"b"c\n', "written twice"),
    (b"1,a\n\n2,b\n", "line 2"), (b"\xff\xfe1\0,\0a\0\n\0", "UTF-16"), (b"1,a\n--1,b\n", "--1"),
], ids=str)
def test_bad_rows(tmp_path, rows, want):
    path = tmp_path / "x.csv"
    path.write_bytes(rows)
    got, error, _ = walk(infeed.CsvDataset(path, ["int32", str]))
    assert got == ([] if rows[0] == 255 else [(1, b"a")])
    with pytest.raises(infeed.InvalidArgumentError, match=want):
        raise error
    assert str(path) in str(error)


@pytest.mark.parametrize("rows, want", [
    (b"", []), (b"1,a\0b\n", [(1, b"a\0b")]), (b"\xef\xbb\xbf1,a\n", [(1, b"a")]), (b"1,a\r\n2,b\r\n", [(1, b"a"), (2, b"b")]),
    (b"1,a\r\n2,b\n3,c", [(1, b"a"), (2, b"b"), (3, b"c")]), (b'1,"a\r\nb"\r\n', [(1, b"a\r\nb")]), (b'1,"a""b"', [(1, b'a"b')]),
    (b'1,""\n', [(1, b"none")]), (b"1,\xff\xfe\n", [(1, b"\xff\xfe")]), (b" 1 ,a\n", [(1, b"a")]), (b'\xef\xbb\xbf"1","a"\n', [(1, b"a")]),
], ids=str)
def test_rows_that_only_look_bad(tmp_path, rows, want):
    path = tmp_path / "x.csv"
    path.write_bytes(rows)
    assert list(infeed.CsvDataset(path, ["int32", "none"])) == want


@pytest.mark.parametrize("content, error", [
    (b"a," + b"x" * (100 << 20) + b"\nb,c\n", None), (b'a,"' + b"x" * (100 << 20), "none at its end"),
    (b"a,b" + b",c" * (5 << 20), "has 5242882 fields"),
], ids=["a field", "a quote that is not closed", "fields"])
def test_lines_of_100_megabytes(tmp_path, content, error):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    it = iter(infeed.CsvDataset(path, [str, str]).map(lambda a, b: (a, len(b))))
    if error is None:
        assert list(it) == [(b"a", 100 << 20), (b"b", 1)]
        return
    with pytest.raises(infeed.InvalidArgumentError, match=error) as e:
        next(it)
    assert len(str(e.value)) < 1000


@pytest.mark.parametrize("given, want", [
    (dict(record_defaults=5), "record_defaults is 5"), (dict(record_defaults="ab"), "record_defaults is 'ab'"), (dict(record_defaults=[]), "0 columns"),
    (dict(record_defaults=["int8"]), "'int8', of which columns cannot be"), (dict(record_defaults=["bool"]), "b'bool' for that text"),
    (dict(record_defaults=[True]), "cannot be bool"), (dict(record_defaults=[[1, 2]]), "one value"), (dict(record_defaults=[None]), "None"),
    (dict(field_delim=3), "field_delim is 3; a str"), (dict(field_delim="ab"), "one byte"), (dict(field_delim='"'), "quotes fields"),
    (dict(na_value=3), "na_value is 3; a str"), (dict(compression_type=5), "compression_type is 5; a str"), (dict(compression_type="gz"), "none of"),
    (dict(select_cols=["a"]), "select_cols is 'a'; an int"), (dict(select_cols=[1 << 70]), "at most"), (dict(select_cols=[1, 0]), "rising|described"),
    (dict(errors="ignore"), '"raise", "skip" or "truncate"'), (dict(buffer_size=-1), "buffer_size is -1"), (dict(filenames=5), "filenames is 5"),
], ids=str)
def test_bad_arguments(given, want):
    with pytest.raises(infeed.InvalidArgumentError, match=want):
        list(infeed.CsvDataset(**{"filenames": "/nowhere", "record_defaults": [str], **given}))


# -- tf.train.Example -------------------------------------------------------------

FL, VL, FS = infeed.io.FixedLenFeature, infeed.io.VarLenFeature, infeed.io.FixedLenSequenceFeature
EXAMPLE = example(a=feature("int64", [1, 2]), b=feature("bytes", [b"x"]), c=feature("float", [1.5]))


@pytest.mark.parametrize("features, want", [
    ({"z": FL((), "int64")}, '"z" .int64. is required.*the example has "a", "b", "c"'), ({"a": FL((2,), "float32")}, "int64 values; float32 was asked for"),
    ({"a": FL((3,), "int64")}, "has 2 values; its shape asks for 3"), ({"a": FL((), "int64")}, "asks for 1"), ({"a": FL((0,), "int64")}, "asks for 0"),
    ({"a": VL("float32")}, "float32 was asked for"), ({"a": FS((3,), "int64", allow_missing=True)}, "no multiple of the 3"),
    ({"a": FL((2,), "int32")}, "examples hold float32, int64 and text"), ({"a": FL((-1,), "int64")}, "0 or more"),
    ({"a": FL((None,), "int64")}, "use FixedLenSequenceFeature or VarLenFeature"), ({"a": FL((1 << 40, 1 << 40), "int64")}, "shape"),
    ({"z": FL((2,), "int64", [1, 2, 3])}, "3 values for the shape"), ({}, "one at least"), (None, "one at least"), ({"a": "int64"}, "give one of"),
], ids=str)
@pytest.mark.parametrize("native", [False, True])
def test_features_that_are_not_there(features, want, native):
    with pytest.raises(infeed.InvalidArgumentError, match=want):
        if native:
            list(Dataset.from_tensor_slices([EXAMPLE]).batch(1).map(lambda r: infeed.io.parse_example(r, features)))
        else:
            infeed.io.parse_example([EXAMPLE], features)


def test_a_bad_example_in_a_batch_is_named():
    ds = Dataset.from_tensor_slices([EXAMPLE] * 2 + [b"\xff\xff"] + [EXAMPLE]).batch(4)
    with pytest.raises(infeed.InvalidArgumentError, match="example 2 cannot be read: what is at byte"):
        list(ds.map(lambda r: infeed.io.parse_example(r, {"a": FL((2,), "int64")})))


def test_an_example_cut_at_every_byte_or_with_any_flipped_bit():
    features = {"a": VL("int64"), "b": VL(object), "c": VL("float32")}
    for cut in range(1, len(EXAMPLE)):
        with pytest.raises(infeed.InvalidArgumentError):
            infeed.io.parse_single_example(EXAMPLE[:cut], features)
    for at in range(len(EXAMPLE)):
        for bit in range(8):
            try:
                infeed.io.parse_single_example(flipped(EXAMPLE, at, bit), features)
            except infeed.InvalidArgumentError:
                pass


def nested(n):
    out = b""
    for _ in range(n):
        out = message(1, out)
    return out


BOMBS = {
    "length 2^63": (varint(10) + varint(1 << 63) + b"x", "cannot be read"), "length 2^31": (varint(10) + varint(1 << 31) + b"x", "cannot be read"),
    "number of 11 bytes": (b"\x0a" + b"\xff" * 10 + b"\x01", "cannot be read"), "groups": (b"\x0b" * 1_000_000, "cannot be read"),
    "nested": (nested(3000), "is required"), "many values": (message(1, field("a", message(3, message(1, b"\1" * (4 << 20))))), "4194304 values"),
    "many keys": (message(1, b"".join(field(f"k{i}", feature("int64", [i])) for i in range(50_000))), "is required"),
    "one key often": (message(1, b"".join(field("a", feature("int64", [i])) for i in range(50_000))), "has 1 values"),
    "half a number": (message(1, field("a", message(3, message(1, b"\1\x80")))), "cannot be read"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_protobuf_bombs(name):
    record, want = BOMBS[name]
    with pytest.raises(infeed.InvalidArgumentError, match=want) as e:
        infeed.io.parse_single_example(record, {"a": FL((2,), "int64")})
    assert len(str(e.value)) < 2000


# -- nothing at all ---------------------------------------------------------------

@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("make", [
    infeed.TFRecordDataset, infeed.TextLineDataset, lambda f: infeed.FixedLengthRecordDataset(f, 3), lambda f: infeed.CsvDataset(f, [0]),
    lambda f: infeed.TextLineDataset(f).indexed(), lambda f: infeed.TextLineDataset(f, num_parallel_reads=4),
    lambda f: infeed.TextLineDataset(f).map(len).shuffle(5).batch(2).repeat(3),
])
def test_empty_files_and_no_files(tmp_path, make, workers):
    path = tmp_path / "x"
    path.touch()
    for files in ([], [str(path)], [str(path)] * 3):
        assert list(with_workers(make(files), workers)) == []


def test_memory_of_damaged_lengths_is_bounded(tmp_path):
    path, header = tmp_path / "x", struct.pack("<Q", 1 << 34)
    path.write_bytes(gzip.compress(header + masked_crc(header) + bytes(1 << 20)))
    code = """
    import resource, sys, infeed
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        list(infeed.TFRecordDataset(sys.argv[1], "GZIP"))
    except infeed.DataLossError:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(path)], capture_output=True, text=True, timeout=60)
    assert int(out.stdout) < 200 << 10, out.stderr


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_in_a_file_without_end_comes_at_once(tmp_path, workers):
    path = tmp_path / "x"
    path.touch()
    for size in (1 << 40, 1 << 20):  # of zeros: reading all of them would take hours
        with open(path, "r+b") as f:
            f.truncate(size)
        with pytest.raises(infeed.DataLossError, match="not a TFRecord file"):
            next(iter(with_workers(infeed.TFRecordDataset(path), workers)))


MOST = 4 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")  # bytes, more than there is memory for


@pytest.mark.parametrize("make", [
    lambda: [infeed.io.decode_raw([b"a"], "uint8", fixed_length=MOST)],
    lambda: Dataset.from_tensors(b"a").map(lambda s: infeed.io.decode_raw(s, "uint8", fixed_length=MOST)),
    lambda: Dataset.range(3).map(lambda x: x[None]).padded_batch(2, [MOST]),
    lambda: Dataset.from_tensors(np.zeros(1 << 16)).repeat().batch(MOST >> 19),
    lambda: Dataset.range(MOST >> 25).map(lambda k: np.zeros(1 if k else 1 << 22)).padded_batch(MOST >> 25),
], ids=["decode_raw", "decode_raw in map", "padded_shapes", "batch", "padded_batch"])
def test_more_than_there_is_memory_for(make):
    """The system would refuse it, or end the process when it is written."""
    with pytest.raises(infeed.ResourceExhaustedError, match=r"this process may have \d+.*; make batches, or .* smaller"):
        next(iter(make()))


def test_one_long_text_among_many():
    """NumPy's own text has rows as long as the longest one."""
    texts = [b"x" * (1 << 20)] + [b"%d" % i for i in range(2000)]
    tracemalloc.start()
    try:
        ds, nested = Dataset.from_tensor_slices(texts), Dataset.from_tensors([texts, texts])
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert list(ds) == texts and next(iter(nested)).tolist() == [texts, texts]
    with pytest.raises(infeed.InvalidArgumentError, match="rows of different lengths"):
        Dataset.from_tensor_slices([texts, texts[1:]])
