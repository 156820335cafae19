"""Stock keras.utils.PyDataset, read as fit reads it."""

from contextlib import contextmanager

import keras
from bench import batches
from bench.contenders import keras_reading


PASS = 50  # batches, where only the first one counts


class Data(batches.Batches, keras.utils.PyDataset):
    pass


class Training(keras_reading.Labelled, Data):
    pass


@contextmanager
def loop(n, workers=2, processes=False, **options):
    """Batches a second through Keras's own epoch iterator."""
    ds = Data(n, workers=workers, use_multiprocessing=processes, **options)
    reading = keras_reading.AsFit(ds)
    yield lambda: batches.rate(reading, n)


@contextmanager
def batch_microseconds(n, workers=2):
    """Time of a small batch."""
    reading = keras_reading.AsFit(Data(n, workers=workers, shape=batches.SMALL))

    def run():
        speed, note = batches.rate(reading, n)
        return 1e6 / speed, note

    yield run


@contextmanager
def first_wait(workers=2, processes=False):
    """Milliseconds to the first batch of an epoch; each starts its workers anew."""
    reading = keras_reading.AsFit(Data(PASS, workers=workers, use_multiprocessing=processes))
    yield lambda: batches.first_wait(reading, PASS)


@contextmanager
def killed(n):
    """The longest wait for a batch of an epoch in which a working process is killed."""
    yield lambda: batches.longest_wait(keras_reading.AsFit(
        Data(n, workers=2, use_multiprocessing=True, work="python", seconds=0.01)), n, kill=True)


@contextmanager
def epoch_end(workers, processes=False, n=20, epochs=8):
    """Milliseconds between two epochs of a fit."""
    ds = Training(n, "float32", batches.SMALL, workers=workers, use_multiprocessing=processes)
    model = keras_reading.tiny_model()
    yield lambda: keras_reading.epoch_end(model, ds, epochs)
