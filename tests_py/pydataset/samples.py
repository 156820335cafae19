"""Datasets that worker processes can import, and the kinds of workers they are tried with."""

import os
import threading
import time

import infeed
import numpy as np

LIMIT = 20

KINDS = {
    "inline": dict(workers=0),
    "thread": dict(workers=1),
    "threads": dict(workers=4),
    "process": dict(workers=1, use_multiprocessing=True),
    "processes": dict(workers=2, use_multiprocessing=True),
}
PARALLEL = [k for k in KINDS if k != "inline"]
PROCESSES = ["process", "processes"]


class Items(infeed.PyDataset):
    """Batch i is full of i."""

    def __init__(self, length=8, shape=(2,), dtype="int64", **options):
        super().__init__(**options)
        self.length, self.shape, self.dtype = length, shape, dtype

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return np.full(self.shape, index, self.dtype)


class Made(Items):
    """Batch i is make(dataset, i)."""

    def __init__(self, make, length=8, **options):
        super().__init__(length, **options)
        self.make = make

    def __getitem__(self, index):
        return self.make(self, index)


class Hooked(Items):
    """Batch i is the value that the hooks left, and i; hooks note that they ran."""

    def __init__(self, length=8, **options):
        super().__init__(length, **options)
        self.value, self.log = 0, []

    def on_epoch_begin(self):
        self.value += 1
        self.log.append("begin")

    def on_epoch_end(self):
        self.log.append("end")

    def __getitem__(self, index):
        return np.array([self.value, index])


class Reindexed(Items):
    """The classic: the end hook shuffles `self.indexes`; state_dict keeps what it needs."""

    def __init__(self, length=8, **options):
        super().__init__(length, **options)
        self.indexes = np.arange(length)
        self.source = np.random.RandomState(3)

    def on_epoch_end(self):
        self.source.shuffle(self.indexes)

    def __getitem__(self, index):
        return np.array([self.indexes[index], self.rng.integers(1 << 30)])


class Remembering(Reindexed):
    """The same with the user's own state."""

    def state_dict(self):
        kind, keys, *rest = self.source.get_state()
        return {"indexes": self.indexes.tolist(), "source": [kind, keys.tolist(), *rest]}

    def load_state_dict(self, state):
        self.indexes[:] = state["indexes"]
        kind, keys, *rest = state["source"]
        self.source.set_state((kind, np.array(keys, "uint32"), *rest))


class Gate:
    """Something to wait at until it is opened; what worker processes get is never opened."""

    def __init__(self):
        self.event = threading.Event()

    def open(self):
        self.event.set()

    def __reduce__(self):
        return Gate, ()


def wait_for_the_sensor(gate):
    gate.event.wait(LIMIT)


def stuck_at(at, gate):
    """Makes batch i; batch `at` waits at the gate."""

    def make(ds, index):
        if index == at:
            wait_for_the_sensor(gate)
        return np.array([index])

    return make


def slow_at(at, seconds):
    """Makes batch i; batch `at` takes some time."""

    def wait_for_the_sensor():
        time.sleep(seconds)

    def make(ds, index):
        if index == at:
            wait_for_the_sensor()
        return np.array([index])

    return make


class Deadly:
    """Kills every process that unpickles it but the one that made it."""

    def __init__(self):
        self.maker = os.getpid()

    def __setstate__(self, state):
        self.__dict__ = state
        if os.getpid() != self.maker:
            os._exit(9)


class Unloadable:
    """Raises when it is unpickled."""

    def __reduce__(self):
        return divmod, (1, 0)


def firsts(batches):
    """The first number of each batch."""
    return [int(np.ravel(b)[0]) for b in batches]
