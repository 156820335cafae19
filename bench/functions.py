"""Functions for map that need Python, and the check of what they give for 0, 1, 2, ..."""

import time

import numpy as np

SECONDS = 0.001  # of CPU time that `working` takes


def halved(x):
    """A function of an int that no trace can follow: it looks at the value."""
    return x // 2 if x % 2 == 0 else 3 * x + 1


def working(x):
    """The same after a millisecond of work."""
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        pass
    return halved(x)


def vectors(n):
    """Arrays of 1 to 50 numbers, the i-th of i only."""
    return (np.full(i % 50 + 1, i) for i in range(n))


def length(x):
    """The length of such an array, or below 0: no trace can follow that, it looks at a value."""
    return len(x) if x[0] % 2 == 0 else -len(x)


def _length(i):
    """What `length` gives for the i-th."""
    return (i % 50 + 1) * (1 if i % 2 == 0 else -1)


def _seconds(results, n, clock, wanted=halved):
    start, number = clock(), 0
    for x in results:
        if x != wanted(number):
            raise AssertionError(f"element {number} is {x}, not {wanted(number)}")
        number += 1
    return clock() - start, "" if number == n else f"{number} of {n} elements"


def microseconds(results, n, clock=time.perf_counter):
    """Microseconds an element, and what was wrong."""
    seconds, note = _seconds(results, n, clock)
    return 1e6 * seconds / n, note


def microseconds_of_lengths(results, n):
    """`microseconds` for `length` of `vectors`."""
    seconds, note = _seconds(results, n, time.perf_counter, _length)
    return 1e6 * seconds / n, note


def rate(results, n, clock=time.perf_counter):
    """Elements a second, and what was wrong."""
    seconds, note = _seconds(results, n, clock)
    return n / seconds, note
