"""Scenarios: what runs leave behind and how long they take."""

import gc
import importlib
import os
import signal
import sys
import threading
import time
import types

import keras
import numpy as np
from datasets import let_go, make
from recording import Echo, Watch, net


def children():
    """Live (not zombie) descendants of this process, but for helpers of multiprocessing."""
    parents = {}
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                with open(f"/proc/{p}/stat") as f:
                    head, _, tail = f.read().rpartition(")")
                with open(f"/proc/{p}/cmdline") as f:
                    cmd = f.read()
            except OSError:
                continue
            state, ppid = tail.split()[:2]
            if state != "Z" and "resource_tracker" not in cmd and "forkserver" not in cmd:
                parents[int(p)] = int(ppid)
    found, grew = {os.getpid()}, True
    while grew:
        more = {p for p, q in parents.items() if q in found} - found
        found |= more
        grew = bool(more)
    return sorted(found - {os.getpid()})


def resources():
    gc.collect()
    return {"threads": sum(t is not threading.main_thread() for t in threading.enumerate()),
            "tasks": len(os.listdir("/proc/self/task")),
            "children": len(children()),
            "fds": len(os.listdir("/proc/self/fd"))}


def settle(base, keys, seconds=6):
    """Resources once they are back to `base`, or as they are after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        now = resources()
        if all(now[k] <= base[k] for k in keys) or time.monotonic() > end:
            return now
        time.sleep(0.1)


def leftovers(how, workers=4, processes=False, times=3, keep=False):
    """Threads and processes left after `times` runs that end the way `how` says."""
    opts = dict(workers=workers, use_multiprocessing=processes, max_queue_size=4)
    warm = net()
    warm.fit(make(length=3), epochs=1, verbose=0, callbacks=[Watch()])
    base = resources()
    kept = []

    def once():
        model = net()
        if how == "fit":
            ds = make(length=8, **opts)
            model.fit(ds, epochs=2, verbose=0)
        elif how == "stop":
            ds = make(length=40, **opts)
            model.fit(ds, epochs=2, verbose=0, callbacks=[Watch(stop_at=2)])
        elif how == "callback":
            ds = make(length=40, **opts)
            try:
                model.fit(ds, epochs=2, verbose=0, callbacks=[Watch(raise_at=2)])
            except RuntimeError:
                pass
        elif how == "item":
            ds = make("Bad", length=40, bad=6, **opts)
            try:
                model.fit(ds, epochs=2, verbose=0)
            except Exception:
                pass
        elif how == "break":
            ds = make(length=40, **opts)
            for k, _ in enumerate(ds):
                if k == 2:
                    break
        elif how == "predict":
            ds = make(length=8, **opts)
            Echo(False).predict(ds, verbose=0)
        elif how == "short":
            ds = make(length=40, **opts)
            model.fit(ds, epochs=2, verbose=0, steps_per_epoch=3)
        else:
            raise AssertionError(how)
        if keep:
            kept.append(ds)

    for _ in range(times):
        once()
    now = settle(base, ("threads", "children"))
    return {k: now[k] - base[k] for k in now}


def growth(fits=8, workers=2, processes=False):
    """Resources after a few fits and after many more."""
    model, counts = net(), []
    for k in range(2 * fits):
        model.fit(make(length=6, workers=workers, use_multiprocessing=processes), epochs=1, verbose=0)
        if k in (fits - 1, 2 * fits - 1):
            counts.append(settle(counts[0] if counts else resources(), ("threads", "tasks", "children", "fds"), 4))
    return {k: counts[1][k] - counts[0][k] for k in counts[0]}


class AtBatch(keras.callbacks.Callback):
    """Calls something once, when the batch before the one that `Stuck` is long at was used."""

    def __init__(self, then):
        super().__init__()
        self.then = then

    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            self.then()


def interrupt(workers=2, processes=False, after=0.3):
    """SIGINT while the main thread waits for a slow batch: seconds until it shows.

    One wait of infeed's is longer than the slow batch, so that only the signal ends it.
    """
    ds = make("Stuck", length=8, workers=workers, use_multiprocessing=processes)
    sent = []
    let_go.clear()

    def send():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    native = sys.modules.get("infeed._native")
    slice_ = getattr(native, "SLICE_MS", None)
    if native is not None:
        native.SLICE_MS = 60_000
    timer = threading.Timer(after, send)
    try:
        net().fit(ds, epochs=1, verbose=0, shuffle=False, callbacks=[AtBatch(timer.start)])
    except KeyboardInterrupt:
        return {"seconds": time.monotonic() - sent[0]}
    finally:
        let_go.set()
        if native is not None:
            native.SLICE_MS = slice_
    return {"seconds": None}


def stuck(workers, processes, timeout):
    """A fit that comes to a batch which takes half a minute. The time of waits runs from there on."""
    walk = importlib.import_module("infeed._walk")
    begun = []

    def monotonic():
        return time.monotonic() - begun[0] if begun else 0.0

    let_go.clear()
    walk.time = types.SimpleNamespace(monotonic=monotonic)
    try:
        net().fit(make("Stuck", length=8, workers=workers, use_multiprocessing=processes, timeout=timeout),
                  verbose=0, shuffle=False, callbacks=[AtBatch(lambda: begun.append(time.monotonic()))])
    finally:
        walk.time = time
        let_go.set()


def timing(workers=4, processes=False, length=20, epochs=5):
    """Seconds per epoch once warm, with instant batches."""
    ds = make(length=length, workers=workers, use_multiprocessing=processes)
    model, marks = net(), []

    class Clock(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            marks.append(time.perf_counter())

    model.fit(ds, epochs=epochs + 1, verbose=0, callbacks=[Clock()])
    gaps = np.diff(marks)[1:]
    return {"epoch": float(np.min(gaps))}


def speedup(workers=4, processes=False, length=24, delay=0.1):
    ds = make("Ids", length=length, delay=delay, workers=workers, use_multiprocessing=processes)
    serial = sum(delay * (1 + i * 7 % 5) / 3 for i in range(length))
    model, marks = net(), []

    class Clock(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            marks.append(time.perf_counter())

        def on_epoch_end(self, epoch, logs=None):
            marks.append(time.perf_counter())

    model.fit(ds, epochs=2, verbose=0, callbacks=[Clock()])
    return {"serial": serial, "epoch": marks[3] - marks[2]}


def time_to_error(train):
    model = net()
    model.fit(make(length=2), epochs=1, verbose=0)
    start = time.monotonic()
    try:
        model.fit(make(**train), epochs=1, verbose=0)
    except Exception:
        return {"seconds": time.monotonic() - start}
    raise AssertionError("no error")
