"""PyDataset: batches made by the user's Python, in parallel, each exactly once a pass."""

import numbers
import os
import sys
import threading
import warnings
import weakref

from infeed import _context, _native
from infeed._errors import InvalidArgumentError, StateMismatchError
from infeed._pool import ProcessPool, ThreadPool
from infeed._walk import InlineWalk

STATE_FORMAT = 1
ORDER_VERSION = 1

MOST_WORKERS = 1024
MOST_QUEUED = 1 << 20

_STATE = "_infeed"


class Engine:
    """What infeed keeps for one dataset object: its settings, its place among passes, its workers."""

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10, shuffle=None, seed=None, timeout=None):
        self.workers = _count("workers", workers, MOST_WORKERS)
        self.processes = bool(use_multiprocessing)
        self.queue = _count("max_queue_size", max_queue_size, MOST_QUEUED)
        self.shuffle = shuffle
        self.seed = seed
        self.timeout = timeout
        self.epoch = 0
        self.started = False  # a pass with number `epoch` was begun
        self.hooking = 0  # hooks that are running
        self.pool = None
        self.lock = threading.RLock()
        self.owner = None  # weakref to the dataset, once it is known
        self._outside = None
        self.walks = weakref.WeakSet()
        self.of_sessions = weakref.WeakKeyDictionary()  # the walk of each of Keras's sessions

    def __reduce__(self):
        return Engine, (self.workers, self.processes, self.queue, self.shuffle, self._seed, self.timeout)

    def fresh(self):
        """Another engine with the same settings, for a copy of the dataset."""
        make, settings = self.__reduce__()
        return make(*settings)

    @property
    def timeout(self):
        return self._timeout

    @timeout.setter
    def timeout(self, value):
        if value is not None and (isinstance(value, bool) or not isinstance(value, numbers.Real) or not value > 0):
            raise InvalidArgumentError(f"timeout is {value!r}; it must be a number of seconds above 0, or None")
        self._timeout = None if value is None else float(value)

    @property
    def shuffle(self):
        return self._shuffle

    @shuffle.setter
    def shuffle(self, value):
        if value not in (True, False, None):
            raise InvalidArgumentError(f"shuffle is {value!r}; it must be True, False or None")
        self._shuffle = value

    @property
    def seed(self):
        """The seed in use; drawn at first need where none was given."""
        if self._seed is None:
            self._seed = _keras_seed()
        if self._seed is None:
            self._seed = int.from_bytes(os.urandom(8), "little") >> 1
        return self._seed

    @seed.setter
    def seed(self, value):
        self._seed = None if value is None else _count("seed", value, (1 << 64) - 1)

    def rng_outside(self, dataset):
        """The generator for hooks and the like: one for each (seed, pass)."""
        key = self.seed, self.epoch
        if self._outside is None or self._outside[0] != key:
            self._outside = key, _context.generator(*key, -1)
        return self._outside[1]

    def begin_pass(self):
        """The number of the pass that begins now."""
        with self.lock:
            if self.started:
                self.epoch += 1
            self.started = True
            return self.epoch

    def end_pass(self, number):
        with self.lock:
            if self.started and self.epoch == number:
                self.epoch += 1
                self.started = False

    def set_epoch(self, number):
        self.epoch, self.started = _count("epoch", number, 1 << 62), False

    def walk(self, dataset, *, length, shuffle, pass_, start=0, look=False):
        """A walk; makes the pool at the first one."""
        options = {"length": -1 if length is None else length, "shuffle": bool(shuffle), "seed": self.seed,
                   "pass": pass_, "epoch": pass_ if pass_ >= 0 else self.epoch, "start": start, "look": look}
        if self.workers == 0 and not self.processes or _context.job_of(dataset) is not None:
            # The latter is a batch that walks over its own dataset: workers would wait for themselves.
            walk = InlineWalk(dataset, options)
        else:
            walk = self._ready_pool(dataset).walk(options, self.timeout)
        self.walks.add(walk)
        return walk

    def _ready_pool(self, dataset):
        _native.check_fork()
        with self.lock:
            if self.pool is not None and not self.pool.handle:
                self.pool = None
            if self.pool is None:
                workers = max(self.workers, 1)
                if self.processes:
                    self.pool = ProcessPool(dataset, workers, self.queue)
                else:
                    self.pool = ThreadPool(weakref.ref(dataset), workers, self.queue)
            elif self.processes:
                # What was assigned since the last walk reaches the workers too.
                self.refresh(dataset)
            return self.pool

    def refresh(self, dataset):
        """Makes what changed known to workers; batches made ahead of a change are made again."""
        with self.lock:
            if self.pool is not None and self.pool.handle and self.pool.refresh(dataset):
                for walk in list(self.walks):
                    walk.invalidate()

    def close(self):
        with self.lock:
            pool, self.pool = self.pool, None
            for walk in list(self.walks):
                walk.close()
        if pool is not None:
            pool.close()

    def __del__(self):
        pool = getattr(self, "pool", None)
        if pool is not None:
            pool.close()


