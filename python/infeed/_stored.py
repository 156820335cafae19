"""What is stored in files and folders, in words: for `infeed inspect`."""

import os
import re
import time

from infeed import _describe, _fingerprint, _load_tf, _records, _snapshot, _spec_text, _writing
from infeed._errors import Error, NotFoundError

OWN_FILES = re.compile(r"manifest\.json|journal-[0-9a-f]{16}(\.tmp)?|lease|lease-[0-9a-f]{16}\.tmp|[0-9a-f]{16}\.tmp")
CHUNKS = re.compile(r"[0-9a-f]{16}-(\d{4}|order)-\d{6,}\.chunk(\.tmp)?")
RUN, SHARD = re.compile(r"\d+"), re.compile(r"\d+\.shard")


def kind(path):
    """What a path is, to judge by its names: "file", "snapshot", "unfinished snapshot", "folder of snapshots",
    "dataset saved by tf.data", "unfinished dataset of tf.data" or "folder" (of other things).

    Raises:
        NotFoundError: it is not there.
    """
    if not os.path.exists(path):
        raise NotFoundError(f"{path} is not there")
    if not os.path.isdir(path):
        return "file"
    if (one := _one(path)) is not None:
        return one
    folders = (os.path.join(path, n) for n in os.listdir(path))
    return "folder of snapshots" if any(_one(f) in _SEVERAL for f in folders if os.path.isdir(f)) else "folder"


_SEVERAL = ("snapshot", "unfinished snapshot", "dataset saved by tf.data")


def _one(path):
    names = set(os.listdir(path))
    if _snapshot.MANIFEST in names:
        return "snapshot"
    if _snapshot.TF_METADATA in names or is_run(path) and os.path.exists(os.path.join(path, os.pardir, _snapshot.TF_METADATA)):
        return "dataset saved by tf.data"
    own = {n for n in names if OWN_FILES.fullmatch(n)}
    if "chunks" in names and os.path.isdir(os.path.join(path, "chunks")):
        chunks = os.listdir(os.path.join(path, "chunks"))
        if any(n.startswith("journal-") for n in own) or all(map(CHUNKS.fullmatch, chunks)) and (chunks or own == names - {"chunks"}):
            return "unfinished snapshot"
    return "unfinished dataset of tf.data" if any(map(is_run, (os.path.join(path, n) for n in names))) else None


def is_run(path):
    """Whether a path is a run of tf.data's: a folder of shards."""
    return RUN.fullmatch(os.path.basename(path)) is not None and os.path.isdir(path) and any(map(SHARD.fullmatch, os.listdir(path)))


def examine(path, shown=False):
    """What is at a path, as a dict with "what"; of a TFRecord file that is damaged, "damage" says where.

    Raises:
        NotFoundError: it is not there, or is a folder of other things.
        DataLossError: it is damaged, or a file of another kind; the text says what it looks like.
    """
    found = kind(path)
    if found == "file":
        if _describe.may_be(path) or _records.compression(path) is None:
            return _describe.examine(path)
        return _records.examine(path, shown)
    if found == "folder":
        names = ", ".join(sorted(os.listdir(path))[:5])
        advice = f"give one of the files in it: {names}" if names else "it is empty"
        raise NotFoundError(f"{path} is a directory without a snapshot or saved dataset; {advice}")
    return {"snapshot": snapshot, "unfinished snapshot": unfinished, "folder of snapshots": several,
            "dataset saved by tf.data": saved_by_tf, "unfinished dataset of tf.data": unfinished_tf}[found](path)


def is_stored(found):
    """Whether `lines` knows what `examine` found."""
    return found["what"] in _LINES


# -- snapshots ----------------------------------------------------------------------------


