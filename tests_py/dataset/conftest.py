"""What the tests of infeed.Dataset share."""

import numpy as np
import pytest

import infeed


@pytest.fixture
def pairs():
    """make(n): the dataset of pairs (row of 3 float32, int64 number)."""
    def make(n):
        return infeed.Dataset.from_tensor_slices((np.arange(3 * n, dtype=np.float32).reshape(n, 3), np.arange(n)))
    return make


def with_workers(ds, n):
    options = infeed.Options()
    options.threading.private_threadpool_size = n
    return ds.with_options(options)


def numbers(elements):
    """The int64 numbers in pairs or batches of them, flat."""
    out = []
    for x, y in elements:
        np.testing.assert_array_equal(np.reshape(x, (-1, 3))[:, 0], 3 * np.reshape(y, -1))
        out += np.reshape(y, -1).tolist()
    return out
