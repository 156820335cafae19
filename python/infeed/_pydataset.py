"""PyDataset: batches made by the user's Python, in parallel, each exactly once a pass."""

import sys

from infeed import _context
from infeed._engine import MOST_QUEUED, MOST_WORKERS, Engine, count, engine
from infeed._pass import PassIterator


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
        self.__dict__["_infeed"] = Engine(workers, use_multiprocessing, max_queue_size, shuffle, seed, timeout)

    @property
    def workers(self):
        """Number of workers."""
        return engine(self).workers

    @workers.setter
    def workers(self, value):
        e = engine(self)
        e.close()
        e.workers = count("workers", value, MOST_WORKERS)

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
        e.queue = count("max_queue_size", value, MOST_QUEUED)

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

    def _infeed_state(self, walk, pass_, position):
        """What a training's state holds beyond what holds for every PyDataset (see _place)."""
        return {}

    def _infeed_check(self, state):
        """Refuses a training's state of other data."""

    def _infeed_resume(self, state):
        """What a walk that begins at a training's state has to be given besides, or None."""

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
