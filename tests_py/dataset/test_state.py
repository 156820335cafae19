"""The law: the state before element k, loaded anywhere, gives elements k, k+1, ..."""

import copy
import gc
import itertools
import json
import pickle
import subprocess
import sys

import pytest

import infeed

from .conftest import numbers, with_workers

PIPELINES = {
    "plain": lambda ds: ds,
    "batch": lambda ds: ds.batch(4),
    "training": lambda ds: ds.shuffle(seed=5).repeat(3).batch(4, drop_remainder=True),
    "drawn seed": lambda ds: ds.shuffle().repeat(2).batch(4),
    "shuffled batches": lambda ds: ds.batch(4).shuffle(100, seed=5).repeat(2),
    "windows": lambda ds: ds.repeat().shuffle(6, seed=5).skip(2).take(40).batch(3),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_resume_before_every_element(pairs, name):
    make = lambda workers: with_workers(PIPELINES[name](pairs(23)), workers)  # noqa: E731
    saver = make(2).iterator(epoch=2)
    states, want = [saver.state_dict()], []
    for element in saver:
        want.append(numbers([element]))
        states.append(saver.state_dict())
    for k, state in enumerate(states):
        stored = json.dumps(state)
        assert len(stored) < 1024
        it = iter(make(k % 3))
        it.load_state_dict(json.loads(stored))
        assert it.state_dict() == saver.state_dict(at=k) == state
        assert [numbers([e]) for e in it] == want[k:], f"from element {k}"


def test_resume_twice(pairs):
    ds = pairs(100).shuffle(seed=1).repeat().batch(7)
    unbroken = iter(ds)
    want = [numbers([next(unbroken)]) for _ in range(40)]
    got, state = [], None
    for _ in range(8):
        it = iter(pairs(100).shuffle(seed=1).repeat().batch(7))
        if state is not None:
            it.load_state_dict(state)
        got += [numbers([next(it)]) for _ in range(5)]
        assert it.state_dict(at=5) == it.state_dict()
        state = it.state_dict()
    assert got == want


def test_passes_go_on_after_the_one_that_was_loaded(pairs):
    def epochs(ds, count, state=None):
        out = []
        for _ in range(count):
            it = iter(ds)
            if state is not None:
                it.load_state_dict(state)
                state = None
            out.append(numbers(it))
        return out

    make = lambda: pairs(30).shuffle(seed=3).batch(4)  # noqa: E731
    ds = make()
    want = epochs(ds, 5)
    ds = make()
    epochs(ds, 2)
    it = iter(ds)
    head = numbers(next(it) for _ in range(3))
    assert head == want[2][:12]
    assert epochs(make(), 3, it.state_dict()) == [want[2][12:], want[3], want[4]]


def test_states_behind_the_engine(pairs):
    it = iter(pairs(50).shuffle(seed=1).batch(4))
    for _ in range(5):
        next(it)
    assert [it.state_dict(at=n)["position"] for n in range(6)] == list(range(6))
    again = iter(pairs(50).shuffle(seed=1).batch(4))
    again.load_state_dict(it.state_dict(at=3))
    next(again)
    assert again.state_dict(at=0)["position"] == 3 and again.state_dict()["position"] == 4
    for at in (6, -1, 1.0, True):
        with pytest.raises(infeed.InvalidArgumentError, match="5 elements were delivered"):
            it.state_dict(at=at)


def test_state_after_the_end(pairs):
    it = iter(pairs(10).batch(4))
    assert len(list(it)) == 3
    assert it.state_dict()["position"] == 3
    again = iter(pairs(10).batch(4))
    again.load_state_dict(it.state_dict())
    assert list(again) == []
    it.load_state_dict(it.state_dict(at=1))
    assert numbers(it) == list(range(4, 10)), "an iterator that ended can be taken back"


def test_readers_of_a_pass_have_one_state(pairs):
    ds = pairs(40).shuffle(seed=1).batch(4)
    it = ds.iterator(epoch=1, shard=(2, 1))
    next(it)
    state, want = it.state_dict(), numbers(it)
    again = ds.iterator(shard=(2, 1))
    again.load_state_dict(state)
    assert numbers(again) == want
    other = ds.iterator(epoch=1, shard=(2, 0))
    next(other)
    assert {**other.state_dict(), "shard": [2, 1]} == state
    alone = iter(ds)
    alone.load_state_dict(state)
    assert numbers(alone) == numbers(list(ds.iterator(epoch=1))[2:])


@pytest.mark.parametrize("other, text", [
    (lambda ds: ds(24).shuffle(seed=1).batch(4), r"step 0 was from_tensor_slices\(23 rows\) and is from_tensor_slices\(24 rows\)"),
    (lambda ds: ds(23).shuffle(seed=2).batch(4), "step 1 was .*seed=1.* and is .*seed=2"),
    (lambda ds: ds(23).shuffle().batch(4), "step 1 was .*seed=1.* and is .*seed=None"),
    (lambda ds: ds(23).shuffle(seed=1).batch(5), r"step 2 was batch\(batch_size=4.* and is batch\(batch_size=5"),
    (lambda ds: ds(23).batch(4), "step 1 was shuffle"),
    (lambda ds: infeed.Dataset.from_tensor_slices(list(range(23))).shuffle(seed=1).batch(4), r"step 3 was elements \(.* and is elements int32"),
])
def test_state_of_another_dataset(pairs, other, text):
    state = iter(pairs(23).shuffle(seed=1).batch(4)).state_dict()
    it = iter(other(pairs))
    with pytest.raises(infeed.StateMismatchError, match=text):
        it.load_state_dict(state)
    assert len(list(it)) > 0, "a state that was refused broke the iterator"


@pytest.mark.parametrize("damage, error", [
    (lambda s: None, infeed.InvalidArgumentError), (lambda s: [[s]], infeed.InvalidArgumentError),
    (lambda s: [], infeed.InvalidArgumentError), (lambda s: {**s, "token": 5}, infeed.InvalidArgumentError),
    (lambda s: {**s, "token": {"at": [1.5]}}, infeed.InvalidArgumentError), (lambda s: {**s, "rows": "1"}, infeed.InvalidArgumentError),
    (lambda s: {**s, "rest": {"layers": 1}}, infeed.InvalidArgumentError), (lambda s: {**s, "rest": {}}, infeed.StateMismatchError),
    (lambda s: {}, infeed.StateMismatchError), (lambda s: {**s, "order_version": 2}, infeed.StateMismatchError),
    (lambda s: {**s, "position": 99}, infeed.StateMismatchError), (lambda s: {**s, "position": -1}, infeed.StateMismatchError),
    (lambda s: {**s, "position": "3"}, infeed.InvalidArgumentError), (lambda s: {**s, "pass": 2.5}, infeed.InvalidArgumentError),
    (lambda s: {**s, "position": 1 << 70}, infeed.InvalidArgumentError), (lambda s: {**s, "seeds": ["a"]}, infeed.InvalidArgumentError),
    (lambda s: {k: v for k, v in s.items() if k != "pass"}, infeed.InvalidArgumentError),
    (lambda s: {**s, "shard": [1]}, infeed.InvalidArgumentError), (lambda s: {**s, "structure": "x"}, infeed.InvalidArgumentError),
    (lambda s: {**s, "fingerprint": 3}, infeed.InvalidArgumentError), (lambda s: {**s, "format": True}, infeed.InvalidArgumentError),
    (lambda s: {**s, "seeds": []}, infeed.StateMismatchError),
    (lambda s: {**s, "kind": "pydataset"}, infeed.StateMismatchError), (lambda s: {**s, "format": 7}, infeed.StateMismatchError),
])
def test_damaged_states(pairs, damage, error):
    ds = pairs(23).shuffle(seed=1)
    with pytest.raises(error) as e:
        iter(ds).load_state_dict(damage(iter(ds).state_dict()))
    assert str(e.value).startswith("load_state_dict: ") or "the state is before" in str(e.value)
    assert "json" not in str(e.value) and "struct " not in str(e.value)


@pytest.mark.parametrize("started", [False, True])
def test_iterators_are_not_copied(pairs, started):
    it = iter(pairs(23).shuffle(seed=1).batch(4))
    before = [next(it) for _ in range(2)] if started else []
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"save its state_dict\(\)"):
            copied(it)
    gc.collect()
    assert sorted(numbers(before) + numbers(it)) == list(range(23)), "an attempt to copy it broke the iterator"


