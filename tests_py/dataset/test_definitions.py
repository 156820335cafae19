"""Definitions of many operations, and those that use others more than once."""

import gc
import pickle
import threading

import pytest

import infeed
from infeed import Dataset, _native


def doubled(ds, times):
    for _ in range(times):
        ds = ds.concatenate(ds)
    return ds


DOUBLINGS = 40


@pytest.mark.parametrize("base", [
    lambda: Dataset.range(3), lambda: Dataset.range(3).shuffle(seed=1), lambda: Dataset.range(4).filter(lambda x: x != 3),
    lambda: Dataset.range(3).flat_map(lambda x: Dataset.from_tensors(x)), lambda: Dataset.range(3).map(lambda x: x + 0),
    lambda: Dataset.range(3).map(lambda x: int(str(int(x)))),
], ids=["random access", "shuffled", "one after the other", "of a function", "mapped", "mapped by Python"])
def test_a_definition_that_uses_others_twice_is_as_large_as_its_operations(base):
    ds = doubled(base(), DOUBLINGS)
    it = iter(ds)
    got = [int(next(it)) for _ in range(7)]
    assert got == [*got[:3] * 2, got[0]] and sorted(got[:3]) == [0, 1, 2]
    again = iter(doubled(base(), DOUBLINGS))
    again.load_state_dict(it.state_dict())
    assert [int(next(again)) for _ in range(5)] == (got[:3] * 3)[1:6]
    assert len(pickle.dumps(ds)) < 100_000 and len(ds.explain().splitlines()) < 2 * DOUBLINGS
    assert len(it.stats().stages) <= DOUBLINGS + 2
    if ds.cardinality() >= 0:
        assert len(ds) == 3 << DOUBLINGS and int(ds[(3 << DOUBLINGS) - 1]) == got[2]
    it.close(), again.close()


def test_a_definition_that_uses_others_twice_inside_of_a_function():
    for traced in (True, False):
        def f(x):
            return doubled(Dataset.range(x if traced else int(x)), DOUBLINGS)
        it = iter(Dataset.range(2, 5).flat_map(f))
        assert [int(next(it)) for _ in range(5)] == [0, 1, 0, 1, 0]
        it.close()


def test_a_state_tells_what_is_used_twice_from_others():
    def made(twice):
        ds = Dataset.range(4).shuffle(seed=3)
        return ds.concatenate(ds if twice else ds.take(4)).skip(1)
    state = iter(made(True)).state_dict()
    iter(made(True)).load_state_dict(state)
    with pytest.raises(infeed.StateMismatchError, match="step 3 was concatenate\\(\\) and is take"):
        iter(made(False)).load_state_dict(state)
    with pytest.raises(infeed.InvalidArgumentError, match="more elements than can be counted"):
        len(doubled(Dataset.range(3), 63))


@pytest.mark.parametrize("function", [lambda x: x + 1, lambda x: int(x) + 1], ids=["traced", "Python"])
def test_long_chains(function):
    ds = Dataset.range(5)
    for i in range(300):
        ds = ds.map(function) if i % 3 else ds.take(4)
    assert ds.element_spec == infeed.TensorSpec((), "int64" if function(1.5) == 2.5 else "int32")
    assert all(("natively" in line) == (function(1.5) == 2.5) for line in ds.explain().splitlines() if "<lambda>" in line)
    assert [int(x) for x in ds] == [200, 201, 202, 203]


def test_operations_are_opened_together(monkeypatch):
    """What is below an operation is opened in the call for it: a call each would be most of what starting takes."""
    calls, call = [], _native.Call.__call__
    monkeypatch.setattr(_native.Call, "__call__", lambda self, name, *args: (calls.append(name), call(self, name, *args))[1])
    ds = Dataset.range(100)
    for _ in range(50):
        ds = ds.skip(1).take(90).repeat(2).prefetch(1)
    assert [int(next(iter(ds)))] == [50] and calls.count("dataset_open") == 1
    calls.clear()
    ds = Dataset.range(100)
    for _ in range(50):
        ds = ds.map(lambda x: x + 1).take(90)
    assert int(next(iter(ds))) == 50 and calls.count("dataset_open") <= 3


@pytest.mark.parametrize("source", [lambda: Dataset.from_tensor_slices(["a", "bb", "c"]), lambda: Dataset.from_tensor_slices([1, 2, 3])], ids=["text", "numbers"])
def test_what_is_below_may_be_opened_anew_meanwhile(source, monkeypatch):
    """As by another thread, between the description of what is above it and its opening."""
    below, want = source(), list(source())
    assert len(below) == 3
    call = _native.Call.__call__

    def opening(self, name, data=None, args=()):
        if name == "dataset_open":
            monkeypatch.undo()
            below._node._handle = None
            assert len(below) == 3
            gc.collect()
        return call(self, name, data, args)

    monkeypatch.setattr(_native.Call, "__call__", opening)
    batch, = below.repeat(2).batch(6)
    assert batch.tolist() == 2 * want and list(below) == want


def test_threads_open_a_definition_together():
    failed = []
    for _ in range(20):
        ds = Dataset.range(10).map(lambda x: int(x) + 1).map(lambda x: x * 2).batch(5)
        start = threading.Barrier(4)

        def walk():
            try:
                start.wait(30)
                assert [b.tolist() for b in ds] == [[2, 4, 6, 8, 10], [12, 14, 16, 18, 20]]
            except BaseException as e:
                failed.append(e)

        threads = [threading.Thread(target=walk) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
    assert not failed
