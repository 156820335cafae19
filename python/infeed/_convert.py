"""infeed convert: elements in one format, written in another."""

import os

import infeed
from infeed import _durable, _load_tf, _records, _snapshot, _spec_text, _stored, _verify
from infeed._errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnimplementedError
from infeed._progress import Progress
from infeed._writer import TFRecordOptions, TFRecordWriter

WHAT = {"infeed": "snapshot", "tf": "dataset saved by tf.data", "tfrecord": "TFRecord file"}
_COMPRESSIONS = {"infeed": ("NONE", "AUTO", "GZIP", "SNAPPY", "ZSTD"), "tf": ("NONE", "AUTO", "GZIP", "SNAPPY"), "tfrecord": ("NONE", "GZIP", "ZLIB", "ZSTD")}


def convert(sources, destination, to=None, compression=None, spec=None, force=False, shown=False):
    """Writes the elements of sources to a destination; returns what was written.

    sources: one folder of a snapshot or saved dataset, or TFRecord files, whose records
    are elements of bytes. to: "infeed", "tf" or "tfrecord"; None: as destination is
    named. spec: what elements of a folder are like, as a text, where it does not say.
    force: what is there is replaced, when all is written. Whatever goes wrong,
    nothing is left behind. Raises AlreadyExistsError for a destination that is there,
    and InvalidArgumentError, UnimplementedError for elements that it cannot hold.
    """
    looks, packed = _records.named(destination)
    to = to or ("tfrecord" if looks else "infeed")
    compression = _compression(to, compression, packed)
    dataset, what = _dataset(sources, spec)
    _check_destination(destination, sources, to, force)
    if to == "tfrecord":
        elements = _write_records(dataset, destination, compression, shown)
    else:
        saving = _snapshot.saving(dataset, destination, compression, None, to).iterator(epoch=0)
        try:
            elements = int(_verify.watched(saving, "convert", dataset.cardinality(), shown))
        finally:
            saving.close()
    size = os.path.getsize(destination) if to == "tfrecord" else _stored.size(destination)
    return {"from": {"what": what, "paths": sources}, "what": WHAT[to], "path": destination, "compression": compression,
            "elements": elements, "bytes": size}


def _compression(to, given, packed):
    name = (given or (packed if to == "tfrecord" else None) or "NONE").upper()
    if name not in _COMPRESSIONS[to]:
        raise InvalidArgumentError(f"convert: compression is {given!r:.80}; for a {WHAT[to]} it must be {', '.join(_COMPRESSIONS[to])}")
    return name


def _dataset(sources, spec):
    """The dataset of sources, and what they are."""
    if len(sources) == 1 and (kind := _stored.kind(sources[0])) != "file":
        return _loaded(sources[0], spec), kind
    if spec is not None:
        raise InvalidArgumentError("convert: --spec is for folders; records of TFRecord files are strings of bytes")
    for path in sources:
        if not os.path.isfile(path):
            raise (InvalidArgumentError if os.path.exists(path) else NotFoundError)(
                f"convert: {path} is " + ("a folder; of several sources, each must be a TFRecord file" if os.path.exists(path) else "not there"))
    return infeed.TFRecordDataset(sources, compression_type="AUTO"), "TFRecord file" if len(sources) == 1 else "TFRecord files"


def _loaded(path, spec):
    if spec is not None:
        return infeed.Dataset.load(path, _spec_text.parse(spec))
    try:
        return infeed.Dataset.load(path)
    except (InvalidArgumentError, NotFoundError) as e:
        if _load_tf.folders(path) and not _load_tf.describe(path)["spec"]:
            raise InvalidArgumentError(f"{e}. For infeed convert, that is --spec, such as --spec \"(float32[28, 28], int64[])\"") from None
        raise


def _check_destination(path, sources, to, force):
    if not os.path.lexists(path):
        parent = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(parent):
            raise NotFoundError(f"convert: the folder {parent} is not there; make it, or give another DST")
        return
    if any(os.path.exists(s) and os.path.samefile(s, path) for s in sources):
        raise InvalidArgumentError(f"convert: {path} is both SRC and DST; give another DST")
    is_folder = os.path.isdir(path)
    if is_folder != (to != "tfrecord"):
        raise AlreadyExistsError(f"convert: {path} is a {'folder' if is_folder else 'file'}, and a {WHAT[to]} is to be written; give another DST, or another --to")
    if is_folder and not os.listdir(path):
        return
    if is_folder and _stored.kind(path) in ("folder", "folder of snapshots"):
        raise AlreadyExistsError(f"convert: {path} is a folder with other things in it; give another DST")
    if not force:
        raise AlreadyExistsError(f"convert: {path} is there; --force replaces it")


def _write_records(dataset, path, compression, shown):
    """Writes elements, each of which is one string of bytes, as the records of a file."""
    take = _taker(dataset)
    own, total, n = f"{path}.{os.getpid()}.tmp", dataset.cardinality(), 0
    try:
        with Progress("convert", total if total >= 0 else None, shown=shown) as progress, TFRecordWriter(own, TFRecordOptions(compression)) as writer:
            for n, element in enumerate(dataset, 1):
                writer.write(take(element))
                if n % 256 == 0:
                    progress.at(n)
        os.replace(own, path)
    except BaseException:
        _durable.remove(own)
        raise
    _durable.sync_folder(os.path.dirname(path))
    return n


def _taker(dataset):
    """What makes a record of an element: its only component, where that is one string."""
    specs, structure = dataset._node.specs, dataset._node.structure
    if len(specs) != 1 or specs[0].shape != () or specs[0].dtype.kind not in "OS":
        raise UnimplementedError(f"convert: a TFRecord file holds one string of bytes for each element, and the elements are {dataset.element_spec}; "
                                 "give --to infeed or --to tf, or save them after .map(infeed.io.serialize_tensor)")

    def take(value):
        s = structure
        while s.kind != "leaf":
            value, s = next(iter(value.values() if s.kind == "dict" else value)), s.items[0]
        return bytes(value)

    return take
