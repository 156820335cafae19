"""infeed's states: what they take, and how soon a pipeline goes on from one (W8)."""

import copy
import json
import os
import statistics
import time
from contextlib import contextmanager

import numpy as np

import infeed
from bench import examples, rows

BILLION = 10**9
CALLS = 500
BYTES = 10**10
WINDOW = 10_000


def numbers(n):
    """Shuffled batches of n numbers."""
    return infeed.Dataset.range(n).shuffle(seed=1).map(lambda x: x + 1).batch(rows.BATCH)


def stream():
    """The same of a billion numbers that come one after the other."""
    return infeed.Dataset.range(BILLION).filter(lambda x: x >= 0).shuffle(1000, seed=1).batch(rows.BATCH)


@contextmanager
def state_microseconds(form):
    """The time of one state_dict(), the median of those after each of some batches."""
    iterator = iter(numbers(BILLION) if form == "random access" else stream())

    def run():
        took = []
        for _ in range(CALLS):
            next(iterator)
            start = time.perf_counter()
            iterator.state_dict()
            took.append(time.perf_counter() - start)
        return 1e6 * statistics.median(took)

    yield run


@contextmanager
def state_bytes(form):
    """The longest state of some at the start, the middle and near the end."""
    def run():
        if form == "stream":
            iterator = iter(stream())
            states = []
            for _ in range(CALLS):
                next(iterator)
                states.append(iterator.state_dict())
        else:
            first = iter(numbers(BILLION)).state_dict()
            states = [{**first, "position": p} for p in (0, BILLION // 512, BILLION // rows.BATCH)]
        return max(len(json.dumps(s)) for s in states)

    yield run


def first_batch(make, state=None):
    """The time until the first batch of a new iterator, in ms, and the batch."""
    start = time.perf_counter()
    iterator = iter(make())
    if state is not None:
        iterator.load_state_dict(state)
    batch = next(iterator)
    took = time.perf_counter() - start
    iterator.close()
    return 1e3 * took, batch


@contextmanager
def started(n):
    """A pass from its start."""
    yield lambda: first_batch(lambda: numbers(n))[0]


@contextmanager
def restored(n):
    """A pass from its middle."""
    ds = numbers(n)
    middle = n // rows.BATCH // 2
    state = json.dumps({**iter(ds).state_dict(), "position": middle})
    want = ds[middle]

    def run():
        took, batch = first_batch(lambda: numbers(n), json.loads(state))
        return took, "" if np.array_equal(batch, want) else "another batch"

    yield run


def records():
    """Ten gigabytes of records: one file as often as it takes."""
    path = examples.paths()[0]
    return infeed.TFRecordDataset([path] * (BYTES // os.path.getsize(path) + 1)).shuffle(WINDOW, seed=1).batch(rows.BATCH)


@contextmanager
def started_records():
    yield lambda: first_batch(records)[0]


@contextmanager
def restored_records():
    """The third window, whose records are those of a later file: these are all the same."""
    files = BYTES // os.path.getsize(examples.paths()[0]) + 1
    iterator = iter(records())
    for _ in range(3 * WINDOW // rows.BATCH):
        next(iterator)
    early = iterator.state_dict()
    want = first_batch(records, early)[1]
    state = later(early, files * 9 // 10)

    def run():
        took, batch = first_batch(records, state)
        return took, "" if batch.tolist() == want.tolist() else "another batch"

    yield run


def later(state, files):
    """The state as many files further on."""
    moved = copy.deepcopy(state)
    token = moved["token"]
    while token.get("in"):
        token = token["in"][0]
    token["at"][0] += files
    return moved
