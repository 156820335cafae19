"""State of a pass: saved before any batch, loaded anywhere, it gives the rest exactly as the unbroken run would have."""

import json
import warnings

import infeed
import numpy as np
import pytest
from samples import KINDS, Hooked, Items, Made, Reindexed, Remembering

KW = dict(shuffle=True, seed=5)


def draw(ds, index):
    return np.array([ds.epoch, index, ds.rng.integers(1 << 30)])


def rows(batches):
    return [b.tolist() for b in batches]


def through_json(state):
    return json.loads(json.dumps(state))


def unbroken(make, passes):
    ds = make(workers=0)
    return [rows(ds) for _ in range(passes)]


@pytest.mark.parametrize("shuffle", [True, False])
def test_the_law(kind, shuffle):
    """At every position of the first two passes; the rest of that pass and all of the next."""
    def make(**options):
        return Made(draw, 5, shuffle=shuffle, seed=5, **options)

    expected = unbroken(make, 4)
    with make(**kind) as saved, make(**kind) as loaded:
        for number in range(2):
            it = iter(saved)
            for position in range(6):
                state = through_json(it.state_dict())
                fresh = iter(loaded)
                fresh.load_state_dict(state)
                assert rows(fresh) == (expected[number][position:] if position < 5 else expected[number][5:])
                assert rows(loaded) == expected[number + 1]
                if position < 5:
                    assert next(it).tolist() == expected[number][position]
            assert list(it) == []


@pytest.mark.parametrize("other", KINDS)
def test_loaded_with_other_workers(kind, other):
    with Made(draw, 9, **KW, **kind) as a, Made(draw, 9, shuffle=True, **KINDS[other]) as b:
        it = iter(a)
        before = rows(next(it) for _ in range(4))
        fresh = iter(b)
        fresh.load_state_dict(through_json(it.state_dict()))
        assert before + rows(fresh) == unbroken(lambda **o: Made(draw, 9, **KW, **o), 1)[0]
        assert b.seed == 5 and b.epoch == 1


def test_twice(kind):
    """Saved again after loading, and loaded again."""
    expected = unbroken(lambda **o: Made(draw, 9, **KW, **o), 2)
    got, state = [], None
    for stop in (2, 3, 1, 3):
        with Made(draw, 9, **KW, **kind) as ds:
            it = iter(ds)
            if state:
                it.load_state_dict(state)
            got += rows(next(it) for _ in range(stop))
            state = through_json(it.state_dict())
    assert got == expected[0]
    with Made(draw, 9, **KW, **kind) as ds:
        it = iter(ds)
        it.load_state_dict(state)
        rest = rows(it)
        assert rest == [] and rows(ds) == expected[1]


def test_in_another_process(script, tmp_path):
    code = """
        import json, os, sys
        from samples import Made, KINDS
        def draw(ds, index):
            import numpy as np
            return np.array([ds.epoch, index, ds.rng.integers(1 << 30)])
        def rows(it, n): return [next(it).tolist() for _ in range(n)]
        with Made(draw, 9, shuffle=True, **KINDS[os.environ["KIND"]]) as ds:
            it = iter(ds)
            if os.path.exists("state"):
                it.load_state_dict(json.load(open("state")))
            print(rows(it, 3))
            json.dump(it.state_dict(), open("state", "w"))
        """
    got = []
    for name in ("processes", "inline", "threads"):
        got += json.loads(script(code, KIND=name))
    with open(tmp_path / "state") as f:
        seed = json.load(f)["seed"]
    assert got == rows(Made(draw, 9, shuffle=True, seed=seed, workers=0))


def test_at(kind):
    """The state before a batch that was delivered already."""
    with Made(draw, 6, **KW, **kind) as ds:
        it = iter(ds)
        states = [it.state_dict()]
        for _ in range(4):
            next(it)
            states.append(it.state_dict())
        assert [it.state_dict(at=n) for n in range(5)] == states
        for wrong in (-1, 5):
            with pytest.raises(infeed.InvalidArgumentError, match="at"):
                it.state_dict(at=wrong)


