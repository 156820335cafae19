"""Who makes the batches, how many are made ahead, and how long workers live."""

import gc
import os
import threading
import weakref

import infeed
import numpy as np
import pytest
from samples import KINDS, Items, Made, firsts

LIMIT = 20


def whose(dataset, index):
    return np.array([os.getpid(), threading.get_native_id()])


def makers(ds):
    return {tuple(b.tolist()) for b in ds}


def test_no_workers_means_the_callers_thread():
    assert makers(Made(whose, workers=0)) == {(os.getpid(), threading.get_native_id())}


def test_one_worker_is_one_thread():
    (maker,) = makers(Made(whose, workers=1))
    assert maker[0] == os.getpid() and maker[1] != threading.get_native_id()


def test_threads_make_batches_at_the_same_time():
    """Each batch waits until four are being made."""
    meeting = threading.Barrier(4)
    with Made(lambda ds, i: np.array([meeting.wait(LIMIT)]), workers=4) as ds:
        assert len(list(ds)) == 8


@pytest.mark.parametrize("workers, expected", [(0, 1), (1, 1), (3, 3)])
def test_processes(workers, expected, tmp_path):
    """Each batch of the first ones waits until as many processes have begun as there should be."""
    folder = str(tmp_path)

    def meet(ds, index):
        import time
        open(os.path.join(folder, str(os.getpid())), "w").close()
        end = time.monotonic() + 20
        while len(os.listdir(folder)) < expected and time.monotonic() < end:
            time.sleep(0.005)
        return np.array([os.getpid()])

    with Made(meet, workers=workers, use_multiprocessing=True) as ds:
        assert ds.parallelism == expected
        pids = set(firsts(ds))
    assert len(pids) == expected and os.getpid() not in pids


def test_workers_live_longer_than_a_pass(parallel):
    with Made(whose, length=12, **parallel) as ds:
        first = makers(ds)
        for _ in range(3):
            assert makers(ds) <= first or len(first | makers(ds)) <= ds.parallelism
        pool = ds._infeed.pool
        list(ds)
        assert ds._infeed.pool is pool


def test_a_closed_dataset_starts_anew(kind):
    ds = Items(**kind)
    assert firsts(ds) == list(range(8))
    ds.close()
    ds.close()
    assert firsts(ds) == list(range(8))
    ds.close()


def test_collection_ends_workers(parallel):
    """Whether the dataset was used up, left in the middle, or is part of a cycle."""
    def use(how):
        ds = Items(length=50, **parallel)
        if how == "cycle":
            ds.me = ds
        it = iter(ds)
        assert firsts([next(it)]) == [0]
        if how == "all":
            assert len(list(it)) == 49
        return weakref.ref(ds)

    for how in ("middle", "all", "cycle"):
        ref = use(how)
        gc.collect()
        assert ref() is None, how


@pytest.mark.parametrize("kind_name", KINDS)
def test_parallelism(kind_name):
    expected = {"inline": 0, "thread": 1, "threads": 4, "process": 1, "processes": 2}
    assert Items(**KINDS[kind_name]).parallelism == expected[kind_name]


def test_settings_can_be_changed(parallel):
    """Between passes; the workers are others from then on."""
    with Made(whose, **parallel) as ds:
        list(ds)
        ds.workers, ds.use_multiprocessing, ds.max_queue_size = 0, False, 3
        assert (ds.workers, ds.use_multiprocessing, ds.max_queue_size, ds.parallelism) == (0, False, 3, 0)
        assert makers(ds) == {(os.getpid(), threading.get_native_id())}


class Counting(Items):
    """Counts how far making runs ahead of taking."""

    def __init__(self, **options):
        super().__init__(length=60, **options)
        self.lock = threading.Condition()
        self.taken = self.started = self.finished = self.most_waiting = self.most_started = 0

    def __getitem__(self, index):
        with self.lock:
            self.started += 1
            self.most_started = max(self.most_started, self.started - self.taken)
        batch = super().__getitem__(index)
        with self.lock:
            self.finished += 1
            self.most_waiting = max(self.most_waiting, self.finished - self.taken)
            self.lock.notify_all()
        return batch


