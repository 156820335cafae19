"""W4: a CSV file of 500,000 rows of 6 floats, 2 ints and 2 strings, and the check of batches of them.

The second int is the number of the row. What the floats are is kept beside the file.
"""

import time

import numpy as np

from bench import cache

N, BATCH = 500_000, 256
COLUMNS = [*(f"f{k}" for k in range(6)), "i0", "i1", "s0", "s1"]
WORDS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"]
SCALES = [1, 10, 100, 1, 1, 1000]
_STEP = 50_000


def path():
    """The file, made where it is not there yet."""
    return str(_folder() / "rows.csv")


def floats():
    """The numbers in the first six columns, float32[N, 6]."""
    return np.load(_folder() / "floats.npy")


def _folder():
    return cache.folder("w4-1", _make)


def _second(number):
    """What is in the second column of strings."""
    return "id%06d" % (number * 7919 % 1_000_000)


class Ledger:
    """Checks batches, each a sequence of its columns, as they come in order.

    Of each batch, the numbers of the first and last row and their strings; of every
    256th, all rows: about 4 us a batch.
    """

    FULL = 256

    def __init__(self, floats):
        self.floats, self.count, self.batches = floats, 0, 0

    def __call__(self, columns):
        numbers, texts = columns[7], columns[9]
        size = len(numbers)
        for at, row in ((0, self.count), (-1, self.count + size - 1)):
            text = texts[at]
            if numbers.item(at) != row or (text if type(text) is str else text.decode()) != _second(row):
                raise AssertionError(f"row {row} came as row {numbers[at]}, with {text!r}")
        if not self.batches % self.FULL:
            self.check_all(columns, size)
        self.count += size
        self.batches += 1

    def check_all(self, columns, size):
        numbers = np.arange(self.count, self.count + size)
        got = np.stack([np.asarray(c, np.float32) for c in columns[:6]], 1)
        if not np.array_equal(got, self.floats[self.count:self.count + size]) or not np.array_equal(columns[7], numbers):
            raise AssertionError(f"the batch from row {self.count} on has other numbers than it should")
        words = [w if type(w) is str else w.decode() for w in columns[8]]
        if words != [WORDS[n % len(WORDS)] for n in numbers] or not np.array_equal(columns[6], numbers % 100):
            raise AssertionError(f"the batch from row {self.count} on has other words than it should")


def rate(batches, known, limit=None, clock=time.perf_counter):
    """Rows a second, of all or of the first `limit` batches, and what was wrong."""
    ledger = Ledger(known)
    start = clock()
    for batch in batches:
        ledger(batch)
        if ledger.batches == limit:
            break
    speed = ledger.count / (clock() - start)
    return speed, "" if limit or ledger.count == N else f"{ledger.count} of {N} rows came"


def _make(folder):
    rng = np.random.default_rng(4)
    known = np.empty((N, 6), np.float32)
    with open(folder / "rows.csv", "w", newline="") as f:
        f.write(",".join(COLUMNS) + "\n")
        for first in range(0, N, _STEP):
            texts = [["%.6g" % v for v in row] for row in (rng.standard_normal((_STEP, 6)) * SCALES).tolist()]
            known[first:first + _STEP] = np.array(texts, np.float64)
            for number, row in enumerate(texts, first):
                f.write(",".join((*row, str(number % 100), str(number), WORDS[number % len(WORDS)], _second(number))) + "\n")
    np.save(folder / "floats.npy", known)
