"""infeed verify: all that is stored at a path is read, and the first damage is an error with its place."""

import numpy as np

import infeed
from infeed import _archive, _describe, _load_tf, _nodes, _records, _snapshot, _stored
from infeed._errors import Error
from infeed._progress import Progress


def verify(path, shown=False):
    """Reads all that is stored at a path, and says what was read.

    shown: with a line of progress, on a terminal. Raises DataLossError, with file and
    place, where something is damaged, and NotFoundError where there is nothing.
    """
    kind = _stored.kind(path)
    if kind == "file":
        return _file(path, shown)
    folders = [*_snapshot.folders(path), *_load_tf.folders(path)] if kind == "folder of snapshots" else []
    folders = folders or [path]  # what is there instead, loading says
    elements = sum(count(_load_tf.dataset(f) if _load_tf.folders(f) else infeed.Dataset.load(f), "verify", shown) for f in folders)
    return {"path": path, "whole": True, "what": kind, "snapshots": len(folders), "elements": elements}


def _file(path, shown):
    if _describe.may_be(path):
        found = _describe.examine(path)
        if found["what"] == "backup":
            _archive.read(path)  # the arrays too
        return {"path": path, "whole": True, "what": found["what"]}
    return {"path": path, "whole": True, "what": "TFRecord file", "elements": sum(1 for _ in _records.read([path], "verify", shown))}


def count(dataset, what, shown):
    """How many elements a dataset has, all of which are made."""
    counted = dataset._with(_nodes.FoldNode("reduce", dataset._node, np.int64(0), lambda n, *_: n + 1))
    it = counted.iterator(epoch=0)
    try:
        return int(watched(it, what, dataset.cardinality(), shown))
    finally:
        it.close()


def watched(it, what, total, shown):
    """The next element of an iterator, with a line of progress that tells what its source has made meanwhile."""
    def made():
        try:
            stages = it._counted()["stages"]
        except Error:  # it is being closed
            stages = []
        return stages[0]["elements"] if stages else 0

    with Progress(what, total if total >= 0 else None, shown=shown) as progress, progress.watching(made):
        return next(it)


def amount(found):
    """How much was read, in words."""
    many = f"{found['elements']} {'records' if found['what'] == 'TFRecord file' else 'elements'}" if "elements" in found else f"a {found['what']}"
    return many + (f" in {found['snapshots']} snapshots" if found.get("snapshots", 1) > 1 else "")