CHILD = """
import json, sys
import numpy as np, infeed
ds = infeed.Dataset.from_tensor_slices(np.arange(100_000)).shuffle().repeat().batch(32)
it = iter(ds)
if len(sys.argv) > 1:
    it.load_state_dict(json.loads(sys.argv[1]))
ahead = [next(it).tolist() for _ in range(3)]
state = it.state_dict()
print(json.dumps([state, ahead, [next(it).tolist() for _ in range(3)]]))
"""


def test_resume_in_another_process():
    def run(*args):
        out = subprocess.run([sys.executable, "-c", CHILD, *args], capture_output=True, text=True, check=True, timeout=60)
        return json.loads(out.stdout)

    state, _, want = run()
    later, got, _ = run(json.dumps(state))
    assert got == want
    assert later["seeds"] == state["seeds"], "the seed that was drawn is not that of the state"
    assert run(json.dumps(later))[1] == run(json.dumps(state))[2]


STREAMS = {
    "cache": lambda ds: ds.cache().repeat(2), "shuffle": lambda ds: ds.shuffle(4, seed=1), "skip": lambda ds: ds.skip(1).take(9),
    "enumerate": lambda ds: ds.enumerate(), "batch": lambda ds: ds.batch(2).unbatch(), "ignore_errors": lambda ds: ds.ignore_errors(),
    "scan": lambda ds: ds.scan(0, lambda s, x: (s + 1, x)), "interleave": lambda ds: ds.interleave(infeed.Dataset.from_tensors, cycle_length=2),
    "flat_map": lambda ds: ds.flat_map(lambda x: infeed.Dataset.range(x)), "concatenate": lambda ds: ds.concatenate(ds),
}


def numbers_in(value, path=()):
    """Where there are numbers in a value made of dicts and lists."""
    if type(value) is int:
        yield path
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from numbers_in(part, (*path, key))


@pytest.mark.parametrize("name", STREAMS)
def test_numbers_of_states_that_cannot_be(name):
    def made():  # anew each time: a cache that is complete would not look at its state
        return iter(STREAMS[name](infeed.Dataset.range(9).filter(lambda x: x > 0)))

    it = made()
    next(it), next(it)
    state = it.state_dict()
    for path in numbers_in(state["token"]):
        for number in (2**63 - 1, 2**62 + 1, 2**62, -1):
            bad = copy.deepcopy(state)
            part = bad["token"]
            for key in path[:-1]:
                part = part[key]
            part[path[-1]] = number
            other = made()
            try:
                other.load_state_dict(bad)
                list(itertools.islice(other, 30))
            except infeed.Error as e:
                assert not isinstance(e, infeed.InternalError), (path, number, e)
