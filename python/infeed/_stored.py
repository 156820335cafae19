"""What is in a folder of snapshots, in words, and what can go: for `infeed inspect`, `verify` and `prune`."""

import json
import os
import sys
import time

from infeed import _fingerprint, _snapshot
from infeed._errors import DataLossError, Error, NotFoundError

LEASE = 60  # seconds for which a writer's lease holds


def holds_snapshots(path):
    """Whether a path is a folder of a snapshot, whole or not, or of such."""
    def is_one(folder):
        return os.path.isfile(os.path.join(folder, _snapshot.MANIFEST)) or os.path.isdir(os.path.join(folder, "chunks"))

    return os.path.isdir(path) and (is_one(path) or any(is_one(os.path.join(path, n)) for n in os.listdir(path)))


def examine(path):
    """What a folder is, as a dict with "what".

    Raises:
        NotFoundError: it is not there, or holds no snapshot.
        DataLossError: the manifest of a snapshot is damaged.
    """
    if os.path.isfile(os.path.join(path, _snapshot.MANIFEST)):
        return snapshot(path)
    if os.path.isdir(os.path.join(path, "chunks")):
        return unfinished(path)
    inside = [os.path.join(path, n) for n in sorted(os.listdir(path))]
    found = [examine(p) for p in inside if os.path.isdir(os.path.join(p, "chunks"))]
    if not found:
        raise NotFoundError(f"inspect: {path} holds no snapshot")
    newest = max((s for s in found if s["what"] == "snapshot"), key=lambda s: s["written"], default=None)
    for s in found:
        if newest and s is not newest and s.get("parts") and newest.get("parts"):
            s["differs from the newest"] = _fingerprint.difference(newest["parts"], s["parts"])
    return {"what": "folder of snapshots", "path": path, "snapshots": found}


def snapshot(path):
    """A snapshot that is whole, as far as its manifest says."""
    manifest = _snapshot.load_node(path, None, None) and _snapshot.read_manifest(path)  # the engine checks it
    about = manifest["about"] or {}
    return {
        "what": "snapshot", "path": path, "elements": manifest["elements"], "spec": manifest["spec"], "compression": manifest["compression"],
        "chunks": len(manifest["chunks"]), "bytes": sum(c["bytes"] for c in manifest["chunks"]),
        "written": os.path.getmtime(os.path.join(path, _snapshot.MANIFEST)), "version": manifest["version"],
        "fingerprint": about.get("fingerprint"), "parts": about.get("parts"),
    }


def unfinished(path):
    """A snapshot whose pass was not complete."""
    best = {"chunks": 0, "elements": 0, "parts": None}
    for name in os.listdir(path):
        if name.startswith("journal-") and not name.endswith(".tmp"):
            lines = _lines(os.path.join(path, name))
            elements = sum(line.get("elements", 0) for line in lines[1:])
            if lines and elements >= best["elements"]:
                best = {"chunks": len(lines) - 1, "elements": elements, "parts": (lines[0].get("about") or {}).get("parts")}
    return {"what": "unfinished snapshot", "path": path, "committed": best["elements"], "chunks": best["chunks"], "bytes": _size(path),
            "being written": _leased(path), "parts": best["parts"]}


def _lines(path):
    """The whole lines of a journal; the engine, which checks them, is the judge of them."""
    out = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                out.append(json.loads(line))
            except ValueError:
                break
    return out


def _leased(path):
    try:
        return abs(time.time() - os.path.getmtime(os.path.join(path, "lease"))) < LEASE
    except OSError:
        return False


def _size(path):
    return sum(os.path.getsize(os.path.join(folder, f)) for folder, _, files in os.walk(path) for f in files)


def lines(found):
    """What `examine` found as lines for a person."""
    if found["what"] == "folder of snapshots":
        out = [f"{found['path']}: {len(found['snapshots'])} snapshots"]
        for s in found["snapshots"]:
            out += ["", *lines(s)]
        return out
    out = [f"{found['path']}: {found['what']}"]
    if found["what"] == "snapshot":
        specs = ", ".join(f"{c['dtype']}{c['shape']}" for c in found["spec"]["components"])
        out += [f"  {found['elements']} elements of {specs or 'no components'}",
                f"  {found['bytes']} bytes in {found['chunks']} chunks, {found['compression']}",
                f"  written {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(found['written']))}"]
    else:
        out.append(f"  {found['committed']} elements in {found['chunks']} chunks are committed; the next pass goes on from there")
        if found["being written"]:
            out.append("  somebody writes it now")
    out += [f"  made of {part}" for part in found.get("parts") or ()]
    return out + [f"  differs from the newest: {d}" for d in found.get("differs from the newest", ())]


