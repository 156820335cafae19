"""infeed.keras.PyDataset, read as fit reads it."""

from contextlib import contextmanager

import infeed.keras
from bench import batches
from bench.contenders import keras_reading


class Data(batches.Batches, infeed.keras.PyDataset):
    pass


class Training(keras_reading.Labelled, Data):
    pass


@contextmanager
def loop(n, workers=2, processes=False, **options):
    """Batches a second through Keras's own epoch iterator."""
    with Data(n, workers=workers, use_multiprocessing=processes, **options) as ds:
        reading = keras_reading.AsFit(ds)
        yield lambda: batches.rate(reading, n)


@contextmanager
def epoch_end(workers, processes=False, n=20, epochs=8):
    """Milliseconds between two epochs of a fit."""
    with Training(n, "float32", batches.SMALL, workers=workers, use_multiprocessing=processes) as ds:
        model = keras_reading.tiny_model()
        yield lambda: keras_reading.epoch_end(model, ds, epochs)
