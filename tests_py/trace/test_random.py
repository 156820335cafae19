"""infeed.random: numbers that are a function of seed, pass and element, and their distributions."""

import numpy as np
import pytest

import infeed
from infeed import _program
from test_operations import traced

ROWS = 2000


def drawn(function, arguments=("i8[]",), rows=ROWS, seed=(1,), first=0):
    program, _ = traced(function, arguments)
    assert not isinstance(program, str), program
    columns = [np.zeros((rows, *(int(n) for n in a[a.index("[") + 1:-1].split(",") if n)), a[:a.index("[")]) for a in arguments]
    return _program.results(program.document, program.specs, columns, rows=rows, seed=seed, first=first)


def test_elements_can_be_made_alone():
    def function(i):
        return infeed.random.uniform((3,)), infeed.random.normal(), infeed.random.integers(100), infeed.random.shuffle(np.arange(9))

    whole = drawn(function)
    for at in (0, 7, 1999):
        for a, b in zip(whole, drawn(function, rows=1, first=at)):
            assert (a[at] == b[0]).all()
    assert not (drawn(function, seed=(2,))[0] == whole[0]).any()


def test_operations_and_seeds_differ():
    a, b = drawn(lambda i: (infeed.random.uniform(), infeed.random.uniform()))
    assert not (a == b).any()
    a, b, c = drawn(lambda i: (infeed.random.uniform(seed=1), i, infeed.random.uniform(seed=2)))
    assert not (a == c).any()
    assert (drawn(lambda i: infeed.random.uniform(seed=1))[0] == a).all()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_uniform(dtype):
    x, = drawn(lambda i: infeed.random.uniform((10,), -2, 3, dtype))
    assert x.dtype == dtype and x.shape == (ROWS, 10)
    assert x.min() >= -2 and x.max() <= 3
    counts, _ = np.histogram(x.astype("f8"), 10, (-2, 3))
    assert np.abs(counts - ROWS).max() < 6 * np.sqrt(ROWS)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_normal(dtype):
    x, = drawn(lambda i: infeed.random.normal((10,), 5, 2, dtype))
    z = (x.astype("f8") - 5) / 2
    assert x.dtype == dtype and abs(z.mean()) < 0.04 and abs(z.std() - 1) < 0.03
    assert abs((np.abs(z) < 1).mean() - 0.6827) < 0.02 and np.isfinite(z).all() and np.abs(z).max() > 3


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_integers(dtype):
    x, = drawn(lambda i: infeed.random.integers(3, 9, (5,), dtype))
    assert x.dtype == dtype and sorted(set(x.ravel().tolist())) == [3, 4, 5, 6, 7, 8]
    info = np.iinfo(dtype)
    x, = drawn(lambda i: infeed.random.integers(info.min, int(info.max) + 1, (5,), dtype))
    assert abs((x > info.max // 2 + info.min // 2).mean() - 0.5) < 0.05


def test_shuffle():
    x, = drawn(lambda i: infeed.random.shuffle(np.arange(4)))
    assert (np.sort(x, 1) == np.arange(4)).all()
    orders, counts = np.unique(x, axis=0, return_counts=True)
    assert len(orders) == 24 and np.abs(counts - ROWS / 24).max() < 50
    x, = drawn(lambda x: infeed.random.shuffle(x), ["f4[5,2]"])
    assert x.shape == (ROWS, 5, 2)


def test_outside_of_a_function():
    x = infeed.random.uniform((4, 2), minval=np.array([1, 2]), maxval=np.array([2, 4]), seed=33)
    assert x.dtype == np.float32 and x.shape == (4, 2) and (x >= [1, 2]).all() and (x <= [2, 4]).all()
    assert (infeed.random.uniform((4, 2), seed=34) != infeed.random.uniform((4, 2), seed=34)).all()
    assert isinstance(infeed.random.integers(5), np.int64)
    assert infeed.random.uniform(dtype="i4", maxval=3).dtype == np.int32
    assert sorted(infeed.random.shuffle([b"a", b"b"]).tolist()) == [b"a", b"b"]
    assert (infeed.random.uniform((8,)) != infeed.random.uniform((8,))).all()


@pytest.mark.parametrize("words, function", {
    "maxval is needed": lambda: infeed.random.uniform(dtype="i4"),
    "low < high": lambda: infeed.random.integers(5, 5),
    "not all": lambda: infeed.random.integers(0, 300, dtype="u1"),
    "ints are needed": lambda: infeed.random.integers(0.5),
    "single value": lambda: infeed.random.shuffle(3),
    "float16, float32 or float64": lambda: infeed.random.normal(dtype="i4"),
    "shape is -1": lambda: infeed.random.normal(-1),
    "seed is 'x'": lambda: infeed.random.normal(seed="x"),
}.items())
def test_bad_arguments(words, function):
    with pytest.raises(infeed.InvalidArgumentError, match=words):
        function()
