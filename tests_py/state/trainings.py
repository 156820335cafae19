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


def net(optimizer="adam", spe=1, built=True, named=False, units=8, more=False, **options):
    """A model that draws random numbers while it is trained, and keeps statistics."""
    if optimizer == "schedule":
        optimizer = keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.9), momentum=0.9)
    elif optimizer == "ema":
        optimizer = keras.optimizers.Adam(1e-2, use_ema=True, ema_overwrite_frequency=5)
    layers = [keras.layers.Dense(units, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dropout(0.3),
              *[keras.layers.Dense(3) for _ in range(1 + more)]]
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
        seed=7, model=None, out=None, more=(), **options):
    """One fit, with everything made anew; `first`: the backup stands first among callbacks."""
    keras.utils.set_random_seed(seed)
    ds = make(**(data or {}))
    if val is not None:
        options["validation_data"] = make(**val)
    model = net(optimizer, spe, **(model or {}))
    every = [*extra(callbacks, folder), *more, Watch(log, stop_after)]
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


def changed(stop, before, after):
    """A training that is broken off, and what comes of going on with other options."""
    log = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit(folder, log, stop_after=stop, **before)
        except Broken:
            log.clear()
        data = {**before.get("data", {}), **after.get("data", {})}
        kind, text = None, ""
        try:
            fit(folder, log, **{**before, **after, "data": data})
        except infeed.Error as e:
            kind, text = type(e).__name__, str(e)
    return {"type": kind, "text": text, "steps": len(log), "warnings": [str(w.message) for w in caught]}


def construct(callbacks=(), **options):
    if callbacks == "CSVLogger":
        callbacks = [keras.callbacks.CSVLogger("file")]
    infeed.keras.BackupAndRestore(**{"backup_dir": "somewhere", "callbacks": callbacks, **options})


def fit_arrays():
    with tempfile.TemporaryDirectory() as folder:
        net().fit(np.zeros((8, 4)), np.zeros(8), verbose=0, callbacks=[infeed.keras.BackupAndRestore(folder)])


def fit_two():
    with tempfile.TemporaryDirectory() as folder:
        backups = [infeed.keras.BackupAndRestore(os.path.join(folder, n)) for n in "ab"]
        net().fit(make(), verbose=0, callbacks=backups)


def bars(stop=9):
    """What a progress bar shows: in an unbroken run, and in one that goes on."""
    out = []
    _, _ = unbroken(verbose=1, out=out)
    _, more = broken([stop], verbose=1)
    return out[0], more["out"][-1]


def later_fits():
    """Where fits with the same model begin, after one that went on in its third epoch and one that broke off there."""
    with tempfile.TemporaryDirectory() as folder:
        options = dict(verbose=0, epochs=3)
        try:
            fit(folder, {}, stop_after=14, backup={"save_freq": 1}, **options)
        except Broken:
            pass
        model, log = net(), {}
        own = infeed.keras.BackupAndRestore(os.path.join(folder, "backup"))
        keras.utils.set_random_seed(7)
        try:
            model.fit(make(), callbacks=[own, Watch({}, 1)], **options)
        except Broken:
            pass
        other = model.fit(make(), **options).epoch
        first = model.fit(make(), callbacks=[own, Watch(log)], **options).epoch
        second = model.fit(make(), callbacks=[own], **options).epoch
    return {"other": other, "first": first, "second": second, "steps": len(log), "initial": model._initial_epoch}


def same_object():
    """A callback object, model and dataset that are used again after an exception, as in a notebook."""
    keras.utils.set_random_seed(7)
    with tempfile.TemporaryDirectory() as folder:
        want_log, log = {}, {}
        want = fit(folder, want_log)
        keras.utils.set_random_seed(7)
        ds, model = make(), net()
        own = infeed.keras.BackupAndRestore(os.path.join(folder, "backup"), save_freq=1)
        try:
            model.fit(ds, epochs=3, verbose=0, callbacks=[own, Watch(log, 8)])
        except Broken:
            pass
        history = model.fit(ds, epochs=3, verbose=0, callbacks=[own, Watch(log)])
        return {"history": history.history == want["history"], "log": log == want_log,
                "variables": [digest(v) for v in model.variables] == want["variables"]}


def board(stop=9):
    """Steps that TensorBoard wrote, unbroken and in two parts."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def steps(folder):
        found = EventAccumulator(os.path.join(folder, "board", "train"), {"tensors": 0})
        found.Reload()
        return {tag: [e.step for e in found.Tensors(tag)] for tag in found.Tags()["tensors"] if "loss" in tag}

    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        fit(one, {}, callbacks=["TensorBoard"])
        try:
            fit(two, {}, callbacks=["TensorBoard"], backup={"save_freq": 3}, stop_after=stop)
        except Broken:
            pass
        fit(two, {}, callbacks=["TensorBoard"], backup={"save_freq": 3})
        return steps(one), steps(two)


def after_refusal(kind):
    """A dataset whose training was refused, for another model, is as it was: the next fit trains on all of it."""
    data = {"dataset": "Dataset", "kind": kind} if kind else {"seed": 3}
    with tempfile.TemporaryDirectory() as folder:
        try:
            fit(folder, {}, stop_after=4, data=data, backup={"save_freq": 3})
        except Broken:
            pass
        ds, logs, refused = make(**data), [{}, {}], False
        for log, own in zip(logs, ([infeed.keras.BackupAndRestore(os.path.join(folder, "backup"))], [])):
            keras.utils.set_random_seed(7)
            try:
                net(units=9).fit(ds, epochs=1, verbose=0, callbacks=[*own, Watch(log)])
            except infeed.StateMismatchError:
                refused = True
        want = {}
        keras.utils.set_random_seed(7)
        net(units=9).fit(make(**data), epochs=1, verbose=0, callbacks=[Watch(want)])
    return {"refused": refused, "before": len(logs[0]), "same": logs[1] == want}
