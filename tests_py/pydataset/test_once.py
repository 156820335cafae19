"""Every batch exactly once a pass, in order, whatever the workers, queues, errors and early ends."""

import sys
import threading

import numpy as np
import pytest
from samples import KINDS, Gate, Hooked, Items, Made, Reindexed, firsts

LIMIT = 20


@pytest.mark.parametrize("length, queue", [(0, 10), (1, 10), (2, 1), (7, 3), (40, 0), (40, 1), (40, 100)])
def test_lengths_and_queues(kind, length, queue):
    with Items(length, max_queue_size=queue, **kind) as ds:
        for _ in range(3):
            assert firsts(ds) == list(range(length))


def test_field_case_with_a_batch_looked_at_first(kind):
    """One batch is taken and dropped, as model building does; then two passes."""
    with Items(16, max_queue_size=4, **kind) as ds:
        next(iter(ds))
        assert [firsts(ds), firsts(ds)] == [list(range(16))] * 2


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_field_case_shuffled(workers):
    with Items(16, max_queue_size=4, shuffle=True, workers=workers) as ds:
        passes = [firsts(ds) for _ in range(3)]
    assert all(sorted(p) == list(range(16)) and p != list(range(16)) for p in passes)
    assert len({tuple(p) for p in passes}) == 3


def test_a_later_batch_that_is_ready_first_waits():
    """Batch 0 is made only after all others that may be made ahead are."""
    done = threading.Semaphore(0)

    def make(ds, index):
        if index == 0:
            for _ in range(3):
                assert done.acquire(timeout=LIMIT)
        else:
            done.release()
        return np.array([index])

    with Made(make, workers=4, max_queue_size=4) as ds:
        assert firsts(ds) == list(range(8))


def test_early_ends(kind):
    """A pass that is left is over; the next one is whole."""
    with Items(30, max_queue_size=4, **kind) as ds:
        for stop in (1, 5, 29, 30):
            it = iter(ds)
            assert firsts(next(it) for _ in range(stop)) == list(range(stop))
        assert firsts(ds) == list(range(30))


def test_after_an_exception_the_pass_goes_on(kind):
    def make(ds, index):
        if index in (2, 3, 7):
            raise ValueError(index)
        return np.array([index])

    with Made(make, max_queue_size=4, **kind) as ds:
        for _ in range(2):
            it, got = iter(ds), []
            for _ in range(8):
                try:
                    got += firsts([next(it)])
                except ValueError as e:
                    got.append(-e.args[0])
            assert got == [0, 1, -2, -3, 4, 5, 6, -7]
            with pytest.raises(StopIteration):
                next(it)
            with pytest.raises(StopIteration):
                next(it)


def test_a_pass_after_one_that_failed(kind):
    def make(ds, index):
        if ds.epoch == 0 and index == 3:
            raise ValueError(index)
        return np.array([index])

    with Made(make, **kind) as ds:
        with pytest.raises(ValueError):
            list(ds)
        assert firsts(ds) == list(range(8))


def test_two_passes_of_one_dataset_at_once(kind):
    with Items(20, max_queue_size=3, **kind) as ds:
        pairs = list(zip(ds, ds))
        assert [(int(a[0]), int(b[0])) for a, b in pairs] == [(i, i) for i in range(20)]
        assert [[int(b[0]) for b in ds] for a in Items(2)] == [list(range(20))] * 2
        grid = [(int(a[0]), int(b[0])) for a in ds for b in ds]
    assert grid == [(i, j) for i in range(20) for j in range(20)]


@pytest.mark.parametrize("other", ["threads", "processes"])
def test_two_datasets_at_once(kind, other):
    """Training and validation, in turns and mixed."""
    with Items(9, **kind) as train, Items(4, dtype="float32", **KINDS[other]) as val:
        for batch in train:
            assert firsts(val) == list(range(4))
        a, b = iter(train), iter(val)
        assert firsts(next(x) for _ in range(4) for x in (a, b)) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_one_iterator_drawn_by_several_threads(kind):
    with Items(200, **kind) as ds:
        it, got = iter(ds), []
        threads = [threading.Thread(target=lambda: got.extend(firsts(it))) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(LIMIT)
    assert sorted(got) == list(range(200))


def test_one_dataset_walked_by_several_threads(kind):
    """Each walk has all batches, in order."""
    with Items(50, **kind) as ds:
        got = [[] for _ in range(4)]
        threads = [threading.Thread(target=lambda g: g.extend(firsts(ds)), args=[g]) for g in got]
        for t in threads:
            t.start()
        for t in threads:
            t.join(LIMIT)
    assert got == [list(range(50))] * 4


@pytest.mark.parametrize("passes", [20, pytest.param(400, marks=pytest.mark.soak)])
def test_hooks_run_while_other_threads_draw(kind, passes):
    """What each walk has ahead is made again at every hook; none loses or repeats a batch."""
    wrong = []

    def walk(ds):
        for _ in range(passes):
            got = [int(b[1]) for b in ds]
            if got != list(range(20)):
                wrong.append(got)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with Hooked(20, max_queue_size=4, **kind) as ds:
            threads = [threading.Thread(target=walk, args=[ds]) for _ in range(3)]
            for t in threads:
                t.start()
            for t in threads:
                t.join(5 * LIMIT)
            assert ds.log.count("begin") == ds.log.count("end") == 3 * passes
    finally:
        sys.setswitchinterval(before)
    assert not wrong


def test_endless(kind):
    class Endless(Items):
        @property
        def num_batches(self):
            return None

    with Endless(length=2, **kind) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(100)) == list(range(100))


