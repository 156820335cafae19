"""What is known while a batch is made: which one, for whom, and its random numbers."""

import threading

MASK = (1 << 64) - 1

# Passes that are no training passes, as numbers for keys.
EVALUATION = -1

_local = threading.local()

# In a worker process, which makes one batch at a time: the job of that.
_of_process = None

# Set by worker processes: infeed.keras then does without Keras.
in_worker = False


class Job:
    """The making of batch `index`, during which `dataset.rng` and `dataset.epoch` are this one's."""

    __slots__ = ("dataset", "seed", "pass_", "epoch", "index", "empty", "_rng", "_outer")

    def __init__(self, dataset, seed, pass_, epoch, index, empty=None):
        self.dataset, self.seed, self.pass_, self.epoch, self.index = dataset, seed, pass_, epoch, index
        self.empty = empty
        self._rng = None

    def __enter__(self):
        global _of_process
        self._outer = getattr(_local, "job", None)
        _local.job = self
        if in_worker and self._outer is None:
            _of_process = self
        return self

    def __exit__(self, *_):
        global _of_process
        _local.job = self._outer
        if _of_process is self:
            _of_process = None
        self.dataset = self.empty = self._rng = None

    @property
    def rng(self):
        if self._rng is None:
            self._rng = generator(self.seed, self.pass_, self.index)
        return self._rng


def job_of(dataset):
    """The job of this thread, if it is one of `dataset`; in a worker process, of any of its threads."""
    job = getattr(_local, "job", None) or _of_process
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
