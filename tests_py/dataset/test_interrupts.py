"""An exception from a signal handler may come anywhere in next(): no element is lost but one that was leaving it, and no memory."""

import subprocess
import sys

import infeed
import numpy as np
import pytest

UP_TO = 8


def in_python(x):
    return np.int64(int(str(x)))


KINDS = {
    "numbers": lambda: infeed.Dataset.range(UP_TO),
    "rows": lambda: infeed.Dataset.from_tensor_slices(np.repeat(np.arange(UP_TO)[:, None], 50_000, 1)).map(lambda x: x + 0),
    "text": lambda: infeed.Dataset.from_tensor_slices([str(i).encode() for i in range(UP_TO)]).prefetch(1),
    "stream": lambda: infeed.Dataset.range(UP_TO).filter(lambda x: x >= 0),
    "python": lambda: infeed.Dataset.range(UP_TO).map(in_python),
    "threads": lambda: infeed.Dataset.range(UP_TO).map(in_python, num_parallel_calls=2),
}


def number(element):
    return int(element) if isinstance(element, bytes) else int(np.ravel(element)[0])


@pytest.mark.filterwarnings("ignore:map")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("goes_on", [True, False])
def test_an_exception_at_any_line_of_next(name, before, goes_on, interrupt):
    dataset, all_ = KINDS[name](), list(range(UP_TO))
    for n in range(1, 2000):
        it, raised = iter(dataset), False
        got = [number(next(it)) for _ in range(before)]
        try:
            with interrupt(n):
                element = next(it)
            got.append(number(element))
        except interrupt.Exception:
            raised = True
        if goes_on:
            got += map(number, it)
            assert got == all_ or raised and got == all_[:before] + all_[before + 1:], n
        if not raised:
            break
    assert 10 < n < 1999


# The handler raises at each line in which Python finds out whether a thread lives, if next() asks that, as Ctrl-C does that ends a wait.
IN_THREADING = """
import sys, threading, warnings, infeed, numpy
warnings.simplefilter("ignore")

class Pass(infeed.PyDataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return numpy.full(2, index)

MAKE = {"functions": lambda: infeed.Dataset.range(8).filter(lambda x: x >= 0).map(lambda x: int(str(x)), num_parallel_calls=1),
        "batches": lambda: Pass(workers=2)}

def interrupted(make, n):
    lines = 0
    def trace(frame, event, arg):
        nonlocal lines
        if frame.f_code.co_name not in ("is_alive", "_wait_for_tstate_lock"):
            return trace
        if event == "line":
            lines += 1
            if lines == n:
                raise KeyboardInterrupt
        return trace
    it = iter(make())
    sys.settrace(trace)
    try:
        next(it)
        return False
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)

for name, make in MAKE.items():
    n = 1
    while interrupted(make, n) and n < 30:
        n += 1
        assert threading.main_thread().is_alive(), (name, n)
        assert len(list(make())) == 8, (name, n)
    assert n < 30
print("all lines")
"""


def test_an_interrupt_in_threading_does_not_end_the_interpreter():
    out = subprocess.run([sys.executable, "-c", IN_THREADING], capture_output=True, text=True, timeout=100)
    assert (out.stdout, out.returncode) == ("all lines\n", 0), out.stderr
