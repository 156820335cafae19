"""Datasets for trainings that are broken off. Worker processes import this, and no Keras with it."""

import numpy as np

import infeed
import infeed.keras

CLASSES = 3


class Data(infeed.keras.PyDataset):
    """`length` batches that depend on index, pass and `self.rng`."""

    def __init__(self, length=6, rows=4, weighted=False, named=False, **options):
        super().__init__(**options)
        self.length, self.rows, self.weighted, self.named = length, rows, weighted, named

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        x = self.rng.normal(index / self.length, 1, (self.rows, 4)).astype("float32") + np.float32(self.epoch)
        y = (np.arange(self.rows) + index).astype("int32") % CLASSES
        x = {"a": x} if self.named else x
        return (x, y, np.linspace(0.5, 1, self.rows).astype("float32")) if self.weighted else (x, y)


class Endless(Data):
    @property
    def num_batches(self):
        return None


class Shuffling(Data):
    """The classic: the end hook shuffles what batches are made of; and it remembers."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.order = np.arange(self.length)
        self.begun = self.shift = 0

    def on_epoch_begin(self):
        self.begun += 1
        self.shift = int(self.rng.integers(3))

    def on_epoch_end(self):
        np.random.shuffle(self.order)
        self.order = np.roll(self.order, self.rng.integers(3))

    def __getitem__(self, index):
        x, y = super().__getitem__(int(self.order[index]))
        return x + np.float32(self.begun + self.shift), y

    def state_dict(self):
        return {"order": self.order, "begun": self.begun, "shift": self.shift}

    def load_state_dict(self, state):
        self.order, self.begun, self.shift = state["order"].copy(), state["begun"], state["shift"]


class Shifted(Data):
    """What its hook sets depends on the pass only."""

    def on_epoch_begin(self):
        self.shift = int(self.rng.integers(100)) + self.epoch

    def on_epoch_end(self):
        self.rng.integers(3)

    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x + np.float32(getattr(self, "shift", 0)), y


class Forgetful(Data):
    """Its hook changes it, and nothing tells what to."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.order = np.arange(self.length)

    def on_epoch_end(self):
        np.random.shuffle(self.order)

    def __getitem__(self, index):
        return super().__getitem__(int(self.order[index]))


def pipeline(kind="shuffled", batches=6, **_):
    """infeed.Datasets of (float32[4, 4], int32[4])."""
    n = batches * 4
    x = np.random.default_rng(1).normal(size=(n, 4)).astype("float32")
    y = (np.arange(n) % CLASSES).astype("int32")
    ds = infeed.Dataset.from_tensor_slices((x, y))
    return {
        "shuffled": lambda: ds.shuffle(n, seed=3).batch(4),
        "windows": lambda: ds.filter(lambda a, b: True).shuffle(7, seed=3).batch(4),
        "endless": lambda: ds.shuffle(n, seed=3).repeat().batch(4),
        "flat": lambda: ds.batch(3).flat_map(lambda a, b: infeed.Dataset.from_tensor_slices((a, b))).shuffle(5, seed=3).batch(4),
    }[kind]()


def make(dataset="Data", steps=None, **options):
    if dataset == "Dataset":
        return pipeline(**options).to_keras(steps=steps)
    return {c.__name__: c for c in (Data, Endless, Shuffling, Shifted, Forgetful)}[dataset](**options)