# -- verify ------------------------------------------------------------------------------


def verify(path, progress=None):
    """Reads all that is stored at a path, and says what was read; the first damage is a DataLossError.

    progress: called now and then with (done, total); total is None where it is not known.
    """
    import infeed

    if os.path.isdir(path):
        folders = [_snapshot.find(path)] if os.path.isfile(os.path.join(_snapshot.find(path), _snapshot.MANIFEST)) else _snapshot.folders(path)
        datasets = [infeed.Dataset.load(f) for f in folders or [path]]
        total = sum(map(len, datasets))
    elif os.path.exists(path):
        datasets, total = [infeed.TFRecordDataset(path, compression_type="AUTO")], None
    else:
        raise NotFoundError(f"verify: {path} is not there")
    done = 0
    for ds in datasets:
        for _ in ds:
            done += 1
            if progress and done % 1024 == 0:
                progress(done, total)
    return {"path": path, "whole": True, "snapshots" if os.path.isdir(path) else "files": len(datasets), "elements": done}


def bar(done, total):
    """A line of progress on a terminal."""
    share = f"{100 * done // total:3d} %" if total else ""
    print(f"\r{share} {done} elements ", end="", file=sys.stderr, flush=True)


# -- prune -------------------------------------------------------------------------------


def leftovers(path):
    """What can go from a folder of snapshots, as dicts: unfinished snapshots, all but the newest, and files that no manifest names."""
    found = examine(path)
    snapshots = found["snapshots"] if found["what"] == "folder of snapshots" else [found]
    whole = [s for s in snapshots if s["what"] == "snapshot"]
    newest = max(whole, key=lambda s: s["written"], default=None)
    out = []
    for s in snapshots:
        if _leased(s["path"]):
            continue
        if s["what"] != "snapshot":
            out.append({"path": s["path"], "why": f"it is not finished: {s['committed']} elements are committed", "bytes": s["bytes"]})
        elif s is not newest:
            changes = "; ".join(s.get("differs from the newest", [])[:3]) or "another definition"
            out.append({"path": s["path"], "why": f"a newer one is of something else: {changes}", "bytes": _size(s["path"])})
        else:
            out += _strays(s["path"])
    return out


def _strays(path):
    manifest = _snapshot.read_manifest(path)
    named = {os.path.join(path, "chunks", c["file"]) for c in manifest["chunks"]} | {os.path.join(path, _snapshot.MANIFEST)}
    every = [os.path.join(folder, f) for folder, _, files in os.walk(path) for f in files]
    return [{"path": f, "why": "a writer that did not commit left it", "bytes": os.path.getsize(f)} for f in sorted(set(every) - named)]


def remove(item):
    """Removes what `leftovers` named. The manifest goes first: a snapshot is whole or not there."""
    path = item["path"]
    if not os.path.isdir(path):
        os.remove(path)
        return
    manifest = os.path.join(path, _snapshot.MANIFEST)
    if os.path.exists(manifest):
        os.remove(manifest)
    for folder, _, files in os.walk(path, topdown=False):
        for f in files:
            os.remove(os.path.join(folder, f))
        os.rmdir(folder)


def command(options):
    """`infeed inspect`, `verify` and `prune` of the options that the command line gave; the exit status."""
    try:
        if options.command == "inspect":
            found = examine(options.path)
            print(json.dumps(found, indent=2) if options.json else "\n".join(lines(found)))
            return 0
        return (_verify if options.command == "verify" else _prune)(options)
    except (Error, OSError) as err:
        if options.json:
            offset = err.offset if isinstance(err, DataLossError) else None
            print(json.dumps({"path": options.path, "whole": False, "error": str(err), "file": getattr(err, "path", None), "offset": offset}, indent=2))
        else:
            print(f"infeed: {err}", file=sys.stderr)
        return 1


def _verify(options):
    shown = not options.json and sys.stderr.isatty()
    try:
        found = verify(options.path, bar if shown else None)
    finally:
        if shown:
            print(file=sys.stderr)
    print(json.dumps(found, indent=2) if options.json else f"{options.path}: whole, {found['elements']} elements")
    return 0


def _prune(options):
    found = leftovers(options.path)
    if options.json:
        print(json.dumps({"path": options.path, "removed" if options.yes else "can go": found}, indent=2))
    else:
        for item in found:
            print(f"{item['path']} ({item['bytes']} bytes): {item['why']}")
        print(f"{len(found)} can go" if found else "nothing can go")
    if found and not options.yes and not options.json:
        options.yes = input("remove them? [y/N] ").strip().lower() in ("y", "yes")
    if options.yes:
        for item in found:
            remove(item)
    return 0