def test_neither_length_nor_number_is_endless(kind):
    class Unknown(Items):
        __len__ = None

        @property
        def num_batches(self):
            raise NotImplementedError

    with Unknown(**kind) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(50)) == list(range(50))


def test_hooks_of_a_plain_loop(kind):
    """Once each a pass, before and after its batches, which all have what the hook set."""
    with Hooked(6, **kind) as ds:
        passes = [list(ds) for _ in range(3)]
        assert ds.log == ["begin", "end"] * 3
        assert [[b.tolist() for b in p] for p in passes] == [[[k, i] for i in range(6)] for k in (1, 2, 3)]
        next(iter(ds))
        assert ds.log == ["begin", "end"] * 3 + ["begin"]


def test_the_classic_generator(kind):
    """Its end hook shuffles `self.indexes`: every pass serves the order that was left, in all workers."""
    reference, order = np.random.RandomState(3), np.arange(12)
    with Reindexed(12, **kind) as ds:
        for _ in range(4):
            assert firsts(ds) == order.tolist()
            reference.shuffle(order)


def test_what_is_assigned_between_passes_reaches_the_workers(kind):
    with Made(lambda ds, i: np.array([ds.value]), **kind) as ds:
        for value in (1, 2, 3):
            ds.value = value
            assert firsts(ds) == [value] * 8


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_random_walks_over_one_dataset(kind, seed):
    """Iterators are opened, drawn from and left at random; each gives its batches in order."""
    random = np.random.default_rng(seed)
    with Items(25, max_queue_size=int(random.integers(6)), **kind) as ds:
        open_ = []
        for _ in range(400):
            if len(open_) < 4 and random.random() < 0.3:
                open_.append([iter(ds), 0])
            elif open_:
                which = int(random.integers(len(open_)))
                it, n = open_[which]
                if n == 25 or random.random() < 0.03:
                    del open_[which], it
                else:
                    assert firsts([next(it)]) == [n]
                    open_[which][1] += 1


@pytest.mark.parametrize("hook", ["on_epoch_begin", "on_epoch_end"])
def test_a_hook_that_loops_over_its_own_dataset(kind, hook):
    """To compute statistics, say: it sees all batches, and runs no hook again."""
    class Looking(Items):
        def look(self):
            self.seen = getattr(self, "seen", []) + [firsts(self)]

    setattr(Looking, hook, Looking.look)
    with Looking(6, **kind) as ds:
        for _ in range(2):
            assert firsts(ds) == list(range(6))
        assert ds.seen == [list(range(6))] * 2


def test_a_pass_that_begins_while_a_hook_runs_in_another_thread(kind):
    """It is a pass of its own, with hooks."""
    inside, over = Gate(), Gate()

    class Slow(Hooked):
        def on_epoch_begin(self):
            super().on_epoch_begin()
            if threading.current_thread() is not threading.main_thread():
                inside.open()
                assert over.event.wait(LIMIT)

    with Slow(3, **kind) as ds:
        thread = threading.Thread(target=list, args=[ds])
        thread.start()
        assert inside.event.wait(LIMIT)
        assert [int(b[1]) for b in ds] == [0, 1, 2]
        assert ds.log == ["begin", "begin", "end"]
        over.open()
        thread.join(LIMIT)
        assert ds.log == ["begin", "begin", "end", "end"]


def test_passes_begun_by_several_threads_have_numbers_of_their_own(kind):
    numbers = []

    def walk(ds):
        for _ in range(10):
            numbers.append({int(b[0]) for b in ds})

    with Made(lambda ds, i: np.array([ds.epoch]), 5, **kind) as ds:
        threads = [threading.Thread(target=walk, args=[ds]) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(5 * LIMIT)
        assert all(len(n) == 1 for n in numbers)
        assert sorted(set().union(*numbers)) == list(range(30))
