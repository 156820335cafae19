"""W1: a dataset whose `__getitem__` makes a whole batch, and the check of what arrives.

Batch i is x, of one value everywhere, i % 250, and y, which holds i. The base class is
added by each contender, so that all run this code.
"""

import os
import signal
import time

import numpy as np

SHAPE = (32, 224, 224, 3)  # 4.8 MB of uint8, 19.3 MB of float32
SMALL = (32, 8)
WORK = 0.020  # seconds of CPU time


class Batches:
    """work: "" for none, "python" for a loop that holds the GIL, "numpy" for sorts that do not.

    Work is measured in CPU time of the thread: a busy machine makes none of it cheaper
    or dearer. place: "full" makes a new array, "empty" fills one of `self.empty`.
    """

    def __init__(self, n, dtype="uint8", shape=SHAPE, work="", seconds=WORK, place="full", **options):
        super().__init__(**options)
        self.n, self.dtype, self.shape, self.work, self.seconds, self.place = n, dtype, shape, work, seconds, place
        self.numbers = np.random.default_rng(0).random(20_000) if work == "numpy" else None

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        index = int(index)
        if index >= self.n:
            raise IndexError(index)
        self.burn()
        if self.place == "empty":
            x = self.empty(self.shape, self.dtype)
            x.fill(index % 250)
        else:
            x = np.full(self.shape, index % 250, self.dtype)
        return x, np.array([index, os.getpid()])

    def burn(self):
        if not self.work:
            return
        end = time.thread_time() + self.seconds
        while time.thread_time() < end:
            if self.work == "numpy":
                np.sort(self.numbers)
            else:
                count = 0
                while count < 300:
                    count += 1


class Alone:
    """Base of a dataset that no library reads: takes no options."""

    def __init__(self):
        pass


class Plain(Batches, Alone):
    pass


class Checker:
    """Checks batches as they come: the index, the first and last number, a sum of 64 numbers in between.

    That takes 4 us, and up to 10 where all of a large batch's numbers miss the cache.
    """

    SAMPLE = 64

    def __init__(self, n):
        self.n, self.seen = n, []

    def __call__(self, batch):
        x, y = batch
        index = int(y[0])
        flat = np.asarray(x).reshape(-1)
        step = max(1, flat.size // self.SAMPLE)
        sample = flat[step // 2::step]
        value = index % 250
        if int(flat[0]) != value or int(flat[-1]) != value or int(sample.sum()) != value * sample.size:
            raise AssertionError(f"batch {index} does not hold {value} everywhere")
        self.seen.append(index)
        return y

    def note(self):
        """In words, what was delivered wrong; "" if every batch came once, in order."""
        if self.seen == list(range(self.n)):
            return ""
        missing = self.n - len(set(self.seen))
        twice = len(self.seen) - len(set(self.seen))
        return f"{missing} missing, {twice} twice" if missing or twice else "out of order"


def rate(batches, n, skip=1, clock=time.perf_counter):
    """Batches a second, from the arrival of the skip-th batch to that of the last, and what was wrong."""
    check, start, count = Checker(n), None, 0
    for batch in batches:
        check(batch)
        count += 1
        if count == skip:
            start = clock()
    return (count - skip) / (clock() - start), check.note()


def first_wait(batches, n, clock=time.perf_counter):
    """Milliseconds from asking for a pass to its first batch; the pass is walked to its end."""
    check = Checker(n)
    start = clock()
    it = iter(batches)
    batch = next(it)
    waited = clock() - start
    check(batch)
    for batch in it:
        check(batch)
    return 1e3 * waited, check.note()


def longest_wait(batches, n, kill, clock=time.perf_counter):
    """The longest wait for a batch, in seconds, of a pass in which the maker of the n/3-th may be killed."""
    check, longest, last = Checker(n), 0.0, clock()
    for count, batch in enumerate(batches):
        if count:  # the first one's wait has a figure of its own
            longest = max(longest, clock() - last)
        pid = check(batch)[1]
        if kill and count == n // 3:
            os.kill(int(pid), signal.SIGKILL)
        last = clock()
    return longest, check.note()
