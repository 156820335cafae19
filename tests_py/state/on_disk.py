"""Backups that were damaged, or are kept: what a training makes of them."""

import io
import json
import os
import re
import shutil
import tempfile
import warnings
import zipfile

import keras
import numpy as np
from trainings import Broken, fit

import infeed


def damaged(how, backup, stop=7):
    """A training that is broken off and whose latest backup is damaged; how it goes on, and what from."""
    log = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        want = fit(folder, dict())
        try:
            fit(folder, log, stop_after=stop, backup=backup)
        except Broken:
            log.clear()
        kept = sorted(os.listdir(os.path.join(folder, "backup")))
        path = os.path.join(folder, "backup", kept[-1])
        with open(path, "rb") as f:
            data = bytearray(f.read())
        if how == "cut":
            data = data[:len(data) // 2]
        elif how == "empty":
            data = b""
        elif how == "version":
            data = data.replace(b'"format": 1', b'"format": 9', 1)
            data = _with_right_checksum(data)
        else:
            data[{"document": data.index(b'"epoch"') + 9, "array": data.index(b"NUMPY") + 140, "end": len(data) - 20}[how]] ^= 4
        with open(path, "wb") as f:
            f.write(data)
        kind, text, same = None, "", None
        try:
            same = fit(folder, log, backup=backup) == want
        except infeed.Error as e:
            kind, text = type(e).__name__, str(e)
    return {"type": kind, "text": text, "same": same, "first": next(iter(log), None), "kept": kept,
            "warnings": [str(w.message) for w in caught]}


def _with_right_checksum(data):
    """The zip file of changed text again, as if it had been written so."""
    document = re.search(rb'\{\n "infeed".*?\n\}\n', bytes(data), re.S)[0]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("state.json", document)
    return out.getvalue()


def kept(backup, stop=9, **options):
    """Files of a training that was broken off, and of one that ended."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "backup")
        try:
            fit(folder, {}, stop_after=stop, backup=backup, **options)
        except Broken:
            pass
        before = sorted(os.listdir(path)) if os.path.exists(path) else None
        with open(os.path.join(folder, "mine"), "w"):
            pass
        if before is not None:
            os.replace(os.path.join(folder, "mine"), os.path.join(path, "mine"))
        fit(folder, {}, backup=backup, **options)
        return {"broken": before, "ended": sorted(os.listdir(path)) if os.path.exists(path) else None}


GOLDEN = {"backup": {"save_freq": 4}, "data": {"length": 4, "seed": 3, "workers": 0, "dataset": "Shuffling"}, "epochs": 2,
          "callbacks": ["Patient"], "val": {"length": 2, "workers": 0}}


def make_golden(folder):
    """Leaves a backup in a folder, made before batch 2 of epoch 1."""
    try:
        fit(folder, {}, stop_after=7, **{**GOLDEN, "backup": {"save_freq": 6, "delete_checkpoint": False}})
    except Broken:
        pass


def from_golden(folder):
    """Goes on from a backup that is kept."""
    log, weights = {}, []

    class Look(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if not weights:
                weights.extend(keras.ops.convert_to_numpy(v) for v in self.model.weights)

    with tempfile.TemporaryDirectory() as own:
        shutil.copytree(folder, os.path.join(own, "backup"))
        name = os.path.join(own, "backup", os.listdir(folder)[0])
        kept = np.load(name)
        end = fit(own, log, more=[Look()], **GOLDEN)
        same = all(np.array_equal(kept[f"{n:05}"], w) for n, w in zip(_order(kept), weights))
    return {"first": next(iter(log)), "epochs": end["epochs"], "weights": same and len(weights) == 8}


def _order(kept):
    """Numbers of a kept backup's weights: its variables without seeds."""
    described = json.loads(kept["state.json"].decode())["variables"]["model"]
    return [n for n, d in enumerate(described) if "seed_generator" not in d["path"]]
