"""Large arrays that __getitem__ makes lie in the slot from the start; nobody notices but the clock."""

import contextvars
import textwrap
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


MECHANICS = """
    import os
    import numpy as np
    from infeed import _batch, _slotmem

    N, SIZE = 1 << 20, 4 << 20
    fd = os.memfd_create("slots")
    os.ftruncate(fd, 2 * SIZE)
    others = os.dup(fd)
    slot = _slotmem.map_segment(fd, 2, SIZE)[1]  # takes fd
    assert type(slot) is _slotmem.Slot

    def inside(array):
        at = array.__array_interface__["data"][0] - slot.address
        return at if 0 <= at and at + array.nbytes <= SIZE else None

    def seen(at, count):
        "What another process finds in the slot."
        return np.frombuffer(os.pread(others, count, SIZE + at), "u1")
"""


@pytest.fixture
def mechanics(script):
    """Runs code that has a slot to itself."""
    return lambda code: script(textwrap.dedent(MECHANICS) + textwrap.dedent(code))


def test_arrays_of_a_batch_stay_where_they_are(mechanics):
    mechanics("""
        allocator = slot.begin()
        x, small, y = np.full(N, 7, "u1"), np.full(100, 8, "u1"), np.full(N, 9, "u1")
        assert inside(x) == 0 and inside(small) is None and inside(y) == N
        meta, size, total, fd = _batch.pack((x, small, y), allocator)
        assert fd is None and meta >= 2 * N + 100
        x[:3] = 1  # nothing of it was copied, or others would not see this
        got = _batch.unpack(bytearray(seen(0, total)), meta)
        assert got[0][:4].tolist() == [1, 1, 1, 7] and (got[1] == 8).all() and (got[2] == 9).all()
        del x, y
        slot.end()
    """)


def test_memory_that_is_free_again_is_used_again(mechanics):
    mechanics("""
        slot.begin()
        for _ in range(50):
            first, second = np.empty(2 * N, "u1"), np.empty(N, "u1")
            assert (inside(first), inside(second)) == (0, 2 * N)
            del first
            third = np.empty(N, "u1")
            assert inside(third) == 0
            assert inside(np.empty(SIZE, "u1")) is None
            del second, third
        slot.end()
        assert inside(np.empty(N, "u1")) is None  # between jobs
    """)


def test_copies_go_between_arrays_and_the_description_after_them(mechanics):
    mechanics("""
        allocator = slot.begin()
        hole, x = np.empty(N, "u1"), np.full(N, 3, "u1")
        del hole
        small = np.full(1000, 4, "u1")
        meta, size, total, fd = _batch.pack({"small": small, "x": x}, allocator)
        assert fd is None and inside(x) == N and meta >= 2 * N
        assert (seen(0, 1000) == 4).all()
        got = _batch.unpack(bytearray(seen(0, total)), meta)
        assert (got["small"] == 4).all() and (got["x"] == 3).all()
        del x
        slot.end()
    """)


def test_zeros_are_zero(mechanics):
    mechanics("""
        for _ in range(2):
            slot.begin()
            x = np.zeros(N, "u1")
            assert inside(x) == 0 and not x.any()
            x[:] = 255
            del x
            slot.end()
    """)


def test_resized_arrays_keep_what_they_held(mechanics):
    mechanics("""
        slot.begin()
        x = np.arange(N // 8)
        assert inside(x) == 0
        x.resize(N // 16)
        assert inside(x) == 0 and (x == np.arange(N // 16)).all()
        x.resize(N // 4)
        assert inside(x) is None and (x[:N // 16] == np.arange(N // 16)).all() and not x[N // 16:].any()
        assert inside(np.empty(N, "u1")) == 0  # what it left is free
        del x
        slot.end()
    """)


def test_what_is_kept_goes_on_in_memory_of_its_own(mechanics):
    """At the same address, with what it held, whatever becomes of the slot."""
    mechanics("""
        allocator = slot.begin()
        x = np.arange(N, dtype="u1")
        assert inside(x) == 0
        meta, size, total, fd = _batch.pack(x, allocator)
        before = slot.address
        slot.end()
        assert slot.address != before and inside(x) is None
        x[0] = 200
        expected = np.arange(N, dtype="u1")
        assert (seen(0, N) == expected).all()
        os.pwrite(others, bytes(N), SIZE)
        del allocator
        expected[0] = 200
        assert (x == expected).all()
        assert _slotmem.Slot.rest == 1
        slot.begin()
        assert inside(np.empty(N, "u1")) is None  # one job without
        slot.end()
        slot.begin()
        y = np.full(N, 5, "u1")
        assert inside(y) == 0 and (x == expected).all()
        del y
        slot.end()
        maps = lambda: open("/proc/self/maps").read().count("memfd:slots")
        count = maps()
        del x
        assert maps() == count - 1
    """)


