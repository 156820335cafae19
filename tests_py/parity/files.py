"""The files that the cases read: small, one property each, written once a session."""

import gzip
import struct
import zlib
from pathlib import Path

RECORDS = [b"a", b"bb", b""]
LINES = b"one\ntwo\n\nfour\n"
FIXED = b"aabbcc"
CSV = b"id,name,score\n1,a,0.5\n2,b,1.5\n3,c,2.5\n"
NAMES = ("a.txt", "b.txt", "c.dat", "deep/e.txt")


def write(folder):
    """Writes every file into the folder."""
    folder = Path(folder)
    for name, content in {**_records(), **_texts(), **_fixed(), **_csvs(), **_examples()}.items():
        (folder / name).write_bytes(content)
    for name in NAMES:
        (folder / "names" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "names" / name).write_bytes(b"")


def _records():
    whole = b"".join(map(record, RECORDS))
    first, second = len(record(b"a")), len(record(b"a")) + len(record(b"bb"))
    return {
        "three.tfrecord": whole, "more.tfrecord": b"".join(map(record, [b"c", b"dd"])), "empty.tfrecord": b"",
        "three.tfrecord.gz": gzip.compress(whole), "three.tfrecord.zlib": zlib.compress(whole),
        "members.tfrecord.gz": gzip.compress(whole) + gzip.compress(record(b"c")),
        "payload.tfrecord": _flipped(whole, first + 12), "payload_crc.tfrecord": _flipped(whole, second - 1),
        "length.tfrecord": _flipped(whole, first), "length_crc.tfrecord": _flipped(whole, first + 9),
        "cut.tfrecord": whole[:second - 3], "cut_payload.tfrecord": whole[:first + 13],
        "torn_header.tfrecord": whole[:second + 5], "cut.tfrecord.gz": gzip.compress(whole)[:-12],
        "huge.tfrecord": _header(1 << 63) + b"a",
    }


def _texts():
    return {
        "lines.txt": LINES, "more.txt": b"five\n", "open.txt": b"one\ntwo", "crlf.txt": b"one\r\ntwo\r\n",
        "inner.txt": b"a\rb\nc\n", "empty.txt": b"", "newlines.txt": b"\n\n", "utf8.txt": "h\u00e9\n\u65e5\n".encode(),
        "nul.txt": b"a\0b\nc\n", "lines.txt.gz": gzip.compress(LINES), "lines.txt.zlib": zlib.compress(LINES),
        "members.txt.gz": gzip.compress(LINES) + gzip.compress(b"five\n"),
    }


def _fixed():
    return {
        "fixed.bin": FIXED, "framed.bin": b"HH" + FIXED + b"F", "tail.bin": FIXED + b"d", "empty.bin": b"",
        "short.bin": b"H", "fixed.bin.gz": gzip.compress(FIXED), "framed.bin.zlib": zlib.compress(b"HH" + FIXED + b"F"),
        "tail.bin.gz": gzip.compress(FIXED + b"d"),
    }


def _csvs():
    rows = CSV.split(b"\n", 1)[1]
    return {
        "header.csv": CSV, "rows.csv": rows, "more.csv": b"4,d,3.5\n", "empty.csv": b"", "only_header.csv": b"id,name,score\n",
        "open.csv": rows[:-1], "gaps.csv": b"1,a,\n,b,1.5\n3,,2.5\n", "na.csv": b"1,NA,0.5\n2,b,NA\n",
        "quoted.csv": b'1,"a,b",0.5\n2,"say ""hi""",1.5\n3,"two\nlines",2.5\n4,"",3.5\n', "semicolon.csv": rows.replace(b",", b";"),
        "crlf.csv": rows.replace(b"\n", b"\r\n"), "short_row.csv": b"1,a,0.5\n2,b\n", "long_row.csv": b"1,a,0.5\n2,b,1.5,9\n",
        "bad_int.csv": b"1,a,0.5\nx,b,1.5\n", "bad_float.csv": b"1,a,0.5\n2,b,much\n", "big.csv": b"3000000000,a,0.5\n",
        "open_quote.csv": b'1,"a,0.5\n', "stray_quote.csv": b'1,a"b,0.5\n', "spaces.csv": b"1, a ,0.5\n", "one.csv": b"1\n2\n",
        "blank_line.csv": b"1,a,0.5\n\n3,c,2.5\n", "rows.csv.gz": gzip.compress(rows), "header.csv.zlib": zlib.compress(CSV),
        "floats.csv": b"0.5,-2,1e3\ninf,nan,-1.25E-2\n", "mixed.csv": b"a,b,c,d\n1,1.5,x,3000000000\n2,2,y,4\n",
        "second.csv": b"id,name,score\n4,d,3.5\n", "other_header.csv": b"id,title,score\n4,d,3.5\n",
    }


def _examples():
    protos = [example(i=integers(7), f=floats(0.5, 1.5), s=texts(b"ab")), example(i=integers(-1), f=floats(2.5, 3.5), s=texts(b""))]
    return {"examples.tfrecord": b"".join(map(record, protos))}


# -- TFRecord framing -----------------------------------------------------------


def record(data):
    """One framed record."""
    return _header(len(data)) + data + struct.pack("<I", _masked(data))


def _header(length):
    packed = struct.pack("<Q", length)
    return packed + struct.pack("<I", _masked(packed))


def _masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


# -- tf.train.Example and SequenceExample ---------------------------------------


def integers(*values):
    """A feature of int64, packed as TensorFlow writes it."""
    return _field(3, _field(1, b"".join(_varint(v & (1 << 64) - 1) for v in values)))


def floats(*values):
    return _field(2, _field(1, struct.pack(f"<{len(values)}f", *values)))


def texts(*values):
    return _field(1, b"".join(_field(1, v) for v in values))


NOTHING = b""  # a feature that is there and holds no list


def example(**features):
    """A serialised tf.train.Example."""
    return _field(1, _entries(features))


def sequence_example(context, lists):
    """A serialised tf.train.SequenceExample; lists maps names to lists of features."""
    steps = {k: b"".join(_field(1, f) for f in v) for k, v in lists.items()}
    return _field(1, _entries(context)) + _field(2, _entries(steps))


def _entries(mapping):
    return b"".join(_field(1, _field(1, k.encode()) + _field(2, v)) for k, v in mapping.items())


def _field(number, payload):
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))
