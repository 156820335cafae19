"""Datasets that use datasets while they make a batch, in all combinations of kinds."""

import infeed
import numpy as np
import pytest
from samples import KINDS, Items, Made, firsts


def totals(ds, index):
    return np.array([sum(firsts(ds.inner)), index])


@pytest.mark.parametrize("inner", KINDS)
def test_a_loop_inside_getitem(kind, inner):
    """Workers are started where the batch is made, and end with their process or dataset."""
    with Items(5, **KINDS[inner]) as inside, Made(totals, 3, **kind) as ds:
        ds.inner = inside
        assert [b.tolist() for b in ds] == [[10, 0], [10, 1], [10, 2]]


def test_items_of_another(kind):
    """Plain indexing: one dataset filters, scales or joins another's batches."""
    a, b = Items(6, workers=3), Items(6, dtype="float32", workers=0)
    with Made(lambda ds, i: {"a": ds.a[i], "b": ds.b[5 - i] * 2}, 6, **kind) as ds:
        ds.a, ds.b = a, b
        for index, got in enumerate(ds):
            assert got["a"].tolist() == [index] * 2 and got["b"].tolist() == [2.0 * (5 - index)] * 2


def test_itself():
    """A batch that asks the dataset for another of its own."""
    class Steps(Items):
        def __getitem__(self, index):
            return self[index - 1] + 1 if index else np.array([0])

    with Steps(workers=2) as ds:
        assert firsts(ds) == list(range(8))
    with Steps(workers=2, use_multiprocessing=True) as ds:
        assert firsts(ds) == list(range(8))


def test_self_empty_of_the_inner_one(processes):
    """While the outer one makes a batch, `inner.empty` is plain memory: it may be kept."""
    def inner(ds, index):
        out = ds.empty((1000,), "float64")
        out[:] = index
        return out

    def outer(ds, index):
        ds.kept = ds.inner[index]
        return ds.kept + 1

    with Made(outer, 4, **processes) as ds:
        ds.kept, ds.inner = None, Made(inner, 4, workers=0)
        assert firsts(ds) == [1, 2, 3, 4]


def test_a_chain(script):
    """Processes in threads in processes: all of it ends with the script."""
    assert script("""
        import numpy as np
        from samples import Items, Made
        def total(ds, i):
            return np.array([sum(int(b[0]) for b in ds.inner)])
        a = Items(4, workers=2)
        b = Made(total, 3, workers=1, use_multiprocessing=True); b.inner = a
        c = Made(total, 2, workers=1, use_multiprocessing=True); c.inner = b
        print([int(x[0]) for x in c])
        """) == "[18, 18]\n"


def test_a_loop_over_itself_inside_getitem(parallel):
    """It would need itself without end: an error, and no heap of processes."""
    class Endless(Items):
        def __getitem__(self, index):
            return np.stack(list(self))

    with Endless(2, timeout=20, **parallel) as ds:
        with pytest.raises((infeed.Error, RecursionError)):
            list(ds)
