"""What is known while a batch is made: which one, for whom, and its random numbers."""

import threading

MASK = (1 << 64) - 1

# Passes that are no training passes, as numbers for keys.
EVALUATION = -1

_local = threading.local()

_alone = {}  # the job, by id of its dataset, that is the only one of it

# Set by worker processes: infeed.keras then does without Keras.
in_worker = False


class Job:
    """The making of batch `index`, during which `dataset.rng` and `dataset.epoch` are this one's.

    alone: no other batch of the dataset is made meanwhile, so that threads which the
    user's code starts can be told the same.
    """

    __slots__ = ("dataset", "seed", "pass_", "epoch", "index", "empty", "alone", "_rng", "_outer", "_before")

    def __init__(self, dataset, seed, pass_, epoch, index, empty=None, alone=False):
        self.dataset, self.seed, self.pass_, self.epoch, self.index = dataset, seed, pass_, epoch, index
        self.empty, self.alone = empty, alone
        self._rng = None

    def __enter__(self):
        self._outer = getattr(_local, "job", None)
        _local.job = self
        if self.alone:
            self._before = _alone.get(id(self.dataset))
            _alone[id(self.dataset)] = self
        return self

    def __exit__(self, *_):
        _local.job = self._outer
        if self.alone:
            if self._before is None:
                _alone.pop(id(self.dataset), None)
            else:
                _alone[id(self.dataset)] = self._before
        self.dataset = self.empty = self._rng = self._outer = self._before = None

    @property
    def rng(self):
        if self._rng is None:
            self._rng = generator(self.seed, self.pass_, self.index)
        return self._rng


class Outside:
    """What a thread does meanwhile, such as running a hook, belongs to no job."""

    def __enter__(self):
        self._before = getattr(_local, "outside", False)
        _local.outside = True

    def __exit__(self, *_):
        _local.outside = self._before


def in_main_thread():
    """Whether this is the main thread. `threading.current_thread()` would make an object for each of TensorFlow's threads, for good."""
    return threading.get_ident() == threading.main_thread().ident


def job_of(dataset):
    """The job that the calling code belongs to, if it is one of `dataset`."""
    job = getattr(_local, "job", None)
    # No job starts the main thread: what runs there, and in no job, is the consumer's.
    if job is None and not getattr(_local, "outside", False) and not in_main_thread():
        job = _alone.get(id(dataset))
    return job if job is not None and job.dataset is dataset else None


def mix(value):
    """One round of SplitMix64 (Steele, Lea, Flood 2014): uint64 to uint64, a bijection."""
    value = (value + 0x9E3779B97F4A7C15) & MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


def key(seed, pass_, index):
    """Two uint64 that are a hash of (seed, pass, index)."""
    a = mix(mix(mix(seed & MASK) ^ (pass_ & MASK)) ^ (index & MASK))
    return a, mix(a ^ 0x5851F42D4C957F2D)


def generator(seed, pass_, index):
    """The np.random.Generator of one batch: Philox, keyed by (seed, pass, index)."""
    import numpy as np

    low, high = key(seed, pass_, index)
    return np.random.Generator(np.random.Philox(key=high << 64 | low))
