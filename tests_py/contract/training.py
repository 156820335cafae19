"""Scenarios: training runs, and what their steps saw."""

import threading

import keras
import numpy as np
from child import describe
from datasets import MAIN, ROWS, make
from recording import Echo, Watch, net, seen


def fit(train=None, val=None, epochs=3, spe=1, seed=None, eager=False, runs=1, **options):
    """model.fit; returns the batch indices per epoch, several runs if asked."""
    out = []
    for _ in range(runs):
        if seed is not None:
            keras.utils.set_random_seed(seed)
        ds = make(**(train or {}))
        if val is not None:
            options["validation_data"] = make(**val)
        model, watch = net(spe, eager), Watch()
        model.fit(ds, epochs=epochs, verbose=0, callbacks=[watch], **options)
        out.append(seen(model, watch))
        options.pop("validation_data", None)
    return out if runs > 1 else out[0]


def unheld(options, epochs=2):
    """Datasets that nothing but Keras holds."""
    model, watch = net(), Watch()
    model.fit(make(length=5, **options), validation_data=make(length=3, **options), epochs=epochs, verbose=0,
              shuffle=False, callbacks=[watch])
    model.evaluate(make(length=4, **options), verbose=0, callbacks=[watch])
    return {**seen(model, watch), "predict": len(model.predict(make(length=2, **options), verbose=0))}


def refit(train=None, times=3, epochs=1, **options):
    """One dataset object through several fits of one model."""
    ds, model, watch = make(**(train or {})), net(), Watch()
    for _ in range(times):
        model.fit(ds, epochs=epochs, verbose=0, callbacks=[watch], **options)
    return seen(model, watch)


def evaluate(dataset=None, times=2, **options):
    ds, model, watch = make(**(dataset or {})), net(), Watch()
    for _ in range(times):
        model.evaluate(ds, verbose=0, callbacks=[watch], **options)
    return seen(model, watch)


def predict(dataset=None, rest=False, **options):
    """First two output columns and the mean column, in the order returned."""
    out = Echo(rest).predict(make(**(dataset or {})), verbose=0, **options)
    return np.asarray(out).tolist()


def loop(dataset=None, times=2):
    """Plain `for` over the dataset."""
    ds = make(**(dataset or {}))
    return [[int(b[0][0, 1]) for b in ds] for _ in range(times)]


def hooks(train=None, epochs=3, val=None, **options):
    events = []
    ds = make("Hooked", events=events, **(train or {}))
    if val is not None:
        options["validation_data"] = make("Hooked", events=events, tag="val-", **val)
    model, watch = net(), Watch(events)
    try:
        model.fit(ds, epochs=epochs, verbose=0, callbacks=[watch], **options)
    finally:
        got = seen(model, watch) if model.built else {}
    return {"events": events, **got}


def weighted(workers, processes, class_weight):
    """Loss by the dataset against the loss worked out by hand."""
    if class_weight:
        ds = make("Labelled", length=6, workers=workers, use_multiprocessing=processes)
        ids = np.arange(6 * ROWS)
        weights = np.asarray([class_weight[str(c)] for c in ids % 3])
        per_sample = (ids % 3).astype(float) ** 2
        options = {"class_weight": {int(k): v for k, v in class_weight.items()}}
    else:
        ds = make("Weighted", length=6, workers=workers, use_multiprocessing=processes)
        weights, per_sample, options = 1.0 + np.arange(6 * ROWS) % 3, np.ones(6 * ROWS), {}
    model, watch = net(), Watch()
    got = model.fit(ds, epochs=2, verbose=0, shuffle=False, callbacks=[watch],
                    **options).history["loss"]
    batches = (weights * per_sample).reshape(6, ROWS)
    return {"loss": got, "expected": float(batches.mean()), **seen(model, watch)}


def noise(epochs=2, workers=4, seed=None, runs=1, delay=0.05, length=16):
    """np.random draws trained on, one per batch, and the processes that served them."""
    out = []
    for _ in range(runs):
        if seed is not None:
            keras.utils.set_random_seed(seed)
        ds = make("Noisy", length=length, delay=delay, workers=workers, use_multiprocessing=True)
        model, watch = net(), Watch()
        model.fit(ds, epochs=epochs, verbose=0, callbacks=[watch])
        rows = sum(seen(model, watch)["rows"], [])
        pids = {int(r[0]) for r in rows}
        out.append({"draws": [r[3] for r in rows], "pids": len(pids), "main": MAIN % 1_000_000 in pids})
    return out


def unpicklable(workers=2):
    ds = make(length=6, workers=workers, use_multiprocessing=True)
    ds.hidden = lambda: None
    ds.lock = threading.Lock()
    model, watch = net(), Watch()
    model.fit(ds, epochs=2, verbose=0, shuffle=False, callbacks=[watch])
    return seen(model, watch)


def stop_and_go(train, stop_at):
    """A fit stopped from a batch callback, then a whole one with the same dataset."""
    ds, model, watch = make(**train), net(), Watch(stop_at=stop_at)
    model.fit(ds, epochs=1, verbose=0, shuffle=False, callbacks=[watch])
    watch.stop_at = None
    model.fit(ds, epochs=1, verbose=0, shuffle=False, callbacks=[watch])
    return seen(model, watch)


def until_error(train):
    model, watch = net(), Watch()
    try:
        model.fit(make(**train), epochs=1, verbose=0, shuffle=False, callbacks=[watch])
    except Exception:
        watch.train[-1] = len(model.log.read(1))
        return seen(model, watch)
    raise AssertionError("no error")


def survive(train):
    """Two epochs over a dataset whose worker dies; the error text, if any."""
    model, watch = net(), Watch()
    try:
        model.fit(make(**train), epochs=2, verbose=0, shuffle=False, callbacks=[watch])
    except Exception as e:
        return {"error": describe(e)["text"]}
    return {"error": None, **seen(model, watch)}


def attempt_unpicklable():
    try:
        return {"error": None, **unpicklable()}
    except Exception as e:
        return {"error": describe(e)["text"]}
