"""infeed prune: what is of no use any more, and removing it. Only what has the names of infeed's or tf.data's is ever removed."""

import contextlib
import os
import re

from infeed import _snapshot, _stored, _writing
from infeed._errors import InvalidArgumentError

_TEMPORARY = re.compile(r"(snapshot\.metadata|dataset_spec\.pb)-tmp-\d+")


def leftovers(path):
    """What can go from a folder, as dicts with "path", "why" and "bytes".

    Of snapshots those that are unfinished, all but the newest, and files that no manifest
    names; of what tf.data saved, runs that its metadata do not name. What was written in
    the last minute may be in the making, and is left out.
    """
    kind = _stored.kind(path)
    if kind == "file":
        raise InvalidArgumentError(f"prune: {path} is a file; give a folder of snapshots, or one of a saved dataset")
    found = _stored.examine(path)
    if "tf.data" in kind:
        return _of_tf(path, found.get("run"))
    snapshots = found["snapshots"] if kind == "folder of snapshots" else [found]
    newest = max((s for s in snapshots if s["what"] == "snapshot"), key=lambda s: s["written"], default=None)
    out = []
    for s in snapshots:
        if "error" in s:  # it is damaged, or of a newer version
            continue
        if "tf.data" in s["what"]:
            out += _of_tf(s["path"], s["run"])
            continue
        if _writing.leased(s["path"]) or s["what"] != "snapshot" and not s["chunks"] and _written_lately(s["path"]):  # save has no lease
            continue
        if s["what"] != "snapshot":
            out.append(_item(s["path"], f"it is not finished: {s['committed']} elements are committed"))
        elif s is not newest:
            changes = "; ".join(s.get("changed since", [])[:3]) or "another definition"
            out.append(_item(s["path"], f"a newer one is of another definition: {changes}"))
        else:
            out += _strays(s["path"])
    return out


def _item(path, why):
    return {"path": path, "why": why, "bytes": sum(map(_stored.file_size, _files(path)))}


def _strays(path):
    manifest = _snapshot.read_manifest(path)
    named = {os.path.join(path, "chunks", c["file"]) for c in manifest["chunks"]} | {os.path.join(path, _snapshot.MANIFEST)}
    strays = [f for f in _files(path) if f not in named]
    busy = {writer for f in strays if (writer := _writer(f)) and _written_lately(f)}  # what else these wrote is as old as it is
    return [_item(f, "a writer that did not commit left it") for f in strays if _writer(f) not in busy and not _written_lately(f)]


def _writer(file):
    """The writer in the name of a file; None: it has none."""
    found = re.search(r"[0-9a-f]{16}", os.path.basename(file))
    return found and found[0]


def _of_tf(path, run):
    out = [_item(r, "no metadata name it: it was not finished, or another took its place") for r in _stored.other_runs(path, run) if not _written_lately(r)]
    for name in sorted(os.listdir(path)):
        if _TEMPORARY.fullmatch(name) and not _written_lately(at := os.path.join(path, name)):
            out.append(_item(at, "a writer that did not commit left it"))
    return out


def _written_lately(path):
    return _writing.lately([path, *_files(path)])


def _files(path):
    """The files of a snapshot or run, or the file itself: those with names of infeed's or tf.data's."""
    if not os.path.isdir(path):
        return [path]
    out = []
    for name in sorted(os.listdir(path)):
        at = os.path.join(path, name)
        if name == "chunks" and os.path.isdir(at):
            out += [os.path.join(at, f) for f in sorted(os.listdir(at)) if _stored.CHUNKS.fullmatch(f)]
        elif _stored.SHARD.fullmatch(name) and os.path.isdir(at):
            out += [os.path.join(at, f) for f in sorted(os.listdir(at)) if re.fullmatch(r"\d+\.snapshot", f)]
        elif _stored.OWN_FILES.fullmatch(name):
            out.append(at)
    return out


def remove(item):
    """Removes what `leftovers` named. The manifest goes first: a snapshot is whole or not there."""
    path = item["path"]
    for f in sorted(_files(path), key=lambda f: os.path.basename(f) != _snapshot.MANIFEST):
        with contextlib.suppress(FileNotFoundError):
            os.remove(f)
    if os.path.isdir(path):
        inside = [os.path.join(path, n) for n in os.listdir(path) if n == "chunks" or _stored.SHARD.fullmatch(n)]
        for folder in [*inside, path]:
            if not os.listdir(folder):  # what else is there stays, and so does the folder
                os.rmdir(folder)


def text(found):
    """What `leftovers` found, for a person."""
    return "\n".join([f"{i['path']} ({i['bytes']} bytes): {i['why']}" for i in found] + [f"{len(found)} can go" if found else "nothing can go"])


def asked():
    """Whether the user says yes; no, where there is nobody to ask."""
    try:
        return input("remove them? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
