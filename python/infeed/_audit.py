"""audit: what a train step sees of a dataset, counted by the step itself."""

import dataclasses
import os
import threading
import time

import keras
import numpy as np

from infeed import keras as _infeed_keras
from infeed._errors import InvalidArgumentError
from infeed.keras import Tagged

# Steps that the counting layer has room for.
CAPACITY = 1 << 16


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report:
    """What `audit` found. Lists have one entry an epoch."""

    epochs: list
    duplicated: list
    missing: list
    out_of_order: list
    seconds_per_batch: float
    seconds_per_epoch_end: float
    leftover_threads: int
    leftover_processes: int

    def __str__(self):
        lines = []
        for k, seen in enumerate(self.epochs):
            fault = [f"{word} {_some(where[k])}" for word, where in
                     (("missing", self.missing), ("twice or more", self.duplicated)) if where[k]]
            lines.append(f"epoch {k}: {len(seen)} batches, " + ("; ".join(fault) or "each once"))
        lines.append(f"{self.seconds_per_batch * 1e3:.2f} ms a batch, {self.seconds_per_epoch_end * 1e3:.2f} ms at an "
                     f"epoch's end; left behind: {self.leftover_threads} threads, {self.leftover_processes} processes")
        return "\n".join(lines)


def _some(indices):
    shown = ", ".join(map(str, indices[:10]))
    return shown + (f" and {len(indices) - 10} more" if len(indices) > 10 else "")


class _StockTagged(keras.utils.PyDataset):
    """`Tagged` on Keras's own workers."""

    def __init__(self, dataset):
        super().__init__(dataset.workers, dataset.use_multiprocessing, dataset.max_queue_size)
        self.dataset = dataset

    num_batches = Tagged.num_batches
    __getitem__ = Tagged.__getitem__
    on_epoch_begin = Tagged.on_epoch_begin
    on_epoch_end = Tagged.on_epoch_end


def _tagged(dataset):
    """A dataset of the same kind whose batches are their indices."""
    if not isinstance(dataset, _infeed_keras.PyDataset):
        return _StockTagged(dataset)
    e = _infeed_keras.engine(dataset)
    return Tagged(dataset, workers=e.workers, use_multiprocessing=e.processes, max_queue_size=e.queue,
                  shuffle=e.shuffle, seed=e._seed, timeout=e.timeout)


class Seen(keras.layers.Layer):
    """Writes each index it is given into a weight, inside the compiled step."""

    def build(self, shape):
        options = dict(initializer="zeros", trainable=False, dtype="float32")
        self.log = self.add_weight(shape=(CAPACITY,), name="log", **options)
        self.top = self.add_weight(shape=(), name="top", **options)

    def call(self, x, training=False):
        ops = keras.ops
        if training:
            at = ops.cast(self.top, "int32")[None, None]
            self.log.assign(ops.scatter_update(self.log, at, x[0, :1] + 1.0))
            # It depends on x, so that a step of TensorFlow's that finds no data counts nothing.
            self.top.assign(self.top + ops.cast(x[0, 0] > -1.0, "float32"))
        return x


class Clock(keras.callbacks.Callback):
    """Times batches, and the gap between an epoch's last batch and its end."""

    def __init__(self):
        super().__init__()
        self.counts, self.ends, self.gaps = [], [], []

    def on_epoch_begin(self, epoch, logs=None):
        self.counts.append(0)
        self.times = [time.perf_counter()]

    def on_train_batch_end(self, batch, logs=None):
        self.counts[-1] = batch + 1
        self.times.append(time.perf_counter())

    def on_epoch_end(self, epoch, logs=None):
        self.ends.append(time.perf_counter() - self.times[-1])
        self.gaps.extend(np.diff(self.times[1:]).tolist())


def _children():
    me, found = os.getpid(), 0
    for p in os.listdir("/proc"):
        if p.isdigit():
            try:
                with open(f"/proc/{p}/stat") as f:
                    state, parent = f.read().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            found += int(parent) == me and state != "Z"
    return found


def run(dataset, epochs, fit_options):
    if not isinstance(dataset, keras.utils.PyDataset):
        raise InvalidArgumentError(f"audit needs a keras.utils.PyDataset; this is a {type(dataset).__name__}")
    if not isinstance(epochs, int) or epochs < 1:
        raise InvalidArgumentError(f"epochs is {epochs!r}; at least 1 is needed")
    seen, clock = Seen(), Clock()
    model = keras.Sequential([seen, keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(optimizer=keras.optimizers.SGD(0.0), loss="mse")
    threads, processes = threading.active_count(), _children()
    tagged = _tagged(dataset)
    options = {"verbose": 0, **fit_options}
    options["callbacks"] = [*options.get("callbacks", ()), clock]
    model.fit(tagged, epochs=epochs, **options)
    length = tagged.num_batches
    if isinstance(tagged, _infeed_keras.PyDataset):
        tagged.close()
    log = keras.ops.convert_to_numpy(seen.log)[:int(keras.ops.convert_to_numpy(seen.top))]
    return _report(np.asarray(log - 1, int).tolist(), clock, length, options,
                   threading.active_count() - threads, _children() - processes)


def _report(log, clock, length, options, threads, processes):
    epochs, at = [], 0
    for n in clock.counts:
        epochs.append(log[at:at + n])
        at += n
    whole = length is not None and not options.get("steps_per_epoch")
    shuffled = options.get("shuffle", True)
    return Report(
        epochs=epochs,
        duplicated=[sorted({i for i in e if e.count(i) > 1}) for e in epochs],
        missing=[sorted(set(range(length)) - set(e)) if whole else [] for e in epochs],
        out_of_order=[[] if shuffled else [b for a, b in zip(e, e[1:]) if b < a] for e in epochs],
        seconds_per_batch=float(np.median(clock.gaps)) if clock.gaps else 0.0,
        seconds_per_epoch_end=float(np.median(clock.ends)),
        leftover_threads=threads, leftover_processes=processes)
