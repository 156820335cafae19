"""Adds states of this version to testdata/states: python tests_py/state/golden.py

A state that is there is never written again: what infeed once saved, it loads for ever.
Each file has the state, and the elements that follow it.
"""

import json
from pathlib import Path

import numpy as np

import infeed

FOLDER = Path(__file__).resolve().parents[2] / "testdata" / "states"


class Batches(infeed.PyDataset):
    """Batches that depend on index, pass and `self.rng`."""

    def __init__(self, length=7, **options):
        super().__init__(workers=0, **options)
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return np.array([self.epoch, index, self.rng.integers(1 << 40)])


class Remembering(Batches):
    def __init__(self, **options):
        super().__init__(**options)
        self.order = list(range(self.length))

    def on_epoch_end(self):
        self.order = self.order[1:] + self.order[:1]

    def __getitem__(self, index):
        return super().__getitem__(self.order[index])

    def state_dict(self):
        return {"order": self.order}

    def load_state_dict(self, state):
        self.order = state["order"]


class Endless(Batches):
    num_batches = None


# name: (how a fresh dataset is made, how many passes come first, after how many elements of the next the state is taken)
MAKERS = {
    "pydataset-plain": (lambda: Batches(seed=5), 0, 3),
    "pydataset-shuffled": (lambda: Batches(seed=(1 << 64) - 1, shuffle=True), 2, 4),
    "pydataset-start": (lambda: Batches(seed=0, shuffle=True), 1, 0),
    "pydataset-end": (lambda: Batches(seed=9, shuffle=True), 0, 7),
    "pydataset-own-state": (lambda: Remembering(seed=5), 1, 2),
    "pydataset-endless": (lambda: Endless(seed=5), 0, 1000),
}
MOST = 20  # elements that are kept


def rest(iterator):
    found = []
    for element in iterator:
        found.append(np.asarray(element).tolist())
        if len(found) == MOST:
            break
    return found


def taken(name):
    """(state, elements after it) of a fresh dataset."""
    make, passes, elements = MAKERS[name]
    ds = make()
    for _ in range(passes):
        list(ds)
    it = iter(ds)
    for _ in range(elements):
        next(it)
    return it.state_dict(), rest(it)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name in MAKERS:
        path = FOLDER / f"{name}.json"
        if not path.exists():
            state, elements = taken(name)
            path.write_text(json.dumps({"version": infeed.__version__, "state": state, "elements": elements}) + "\n")
            print(path.name)
    path = FOLDER / "checkpoint-3.json"
    if not path.exists():
        it = iter(Batches(seed=5, shuffle=True))
        for _ in range(3):
            next(it)
        infeed.CheckpointManager(FOLDER).save(it, 3)
        print(path.name)


if __name__ == "__main__":
    main()
