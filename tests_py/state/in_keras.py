"""What infeed uses of Keras that is not public, and what it takes for the state of callbacks."""

import sys
import tempfile

import keras
import numpy as np
from trained_on import make
from trainings import Broken, extra, fit, net

import infeed.keras
from infeed import _callback_state, _fit


def private_names():
    """Names that `_fit` uses, as far as they are there."""
    found = {"steps": [], "seen": []}

    class Look(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            frame = sys._getframe()
            while frame.f_code.co_name != "fit" or "epoch_iterator" not in frame.f_locals:
                frame = frame.f_back
            local = frame.f_locals
            it = local["epoch_iterator"]
            found["locals"] = sorted({"epoch_iterator", "callbacks", "epochs", "initial_epoch"} & local.keys())
            found["iterator"] = [n for n in ("_current_iterator", "_enumerate_iterator", "_get_iterator", "_num_batches", "_steps_seen",
                                             "data_adapter", "steps_per_epoch", "steps_per_execution") if hasattr(it, n)]
            found["list"] = [n for n in ("callbacks",) if isinstance(getattr(local["callbacks"], n), list)]
            found["model"] = [n for n in ("_initial_epoch", "stop_training") if hasattr(self.model, n)]
            given = type(it)._enumerate_iterator

            def steps():
                for begin, end, iterator in given(it):
                    found["steps"].append((begin, end))
                    found["seen"].append(it._steps_seen)
                    yield begin, end, iterator

            it._enumerate_iterator = steps

    net().fit(make(), verbose=0, callbacks=[Look()])
    return found


# Attributes that training changes and that are no state: set anew for each fit, epoch or batch, or found from the rest.
NO_STATE = {"monitor_op", "min_delta", "_current_epoch", "_model", "_params", "params", "model", "validation_data", "_should_write_train_graph"}


def changed_attributes():
    def values(c):
        return {k: (list(v) if isinstance(v, list) else v) for k, v in vars(c).items()}

    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("EarlyStopping", "Patient", "ReduceLROnPlateau", "ModelCheckpoint", "Best"):
            keras.utils.set_random_seed(1)
            callback, = extra([name], folder)
            first = []
            begin = keras.callbacks.LambdaCallback(on_train_begin=lambda logs: first.append(values(callback)))
            net().fit(make(), validation_data=make(length=2), epochs=4, verbose=0, callbacks=[callback, begin])
            before, after = first[0], values(callback)
            changed = {k for k in after if k not in before or after[k] is not before[k] and not _same(after[k], before[k])}
            listed = set(_callback_state.attributes_of(callback))
            out[name] = {"not listed": sorted(changed - listed - NO_STATE), "missing": sorted(k for k in listed if k not in after)}
    return out


def _same(a, b):
    if isinstance(a, (list, np.ndarray)) or isinstance(b, (list, np.ndarray)):
        return False
    return a == b


def unknown_keras():
    class Renamed(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            frame = sys._getframe()
            while "epoch_iterator" not in frame.f_locals:
                frame = frame.f_back
            it = frame.f_locals["epoch_iterator"]
            it.seen = it.__dict__.pop("_steps_seen")

    with tempfile.TemporaryDirectory() as folder:
        net().fit(make(), verbose=0, callbacks=[Renamed(), infeed.keras.BackupAndRestore(folder)])


def unseeded():
    """The generator that Keras's random functions use without a seed goes on too."""
    class Draw(keras.callbacks.Callback):
        drawn = None

        def on_train_batch_begin(self, batch, logs=None):
            Draw.drawn = keras.ops.convert_to_numpy(keras.random.uniform((2,))).tolist()

    ends = []
    for stop in (None, 5):
        with tempfile.TemporaryDirectory() as folder:
            try:
                fit(folder, {}, stop_after=stop, backup={"save_freq": 2}, epochs=2, more=[Draw()])
            except Broken:
                keras.random.uniform((2,))
                fit(folder, {}, backup={"save_freq": 2}, epochs=2, more=[Draw()])
        ends.append(Draw.drawn)
    return {"same": ends[0] == ends[1], "made": _fit.global_seed_generator(make=False) is not None}
