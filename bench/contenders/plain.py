"""Loops without any library: what the work itself takes."""

import multiprocessing
import threading
import time
from contextlib import contextmanager

import numpy as np

from bench import batches, functions, rows


@contextmanager
def loop(n, **options):
    """Batches a second of a bare loop over `ds[i]`."""
    ds = batches.Plain(n, **options)
    yield lambda: batches.rate((ds[i] for i in range(n)), n)


@contextmanager
def batch_microseconds(n):
    """Time of a small batch in a bare loop."""
    ds = batches.Plain(n, shape=batches.SMALL)

    def run():
        speed, note = batches.rate((ds[i] for i in range(n)), n)
        return 1e6 / speed, note

    yield run


def _share(ds, start, step):
    for i in range(start, len(ds), step):
        ds[i]


@contextmanager
def unmoved(n, workers=2, processes=False, **options):
    """Batches a second that workers make for nobody: each its share, nothing handed over.

    What 2 workers can do on this machine at this moment; 100 of 20 ms if they get two cores.
    """
    ds = batches.Plain(n, **options)
    make = multiprocessing.get_context("fork").Process if processes else threading.Thread

    def run():
        all_ = [make(target=_share, args=(ds, k, workers)) for k in range(workers)]
        start = time.perf_counter()
        for one in all_:
            one.start()
        for one in all_:
            one.join()
        return n / (time.perf_counter() - start)

    yield run


@contextmanager
def take(kind, passes):
    """Rows a second of a permutation and `take` for each batch, one thread."""
    x, y = rows.arrays(kind)
    rng = np.random.default_rng(1)

    def shuffled():
        for _ in range(passes):
            order = rng.permutation(len(y))
            for start in range(0, len(y), rows.BATCH):
                chosen = order[start:start + rows.BATCH]
                yield x.take(chosen, 0), y.take(chosen, 0)

    yield lambda: rows.rate(shuffled(), len(y), passes)


@contextmanager
def permutation(n):
    """Nanoseconds an index of numpy's permutation."""
    rng = np.random.default_rng(1)

    def run():
        start = time.perf_counter()
        rng.permutation(n)
        return 1e9 * (time.perf_counter() - start) / n

    yield run


@contextmanager
def mapped(n):
    """Microseconds an element of a bare loop that calls the function of the untraced map."""
    yield lambda: functions.microseconds((functions.halved(x) for x in np.arange(n)), n)


@contextmanager
def lengths(n):
    """Microseconds an element of a bare loop that calls the function of the untraced map of vectors."""
    given = list(functions.vectors(n))
    yield lambda: functions.microseconds_of_lengths(map(functions.length, given), n)


@contextmanager
def worked(n):
    """Elements a second of a bare loop over the function that works for a millisecond."""
    yield lambda: functions.rate((functions.working(x) for x in np.arange(n)), n)
