"""`to_jax()`: get_state and set_state as Grain's iterators have them."""

import json

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")

import infeed  # noqa: E402

D = infeed.Dataset
PIPELINES = {
    "random access": lambda: D.range(22).map(lambda x: x.astype("int32")).shuffle(seed=3).batch(4),
    "stream": lambda: D.range(22).map(lambda x: x.astype("int32")).filter(lambda x: x >= 0).shuffle(6, seed=3).batch(4),
    "Python": lambda: D.range(22).map(lambda x: np.int32(int(str(x)))).filter(lambda x: x % 5 > 0).batch(4),
}


def read(it):
    return [np.asarray(x).tolist() for x in it]


@pytest.mark.parametrize("name", PIPELINES)
def test_every_state(name):
    it = PIPELINES[name]().to_jax()
    states, want = [json.dumps(it.get_state())], []
    for batch in it:
        assert isinstance(batch, jax.Array)
        want.append(np.asarray(batch).tolist())
        states.append(json.dumps(it.get_state()))
    states[-1] = json.dumps(it.get_state())  # now that the end was seen
    assert len(want) > 3 and len({json.loads(s)["position"] for s in states}) == len(states)
    for k, state in enumerate(states):
        again = PIPELINES[name]().to_jax()
        again.set_state(json.loads(state))
        assert json.loads(state)["position"] == again.get_state()["position"] == k
        assert read(again) == want[k:], f"before batch {k}"
        it.set_state(json.loads(state))
        assert read(it) == want[k:], "the same iterator is taken back"


def test_two_times():
    make = PIPELINES["stream"]
    want = read(make().to_jax())
    it, got = make().to_jax(), []
    for _ in range(3):
        again = make().to_jax()
        again.set_state(json.loads(json.dumps(it.get_state())))
        got.append(np.asarray(next(again)).tolist())
        it = again
    assert got + read(it) == want


def test_a_state_says_what_comes_next_though_one_batch_is_ahead():
    it = PIPELINES["random access"]().to_jax()
    assert it.get_state()["position"] == 0
    next(it)
    assert it.get_state()["position"] == 1, "the batch on the device was not delivered"


def test_passes():
    ds = PIPELINES["random access"]()
    first, second = read(ds.to_jax()), read(ds.to_jax())
    assert first != second
    it = ds.to_jax()
    it.set_state(PIPELINES["random access"]().iterator(epoch=1).state_dict())
    assert read(it) == second


def test_the_state_of_another_dataset_is_refused():
    it = PIPELINES["stream"]().to_jax()
    next(it)
    with pytest.raises(infeed.StateMismatchError):
        it.set_state(PIPELINES["random access"]().to_jax().get_state())
    assert len(read(it)) == 5, "a state that was refused broke the iterator"
