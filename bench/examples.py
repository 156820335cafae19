"""W3: TFRecord files of tf.train.Examples, and the check that each came once.

100,000 examples in 4 files: x, float32[64]; y, the number of the example; name, which
begins with the number and has 16 to 24 bytes. x is as in `rows`.
"""

import struct

import numpy as np

from bench import cache, rows

N, FILES = 100_000, 4


def paths():
    """The files, made where they are not there yet; in order."""
    return sorted(map(str, cache.folder("w3-1", _make).glob("*.tfrecord")))


def name(number):
    """What the name of an example begins with."""
    return b"%07d-" % number


class Ledger(rows.Ledger):
    """Checks batches of dicts: see rows.Ledger. Of names, the first and the last are looked at."""

    def __call__(self, batch):
        x, y, names = batch["x"], batch["y"], batch["name"]
        super().__call__((x, y))
        if names[0][:8] != name(y.item(0)) or names[-1][:8] != name(y.item(-1)):
            raise AssertionError(f"{names[0]} or {names[-1]} is of another example than {y.item(0)} or {y.item(-1)}")


def _make(folder):
    lengths = np.random.default_rng(3).integers(16, 25, N)
    for k in range(FILES):
        first, end = N * k // FILES, N * (k + 1) // FILES
        records = [_example(n, length) for n, length in enumerate(lengths[first:end], first)]
        (folder / f"train-{k:05d}-of-{FILES:05d}.tfrecord").write_bytes(framed(records))


def framed(records):
    """Records as a TFRecord file has them. Checksums are made of equally long ones at once."""
    sizes, parts = np.array([len(r) for r in records]), [None] * len(records)
    for size in np.unique(sizes):
        same = np.flatnonzero(sizes == size)
        head = struct.pack("<Q", size)
        head += struct.pack("<I", _masked(np.frombuffer(head, np.uint8)[None])[0])
        tails = _masked(np.frombuffer(b"".join(records[i] for i in same), np.uint8).reshape(len(same), -1))
        for i, tail in zip(same, tails):
            parts[i] = head + records[i] + struct.pack("<I", tail)
    return b"".join(parts)


def _example(number, length):
    x = (np.arange(64) % 251).astype("<f4")
    x[0] = x[-1] = number % 251
    features = (("name", field(1, field(1, (name(number) + b"abcdefghijklmnop")[:length]))),
                ("x", field(2, field(1, x.tobytes()))), ("y", field(3, field(1, varint(number)))))
    return field(1, b"".join(field(1, field(1, key.encode()) + field(2, value)) for key, value in features))


def field(number, payload):
    """A field of bytes of a protocol buffer."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(n):
    out = bytearray()
    n = int(n)
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def _table():
    t = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        t = np.where(t & 1, t >> 1 ^ np.uint32(0x82F63B78), t >> 1).astype(np.uint32)
    return t


def _masked(records, table=_table()):
    """TFRecord's checksums of equally long records, the rows of an array of uint8."""
    c = np.full(len(records), 0xFFFFFFFF, np.uint32)
    for column in np.ascontiguousarray(records.T):
        c = table[(c ^ column) & 255] ^ c >> np.uint32(8)
    c = (c ^ np.uint32(0xFFFFFFFF)).astype(np.uint64)
    return ((c >> np.uint64(15) | c << np.uint64(17)) + np.uint64(0xA282EAD8)) & np.uint64(0xFFFFFFFF)
