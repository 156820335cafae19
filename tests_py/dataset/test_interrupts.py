"""An exception from a signal handler may come anywhere in next(): no element is lost but one that was leaving it, and no memory."""

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
