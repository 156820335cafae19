"""Answers to the engine's calls of Python: in the thread that waits for elements, or in threads of their own."""

import itertools
import sys
import threading

import numpy as np

from infeed import _arrays, _context, _definition, _errors, _function, _native, _text, _trace
from infeed._errors import InvalidArgumentError

_exceptions = itertools.count(1)


class Ragged:
    """A column of arrays of one dtype and rank whose shapes differ: all their values, and the shape of each."""

    __slots__ = ("values", "shapes")

    def __init__(self, arrays):
        self.values = np.concatenate(arrays, None)
        self.shapes = np.array([a.shape for a in arrays], np.int64)


def columns(results, what):
    """Results, as tuples of components, in parts whose columns are arrays, or `Ragged`: [(rows, [column, ...]), ...]."""
    if not results:
        return []
    whole = [_column([r[i] for r in results], what) for i in range(len(results[0]))]
    if all(c is not None for c in whole):
        return [(len(results), whole)]
    parts, arrays = [], [[_trace.result_array(v, what) for v in r] for r in results]
    kinds = [[(a.dtype, a.shape) for a in r] for r in arrays]
    for key, group in itertools.groupby(range(len(results)), lambda k: kinds[k]):
        rows = [arrays[k] for k in group]
        parts.append((len(rows), [np.stack([r[i] for r in rows]) for i in range(len(key))]))
    return parts


def _column(values, what):
    """Values as a column, where each of them alone would be a row of that; else None."""
    kind = type(values[0])
    if kind is np.ndarray:
        dtype, rank = values[0].dtype, values[0].ndim
        if dtype.hasobject or dtype.kind in "SU" or not all([type(v) is kind and v.dtype == dtype and v.ndim == rank for v in values]):
            return None
        shape = values[0].shape
        return np.stack(values) if all([v.shape == shape for v in values]) else Ragged(values)
    if not all(type(v) is kind for v in values):
        return None
    if issubclass(kind, (str, bytes)):
        return _text.objects(values)
    if kind is int:
        a = _arrays.as_array(values, what)[0]
        return a if a.dtype == np.int32 or not np.any(a.astype(np.int32) == a) else None
    if kind in (bool, float):
        return _arrays.as_array(values, what)[0]
    if issubclass(kind, _OF_ONE_DTYPE) and kind is not np.timedelta64 or issubclass(kind, np.generic) and all(
            v.dtype == values[0].dtype for v in values):
        return np.array(values)
    return None


_OF_ONE_DTYPE = np.number, np.bool_  # and np.timedelta64, which is a number, of several units


_thread = threading.local()


def answering(iterator):
    """Whether this thread is in a function of an iterator, known by an object of its own."""
    if getattr(_thread, "iterator", None) is not iterator:
        return False
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code is Jobs.run.__code__:
            return True
        frame = frame.f_back
    _thread.iterator = None  # an interrupt kept it from being taken back
    return False


class Jobs:
    """Answers the calls of one iterator of the engine."""

    def __init__(self, handle, jobs_handle, threads, iterator=None, resumed=False):
        """resumed: the iterator goes on from a state, or after an error."""
        self.handle, self._lent = handle, _native.Lent()
        self._iterator, self.resumed = iterator, resumed
        self.trial = _function.trying()  # elements are made to try functions on, and again later
        self.exceptions = {}
        self.kept = {}  # of functions that keep something for each walk
        self._local = threading.local()
        self._take = threading.Lock()
        for _ in range(threads if jobs_handle else 0):
            threading.Thread(target=self._work, args=(jobs_handle,), daemon=True, name="infeed-map").start()

    def _work(self, jobs_handle):
        call = _native.Call(jobs_handle)
        wait = _native.library().infeed_next
        while True:
            with self._take:  # one thread at a time takes from a queue
                status = wait(call.address)
                entry = _native.Entry.from_buffer_copy(call.struct.entry) if status == 0 else None
            if status < 0 or _native.exiting():
                return
            if entry is not None:
                self.run(entry)

    def run(self, entry):
        """Does the job of an entry."""
        memory = _native.lease(entry, self._lent)
        function = _function.by_number.get(entry.position)
        end, outer = None, getattr(_thread, "iterator", None)
        try:
            _thread.iterator = self._iterator
            if function is None:
                raise InvalidArgumentError("the function of a dataset is gone")
            elements = self._decoder(function).all(memory, entry.meta_offset, entry.meta_bytes)
            results, error, end = function.answer(elements, self)
        except (KeyboardInterrupt, SystemExit) as e:
            if _context.in_main_thread():
                raise
            results, error = [], e
        except BaseException as e:
            results, error = [], e
        finally:
            _thread.iterator = outer
        del memory
        self._answer(entry.job, results, error, end, "a result" if function is None else f"{function.op}: a result of {function.name}")

    def _decoder(self, function):
        decoders = self._local.__dict__.setdefault("decoders", {})
        if function.number not in decoders:
            decoders[function.number] = function.decoder()
        return decoders[function.number]

    def _answer(self, job, results, error, end, what):
        keep = []
        parts, bad = _parts(results, what, keep)
        error = error if bad is None else bad
        answer = {"parts": parts, "end": bool(end)}
        if error is not None:
            number = next(_exceptions)
            self.exceptions[number] = error
            kind = error.kind if isinstance(error, _errors.Error) else _errors.WorkerError.kind
            answer["error"] = {"id": number, "kind": kind, "text": f"{type(error).__name__}: {error}"}
        call = _native.Call(self.handle)
        try:
            call("dataset_answer", answer, (job,))
        except _errors.CancelledError:  # nobody waits for it any more
            pass
        for dropped in filter(None, call.struct.out):
            self.exceptions.pop(dropped, None)


def _parts(results, what, keep):
    """Results for the engine, up to the first that can be none, and why it cannot."""
    try:
        return [{"rows": rows, "columns": [_described(a, keep) for a in arrays]} for rows, arrays in columns(results, what)], None
    except Exception as e:
        if len(results) == 1:
            return [], e
    parts = []
    for r in results:
        part, bad = _parts([r], what, keep)
        if bad is not None:
            return parts, bad
        parts += part
    return parts, None


def _described(a, keep):
    if type(a) is Ragged:
        out = _described(a.values, keep)
        keep.append(a.shapes)
        return {**out, "shape": [0] * a.shapes.shape[1], "shapes": a.shapes.ctypes.data}
    a = np.ascontiguousarray(a)
    dtype = np.dtype(object) if a.dtype.kind in "SUO" else a.dtype
    packed = _text.pack(a) if dtype.hasobject else a
    keep.append(packed)
    return _definition.described(packed, a.shape[1:], dtype)
