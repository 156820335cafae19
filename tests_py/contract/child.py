"""Runs scenarios in a process of their own, one JSON line in, one JSON line out.

Started by conftest.py as ``python child.py RESULT_FD MODULE [MODULE ...]``.
A scenario is a plain function of a scenario module; it gets keyword arguments
and returns something JSON can hold. Everything that may hang happens here, so
that the test process can kill this one and go on.
"""

import faulthandler
import gc
import importlib
import json
import os
import sys
import threading
import time
import traceback

SETTLE = 5.0


def describe(exc):
    """All the text an exception shows to a user, with its whole chain."""
    text, seen, e = [], set(), exc
    while e is not None and id(e) not in seen:
        seen.add(id(e))
        text.append(f"{type(e).__name__}: {e}")
        text.extend(getattr(e, "__notes__", ()))
        e = e.__cause__ or e.__context__
    return {
        "type": type(exc).__name__,
        "bases": [c.__name__ for c in type(exc).__mro__],
        "message": str(exc),
        "notes": list(getattr(exc, "__notes__", ())),
        "text": "\n".join(text),
        "traceback": traceback.format_exc()[-3000:],
    }


def left_behind():
    """What infeed still holds once nobody refers to a dataset: empty, or by name how many."""
    native = sys.modules.get("infeed._native")
    if native is None or not native.loaded():
        return {}
    end = time.monotonic() + SETTLE
    while True:
        gc.collect()
        # The engine's other ends are waited for by its own close().
        for t in threading.enumerate():
            if t.name.startswith("infeed-"):
                t.join(max(0.0, end - time.monotonic()))
        left = {k: v for k, v in native.alive().items() if v}
        left.update({f"thread {t.name}": 1 for t in threading.enumerate() if t.name.startswith("infeed-")})
        left.update({f"process {p}": 1 for p in importlib.import_module("living").children()})
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


def main():
    faulthandler.enable()
    os.environ["CONTRACT_MAIN"] = str(os.getpid())
    out = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    os.set_inheritable(out.fileno(), False)
    modules = [importlib.import_module(m) for m in sys.argv[2:]]
    gc.collect()
    gc.freeze()  # the frameworks; left_behind() need not look at them after every scenario
    print(json.dumps({"ready": True}), file=out)
    for line in sys.stdin:
        call = json.loads(line)
        start = time.perf_counter()
        answer = {"id": call["id"]}
        try:
            fn = next(getattr(m, call["name"]) for m in modules if hasattr(m, call["name"]))
            answer["value"] = fn(**call["kwargs"])
        except BaseException as e:  # also SystemExit and KeyboardInterrupt
            answer["error"] = describe(e)
        answer["seconds"] = time.perf_counter() - start
        answer["left"] = left_behind()
        print(json.dumps(answer, default=float), file=out)
    os._exit(0)


if __name__ == "__main__":
    main()
