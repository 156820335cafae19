"""Checks for the tests of those who use infeed."""

import json
import os
import pickle
import subprocess
import sys

__all__ = ["assert_resumable"]

ENDLESS = 100  # elements of a dataset without an end that are looked at


def assert_resumable(make, *, every=1, workers=(0, 2), processes=True):
    """Checks that a pipeline continues from its states exactly as if it had not been broken off.

    The state before each `every`-th element, as JSON, is loaded into a fresh dataset,
    whose elements must be those of the unbroken run, bit by bit; so must they be after
    a second break. States are saved and loaded with each number of workers, and in
    another process. Of datasets without an end the first 100 elements are looked at.

    Args:
        make: make(workers) returns a fresh dataset, an `infeed.Dataset` or an
            `infeed.PyDataset`, with so many workers (0: none).
        every: 1: the state before each element is tried; more is faster.
        workers: the numbers of workers to save and to load with.
        processes: loads in another process too; make is sent there.

    Raises:
        AssertionError: an element differs; the text says after which state, and how.
        InvalidArgumentError: make returns no dataset with states, or every is below 1.

    Example:
        >>> import infeed, infeed.testing
        >>> def make(workers):
        ...     options = infeed.Options()
        ...     options.threading.private_threadpool_size = workers
        ...     return infeed.Dataset.range(20).shuffle(20, seed=1).batch(3).with_options(options)
        >>> infeed.testing.assert_resumable(make)
    """
    from infeed import InvalidArgumentError

    if isinstance(every, bool) or not hasattr(every, "__index__") or every < 1:
        raise InvalidArgumentError(f"assert_resumable: every is {every!r}; it must be an int from 1 on")
    if not workers:
        raise InvalidArgumentError("assert_resumable: workers is empty; give numbers of workers to try")
    for saving in workers:
        states, want = _unbroken(make, saving, every)
        for loading in workers:
            for number, state in states.items():
                where = f"the state before element {number}, saved with workers={saving} and loaded with workers={loading}"
                _compare(_rest(make, loading, state, len(want) - number), want[number:], number, where)
        _twice(make, workers[0], states, want, saving)
        if processes:
            _elsewhere(make, workers[-1], states, want, saving)


def _unbroken(make, workers, every):
    """(the state before each `every`-th element and after the last, all elements)."""
    with _Opened(make, workers) as it:
        states, elements = {0: _saved(it)}, []
        for element in it:
            elements.append(element)
            if len(elements) % every == 0:
                states[len(elements)] = _saved(it)
            if len(elements) == ENDLESS and it.endless:
                break
        else:
            states.setdefault(len(elements), states.get(len(elements)) or _saved(it))
    return states, elements


def _saved(it):
    state = it.state_dict()
    try:
        return json.loads(json.dumps(state))
    except (TypeError, ValueError) as e:
        raise AssertionError(f"JSON cannot hold the state {state!r}: {e}") from None


def _rest(make, workers, state, count):
    """The elements after a state: as many as are wanted, and one more where there is one."""
    with _Opened(make, workers) as it:
        it.load_state_dict(state)
        found = []
        for element in it:
            found.append(element)
            if len(found) > count or len(found) == count and it.endless:
                break
        return found


def _twice(make, workers, states, want, saving):
    """Each state is loaded, one element is taken, and the state after that is loaded in turn."""
    for number, state in states.items():
        if number == len(want):
            continue
        with _Opened(make, workers) as it:
            it.load_state_dict(state)
            first, second = next(it, None), _saved(it)
        where = f"the state before element {number}, saved with workers={saving}, and a second one an element later"
        _compare([first, *_rest(make, workers, second, len(want) - number - 1)], want[number:], number, where)


_CHILD = """
import sys
del sys.path[0]  # the working directory
import pickle
make, workers, wanted = pickle.load(sys.stdin.buffer)
from infeed import testing
sys.stdout.buffer.write(pickle.dumps([testing._rest(make, workers, *w) for w in wanted]))
"""


def _elsewhere(make, workers, states, want, saving):
    """The first, a middle and the last state are loaded in a fresh process."""
    import cloudpickle

    numbers = sorted(states)
    numbers = sorted({numbers[0], numbers[len(numbers) // 2], numbers[-1]})
    given = cloudpickle.dumps((make, workers, [(states[n], len(want) - n) for n in numbers]))
    path = os.pathsep.join(os.path.abspath(p) for p in sys.path)
    done = subprocess.run([sys.executable, "-c", _CHILD], input=given, capture_output=True, env={**os.environ, "PYTHONPATH": path})
    if done.returncode:
        raise AssertionError(f"a process that was to load states ended with {done.returncode}:\n{done.stderr.decode(errors='replace')}")
    for number, found in zip(numbers, pickle.loads(done.stdout)):
        where = f"the state before element {number}, saved with workers={saving} and loaded with workers={workers} in another process"
        _compare(found, want[number:], number, where)


class _Opened:
    """A fresh dataset's iterator, closed after use."""

    def __init__(self, make, workers):
        self.dataset = make(workers)

    def __enter__(self):
        from infeed import InvalidArgumentError

        self.iterator = iter(self.dataset)
        if not hasattr(self.iterator, "load_state_dict"):
            raise InvalidArgumentError(f"assert_resumable: make returned a {type(self.dataset).__name__}, whose iterators have no states")
        if hasattr(self.dataset, "cardinality"):
            self.endless = self.dataset.cardinality() == -1
        else:
            from infeed._engine import length_of

            self.endless = length_of(self.dataset) is None
        return self

    def state_dict(self):
        return self.iterator.state_dict()

    def load_state_dict(self, state):
        self.iterator.load_state_dict(state)

    def __iter__(self):
        return self.iterator

    def __next__(self):
        return next(self.iterator)

    def __exit__(self, *_):
        for thing in (self.iterator, self.dataset):
            if hasattr(thing, "close"):
                thing.close()


def _compare(found, want, number, where):
    for i, (a, b) in enumerate(zip(found, want)):
        if (difference := _difference(a, b)) is not None:
            raise AssertionError(f"{where}: element {number + i} differs: {difference}")
    if len(found) != len(want):
        count = "more than that" if len(found) > len(want) else f"only {len(found)}"
        raise AssertionError(f"{where}: {len(want)} elements follow in the unbroken run, and {count} came")


def _difference(a, b, path="it"):
    """How a differs from b, in words; None: not at all."""
    import numpy as np

    if type(a) is not type(b):
        return f"{path} is a {type(a).__name__}, and was a {type(b).__name__}"
    if isinstance(b, dict):
        if a.keys() != b.keys():
            return f"{path} has the keys {list(a)}, and had {list(b)}"
        return next((d for k in b if (d := _difference(a[k], b[k], f"{path}[{k!r}]")) is not None), None)
    if isinstance(b, (tuple, list)):
        if len(a) != len(b):
            return f"{path} has {len(a)} parts, and had {len(b)}"
        return next((d for i in range(len(b)) if (d := _difference(a[i], b[i], f"{path}[{i}]")) is not None), None)
    x, y = np.asarray(a), np.asarray(b)
    same = x.dtype == y.dtype and x.shape == y.shape and (x.tolist() == y.tolist() if y.dtype.hasobject else x.tobytes() == y.tobytes())
    return None if same else f"{path} is {a!r:.200}, and was {b!r:.200}"
