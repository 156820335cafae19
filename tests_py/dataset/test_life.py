"""Memory, threads and processes: what is lent, what is left, what cannot hang."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import infeed
from infeed import _native

from .conftest import numbers, with_workers


def run(code, *args, timeout=60, **kwargs):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *args], capture_output=True, text=True,
                          timeout=timeout, **kwargs)


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("size", [1, 7, 4000])
def test_kept_elements_stay_as_they_are(pairs, workers, size):
    ds = with_workers(pairs(20_000).shuffle(seed=1).repeat().batch(size), workers)
    rng = np.random.default_rng(1)
    want = iter(with_workers(pairs(20_000).shuffle(seed=1).repeat().batch(size), 0))
    kept = []
    for _, element in zip(range(400), ds):
        kept.append((element, [np.copy(c) for c in next(want)]))
        if len(kept) > 40:
            got, expected = kept.pop(rng.integers(len(kept)))
            assert all(np.array_equal(a, b) for a, b in zip(got, expected))
    for got, expected in kept:
        assert all(np.array_equal(a, b) for a, b in zip(got, expected))


def test_kept_structured_values_stay_as_they_are():
    a = np.zeros(50_000, dtype=[("a", "i4"), ("b", "f8")])
    a["a"] = np.arange(50_000)
    kept = list(infeed.Dataset.from_tensor_slices(a))
    assert [int(v["a"]) for v in kept] == list(range(50_000))


def test_list_of_small_batches_takes_little_more_than_they_are():
    code = """
    import resource, numpy as np, infeed
    x = np.zeros((320_000, 64), np.float32)
    ds = infeed.Dataset.from_tensor_slices(x).shuffle(seed=1).batch(32)
    next(iter(ds))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    kept = list(ds)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(kept) == 10_000
    print(grown / 1024)
    """
    out = run(code)
    assert out.returncode == 0, out.stderr
    assert float(out.stdout) < 78 + 40, "megabytes, for batches of 78"


def test_keeping_one_small_batch_in_many_keeps_little(pairs):
    ds = infeed.Dataset.from_tensor_slices(np.zeros((200_000, 16), np.float32)).repeat().batch(4)
    it = iter(ds)
    kept = []
    for k in range(40_000):
        element = next(it)
        if k % 1000 == 0:
            kept.append(element)
    assert _native.alive()["mapped"] < 64 << 20
    assert sum(e.nbytes if e.base is None else 1 << 20 for e in kept) < 24 << 20


def test_memory_goes_back(pairs):
    before = _native.alive()["mapped"]
    for _ in range(20):
        it = iter(pairs(10_000).repeat().batch(100))
        kept = [next(it) for _ in range(30)]
        del it, kept
    gc.collect()
    assert _native.alive()["mapped"] == before


def test_abandoned_loops_leave_nothing(pairs):
    ds = pairs(10_000).repeat().batch(10)
    for k, _ in enumerate(ds):
        if k == 3:
            break
    with pytest.raises(ZeroDivisionError):
        for _ in ds:
            1 / 0
    gc.collect()
    assert _native.alive()["goroutines"] == 0


def test_close(pairs):
    it = iter(pairs(1000).repeat().batch(10))
    element = next(it)
    it.close()
    it.close()
    assert element[1].tolist() == list(range(10))
    with pytest.raises(infeed.CancelledError, match="closed"):
        next(it)


def test_arrays_may_go_before_the_iterator():
    x = np.arange(1000)
    it = iter(infeed.Dataset.from_tensor_slices(x).repeat().batch(10))
    del x
    gc.collect()
    assert [next(it)[0] for _ in range(100)] == list(range(0, 1000, 10))


def test_many_iterators_at_once(pairs):
    ds = pairs(100).shuffle(seed=1).batch(7)
    many = [ds.iterator(epoch=k % 3) for k in range(100)]
    want = [numbers(ds.iterator(epoch=k)) for k in range(3)]
    got = [[] for _ in many]
    for _ in range(15):
        for it, out in zip(many, got):
            out += numbers([next(it)])
    assert all(out == want[k % 3] for k, out in enumerate(got))


def test_threads_share_an_iterator(pairs):
    it = iter(pairs(20_000).shuffle(seed=1).batch(3))
    got, lock = [], threading.Lock()

    def work():
        for element in it:
            mine = numbers([element])
            with lock:
                got.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert sorted(got) == list(range(20_000))


def test_close_while_another_thread_waits(pairs):
    it = iter(pairs(100).repeat().batch(10))
    seen = threading.Event()
    ended = []

    def work():
        try:
            for _ in it:
                seen.set()
        except infeed.CancelledError:
            pass
        ended.append(True)

    t = threading.Thread(target=work)
    t.start()
    assert seen.wait(30)
    it.close()
    t.join(30)
    assert ended


def test_interpreter_exit_while_workers_run():
    code = """
    import numpy as np, infeed, threading
    ds = infeed.Dataset.from_tensor_slices(np.arange(1_000_000)).shuffle(seed=1).repeat().batch(1000)
    it = iter(ds)
    kept = [next(it) for _ in range(5)]
    other = iter(ds)
    threading.Thread(target=lambda: [next(other) for _ in range(50)], daemon=True).start()
    print("done")
    """
    start = time.monotonic()
    out = run(code)
    assert (out.returncode, out.stdout) == (0, "done\n"), out.stderr
    # The user's thread is told CancelledError; exit may cut that short.
    assert not out.stderr or out.stderr.startswith("Exception in thread")
    assert "Fatal" not in out.stderr
    assert time.monotonic() - start < 30


def test_fork_after_use():
    code = """
    import os, sys, time, gc
    import numpy as np, infeed
    ds = infeed.Dataset.from_tensor_slices(np.arange(1_000_000)).shuffle(seed=1).repeat().batch(100_000)
    it = iter(ds)
    kept = next(it)
    pid = os.fork()
    if pid == 0:
        start = time.monotonic()
        for f in (lambda: next(it), lambda: next(iter(ds)), lambda: ds[0], lambda: len(ds.batch(2))):
            try:
                f()
                os._exit(3)
            except infeed.ForkedProcessError as e:
                assert "spawn" in str(e)
        assert time.monotonic() - start < 1
        del it, ds, kept
        gc.collect()
        sys.exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(next(it)) == 100_000
    print("fine")
    """
    out = run(code)
    assert out.stdout == "fine\n", out.stderr


def test_arrays_in_a_forked_child_stay_as_they_are():
    code = """
    import os
    import numpy as np, infeed
    it = iter(infeed.Dataset.from_tensor_slices(np.arange(100_000)).repeat().batch(1000))
    kept = next(it)
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(w)
        os.read(r, 1)
        os._exit(0 if np.array_equal(kept, np.arange(1000)) else 3)
    del kept
    for _ in range(1000):
        next(it)
    os.write(w, b"x")
    print(os.waitpid(pid, 0)[1])
    """
    out = run(code)
    assert out.stdout == "0\n", out.stderr


def test_interrupt_is_taken_at_once():
    code = """
    import numpy as np, infeed
    ds = infeed.Dataset.from_tensor_slices(np.arange(10)).repeat().batch(2)
    try:
        print("going", flush=True)
        for _ in ds:
            pass
    except KeyboardInterrupt:
        print("interrupted")
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "going\n"
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=30)
    finally:
        child.kill()
    assert out == "interrupted\n" and child.returncode == 0


