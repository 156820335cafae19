"""infeed on files: TFRecord (W3) and CSV (W4)."""

import itertools
import os
import time
from contextlib import contextmanager

import numpy as np

import infeed
from bench import csv_rows, examples, rows
from bench.processes import proportional_bytes

FEATURES = {"x": infeed.io.FixedLenFeature([64], "float32"), "y": infeed.io.FixedLenFeature([], "int64"),
            "name": infeed.io.FixedLenFeature([], bytes)}


def one(record):
    return infeed.io.parse_single_example(record, FEATURES)


def several(records):
    return infeed.io.parse_example(records, FEATURES)


def dataset(paths, form="map, shuffle, batch", window=10_000):
    """Shuffled batches of the examples in files; form says in which order the operations are."""
    ds = infeed.TFRecordDataset(paths)
    for step in form.split(", "):
        if step == "map":
            ds = ds.map(one)
        elif step == "shuffle":
            ds = ds.shuffle(window, seed=1)
        elif step == "batch":
            ds = ds.batch(rows.BATCH)
        else:
            ds = ds.map(several)
    return ds


@contextmanager
def parsed(passes, **options):
    """Samples a second, over `passes` times all files."""
    ds = dataset(examples.paths() * passes, **options)
    yield lambda: _rate(ds, passes)


def _rate(ds, passes):
    ledger = examples.Ledger(examples.N, passes)
    start = time.perf_counter()
    for batch in ds:
        ledger(batch)
    return ledger.count / (time.perf_counter() - start), ledger.note()


@contextmanager
def counted(passes):
    """Records a second, counted by the engine."""
    ds = infeed.TFRecordDataset(examples.paths() * passes)

    def run():
        start = time.perf_counter()
        n = int(ds.reduce(np.int64(0), lambda n, _: n + 1))
        seconds = time.perf_counter() - start
        return n / seconds, "" if n == examples.N * passes else f"{n} of {examples.N * passes} records"

    yield run


@contextmanager
def as_bytes(passes):
    """Records a second, each an object of bytes; their sizes are summed."""
    paths = examples.paths() * passes
    ds = infeed.TFRecordDataset(paths)
    sizes = sum(map(os.path.getsize, paths)) - 16 * examples.N * passes  # without the frames

    def run():
        start = time.perf_counter()
        size = sum(map(len, ds))
        seconds = time.perf_counter() - start
        return examples.N * passes / seconds, "" if size == sizes else f"{size} of {sizes} bytes"

    yield run


@contextmanager
def first_batch():
    """Milliseconds from iter() to the first batch, in a process where nothing was used before."""
    ds = dataset(examples.paths())

    def run():
        start = time.perf_counter()
        it = iter(ds)
        batch = next(it)
        waited = time.perf_counter() - start
        examples.Ledger(examples.N, 1)(batch)
        it.close()
        return 1e3 * waited

    yield run


def _resident():
    return proportional_bytes([os.getpid()]) / 1e6


@contextmanager
def memory(nbytes, every=1000, **options):
    """The most MB above those after the import of the libraries, looked at every so many batches."""
    paths = examples.paths()
    passes = max(1, nbytes // sum(map(os.path.getsize, paths)))
    start = _resident()

    def run():
        most, number, wrong = 0, 0, 0
        for batch in dataset(paths * passes, **options):
            number += len(batch["y"])
            wrong += int(batch["x"].item(0) != batch["y"].item(0) % 251)
            if number // rows.BATCH % every == 0:
                most = max(most, _resident() - start)
        good = number == examples.N * passes and not wrong
        return most, f"{number:,} samples" if good else f"{number} of {examples.N * passes} samples, {wrong} wrong"

    yield run


@contextmanager
def csv(limit=None):
    """Rows a second of the CSV file in batches."""
    types = ["float32"] * 6 + ["int64"] * 2 + [bytes] * 2
    ds = infeed.CsvDataset(csv_rows.path(), types, header=True).batch(csv_rows.BATCH)
    known = csv_rows.floats()
    yield lambda: csv_rows.rate(itertools.islice(ds, limit), known, limit)
