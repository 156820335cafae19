"""The same text on tf.data and on infeed gives the same elements."""

import collections

import numpy as np
import pytest

import infeed


@pytest.fixture(scope="module")
def tf():
    """TensorFlow, imported when the first of these tests runs: it takes seconds."""
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed")


X = np.arange(60, dtype=np.float32).reshape(20, 3)
Y = np.arange(20)

PIPELINES = [
    lambda data, D: D.from_tensor_slices(data),
    lambda data, D: D.from_tensor_slices(data).batch(6),
    lambda data, D: D.from_tensor_slices(data).batch(6, drop_remainder=True).repeat(2),
    lambda data, D: D.from_tensor_slices(data).repeat(2).batch(7).take(4).skip(1),
    lambda data, D: D.from_tensor_slices(data).shard(3, 1).batch(2).take(2).batch(2),
    lambda data, D: D.from_tensor_slices(data).shuffle(1).batch(6),
    lambda data, D: D.from_tensor_slices(data).take(0).repeat(),
    lambda data, D: D.from_tensor_slices(data).repeat().skip(5).take(50).batch(8),
]

DATA = {
    "array": X, "tuple": (X, Y), "dict": {"x": X, "a": Y}, "numbers": list(range(12)), "floats": ([0.5] * 12, [True] * 12),
    "text": (["a", "bb", "h\u00e9", ""] * 3, np.array([b"1", b"22", b"3"] * 4)),
    "nested": {"b": (X, {"c": Y}), "a": collections.namedtuple("P", "u v")(Y, X)},
}


def same(a, b):
    if isinstance(a, tuple):
        assert type(a).__name__ == type(b).__name__ and len(a) == len(b)
        return all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    assert np.asarray(a).dtype.kind == np.asarray(b).dtype.kind and np.shape(a) == np.shape(b)
    if not isinstance(a, bytes):
        assert a.dtype == b.dtype
    return np.array_equal(a, b)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("number", range(len(PIPELINES)))
def test_elements(tf, name, number):
    ours = PIPELINES[number](DATA[name], infeed.Dataset)
    theirs = PIPELINES[number](DATA[name], tf.data.Dataset)
    a, b = list(ours.as_numpy_iterator()), list(theirs.as_numpy_iterator())
    assert len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    assert ours.cardinality() == theirs.cardinality().numpy()
    specs = tf.nest.flatten(theirs.element_spec)
    assert [s.shape for s in tf.nest.flatten(ours.element_spec)] == [tuple(s.shape) for s in specs]


def test_shuffles_have_the_same_elements(tf):
    def multiset(D):
        ds = D.from_tensor_slices((X, Y)).shuffle(100, seed=1).repeat(2).batch(8)
        return sorted(y for batch in ds.as_numpy_iterator() for y in batch[1].tolist())
    assert multiset(infeed.Dataset) == multiset(tf.data.Dataset)
