"""Readers by `shard` in the definition: their number changes, and every element still comes once."""

import itertools
import json
import random

import pytest

import infeed

COUNTS = (1, 2, 3, 4, 8)
D = infeed.Dataset


def odd(x):
    """A function that cannot be traced."""
    return int(str(x)) % 3 != 1


# What a reader makes of its share; every element of the source, or none, comes of it.
SOURCES = {
    "numbers": lambda: D.range(48),
    "with a remainder": lambda: D.range(43),
    "shuffled": lambda: D.range(37).shuffle(seed=3),
    "repeated": lambda: D.range(11).shuffle(seed=3).repeat(4),
    "few": lambda: D.range(3),
    "many": lambda: D.range(400).shuffle(seed=2),
}
BEHIND = {
    "nothing": lambda ds: ds,
    "map": lambda ds: ds.map(lambda x: x * 2),
    "batch": lambda ds: ds.batch(3),
    "filter": lambda ds: ds.filter(lambda x: x % 3 > 0),
    "uneven filter": lambda ds: ds.filter(lambda x: (x % 2 > 0) | (x > 30)),
    "filter in Python": lambda ds: ds.filter(odd).map(lambda x: x + 1),
    "filter, batch": lambda ds: ds.filter(lambda x: x % 3 > 0).batch(2).map(lambda b: b * 2).prefetch(2),
    "batch, filter": lambda ds: ds.batch(2).filter(lambda b: b[0] >= 0),
    "flat_map": lambda ds: ds.flat_map(lambda x: D.range(x % 4).map(lambda y: y + 100 * x)),
    "shuffling flat_map": lambda ds: ds.flat_map(lambda x: D.range(5).shuffle(seed=1).map(lambda y: y + 100 * x)),
    "flat_map, batch": lambda ds: ds.map(lambda x: x + 1).flat_map(lambda x: D.range(x % 4).map(lambda y: y + 100 * x)).filter(lambda x: x % 5 > 0).batch(3),
    "nested flat_map": lambda ds: ds.filter(lambda x: x % 5 > 0).flat_map(lambda x: D.range(3).flat_map(lambda y: D.range(y + 1).map(lambda z: z + 10 * y + 100 * x))),
    "unbatch": lambda ds: ds.map(lambda x: x * 4 + infeed_range()).filter(lambda b: b[0] >= 0).unbatch().batch(3),
    "errors ignored": lambda ds: ds.filter(lambda x: x >= 0).ignore_errors().batch(2),
}


def infeed_range():
    import numpy as np

    return np.arange(4)


def flat(element):
    return element.reshape(-1).tolist()


def reader(source, behind, n, i, workers=None):
    options = infeed.Options()
    options.threading.private_threadpool_size = (i + n) % 3 if workers is None else workers
    return BEHIND[behind](SOURCES[source]().shard(n, i)).with_options(options).iterator(epoch=1)


def readers(source, behind, n, states=None):
    its = [reader(source, behind, n, i) for i in range(n)]
    for it in its:
        if states is not None:
            it.load_state_dict(json.loads(json.dumps(states)))
    return its


def some(it, count):
    return [x for element in itertools.islice(it, count) for x in flat(element)]


def rest(its):
    return [x for it in its for element in it for x in flat(element)]


def everything(source, behind):
    return sorted(rest(readers(source, behind, 1)))


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("source", [s for s in SOURCES if s != "many"])
def test_every_element_comes_once(source, behind):
    want = everything(source, behind)
    r = random.Random(f"{source} {behind}")
    for n, m in itertools.product(COUNTS, COUNTS):
        if r.random() < 0.75 and source != "with a remainder":
            continue  # the whole grid for one source, and some of it for each of the others
        its = readers(source, behind, n)
        got = []
        for it in its:  # they are in different places
            got += some(it, r.randrange(5))
        states = [it.state_dict() for it in its]
        r.shuffle(states)
        its = readers(source, behind, m, states)
        if r.random() < 0.4:
            assert sorted(got + rest(its)) == want, f"{n} readers, then {m}"
            continue
        for it in its:
            got += some(it, r.randrange(4))
        states = [it.state_dict() for it in its]
        k = r.choice(COUNTS)
        again = readers(source, behind, k, states)
        for it in again:
            got += some(it, r.randrange(3))
        states = [it.state_dict() for it in again]
        assert sorted(got + rest(readers(source, behind, k, states if len(states) > 1 else states[0]))) == want, f"{n} readers, then {m}, then {k}"


