"""The law over every operation and composed pipelines: the state before element k, loaded anywhere, gives elements k, k+1, ..."""

import json

import pytest

import infeed

from . import pipelines

WORKERS = (2, 0, 1, 8)


def make(name, files, workers):
    options = infeed.Options()
    options.threading.private_threadpool_size = workers
    return pipelines.ALL[name](infeed.Dataset, files).with_options(options)


def resumed(name, files, workers, state):
    it = iter(make(name, files, workers))
    it.load_state_dict(json.loads(state))
    return it


@pytest.mark.parametrize("name", pipelines.ALL)
def test_every_state(name, files):
    saver = make(name, files, 2).iterator(epoch=1)
    states, want = [json.dumps(saver.state_dict())], []
    for element in saver:
        want.append(pipelines.plain(element))
        states.append(json.dumps(saver.state_dict()))
        if len(want) == pipelines.ENOUGH:
            break
    assert len(want) > 0
    for k, state in enumerate(states):
        assert len(state) < 1024, state
        rest = len(want) - k
        for workers in (2, WORKERS[k % 4]):
            assert pipelines.read(resumed(name, files, workers, state), rest) == want[k:], f"from element {k}, {workers} workers"
        late = json.dumps(saver.state_dict(at=k))
        assert pipelines.read(resumed(name, files, 2, late), rest) == want[k:], f"from element {k}, whose state was asked for later"
        it = resumed(name, files, WORKERS[(k + 1) % 4], state)
        some = pipelines.read(it, min(k % 3, rest))
        again = resumed(name, files, WORKERS[(k + 2) % 4], json.dumps(it.state_dict()))
        assert some + pipelines.read(again, rest - len(some)) == want[k:], f"from element {k}, twice"


@pytest.mark.parametrize("name", pipelines.ALL)
def test_epochs(name, files):
    """Broken off before the first element, after it, in the middle, at the end, and in the epoch after."""
    ds = make(name, files, 2)
    epochs = [pipelines.read(ds) for _ in range(3)]
    seeds = iter(ds).state_dict().get("seeds")
    endless = len(epochs[0]) == pipelines.ENOUGH
    for stop in (0, 1, len(epochs[1]) // 2, len(epochs[1])):
        first = make(name, files, 1)
        it = iter(first)
        if seeds is not None:  # those that were drawn
            it.load_state_dict({**it.state_dict(), "seeds": seeds})
        pipelines.read(it)
        it = iter(first)
        head = pipelines.read(it, stop)
        if stop == len(epochs[1]) and not endless:
            assert list(it) == []
        state = json.dumps(it.state_dict())
        second = make(name, files, 0)
        it = iter(second)
        it.load_state_dict(json.loads(state))
        assert head + pipelines.read(it, pipelines.ENOUGH - stop) == epochs[1], f"epoch 1, broken off before element {stop}"
        assert pipelines.read(second) == epochs[2], f"the epoch after one broken off before element {stop}"


def test_what_was_left_out_is_counted_on(files):
    make = lambda: infeed.TFRecordDataset([files("damaged"), files("torn"), files("part-1")], errors="skip")  # noqa: E731
    whole = iter(make())
    count = len(list(whole))
    for k in range(count + 1):
        it = iter(make())
        it.load_state_dict(json.loads(json.dumps(whole.state_dict(at=k))))
        assert len(list(it)) == count - k
        assert (it.stats().lost, it.stats().places) == (whole.stats().lost, whole.stats().places) and it.stats().lost == 2
