"""What infeed keeps for one PyDataset object, and what it does with its hooks."""

import numbers
import os
import sys
import threading
import warnings
import weakref

from infeed import _context, _native
from infeed._errors import InvalidArgumentError
from infeed._pool import ProcessPool, ThreadPool
from infeed._walk import InlineWalk

MOST_WORKERS = 1024
MOST_QUEUED = 1 << 20

_STATE = "_infeed"


class Engine:
    """What infeed keeps for one dataset object: its settings, its place among passes, its workers."""

    def __init__(self, workers=1, use_multiprocessing=False, max_queue_size=10, shuffle=None, seed=None, timeout=None):
        self.workers = count("workers", workers, MOST_WORKERS)
        self.processes = bool(use_multiprocessing)
        self.queue = count("max_queue_size", max_queue_size, MOST_QUEUED)
        self.shuffle = shuffle
        self.seed = seed
        self.timeout = timeout
        self.epoch = 0
        self.started = False  # a pass with number `epoch` was begun
        self.hooking = []  # the threads that are in a hook
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
            self.drawn = True  # so that a state may bring another
            self._seed = _keras_seed()
        if self._seed is None:
            self._seed = int.from_bytes(os.urandom(8), "little") >> 1
        return self._seed

    @seed.setter
    def seed(self, value):
        self._seed = None if value is None else count("seed", value, (1 << 64) - 1)
        self.drawn = False

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
        self.epoch, self.started = count("epoch", number, 1 << 62), False

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
        _native.stay_at_exit()
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


def count(name, value, most):
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


def hooks_overridden(dataset):
    """True if a hook of the user's may change the dataset."""
    cls = type(dataset._infeed_hooks())
    return any(getattr(getattr(cls, h), "__module__", "").split(".")[0] not in ("infeed", "keras")
               for h in ("on_epoch_begin", "on_epoch_end"))


def run_hook(dataset, name):
    """Calls a hook and lets what it changed reach the workers."""
    e = engine(dataset)
    e.hooking.append(threading.get_ident())
    try:
        with _context.Outside():
            getattr(dataset, name)()
    finally:
        e.hooking.remove(threading.get_ident())
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
