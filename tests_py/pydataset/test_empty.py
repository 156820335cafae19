"""self.empty: arrays that lie where the batch goes."""

import infeed
import numpy as np
import pytest
from samples import Made

SHAPES = [((3, 4), "float32"), (5, "int16"), ((), "float64"), ((0, 3), "u1"), ((2, 0), "f4"),
          ((500, 500), "float32"), ((7,), "S4"), ((7,), "M8[s]"), ((3,), [("a", "i4"), ("b", "f8", 2)])]


@pytest.mark.parametrize("shape, dtype", SHAPES, ids=str)
def test_shapes_and_dtypes(shape, dtype):
    """Filled and returned, it arrives so; in every mode."""
    def make(ds, index):
        out = ds.empty(shape, dtype)
        assert out.flags.writeable and out.flags.c_contiguous
        out.view("u1") if out.ndim and out.size else None
        out[...] = np.zeros(out.shape, out.dtype) if out.dtype.names else np.asarray(index).astype(out.dtype)
        return out

    for kind in (dict(workers=0), dict(workers=2), dict(workers=2, use_multiprocessing=True)):
        with Made(make, 6, **kind) as ds:
            for _ in range(2):
                for index, got in enumerate(ds):
                    expected = np.zeros(shape, dtype)
                    if not expected.dtype.names:
                        expected[...] = np.asarray(index).astype(expected.dtype)
                    assert got.dtype == expected.dtype and got.shape == expected.shape
                    assert got.tobytes() == expected.tobytes()
        del got


def test_default_dtype_is_float32():
    assert Made(None, workers=0).empty((2, 3)).dtype == np.float32


def test_it_lies_in_the_slot(processes):
    """From the second batch on, when the size of batches is known: the worker copies nothing."""
    def make(ds, index):
        out = ds.empty((400, 400), "float64")
        out[:] = index
        base = out
        while isinstance(base, np.ndarray) and base.base is not None:
            base = base.base
        return {"x": out, "in slot": np.array([type(base).__name__ != "ndarray"])}

    with Made(make, 12, **processes) as ds:
        list(ds)
        for index, got in enumerate(ds):
            assert got["in slot"][0]
            assert (got["x"] == index).all()
    del got


def test_several_of_them_and_other_arrays(kind):
    def make(ds, index):
        a, b = ds.empty((300, 300), "float32"), ds.empty((10,), "int64")
        a[:], b[:] = index, -index
        return {"a": a, "b": b, "other": np.full((50_000,), 2 * index), "part": a[5:7], "turned": a[:3].T}

    with Made(make, 8, **kind) as ds:
        for _ in range(2):
            for index, got in enumerate(ds):
                assert (got["a"] == index).all() and (got["b"] == -index).all()
                assert (got["other"] == 2 * index).all() and got["other"].shape == (50_000,)
                assert got["part"].shape == (2, 300) and (got["part"] == index).all()
                assert got["turned"].shape == (300, 3) and (got["turned"] == index).all()
    del got


def test_one_that_is_not_returned(kind):
    """Scratch memory: what is returned arrives."""
    def make(ds, index):
        scratch = ds.empty((100_000,), "float32")
        scratch[:] = -1
        return scratch[:10].copy() + index

    with Made(make, 8, **kind) as ds:
        assert [b[0] for b in ds] == [i - 1 for i in range(8)]


def test_more_than_the_slot_holds(processes):
    """The first batches are small, later ones many times as large."""
    def make(ds, index):
        out = ds.empty((10 ** (1 + index),), "float32")
        out[:] = index
        return out

    with Made(make, 6, **processes) as ds:
        for _ in range(2):
            assert [(b.shape, float(b[0]), float(b[-1])) for b in ds] == [((10 ** (1 + i),), i, i) for i in range(6)]


def test_one_that_is_kept(processes):
    """Its memory goes on to somebody else, so keeping it is an error, at its batch."""
    def make(ds, index):
        out = ds.empty((1000,), "float32")
        out[:] = index
        if index == 5:
            ds.kept = out
        return out

    with Made(make, **processes) as ds:
        ds.kept = None
        it = iter(ds)
        got = [float(next(it)[0]) for _ in range(5)]
        with pytest.raises(infeed.InvalidArgumentError, match=r"self.empty\(\).*__getitem__\(5\)"):
            next(it)
    assert got == [0, 1, 2, 3, 4]


def test_one_in_a_cycle_is_not_kept(processes):
    def make(ds, index):
        out = ds.empty((1000,), "float32")
        out[:] = index
        cycle = [out]
        cycle.append(cycle)
        return out

    with Made(make, **processes) as ds:
        for _ in range(2):
            assert [float(b[0]) for b in ds] == list(range(8))


def test_outside_a_batch(kind):
    with Made(None, **kind) as ds:
        out = ds.empty((2, 3), "int8")
    assert type(out) is np.ndarray and (out.shape, out.dtype) == ((2, 3), np.int8)


@pytest.mark.parametrize("shape, dtype", [((-1,), "f4"), ("ab", "f4"), ((2,), "no such type")], ids=str)
def test_nonsense(kind, shape, dtype):
    with Made(lambda ds, i: ds.empty(shape, dtype), **kind) as ds:
        with pytest.raises((ValueError, TypeError)):
            next(iter(ds))


@pytest.mark.parametrize("shape", [np.int64(5), (np.uint8(200), 3), (np.int32(100_000), np.int32(3)), [2, 3]],
                         ids=str)
def test_shapes_of_other_integers(kind, shape):
    """As np.empty takes them."""
    def make(ds, index):
        out = ds.empty(shape, "float32")
        out[...] = index
        return out

    with Made(make, 3, **kind) as ds:
        assert [b.shape for b in ds] == [np.empty(shape).shape] * 3
