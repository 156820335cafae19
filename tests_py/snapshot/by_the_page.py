"""A reader of snapshots that knows what docs/format/snapshot.md says, and nothing of infeed.

It reads what is stored uncompressed or with gzip. Whatever is not as the page says is
an AssertionError.
"""

import json
import re
import struct
import zlib

import numpy as np

_TABLE = []
for _n in range(256):
    for _ in range(8):
        _n = _n >> 1 ^ (0x82F63B78 if _n & 1 else 0)
    _TABLE.append(_n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def unsealed(line):
    """A sealed line's object."""
    assert re.fullmatch(rb',"crc32c":"[0-9a-f]{8}"}\n', line[-22:]) and int(line[-11:-3], 16) == crc32c(line[:-22])
    return json.loads(line)


class Chunk:
    """One file of chunks/: its blocks, each a list of the bytes of its pieces."""

    def __init__(self, path, footer=None):
        data = self.data = path.read_bytes()
        magic, version, zeros, crc = struct.unpack("<8sI48sI", data[:64])
        assert (magic, version, zeros) == (bytes.fromhex("89494643484e4b0a"), 1, bytes(48)) and crc == crc32c(data[:60])
        at, size, crc, version, own, magic = struct.unpack("<QIIII8s", data[-32:])
        assert (magic, version) == (bytes.fromhex("894946464f4f540a"), 1) and own == crc32c(data[-32:-12])
        assert at + size + 32 == len(data) and crc == crc32c(data[at:at + size]) and footer in (None, crc)
        self.at, self.footer = 64, memoryview(data)[at:at + size]
        self.spec = json.loads(bytes(self.take(*self.fields("<I"))))
        blocks, pieces = self.fields("<II")
        described = [(self.fields("<I")[0], [self.described() for _ in range(pieces)]) for _ in range(blocks)]
        assert len(self.footer) == 0
        self.blocks = [(rows, [self.piece(*d) for d in each]) for rows, each in described]
        assert self.at == at

    def take(self, n):
        out, self.footer = self.footer[:n], self.footer[n:]
        assert len(out) == n
        return out

    def fields(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def described(self):
        raw, stored, codec, width, zeros = self.fields("<QQBBH")
        assert zeros == 0
        pages = 1 if codec else -(-(-(-stored // 64) * 64) // (16 << 10))
        return raw, stored, codec, width, self.fields(f"<{pages}I")

    def piece(self, raw, stored, codec, width, sums):
        filled = -(-stored // 64) * 64
        all_ = self.data[self.at:self.at + filled]
        self.at += filled
        assert all_[stored:] == bytes(filled - stored)
        size = filled if codec else 16 << 10
        assert [crc32c(all_[k * size:filled if k == len(sums) - 1 else (k + 1) * size]) for k in range(len(sums))] == list(sums)
        data = all_[:stored]
        if codec:
            assert codec == 1, "only gzip is read here"
            data = zlib.decompress(data, 31)
            if width > 1:
                n = len(data) // width
                data = np.frombuffer(data[:n * width], "u1").reshape(width, n).T.tobytes() + data[n * width:]
        assert len(data) == raw
        return data

    def elements(self):
        """Components of each element, as arrays; text as lists of bytes."""
        for rows, pieces in self.blocks:
            pieces = iter(pieces)
            columns = [component(c, rows, pieces) for c in self.spec["components"]]
            assert next(pieces, None) is None
            yield from zip(*columns)


def component(spec, rows, pieces):
    """One component of the elements of a block."""
    open_ = spec["shape"].count(-1)
    sizes = np.frombuffer(next(pieces), "<i8").reshape(rows, open_) if open_ else [()] * rows
    shapes = []
    for given in sizes:
        given = iter(given)
        shapes.append(tuple(int(next(given)) if d == -1 else d for d in spec["shape"]))
    counts = [int(np.prod(s, dtype="int64")) for s in shapes]
    if spec["dtype"] == "|O":
        ends, data = np.frombuffer(next(pieces), "<i8").tolist(), next(pieces)
        texts = [data[a:b] for a, b in zip([0, *ends], ends)]
        return [texts[sum(counts[:i]):sum(counts[:i + 1])] for i in range(rows)]
    values = np.frombuffer(next(pieces), spec["dtype"])
    return [v.reshape(s) for v, s in zip(np.split(values, np.cumsum(counts)[:-1]), shapes)]


def read(folder):
    """The manifest, and the elements as they lie there: those of each chunk in the manifest's order."""
    (line,) = (folder / "manifest.json").read_bytes().splitlines(keepends=True)
    manifest = unsealed(line)
    assert (manifest["format"], manifest["version"]) == ("infeed.snapshot", 1)
    chunks = []
    for c in manifest["chunks"]:
        path = folder / "chunks" / c["file"]
        assert re.fullmatch(r"[0-9a-f]{16}-(\d{4}|order)-\d{6}\.chunk", c["file"])
        assert path.stat().st_size == c["bytes"]
        chunk = Chunk(path, c["footer"])
        assert "order" in c["file"] or chunk.spec == manifest["spec"]
        elements = list(chunk.elements())
        assert len(elements) == c["elements"]
        chunks.append((c["file"].split("-")[1], elements))
    assert manifest["elements"] == sum(len(e) for stream, e in chunks if stream != "order")
    return manifest, chunks


def in_order(chunks):
    """The elements of chunks in streams, in the order in which they were written."""
    group = {}
    for stream, elements in chunks:
        if stream != "order":
            group[int(stream)] = elements
            continue
        for (number,) in elements:
            yield group[int(number) >> 32][int(number) & 0xFFFFFFFF]
        group = {}
