"""TFRecord files for `infeed inspect`, `verify` and `convert`: what they hold, and whether all of it can be read."""

import os
import zlib

import infeed
from infeed import _proto
from infeed._errors import DataLossError, NotFoundError
from infeed._progress import Progress

LOOKED_AT = 100  # records whose content is looked at
_HEAD = 4096
_FRAME = 16  # bytes of a record besides its own
_ENDINGS = (".tfrecord", ".tfrecords", ".tfrec", ".tfr")
_PACKED = {".gz": "GZIP", ".gzip": "GZIP", ".zz": "ZLIB", ".zlib": "ZLIB", ".zst": "ZSTD", ".zstd": "ZSTD"}


def named(path):
    """Whether a path is named as TFRecord files are, and the compression that its name tells, or None."""
    name = os.path.basename(path).lower()
    ending = next((e for e in _PACKED if name.endswith(e)), "")
    return name[:len(name) - len(ending)].endswith(_ENDINGS), _PACKED.get(ending)


def compression(path):
    """How a TFRecord file is compressed: "NONE", "GZIP", "ZLIB" or "ZSTD"; None: it is no TFRecord file."""
    with open(path, "rb") as file:
        head = file.read(_HEAD)
    if not head or framed(head):
        return "NONE"
    if head[:4] == b"\x28\xb5\x2f\xfd":
        return "ZSTD"
    try:
        begin = zlib.decompressobj(47).decompress(head, _HEAD)
    except zlib.error:
        return None
    if begin and not framed(begin):
        return None
    return "GZIP" if head[:2] == b"\x1f\x8b" else "ZLIB"


def framed(head):
    """Whether bytes begin with the 12 that come before a record: its size, and their checksum."""
    return len(head) >= 12 and _masked(_crc32c(head[:8])) == int.from_bytes(head[8:12], "little")


def _crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def _masked(crc):
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def read(paths, what, shown):
    """The records of files, one after the other, with a line of progress meanwhile."""
    for path in paths:
        if not os.path.exists(path):
            raise NotFoundError(f"{what}: {path} is not there")
    known = all(compression(path) == "NONE" for path in paths)
    done, total = 0, sum(map(os.path.getsize, paths)) if known else None
    with Progress(what, total, "bytes", shown) as progress:
        for i, record in enumerate(infeed.TFRecordDataset(paths, compression_type="AUTO")):
            yield record
            done += len(record) + _FRAME
            if i % 256 == 0:
                progress.at(done)


def examine(path, shown=False):
    """What is in a TFRecord file, all of which is read; "damage" says where that ended."""
    found = {"what": "TFRecord file", "path": path, "compression": compression(path), "bytes": os.path.getsize(path),
             "records": 0, "shortest": None, "longest": None, "content": None}
    sizes, first = [], []
    try:
        for record in read([path], "inspect", shown):
            size = len(record)
            if not sizes:
                sizes = [size, size]
            sizes = [min(sizes[0], size), max(sizes[1], size)]
            found["records"] += 1
            if len(first) < LOOKED_AT:
                first.append(record)
    except DataLossError as e:
        found["damage"] = {"error": str(e), "file": e.path, "offset": e.offset}
    if first:
        found.update(shortest=sizes[0], longest=sizes[1], content=content(first))
    return found


def content(records):
    """What records are, as a dict with "of": as far as all of the first ones agree."""
    for of, read, join in (("tf.train.Example", _proto.example, _examples), ("tf.train.SequenceExample", _proto.sequence, _sequences),
                           ("TensorProto", _proto.tensor, _tensors)):
        read_ = [read(r) for r in records]
        if all(r is not None for r in read_):
            return {"of": of, **join(read_)}
    try:
        return {"of": "text", "begins": records[0].decode()[:60]} if all(r.decode().isprintable() for r in records) else {"of": "bytes"}
    except UnicodeDecodeError:
        return {"of": "bytes"}


def _examples(found):
    return {"features": _features(found)}


def _sequences(found):
    return {"context": _features([c for c, _ in found]), "feature_lists": _features([lists for _, lists in found])}


def _features(found):
    """{name: {"dtype", "least", "most", "missing"}}: how many values each has, and how many records are without it."""
    out = {}
    for name in sorted({n for features in found for n in features}):
        have = [features[name] for features in found if name in features and features[name][0]]
        counts = [count for _, count in have]
        out[name] = {"dtype": "/".join(sorted({dtype for dtype, _ in have})) or None, "least": min(counts, default=0),
                     "most": max(counts, default=0), "missing": len(found) - len(have)}
    return out


def _tensors(found):
    return {"shapes": sorted({tuple(shape) for _, shape in found})[:5]}


def lines(found):
    """What `examine` found as lines for a person."""
    packed = "not compressed" if found["compression"] == "NONE" else f"compressed with {found['compression']}"
    out = [f"{found['path']}: TFRecord file, {found['bytes']} bytes, {packed}"]
    size = f" of {found['shortest']} to {found['longest']} bytes" if found["records"] else ""
    out.append(f"  {found['records']} records{size}" + (" before the damage" if "damage" in found else ""))
    if found["content"]:
        about = found["content"]
        out.append(f"  they are {about['of']}" + (f", such as {about['begins']!r}" if "begins" in about else "")
                   + (f" (the first {LOOKED_AT} were looked at)" if found["records"] > LOOKED_AT else ""))
        for title in ("features", "context", "feature_lists"):
            out += [f"    {title[:-1].replace('_', ' ') if title != 'context' else title} {name!r}: {_feature(f)}" for name, f in about.get(title, {}).items()]
    return out


def _feature(f):
    if f["dtype"] is None:
        return "without values"
    count = f"{f['least']}" if f["least"] == f["most"] else f"{f['least']} to {f['most']}"
    return f"{count} {f['dtype']}" + (f", missing in {f['missing']}" if f["missing"] else "")
