"""What a backup is not loaded for: another dataset, model or way of training. Nothing is trained then."""

import os
import re

import pytest

from .conftest import Failure

CHANGES = {
    "length": ({"data": {"length": 7}}, "length was 6 and is 7"),
    "seed": ({"data": {"seed": 5}}, "seed was 7 and is 5"),
    "class": ({"data": {"dataset": "Shuffling"}}, "class was 'Data' and is 'Shuffling'"),
    "shuffle": ({"shuffle": False}, "shuffle was True and is False"),
    "steps_per_epoch": ({"steps_per_epoch": 3}, "steps_per_epoch=None, and it is 3"),
    "steps_per_execution": ({"spe": 2}, "before batch 3 with steps_per_execution=1; 2 steps at a time do not begin there"),
    "units": ({"model": {"units": 9}}, "another model: variable .* of the model was float32.* and .* is float32"),
    "layers": ({"model": {"more": True}}, "another model: the model had 9 variables and has 11"),
    "optimizer": ({"optimizer": "schedule"}, "another model: the optimizer had 14 variables and has"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changed(run, name):
    options, text = CHANGES[name]
    if "spe" in options and os.environ.get("KERAS_BACKEND") == "torch":
        pytest.skip("torch's fit takes one step at a time")
    found = run("changed", stop=4, before={"backup": {"save_freq": 3}, "data": {"seed": 7} if name == "seed" else {}}, after=options)
    assert found["type"] == "StateMismatchError", found
    assert found["steps"] == 0, "it was trained before the difference was seen"
    assert re.search(text, found["text"]), found["text"]


PIPELINES = {
    "operations": ({"kind": "windows", "steps": 4}, {"kind": "flat", "steps": 4}, r"step 1 was filter\(.* and is batch\("),
    "rows": ({"kind": "windows", "steps": 4}, {"kind": "windows", "steps": 4, "batches": 7}, r"step 0 was .*24 rows.* and is .*28 rows"),
    "length": ({}, {"batches": 7}, "length was 6 and is 7"),
    "steps": ({"steps": 4}, {"steps": 3}, "length was 4 and is 3"),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_changed_pipeline(run, name):
    before, after, text = PIPELINES[name]
    before, after = [{"backup": {"save_freq": 3}, "data": {"dataset": "Dataset", **d}} for d in (before, after)]
    found = run("changed", stop=4, before=before, after=after)
    assert found["type"] == "StateMismatchError" and found["steps"] == 0, found
    assert re.search(text, found["text"]), found["text"]


def test_another_number_of_epochs_and_workers_is_no_change(run):
    found = run("changed", stop=4, before={"backup": {"save_freq": 3}}, after={"epochs": 4, "data": {"workers": 3}})
    assert found["type"] is None and found["steps"] == 4 * 6 - 3


def test_hooks_without_a_state_warn(run):
    found = run("changed", stop=9, before={"backup": {"save_freq": 2}, "data": {"dataset": "Forgetful"}}, after={})
    assert found["type"] is None
    assert any("Forgetful has hooks but no state_dict" in w for w in found["warnings"])


def test_data_that_are_not_infeeds(run):
    with pytest.raises(Failure) as e:
        run("fit_arrays")
    assert e.value.error["type"] == "InvalidArgumentError"
    assert "this fit was given other data (infeed.keras.accelerate wraps any PyDataset)" in e.value.error["message"]


WRONG = [
    ({"backup_dir": ""}, "backup_dir is ''"), ({"save_freq": 0}, "save_freq is 0"), ({"save_freq": 2.5}, "save_freq is 2.5"),
    ({"save_freq": True}, "save_freq is True"), ({"save_freq": None}, "save_freq is None"), ({"save_freq": "batch"}, "save_freq is 'batch'"),
    ({"save_freq": False}, "give save_secs with it"), ({"save_secs": 0}, "save_secs is 0"), ({"save_secs": "1"}, "save_secs is '1'"),
    ({"callbacks": "CSVLogger"}, "CSVLogger has no state_dict and load_state_dict")]


@pytest.mark.parametrize("options, text", WRONG, ids=str)
def test_wrong_arguments(run, options, text):
    with pytest.raises(Failure) as e:
        run("construct", **options)
    assert e.value.error["type"] == "InvalidArgumentError" and text in e.value.error["message"]


def test_two_of_them(run):
    with pytest.raises(Failure) as e:
        run("fit_two")
    assert "two infeed.keras.BackupAndRestore in one fit" in e.value.error["message"]


@pytest.mark.parametrize("kind", [None, "shuffled"], ids=["PyDataset", "Dataset"])
def test_a_refusal_changes_nothing(run, kind):
    assert run("after_refusal", kind=kind) == {"refused": True, "before": 0, "same": True}