@pytest.mark.parametrize("behind", ["filter", "flat_map", "shuffling flat_map", "flat_map, batch", "unbatch"])
def test_far_behind_a_token(behind):
    """Groups are long by now, and a state is many elements after the token that it has."""
    want = everything("many", behind)
    r = random.Random(behind)
    for n, m in ((1, 2), (2, 3), (3, 1), (3, 2)):
        its = readers("many", behind, n)
        counts = r.sample(range(20, 60), n)
        got = [x for it, count in zip(its, counts) for x in some(it, count)]
        if behind == "shuffling flat_map" and n != m:  # of which each element is five
            after = reader("many", behind, m, 0)
            after.load_state_dict([it.state_dict() for it in its])
            assert after.state_dict()["rest"]["layers"] == [{"readers": n, "taken": [-(-count // 5) for count in counts]}]
        assert sorted(got + rest(readers("many", behind, m, [it.state_dict() for it in its]))) == want, f"{n} readers, then {m}"


@pytest.mark.parametrize("behind", ["map", "filter in Python", "flat_map, batch"])
def test_states_of_as_many_readers_are_their_own(behind):
    its = readers("with a remainder", behind, 3)
    for i, it in enumerate(its):
        some(it, i + 1)
    again = readers("with a remainder", behind, 3, [it.state_dict() for it in its])
    assert [[flat(e) for e in it] for it in again] == [[flat(e) for e in it] for it in its]


@pytest.mark.parametrize("behind", ["flat_map, batch", "filter", "filter in Python", "batch"])
def test_states_between(behind):
    """The law, for a reader that goes on after others."""
    its = readers("with a remainder", behind, 3)
    for i, it in enumerate(its):
        some(it, i + 2)
    states = [it.state_dict() for it in its]
    for j in range(2):
        saver = reader("with a remainder", behind, 2, j)
        saver.load_state_dict(states)
        later, want = [json.dumps(saver.state_dict())], []
        for element in saver:
            want.append(flat(element))
            later.append(json.dumps(saver.state_dict()))
        for k, state in enumerate(later):
            for found in (json.loads(state), saver.state_dict(at=k)):
                it = reader("with a remainder", behind, 2, j, workers=k % 3)
                it.load_state_dict(found)
                assert [flat(e) for e in it] == want[k:], f"reader {j}, from element {k}"


@pytest.mark.parametrize("behind", ["nothing", "map", "batch"])
def test_one_state_is_enough_for_random_access_in_lock_step(behind):
    for n, m in itertools.product(COUNTS, COUNTS):
        its = readers("with a remainder", behind, n)
        got = [x for it in its for x in some(it, 2)]
        states = [it.state_dict() for it in its]
        more = readers("with a remainder", behind, m, states[-1] if n != m else states)
        if n != m:
            assert more[0].state_dict()["rest"] == {"layers": [{"readers": n, "taken": [6 if behind == "batch" else 2]}]}
        got += [x for it in more for x in some(it, 1)]
        k = COUNTS[(COUNTS.index(m) + 1) % len(COUNTS)]
        assert sorted(got + rest(readers("with a remainder", behind, k, more[0].state_dict()))) == everything("with a remainder", behind)


def test_the_order_is_the_source_s():
    """Readers that take turns give what is left in the order of the source, however many they are."""
    its = readers("shuffled", "nothing", 3)
    taken = [x for i, it in enumerate(its) for x in some(it, 2 * i)]
    states = [it.state_dict() for it in its]
    left = [int(x) for x in SOURCES["shuffled"]().iterator(epoch=1) if int(x) not in taken]
    for m in COUNTS:
        its = readers("shuffled", "nothing", m, states)
        if m == 3:
            continue  # these go on where they were
        got = [some(it, 50) for it in its]
        assert [x for turn in itertools.zip_longest(*got) for x in turn if x is not None] == left, f"{m} readers"


def test_states_stay_small():
    state = None
    for n in (8, 3, 4, 2, 8, 5):
        its = readers("numbers", "map", n, state)
        for it in its:
            next(it)
        state = [it.state_dict() for it in its]
        assert len(json.dumps(state[0])) < 600
    assert state[0]["rest"]["layers"] == [{"readers": 1, "taken": [25]}]


@pytest.mark.parametrize("make, match", [
    (lambda n, i: D.range(20).shard(n, i).filter(lambda x: x > 0).repeat(2), "repeat.* comes behind shard"),
    (lambda n, i: D.range(20).shard(n, i).shuffle(5, seed=1), "shuffle.* comes behind shard"),
    (lambda n, i: D.range(20).filter(lambda x: x > 0).shard(n, i), "shard is on data that is read one after the other"),
    (lambda n, i: D.range(20).shard(n, i).batch(2).unbatch(), "unbatch.* comes behind a batch"),
    (lambda n, i: D.zip(D.range(20).shard(n, i), D.range(20).shard(n, i)), "step 1 was shard"),
])
def test_readers_that_cannot_change(make, match):
    states = [make(2, i).iterator(epoch=0).state_dict() for i in range(2)]
    with pytest.raises(infeed.StateMismatchError, match=match):
        make(3, 0).iterator(epoch=0).load_state_dict(states)
    it = make(2, 1).iterator(epoch=0)
    it.load_state_dict(states[1])
    assert len(list(it)) > 0


def test_what_is_missing_is_said():
    its = readers("numbers", "filter", 3)
    states = [it.state_dict() for it in its]
    it = reader("numbers", "filter", 2, 0)
    for given, match in (
        (states[:2], "the states of all 3 readers are needed; that of reader 2"),
        ([states[0], states[0], states[2]], "that of reader 1 is missing, or there twice"),
        ([*states, states[2]], "4 states were given of 3 readers"),
        ([states[0], {**states[1], "pass": 2}, states[2]], "passes 1 and 2"),
        ([states[0], {**states[1], "reader": [4, 1]}, states[2]], "different numbers of readers"),
        (states[1], "of reader 1 of 3, and this dataset is reader 0 of 2; give a list of the states of all 3"),
        ([states[0], {k: v for k, v in states[1].items() if k != "reader"}, states[2]], "does not say which reader"),
    ):
        with pytest.raises(infeed.StateMismatchError, match=match):
            it.load_state_dict(given)
    shared = [SOURCES["numbers"]().iterator(epoch=0, shard=(2, i)) for i in range(2)]
    states = [it.state_dict() for it in shared]
    alone = iter(SOURCES["numbers"]())
    alone.load_state_dict(states)
    next(shared[0])
    with pytest.raises(infeed.StateMismatchError, match="go in lock step"):
        alone.load_state_dict([it.state_dict() for it in shared])


def test_an_error_while_readers_are_found():
    def failing(x):
        if int(str(x)) == 7 and broken:
            raise ValueError("no more")
        return int(str(x)) >= 0

    broken = []
    its = [D.range(20).shard(2, i).filter(failing).batch(3).iterator(epoch=0) for i in range(2)]
    for it in its:
        next(it)
    states = [it.state_dict() for it in its]
    broken.append(True)
    it = D.range(20).shard(1, 0).filter(failing).batch(3).iterator(epoch=0)
    it.load_state_dict(states)
    with pytest.raises(ValueError, match="no more"):
        next(it)