def test_field_case_state_at_the_end(kind):
    """Saved when the end was signalled: two full passes follow, with the orders of passes 1 and 2.

    Saved after the last batch, before the end was signalled: an empty rest, then the same.
    """
    expected = unbroken(lambda **o: Made(draw, 5, **KW, **o), 3)
    for signalled in (True, False):
        with Made(draw, 5, **KW, **kind) as ds:
            it = iter(ds)
            assert rows(next(it) for _ in range(5)) == expected[0]
            if signalled:
                assert next(it, None) is None
            state = through_json(it.state_dict())
        with Made(draw, 5, **KW, **kind) as ds:
            it = iter(ds)
            it.load_state_dict(state)
            first = rows(it)
            if not signalled:
                assert first == []
                first = rows(ds)
            assert [first, rows(ds)] == expected[1:]


def test_field_case_counter_after_load(kind):
    """Both objects' states agree after the same batch."""
    with Made(draw, 10, **KW, **kind) as a, Made(draw, 10, **KW, **kind) as b:
        one, two = iter(a), iter(b)
        for _ in range(3):
            next(one)
        two.load_state_dict(one.state_dict())
        assert two.state_dict() == one.state_dict()
        assert next(one).tolist() == next(two).tolist()
        assert one.state_dict() == two.state_dict()


def test_a_batch_that_failed_was_taken(kind):
    """The state after an exception is behind the batch that raised it."""
    def make(ds, index):
        if index == 2:
            raise ValueError(index)
        return np.array([index])

    with Made(make, 5, **kind) as a, Made(make, 5, **kind) as b:
        it = iter(a)
        next(it), next(it)
        with pytest.raises(ValueError):
            next(it)
        assert it.state_dict()["position"] == 3
        fresh = iter(b)
        fresh.load_state_dict(it.state_dict())
        assert rows(fresh) == [[3], [4]]