def _count(name, value, most):
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value.__index__() <= most:
        raise InvalidArgumentError(f"{name} is {value!r}; it must be an int from 0 to {most}")
    return value.__index__()


def _keras_seed():
    """The seed of keras.utils.set_random_seed, if Keras is in use and it was called."""
    module = sys.modules.get("keras.src.utils.rng_utils")
    seed = getattr(module, "get_random_seed", lambda: None)()
    return None if seed is None else seed & _context.MASK


def engine(dataset):
    """The engine of a dataset; made with defaults, and a warning, where __init__ was not called."""
    state = dataset.__dict__
    found = state.get(_STATE)
    if found is None:
        if not _context.in_worker:  # there, the dataset's own __getstate__ may have left it out
            warnings.warn(
                f"{type(dataset).__name__}.__init__ should call super().__init__(**kwargs), where kwargs may "
                "hold workers, use_multiprocessing, max_queue_size, shuffle, seed and timeout", stacklevel=3)
        found = state[_STATE] = Engine()
    if found.owner is None:
        found.owner = weakref.ref(dataset)
    elif found.owner() is not dataset:  # the dataset is a copy of another one
        found = state[_STATE] = found.fresh()
        found.owner = weakref.ref(dataset)
    return found


class Setting:
    """A name of infeed's that steps aside where the user's class assigns its own.

    An assignment counts as the class's own when it is made in one of the object's
    methods; from outside it sets infeed's value.
    """

    def __init__(self, read, write, doc):
        self.read, self.write, self.__doc__ = read, write, doc

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, dataset, owner=None):
        if dataset is None:
            return self
        own = dataset.__dict__
        return own[self.name] if self.name in own else self.read(dataset)

    def __set__(self, dataset, value):
        if self.name in dataset.__dict__ or _in_method_of(dataset, sys._getframe(1)):
            dataset.__dict__[self.name] = value
        else:
            self.write(dataset, value)


def _in_method_of(dataset, frame):
    code = frame.f_code
    if not code.co_argcount or frame.f_locals.get(code.co_varnames[0]) is not dataset:
        return False
    # A function that is given the dataset is no method of it.
    return any(code.co_name in vars(cls) for cls in type(dataset).__mro__)


class Name:
    """A read-only name of infeed's that an assignment or a definition of the user's replaces."""

    def __init__(self, read, doc):
        self.read, self.__doc__ = read, doc

    def __get__(self, dataset, owner=None):
        return self if dataset is None else self.read(dataset)


def _epoch(dataset):
    job = _context.job_of(dataset)
    return engine(dataset).epoch if job is None else job.epoch


def _rng(dataset):
    job = _context.job_of(dataset)
    return engine(dataset).rng_outside(dataset) if job is None else job.rng


def _parallelism(dataset):
    e = engine(dataset)
    return max(e.workers, 1) if e.processes else e.workers


def _set(name):
    return lambda dataset, value: setattr(engine(dataset), name, value)


