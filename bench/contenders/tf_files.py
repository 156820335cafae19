"""tf.data on files: TFRecord (W3) and CSV (W4), in the forms that its guides recommend.

Each round runs all forms of a figure and counts the fastest, over part of the data
where all would take too long.
"""

import itertools
import time
from contextlib import contextmanager

import tensorflow as tf

from bench import csv_rows, examples, rows

AUTO = tf.data.AUTOTUNE
FEATURES = {"x": tf.io.FixedLenFeature([64], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64),
            "name": tf.io.FixedLenFeature([], tf.string)}


def best(speeds):
    """The largest of {form: (speed, note)}."""
    form = max(speeds, key=lambda f: speeds[f][0])
    speed, note = speeds[form]
    return speed, "; ".join(filter(None, [f"fastest: {form}", note]))


def unordered(ds):
    options = tf.data.Options()
    options.deterministic = False
    return ds.with_options(options)


def _each(paths):
    ds = tf.data.TFRecordDataset(paths, num_parallel_reads=AUTO)
    ds = ds.map(lambda r: tf.io.parse_single_example(r, FEATURES), num_parallel_calls=AUTO)
    return ds.shuffle(10_000).batch(rows.BATCH).prefetch(AUTO)


def _batches(paths):
    ds = tf.data.TFRecordDataset(paths, num_parallel_reads=AUTO).shuffle(10_000).batch(rows.BATCH)
    return ds.map(lambda r: tf.io.parse_example(r, FEATURES), num_parallel_calls=AUTO).prefetch(AUTO)


PARSED = {"map(parse_single_example).shuffle.batch": _each, "shuffle.batch.map(parse_example)": _batches,
          "shuffle.batch.map(parse_example), not deterministic": lambda paths: unordered(_batches(paths))}


@contextmanager
def parsed(files=2):
    """Samples a second over the first files, read as NumPy arrays."""
    made = {form: make(examples.paths()[:files]) for form, make in PARSED.items()}

    def one(ds):
        ledger = examples.Ledger(examples.N * files // examples.FILES, 1)
        start = time.perf_counter()
        for batch in ds.as_numpy_iterator():
            ledger(batch)
        return ledger.count / (time.perf_counter() - start), ledger.note()

    yield lambda: best({form: one(ds) for form, ds in made.items()})


def _seconds(function):
    start = time.perf_counter()
    return function(), time.perf_counter() - start


@contextmanager
def counted(files=1):
    """Records a second in the first files, counted by the runtime: by reduce, and with batches as the elements."""
    paths, wanted = examples.paths()[:files], examples.N * files // examples.FILES

    def run():
        ds = tf.data.TFRecordDataset(paths)
        batches = tf.data.TFRecordDataset(paths, num_parallel_reads=AUTO).batch(1000).prefetch(AUTO)
        forms = {"reduce": lambda: ds.reduce(tf.constant(0, tf.int64), lambda n, _: n + 1),
                 "batch(1000).reduce": lambda: batches.reduce(tf.constant(0, tf.int64), lambda n, b: n + tf.size(b, tf.int64))}
        speeds = {}
        for form, function in forms.items():
            n, seconds = _seconds(lambda: int(function()))
            speeds[form] = n / seconds, "" if n == wanted else f"{n} of {wanted} records"
        return best(speeds)

    yield run


@contextmanager
def as_bytes(count=10_000):
    """Records a second as objects of bytes, over some of them."""
    paths = examples.paths()

    def run():
        forms = {"as_numpy_iterator": tf.data.TFRecordDataset(paths).take(count),
                 "batch(256)": tf.data.TFRecordDataset(paths).take(count).batch(256).prefetch(AUTO)}
        speeds = {}
        for form, ds in forms.items():
            n, seconds = _seconds(lambda: sum(1 if isinstance(r, bytes) else len(r) for r in ds.as_numpy_iterator()))
            speeds[form] = n / seconds, "" if n == count else f"{n} of {count} records"
        return best(speeds)

    yield run


TYPES = [tf.float32] * 6 + [tf.int64] * 2 + [tf.string] * 2
DEFAULTS = [[0.0]] * 6 + [tf.constant([0], tf.int64)] * 2 + [[""]] * 2


def _rows(path):
    return tf.data.experimental.CsvDataset(path, TYPES, header=True).batch(csv_rows.BATCH, num_parallel_calls=AUTO).prefetch(AUTO)


def _lines(path):
    lines = tf.data.TextLineDataset(path).skip(1).batch(csv_rows.BATCH)
    return lines.map(lambda s: tuple(tf.io.decode_csv(s, DEFAULTS)), num_parallel_calls=AUTO).prefetch(AUTO)


def _made(path):
    ds = tf.data.experimental.make_csv_dataset(path, csv_rows.BATCH, column_names=csv_rows.COLUMNS, column_defaults=TYPES, shuffle=False,
                                               num_epochs=1, prefetch_buffer_size=AUTO)
    return ds.map(lambda d: tuple(d.values()))


@contextmanager
def csv(limit):
    """Rows a second over the first `limit` batches."""
    path, known = csv_rows.path(), csv_rows.floats()
    made = {"CsvDataset.batch": _rows(path), "TextLineDataset.batch.map(decode_csv)": _lines(path), "make_csv_dataset": _made(path)}

    def one(ds):
        return csv_rows.rate(itertools.islice(ds.as_numpy_iterator(), limit), known, limit)

    yield lambda: best({form: one(ds) for form, ds in made.items()})
