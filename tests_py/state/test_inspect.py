"""`infeed inspect` says in words where a run is."""

import json
import re

import numpy as np
import pytest

import infeed
from infeed import _archive, _cli, _describe

from . import golden


class Digits(golden.Batches):
    pass


@pytest.fixture
def inspect(capsys):
    def call(path, *options):
        status = _cli.main(["inspect", str(path), *options])
        out = capsys.readouterr()
        return status, out.out, out.err
    return call


def save(path, state):
    path.write_text(json.dumps(state))
    return path


def test_state_of_a_pydataset(tmp_path, inspect):
    it = iter(Digits(length=125, seed=5, shuffle=True))
    for _ in range(17):
        next(it)
    status, out, err = inspect(save(tmp_path / "state.json", it.state_dict()))
    assert (status, err) == (0, "")
    assert out == "Digits: in pass 0, batch 17 of 125 comes next (counted from 0); shuffled with seed 5\n"


def test_state_of_files(tmp_path, inspect):
    """Which file, and where in it."""
    for n in range(3):
        (tmp_path / f"{n}.txt").write_text("".join(f"{n} {i}\n" for i in range(10)))
    ds = infeed.TextLineDataset([str(tmp_path / f"{n}.txt") for n in range(3)]).filter(lambda x: True).batch(2)
    it = iter(ds)
    for _ in range(8):
        next(it)
    status, out, _ = inspect(save(tmp_path / "state.json", it.state_dict()))
    assert status == 0
    assert "Dataset: in pass 0, element 8 comes next (counted from 0)" in out
    assert re.search(r"TextLineDataset is read again from file [01] of its list \(counted from 0\), byte \d+", out), out
    assert re.search(r"step 0: TextLineDataset\(.*\n  step 1: filter", out)


def test_state_of_an_indexed_dataset(tmp_path, inspect):
    it = iter(infeed.Dataset.range(100).shuffle(100, seed=7).batch(4))
    next(it)
    status, out, _ = inspect(save(tmp_path / "state.json", it.state_dict()))
    assert status == 0 and "element 1 comes next" in out and "seeds: 7" in out


def test_checkpoints(tmp_path, inspect):
    it = iter(Digits(seed=5))
    next(it)
    path = infeed.CheckpointManager(tmp_path).save(it, 120)
    status, out, _ = inspect(path)
    assert status == 0
    assert re.match(r"checkpoint of step 120, saved \d{4}-.* by infeed \S+\niterator: Digits: in pass 0, batch 1 of 7 comes next", out)
    status, out, _ = inspect(path, "--json")
    assert json.loads(out)["states"]["iterator"]["position"] == 1


def test_checkpoints_of_the_hook(tmp_path, inspect):
    from infeed import _checkpoint

    states = {"iterator-0": iter(Digits(seed=5)).state_dict(), "iterator-1": {"count": 3}}
    _checkpoint.write(str(tmp_path / "input.ckpt-7"), 7, states)
    status, out, _ = inspect(tmp_path / "input.ckpt-7")
    assert status == 0
    assert "iterator-0: Digits: in pass 0, batch 0 of 7" in out and 'iterator-1: state of something else: {"count": 3}' in out


def test_backups(inspect):
    path = golden.FOLDER / "backup" / "backup-1.npz"
    status, out, _ = inspect(path)
    assert status == 0
    assert re.match(r"backup of a training with Keras \S+ on jax, by infeed \S+\n"
                    r"it was in epoch 1, before batch 2 \(both are counted from 0\)\n"
                    r"data: Shuffling: in pass 1, batch 2 of 4 comes next \(counted from 0\); shuffled with seed 3\n", out), out
    assert re.search(r"^val_loss: [\d.]+$", out, re.M) and "EarlyStopping 1" in out
    assert re.search(r"variables: 9 model, 14 optimizer, \d+ metrics", out)
    assert json.loads(inspect(path, "--json")[1])["epoch"] == 1


def test_a_backup_that_stopped(tmp_path):
    document = _archive.read(golden.FOLDER / "backup" / "backup-1.npz")[0]
    found = _describe.backup({**document, "batch": 0, "stopped": True}, 5)
    assert "it was before epoch 1 (both are counted from 0); the training was stopped there" in "\n".join(_describe.lines(found))


@pytest.mark.parametrize("content, text", [
    (b"\x00\x01\x02", "neither JSON nor a zip file"), (b'{"a": 1}', "JSON of something else"),
    (b"[1]", "JSON of something else"), (b'{\n "infeed": "checkpoint",', "cut off or damaged"), (b"PK\x03\x04", "cut off or damaged")], ids=str)
def test_what_is_not_infeeds(tmp_path, inspect, content, text):
    (tmp_path / "file").write_bytes(content)
    status, out, err = inspect(tmp_path / "file")
    assert status == 1 and out == "" and text in err and "Traceback" not in err


def test_what_is_not_there(tmp_path, inspect):
    assert inspect(tmp_path / "none")[0] == 1 and "is not there" in inspect(tmp_path / "none")[2]
    np.savez(tmp_path / "arrays.npz", a=np.zeros(2))
    assert inspect(tmp_path / "arrays.npz")[0] == 1
    assert "is a directory without a snapshot or saved dataset; give one of the files in it: arrays.npz" in inspect(tmp_path)[2]
    (tmp_path / "checkpoint-1.json").write_bytes(b"")
    assert "neither JSON nor a zip file" in inspect(tmp_path / "checkpoint-1.json")[2]
