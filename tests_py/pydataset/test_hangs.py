"""Nothing hangs: a stuck batch becomes an error or a warning with its stack, and Ctrl-C is taken."""

import os
import signal
import threading
import time
import types

import infeed
import numpy as np
import pytest
from infeed import _native, _walk
from samples import Gate, Items, Made, firsts, slow_at, stuck_at

LIMIT = 20


@pytest.fixture
def gate():
    g = Gate()
    yield g
    g.open()


class Clock:
    """The time by which waits are measured: it stands still until it is started, however busy the machine is."""

    def __init__(self):
        self.now, self.began = 0.0, None

    def start(self):
        self.began = time.monotonic()

    def monotonic(self):
        return self.now if self.began is None else self.now + time.monotonic() - self.began


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(_walk, "time", types.SimpleNamespace(monotonic=found.monotonic))
    return found


def test_timeout(parallel, gate, clock):
    """The error has the index and the stack of the worker that is stuck."""
    with Made(stuck_at(6, gate), max_queue_size=1, timeout=0.5, **parallel) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(6)) == list(range(6))
        start = time.monotonic()
        clock.start()
        with pytest.raises(infeed.TimeoutError) as info:
            next(it)
        assert time.monotonic() - start < 5
        gate.open()
    assert isinstance(info.value, TimeoutError)
    text = str(info.value)
    assert "timeout=0.5" in text and "batch 6" in text
    assert "wait_for_the_sensor" in text, text
    assert ("process" in text) == bool(parallel.get("use_multiprocessing"))


def test_after_a_timeout_the_batch_still_comes(gate, clock):
    """It was not delivered, so it is not lost, and the state does not count it."""
    with Made(stuck_at(3, gate), timeout=0.3, workers=2) as ds:
        it = iter(ds)
        for _ in range(3):
            next(it)
        clock.start()
        with pytest.raises(infeed.TimeoutError):
            next(it)
        assert it.state_dict()["position"] == 3
        clock.began = None
        gate.open()
        assert firsts(it) == [3, 4, 5, 6, 7]


def test_timeout_counts_from_the_wait(parallel, clock):
    """Batches that are each quick enough are not late, however long the pass is."""
    wait = 2.5 * _native.SLICE_MS / 1000  # until the clock was looked at

    with Made(lambda ds, i: time.sleep(wait) or np.array([i]), 6, max_queue_size=0, timeout=0.8, **parallel) as ds:
        for i, batch in enumerate(ds):
            assert batch[0] == i
            clock.now += 0.7


def test_timeout_while_workers_start(parallel, gate):
    """The first batch, too."""
    with Made(stuck_at(0, gate), timeout=0.5, **parallel) as ds:
        with pytest.raises(infeed.TimeoutError, match="batch 0"):
            next(iter(ds))
        gate.open()


def test_a_warning_where_there_is_no_timeout(parallel, monkeypatch, clock):
    """After a minute, here half a second; once, with the stack; then the batch."""
    with Made(slow_at(6, 1.5), max_queue_size=1, **parallel) as ds:
        monkeypatch.setattr(_walk, "WARN_AFTER", 0.5)
        it = iter(ds)
        assert firsts(next(it) for _ in range(6)) == list(range(6))
        clock.start()
        with pytest.warns(RuntimeWarning, match="timeout=seconds") as caught:
            assert firsts(next(it) for _ in range(1)) == [6]
        clock.began = None
        assert firsts(it) == [7]
    assert len(caught) == 1 and "batch 6" in str(caught[0].message) and "wait_for_the_sensor" in str(caught[0].message)


def test_closed_while_somebody_waits(parallel, gate):
    """The loop in the other thread ends with an error that says so."""
    ds = Made(stuck_at(3, gate), **parallel)
    reached, ended = threading.Event(), []

    def loop():
        try:
            for batch in ds:
                if batch[0] == 2:
                    reached.set()
        except infeed.CancelledError as e:
            ended.append(e)

    t = threading.Thread(target=loop)
    t.start()
    assert reached.wait(LIMIT)
    threading.Timer(0.3, gate.open).start()
    ds.close()
    t.join(5)
    assert not t.is_alive() and len(ended) == 1


@pytest.mark.parametrize("options", ["workers=0", "workers=2", "workers=2, use_multiprocessing=True"])
def test_ctrl_c(start, options):
    """KeyboardInterrupt comes out of a waiting loop at once, and the program ends as after any other."""
    s = start(f"""
        import time, numpy as np
        from samples import Made
        def make(ds, index):
            if index == 3:
                time.sleep(20)
            return np.array([index])
        ds = Made(make, {options})
        try:
            for batch in ds:
                if batch[0] == 2:
                    print("waiting", flush=True)
        except KeyboardInterrupt:
            print("taken", flush=True)
            raise SystemExit(7)
        """)
    assert s.line() == "waiting"
    s.until_asleep()
    sent = time.monotonic()
    s.send(signal.SIGINT)
    assert s.line() == "taken"
    assert time.monotonic() - sent < 1
    assert s.wait() == 7 and s.err == "" and s.gone()


def test_ctrl_c_of_a_terminal_does_not_reach_workers(start):
    """The signal goes to the whole group; workers leave it to the parent and print nothing."""
    s = start("""
        import numpy as np, os, signal
        from samples import Items
        ds = Items(50, workers=2, use_multiprocessing=True, max_queue_size=1)
        it = iter(ds)
        next(it)
        try:
            os.killpg(0, signal.SIGINT)
            signal.pause()
        except KeyboardInterrupt:
            pass
        assert [int(b[0]) for b in it] == list(range(1, 50))
        print("all came")
        """)
    assert s.wait() == 0 and s.out == "all came\n" and s.err == "" and s.gone()


def test_signal_handlers_run_while_a_loop_waits(script):
    """Python's own handlers, in time, and the wait goes on."""
    assert script("""
        import signal, time, numpy as np
        from samples import Made
        seen = []
        signal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic()))
        ds = Made(lambda ds, i: (time.sleep(1.2) if i == 1 else None, np.array([i]))[1], 3, workers=1)
        it = iter(ds)
        next(it)
        signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
        next(it)
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(len(seen) >= 2)
        """) == "True\n"


def test_items_from_a_daemon_thread(parallel):
    """A loop in a thread that nobody waits for does not keep anything from ending."""
    ds = Items(10_000, **parallel)
    taken = threading.Event()

    def loop():
        try:
            for _ in ds:
                taken.set()
        except infeed.CancelledError:
            pass

    t = threading.Thread(target=loop, daemon=True)
    t.start()
    assert taken.wait(LIMIT)
    ds.close()
    t.join(5)
    assert not t.is_alive()


def bad_at_two(parent):
    """Batch 2 ends its worker process, or raises in a thread."""
    def make(ds, i):
        if i == 2 and os.getpid() != parent:
            os._exit(3)
        if i == 2:
            raise ValueError("batch 2")
        return np.full(3, i)
    return make


@pytest.mark.parametrize("at", [1, 2])
def test_closed_between_taking_and_delivering(parallel, at):
    """A loop that another thread's close() meets with an entry in its hands hears of it, or gets the batch."""
    ds = Made(bad_at_two(os.getpid()), **parallel)
    it = iter(ds)
    for _ in range(at):
        next(it)
    walk = it._walk
    for name in ("deliver", "_failure"):
        def closing(*args, name=name):
            ds.close()
            return getattr(type(walk), name)(walk, *args)

        setattr(walk, name, closing)
    try:
        got = next(it)
    except (infeed.CancelledError, infeed.WorkerError):
        return
    assert at == 1 and (got == 1).all()  # it was in memory that outlives the workers