class PyDataset:
    """Base class of datasets whose batches are made by Python code.

    A subclass defines `__len__` (batches in a pass) or `num_batches` (None: endless)
    and `__getitem__(index)`, which returns a whole batch: x, (x,), (x, y),
    (x, y, sample_weight) or a dict, whose leaves are arrays. Iterating is one pass:
    every batch exactly once, made ahead by the workers, delivered in order.

    Args:
        workers: 0: batches are made in the caller's thread; 1: one thread reads
            ahead; n: n threads.
        use_multiprocessing: n processes instead of threads (at least one).
        max_queue_size: how many finished batches may wait (0: as many as workers).
        shuffle: True: in an order that depends on (seed, pass) only; False or None:
            by index (None in `fit`: as `fit(shuffle=)` says).
        seed: int from 0 to 2**64-1; None draws one.
        timeout: seconds that a batch may take before TimeoutError is raised; None:
            no limit, with a warning after 60 s.

    Raises:
        InvalidArgumentError: for arguments of the wrong kind; while iterating, for a
            batch that is none, and for a dataset that cannot be sent to processes.
        WorkerError: for a batch that killed its worker process three times.

    Example:
        >>> import numpy as np, infeed
        >>> class Squares(infeed.PyDataset):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         return np.full((2,), index * index)
        >>> with Squares(workers=2) as ds:
        ...     [batch.tolist() for batch in ds]
        [[0, 0], [1, 1], [4, 4]]
    """

    epoch = Setting(_epoch, lambda d, v: engine(d).set_epoch(v), "Number of the pass, from 0; can be set.")
    seed = Setting(lambda d: engine(d).seed, _set("seed"), "Seed of the orders and of `rng`.")
    shuffle = Setting(lambda d: engine(d).shuffle, _set("shuffle"), "True, False, or None.")
    timeout = Setting(lambda d: engine(d).timeout, _set("timeout"), "Seconds, or None.")
    rng = Name(_rng, "np.random.Generator of this batch, seeded by (seed, pass, index); outside __getitem__, of this "
                     "pass. A thread that __getitem__ starts must be given it: there it is not this batch's.")
    parallelism = Name(_parallelism, "How many workers make batches; 0: the caller's thread does.")

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10, *, shuffle=None, seed=None,
                 timeout=None):
        self.__dict__[_STATE] = Engine(workers, use_multiprocessing, max_queue_size, shuffle, seed, timeout)

    @property
    def workers(self):
        """Number of workers."""
        return engine(self).workers

    @workers.setter
    def workers(self, value):
        e = engine(self)
        e.close()
        e.workers = _count("workers", value, MOST_WORKERS)

    @property
    def use_multiprocessing(self):
        """True: workers are processes."""
        return engine(self).processes

    @use_multiprocessing.setter
    def use_multiprocessing(self, value):
        e = engine(self)
        e.close()
        e.processes = bool(value)

    @property
    def max_queue_size(self):
        """How many finished batches may wait."""
        return engine(self).queue

    @max_queue_size.setter
    def max_queue_size(self, value):
        e = engine(self)
        e.close()
        e.queue = _count("max_queue_size", value, MOST_QUEUED)

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(index), which returns a batch")

    @property
    def num_batches(self):
        """Batches in a pass; None: endless."""
        if hasattr(type(self), "__len__"):
            return len(self)
        raise NotImplementedError(f"{type(self).__name__} must define __len__, or the property num_batches "
                                  "(None for an endless dataset)")

    def on_epoch_begin(self):
        """Called in the main process before the first batch of a pass is made."""

    def on_epoch_end(self):
        """Called in the main process after the last batch of a pass."""

    def empty(self, shape, dtype="float32"):
        """An uninitialised array for a batch: in worker processes it lies in shared memory already.

        Args:
            shape: int or tuple of ints.
            dtype: anything that np.dtype takes.

        Returns:
            np.ndarray of that shape. It must not be kept beyond `__getitem__`.
        """
        import numpy as np

        job = _context.job_of(self)
        if job is None or job.empty is None:
            return np.empty(shape, dtype)
        return job.empty(shape, dtype)

    def _infeed_hooks(self):
        """The object whose class may have hooks."""
        return self

    def _infeed_walk(self, **options):
        """A walk over the batches; see Engine.walk for the options."""
        return engine(self).walk(self, **options)

    def __iter__(self):
        return PassIterator(self)

    def close(self):
        """Ends the workers. The dataset can be used again: they start anew."""
        engine(self).close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class KerasBase:
    """Stands in for keras.utils.PyDataset where Keras is not imported: in worker processes."""

    _workers, _use_multiprocessing, _max_queue_size = 1, False, 10
    workers = property(lambda self: self._workers)
    use_multiprocessing = property(lambda self: self._use_multiprocessing)
    max_queue_size = property(lambda self: self._max_queue_size)
    num_batches = PyDataset.num_batches

    def on_epoch_begin(self):
        """Does nothing."""

    def on_epoch_end(self):
        """Does nothing."""


class KerasDataset(PyDataset, KerasBase):
    """Stands in for infeed.keras.PyDataset there."""


def hooks_overridden(dataset):
    """True if a hook of the user's may change the dataset."""
    cls = type(dataset._infeed_hooks())
    return any(getattr(getattr(cls, h), "__module__", "").split(".")[0] not in ("infeed", "keras")
               for h in ("on_epoch_begin", "on_epoch_end"))


def run_hook(dataset, name):
    """Calls a hook and lets what it changed reach the workers."""
    e = engine(dataset)
    e.hooking += 1
    try:
        getattr(dataset, name)()
    finally:
        e.hooking -= 1
    if hooks_overridden(dataset):
        e.refresh(dataset)


def length_of(dataset):
    """Batches in a pass, or None; a dataset that defines neither is endless."""
    try:
        n = dataset.num_batches
    except NotImplementedError:
        return None
    if n is not None and (not hasattr(n, "__index__") or n < 0):
        raise InvalidArgumentError(f"num_batches of {type(dataset).__name__} is {n!r}; it must be an int from 0 on, "
                                   "or None for an endless dataset")
    return None if n is None else int(n)


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
        self._inside_hook = e.hooking > 0
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
            position = _count("at (batches delivered of this pass)", at, position)
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
        e.seed = state["seed"]
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
    _check_numbers(state, length)
    have = {"class": type(dataset).__qualname__, "shuffle": bool(e.shuffle), "length": length}
    if e._seed is not None:
        have["seed"] = e._seed
    differs = [f"{k} was {state.get(k)!r} and is {v!r}" for k, v in have.items() if state.get(k) != v]
    if differs:
        raise StateMismatchError("the state is of another dataset: " + ", ".join(differs))


def _check_numbers(state, length):
    limits = {"pass": 1 << 62, "seed": (1 << 64) - 1, "position": (1 << 62) if length is None else length}
    if state.get("length") != length:
        del limits["position"]  # the other length is told
    for name, limit in limits.items():
        value = state.get(name)
        if not isinstance(value, int) or not 0 <= value <= limit:
            raise InvalidArgumentError(f"{name} is {value!r} in this state; an int from 0 to {limit} was expected")
