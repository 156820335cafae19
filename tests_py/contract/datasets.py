"""The datasets of the contract, and nothing of Keras that the class under test does not bring.

Worker processes import this module; scenarios.py, which trains, stays in the main one.
A batch carries its own identity: column 0 is the sample id, column 1 the batch index.
"""

import importlib
import os
import signal
import threading
import time

import numpy as np

CLASS = os.environ.get("PYDATASET", "infeed.keras.PyDataset")
_module, _, _name = CLASS.rpartition(".")
PyDataset = getattr(importlib.import_module(_module), _name)

ROWS = 4
# The process that runs the scenarios; workers inherit the number, whichever way they are started.
MAIN = int(os.environ.setdefault("CONTRACT_MAIN", str(os.getpid())))
let_go = threading.Event()


class Ids(PyDataset):
    """`length` batches of ROWS samples; last_rows makes the last one shorter."""

    def __init__(self, length=10, rows=ROWS, last_rows=None, delay=0.0, columns=2, **options):
        super().__init__(**options)
        self.length, self.rows, self.last_rows = length, rows, last_rows
        self.delay, self.columns = delay, columns

    def __len__(self):
        return self.length

    def size(self, index):
        return self.last_rows if self.last_rows and index == self.length - 1 else self.rows

    def features(self, index):
        n = self.size(index)
        x = np.full((n, self.columns), index, "float32")
        x[:, 0] = index * self.rows + np.arange(n)
        return x

    def wait(self, index):
        if self.delay:  # unequal delays, so that workers finish out of order
            time.sleep(self.delay * (1 + index * 7 % 5) / 3)

    def __getitem__(self, index):
        self.wait(index)
        return self.features(index), np.zeros((self.size(index), 1), "float32")


class Endless(Ids):
    @property
    def num_batches(self):
        return None


class Shaped(Ids):
    """Rows vary from batch to batch."""

    def size(self, index):
        return 1 + index * 3 % 5


class Dicts(Ids):
    def __getitem__(self, index):
        x = self.features(index)
        return {"a": x, "b": 2.0 * x}, np.zeros((len(x), 1), "float32")


class Weighted(Ids):
    """Target -1 with weight depending on the id, for a model that outputs 0."""

    def __getitem__(self, index):
        x = self.features(index)
        return x, np.full((len(x), 1), -1.0, "float32"), 1.0 + x[:, 0] % 3


class Labelled(Ids):
    def __getitem__(self, index):
        x = self.features(index)
        return x, (x[:, :1] % 3).astype("int32")


class Bad(Ids):
    """One index misbehaves; see `misbehave`."""

    def __init__(self, length=12, bad=5, how="value", flag=None, **options):
        super().__init__(length, **options)
        self.bad, self.how, self.flag = bad, how, flag

    def __getitem__(self, index):
        self.wait(index)
        if index == self.bad:
            if self.flag is not None:
                try:
                    os.close(os.open(self.flag, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return super().__getitem__(index)
            got = self.misbehave()
            if got is not Ellipsis:
                return got
        return super().__getitem__(index)

    def misbehave(self):
        how = self.how
        if how == "value":
            raise ValueError("bad luck in the dataset")
        if how == "key":
            raise KeyError("missing-field")
        if how == "kill":
            if os.getpid() != MAIN and os.getppid() != 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return ...
        if how == "_exit":
            if os.getpid() != MAIN:
                os._exit(3)
            return ...
        if how == "none":
            return None
        if how == "four":
            x = self.features(self.bad)
            return x, x, x, x
        if how == "zero":
            return ()
        if how == "string":
            return "not a batch"
        raise AssertionError(how)


class Hooked(Ids):
    """Notes when hooks run, and serves the epoch number set by the begin hook."""

    def __init__(self, *args, events=None, tag="", hook_delay=0.0, fail=None, **options):
        super().__init__(*args, **options)
        self.events = events if events is not None else []
        self.tag, self.hook_delay, self.fail, self.epoch = tag, hook_delay, fail, 0

    def __getstate__(self):
        state = dict(self.__dict__)
        state["events"] = []
        return state

    def on_epoch_begin(self):
        if self.hook_delay:
            time.sleep(self.hook_delay)
        self.epoch += 1
        self.events.append(self.tag + "begin")
        if self.fail == "begin" and len([e for e in self.events if e == self.tag + "begin"]) > 1:
            raise RuntimeError("begin hook failed")

    def on_epoch_end(self):
        self.events.append(self.tag + "end")
        if self.fail == "end" and len([e for e in self.events if e == self.tag + "end"]) > 2:
            raise RuntimeError("end hook failed")

    def __getitem__(self, index):
        self.wait(index)
        x = self.features(index)
        x[:, 1] = self.epoch * 100 + index
        return x, np.zeros((len(x), 1), "float32")


class Noisy(Ids):
    """Serves np.random draws as ids and the worker's process id as batch index."""

    def __getitem__(self, index):
        self.wait(index)
        x = self.features(index)
        x[:, 0] = np.float32(np.random.random())
        x[:, 1] = os.getpid() % 1_000_000
        return x, np.zeros((len(x), 1), "float32")


class Big(Ids):
    """About 20 MB a batch, every element past column 1 equal to index + 1."""

    def __getitem__(self, index):
        x = np.full((32, 160_000), index + 1, "float32")
        x[:, 0] = index * 32 + np.arange(32)
        x[:, 1] = index
        return x, np.zeros((32, 1), "float32")


class Stuck(Ids):
    """From index 3 on, a batch takes half a minute, unless `let_go` is set."""

    def __getitem__(self, index):
        if index >= 3:
            let_go.wait(30)
        return super().__getitem__(index)


class Drawing(Ids):
    """Serves, as id of all samples, what `self.rng` draws: an integer that float32 holds."""

    def __getitem__(self, index):
        self.wait(index)
        x = self.features(index)
        x[:, 0] = self.rng.integers(1 << 24)
        return x, np.zeros((len(x), 1), "float32")


class Reindexed(Ids):
    """The classic: the end hook shuffles `self.indexes`, batches are served through it."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.indexes = np.arange(self.length)
        self.source = np.random.RandomState(3)
        self.begun = []

    def on_epoch_begin(self):
        self.begun.append(self.indexes.tolist())

    def on_epoch_end(self):
        self.source.shuffle(self.indexes)

    def __getitem__(self, index):
        return super().__getitem__(int(self.indexes[index]))


class Passing(Ids):
    """Serves the number of the pass as hundreds of the batch index."""

    def __getitem__(self, index):
        self.wait(index)
        x = self.features(index)
        x[:, 1] = self.epoch * 100 + index
        return x, np.zeros((len(x), 1), "float32")


class Lengths(Ids):
    """One length after the other, each time that it is asked for; an Exception is raised."""

    def __init__(self, lengths, **options):
        super().__init__(**options)
        self.lengths = lengths

    def __len__(self):
        n = self.lengths[0] if len(self.lengths) == 1 else self.lengths.pop(0)
        if n == "raise":
            raise ValueError("nobody knows the length")
        return n

    def __getitem__(self, index):
        if index >= 6:
            raise IndexError(f"there is no batch {index}")
        return super().__getitem__(index)


DATASETS = {c.__name__: c for c in (Ids, Endless, Shaped, Dicts, Weighted, Labelled, Bad, Hooked, Noisy, Big,
                                    Stuck, Drawing, Reindexed, Passing, Lengths)}


def make(dataset="Ids", **kwargs):
    return DATASETS[dataset](**kwargs)
