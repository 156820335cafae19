"""Large arrays that __getitem__ makes lie in the slot from the start; nobody notices but the clock."""

import contextvars
import threading

import numpy as np
import pytest
from infeed import _slotmem
from samples import Made

N = 200_000  # int32 of these are large, and small ones are copied


def in_slot(array):
    """True if memory of other processes too begins where the array does."""
    address = array.__array_interface__["data"][0]
    with open("/proc/self/maps") as maps:
        for line in maps:
            places, flags, *_ = line.split()
            start, end = (int(p, 16) for p in places.split("-"))
            if start <= address < end:
                return flags == "rw-s"
    raise AssertionError("the array is nowhere")


def eager():
    """Undoes what earlier jobs were careless with."""
    _slotmem.Slot.rest, _slotmem.Slot.rested = 0, 1


def scribble(batch):
    """What the user may do to a batch."""
    for array in batch.values() if isinstance(batch, dict) else batch:
        array[...] = 77


def walk(ds, check, passes=3):
    """check(index, batch) for every batch, each of which is then overwritten."""
    for _ in range(passes):
        for index, batch in enumerate(ds):
            check(index, batch)
            scribble(batch)


@pytest.fixture
def one():
    return dict(workers=1, use_multiprocessing=True)


def returned_as_it_is(x):
    return x


