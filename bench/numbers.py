"""W10: range, map x + 1, and the check of the batches that it gives."""

import time

import numpy as np


def rate(batches, size, count, clock=time.perf_counter):
    """Elements a second of `count` batches of a size, and what was wrong; a batch is its elements in order, from 1 on.

    Of each batch the first and last number are looked at, of every 256th all.
    """
    start, number = clock(), 1
    for k, batch in enumerate(batches):
        last = number + size
        if batch.item(0) != number or size > 1 and (batch.item(-1) != last - 1 or not k % 256 and not _all(batch, number)):
            raise AssertionError(f"batch {k} holds {batch[0]} to {batch[-1]}, not {number} to {last - 1}")
        number = last
    seconds, wanted = clock() - start, count * size
    return (number - 1) / seconds, "" if number - 1 == wanted else f"{number - 1} of {wanted} elements"


def _all(batch, first):
    return np.array_equal(batch, np.arange(first, first + len(batch)))
