"""W2: rows in memory, and the check that shuffled batches hold each row once a pass.

The label of a row is its number, so that a batch of labels says which rows were
delivered; the first and last component of a row are functions of it.
"""

import time

import numpy as np

BATCH = 256
KINDS = {"narrow": (1_000_000, (64,), "float32"), "image": (20_000, (32, 32, 3), "uint8")}


def arrays(kind):
    """(x, y) of float32[1,000,000, 64] (256 B a row) or uint8[20,000, 32, 32, 3] (3 KB), and int64 labels."""
    n, shape, dtype = KINDS[kind]
    y = np.arange(n)
    x = np.empty((n, int(np.prod(shape))), dtype)
    x[:] = np.arange(x.shape[1]) % 251
    x[:, 0] = x[:, -1] = y % 251
    return x.reshape(n, *shape), y


class Ledger:
    """Checks batches as they come and keeps their labels, for the proof afterwards that every row came once.

    A batch's first and last number are compared with its labels, every 256th batch is
    checked in full: 1.5 us a batch of rows of 256 B, 3.5 us of 3 KB.
    """

    FULL = 256

    def __init__(self, n, passes, factor=1, offset=0):
        """factor, offset: what a map made of each number of x."""
        self.n, self.passes, self.factor, self.offset = n, passes, factor, offset
        self.labels = np.full(n * passes + BATCH, -1)  # touched now, not while timed
        self.count = self.batches = 0

    def __call__(self, batch):
        x, y = batch
        factor, offset = self.factor, self.offset
        if x.item(0) != y.item(0) % 251 * factor + offset or x.item(-1) != y.item(-1) % 251 * factor + offset:
            raise AssertionError(f"row {y.item(0)} or {y.item(-1)} has other numbers than it should")
        if not self.batches % self.FULL:
            self.check_all(x, y)
        size = len(y)
        self.labels[self.count:self.count + size] = y
        self.count += size
        self.batches += 1

    def check_all(self, x, y):
        flat = (x.reshape(len(y), -1) - self.offset) / self.factor
        middle = np.arange(flat.shape[1]) % 251
        if (flat[:, 0] != y % 251).any() or (flat[:, 1:-1] != middle[1:-1]).any():
            raise AssertionError(f"the batch of rows {y.tolist()} has other numbers than it should")

    def note(self):
        """In words, what was delivered wrong; "" if every row came as often as there were passes."""
        came = np.bincount(self.labels[:self.count], minlength=self.n)
        if self.passes and self.count == self.n * self.passes:
            wrong = np.count_nonzero(came != self.passes)
            return f"{wrong} rows not once a pass" if wrong else ""
        # A part of a pass: no row can have come twice.
        return f"{np.count_nonzero(came > 1)} rows twice" if came.max(initial=0) > 1 else ""


def rate(batches, n, passes=0, limit=None, clock=time.perf_counter, **mapped):
    """Rows a second over whole passes, or over the first `limit` batches of one; and what was wrong."""
    ledger = Ledger(n, passes if limit is None else 1, **mapped)
    start = clock()
    for batch in batches:
        ledger(batch)
        if ledger.batches == limit:
            break
    return ledger.count / (clock() - start), ledger.note()
