"""States that earlier versions saved are loaded, and give the elements that those versions gave."""

import json
import shutil

import numpy as np
import pytest

import infeed

from . import golden
from .conftest import Failure

FILES = sorted(p.stem for p in golden.FOLDER.glob("pydataset-*.json"))


def test_there_is_one_for_each_kind():
    assert set(FILES) == set(golden.MAKERS)


@pytest.mark.parametrize("name", FILES)
def test_loads_for_ever(name):
    kept = json.loads((golden.FOLDER / f"{name}.json").read_text())
    it = iter(golden.MAKERS[name][0]())
    it.load_state_dict(kept["state"])
    assert golden.rest(it) == kept["elements"]
    assert kept["elements"] or name.endswith("-end")


def test_a_checkpoint_loads_for_ever(tmp_path):
    shutil.copy(golden.FOLDER / "checkpoint-3.json", tmp_path)
    it = iter(golden.Batches())
    it2 = iter(golden.Batches(seed=5, shuffle=True))
    with pytest.raises(infeed.StateMismatchError, match="shuffle was True and is False"):
        infeed.CheckpointManager(tmp_path).restore(it)
    assert infeed.CheckpointManager(tmp_path).restore(it2) == 3
    want = [b.tolist() for b in golden.Batches(seed=5, shuffle=True)][3:]
    assert [b.tolist() for b in it2] == want and np.array(want).shape == (4, 3)


def test_a_backup_loads_for_ever(run, backend):
    """One that JAX wrote; the other backends keep seeds in another way, and say so."""
    if backend != "jax":
        with pytest.raises(Failure) as e:
            run("from_golden", folder=str(golden.FOLDER / "backup"))
        assert e.value.error["type"] == "StateMismatchError"
        return
    found = run("from_golden", folder=str(golden.FOLDER / "backup"))
    assert found == {"first": "1 2", "epochs": [0, 1], "weights": True}
