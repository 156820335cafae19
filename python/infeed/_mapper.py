"""Worker processes for functions of elements: `Dataset.map(fn, processes=n)`.

A process is started by exec and gets the function by value. It calls it for lists of
elements, which travel by pickle over a socket, and ends when the socket does, or
when the process that started it is gone.
"""

import os
import pickle
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import weakref

from infeed import _context, _native, _payload, _pool, _spec
from infeed._errors import InvalidArgumentError, WorkerError

_HEAD = struct.Struct("<Q")
_TRIES = 3


class Mappers:
    """The processes of one function, started when they are first needed, and kept until it is gone."""

    def __init__(self, fn, count, name, structure):
        """structure: of the elements. Those of types of the user's own go by value, as the function does."""
        self.name, self.count = name, count
        self._dumps = _payload.dumps if structure.own_types() else _pickled
        try:
            self._function = _payload.dumps(fn)
        except Exception as e:
            raise InvalidArgumentError(f"map: {name} cannot be sent to worker processes ({type(e).__name__}: {e}); open such things "
                                       "in the function when they are first needed, or use num_parallel_calls") from e
        self._idle = queue.LifoQueue()
        self._lock = threading.Lock()
        self._all = []
        weakref.finalize(self, _end, self._all).atexit = False
        _native.close_at_exit(self)

    def call(self, elements):
        """Results for elements, and the exception that stopped it or None."""
        try:
            return self._asked(self._dumps(elements))
        except _Unsendable as e:
            if len(elements) == 1:
                return [], InvalidArgumentError(f"map: a result of {self.name} cannot be sent from a worker process ({e}); give arrays")
        out = []
        for e in elements:  # to find the one
            results, error = self.call([e])
            out += results
            if error is not None:
                return out, error
        return out, None

    def _asked(self, elements):
        """`call` for pickled elements; _Unsendable where the results do not come over."""
        for _ in range(_TRIES):
            process = self._take()
            try:
                answer = process.ask(elements)
            except (EOFError, OSError):
                status = process.end()
                with self._lock:
                    self._all.remove(process)
                continue
            self._idle.put(process)
            return _opened(answer)
        return [], WorkerError(f"map: a worker process ended while it ran {self.name}, {_TRIES} times; exit status {status}"
                               + (", as when there is no memory left" if status == -signal.SIGKILL else ""))

    def _take(self):
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            pass
        with self._lock:
            if len(self._all) < self.count:
                self._all.append(_Process(self._function))
                return self._all[-1]
        return self._idle.get()

    def close(self):
        _end(self._all)


def _end(processes):
    while processes:
        processes.pop().end()


class _Remote(Exception):
    """The traceback of an exception in a worker process."""

    def __str__(self):
        return f"\n{self.args[0]}"


class _Process:
    """One process, for one thread at a time."""

    def __init__(self, function):
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen([*_pool.command("_mapper"), str(theirs.fileno()), str(os.getpid())],
                                             pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._socket = ours
        _send(ours, pickle.dumps({"argv": list(sys.argv), "function": function}))

    def ask(self, elements):
        _send(self._socket, elements)
        return _receive(self._socket)

    def end(self):
        """Ends the process; returns its exit status."""
        self._socket.close()
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _send(sock, data):
    sock.sendall(_HEAD.pack(len(data)))
    sock.sendall(data)


def _receive(sock):
    """The next message; EOFError when the other end is gone."""
    size = _HEAD.unpack(_exactly(sock, _HEAD.size))[0]
    return _exactly(sock, size)


def _exactly(sock, size):
    data = bytearray(size)
    view, at = memoryview(data), 0
    while at < size:
        n = sock.recv_into(view[at:])
        if not n:
            raise EOFError
        at += n
    return data


def _pickled(value):
    return pickle.dumps(value, protocol=5)


class _Unsendable(Exception):
    """Results that cannot be pickled, or not be made again."""


def _packed(value):
    """Pickles what a function of the user's made; classes that only this process has go by value."""
    try:
        return _pickled(value)
    except Exception:
        return _payload.dumps(value)


def _opened(answer):
    """Results and the exception that stopped them, of what `_answer` gave."""
    try:
        results, pickled, text = pickle.loads(answer)
    except Exception as e:
        raise _Unsendable(f"{type(e).__name__}: {e}") from e
    if results is None:
        raise _Unsendable(text)
    if text is None:
        return results, None
    try:
        error = pickle.loads(pickled)
    except Exception:
        error = WorkerError(f"map: an exception that cannot be sent from a worker process:\n{text}")
    error.__cause__ = _Remote(text)
    return results, error


def _answer(fn, elements):
    """Pickled: results of fn for argument tuples, up to the first that fails; why it did, pickled, and its traceback."""
    results, answer = [], (None, None)
    for args in elements:
        try:
            result = fn(*args)
            results.append(_spec.settled(result) if len(elements) > 1 else result)
        except BaseException as e:
            text = traceback.format_exc()
            try:
                answer = _packed(e), text
            except Exception:
                answer = None, text
            break
    try:
        return _packed((results, *answer))
    except Exception as e:
        return _pickled((None, None, f"{type(e).__name__}: {e}"))


def _watch(parent):
    # The kernel's signal at a parent's death comes when the thread that started this process ends, and any thread may
    # have been that one; the end of the socket is not seen while the function runs.
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def main():
    """Runs in a worker process until the socket is closed."""
    _context.in_worker = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sock = socket.socket(fileno=int(sys.argv[2]))
    os.register_at_fork(after_in_child=sock.close)
    threading.Thread(target=_watch, args=(int(sys.argv[3]),), daemon=True).start()
    try:
        given = pickle.loads(_receive(sock))
        sys.argv[:] = given["argv"]
        fn = pickle.loads(given["function"])
        while True:
            _send(sock, _answer(fn, pickle.loads(_receive(sock))))
    except (EOFError, ConnectionError):
        pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError, OSError):
            pass  # the user's code closed it
    os._exit(0)
