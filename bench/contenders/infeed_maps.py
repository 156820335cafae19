"""infeed's map: traced, as Python, in processes; and long definitions."""

import time
from contextlib import contextmanager

import infeed
from bench import functions, numbers, rows


def add_one(x):
    return x + 1


@contextmanager
def mapped(size, count, last=False):
    """Elements a second of `count` batches of a size; last: the map comes after the batch."""
    ds = infeed.Dataset.range(size * count)
    ds = ds.batch(size).map(add_one) if last else ds.map(add_one).batch(size)
    yield lambda: numbers.rate(ds, size, count)


def doubled(x, y):
    return x * 2 + 1, y


@contextmanager
def rows_through_map(passes, place):
    """Rows a second of W2's narrow rows, shuffled, with x * 2 + 1 before the batch, after it, or not ("")."""
    x, y = rows.arrays("narrow")
    ds = infeed.Dataset.from_tensor_slices((x, y)).shuffle(seed=1).repeat()
    ds = {"before": lambda: ds.map(doubled).batch(rows.BATCH), "after": lambda: ds.batch(rows.BATCH).map(doubled),
          "": lambda: ds.batch(rows.BATCH)}[place]()
    iterator = iter(ds)
    count = len(y) * passes // rows.BATCH
    wanted = {"factor": 2, "offset": 1} if place else {}
    yield lambda: rows.rate((next(iterator) for _ in range(count)), len(y), passes, **wanted)


@contextmanager
def untraced(n, **options):
    """Microseconds an element of a map whose function needs Python."""
    ds = infeed.Dataset.range(n).map(functions.halved, **options)
    yield lambda: functions.microseconds(ds, n)


@contextmanager
def untraced_lengths(n):
    """The same where the shapes of elements differ; they lie in memory."""
    ds = infeed.Dataset.from_generator(functions.vectors, output_signature=infeed.TensorSpec((None,), "int64"), args=(n,)).cache()
    for _ in ds:
        pass
    ds = ds.map(functions.length)
    yield lambda: functions.microseconds_of_lengths(ds, n)


@contextmanager
def worked(n, **options):
    """Elements a second of a map whose function works for a millisecond."""
    ds = infeed.Dataset.range(n).map(functions.working, **options)
    yield lambda: functions.rate(ds, n)


UNITS = 24  # of 8 operations; with the range and a last one for batches and 6 for nothing there are 200


@contextmanager
def definition():
    """Milliseconds to define 200 operations, 24 of them maps, to start them and to get the first element."""
    def run():
        start = time.perf_counter()
        ds = infeed.Dataset.range(10_000)
        for _ in range(UNITS):
            ds = ds.map(add_one).skip(1).repeat(2).take(9_000).batch(4, drop_remainder=True).unbatch().prefetch(1).shard(1, 0)
        for _ in range(6):
            ds = ds.prefetch(1)
        it = iter(ds.batch(2))
        first = next(it)
        seconds = time.perf_counter() - start
        it.close()
        return 1e3 * seconds, "" if first.tolist() == [2 * UNITS, 2 * UNITS + 1] else f"the first batch is {first}"

    yield run
