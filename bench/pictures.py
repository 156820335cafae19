"""W6: pictures of 50x50x3 float32, 30,000 bytes each, kept in folders; and the check of what is read.

Values are multiples of 1/256 below 1, as of decoded pictures: general compressors make
about half of them. There are 1,000 different pictures; the first three values of
picture i are its number.
"""

import contextlib
import functools
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from bench import cache

N, SHAPE, BATCH = 40_000, (50, 50, 3), 64
BYTES = 30_000
DIFFERENT = 1000
_DIGITS = 256.0 ** np.arange(1, 4, dtype=np.float32)


@functools.cache
def different():
    return np.random.default_rng(6).integers(0, 256, (DIFFERENT, *SHAPE), np.uint8).astype(np.float32) / 256


@functools.cache
def array(n):
    """The first n pictures."""
    x = np.empty((n, *SHAPE), np.float32)
    for first in range(0, n, DIFFERENT):
        x[first:first + DIFFERENT] = different()[:n - first]
    numbers = np.arange(n)
    for k in range(3):
        x[:, 0, 0, k] = (numbers >> 8 * k & 255) / 256
    return x


def numbers(batch):
    """The numbers of the pictures in a batch."""
    return (batch[:, 0, 0] @ _DIGITS).astype(int)


def number(picture):
    """The number of one picture."""
    return int(256 * (picture.item(0) + 256 * (picture.item(1) + 256 * picture.item(2))))


class Walk:
    """Checks batches as they come. Of each the numbers of the first and last picture are
    compared, every 64th in full: 8 us a batch of 64.

    shuffled: any order, each picture once.
    """

    FULL = 64

    def __init__(self, n, shuffled=False):
        self.n, self.shuffled, self.count, self.batches = n, shuffled, 0, 0
        self.came = np.zeros(n, np.int8)

    def __call__(self, batch):
        if self.shuffled:
            self.came[numbers(batch)] += 1
        elif (ends := (number(batch[0]), number(batch[-1]))) != (self.count, self.count + len(batch) - 1):
            raise AssertionError(f"pictures {ends} came where {self.count} should")
        if not self.batches % self.FULL:
            self.check_all(batch)
        self.count += len(batch)
        self.batches += 1

    def check_all(self, batch):
        of = numbers(batch)
        want = different()[of % DIFFERENT]
        want[:, 0, 0] = (of[:, None] >> np.array([0, 8, 16]) & 255) / 256
        if not np.array_equal(want, batch):
            raise AssertionError(f"a batch of the pictures {of} has others")

    def note(self):
        """In words, what was delivered wrong."""
        if self.shuffled and (self.came != 1).any():
            return f"{np.count_nonzero(self.came != 1)} pictures not once"
        return "" if self.count == self.n else f"{self.count} of {self.n} pictures"


def rate(batches, n, shuffled=False, clock=time.perf_counter):
    """MB a second, and what was wrong."""
    walk, start = Walk(n, shuffled), clock()
    for batch in batches:
        walk(batch)
    return speed(n, clock() - start), walk.note()


def speed(n, seconds):
    """MB a second of n pictures."""
    return n * BYTES / 1e6 / seconds


def stored(kind, n, write):
    """The folder that holds n pictures, written by write(path) where it is not there yet."""
    return str(cache.folder(f"w6-1-{kind}-{n}", lambda folder: write(str(folder / "it"))) / "it")


@contextlib.contextmanager
def scratch(place):
    """A folder to write in: "disk", where the data of benchmarks is, or "memory"."""
    home = "/dev/shm" if place == "memory" else cache.folder("w6-scratch", lambda folder: None)
    path = tempfile.mkdtemp(dir=home)
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def written(n, place, write):
    """MB a second of write(path), which writes n pictures; each time to a new place."""
    with scratch(place) as folder:
        path = folder / "it"
        start = time.perf_counter()
        write(str(path))
        return speed(n, time.perf_counter() - start)
