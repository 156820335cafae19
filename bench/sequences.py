"""Sequences whose lengths differ: a TFRecord file of examples, and the check that each came whole, once.

40,000 examples: tokens, int64, 5 to 119 of them; label, the number of the example. The
tokens of an example begin with its number, and the others are 1 more each.
"""

import time

import numpy as np

from bench import cache
from bench.examples import field, framed, varint

N, LONGEST, BATCH = 40_000, 64, 32


def lengths():
    return np.random.default_rng(11).integers(5, 120, N)


def path():
    """The file, made where it is not there yet."""
    return str(cache.folder("sequences-1", _make) / "sequences.tfrecord")


def _make(folder):
    def feature(key, values):
        packed = field(1, b"".join(map(varint, values)))
        return field(1, field(1, key) + field(2, field(3, packed)))

    records = [field(1, feature(b"tokens", range(k, k + n)) + feature(b"label", [k])) for k, n in enumerate(lengths())]
    (folder / "sequences.tfrecord").write_bytes(framed(records))


class Held:
    """The sequences in memory, cut already: what a dataset of one's own has. __getitem__ gives (tokens, label)."""

    def __init__(self):
        self.tokens = [np.arange(k, k + min(n, LONGEST), dtype=np.int32) for k, n in enumerate(lengths())]

    def __len__(self):
        return N

    def __getitem__(self, index):
        return self.tokens[index], np.int64(index)


def rate(batches):
    """Examples a second of all batches of (tokens cut to LONGEST, filled up with 0; label), and what was wrong."""
    wanted, kept = np.minimum(lengths(), LONGEST), []
    start = time.perf_counter()
    for batch in batches:
        kept.append(batch)
    speed = N / (time.perf_counter() - start)
    came = np.concatenate([y for _, y in kept])
    right = np.array_equal(np.sort(came), np.arange(N)) and all(_whole(x, y, wanted) for x, y in kept)
    return speed, "" if right else "sequences are missing, or others than they were"


def _whole(x, y, wanted):
    at = np.arange(x.shape[1])
    return x.dtype == np.int32 and np.array_equal(x, np.where(at < wanted[y][:, None], y[:, None] + at, 0))
