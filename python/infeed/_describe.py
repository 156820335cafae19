"""What a file of infeed's says, in words: states, checkpoints and backups. For `infeed inspect`.

`examine` gives what is found as a dict for JSON, `lines` the same for a person. Both
need nothing but the file: neither the dataset nor the model, nor Keras.
"""

import json
import os

from infeed import _archive, _checkpoint, _records
from infeed._errors import DataLossError, NotFoundError

# Sources whose innermost token is (file, offset, ...), as core/source makes it.
FILES = ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "CsvDataset")


def may_be(path):
    """Whether a file begins as those do that `examine` knows."""
    with open(path, "rb") as file:
        start = file.read(64)
    if not start:
        return os.path.splitext(path)[1] in (".json", ".npz")
    return not _records.framed(start) and (start[:2] == b"PK" or start.lstrip()[:1] == b"{")


def examine(path):
    """What a file is, as a dict with "what".

    Raises:
        NotFoundError: it is not there.
        DataLossError: it is damaged, or nothing of infeed's; the text says what it looks like.
    """
    if not os.path.exists(path):
        raise NotFoundError(f"inspect: {path} is not there")
    with open(path, "rb") as file:
        start = file.read(4)
        text = start + file.read() if start[:2] != b"PK" else b""
    if start[:2] == b"PK":
        return backup(_archive.read(path, arrays=False)[0], os.path.getsize(path))
    try:
        document = json.loads(text.decode())
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict) and "infeed" in document or document is None and b'"infeed"' in text[:100]:
        return checkpoint(_checkpoint.read(path))
    if isinstance(document, dict) and (found := state(document)) is not None:
        return found
    what = "JSON of something else" if document is not None else "neither JSON nor a zip file"
    error = DataLossError(f"inspect: {path} is no TFRecord file, and no state, checkpoint or backup of infeed's: it is {what}")
    error.path = path
    raise error


def checkpoint(document):
    found = {"what": "checkpoint", **{k: document[k] for k in ("step", "version", "saved")}, "states": {}}
    content = document["state"]
    many = content.items() if state(content) is None else [("iterator", content)]
    for name, value in many:
        found["states"][name] = state(value) or {"what": "state of something else", "state": value}
    return found


def backup(document, size):
    history = document["callbacks"].get("History 1", {}).get("history", {})
    return {
        "what": "backup", "version": document["version"], "keras": document["keras"], "backend": document["backend"],
        "epoch": document["epoch"], "batch": document["batch"], "stopped": document["stopped"], "data": state(document["data"]),
        "history": {k: v for k, v in history.items()}, "callbacks": sorted(document["callbacks"]),
        "variables": {k: len(v) for k, v in document["variables"].items()}, "bytes": size}


def state(document):
    """What a state says; None: it is none."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind in ("pydataset", "fit"):
        found = {"what": "state of a PyDataset", "class": document["class"], "pass": document["pass"],
                 "position": document["position"], "length": document["length"], "seed": document["seed"],
                 "shuffle": document["shuffle"]}
        if "iterator" in document:
            found["iterator"] = state(document["iterator"])
        return found
    if kind != "dataset":
        return None
    found = {"what": "state of a Dataset", "pass": document["pass"], "position": document["position"],
             "seeds": document.get("seeds", []), "structure": document.get("structure", []), "sources": _places(document)}
    if "shard" in document:
        found["shard"] = document["shard"]
    return found


def _places(document):
    """From where each source is read again: (file, offset) of files, else an element; what follows there may have been given."""
    structure = document.get("structure") or [""]
    source = structure[0].partition("(")[0]
    found, tokens = [], [document.get("token")]
    while tokens:
        token = tokens.pop(0)
        if not isinstance(token, dict):
            continue
        inner = [t for t in token.get("in", ()) if t]
        at = token.get("at", [])
        if inner:
            tokens = inner + tokens
        elif at and source in FILES and len(at) >= 2:
            found.append({"source": source, "file": at[0], "offset": at[1]})
        elif at:
            found.append({"source": source, "element": at[0]})
    return found if len(found) <= 1 or source in FILES else []


# -- in words ------------------------------------------------------------------------------


def lines(found):
    """The findings of `examine` as lines of text."""
    return {"checkpoint": _checkpoint_lines, "backup": _backup_lines}.get(found["what"], _state_lines)(found)


def _checkpoint_lines(found):
    out = [f"checkpoint of step {found['step']}, saved {found['saved']} by infeed {found['version']}"]
    for name, value in found["states"].items():
        out += [f"{name}: {line}" if i == 0 else f"  {line}" for i, line in enumerate(_state_lines(value))]
    return out


def _backup_lines(found):
    batch, epoch = found["batch"], found["epoch"]
    where = f"before epoch {epoch}" if not batch else f"in epoch {epoch}, before batch {batch}"
    out = [f"backup of a training with Keras {found['keras']} on {found['backend']}, by infeed {found['version']}",
           f"it was {where} (both are counted from 0)" + ("; the training was stopped there" if found["stopped"] else "")]
    out += [f"data: {line}" if i == 0 else f"  {line}" for i, line in enumerate(_state_lines(found["data"]))]
    for name, values in found["history"].items():
        out.append(f"{name}: {', '.join(f'{v:.4g}' if isinstance(v, float) else str(v) for v in values[-5:])}"
                   + (" (the last 5 epochs)" if len(values) > 5 else ""))
    counts = ", ".join(f"{n} {k}" for k, n in found["variables"].items() if n)
    return out + [f"variables: {counts}; {found['bytes'] / 1e6:.1f} MB", f"callbacks: {', '.join(found['callbacks']) or 'none'}"]


def _state_lines(found):
    if found["what"] == "state of a PyDataset":
        of = "" if found["length"] is None else f" of {found['length']}"
        order = f"shuffled with seed {found['seed']}" if found["shuffle"] else f"not shuffled; seed {found['seed']}"
        out = [f"{found['class']}: in pass {found['pass']}, batch {found['position']}{of} comes next (counted from 0); {order}"]
        return out + [f"  {line}" for line in _state_lines(found["iterator"])] if found.get("iterator") else out
    if found["what"] != "state of a Dataset":
        return [f"{found['what']}: {json.dumps(found['state']):.200}"]
    shard = "" if found.get("shard") in (None, [1, 0]) else ", reader {1} of {0}".format(*found["shard"])
    out = [f"Dataset: in pass {found['pass']}, element {found['position']} comes next (counted from 0){shard}"]
    for place in found["sources"]:
        if "file" in place:
            out.append(f"  {place['source']} is read again from file {place['file']} of its list (counted from 0), byte {place['offset']}")
        else:
            out.append(f"  {place['source']} goes on from its element {place['element']}")
    if found["seeds"]:
        out.append(f"  seeds: {', '.join(map(str, found['seeds']))}")
    return out + [f"  step {i}: {step}" for i, step in enumerate(found["structure"])]