@pytest.mark.parametrize("workers, queue, waiting", [(1, 1, 1), (1, 10, 10), (4, 4, 4), (4, 2, 4), (2, 0, 2), (3, 7, 7)])
def test_the_queue_is_bounded_and_filled(workers, queue, waiting):
    """`waiting` batches wait at most; it is filled at first, and again before it is half empty."""
    with Counting(workers=workers, max_queue_size=queue) as ds:
        for batch in ds:
            with ds.lock:
                ds.taken += 1
                enough = min(waiting // 2 + 1, len(ds) - ds.taken)
                assert ds.lock.wait_for(lambda: ds.finished - ds.taken >= enough, LIMIT), "nothing is made ahead"
    assert waiting <= ds.most_waiting <= waiting + 1  # the one taken is counted a moment later
    assert ds.most_started <= waiting + workers + 1
    assert ds.started == 60


@pytest.mark.parametrize("arguments", [
    dict(workers=-1), dict(workers=1.5), dict(workers="2"), dict(workers=None), dict(workers=True),
    dict(max_queue_size=-1), dict(max_queue_size=None), dict(seed=-1), dict(seed=1 << 64), dict(seed="a"),
], ids=str)
def test_arguments_of_the_wrong_kind(arguments):
    (name, value), = arguments.items()
    with pytest.raises(infeed.InvalidArgumentError, match=name) as caught:
        Items(**arguments)
    assert repr(value) in str(caught.value)


def test_numpy_integers_are_integers():
    ds = Items(workers=np.int64(0), max_queue_size=np.int32(3))
    assert (ds.workers, ds.max_queue_size) == (0, 3)


def test_init_not_called():
    class Forgetful(infeed.PyDataset):
        def __init__(self):
            self.length = 3

        def __len__(self):
            return self.length

        def __getitem__(self, index):
            return np.array([index])

    with pytest.warns(UserWarning, match=r"super\(\).__init__"):
        assert firsts(Forgetful()) == [0, 1, 2]


def test_it_is_a_context_manager(parallel):
    with Items(**parallel) as ds:
        it = iter(ds)
        next(it)
    with pytest.raises(infeed.CancelledError):
        while True:
            next(it)


CHANGES = {
    "close": lambda ds: ds.close(),
    "workers": lambda ds: setattr(ds, "workers", 1),
    "max_queue_size": lambda ds: setattr(ds, "max_queue_size", 5),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_in_the_middle_of_a_pass(kind, change):
    """The loop ends with an error, never as if the pass were whole; the next pass is."""
    with Items(20, **kind) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(3)) == [0, 1, 2]
        CHANGES[change](ds)
        got = []
        with pytest.raises(infeed.CancelledError):
            for batch in it:
                got.append(batch)
        assert len(got) < 17
        assert firsts(ds) == list(range(20))


def test_what_numpy_counts_with():
    ds = Items(10, workers=0, shuffle=np.bool_(True), seed=np.int64(7), timeout=np.float32(2))
    ds.epoch = np.int16(1)
    assert firsts(ds) == [5, 3, 2, 4, 8, 9, 7, 1, 0, 6]
    assert (ds.seed, ds.epoch, ds.timeout) == (7, 2, 2.0)


@pytest.mark.parametrize("arguments", [
    dict(seed=True), dict(seed=1.5), dict(timeout=-1), dict(timeout="5"), dict(shuffle="yes"),
    dict(max_queue_size=10**9), dict(workers=10**9),
], ids=str)
def test_values_that_cannot_be(arguments):
    """The error names the argument, when it is given or when the first batch is asked for."""
    (name, value), = arguments.items()
    with pytest.raises(infeed.InvalidArgumentError, match=name):
        next(iter(Items(**{"workers": 1, **arguments})))


@pytest.mark.parametrize("epoch", [True, 1 << 63])
def test_epochs_that_cannot_be(epoch):
    with pytest.raises(infeed.InvalidArgumentError, match="epoch"):
        Items().epoch = epoch
