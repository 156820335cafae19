"""infeed without any framework."""

import os
from contextlib import contextmanager

import numpy as np

import infeed
from bench import batches, rows
from bench.processes import proportional_bytes, tree


PASS = 50  # batches, where only the first one counts


class Data(batches.Batches, infeed.PyDataset):
    pass


@contextmanager
def loop(n, workers=2, processes=False, **options):
    """Batches a second through a plain `for`."""
    with Data(n, workers=workers, use_multiprocessing=processes, **options) as ds:
        yield lambda: batches.rate(ds, n)


@contextmanager
def batch_microseconds(n, workers=2, processes=False, **options):
    """Time of a small batch through a plain `for`."""
    with Data(n, workers=workers, use_multiprocessing=processes, shape=batches.SMALL, **options) as ds:
        def run():
            speed, note = batches.rate(ds, n)
            return 1e6 / speed, note

        yield run


@contextmanager
def first_batch(workers=2, processes=False):
    """The first pass of a dataset in a fresh process: library and workers are started."""
    with Data(PASS, workers=workers, use_multiprocessing=processes) as ds:
        yield lambda: batches.first_wait(ds, PASS)


@contextmanager
def later_pass(workers=2, processes=False):
    """The first batch of a pass after the first."""
    with Data(PASS, workers=workers, use_multiprocessing=processes) as ds:
        batches.first_wait(ds, PASS)
        yield lambda: batches.first_wait(ds, PASS)


@contextmanager
def killed(n, kill):
    """The longest wait for a batch of a pass in which a working process may be killed."""
    with Data(n, workers=2, use_multiprocessing=True, work="python", seconds=0.01) as ds:
        yield lambda: batches.longest_wait(ds, n, kill)


class Holder(infeed.PyDataset):
    """Holds a large array, of which each batch reads a part."""

    PARTS = 64

    def __init__(self, nbytes, **options):
        super().__init__(**options)
        self.array = np.ones(nbytes, np.uint8)

    def __len__(self):
        return self.PARTS

    def __getitem__(self, index):
        part = len(self.array) // self.PARTS
        return np.array([self.array[index * part:(index + 1) * part].sum(dtype=np.int64)])


@contextmanager
def memory(nbytes, workers):
    """GB of this process and its workers after a pass, pages they share counted once."""
    with Holder(nbytes, workers=workers, use_multiprocessing=True) as ds:
        def run():
            total = sum(int(b[0]) for b in ds)
            note = "" if total == nbytes else "wrong sum"
            return proportional_bytes(tree(os.getpid())) / 1e9, note

        yield run


@contextmanager
def shuffled_rows(kind, passes):
    """Rows a second of from_tensor_slices, shuffled, in batches of 256."""
    x, y = rows.arrays(kind)
    ds = infeed.Dataset.from_tensor_slices((x, y)).shuffle(seed=1).repeat().batch(rows.BATCH)
    iterator = iter(ds)
    count = len(y) * passes // rows.BATCH

    def run():
        some = (next(iterator) for _ in range(count))
        return rows.rate(some, len(y), passes)

    yield run