def test_the_users_own_state(kind):
    """Hooks that reshuffle: exact, because the dataset has state_dict and load_state_dict."""
    expected = unbroken(lambda **o: Remembering(6, seed=5, **o), 3)
    with Remembering(6, seed=5, **kind) as a:
        rows(a)
        it = iter(a)
        assert rows(next(it) for _ in range(2)) == expected[1][:2]
        state = through_json(it.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Remembering(6, seed=5, **kind) as b:
            fresh = iter(b)
            fresh.load_state_dict(state)
            assert [rows(fresh), rows(b)] == [expected[1][2:], expected[2]]


def test_hooks_without_state_warn():
    """Only where something may be lost: not at the very beginning."""
    ds = Reindexed(6, seed=5, workers=0)
    start = iter(ds).state_dict()
    it = iter(ds)
    next(it)
    with pytest.warns(UserWarning, match="Reindexed has hooks but no state_dict"):
        iter(Reindexed(6, seed=5, workers=0)).load_state_dict(it.state_dict())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        iter(Reindexed(6, seed=5, workers=0)).load_state_dict(start)


def test_the_begin_hook_of_a_pass_in_its_middle(kind):
    """It runs for a dataset without state of its own, as it did for the batches before."""
    with Hooked(6, **kind) as a, Hooked(6, **kind) as b:
        it = iter(a)
        before = rows(next(it) for _ in range(3))
        fresh = iter(b)
        with pytest.warns(UserWarning, match="state_dict"):
            fresh.load_state_dict(it.state_dict())
        assert before + rows(fresh) == [[1, i] for i in range(6)]
        assert b.log == ["begin", "end"]


def test_what_is_in_it():
    ds = Items(6, workers=0, **KW)
    it = iter(ds)
    next(it)
    state = it.state_dict()
    assert (state["seed"], state["pass"], state["position"], state["length"]) == (5, 0, 1, 6)
    assert len(json.dumps(state)) < 1024


MISMATCHES = {
    "class": (lambda: Made(draw, 6, **KW), "class"),
    "length": (lambda: Items(7, **KW), "length"),
    "shuffle": (lambda: Items(6, seed=5), "shuffle"),
    "seed": (lambda: Items(6, shuffle=True, seed=6), "seed"),
}


@pytest.mark.parametrize("name", MISMATCHES)
def test_states_of_other_datasets(name):
    """The error says what differs, and what it was and is."""
    it = iter(Items(6, workers=0, **KW))
    next(it)
    make, word = MISMATCHES[name]
    with pytest.raises(infeed.StateMismatchError, match=word) as info:
        iter(make()).load_state_dict(it.state_dict())
    assert "was" in str(info.value) and "is" in str(info.value)


@pytest.mark.parametrize("state", [None, 5, [], {}, {"kind": "other"}, "state"], ids=str)
def test_what_is_no_state(state):
    with pytest.raises(infeed.InvalidArgumentError, match="no state"):
        iter(Items()).load_state_dict(state)


@pytest.mark.parametrize("change", [{"format": 99}, {"order": 99}], ids=str)
def test_states_of_other_versions(change):
    state = {**iter(Items(6, **KW)).state_dict(), **change}
    with pytest.raises(infeed.StateMismatchError, match="99"):
        iter(Items(6, **KW)).load_state_dict(state)


@pytest.mark.parametrize("change", [
    {"position": -1}, {"position": 7}, {"position": "2"}, {"position": None}, {"position": 1.5}, {"pass": -1},
    {"pass": "x"}, {"seed": -1}, {"seed": "s"}, {"seed": 1 << 64}, {"length": "six"}], ids=str)
def test_damaged_states(kind, change):
    """An error of infeed's; not a wrong batch."""
    with Items(6, **KW, **kind) as ds:
        state = {**iter(ds).state_dict(), **change}
        it = iter(ds)
        with pytest.raises(infeed.Error):
            it.load_state_dict(state)
            next(it)


@pytest.mark.parametrize("key", ["position", "pass", "seed", "length", "class", "shuffle", "format", "kind"])
def test_states_that_lack_something(key):
    state = iter(Items(6, **KW)).state_dict()
    del state[key]
    with pytest.raises(infeed.Error):
        iter(Items(6, **KW)).load_state_dict(state)


def test_an_iterator_that_was_used():
    ds = Items(6, workers=0)
    it = iter(ds)
    state = it.state_dict()
    next(it)
    with pytest.raises(infeed.InvalidArgumentError, match="fresh iterator"):
        it.load_state_dict(state)


def test_a_pass_that_was_left_counts():
    """After a load, passes go on from the loaded one, whatever this dataset did before."""
    expected = unbroken(lambda **o: Made(draw, 5, **KW, **o), 4)
    a, b = Made(draw, 5, workers=0, **KW), Made(draw, 5, workers=0, **KW)
    rows(a)
    it = iter(a)
    next(it)
    for _ in range(7):
        next(iter(b))
    fresh = iter(b)
    fresh.load_state_dict(it.state_dict())
    assert [rows(fresh), rows(b), rows(b)] == [expected[1][1:], *expected[2:]]


def test_endless(kind):
    class Endless(Made):
        @property
        def num_batches(self):
            return None

    with Endless(draw, seed=3, **kind) as a, Endless(draw, seed=3, **kind) as b:
        it = iter(a)
        for _ in range(7):
            next(it)
        fresh = iter(b)
        fresh.load_state_dict(through_json(it.state_dict()))
        assert rows(next(fresh) for _ in range(5)) == rows(next(it) for _ in range(5))


def test_at_of_other_types():
    """A state is JSON whatever counted; what is no number of batches is refused."""
    ds = Items(6, workers=0, **KW)
    it = iter(ds)
    for _ in range(3):
        next(it)
    assert json.loads(json.dumps(it.state_dict(at=np.int64(1))))["position"] == 1
    for wrong in (True, 0.5, "1"):
        with pytest.raises(infeed.InvalidArgumentError, match="at"):
            it.state_dict(at=wrong)