def test_handles_of_another_kind_are_refused(pairs):
    call = _native.Call(pairs(3)._node.handle().number)
    for name in ("next", "try_next", "job", "try_job", "dataset_produce", "dataset_error"):
        with pytest.raises((infeed.InvalidArgumentError, infeed.CancelledError)):
            call(name)
    it = iter(pairs(3))
    next(it)
    with pytest.raises(infeed.CancelledError):
        _native.Call(it._call.struct.handle)("dataset_at")


@pytest.mark.parametrize("where", ["_take", "_decode"])
@pytest.mark.parametrize("workers", [0, 2])
def test_nothing_is_lost_when_an_interrupt_comes_between(pairs, workers, where, monkeypatch):
    it = iter(with_workers(pairs(3000).shuffle(seed=1).batch(7), workers))
    want = numbers(pairs(3000).shuffle(seed=1).batch(7))
    real, calls = getattr(it, where), []

    def interrupted(*args):
        result = real(*args)
        calls.append(1)
        if len(calls) % 3 == 1:
            raise KeyboardInterrupt
        return result

    setattr(it, where, interrupted)
    got, interrupts = [], 0
    while True:
        try:
            got += numbers([next(it)])
        except KeyboardInterrupt:
            interrupts += 1
            assert it.state_dict()["position"] == it.state_dict(at=len(got) // 7)["position"]
        except StopIteration:
            break
    assert got == want and interrupts > 2


def test_importing_starts_nothing():
    code = """
    import threading, os, infeed
    infeed.Dataset, infeed.TensorSpec, infeed.Options
    from infeed import _native
    assert not _native.loaded() and threading.active_count() == 1 and len(os.listdir("/proc/self/task")) == 1
    """
    out = run(code, env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"})
    assert out.returncode == 0, out.stderr
