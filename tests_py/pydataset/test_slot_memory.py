"""NumPy's allocator in a slot by itself: what it gives, takes back, and lets others see. test_slotmem.py has it in workers."""

import textwrap

import pytest


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
