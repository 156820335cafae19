"""Pools: the workers of one dataset, from its first batch until it is closed or collected."""

import base64
import os
import pickle
import subprocess
import sys
import threading
import time

from infeed import _context, _native, _payload
from infeed._errors import ForkedProcessError
from infeed._walk import ProcessWalk, ThreadWalk, run_job

# Milliseconds that worker processes get to end by themselves.
GRACE_MS = 300


class Pool:
    """What threads and processes have in common: the engine's handle and its end."""

    def __init__(self, options):
        self.call = _native.Call()
        self.lock = threading.RLock()
        self.call("feed_open", options)
        self.handle = self.call.struct.handle
        _native.close_at_exit(self)

    def close(self):
        handle, self.handle = self.handle, 0
        if handle:
            call = _native.Call(handle)
            try:
                call("close", args=(GRACE_MS,))
            except ForkedProcessError:  # there is nothing to close in a fork
                pass

    def __del__(self):
        if getattr(self, "handle", 0):
            self.close()


class ThreadPool(Pool):
    """Worker threads. They refer to the dataset only while they make a batch, so that it can be collected."""

    def __init__(self, dataset_ref, workers, queue):
        self.results = {}
        super().__init__({"workers": workers, "queue": queue})
        self.threads = [
            threading.Thread(target=_work, args=(self.handle, dataset_ref, self.results, self.lock, n, workers == 1),
                             name=f"infeed-worker-{n}", daemon=True)
            for n in range(workers)]
        for t in self.threads:
            t.start()

    def walk(self, options, timeout):
        return ThreadWalk(self, options, timeout)

    def refresh(self, dataset):
        """True when batches made ahead may be stale: threads see every change, but cannot tell."""
        return True

    def close(self):
        super().close()
        # A thread that is in the user's code ends when that returns.
        deadline = time.monotonic() + (0.1 if _native.exiting() else 1.0)
        others = [t for t in getattr(self, "threads", ()) if t.ident != threading.get_ident()]
        # join() would make an object, for good, for a thread of TensorFlow's that closes this.
        while any(t.is_alive() for t in others) and time.monotonic() < deadline:
            time.sleep(0.0002)


def _work(handle, dataset_ref, results, lock, number, alone):
    """A worker thread: makes the batches that the engine names until the pool is closed."""
    call = _native.Call(handle)
    s = call.struct
    s.timeout_ms = 60_000
    s.arg[0] = threading.get_ident()
    library = _native.library()
    quick, wait, address = library.quick_try_job, library.infeed_job, call.address
    last = None
    while True:
        status = quick(address)
        if last is not None and not s.arg[1]:
            if s.arg[2]:
                last[0].pop(last[1], None)
            last = None
        if status == _native.TIMEOUT:
            status = wait(address)
        if status < 0:
            return
        if status != _native.OK:
            continue
        job, walk, index, pass_, epoch, seed = s.out[0], s.out[1], s.out[2], s.out[3], s.out[4], s.out[5]
        with lock:
            mine = results.get(walk)
        dataset = dataset_ref()
        if dataset is None:
            return
        try:
            job_ = _context.Job(dataset, seed & _context.MASK, pass_, epoch, index, alone=alone)
            outcome = False, run_job(dataset, job_, f"worker thread {number}")
        except BaseException as e:
            outcome = True, e
        dataset = None
        if mine is not None:
            mine[job] = outcome
        outcome = None
        s.arg[1], s.arg[2] = job, 0
        last = (mine if mine is not None else {}), job


class ProcessPool(Pool):
    """Worker processes, started by exec."""

    def __init__(self, dataset, workers, queue):
        self.sender = _payload.Sender()
        update = self.sender.update(dataset)  # says what cannot be pickled before any worker starts
        self.lent = _native.Lent()
        self.max_lent = 2 * max(queue, workers)
        parameters = pickle.dumps({"argv": list(sys.argv)})
        init = os.memfd_create("infeed-init", os.MFD_CLOEXEC)
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        # A number that was closed when Python started may be anything's by now.
        out, err = (null if f is None else n for n, f in ((1, sys.__stdout__), (2, sys.__stderr__)))
        try:
            os.write(init, parameters)
            super().__init__({"workers": workers, "queue": queue, "process": {
                "argv": [_text(a) for a in command("_worker")], "dir": _text(_directory()),
                "env": [_text(k + b"=" + v) for k, v in os.environb.items()],
                "stdio": [null, out, err], "init": init, "init_bytes": len(parameters)}})
        finally:
            os.close(init)
            os.close(null)
        self._send(update)

    def _send(self, update):
        listing, fd = update
        try:
            self.call("feed_dataset", listing)
        finally:
            os.close(fd)

    def refresh(self, dataset):
        """Sends the dataset again if it changed; True then."""
        with self.lock:
            update = self.sender.update(dataset)
            if update is None:
                return False
            self._send(update)
            return True

    def walk(self, options, timeout):
        with self.lock:
            return ProcessWalk(self, options, timeout)


def _text(value):
    """Base64 for Go's JSON, which only takes UTF-8 as it is."""
    return base64.b64encode(os.fsencode(value)).decode()


def _directory():
    """The working directory; empty, for the same as ours, where it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def command(module):
    """The arguments that start a fresh interpreter, which runs main() of a module of infeed's."""
    if not sys.executable:
        raise RuntimeError("sys.executable is empty, so worker processes cannot be started; use threads "
                           "(use_multiprocessing=False)")
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = [os.path.join(_directory(), os.fsdecode(p)) for p in sys.path]
    # Nothing is imported before the path is the parent's: the working directory is first until then.
    start = "import sys; sys.path[:] = eval(sys.argv[1]); from infeed.%s import main; main()" % module
    flags = subprocess._args_from_interpreter_flags()
    return [sys.executable, *flags, "-c", start, repr(path if here in path else [*path, here])]
