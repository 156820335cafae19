"""tf.data's own snapshots (W6). They are not synced when they are written."""

import time
from contextlib import contextmanager

import tensorflow as tf

from bench import pictures
from bench.contenders.tf_files import AUTO, best


def _source(n):
    return tf.data.Dataset.from_tensor_slices(tf.constant(pictures.array(n)))


def _named(compression):
    return None if compression == "NONE" else compression


def path(compression, n):
    """A folder of n pictures, of Dataset.save."""
    return pictures.stored("tf-" + compression, n, lambda to: _source(n).save(to, _named(compression)))


def _drain(ds):
    """Has the runtime make every element, for nobody."""
    for _ in ds.skip(1 << 30):
        raise AssertionError


@contextmanager
def passed(compression, n, place="disk"):
    """MB a second of a pass that writes a snapshot."""
    ds = _source(n)
    yield lambda: pictures.written(n, place, lambda to: _drain(ds.snapshot(to, _named(compression))))


@contextmanager
def saved(compression, n, place="disk"):
    """MB a second of save."""
    ds = _source(n)
    yield lambda: pictures.written(n, place, lambda to: ds.save(to, _named(compression)))


@contextmanager
def read(compression, n):
    """MB a second of what save wrote, in batches, as NumPy arrays and as tensors."""
    yield _best(tf.data.Dataset.load(path(compression, n), compression=_named(compression)), n)


@contextmanager
def through(compression, n):
    """The same of a pass over snapshot, once it is complete."""
    ds = _source(n)
    at = pictures.stored("tf-snapshot-" + compression, n, lambda to: _drain(ds.snapshot(to, _named(compression))))
    yield _best(ds.snapshot(at, _named(compression)), n)


def _best(ds, n):
    ds = ds.batch(pictures.BATCH).prefetch(AUTO)

    def tensors():
        start, count = time.perf_counter(), 0
        for batch in ds:
            count += int(batch.shape[0])
        return pictures.speed(n, time.perf_counter() - start), "" if count == n else f"{count} of {n} pictures"

    return lambda: best({"as_numpy_iterator": pictures.rate(ds.as_numpy_iterator(), n), "tensors": tensors()})
