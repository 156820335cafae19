"""infeed's shuffled batches (W2's narrow rows) as they come out of its adapters, but torch's."""

from contextlib import contextmanager

import numpy as np

import infeed
from bench import rows


def dataset(passes):
    """Passes over the rows as one, in batches."""
    x, y = rows.arrays("narrow")
    return infeed.Dataset.from_tensor_slices((x, y)).shuffle(seed=1).repeat(passes).batch(rows.BATCH), len(y)


@contextmanager
def as_numpy_iterator(passes):
    """Rows a second as NumPy arrays."""
    ds, n = dataset(passes)
    yield lambda: rows.rate(ds.as_numpy_iterator(), n, passes)


@contextmanager
def to_keras(passes):
    """Rows a second as fit gets them."""
    from bench.contenders import keras_reading

    ds, n = dataset(passes)
    adapter = ds.to_keras()
    reading = keras_reading.AsFit(adapter)
    yield lambda: rows.rate(reading, n, passes)


@contextmanager
def to_jax(passes):
    """Rows a second as arrays on JAX's default device; the check looks at them as NumPy arrays."""
    ds, n = dataset(passes)
    yield lambda: rows.rate((tuple(map(np.asarray, batch)) for batch in ds.to_jax()), n, passes)
