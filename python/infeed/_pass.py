"""One pass over a PyDataset in a plain loop, and the state that says where it stands."""

import threading
import warnings

from infeed import _context
from infeed._engine import count, engine, hooks_overridden, length_of, run_hook
from infeed._errors import InvalidArgumentError, StateMismatchError

STATE_FORMAT = 1
ORDER_VERSION = 1


class PassIterator:
    """One pass over a PyDataset, begun when its first batch is drawn."""

    def __init__(self, dataset):
        self._dataset = dataset
        self._walk = None
        self._start = 0
        self._pass = None
        self._length = None
        self._ended = False
        self._inside_hook = False
        self._lock = threading.RLock()

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            if self._ended:
                raise StopIteration
            if self._walk is None:
                self._begin()
            try:
                return self._walk.next()
            except StopIteration:
                self._end()
                raise StopIteration from None

    def _begin(self):
        ds, e = self._dataset, engine(self._dataset)
        # A hook may look at the batches: by index, and no pass.
        self._inside_hook = threading.get_ident() in e.hooking
        if self._pass is None:
            self._pass = _context.EVALUATION if self._inside_hook else e.begin_pass()
        restored = self._start > 0 and hasattr(type(ds), "load_state_dict")
        if not restored and not self._inside_hook:
            run_hook(ds, "on_epoch_begin")
        self._length = length_of(ds)
        shuffle = e.shuffle and not self._inside_hook
        self._walk = ds._infeed_walk(length=self._length, shuffle=shuffle, pass_=self._pass, start=self._start)

    def _end(self):
        self._ended = True
        if not self._inside_hook:
            run_hook(self._dataset, "on_epoch_end")
            engine(self._dataset).end_pass(self._pass)
        self._walk.close()

    def state_dict(self, at=None):
        """Where this iterator stands, as a JSON-able dict.

        Args:
            at: a number of delivered batches, at most those delivered by now: the
                state before the batch that came then.

        Raises:
            InvalidArgumentError: at is none of this pass.
        """
        ds, e = self._dataset, engine(self._dataset)
        pass_, position = self._pass, self._start if self._walk is None else self._walk.position
        if pass_ is None:
            pass_ = e.epoch + 1 if e.started else e.epoch
        if at is not None:
            position = count("at (batches delivered of this pass)", at, position)
        elif self._ended:
            pass_, position = pass_ + 1, 0
        state = {"format": STATE_FORMAT, "kind": "pydataset", "order": ORDER_VERSION, "class": type(ds).__qualname__,
                 "seed": e.seed, "shuffle": bool(e.shuffle), "pass": pass_, "position": position,
                 "length": length_of(ds)}
        if hasattr(type(ds), "state_dict"):
            state["dataset"] = ds.state_dict()
        return state

    def load_state_dict(self, state):
        """Puts this iterator, from which nothing was drawn yet, where a state says.

        Raises:
            InvalidArgumentError: something was drawn already, or it is no such state.
            StateMismatchError: the state is of another dataset; the text says how.
        """
        ds, e = self._dataset, engine(self._dataset)
        if self._walk is not None or self._ended:
            raise InvalidArgumentError("load_state_dict needs a fresh iterator; call iter(dataset) again")
        _check_state(state, ds, e)
        if hasattr(type(ds), "load_state_dict"):
            ds.load_state_dict(state.get("dataset"))
        elif hooks_overridden(ds) and (state["pass"] or state["position"]):
            warnings.warn(f"{type(ds).__name__} has hooks but no state_dict/load_state_dict: what its hooks changed in "
                          "earlier passes is not restored", stacklevel=2)
        drawn, e.seed = e.drawn or e._seed is None, state["seed"]
        e.drawn = drawn
        e.set_epoch(state["pass"])
        self._pass, self._start = e.begin_pass(), state["position"]

    def __reduce__(self):
        raise TypeError("an iterator over a PyDataset cannot be copied or pickled; save its state_dict() instead")

    def __del__(self):
        if getattr(self, "_walk", None) is not None:
            self._walk.close()


def _check_state(state, dataset, e):
    if not isinstance(state, dict) or state.get("kind") != "pydataset":
        raise InvalidArgumentError("this is no state of a PyDataset iterator")
    if state.get("format") != STATE_FORMAT or state.get("order") != ORDER_VERSION:
        raise StateMismatchError(f"the state has format {state.get('format')} and order {state.get('order')}; this "
                                 f"version of infeed reads format {STATE_FORMAT} and order {ORDER_VERSION}")
    length = length_of(dataset)
    check_numbers(state, length)
    have = {"class": type(dataset).__qualname__, "shuffle": bool(e.shuffle), "length": length}
    if e._seed is not None and not e.drawn:
        have["seed"] = e._seed
    differs = [f"{k} was {state.get(k)!r} and is {v!r}" for k, v in have.items() if state.get(k) != v]
    if differs:
        raise StateMismatchError("the state is of another dataset: " + ", ".join(differs))


def check_numbers(state, length):
    limits = {"pass": 1 << 62, "seed": (1 << 64) - 1, "position": (1 << 62) if length is None else length}
    if state.get("length") != length:
        del limits["position"]  # the other length is told
    for name, limit in limits.items():
        value = state.get(name)
        if not isinstance(value, int) or not 0 <= value <= limit:
            raise InvalidArgumentError(f"{name} is {value!r} in this state; an int from 0 to {limit} was expected")
