"""A worker process: gets the dataset and indices over a socket, writes batches into shared memory.

It is started by exec, never by fork, and neither loads the engine nor imports
Keras by itself. core/feed/wire.go describes the messages.
"""

import mmap
import os
import pickle
import random
import socket
import struct
import sys
import traceback

from infeed import _batch, _context

INIT, PAYLOAD, DATASET, SEGMENT, FORGET, JOB, STACKS = range(1, 8)
READY, DONE, ELSEWHERE, UNUSABLE = range(16, 20)
RAISED = 4
STACK_SIGNAL = 40
MESSAGE = struct.Struct("<IiQqqqQIIQ")
INT = struct.Struct("i")
RIGHTS = socket.CMSG_SPACE(INT.size)
MAP_NORESERVE = 0x4000


def encode(kind, status=0, job=0, a=0, b=0, nbytes=0):
    return MESSAGE.pack(kind, status, job, a, b, 0, 0, 0, 0, nbytes)


def read_all(fd, nbytes):
    """The bytes behind a descriptor, which is closed."""
    try:
        return os.pread(fd, nbytes, 0)
    finally:
        os.close(fd)


class Worker:
    """What one worker process knows."""

    def __init__(self, sock):
        self.sock = sock
        self.number = -1
        self.dataset = None
        self.payloads = {}
        self.segments = {}

    def run(self):
        while True:
            data, rights, _, _ = self.sock.recvmsg(MESSAGE.size, RIGHTS)
            if len(data) < MESSAGE.size:
                return
            fds = [INT.unpack(r[2])[0] for r in rights]
            kind, status, job, index, pass_, epoch, seed, segment, slot, nbytes = MESSAGE.unpack(data)
            if kind == JOB:
                self.make(job, index, pass_, epoch, seed, segment, slot, nbytes)
            elif kind == DATASET:
                self.load(self.payloads[job])
            elif kind == PAYLOAD:
                self.payloads[job] = private_map(fds[0], nbytes)
            elif kind == SEGMENT:
                from infeed import _slotmem

                self.segments[segment] = _slotmem.map_segment(fds[0], slot, nbytes)
            elif kind == FORGET:
                # Memory that a dataset still refers to stays mapped until it does not.
                if status == PAYLOAD:
                    self.payloads.pop(job, None)
                else:
                    self.segments.pop(segment, None)
            elif kind == INIT:
                self.number = index
                self.prepare(pickle.loads(read_all(fds[0], nbytes)))
            elif kind == STACKS:
                import faulthandler

                faulthandler.register(STACK_SIGNAL, file=fds[0], all_threads=True)

    def prepare(self, parameters):
        sys.argv[:] = parameters["argv"]
        # Another thread's or library's allocations aside, large arrays that come and
        # go use the same memory again: fresh pages cost ten times a copy.
        try:
            import ctypes

            libc = ctypes.CDLL(None)
            libc.mallopt(-3, 1 << 30)  # M_MMAP_THRESHOLD
            libc.mallopt(-1, 1 << 30)  # M_TRIM_THRESHOLD
        except (OSError, AttributeError):
            pass

    def load(self, payload):
        from infeed import _payload

        try:
            self.dataset = _payload.load(payload, self.payloads)
        except BaseException:
            text = ("a worker process could not load the dataset; what it needs must be importable in a fresh "
                    f"interpreter:\n{traceback.format_exc()}").encode()
            self.send_fd(encode(UNUSABLE, nbytes=len(text)), text_memory(text))
            return
        self.sock.send(encode(READY))

    def make(self, job, index, pass_, epoch, seed, segment, slot, nbytes):
        slot = self.segments[segment][slot] if nbytes else None
        allocator = slot.begin() if slot else _batch.Allocator()
        try:
            self.seed(seed, pass_, index)
            reply, fd = self.fill(job, index, pass_, epoch, seed, allocator)
            crowded = fd is not None
        except BaseException as e:
            reply, fd = self.failure(job, e)
            crowded = False
        # From here on nothing of the job is referred to but what the user's code keeps.
        if slot:
            slot.end(crowded)
        if fd is None:
            self.sock.send(reply)
        else:
            self.send_fd(reply, fd)

    def fill(self, job, index, pass_, epoch, seed, allocator):
        """Makes a batch and writes it; returns the reply, and the descriptor of memory that goes with it."""
        with _context.Job(self.dataset, seed, pass_, epoch, index, allocator.empty, alone=True):
            batch = self.dataset[index]
            _batch.check(batch, index)
            meta, meta_bytes, total, fd = _batch.pack(batch, allocator)
        del batch
        if allocator.given and allocator.kept():
            if fd is not None:
                os.close(fd)
            raise _batch.InvalidArgumentError(
                f"an array from self.empty() was kept after __getitem__({index}) returned; its memory "
                "belongs to the batch, so keep a copy instead")
        return encode(DONE if fd is None else ELSEWHERE, 0, job, meta, meta_bytes, total), fd

    def seed(self, seed, pass_, index):
        """Global generators are those of this batch too: a worker process has them to itself."""
        a, b = _context.key(seed, pass_, index)
        random.seed(a)
        import numpy as np

        np.random.seed(b & 0xFFFFFFFF)
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "manual_seed"):
            torch.manual_seed(a >> 1)

    def failure(self, job, error):
        """The reply that tells of an exception, and the descriptor of its report."""
        if isinstance(error, StopIteration):
            replaced = RuntimeError("__getitem__ raised StopIteration")
            replaced.__cause__ = error
            error = replaced
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        report = {
            "text": "".join(lines), "message": lines[-1].strip(),
            "exception": pickle_exception(error), "worker": self.number, "pid": os.getpid(),
        }
        data = pickle.dumps(report)
        return encode(ELSEWHERE, RAISED, job, 0, 0, len(data)), text_memory(data)

    def send_fd(self, message, fd):
        socket.send_fds(self.sock, [message], [fd])
        os.close(fd)


def pickle_exception(error):
    """The exception as bytes, or None where it does not survive pickling."""
    from infeed import _payload

    try:
        data = _payload.dumps(error)
        pickle.loads(data)
        return data
    except BaseException:
        return None


def text_memory(data):
    """The descriptor of a memfd with some bytes."""
    fd = os.memfd_create("infeed-text", os.MFD_CLOEXEC)
    os.write(fd, data)
    return fd


def private_map(fd, nbytes):
    """Memory that all workers share until one writes to it: then that one has a page of its own."""
    try:
        return mmap.mmap(fd, nbytes, flags=mmap.MAP_PRIVATE | MAP_NORESERVE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    finally:
        os.close(fd)


def main():
    """Runs on descriptor 3 until the pool closes its end."""
    import atexit
    import signal

    _context.in_worker = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sock = socket.socket(fileno=3)
    os.set_inheritable(3, False)
    # A process that the user's code forks must not keep the connection open.
    os.register_at_fork(after_in_child=sock.close)
    try:
        Worker(sock).run()
    except ConnectionError:
        pass  # the pool is gone
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):
            pass  # the user's code closed it
    os._exit(0)
