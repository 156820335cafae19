"""Trainings that are broken off and gone on with, and all that they end with.

`unbroken` and `broken` return the same when nothing was lost: digests of every
variable, History, what each step was given, and the counters of callbacks. Here a
training is broken off by an exception, which leaves nothing but what is on the disk:
model, dataset and callbacks are made anew. Scripts that are killed are in script.py.
"""

import contextlib
import hashlib
import io
import os
import random
import tempfile
import warnings

import keras
import numpy as np
from trained_on import make

import infeed.keras


class Broken(BaseException):
    pass


class Net(keras.Model):
    """A model that has no variables before it is called."""

    def __init__(self, layers):
        super().__init__()
        self.layers_ = layers

    def call(self, x, training=False):
        for layer in self.layers_:
            x = layer(x, training=training) if isinstance(layer, RANDOM) else layer(x)
        return x


RANDOM = (keras.layers.BatchNormalization, keras.layers.Dropout)


def net(optimizer="adam", spe=1, built=True, named=False, **options):
    """A model that draws random numbers while it is trained, and keeps statistics."""
    if optimizer == "schedule":
        optimizer = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.9), momentum=0.9)
    elif optimizer == "ema":
        optimizer = keras.optimizers.Adam(1e-2, use_ema=True, ema_overwrite_frequency=5)
    layers = [keras.layers.Dense(8, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dropout(0.3),
              keras.layers.Dense(3)]
    if named:
        given = keras.Input((4,), name="a")
        x = given
        for layer in layers:
            x = layer(x)
        model = keras.Model({"a": given}, x)
    else:
        model = keras.Sequential([keras.Input((4,)), *layers]) if built else Net(layers)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"],
                  weighted_metrics=["accuracy"], steps_per_execution=spe, **options)
    return model


class Watch(keras.callbacks.Callback):
    """Writes down the loss after each step, and breaks the training off after `stop_after` of them, or at its "end"."""

    def __init__(self, log, stop_after=None):
        super().__init__()
        self.log, self.stop_after, self.seen = log, stop_after, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.log[f"{self.epoch} {batch}"] = logs["loss"]
        self.seen += 1
        if self.seen == self.stop_after:
            raise Broken

    def on_train_end(self, logs=None):
        if self.stop_after == "end":
            raise Broken


class Nudge(keras.callbacks.Callback):
    """Changes the learning rate after each step, as its own counter says."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def on_train_batch_end(self, batch, logs=None):
        self.count += 1
        self.model.optimizer.learning_rate = 0.01 / (1 + self.count % 3)

    def state_dict(self):
        return {"count": self.count, "weights": np.arange(self.count), "where": (1, None)}

    def load_state_dict(self, state):
        self.count = state["count"]


class Nearsighted(keras.callbacks.Callback):
    """Draws from the generators that everybody shares."""

    def on_train_batch_begin(self, batch, logs=None):
        random.random(), np.random.random()


def extra(names, folder):
    made = []
    for name in names:
        made.append({
            "EarlyStopping": lambda: keras.callbacks.EarlyStopping(
                "loss", min_delta=10.0, patience=2, restore_best_weights=True),
            "Patient": lambda: keras.callbacks.EarlyStopping("val_loss", patience=100, restore_best_weights=True),
            "ReduceLROnPlateau": lambda: keras.callbacks.ReduceLROnPlateau("loss", 0.5, patience=1, min_delta=10.0),
            "ModelCheckpoint": lambda: keras.callbacks.ModelCheckpoint(
                os.path.join(folder, "{epoch}-{batch}.weights.h5"), save_weights_only=True, save_freq=5),
            "Best": lambda: keras.callbacks.ModelCheckpoint(
                os.path.join(folder, "best-{epoch}.weights.h5"), "loss", save_best_only=True, save_weights_only=True),
            "TensorBoard": lambda: keras.callbacks.TensorBoard(os.path.join(folder, "board"), update_freq=1),
            "Nudge": Nudge, "Nearsighted": Nearsighted}[name]())
    return made


def digest(array):
    a = np.ascontiguousarray(keras.ops.convert_to_numpy(array))
    return hashlib.sha256(str((a.dtype, a.shape)).encode() + a.tobytes()).hexdigest()[:12]


def counters(callbacks):
    found = {}
    for c in callbacks:
        for k in ("wait", "best", "cooldown_counter", "best_epoch", "stopped_epoch", "_batches_seen_since_last_saving",
                  "_last_batch_seen", "_global_train_batch", "count"):
            if hasattr(c, k):
                found[f"{type(c).__name__}.{k}"] = getattr(c, k)
    return found


def fit(folder, log, data=None, val=None, backup=None, optimizer="adam", spe=1, callbacks=(), first=True, stop_after=None,
        seed=7, model=None, out=None, **options):
    """One fit, with everything made anew; `first`: the backup stands first among callbacks."""
    keras.utils.set_random_seed(seed)
    ds = make(**(data or {}))
    if val is not None:
        options["validation_data"] = make(**val)
    model = net(optimizer, spe, **(model or {}))
    every = [*extra(callbacks, folder), Watch(log, stop_after)]
    if backup is not None:
        own = infeed.keras.BackupAndRestore(os.path.join(folder, "backup"), **backup)
        every = [own, *every] if first else [*every, own]
    if "class_weight" in options:  # JSON has no numbers as keys
        options["class_weight"] = {int(k): v for k, v in options["class_weight"].items()}
    options.setdefault("verbose", 0)
    options.setdefault("epochs", 3)
    with contextlib.redirect_stdout(io.StringIO()) as text:
        history = model.fit(ds, callbacks=every, **options)
    if out is not None:
        out.append(text.getvalue())
    return {
        "variables": [digest(v) for v in model.variables],
        "optimizer": [digest(v) for v in model.optimizer.variables],
        "metrics": [digest(v) for v in model.metrics_variables],
        "history": history.history, "epochs": history.epoch, "counters": counters(every),
        "files": sorted(f for f in os.listdir(folder) if f.endswith(".h5")),
        "random": [random.random(), float(np.random.random())], "initial": model._initial_epoch,
        "rng": int(np.random.default_rng(0).integers(9))}


def unbroken(**options):
    """(how many steps there were, what the training ended with)."""
    options.pop("backup", None)
    log = {}
    with tempfile.TemporaryDirectory() as folder:
        end = fit(folder, log, **options)
    return len(log), {**end, "log": log}


def broken(stops, **options):
    """The same training, broken off after so many steps, then again after so many more, and so on, then to its end."""
    log, out = {}, []
    options.setdefault("backup", {"save_freq": 2})
    with tempfile.TemporaryDirectory() as folder:
        for stop in [*stops, None]:
            try:
                end = fit(folder, log, stop_after=stop, out=out, **options)
            except Broken:
                continue
        left = os.path.exists(os.path.join(folder, "backup"))
    return {**end, "log": log}, {"left": left, "out": out}


def compare(every=1, stops=None, ignore=(), **options):
    """Breaks a training off once after each `every` steps; returns how the ends differ from the unbroken one."""
    steps, want = unbroken(**options)
    differences = {}
    for stop in stops or range(1, steps + 1, every):
        got, more = broken(stop if isinstance(stop, list) else [stop], **options)
        differs = {k: [want[k], got[k]] for k in want if k not in ignore and want[k] != got[k]}
        if more["left"]:
            differs["left"] = True
        if differs:
            differences[str(stop)] = differs
    return {"steps": steps, "differences": differences}
