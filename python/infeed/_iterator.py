"""Iterators over datasets: one pass, walked once, with a state that says where it is."""

import copy
import json
import logging
import threading
import time

from infeed import _jobs, _native, _options, _running, _state
from infeed._arguments import U64
from infeed._decoder import Decoder
from infeed._errors import CancelledError, Error, ForkedProcessError, InvalidArgumentError
from infeed._stats import Stats

MOST_PASTS = 16  # engines of one iterator that ended, with an error and then anew, whose states are kept


class Iterator:
    """Walks over one pass of a dataset; made by `iter(ds)` and `ds.iterator()`.

    Elements come in groups that share memory with the engine: arrays are valid, and
    yours to write, for as long as anything refers to them.

    Example:
        >>> import infeed
        >>> ds = infeed.Dataset.from_tensor_slices([1, 2, 3, 4]).batch(2)
        >>> it = iter(ds)
        >>> next(it)
        array([1, 2], dtype=int32)
        >>> state = it.state_dict()
        >>> again = iter(ds)
        >>> again.load_state_dict(state)
        >>> next(again)
        array([3, 4], dtype=int32)
    """

    def __init__(self, dataset, pass_, shard=None):
        self._dataset, self._pass, self._shard = dataset, pass_, shard
        self._seeds = dataset._seeds  # None: the definition's
        self._decoder = self._jobs = None
        self._ready = []  # elements of the group at hand, the next one last
        self._pop = self._ready.pop
        self._lock = threading.RLock()
        self._mark = object()  # by which functions know it; a reference to it would keep it
        self._lent = _native.Lent()  # the groups in the user's hands
        self._call = None
        self._workers = 0
        self._start = self._end = 0  # the first element's number, and the one after the group at hand
        self._first, self._base, self._stride = 0, 0, 1  # see infeed_dataset_iterate
        self._asking = None  # a call for states
        self._offset = 0  # how many elements were delivered when the engine began
        self._pasts = []  # of engines that ended: (offset, what knows its states, number of its first element)
        self._over = False  # the last element was delivered
        self._waited = 0.0  # seconds
        self._last_stats = {"stages": [], "waiting": 0, "ahead": 0, "notices": [], "lost": 0, "places": []}
        self._closed = False
        self._state, self._known = None, 0  # the state before the element of a number

    @property
    def element_spec(self):
        """The specs of an element's components, in the structure of an element."""
        return self._dataset.element_spec

    @property
    def _random_access(self):
        """Whether a state may name any position."""
        return self._dataset._node.handle().indexed

    def __iter__(self):
        return self

    def __next__(self):
        pop = self._pop  # faster than to call it as a method, which it is not
        try:
            return pop()
        except IndexError:
            pass  # and no exception of the next group is chained to this one
        return self._next_group()

    def _next_group(self):
        _native.check_fork()
        self._refuse_own_functions()
        with self._lock:
            try:
                return self._pop()  # another thread was here first
            except IndexError:
                pass
            if self._over:
                raise StopIteration
            if self._closed:
                raise CancelledError("the iterator was closed")
            try:
                return self._deliver(self._call or self._open(self._here()))
            except BaseException as e:
                # Whatever was under way, such as a group that an interrupt kept from
                # arriving, is made again by the next call.
                if not self._closed:  # or nothing is left to remember
                    self._state, self._known = self._here(), self._last()
                    self._remember()
                    self._abandon()
                self._jobs = None
                if isinstance(e, StopIteration) and not self._over:
                    # A loop would take it for the end (PEP 479).
                    raise RuntimeError("a function or generator of the dataset raised StopIteration") from e
                raise

    def _refuse_own_functions(self):
        """Raises in a function of the dataset: who waits for it, perhaps another thread, has the lock."""
        if _jobs.answering(self._mark):
            raise RuntimeError("a function of the dataset asks the iterator that runs it for elements, a state or stats; give it an "
                               "iterator of its own")

    def _deliver(self, call):
        """The first element of the next group; the others are ready then."""
        entry, memory = call.struct.entry, None
        try:
            self._take(call)
            memory = _native.lease(entry, self._lent)
            entry.slot = 0
            elements = self._decode(memory, entry.meta_offset, len(self._lent) > self._may_lend)
        except BaseException:
            if memory is None and entry.slot:
                _native.library().release(entry.slot)  # it was taken, and nobody has it
            raise
        elements.reverse()
        first = elements.pop()
        self._ready[:], self._end = elements, entry.position + entry.index
        return first

    def _decode(self, memory, meta_offset, private):
        return self._decoder(memory, meta_offset, private)

    def _take(self, call):
        """Takes the next entry; StopIteration after the last."""
        if not self._workers:
            self._produce(call)
        while True:
            status = self._try(call.address)
            while status:
                if status == _native.END:
                    self._over = True
                    self._log_end()
                    raise StopIteration
                if status < 0:
                    raise self._failure(call, status)
                if _native.exiting():
                    raise CancelledError("the interpreter is shutting down")
                start = time.perf_counter()
                status = self._wait(call.address)
                self._waited += time.perf_counter() - start
            if call.struct.entry.status != _native.JOB:
                return
            start = time.perf_counter()
            self._jobs.run(_native.Entry.from_buffer_copy(call.struct.entry))
            call.struct.entry.slot = 0
            self._waited += time.perf_counter() - start  # for what it did itself

    def _log_end(self):
        """Logs what ignore_errors(log_warning=True) left out, and what else went wrong and stopped nobody."""
        nodes = self._dataset._node.nodes()
        lost = any(getattr(n, "log_warning", False) for n in nodes)
        if not lost and all(n.op != "snapshot" for n in nodes):
            return
        counted, log = self._counted(), logging.getLogger("infeed")
        if lost and counted["lost"]:
            log.warning("%d elements were left out, such as %s", counted["lost"],
                        "; ".join(counted["places"]) or "those of damaged files")
        for text in counted["notices"]:
            log.warning("%s", text)

    def _produce(self, call):
        status = _native.library().infeed_dataset_produce(call.address)
        if status < 0:
            raise call.error(status)

    def _failure(self, call, status):
        """The error behind a status; it comes again at every further call."""
        if status in (-CancelledError.kind, -ForkedProcessError.kind):
            return call.error(status)
        return _running.cause_of(call, self._jobs)

    def _here(self):
        """The state after what was delivered; None where the engine was not asked for anything yet."""
        return None if self._state is None else self._state_at(self._last())

    def _last(self):
        """The number of the element that comes next.

        At the end of a pass that several readers share, some of them had one element
        more: all of these are over then.
        """
        return self._end - len(self._ready) + int(self._over and self._shard is not None)

    def _state_at(self, number):
        """The state before an element that was delivered lately, or the next one."""
        if self._indexed:
            position = self._base + number * self._stride
            return {**self._state, "position": position if self._most < 0 else min(position, self._most)}
        if self._call is not None and number >= self._first:
            handle = self._call.struct.handle
        else:
            delivered = number - self._start
            past = next((p for p in reversed(self._pasts) if p[0] <= delivered), None)
            if past is None and number == self._known:
                return copy.deepcopy(self._state)
            if past is None:
                raise InvalidArgumentError(f"state_dict: the state before element {delivered} is no longer known; only those of "
                                           "recent elements are, and none when the iterator was closed")
            offset, handle, first = past
            number = first + delivered - offset
        if self._asking is None:
            self._asking = _native.Call()
        call = self._asking
        call.struct.handle, call.struct.arg[0] = handle, number
        if (status := _native.library().quick_dataset_state(call.address)) < 0:
            raise call.error(status)
        return {**self._always, **json.loads(call.long())}

    def _remember(self):
        """Keeps what knows the states of the engine, which is about to be closed."""
        if self._call is None or self._indexed:
            return
        call = _native.Call(self._call.struct.handle)
        try:
            call("dataset_past")
        except Error:  # it was closed from another thread, or by the end of the interpreter
            return
        if len(self._pasts) == MOST_PASTS or self._pasts and self._pasts[-1][0] == self._offset:  # that one delivered nothing
            _running.close(self._pasts.pop(0 if len(self._pasts) == MOST_PASTS else -1)[1])
        self._pasts.append((self._offset, call.struct.out[0] & U64, self._first))

    def _forget(self):
        while self._pasts:
            _running.close(self._pasts.pop()[1])

    def _open(self, state):
        """Starts the engine on the pass, or where a state says; returns the call that takes from it."""
        if _native.exiting():
            raise CancelledError("the interpreter is shutting down")
        handle = self._dataset._ready()
        self._decoder = Decoder(self._dataset._node.structure, handle.specs)
        threads = self._dataset._threads() if handle.calls else 0
        self._workers = self._dataset._workers(threads)
        call = _native.Call(handle.number)
        try:
            return self._begin(call, handle, state, threads)
        except BaseException:
            opened = call.struct.out[0] & U64
            if self._call is None or self._call.struct.handle != opened:
                _running.close(opened)  # an interrupt came before anybody knew of it
            raise

    def _begin(self, call, handle, state, threads):
        call("dataset_iterate", {"pass": self._pass, "shard": self._shard, "state": state, "seeds": self._seeds, "workers": self._workers,
                                 "ram_budget": _options.ram_budget(self._dataset.options()), "functions": handle.calls,
                                 "threads": threads > 0})
        self._may_lend = call.struct.out[1]
        self._first, self._base, self._stride = call.struct.out[3:6]
        self._state, self._indexed, self._most = json.loads(call.long()), handle.indexed, call.struct.out[6]
        self._jobs = _jobs.Jobs(call.struct.out[0] & U64, call.struct.out[2] & U64, threads, self._mark, state is not None) if handle.calls else None
        delivered = self._offset = self._end - self._start
        self._pass, self._end, self._start = self._state["pass"], self._first, self._first - delivered
        self._known = self._first
        self._always = {k: v for k, v in self._state.items() if k not in ("position", "token", "rows")}
        opened = self._call = _native.Call(call.struct.out[0] & U64)
        library = _native.library()
        self._try, self._wait = library.quick_try_next, library.infeed_next
        self._over = self._closed = False
        _native.close_at_exit(self)
        return opened

    def state_dict(self, at=None):
        """Where the iterator is, as a dict for JSON of less than a kilobyte.

        at: before which of the elements that this iterator delivered, counted from
        0; None: after the last of them. The states before the last few thousand are
        known, also after the end; those of random access data all. Its position counts
        elements of the pass, over all readers that share it. Raises InvalidArgumentError
        for an element that was not delivered yet.

        Example:
            >>> import infeed
            >>> it = iter(infeed.Dataset.from_tensor_slices([1, 2, 3]))
            >>> _ = next(it), next(it)
            >>> it.state_dict()["position"], it.state_dict(at=0)["position"]
            (2, 0)
        """
        self._refuse_own_functions()
        with self._lock:
            if self._state is None:
                self._open(None)
            number = self._last()
            if at is not None:
                delivered = self._end - len(self._ready) - self._start
                if isinstance(at, bool) or not hasattr(at, "__index__") or not 0 <= at <= delivered:
                    raise InvalidArgumentError(f"state_dict: at is {at!r}; {delivered} elements were delivered")
                number = self._start + int(at)
            return _state.copied(self._state_at(number))

    def load_state_dict(self, state):
        """Goes to where a state was saved, in the pass it was saved in.

        The next `iter` over the dataset is then the pass after that one, with the same
        seeds. Where the
        dataset has a `shard` over random access data, and behind it only operations that
        keep its elements in order (map, filter, batch, padded_batch, ragged_batch,
        flat_map, unbatch, ignore_errors, prefetch), the number of readers may have
        changed. state is then a list of the states of all readers there were; each
        element that none of them gave comes once, from one of the readers there are.
        Where the dataset is random access altogether one of the states is enough, for
        readers in lock step. Raises StateMismatchError where the state is of another
        dataset, saying what differs.

        Example:
            >>> import infeed
            >>> def reader(n, i):
            ...     return iter(infeed.Dataset.range(12).shard(n, i).filter(lambda x: x != 3))
            >>> two = [reader(2, 0), reader(2, 1)]
            >>> [int(next(it)) for it in (two[0], two[0], two[1])]
            [0, 2, 1]
            >>> three = [reader(3, i) for i in range(3)]
            >>> for it in three:
            ...     it.load_state_dict([old.state_dict() for old in two])
            >>> [[int(x) for x in it] for it in three]
            [[6, 9], [4, 7, 10], [5, 8, 11]]
        """
        states = list(state) if isinstance(state, (list, tuple)) else [state]
        for s in states:
            if not isinstance(s, dict):
                raise InvalidArgumentError(f"load_state_dict: a dict from state_dict() is needed, not {type(s).__name__}")
            _state.check_types(s)
        if not states:
            raise InvalidArgumentError("load_state_dict: the list of states is empty; give the states of all readers")
        self._refuse_own_functions()
        with self._lock:
            if state is not states[0]:
                state = self._combined(states)
            old = self._call
            try:
                self._open(state)
            finally:
                if old is not None and self._call is not old:
                    _running.close(old.struct.handle)
            self._forget()
            self._ready.clear()
            self._start, self._offset = self._end, 0
            self._dataset._continue_after(self._pass, self._state.get("seeds"))

    def _combined(self, states):
        """The state from which this reader goes on after those that left the states."""
        handle, jobs = self._dataset._ready(), None
        call = _native.Call(handle.number)
        call("dataset_iterate", {"combine": states, "workers": 1, "functions": handle.calls})
        call.struct.handle = call.struct.out[0] & U64
        try:
            if handle.calls:
                jobs = _jobs.Jobs(call.struct.handle, 0, 0)
            for _ in _running.entries(call, jobs):
                pass
            call("dataset_state", args=(0, 1))
            return json.loads(call.long())
        finally:
            _running.close(call.struct.handle)

    def stats(self):
        """What the iterator did so far, as `Stats`: elements, bytes and time of each stage, and which is the slowest.

        Example:
            >>> import infeed
            >>> it = iter(infeed.Dataset.range(100).map(lambda x: x + 1).batch(10))
            >>> _ = list(it)
            >>> [s["elements"] for s in it.stats().stages]
            [100, 100, 10]
        """
        self._refuse_own_functions()
        with self._lock:
            return Stats(self._counted(), self._waited, self._end - len(self._ready) - self._start)

    def _counted(self):
        if self._call is None:
            return self._last_stats
        call = _native.Call(self._call.struct.handle)
        call("dataset_stats")
        return json.loads(call.long())

    def close(self):
        """Ends the iterator and gives back its memory; arrays it gave out stay valid."""
        self._closed = True
        self._ready.clear()
        self._abandon()
        self._forget()

    def __reduce__(self):
        raise TypeError("an iterator over a Dataset cannot be copied or pickled; save its state_dict() instead")

    def _abandon(self):
        call = self._call
        if call is not None:
            try:
                self._last_stats = self._counted()
            except Error:  # it was closed, or belongs to the process that forked this one
                pass
            self._call = None
            _running.close(call.struct.handle)

    def __del__(self):
        if getattr(self, "_call", None) is not None:
            self._abandon()
        if getattr(self, "_pasts", None):
            self._forget()
