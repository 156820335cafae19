"""What a snapshot's folder says of those who write it: journals and leases (docs/format/snapshot.md)."""

import json
import os
import socket
import time

LEASE = 60  # seconds for which what was just written may be being written


def journal(path):
    """The whole lines of a journal; the engine, which checks them, is the judge of them."""
    out = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                found = json.loads(line)
                if not isinstance(found, dict) or out and not (isinstance(found.get("file"), str) and isinstance(found.get("elements"), int)):
                    break
                out.append(found)
    except (ValueError, FileNotFoundError):  # the end of what is whole; its writer has just committed
        pass
    return out


def orders(chunk):
    """Whether a chunk is the order of those before it, which belong together."""
    return "-order-" in chunk["file"]


def committed(journal):
    """The chunks that a journal commits: of one with streams, those of whole groups."""
    chunks = journal[1:]
    if journal and journal[0].get("ordered"):
        while chunks and not orders(chunks[-1]):
            chunks.pop()
    return chunks


def leased(path):
    """Whether somebody seems to write a snapshot: a process of this machine that lives, or one elsewhere that said so lately."""
    at = os.path.join(path, "lease")
    try:
        age = time.time() - os.path.getmtime(at)
        with open(at, encoding="utf-8") as file:
            lease = json.load(file)
        if lease["host"] == socket.gethostname() and lease["started"]:
            return _began(lease["process"]) == lease["started"]
    except FileNotFoundError:
        return False
    except (OSError, ValueError, TypeError, KeyError):  # it cannot be read: its time is all that there is
        pass
    return abs(age) < LEASE


def lately(paths):
    """Whether one of some files was written lately; those that are gone by now were not."""
    def age(path):
        try:
            return abs(time.time() - os.path.getmtime(path))
        except FileNotFoundError:
            return LEASE

    return min(map(age, paths)) < LEASE


def _began(process):
    """When a process began, as leases have it; None where there is none."""
    try:
        with open(f"/proc/{int(process)}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return None