def several(path):
    """The snapshots in a folder, each with what is otherwise in the newest one."""
    inside = [os.path.join(path, n) for n in sorted(os.listdir(path))]
    found = [_of_several(p) for p in inside if os.path.isdir(p) and _one(p) in _SEVERAL]
    newest = max((s for s in found if s["what"] == "snapshot"), key=lambda s: s["written"], default=None)
    for s in found:
        if newest and s is not newest and s.get("parts") and newest.get("parts"):
            s["changed since"] = _fingerprint.difference(s["parts"], newest["parts"])
    damage = next(({"damage": {"error": s["error"]}} for s in found if "error" in s), {})
    return {"what": "folder of snapshots", "path": path, "snapshots": found, **damage}


def _of_several(path):
    try:
        return examine(path)
    except Error as error:  # the others are there all the same
        return {"what": "unreadable snapshot", "path": path, "error": str(error)}


def snapshot(path):
    """A snapshot that is whole, as far as its manifest says."""
    manifest = _snapshot.load_node(path, None, None) and _snapshot.read_manifest(path)  # the engine checks it
    about = manifest["about"] or {}
    return {
        "what": "snapshot", "path": path, "elements": manifest["elements"], "spec": manifest["spec"], "compression": manifest["compression"],
        "chunks": len(manifest["chunks"]), "streams": _streams(manifest["chunks"]), "bytes": sum(c["bytes"] for c in manifest["chunks"]),
        "written": os.path.getmtime(os.path.join(path, _snapshot.MANIFEST)), "version": manifest["version"],
        "fingerprint": about.get("fingerprint"), "parts": about.get("parts"), **_missing(path, manifest["chunks"]),
    }


def _missing(path, chunks):
    """The "problem" of a snapshot some of whose files are not there, or not whole."""
    for chunk in chunks:
        file = os.path.join(path, "chunks", chunk["file"])
        try:
            if (size := os.path.getsize(file)) != chunk["bytes"]:
                return {"problem": f"{file} has {size} bytes; {chunk['bytes']} were stored"}
        except OSError as error:
            return {"problem": f"{file}: {error.strerror}"}
    return {}


def unfinished(path):
    """A snapshot whose pass was not complete."""
    best = {"chunks": 0, "elements": 0, "parts": None}
    for name in os.listdir(path):
        if name.startswith("journal-") and not name.endswith(".tmp"):
            journal = _writing.journal(os.path.join(path, name))
            chunks = _writing.committed(journal)
            elements = sum(c["elements"] for c in chunks if not _writing.orders(c))
            if journal and elements >= best["elements"]:
                best = {"chunks": len(chunks), "elements": elements, "parts": (journal[0].get("about") or {}).get("parts")}
    return {"what": "unfinished snapshot", "path": path, "committed": best["elements"], "chunks": best["chunks"], "bytes": size(path),
            "being written": _writing.leased(path), "parts": best["parts"]}


def _streams(chunks):
    """How many parts a shard_func made of elements; None where there was none."""
    return len({c["file"].split("-")[1] for c in chunks if not _writing.orders(c)}) if any(map(_writing.orders, chunks)) else None


def size(path):
    """How many bytes the files below a folder have."""
    return sum(file_size(os.path.join(folder, f)) for folder, _, files in os.walk(path) for f in files)


def file_size(path):
    """How many bytes a file has; none where it is gone by now: others may write and remove files meanwhile."""
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


# -- what tf.data saved -------------------------------------------------------------------


def saved_by_tf(path):
    """What tf.data, or save(format="tf"), stored; "problem" says why it cannot be read, "spec" is None where nothing says it."""
    found = _load_tf.describe(path)
    folder, parts = found["path"], found["parts"] or []
    return {"what": _TF[found["kind"]], "path": path, "elements": found["elements"] if found["elements"] >= 0 else None, "spec": found["spec"],
            "tensors": found["types"], "compression": found["compression"] or None, "shards": len(parts), "bytes": sum(p["bytes"] for p in parts),
            "written": os.path.getmtime(os.path.join(folder, _snapshot.TF_METADATA)), "version": found["version"], "run": found["run"],
            "finished": found["finished"], "other runs": [os.path.basename(r) for r in other_runs(folder, found["run"])],
            **({"problem": found["problem"]} if found["problem"] else {})}


_TF = {"saved": "dataset saved by tf.data", "snapshot": "snapshot of tf.data", "distributed snapshot": "snapshot of tf.data's service"}


