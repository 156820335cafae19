"""The dataset on its way to worker processes: what goes, what does not and how that is told, what is shared."""

import os
import threading

import infeed
from infeed._engine import engine
import numpy as np
import pytest
from samples import Items, Made, firsts
from test_lending import workers_of

SENDABLE = dict(workers=2, use_multiprocessing=True)


class Holder:
    """An object of the user's with attributes."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


def opened(tmp_path):
    return open(tmp_path / "file", "w")


UNSENDABLE = {
    "lock": (lambda path: threading.Lock(), "Items.thing", "lock"),
    "open file": (opened, "Items.thing", "TextIOWrapper|file"),
    "generator": (lambda path: (i for i in range(3)), "Items.thing", "generator"),
    "event": (lambda path: threading.Event(), "Items.thing._cond._lock", "lock"),
    "in a dict": (lambda path: {"a": 1, "locks": {"b": threading.Lock()}}, r"Items.thing\['locks'\]\['b'\]", "lock"),
    "in a list": (lambda path: [1, [2, threading.Lock()]], r"Items.thing\[1\]\[1\]", "lock"),
    "in an object": (lambda path: Holder(name="n", cache=Holder(lock=threading.Lock())),
                     "Items.thing.cache.lock", "lock"),
    "in a closure": (lambda path: (lambda lock: lambda: lock)(threading.Lock()), "Items.thing", "lock"),
    "refuses": (lambda path: Refusing(), "Items.thing", "it is mine"),
}


class Refusing:
    def __reduce__(self):
        raise ValueError("it is mine")


@pytest.mark.parametrize("name", UNSENDABLE)
def test_what_cannot_be_sent(name, tmp_path):
    """An error that names the attribute and the way out, before any worker is started."""
    thing, where, words = UNSENDABLE[name]
    with Items(**SENDABLE) as ds:
        ds.before, ds.thing, ds.after = [1, 2], thing(tmp_path), "x"
        with pytest.raises(infeed.InvalidArgumentError, match=where) as info:
            next(iter(ds))
        text = str(info.value)
        assert any(w in text for w in words.split("|")) and "threads" in text and "__getstate__" in text, text
        assert workers_of(ds) == [] and ds._infeed.pool is None
        if name == "open file":
            ds.thing.close()


def test_threads_take_anything(tmp_path):
    with Items(workers=2) as ds:
        ds.lock, ds.file = threading.Lock(), opened(tmp_path)
        assert firsts(ds) == list(range(8))
        ds.file.close()


def test_functions_without_names_are_sent():
    with Made(lambda ds, i: np.array([ds.scale(i)]), **SENDABLE) as ds:
        factor = 3
        ds.scale = lambda i: i * factor
        assert firsts(ds) == [0, 3, 6, 9, 12, 15, 18, 21]


def test_getstate_is_asked(tmp_path):
    """What __getstate__ leaves out does not go, and __setstate__ may make it anew."""
    class Logged(Items):
        def __init__(self, path, **options):
            super().__init__(**options)
            self.path, self.lock = path, threading.Lock()

        def __getstate__(self):
            state = dict(self.__dict__)
            del state["lock"]
            return state

        def __setstate__(self, state):
            import threading
            self.__dict__ = state
            self.lock = threading.Lock()

        def __getitem__(self, index):
            with self.lock:
                return super().__getitem__(index)

    with Logged(str(tmp_path), **SENDABLE) as ds:
        assert firsts(ds) == list(range(8))


def test_something_that_becomes_unsendable():
    """In a hook or between passes: the next pass says so, and a later one without it works."""
    with Items(**SENDABLE) as ds:
        assert firsts(ds) == list(range(8))
        ds.lock = threading.Lock()
        with pytest.raises(infeed.InvalidArgumentError, match="Items.lock"):
            next(iter(ds))
        del ds.lock
        assert firsts(ds) == list(range(8))


def test_cycles_and_sharing():
    """An object in two places is one in the worker too."""
    def make(ds, index):
        return np.array([ds.a is ds.b, ds.me is ds, ds.x is ds.y])

    with Made(make, 2, **SENDABLE) as ds:
        ds.a = ds.b = [1]
        ds.me = ds
        ds.x = ds.y = np.arange(100_000)
        assert all(b.all() for b in ds)


@pytest.mark.parametrize("array", [
    np.arange(200_000, dtype="f4"), np.asfortranarray(np.arange(80_000.0).reshape(200, 400)),
    np.arange(400_000)[::2], np.array(["text", None] * 20_000, object), np.array([b"ab"] * 30_000),
    np.broadcast_to(np.arange(1000.0), (50, 1000)), np.zeros((0, 5)), np.array(3.5),
], ids=lambda a: f"{a.dtype}{a.shape}")
def test_arrays_of_the_dataset(array):
    """Every kind of array arrives as it is, and its worker may write to its own copy."""
    def make(ds, index):
        x = np.array(ds.x[()] if not ds.x.ndim else ds.x)
        if index == 3 and x.size and ds.x.ndim and ds.x.flags.writeable:
            ds.x[0] = ds.x[-1]
        return x

    with Made(make, 3, **SENDABLE) as ds:
        ds.x = array
        before = array.tolist()
        for got in ds:
            assert got.dtype == array.dtype and got.tolist() == before
        assert array.tolist() == before


def test_workers_do_not_see_each_others_writing():
    """Arrays are shared until somebody writes; then that one has a page of its own."""
    def make(ds, index):
        seen = int(ds.x[0])
        ds.x[0] = os.getpid()
        return np.array([seen, os.getpid()])

    with Made(make, 40, **SENDABLE) as ds:
        ds.x = np.zeros(100_000, "i8")
        for seen, pid in ds:
            assert seen in (0, pid)
        assert ds.x[0] == 0


def test_what_hooks_change_is_sent_again():
    """Small and large, in place and by assignment, back and forth."""
    class Changing(Items):
        def __init__(self, **options):
            super().__init__(**options)
            self.small, self.big, self.name = [0], np.zeros(300_000), "0"

        def on_epoch_begin(self):
            self.big[1234] += 1
            self.small[0] += 1
            self.name = str(self.small[0])

        def __getitem__(self, index):
            return np.array([self.small[0], self.big[1234], int(self.name)])

    with Changing(**SENDABLE) as ds:
        for k in range(1, 6):
            assert all((b == k).all() for b in ds)
        ds.big = np.full(300_000, 7.0)
        ds.small = [5]
        assert all((b == [6, 8, 6]).all() for b in ds)


def test_unchanged_arrays_are_sent_once():
    """What a payload of each pass weighs: the large array is in the first only."""
    class Changing(Items):
        def on_epoch_begin(self):
            self.count = getattr(self, "count", 0) + 1

    with Changing(**SENDABLE) as ds:
        ds.big = np.random.default_rng(1).random(500_000)
        for _ in range(4):
            list(ds)
        sizes = ds._infeed.pool.sender.payloads
        assert sum(n > 4_000_000 for n in sizes.values()) == 1
        assert len(sizes) <= 2


def test_memory_of_shared_arrays(script):
    """Four workers that read all of a 200 MB array: one copy beside the parent's own."""
    out = script("""
        import os, numpy as np
        from samples import Made
        def resident(pid):
            with open(f"/proc/{pid}/smaps_rollup") as f:
                return sum(int(line.split()[1]) for line in f if line.startswith("Pss:")) / 1024
        def make(ds, index):
            import os, time
            open(os.path.join(ds.folder, str(os.getpid())), "w").close()
            total = float(ds.x.sum())
            while len(os.listdir(ds.folder)) < 4:
                time.sleep(0.01)
            return np.array([os.getpid(), total])
        ds = Made(make, 8, workers=4, use_multiprocessing=True)
        ds.folder = "marks"
        os.mkdir("marks")
        alone = resident(os.getpid())
        ds.x = np.ones(25_000_000)
        got = list(ds)
        pids = {int(b[0]) for b in got}
        assert all(b[1] == 25_000_000 for b in got) and len(pids) == 4
        print(sum(resident(p) for p in pids | {os.getpid()}) - alone)
        """)
    assert float(out) < 200 * 2 + 4 * 40 + 50  # MiB: two copies, four interpreters with NumPy, room


