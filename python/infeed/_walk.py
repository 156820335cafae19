"""Walks: one consumer's way through the batches of a dataset, in three modes.

An `InlineWalk` makes each batch when it is asked for, in the caller's thread. The
other two take finished batches from a pool of the engine: `ThreadWalk` as Python
objects that worker threads left for it, `ProcessWalk` out of shared memory. A walk
is used by one thread at a time; its callers see to that.
"""

import pickle
import sys
import threading
import time
import traceback
import warnings
import weakref

from infeed import _batch, _context, _native
from infeed._errors import CancelledError, ForkedProcessError, TimeoutError, WorkerError

WARN_AFTER = 60.0


def note(error, index, pass_, who):
    """Adds to an exception which batch it came from."""
    text = f"infeed: while making batch {index} of pass {pass_}, by {who}"
    if hasattr(error, "add_note"):
        error.add_note(text)
    else:  # Python 3.10: as the first cause of all
        _first(error).__cause__ = _Origin(text)
    return error


def _first(error):
    """Where the chain that is printed with an exception begins."""
    seen = set()
    while id(error) not in seen:
        seen.add(id(error))
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if before is None:
            break
        error = before
    return error


class _Origin(Exception):
    """Carries text about where an exception came from into its printed chain."""

    def __str__(self):
        return "\n" + self.args[0]


def run_job(dataset, job, who):
    """The batch of a job, checked; exceptions leave with a note."""
    try:
        with job:
            batch = dataset[job.index]
        _batch.check(batch, job.index)
        return batch
    except StopIteration as e:
        # It would end the caller's loop in silence.
        error = RuntimeError("__getitem__ raised StopIteration")
        error.__cause__ = e
        raise note(error, job.index, job.pass_, who)
    except BaseException as e:
        note(e, job.index, job.pass_, who)
        raise


class InlineWalk:
    """Makes batches in the caller's thread. `position` is of the batch that comes next."""

    AHEAD = 1024

    def __init__(self, dataset, options):
        self.dataset, self.options = weakref.ref(dataset), options
        self.position = options["start"]
        self.order, self.first = (), 0
        self.closed = False

    def next(self):
        o = self.options
        if self.closed:
            raise CancelledError("the dataset was closed")
        if 0 <= o["length"] <= self.position:
            raise StopIteration
        index = self._index()
        dataset = self.dataset()
        job = _context.Job(dataset, o["seed"], o["pass"], o["epoch"], index, alone=True)
        try:
            batch = run_job(dataset, job, "the caller's thread")
        except Exception:
            self.position += 1
            raise
        # After anything else, such as Ctrl-C, the batch is made again.
        self.position += 1
        return batch

    def _index(self):
        o = self.options
        if not o["shuffle"] or o["length"] < 0:
            return self.position
        if not self.first <= self.position < self.first + len(self.order):
            count = min(self.AHEAD, o["length"] - self.position)
            self.order = _native.order(o["length"], o["seed"], o["pass"], self.position, count).tolist()
            self.first = self.position
        return self.order[self.position - self.first]

    def invalidate(self):
        pass

    def close(self):
        self.closed = True


class PoolWalk:
    """Takes batches that a pool made. `position` is of the batch that comes next."""

    handle = 0
    number = None

    def __init__(self, pool, options, timeout):
        self.pool, self.options, self.timeout = pool, options, timeout
        self.position = options["start"]
        # A hook in another thread may invalidate; nobody may be taking then.
        self.taking = threading.RLock()
        pool.call("walk_open", options)
        handle, self.number = pool.call.struct.out[0] & _context.MASK, pool.call.struct.out[1]
        self.call = _native.Call(handle)
        self.handle = handle
        library = _native.library()
        self._try, self._address, self._entry = library.quick_try_next, self.call.address, self.call.struct.entry
        self._entry.position = -1

    def next(self):
        with self.taking:
            return self._next()

    def _next(self):
        """The next batch. A signal's exception may come anywhere in here: an entry that was taken and not
        delivered, which its position tells, is delivered by the next call."""
        entry = self._entry
        if entry.position != self.position:
            status = self._try(self._address)
            if status:
                if status == _native.TIMEOUT:
                    status = self._wait()
                if status == _native.END:
                    raise StopIteration
                if status < 0:
                    raise self._failure(status)
        if entry.status < 0:
            error = self._failure(entry.status)
            self.position += 1
            raise error
        return self.deliver(entry)

    def _wait(self):
        """Waits for a batch, so that signals are taken and nothing hangs in silence."""
        wait = _native.library().infeed_next
        start = time.monotonic()
        warned = False
        while True:
            status = wait(self._address)
            if status not in (_native.TIMEOUT, _native.INTERRUPTED):
                return status
            if _native.exiting():
                return -CancelledError.kind
            waited = time.monotonic() - start
            if self.timeout is not None and waited >= self.timeout:
                raise TimeoutError(f"a batch was not ready within timeout={self.timeout} s: {self.stuck()}")
            if self.timeout is None and waited >= WARN_AFTER and not warned:
                warned = True
                warnings.warn(f"infeed has waited {waited:.0f} s for a batch; pass timeout=seconds to have an "
                              f"error instead: {self.stuck()}", RuntimeWarning, stacklevel=4)

    def stuck(self):
        """In words, who makes the batch that is waited for, with the stack."""
        call = _native.Call(self.handle)
        call("walk_stuck")
        index, worker, pid, thread = list(call.struct.out)[:4]
        if pid:
            return f"worker process {pid} is at batch {index}:\n{call.text()}"
        if thread:
            frame = sys._current_frames().get(thread)
            stack = "".join(traceback.format_stack(frame)) if frame else ""
            return f"worker thread {thread} is at batch {index}:\n{stack}"
        return f"batch {index} waits for a worker"

    def _failure(self, status):
        if status == -CancelledError.kind and _native.exiting():
            _native.stay_at_exit()
            return CancelledError("the interpreter is shutting down")
        call = _native.Call(self.handle)
        of_batch = self._entry.position == self.position and self._entry.status < 0
        call.struct.entry.position = self.position if of_batch else -1
        text = self.call.text()
        if -status == WorkerError.kind:
            call("walk_error")
            error = WorkerError(call.text())
            error.index = self._entry.index if of_batch else None
            exit_ = call.struct.out[0]
            error.exitcode = exit_ if exit_ < 1 << 20 else None
            return error
        return _native.Call().error(status) if not text else self.call.error(status)

    def invalidate(self):
        with self.taking:
            if self.handle:
                self.throw_away()

    def throw_away(self):
        _native.Call(self.handle)("walk_invalidate")

    def close(self):
        if self.handle:
            call = _native.Call(self.handle)
            self.handle = 0
            try:
                call("close")
            except ForkedProcessError:  # there is nothing to close in a fork
                pass

    def __del__(self):
        self.close()