def other_runs(path, named):
    """The paths of the runs in a folder but the one with a name."""
    return [p for p in (os.path.join(path, n) for n in sorted(os.listdir(path)) if n != named) if is_run(p)]


def unfinished_tf(path):
    """Runs of which no metadata tells."""
    runs = other_runs(path, None)
    return {"what": "unfinished dataset of tf.data", "path": path, "bytes": sum(map(size, runs)), "other runs": [os.path.basename(r) for r in runs]}


# -- in words -----------------------------------------------------------------------------


def lines(found):
    """What `examine` found as lines for a person."""
    return _LINES[found["what"]](found)


def _several_lines(found):
    out = [f"{found['path']}: {many(len(found['snapshots']), 'snapshot')}"]
    for s in found["snapshots"]:
        out += ["", *lines(s)]
    return out


def _snapshot_lines(found):
    parts = f" of {many(found['streams'], 'part')} and their order" if found["streams"] else ""
    return [f"{found['path']}: snapshot", *_elements(found), f"  {found['bytes']} bytes in {many(found['chunks'], 'chunk')}{parts}, {found['compression']}",
            _written(found), *_parts(found), *_problem(found)]


def _unreadable_lines(found):
    return [f"{found['path']}: a snapshot that cannot be read: {found['error']}"]


def _problem(found):
    return [f"  it cannot be read: {found['problem']}"] if "problem" in found else []


def _unfinished_lines(found):
    committed = f"{many(found['committed'], 'element')} in {many(found['chunks'], 'chunk')} committed; the next pass goes on from there"
    out = [f"{found['path']}: unfinished snapshot", f"  {committed if found['chunks'] else 'nothing is committed; the next pass begins anew'}"]
    return out + ["  somebody writes it now"] * found["being written"] + _parts(found)


def _parts(found):
    """What a snapshot is made of, operation by operation, and what is otherwise in the newest one."""
    operations = {}
    for part in found.get("parts") or ():
        operation, _, detail = part.partition(": ")
        operations.setdefault(operation, []).append(detail)
    made = ", ".join(name + (f" ({', '.join(details)})" if details[0] else "") for name, details in operations.items())
    out = [f"  made of {made}"] if made else []
    if found.get("changed since"):
        out.append(f"  the newest one is of another definition, in which {'; '.join(found['changed since'])}")
    return out


def _tf_lines(found):
    parts = many(found["shards"], "chunk" if "service" in found["what"] else "shard")
    out = [f"{found['path']}: {found['what']}", *_elements(found), f"  {found['bytes']} bytes in {parts}, {found['compression'] or 'no files'}", _written(found)]
    if not found["spec"]:
        out.insert(2, f"  each stored as tensors of {', '.join(found['tensors'] or ['unknown dtypes'])}; load needs element_spec")
    out += ["  it was not finished"] * (not found["finished"])
    if found["other runs"]:
        out.append(f"  besides, {many(len(found['other runs']), 'run')} of no use: infeed prune removes such")
    return out + _problem(found)


def _unfinished_tf_lines(found):
    return [f"{found['path']}: unfinished dataset of tf.data: {many(len(found['other runs']), 'run')}, {found['bytes']} bytes, and no {_snapshot.TF_METADATA}; save it again"]


def _elements(found):
    count = "an unknown number of elements" if found["elements"] is None else many(found["elements"], "element")
    return [f"  {count}" + (f" of {_spec_text.text(found['spec'])}" if found["spec"] else "")]


def many(n, name):
    """A count with its noun."""
    return f"{n} {name}" + "s" * (n != 1)


def _written(found):
    return f"  written {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(found['written']))}"


_LINES = {"TFRecord file": _records.lines, "folder of snapshots": _several_lines, "snapshot": _snapshot_lines, "unfinished snapshot": _unfinished_lines,
          "unreadable snapshot": _unreadable_lines,
          **dict.fromkeys(_TF.values(), _tf_lines), "unfinished dataset of tf.data": _unfinished_tf_lines}
