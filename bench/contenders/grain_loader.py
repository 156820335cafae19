"""Grain's MapDataset: threads, processes, and a whole batch gathered at once."""

import time
from contextlib import contextmanager

import grain

from bench import batches, rows

START = 12  # batches until all worker processes are up


class Gather:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __call__(self, indices):
        return self.x[indices], self.y[indices]


@contextmanager
def loop(n, threads=0, processes=0, **options):
    """Batches a second; in processes, without the time they take to start."""
    source = grain.MapDataset.source(batches.Plain(n, **options))

    def run():
        ds = source.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=4))
        if processes:
            ds = ds.mp_prefetch(grain.multiprocessing.MultiprocessingOptions(num_workers=processes,
                                                                             per_worker_buffer_size=4))
        it = iter(ds)
        try:
            return batches.rate(it, n, skip=START if processes else 1)
        finally:
            it.close()

    yield run


@contextmanager
def shuffled_rows(kind, limit):
    """Rows a second, in the caller's thread (its fastest form here), over part of a pass."""
    x, y = rows.arrays(kind)
    ds = grain.MapDataset.range(len(y)).shuffle(seed=1).batch(rows.BATCH).map(Gather(x, y))
    ds = ds.to_iter_dataset(grain.ReadOptions(num_threads=0, prefetch_buffer_size=8))
    yield lambda: rows.rate(iter(ds), len(y), limit=limit)


@contextmanager
def restored(n):
    """Milliseconds until the batch in the middle of n shuffled numbers, from a state."""
    def begun():
        return iter(grain.MapDataset.range(n).shuffle(seed=1).map(lambda x: x + 1).batch(rows.BATCH).to_iter_dataset())

    state = {**begun().get_state(), "next_index": n // rows.BATCH // 2}

    def run():
        start = time.perf_counter()
        it = begun()
        it.set_state(state)
        batch = next(it)
        took = time.perf_counter() - start
        it.close()
        return 1e3 * took, "" if len(batch) == rows.BATCH else "another batch"

    yield run
