"""Batches from processes lie in shared memory: they are valid and unchanged as long as anything refers to them."""

import gc
import os
import signal
import weakref

import numpy as np
import pytest
from infeed import _native
from samples import Items, Made

# Below this a batch is copied out of shared memory; see _batch.COPY_BELOW.
SMALL, LARGE = 1_000, 300_000


def pattern(index, nbytes):
    return (np.arange(nbytes) * 7 + index * 31).astype("u1")


def patterned(nbytes, length, **options):
    ds = Made(lambda ds, i: (np.arange(ds.nbytes) * 7 + i * 31).astype("u1"), length, **options)
    ds.nbytes = nbytes
    return ds


@pytest.mark.parametrize("nbytes", [SMALL, LARGE])
def test_many_are_held(processes, nbytes):
    """Far more than the queue has; compared only at the end, after another whole pass."""
    with patterned(nbytes, 60, max_queue_size=3, **processes) as ds:
        held = list(ds)
        for _ in ds:
            pass
        for index, batch in enumerate(held):
            assert (batch == pattern(index, nbytes)).all()
    del held, batch, _


def test_parts_of_them_are_held(processes):
    """A view of a few bytes keeps its batch; the rest of the batch keeps nothing else."""
    with patterned(LARGE, 30, max_queue_size=2, **processes) as ds:
        held = [batch[1000:1003] for batch in ds]
        for _ in ds:
            pass
    for index, part in enumerate(held):
        assert part.tolist() == pattern(index, LARGE)[1000:1003].tolist()
    del held, part, _


@pytest.mark.parametrize("end", ["close", "collection", "a new pass"])
def test_they_outlive_their_dataset(processes, end):
    ds = patterned(LARGE, 8, **processes)
    held = list(ds)
    if end == "close":
        ds.close()
    elif end == "a new pass":
        next(iter(ds))
    ref = weakref.ref(ds)
    del ds
    gc.collect()
    assert ref() is None
    for index, batch in enumerate(held):
        assert (batch == pattern(index, LARGE)).all()
        batch[:] = 0  # they are the user's
    del held, batch


def test_memory_goes_back_when_the_last_reference_goes(processes):
    ds = patterned(LARGE, 8, **processes)
    held = list(ds)
    ds.close()
    while held:
        before = _native.alive()["mapped"]
        held.pop()
        assert _native.alive()["mapped"] <= before
    gc.collect()
    assert _native.alive()["mapped"] == 0


def test_writing_to_one_changes_no_other(processes):
    """Nor what is made later in the same memory."""
    with patterned(LARGE, 12, max_queue_size=2, **processes) as ds:
        for _ in range(3):
            held = []
            for index, batch in enumerate(ds):
                assert (batch == pattern(index, LARGE)).all()
                batch[:] = 255 - index
                held.append(batch)
                held = held[-5:]
                assert all((b == 255 - (index - len(held) + 1 + k)).all() for k, b in enumerate(held))
    del held, batch


def test_a_worker_that_dies_takes_nothing_back():
    with patterned(LARGE, 40, workers=1, use_multiprocessing=True, max_queue_size=2) as ds:
        it = iter(ds)
        held = [next(it) for _ in range(5)]
        (pid,) = workers_of(ds)
        os.kill(pid, signal.SIGKILL)
        held += list(it)
        for index, batch in enumerate(held):
            assert (batch == pattern(index, LARGE)).all()
    assert len(held) == 40
    del held, batch


def workers_of(ds):
    """Process ids of the workers, asked of the kernel."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    state, parent = f.read().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if int(parent) == os.getpid() and state != "Z":
                found.append(int(name))
    return found


def test_the_pool_of_slots_does_not_grow(processes):
    """Batches that are dropped use the same memory again, pass after pass."""
    with patterned(LARGE, 30, max_queue_size=4, **processes) as ds:
        for _ in ds:
            pass
        del _
        first = _native.alive()["mapped"]
        for _ in range(5):
            for batch in ds:
                pass
        assert _native.alive()["mapped"] <= first
        del batch


def test_ten_thousand_small_batches(script):
    """A list of them stays near their size: 10,000 x 4 KB, in every mode."""
    out = script("""
        import gc
        from samples import Items, KINDS
        def resident():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * 4096
        for name, kind in KINDS.items():
            with Items(10_000, (512,), "float64", **kind) as ds:
                next(iter(ds))
                gc.collect()
                before = resident()
                held = list(ds)
                grown = resident() - before
                assert len(held) == 10_000 and all((b == i).all() for i, b in enumerate(held))
                print(name, grown / 40.96e6)
                del held
        """)
    for line in out.splitlines():
        name, grown = line.split()
        assert float(grown) < 1.6, out


def test_batches_of_middle_size_that_are_held(script):
    """A hundred batches just large enough to be lent: what is mapped stays within a small factor."""
    out = script("""
        import os
        from infeed import _native
        from samples import Items
        with Items(100, (300_000,), "u1", workers=2, use_multiprocessing=True) as ds:
            held = list(ds)
            assert all((b == i).all() for i, b in enumerate(held))
            print(_native.alive()["mapped"] / 30e6)
        del held
        """)
    assert float(out) < 4


@pytest.mark.soak
def test_held_at_random(processes):
    """Batches of all sizes are kept and dropped at random while others are made."""
    random = np.random.default_rng(5)
    sizes = [int(10 ** random.uniform(1, 6.5)) for _ in range(300)]

    def make(ds, index):
        n = ds.sizes[index]
        out = ds.empty((n,), "u1") if index % 3 else np.empty(n, "u1")
        out[:] = (np.arange(n) * 7 + index * 31).astype("u1")
        return out

    with Made(make, 300, max_queue_size=5, **processes) as ds:
        ds.sizes = sizes
        for _ in range(3):
            held = {}
            for index, batch in enumerate(ds):
                held[index] = batch
                if len(held) > 20:
                    which = int(random.choice(list(held)))
                    assert (held.pop(which) == pattern(which, sizes[which])).all()
            for which, batch in held.items():
                assert (batch == pattern(which, sizes[which])).all()
    del held, batch


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_batches_of_threads_are_the_objects_themselves(workers):
    made = {}

    def make(ds, index):
        made[index] = np.array([index])
        return made[index]

    with Made(make, workers=workers) as ds:
        assert all(batch is made[i] for i, batch in enumerate(ds))


def test_batches_need_not_be_drawn_to_be_freed(processes):
    """A walk is left with its queue full of lent memory."""
    for _ in range(3):
        ds = Items(20, (LARGE,), "u1", max_queue_size=10, **processes)
        next(iter(ds))
        del ds
        gc.collect()