def test_the_more_is_kept_the_rarer_it_is_tried(mechanics):
    mechanics("""
        placed, kept = 0, []
        for i in range(1000):
            slot.begin()
            kept.append(np.full(N // 8, i, "i2"))
            placed += inside(kept[-1]) is not None
            slot.end()
        assert placed <= 10
        assert all((x == i).all() for i, x in enumerate(kept))
        _slotmem.Slot.rest = 0
        for _ in range(2000):  # and comes back when nothing is
            slot.begin()
            slot.end()
        assert _slotmem.Slot.rested == 1
    """)


def test_many_arrays_and_many_leaves(mechanics):
    """More than the table has room for: they lie elsewhere, or are copied."""
    mechanics("""
        allocator = slot.begin()
        large = [np.full(1 << 16, i, "u1") for i in range(40)]
        small = [np.full(64 + i, i % 256, "u1") for i in range(500)]
        assert 20 < sum(inside(x) is not None for x in large) < 40
        batch = {str(i): x for i, x in enumerate(large + small)}
        meta, size, total, fd = _batch.pack(batch, allocator)
        assert fd is None
        got = _batch.unpack(bytearray(seen(0, total)), meta)
        assert list(got) == list(batch) and all((got[k] == batch[k]).all() for k in batch)
        del large, batch
        slot.end()
        assert _slotmem.Slot.rest == 0
    """)


def test_a_forked_child_keeps_what_it_saw(mechanics):
    """And writes to memory of its own, at once and in later jobs."""
    mechanics("""
        allocator = slot.begin()
        x = np.full(N, 3, "u1")
        assert inside(x) == 0
        ask, answer = os.pipe(), os.pipe()
        pid = os.fork()
        if not pid:
            os.read(ask[0], 1)
            good = (x == 3).all() and inside(np.empty(N, "u1")) is None
            x[:] = 4
            os.write(answer[1], b"y" if good else b"n")
            os._exit(0)
        x[:] = 5
        meta, size, total, fd = _batch.pack(x, allocator)
        assert fd is not None
        assert (_batch.unpack(bytearray(os.pread(fd, total, 0)), meta) == 5).all()
        del x
        slot.end(crowded=True)
        slot.memory[:] = 6
        os.write(ask[1], b"?")
        assert os.read(answer[0], 1) == b"y"
        assert os.waitpid(pid, 0)[1] == 0
        assert (seen(0, N) == 6).all()
    """)


def test_a_forked_child_gets_ordinary_memory(mechanics):
    """Also where no array lies in the slot yet, which stays its parent's."""
    mechanics("""
        slot.begin()
        pid = os.fork()
        x = np.full(N, 3, "u1")
        if not pid:
            os._exit(inside(x) is not None)
        assert os.waitpid(pid, 0)[1] == 0
        assert inside(x) == 0
        del x
        slot.end()
        assert _slotmem.Slot.rest == 0
    """)


def test_a_thread_that_writes_on_loses_nothing(mechanics):
    """It adds without the interpreter's lock while the array's memory is changed under it."""
    mechanics("""
        import threading
        for _ in range(30):
            _slotmem.Slot.rest = 0
            slot.begin()
            x = np.zeros(SIZE // 4, "u4")
            assert inside(x) == 0
            rounds, stop, going = 0, threading.Event(), threading.Event()

            def add():
                global rounds
                while not stop.is_set():
                    np.add(x, 1, out=x)
                    rounds += 1
                    going.set()

            thread = threading.Thread(target=add)
            thread.start()
            going.wait()
            slot.end()
            going.clear()
            going.wait()
            stop.set()
            thread.join()
            assert (x == rounds).all()
            del x
    """)


def test_without_the_library_or_with_an_old_numpy_arrays_are_copied(script):
    script("""
        import os
        import numpy as np
        from infeed import _slotmem
        _slotmem.HAS_HANDLERS = 1 << 30
        assert _slotmem.library.__wrapped__() is None
        _slotmem.PATH = "/nowhere/libslotmem.so"
        assert _slotmem.library() is None
        fd = os.memfd_create("slots")
        os.ftruncate(fd, 2 << 20)
        slots = _slotmem.map_segment(fd, 2, 1 << 20)
        allocator = slots[1].begin()
        slots[1].memory[:] = 3
        assert np.full(1 << 19, 1, "u1").all() and allocator.offset_of(slots[1].address, 1 << 20) == 0
        assert slots[0].memory[-1] == 0 and allocator.place(1 << 20) == 0 and allocator.place(1) is None
        slots[1].end()
    """)


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
