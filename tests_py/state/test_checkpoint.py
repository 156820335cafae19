"""CheckpointManager: which checkpoints there are, what is in them, and what becomes of damaged ones."""

import json
import random
import time

import numpy as np
import pytest

import infeed
from infeed import CheckpointManager


class Counter:
    """An iterator of Grain's kind: get_state and set_state."""

    def __init__(self):
        self.count = 0

    def get_state(self):
        return {"count": self.count}

    def set_state(self, state):
        self.count = state["count"]


class Numbers(infeed.PyDataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return np.array([index])


def at(count):
    it = Counter()
    it.count = count
    return it


def restored(manager, step=None):
    it = Counter()
    return manager.restore(it, step), it.count


def test_an_iterator_goes_on(tmp_path):
    manager = CheckpointManager(tmp_path / "made" / "on the way")
    assert manager.restore(Counter()) is None and manager.latest_step is None and manager.steps == []
    it = iter(Numbers(shuffle=True, seed=4))
    for step in range(1, 5):
        next(it)
        manager.save(it, step)
    want = [b.tolist() for b in it]
    again = iter(Numbers(shuffle=True))
    assert CheckpointManager(tmp_path / "made" / "on the way").restore(again) == 4
    assert [b.tolist() for b in again] == want


def test_the_newest_stay(tmp_path):
    manager = CheckpointManager(tmp_path, max_to_keep=3)
    paths = [manager.save(at(n), n) for n in (1, 2, 9, 10, 11)]
    assert manager.steps == [9, 10, 11] and manager.latest_step == 11
    assert paths[-1] == str(tmp_path / "checkpoint-11.json")
    assert restored(manager) == (11, 11) and restored(manager, 9) == (9, 9)
    with pytest.raises(infeed.NotFoundError, match="no checkpoint of step 1 in .*; there are those of 9, 10, 11"):
        manager.restore(Counter(), 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"checkpoint-{n}.json" for n in (10, 11, 9)]


def test_all_stay(tmp_path):
    manager = CheckpointManager(tmp_path, max_to_keep=None)
    for n in range(20):
        manager.save(at(n), n)
    assert manager.steps == list(range(20))


def test_one_that_is_older_than_those_kept_is_kept_when_it_was_just_saved(tmp_path):
    manager = CheckpointManager(tmp_path, max_to_keep=2)
    for n in (10, 11, 3):
        manager.save(at(n), n)
    assert 3 in manager.steps


def test_save_steps(tmp_path):
    manager = CheckpointManager(tmp_path, save_steps=10)
    assert [n for n in range(1, 35) if manager.save(at(n), n)] == [10, 20, 30]
    manager = CheckpointManager(tmp_path, save_steps=10)
    assert restored(manager) == (30, 30)
    assert [n for n in range(31, 45) if manager.save(at(n), n)] == [40], "counted from where it was restored"


def test_save_secs(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    manager = CheckpointManager(tmp_path, save_secs=5)
    saved = []
    for n in range(1, 12):
        clock[0] += 2
        if manager.save(at(n), n):
            saved.append(n)
    assert saved == [3, 6, 9]


@pytest.mark.parametrize("options", [{"max_to_keep": 0}, {"max_to_keep": 1.5}, {"save_steps": -1}, {"save_secs": 0},
                                     {"save_steps": True}, {"save_secs": "1"}], ids=str)
def test_wrong_options(tmp_path, options):
    with pytest.raises(infeed.InvalidArgumentError, match=next(iter(options))):
        CheckpointManager(tmp_path, **options)


@pytest.mark.parametrize("step", [-1, 1.0, "1", None, True])
def test_wrong_steps(tmp_path, step):
    with pytest.raises(infeed.InvalidArgumentError, match="step is"):
        CheckpointManager(tmp_path).save(at(1), step)


def test_what_has_no_state(tmp_path):
    manager = CheckpointManager(tmp_path)
    with pytest.raises(infeed.InvalidArgumentError, match=r"list has no state_dict\(\)"):
        manager.save([1], 1)
    with pytest.raises(infeed.InvalidArgumentError, match="none that JSON can hold"):
        manager.save(at(np.zeros(3)), 1)
    assert manager.steps == [] and list(tmp_path.iterdir()) == []
    manager.save(at(1), 1)
    with pytest.raises(infeed.InvalidArgumentError, match="has no load_state_dict"):
        manager.restore([1])


def test_it_reads_in_an_editor(tmp_path):
    path = CheckpointManager(tmp_path).save(iter(Numbers(seed=4)), 7)
    with open(path) as file:
        text = file.read()
    document = json.loads(text)
    assert (document["step"], document["version"], document["state"]["seed"]) == (7, infeed.__version__, 4)
    assert text.count("\n") > 10


DAMAGES = {
    "empty": lambda data: b"",
    "cut in the middle": lambda data: data[:len(data) // 2],
    "cut by the last byte but one": lambda data: data[:-2],
    "a digit changed": lambda data: data.replace(b'"count": 8', b'"count": 7'),
    "a field less": lambda data: data.replace(b' "step": 8,\n', b""),
    "not text": lambda data: b"\xff\xfe" + data,
    "other JSON": lambda data: b'{"a": 1}',
    "a list": lambda data: b"[1, 2]",
    "nested too deep": lambda data: b"[" * 100_000,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged(tmp_path, name):
    manager = CheckpointManager(tmp_path)
    for n in (6, 7, 8):
        path = manager.save(at(n), n)
    damage(path, DAMAGES[name])
    with pytest.raises(infeed.DataLossError) as e:
        manager.restore(Counter())
    assert "the one of step 7 is whole: restore(iterator, step=7) continues there" in str(e.value)
    assert path in str(e.value) and e.value.path == path
    assert restored(manager, 7) == (7, 7)
    damage(tmp_path / "checkpoint-7.json", DAMAGES["empty"])
    with pytest.raises(infeed.DataLossError, match="the one of step 6 is whole"):
        manager.restore(Counter())
    damage(tmp_path / "checkpoint-6.json", DAMAGES["empty"])
    with pytest.raises(infeed.DataLossError, match="no older one: remove the file to start from the beginning"):
        manager.restore(Counter())


def damage(path, how):
    with open(path, "rb") as file:
        data = file.read()
    assert how(data) != data
    with open(path, "wb") as file:
        file.write(how(data))


def test_any_byte_damaged(tmp_path):
    """Never another state; mostly an error, but where the byte means nothing, such as a space."""
    manager = CheckpointManager(tmp_path)
    path = manager.save(iter(Numbers(seed=4)), 8)
    with open(path, "rb") as file:
        data = file.read()
    want = json.loads(data)["state"]
    for place in random.Random(1).sample(range(len(data)), 200):
        with open(path, "wb") as file:
            file.write(data[:place] + bytes([data[place] ^ 1]) + data[place + 1:])
        kept = Kept()
        try:
            manager.restore(kept)
        except (infeed.DataLossError, infeed.StateMismatchError):
            continue
        assert kept.state == want, f"byte {place}"


class Kept:
    def load_state_dict(self, state):
        self.state = state


@pytest.mark.parametrize("format_", [2, 99, None, "1"])
def test_of_another_version(tmp_path, format_):
    manager = CheckpointManager(tmp_path)
    path = manager.save(at(8), 8)
    with open(path) as file:
        document = json.load(file)
    with open(path, "w") as file:
        json.dump({**document, "format": format_, "version": "9.9"}, file)
    with pytest.raises(infeed.StateMismatchError, match=r"format .*, written by infeed 9\.9; this is .*use the version that wrote it"):
        manager.restore(Counter())


def test_other_files_are_left_alone(tmp_path):
    manager = CheckpointManager(tmp_path, max_to_keep=1)
    others = ["checkpoint-x.json", "checkpoint-1.json.bak", "checkpoint.json", "my-checkpoint-1.json", "checkpoint--1.json"]
    for name in others:
        (tmp_path / name).write_text("mine")
    manager.save(at(1), 1)
    manager.save(at(2), 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*others, "checkpoint-2.json"])