def test_datasets_inside_datasets():
    """One that holds another goes whole; the inner one has its own workers, or none, there."""
    inner = Made(lambda ds, i: np.array([ds.rng.integers(100), i]), 4, seed=3, workers=0)

    def make(ds, index):
        return np.stack(list(ds.inner))

    with Made(make, 3, **SENDABLE) as ds:
        ds.inner = inner
        expected = np.stack(list(Made(inner.make, 4, seed=3, workers=0)))
        for got in ds:
            assert got.shape == (4, 2) and (got[:, 1] == range(4)).all()
    ds.close()
    assert expected.shape == (4, 2)


def test_copies_and_pickles_of_a_dataset():
    """A copy has the settings and none of the workers."""
    import copy
    import pickle

    with Items(20, shuffle=True, seed=5, workers=2, max_queue_size=3) as ds:
        order = firsts(ds)
        for twin in (copy.copy(ds), copy.deepcopy(ds), pickle.loads(pickle.dumps(ds))):
            assert engine(twin) is not engine(ds), "two datasets share an engine"
            twin.epoch = 0
            assert (twin.workers, twin.max_queue_size, twin.seed) == (2, 3, 5)
            assert firsts(twin) == order
            twin.close()
        ds.epoch = 0
        assert firsts(ds) == order


def test_iterators_are_not_copied():
    """Two would share one walk: an error that says so, and the first goes on."""
    import copy
    import pickle

    with Items(20, workers=2) as ds:
        it = iter(ds)
        next(it)
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="state_dict"):
                attempt(it)
        assert firsts(it) == list(range(1, 20))
