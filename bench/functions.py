"""Functions for map that need Python, and the check of what they give for 0, 1, 2, ..."""

import time

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


def _seconds(results, n, clock):
    start, number = clock(), 0
    for x in results:
        if x != halved(number):
            raise AssertionError(f"element {number} is {x}, not {halved(number)}")
        number += 1
    return clock() - start, "" if number == n else f"{number} of {n} elements"


def microseconds(results, n, clock=time.perf_counter):
    """Microseconds an element, and what was wrong."""
    seconds, note = _seconds(results, n, clock)
    return 1e6 * seconds / n, note


def rate(results, n, clock=time.perf_counter):
    """Elements a second, and what was wrong."""
    seconds, note = _seconds(results, n, clock)
    return n / seconds, note
