"""How a PyDataset is driven the way Keras does, for infeed's and for stock ones alike."""

import statistics
import time

import keras
from keras.src.trainers.epoch_iterator import EpochIterator

from bench import batches


class AsFit:
    """Reads a dataset through what fit reads with, one epoch a call, without a model."""

    def __init__(self, ds):
        self.epoch = EpochIterator(x=ds, shuffle=False)

    def __iter__(self):
        for _, _, few in self.epoch:
            yield from few


class Gaps(keras.callbacks.Callback):
    """Milliseconds from the last step of an epoch to the first one of the next."""

    def __init__(self):
        super().__init__()
        self.last, self.gaps, self.fresh = None, [], False

    def on_epoch_begin(self, epoch, logs=None):
        self.fresh = True

    def on_train_batch_end(self, batch, logs=None):
        now = time.perf_counter()
        if self.fresh and self.last is not None:
            self.gaps.append(1e3 * (now - self.last))
        self.fresh, self.last = False, now


def tiny_model():
    model = keras.Sequential([keras.Input(batches.SMALL[1:]), keras.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    return model


class Labelled:
    """Gives batches that a model can be fitted on: small, of floats."""

    def __getitem__(self, index):
        x, _ = super().__getitem__(index)
        return x, x[:, :1]


def epoch_end(model, ds, epochs):
    """Median over a fit of the time between two epochs, first step of the next included."""
    gaps = Gaps()
    model.fit(ds, epochs=epochs, verbose=0, shuffle=False, callbacks=[gaps])
    return statistics.median(gaps.gaps[1:])
