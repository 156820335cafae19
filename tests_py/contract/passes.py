"""Scenarios of what infeed promises beyond Keras: passes, orders, random numbers, hooks."""

import sys
import types
import warnings

import infeed.keras
import keras
import numpy as np
from datasets import ROWS, Ids, make
from recording import Echo, Watch, net, seen


def steps(train, fits, epoch=None, **options):
    """One dataset through several fits: batches and ids seen in each epoch, and `epoch` afterwards."""
    ds, model, watch = make(**train), net(), Watch()
    if epoch is not None:
        ds.epoch = epoch
    after = []
    for changes in fits:
        watch.stop_at, watch.raise_at = changes.pop("stop_at", None), changes.pop("raise_at", None)
        try:
            model.fit(ds, verbose=0, callbacks=[watch], **{**options, **changes})
        except RuntimeError as e:
            if "callback stopped it" not in str(e):
                raise
        after.append(ds.epoch)
    got = seen(model, watch)
    return {"train": got["train"], "first": firsts(got["rows"]), "after": after, "seed": ds.seed}


def firsts(rows):
    return [[int(r[3]) for r in epoch] for epoch in rows]


def recovered(train, flag):
    """A fit that fails at a batch, then another of the same dataset, for which the batch is good."""
    ds, model, watch = make(flag=flag, **train), net(), Watch()
    failed = False
    try:
        model.fit(ds, epochs=1, verbose=0, shuffle=False, callbacks=[watch])
    except Exception:
        failed = True
        watch.train[-1] = len(model.log.read(1))
    model.fit(ds, epochs=2, verbose=0, shuffle=False, callbacks=[watch])
    return {"failed": failed, **seen(model, watch)}


def looped(dataset, passes, epoch=None):
    """Batches and ids of plain loops."""
    ds = make(**dataset)
    if epoch is not None:
        ds.epoch = epoch
    got = [[(int(x[0, 1]), int(x[0, 0])) for x, _ in ds] for _ in range(passes)]
    return {"batches": [[b for b, _ in p] for p in got], "first": [[i for _, i in p] for p in got]}


def reindexed(train, epochs, steps_per_epoch=None):
    """The orders that the hook had made when each epoch began, and what was trained on."""
    ds, model, watch = make("Reindexed", **train), net(), Watch()
    model.fit(ds, epochs=epochs, verbose=0, shuffle=False, steps_per_epoch=steps_per_epoch, callbacks=[watch])
    return {"begun": ds.begun[-epochs:], **seen(model, watch)}


def looks(dataset):
    """What evaluate, validation and predict draw from a dataset that is trained on in between."""
    ds, model, watch = make("Drawing", **dataset), net(), Watch()
    model.evaluate(ds, verbose=0, callbacks=[watch])
    model.fit(ds, epochs=2, validation_data=ds, verbose=0, shuffle=True, callbacks=[watch])
    model.evaluate(ds, verbose=0, callbacks=[watch])
    echo = Echo(False)
    got = seen(model, watch)
    return {"test": firsts(got["test_rows"]), "order": got["test"], "train": firsts(got["rows"]),
            "train_order": got["train"],
            "predict": [np.asarray(echo.predict(ds, verbose=0))[::ROWS, 0].tolist() for _ in range(2)]}


def told(workers, processes):
    """What a dataset says about its workers, to Keras and to its user."""
    ds = make(workers=workers, use_multiprocessing=processes)
    return {"workers": ds.workers, "parallelism": ds.parallelism, "kind": isinstance(ds, keras.utils.PyDataset)}


def seeded_loops(dataset, seed):
    """Orders of plain loops, and what `rng` draws in a constructor's wake, after set_random_seed."""
    keras.utils.set_random_seed(seed)
    ds = make(shuffle=True, **dataset)
    return {"seed": ds.seed, "batches": [[int(x[0, 1]) for x, _ in ds] for _ in range(2)]}


def inherited(workers):
    """Sums over datasets whose classes go by value and have Keras's and infeed's classes as bases, in any order."""

    class Items:
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return np.full((1, 1), index)

    class Stock(Items, keras.utils.PyDataset):
        pass

    class Both(Items, infeed.keras.PyDataset, keras.utils.PyDataset):
        pass

    class Ported(infeed.keras.PyDataset, Stock):
        __len__, __getitem__ = Items.__len__, Items.__getitem__

    class Mixed(Items, infeed.keras.PyDataset):
        pass

    out = {}
    for kind in (Both, Ported, Mixed):
        with kind(workers=workers, use_multiprocessing=True) as ds:
            out[kind.__name__] = sum(int(b[0, 0]) for b in ds)
    return out


class Old(keras.utils.PyDataset):
    """A stock dataset whose hook shuffles what it serves."""

    def __init__(self, length, **options):
        super().__init__(**options)
        self.ids = Ids(length)
        self.indexes, self.source, self.begun = np.arange(length), np.random.RandomState(5), []

    def __len__(self):
        return len(self.indexes)

    def __getitem__(self, index):
        return self.ids[int(self.indexes[index])]

    def on_epoch_begin(self):
        self.begun.append(self.indexes.tolist())

    def on_epoch_end(self):
        self.source.shuffle(self.indexes)


def accelerated(workers, processes, length=8, epochs=3):
    old = Old(length, workers=workers, use_multiprocessing=processes)
    ds = infeed.keras.accelerate(old, max_queue_size=4)
    model, watch = net(), Watch()
    with ds:
        model.fit(ds, epochs=epochs, verbose=0, shuffle=False, callbacks=[watch])
        plain = [int(x[0, 1]) for x, _ in ds]
    return {"begun": old.begun[-epochs - 1:], "loop": plain, "parallelism": ds.parallelism, **seen(model, watch)}


def refused():
    """What accelerate and audit say to something that is no dataset."""
    out = []
    for call in (infeed.keras.accelerate, infeed.keras.audit):
        try:
            call([1, 2, 3])
        except infeed.InvalidArgumentError as e:
            out.append(str(e))
    return out


def audited(stock, length=6, epochs=2, **options):
    """The fields of a report of audit, and its text."""
    fit_options = {k: options.pop(k) for k in ("shuffle", "steps_per_epoch") if k in options}
    ds = Old(length, **options) if stock else make(length=length, **options)
    report = infeed.keras.audit(ds, epochs=epochs, **fit_options)
    names = ("epochs", "duplicated", "missing", "out_of_order", "seconds_per_batch", "seconds_per_epoch_end",
             "leftover_threads", "leftover_processes")
    return {"text": str(report), **{n: getattr(report, n) for n in names}}


def unknown_reader():
    """An adapter of a Keras to come, that keeps the dataset where infeed does not look."""
    module = types.ModuleType("keras.src.adapters_to_come")
    exec("class Adapter:\n    def __init__(self, dataset):\n        self.kept = [dataset.workers, dataset]",
         module.__dict__)
    ds = make(workers=2, length=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = module.Adapter(ds).kept
    return {"workers": kept[0], "warnings": [str(w.message) for w in caught],
            "served": [int(kept[1][k][0][0, 1]) for k in range(3)]}


def imported():
    """Modules that a worker process has imported, asked through a batch."""

    class Modules(infeed.keras.PyDataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return np.array([m in sys.modules for m in ("keras", "jax", "tensorflow", "infeed")])

    with Modules(workers=1, use_multiprocessing=True) as ds:
        (got,) = list(ds)
    return got.tolist()
