"""infeed's snapshots (W6): written, read in order, at random and one element."""

import random
import time
from contextlib import contextmanager

import infeed
from bench import pictures


def _source(n):
    return infeed.Dataset.from_tensor_slices(pictures.array(n))


def path(compression, n):
    """A folder of n pictures."""
    return pictures.stored("infeed-" + compression, n, lambda to: _source(n).save(to, compression))


@contextmanager
def saved(compression, n, place="disk"):
    """MB a second of Dataset.save, which has synced all of it when it returns."""
    ds = _source(n)

    def write(to):
        ds.save(to, compression)
        if len(infeed.Dataset.load(to)) != n:
            raise AssertionError("elements are missing")

    yield lambda: pictures.written(n, place, write)


@contextmanager
def passed(compression, n, place="disk"):
    """MB a second of a pass that writes a snapshot, in batches; it ends when all is synced. The array is hashed before."""
    ds = _source(n)

    def run():
        notes = []

        def write(to):
            notes.append(pictures.rate(ds.snapshot(to, compression).batch(pictures.BATCH), n)[1])

        return pictures.written(n, place, write), notes[0]

    yield run


@contextmanager
def read(compression, n):
    """MB a second of a pass in batches, in order. Each run has a dataset that checks all checksums."""
    at = path(compression, n)
    yield lambda: pictures.rate(infeed.Dataset.load(at).batch(pictures.BATCH), n)


@contextmanager
def read_again(compression, n):
    """The same of a pass after the first, which has checked them."""
    ds = infeed.Dataset.load(path(compression, n)).batch(pictures.BATCH)
    pictures.rate(ds, n)
    yield lambda: pictures.rate(ds, n)


@contextmanager
def through(compression, n):
    """MB a second of a pass over Dataset.snapshot, in batches, once it is complete."""
    at = pictures.stored("infeed-snapshot-" + compression, n, lambda to: pictures.rate(_source(n).snapshot(to, compression).batch(64), n))
    ds = _source(n).snapshot(at, compression).batch(pictures.BATCH)
    yield lambda: pictures.rate(ds, n)


@contextmanager
def shuffled(compression, n):
    """MB a second of batches of pictures from all over, of a new dataset each run."""
    at = path(compression, n)
    yield lambda: pictures.rate(infeed.Dataset.load(at).shuffle(seed=1).batch(pictures.BATCH), n, shuffled=True)


@contextmanager
def one(compression, n, count):
    """Microseconds of one random element, the mean of `count` different ones that were not read before."""
    at = path(compression, n)
    known = pictures.array(n)[:, 0, 0, :2]

    def run():
        ds = infeed.Dataset.load(at)
        index = random.sample(range(n), count)
        ds[0]  # opens it
        start = time.perf_counter()
        got = [ds[i][0, 0, :2].tolist() for i in index]
        took = time.perf_counter() - start
        return 1e6 * took / count, "" if got == known[index].tolist() else "other pictures"

    yield run


@contextmanager
def read_tf(n):
    """MB a second of the folder that tf.data saved without compression, in batches."""
    from bench.contenders import tf_snapshots

    at = tf_snapshots.path("NONE", n)
    yield lambda: pictures.rate(infeed.Dataset.load(at).batch(pictures.BATCH), n)
