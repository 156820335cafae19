"""fit goes on after it was broken off, and ends as the unbroken one does, bit by bit.

Each case is broken off after some of its steps, anew each time; by default a few,
with INFEED_SOAK after every one.
"""

import os

import pytest

SOAK = bool(os.environ.get("INFEED_SOAK"))

# name: (after how many steps it is broken off, whether TensorFlow is tried by default, options of the training)
CASES = {
    "plain": ([1, 6, 9, 18], True, {}),
    # 1 batch, the middle, the end of an epoch, into the next; broken off before any batch: see below.
    "each batch": ([1, 3, 6, 7], True, {"backup": {"save_freq": 1}}),
    "each epoch": ([5, 7], False, {"backup": {}}),
    "backups once in two epochs": ([13], False, {"backup": {"save_freq": 8, "double_checkpoint": True}}),
    "seconds": ([5], False, {"backup": {"save_freq": False, "save_secs": 1e-6}}),
    "last in the list": ([9], False, {"first": False}),
    "not shuffled": ([9], False, {"shuffle": False}),
    "no workers": ([9], False, {"data": {"workers": 0}}),
    "threads": ([9], False, {"data": {"workers": 3}}),
    "processes": ([9], False, {"data": {"workers": 2, "use_multiprocessing": True}}),
    "drawn seed": ([9], False, {"data": {"seed": None}}),
    "given seed": ([9], False, {"data": {"seed": 3, "shuffle": True}}),
    "no variables before fit": ([5, 13], True, {"model": {"built": False}}),
    "validation": ([4, 7], True, {"val": {"length": 3}}),
    "validation steps": ([7], False, {"val": {"dataset": "Endless"}, "validation_steps": 2}),
    "initial epoch": ([2, 8], False, {"initial_epoch": 2, "epochs": 5}),
    "class weights": ([8], False, {"class_weight": {"0": 1.0, "1": 2.0, "2": 0.5}}),
    "sample weights": ([8], False, {"data": {"weighted": True}}),
    "dicts": ([8], False, {"data": {"named": True}, "model": {"named": True}}),
    "two steps at a time": ([3, 4, 8], True, {"spe": 2, "backup": {"save_freq": 4}}),
    "steps in pairs, and one over": ([2, 5], False, {"spe": 2, "data": {"length": 7}, "backup": {"save_freq": 2}}),
    "steps_per_epoch": ([3, 4, 9, 14], True, {"steps_per_epoch": 4, "epochs": 5, "data": {"length": 12}}),
    "steps_per_epoch, backups by epoch": ([6, 11], False, {"steps_per_epoch": 4, "epochs": 5, "data": {"length": 12}, "backup": {}}),
    "steps_per_epoch, a short epoch": ([9, 10, 12], False, {"steps_per_epoch": 4, "epochs": 5, "data": {"length": 10}}),
    "endless": ([6, 11], True, {"steps_per_epoch": 5, "data": {"dataset": "Endless"}}),
    "hooks with a state": ([4, 6, 9], True, {"data": {"dataset": "Shuffling"}}),
    "hooks with a state, steps_per_epoch": ([6, 9], False, {"data": {"dataset": "Shuffling"}, "steps_per_epoch": 3, "epochs": 5}),
    "hooks with a state, steps_per_epoch, backups by epoch": ([5, 11], False, {
        "data": {"dataset": "Shuffling"}, "steps_per_epoch": 3, "epochs": 5, "backup": {}}),
    "hooks that draw anew": ([4, 9], False, {"data": {"dataset": "Shifted"}}),
    "hooks, processes": ([9], False, {"data": {"dataset": "Shuffling", "workers": 2, "use_multiprocessing": True}}),
    "schedule": ([8], False, {"optimizer": "schedule"}),
    "averaged weights": ([8], False, {"optimizer": "ema"}),
    "callbacks of Keras's": ([4, 7, 16], True, {"callbacks": ["ReduceLROnPlateau", "ModelCheckpoint", "Best", "Patient"],
                                                "val": {"length": 2}, "backup": {"save_freq": 3}}),
    "callbacks with own state, and drawn numbers": ([4, 7], True, {"callbacks": ["Nudge", "Nearsighted"],
                                                                  "backup": {"save_freq": 3}}),
    "EarlyStopping": ([8, 13, 18, "end"], False, {"callbacks": ["EarlyStopping"], "epochs": 8}),
    "Dataset": ([4, 9], True, {"data": {"dataset": "Dataset"}}),
    "Dataset, steps": ([3, 9], True, {"data": {"dataset": "Dataset", "steps": 4}, "epochs": 4}),
    "Dataset, windows": ([3, 9], False, {"data": {"dataset": "Dataset", "kind": "windows", "steps": 4}, "epochs": 4}),
    "Dataset, of a length that only a pass tells": ([4, 9], False, {"data": {"dataset": "Dataset", "kind": "windows"}}),
    "Dataset, flat": ([3, 9], True, {"data": {"dataset": "Dataset", "kind": "flat", "steps": 4}, "epochs": 4}),
    "Dataset, endless": ([7], False, {"data": {"dataset": "Dataset", "kind": "endless"}, "steps_per_epoch": 5}),
}


def pairs(on_tensorflow):
    return [n for n, (_, both, _) in CASES.items() if both == on_tensorflow]


@pytest.mark.timeout(900)
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", pairs(True))
def test_ends_as_the_unbroken_one(run, name):
    check(run, name)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", pairs(False))
def test_ends_as_the_unbroken_one_by_other_ways(run, name):
    check(run, name)


def check(run, name):
    stops, _, options = CASES[name]
    if "spe" in options and os.environ.get("KERAS_BACKEND") == "torch":
        pytest.skip("torch's fit takes one step at a time")
    found = run("compare", stops=None if SOAK else stops, **options)
    assert found["steps"] >= max(s for s in stops if s != "end"), "the training is shorter than the test thinks"
    assert found["differences"] == {}, f"broken off after so many steps, it differs: {found['differences']}"


def test_broken_off_again_and_again(run):
    """After each two steps, the last of them not saved yet."""
    found = run("compare", stops=[[2] * 30], backup={"save_freq": 1}, val={"length": 2})
    assert found["differences"] == {}


def test_broken_off_before_anything_was_saved(run):
    found = run("compare", stops=[[1, 1, 1]], backup={"save_freq": 5})
    assert found["differences"] == {}
