"""`to_torch()`: the protocol of torchdata's StatefulDataLoader, in the middle and at the ends of epochs."""

import json

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import infeed  # noqa: E402

D = infeed.Dataset
PIPELINES = {
    "random access": lambda: D.range(22).shuffle(seed=3).batch(4),
    "stream": lambda: D.range(22).filter(lambda x: x >= 0).shuffle(6, seed=3).batch(4),
    "drawn seed": lambda: D.range(22).shuffle().batch(4),
    "Python": lambda: D.range(22).filter(lambda x: int(str(x)) >= 0).batch(4),
}
EPOCHS = 3


def read(loader, limit=None):
    out = []
    for batch in loader:
        assert isinstance(batch, torch.Tensor)
        out.append(batch.tolist())
        if len(out) == limit:
            break
    return out


@pytest.mark.parametrize("name", PIPELINES)
def test_every_batch_of_some_epochs(name):
    loader = PIPELINES[name]().to_torch()
    assert not hasattr(loader, "workers")
    states, want = [json.dumps(loader.state_dict())], []
    for _ in range(EPOCHS):
        for batch in loader:
            want.append(batch.tolist())
            states.append(json.dumps(loader.state_dict()))
        states[-1] = (states[-1], json.dumps(loader.state_dict()))  # before and after the loop saw the end
    size = len(want) // EPOCHS
    for k, both in enumerate(states):
        at_end = isinstance(both, tuple)
        for ended, state in enumerate(both if at_end else (both,)):
            again = PIPELINES[name]().to_torch()
            again.load_state_dict(json.loads(state))
            assert json.dumps(again.state_dict()) == json.dumps(json.loads(state)) or name != "random access"
            epochs = [read(again) for _ in range(EPOCHS - k // size + 1)]
            if at_end and not ended:
                assert epochs.pop(0) == [], "all batches of the epoch were delivered"
            got = [b for e in epochs for b in e]
            assert got[:len(want) - k] == want[k:], f"after {k} batches"
            if at_end and ended and k < len(want):
                assert len(epochs[0]) == size


@pytest.mark.parametrize("name", PIPELINES)
def test_broken_off_and_begun_again(name):
    """A loop that is left does not go on in the next one, which is the next epoch; its state does."""
    loader = PIPELINES[name]().to_torch()
    head = read(loader, 2)
    state = loader.state_dict()
    assert len(read(loader)) == 6
    again = PIPELINES[name]().to_torch()
    again.load_state_dict(state)
    assert again.state_dict() == state, "a state that was loaded and not used yet"
    rest = read(again)
    assert sorted(x for b in head + rest for x in b) == list(range(22))


def test_two_times():
    make = PIPELINES["stream"]
    want = read(make().to_torch())
    first = make().to_torch()
    got = read(first, 1)
    second = make().to_torch()
    second.load_state_dict(first.state_dict())
    got += read(second, 2)
    third = make().to_torch()
    third.load_state_dict(json.loads(json.dumps(second.state_dict())))
    assert got + read(third) == want


def test_the_state_of_another_dataset_is_refused_at_once():
    loader = PIPELINES["random access"]().to_torch()
    with pytest.raises(infeed.StateMismatchError, match="step 1 was"):
        loader.load_state_dict(PIPELINES["stream"]().to_torch().state_dict())
    assert len(read(loader)) == 6


def test_the_number_of_readers_changes():
    def loader(n, i):
        return D.range(20).shard(n, i).filter(lambda x: x != 3).batch(2).to_torch()

    two = [loader(2, i) for i in range(2)]
    got = [x for i, reader in enumerate(two) for b in read(reader, i + 1) for x in b]
    states = [reader.state_dict() for reader in two]
    for i in range(3):
        reader = loader(3, i)
        reader.load_state_dict(states)
        got += [x for b in read(reader) for x in b]
        assert len(read(reader)) > 2, "the next epoch is whole"
    assert sorted(got) == [x for x in range(20) if x != 3]


def test_inside_torch_s_own_loader():
    make = PIPELINES["random access"]
    loader = torch.utils.data.DataLoader(make().to_torch(), batch_size=None, num_workers=0)
    assert [b.tolist() for b in loader] == read(make().to_torch())


def test_inside_torchdata_s_loader():
    stateful = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed").StatefulDataLoader
    make = lambda: stateful(PIPELINES["stream"]().to_torch(), batch_size=None, num_workers=0)  # noqa: E731
    want = [b.tolist() for b in make()]
    for stop in range(1, len(want)):
        loader, head = make(), []
        for batch in loader:
            head.append(batch.tolist())
            if len(head) == stop:
                break
        again = make()
        again.load_state_dict(json.loads(json.dumps(loader.state_dict())))
        assert head + [b.tolist() for b in again] == want, f"after {stop} batches"
