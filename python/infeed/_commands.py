"""The commands that look at files and folders: what they print, and their exit status.

0: done. 1: it could not be done, or something is damaged; the reason is on stderr, or
with --json in the object. 130 and 143: it was interrupted, and left nothing behind.
"""

import json
import signal
import sys
import threading

from infeed import _convert, _describe, _prune, _stored, _verify
from infeed._errors import DataLossError, Error

INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


def run(options):
    """Runs a command; returns the exit status."""
    try:
        with _termination():
            found, text, status = {"inspect": _inspect, "verify": _verified, "convert": _converted, "prune": _pruned}[options.command](options)
    except (Error, OSError) as err:
        found, text, status = _failure(options, err), None, 1
    except KeyboardInterrupt:
        found, text, status = {"error": "interrupted"}, None, INTERRUPTED
    if options.json:
        print(json.dumps(found, indent=2))
    elif text:
        print(text)
    if not options.json and "error" in found:
        print(f"infeed: {found['error']}", file=sys.stderr)
    return status


class _termination:
    """SIGTERM ends what is under way as an exception, so that nothing is left behind."""

    def __enter__(self):
        self.before = None
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGTERM, self._end)

    def __exit__(self, *_):
        if self.before is not None:
            signal.signal(signal.SIGTERM, self.before)

    @staticmethod
    def _end(*_):
        sys.exit(TERMINATED)


def _failure(options, err):
    place = {"file": err.path, "offset": err.offset} if isinstance(err, DataLossError) else {}
    return {"path": getattr(options, "path", None) or options.destination, **({"whole": False} if options.command == "verify" else {}),
            "error": str(err), "kind": type(err).__name__, **place}


def _inspect(options):
    found = _stored.examine(options.path, not options.json)
    text = "\n".join(_stored.lines(found) if _stored.is_stored(found) else _describe.lines(found))
    damage = found.get("damage")
    return {**found, **({"error": damage["error"]} if damage else {})}, text, 1 if damage else 0


def _verified(options):
    found = _verify.verify(options.path, not options.json)
    return found, f"{options.path}: whole, {_verify.amount(found)}", 0


def _converted(options):
    found = _convert.convert(options.sources, options.destination, options.to, options.compression, options.spec, options.force, not options.json)
    return found, f"{found['path']}: {found['elements']} elements, {found['bytes']} bytes ({found['what']}, {found['compression']})", 0


def _pruned(options):
    found = _prune.leftovers(options.path)
    text = "" if options.json else _prune.text(found)
    yes = options.yes
    if found and not yes and not options.json:
        print(text)
        text = ""
        yes = _prune.asked()
    if yes:
        for item in found:
            _prune.remove(item)
    return {"path": options.path, "removed" if yes else "can go": found}, text, 0