def halves(x):
    return x[:N // 2], x[N // 2:]


def read_only(x):
    x.flags.writeable = False
    return x


SHAPES = {
    "itself": returned_as_it_is,
    "as halves": halves,
    "turned": lambda x: x.reshape(400, -1).T,
    "read-only": read_only,
    "its bytes": lambda x: x.view("u1"),
    "from the middle": lambda x: x[1000:-1000],
}


@pytest.mark.parametrize("how", SHAPES)
def test_what_lies_in_the_slot_is_not_copied(processes, how):
    """Once the size of batches is known, the batch is the memory that NumPy was given."""
    give = SHAPES[how]

    def make(ds, index):
        x = np.arange(index, index + N, dtype="int32")
        there = in_slot(x)
        out = give(x)
        return (*(out if isinstance(out, tuple) else (out,)), np.full(1, there))

    with Made(make, 8, **processes) as ds:
        def check(index, batch):
            expected = give(np.arange(index, index + N, dtype="int32"))
            for got, want in zip(batch, expected if isinstance(expected, tuple) else (expected,)):
                assert got.shape == want.shape and got.dtype == want.dtype and (got == want).all()
                assert got.flags.writeable

        walk(ds, check, 2)
        assert all(batch[-1][0] for batch in ds)


def test_batches_that_share_memory_with_themselves(processes):
    """Their user may write to one array and finds the other unchanged."""
    def make(ds, index):
        x = np.full(N, index, "int32")
        return (x, x[:N // 2]) if index % 2 else (x[N // 3:], x[:N // 2])

    def check(index, batch):
        batch[0][...] = -1
        assert (batch[1] == index).all()

    with Made(make, 9, **processes) as ds:
        walk(ds, check)


def test_arrays_kept_for_later(one):
    """In attributes, globals, cycles and exceptions; some of them returned, all of them changed by their user."""
    def make(ds, index):
        eager()
        for value, array in ds.kept:
            assert (np.asarray(array) == value).all()
        x, y = np.full(N, index, "int32"), np.full(N, -index, "int32")
        ds.placed += in_slot(x)
        kind = index % 5
        if kind == 0:
            ds.kept.append((index, x))
        elif kind == 1:
            ds.kept.append((-index, y[N // 2:]))
        elif kind == 2:
            cycle = [x]
            cycle.append(cycle)
        elif kind == 3:
            def fail():
                z = np.full(N // 2, 3 * index, "int32")
                ds.kept.append((3 * index, memoryview(z)))
                raise KeyError(index)
            try:
                fail()
            except KeyError as e:
                ds.error = e
        del ds.kept[:-6]
        return x, y, np.full(1, ds.placed)

    def check(index, batch):
        assert (batch[0] == index).all() and (batch[1] == -index).all()

    with Made(make, 40, **one) as ds:
        ds.kept, ds.placed = [], 0
        walk(ds, check)
        assert next(iter(ds))[2][0] > 50


def test_an_exception_that_keeps_an_array(one):
    """The one that ends the job; its frames live on with it."""
    def make(ds, index):
        eager()
        if ds.kept is not None:
            last = ds.kept.__traceback__
            while last.tb_next:
                last = last.tb_next
            assert (last.tb_frame.f_locals["x"] == 3).all()
        x = np.full(N, index, "int32")
        if index == 3:
            assert in_slot(x)
            ds.kept = ValueError("three")
            explode(ds.kept, x)
        return x

    def explode(error, x):
        raise error

    with Made(make, 8, **one) as ds:
        ds.kept = None
        walk_to = iter(ds)
        for index in range(3):
            assert (next(walk_to) == index).all()
        with pytest.raises(ValueError, match="three"):
            next(walk_to)
        for index in range(4, 8):
            batch = next(walk_to)
            assert (batch == index).all()
            batch[...] = 77
        del batch


def test_threads_that_make_arrays_for_the_batch(processes):
    """They get ordinary memory, also those that run in a copy of the job's context."""
    def make(ds, index):
        made = {}

        def work(name, value):
            made[name] = np.full(N, value, "int32")
            made[name + " in slot"] = np.full(1, in_slot(made[name]))

        threads = [threading.Thread(target=work, args=("a", index)),
                   threading.Thread(target=contextvars.copy_context().run, args=(work, "b", -index))]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return made

    def check(index, batch):
        assert (batch["a"] == index).all() and (batch["b"] == -index).all()
        assert not batch["a in slot"][0] and not batch["b in slot"][0]

    with Made(make, 8, **processes) as ds:
        walk(ds, check)


def test_batches_that_outgrow_their_slots(one):
    """Slots are cut anew; what was kept of older ones stays."""
    def make(ds, index):
        eager()
        for value, array in ds.kept:
            assert (array == value).all()
        x = np.full(N << index, index, "int32")
        ds.kept = [*ds.kept[-3:], (index, x[:1000]), (index, np.full(N, index, "int32"))]
        return x

    with Made(make, 5, **one) as ds:
        ds.kept = []
        for _ in range(3):
            for index, x in enumerate(ds):
                assert x.shape == (N << index,) and (x == index).all()
                x[...] = 77
                del x


def test_any_program(one):
    """Arrays of all sizes come, go, are kept, are returned whole or in part; all of them hold what was put there."""
    def make(ds, index):
        if index % 4:
            eager()
        rng, live = ds.rng, []
        for array, value in ds.kept:
            assert (array == value).all()
        for step in range(int(rng.integers(2, 20))):
            size = int(rng.integers(1, 1 << rng.integers(4, 20)))
            value = int(rng.integers(1 << 15))
            make_one = (np.full, lambda n, v, t: np.zeros(n, t) + t(v), lambda n, v, t: ds.empty(n, t))[rng.integers(3)]
            array = make_one(size, value, np.int16)
            array[...] = value
            live.append((array, value, make_one is not np.full))
            if rng.random() < 0.4:
                del live[int(rng.integers(len(live)))]
            for array, value, _ in live:
                assert (array == value).all()
            del array
        for array, value, maybe_empty in live:
            if not maybe_empty and rng.random() < 0.2:
                ds.kept.append((array, value))
        del ds.kept[:-8]
        batch, values = {}, []
        for i, (array, value, _) in enumerate(live):
            if rng.random() < 0.7:
                start = int(rng.integers(array.size)) if rng.random() < 0.3 else 0
                batch[str(i)] = array[start:]
                values.append(value)
        return {**batch, "values": np.array(values, int)}

    def check(index, batch):
        values = batch["values"]
        assert len(values) == len(batch) - 1
        for (name, array), value in zip(batch.items(), values):
            assert (array == value).all(), (index, name)

    with Made(make, 60, seed=5, **one) as ds:
        ds.kept = []
        walk(ds, check)


def test_a_lent_context_is_no_trap(one):
    """A generator that goes on in later jobs, a pool of threads that outlives its job, a context of no variables."""
    from concurrent.futures import ThreadPoolExecutor

    def make(ds, index):
        eager()
        if ds.pool is None:
            ds.pool = ThreadPoolExecutor(1)
            ds.running = numbers()
        ahead, ds.ahead = ds.ahead, ds.pool.submit(np.full, N, index, "int32")
        x = np.empty(N, "int32")
        ds.writing = ds.pool.submit(np.copyto, x, index)  # done before or after this job ends
        y = next(ds.running)
        z = contextvars.Context().run(np.full, N, index)
        assert ahead is None or len(set(ahead.result())) == 1
        ds.written, written = (x, index, ds.writing), ds.written
        if written is not None:
            written[2].result()
            assert (written[0] == written[1]).all()
        return y, z

    def numbers():
        i = 0
        while True:
            x = np.full(N, i, "int32")
            yield x
            assert (x == i).all()
            i += 1

    def check(index, batch):
        assert len(set(batch[0])) == 1 and (batch[1] == index).all()

    with Made(make, 10, **one) as ds:
        ds.pool = ds.running = ds.ahead = ds.writing = ds.written = None
        walk(ds, check)