class ThreadWalk(PoolWalk):
    """Takes batches that worker threads made: Python objects, kept here by job."""

    def __init__(self, pool, options, timeout):
        self.results = {}
        # Threads may take the first job before this returns: they wait for the lock.
        with pool.lock:
            super().__init__(pool, options, timeout)
            pool.results[self.number] = self.results

    def deliver(self, entry):
        outcome = self.results.get(entry.job)
        if outcome is None and not self.handle:
            raise CancelledError("the dataset was closed")  # by another thread, since the entry was taken
        failed, batch = outcome
        self.position += 1
        self.results.pop(entry.job, None)
        if failed:
            raise batch
        return batch

    def throw_away(self):
        # From the call on, threads may leave results of jobs that are wanted. A batch that was taken is not made again.
        taken = self._entry.job if self._entry.position == self.position else None
        stale = [job for job in list(self.results) if job != taken]
        super().throw_away()
        for job in stale:
            self.results.pop(job, None)

    def close(self):
        super().close()
        self.pool.results.pop(self.number, None)
        # A waiting thread may still refer to these; exceptions among them refer to the dataset.
        self.results.clear()


class ProcessWalk(PoolWalk):
    """Takes batches that worker processes wrote into shared memory."""

    held = None  # the lease of an entry that is being delivered

    def deliver(self, entry):
        nbytes = entry.meta_offset + entry.meta_bytes
        lent = self.pool.lent
        if self.held is None:
            self.held = _native.memory_of(entry)
        self.held.hold(entry.slot, lent)
        if entry.status == _native.RAISED:
            error = self._raised(pickle.loads(memoryview(self.held)), entry.index)
            self.position, self.held = self.position + 1, None
            raise error
        memory = self.held
        if nbytes < _batch.COPY_BELOW or len(lent) > self.pool.max_lent:
            memory = bytearray(memoryview(memory)[:nbytes])  # the slot goes back at once
        batch = self._unpack(memory, entry)
        self.position, self.held = self.position + 1, None
        return batch

    def __del__(self):
        super().__del__()
        entry = getattr(self, "_entry", None)
        if entry is not None and entry.position == self.position:
            _native.library().release(entry.slot)  # it was taken, and a signal kept it from being delivered

    def _unpack(self, memory, entry):
        """The batch. One that cannot be made again here is over; what a signal's handler raises does not come twice."""
        try:
            return _batch.unpack(memory, entry.meta_offset)
        except Exception:
            pass
        try:
            return _batch.unpack(memory, entry.meta_offset)
        except Exception as e:
            self.position, self.held = self.position + 1, None
            raise note(e, entry.index, self.options["pass"], "a worker process, which could pickle it")

    def _raised(self, report, index):
        who = f"worker {report['worker']} (process {report['pid']})"
        error = None
        if report["exception"] is not None:
            try:
                error = pickle.loads(report["exception"])
            except Exception:
                error = None
        if not isinstance(error, BaseException):
            error = WorkerError(f"batch {index} failed in {who} with an exception that cannot be pickled: "
                                f"{report['message']}\n{report['text']}")
            error.index = index
            return error
        error.__cause__ = _Origin(f'"""\n{report["text"]}"""')
        return note(error, index, self.options["pass"], who)
