"""Nothing outlives its use: not the loop, the dataset, the interpreter, however each ends."""

import _thread
import signal
import threading
import time

import pytest
from samples import LIMIT, Items

# Starts a program: a dataset in every kind of use, with workers at work.
BUSY = """
    import sys, os, threading, time
    import numpy as np
    from samples import Items, Made
    def slow(ds, index):
        time.sleep(0.02)
        return np.full((50_000,), index)
    ds = Made(slow, 100_000, {options})
    it = iter(ds)
    next(it)
    other = Items(10, {options})
    list(other)
"""
OPTIONS = {
    "threads": "workers=3, max_queue_size=50",
    "processes": "workers=2, use_multiprocessing=True, max_queue_size=50",
}
options = pytest.mark.parametrize("options", OPTIONS)


def busy(how, options):
    lines = [line[4:] for line in BUSY.format(options=OPTIONS[options]).strip("\n").splitlines()]
    return "\n".join([*lines, how])


ENDS = {
    "the last line": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "a loop in a daemon thread": ("threading.Thread(target=lambda: list(ds), daemon=True).start()", 0),
    "another iterator": ("kept = [iter(ds) for _ in range(5)]; [next(k) for k in kept]", 0),
    "batches kept": ("kept = [next(it) for _ in range(20)]", 0),
    "at exit": ("import atexit; atexit.register(lambda: next(iter(Items(3, workers=1))))", 0),
    "in a cycle": ("ds.me = ds; ds.it = it", 0),
    "closed": ("ds.close(); other.close()", 0),
    "deleted": ("del ds, it, other", 0),
    "a module that goes first": ("sys.modules['infeed'] = None; del np", 0),
}


@options
@pytest.mark.parametrize("end", ENDS)
def test_the_interpreter_ends(start, options, end):
    """Quickly, with the right status, in silence, and alone."""
    code, status = ENDS[end]
    s = start(busy(code, options))
    assert s.wait(20) == status, s.err
    assert s.err == "" and s.gone()


LOOPS = {**{name: f"Made(made, 20, {text})" for name, text in OPTIONS.items()}, "no workers": "Made(made, 20, workers=0)",
         "functions": "infeed.Dataset.range(20).map(lambda x: made(None, int(x)), num_parallel_calls=2)"}


@pytest.mark.parametrize("dataset", LOOPS)
def test_a_thread_that_the_interpreter_waits_for_goes_on(start, dataset):
    """Python ends when the main thread and all that are no daemons have."""
    s = start(f"""
        import infeed, threading
        import numpy as np
        from samples import Made
        def made(ds, index):
            return np.full(5, index)
        ds = {LOOPS[dataset]}
        def loop():
            threading.main_thread().join()
            print(len(list(ds)))
        threading.Thread(target=loop).start()
        """)
    assert s.wait(20) == 0, s.err
    assert (s.out, s.err) == ("20\n", "") and s.gone()


@options
def test_an_exception_ends_the_interpreter(start, options):
    s = start(busy("raise ValueError('the end')", options))
    assert s.wait(20) == 1 and s.gone()
    assert s.err.rstrip().endswith("ValueError: the end") and s.err.count("Traceback") == 1


@options
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGABRT])
def test_a_signal_ends_the_interpreter(start, options, number):
    """The kernel tells the workers, wherever they are in their work."""
    s = start(busy("print('ready', flush=True); time.sleep(60)", options))
    assert s.line() == "ready"
    s.send(number)
    assert s.wait(20) == -number
    assert s.gone()


def test_killed_while_workers_start(start):
    """A worker that has not begun to listen ends too."""
    s = start("""
        from samples import Items
        import threading, time
        ds = Items(100, workers=4, use_multiprocessing=True)
        threading.Thread(target=lambda: next(iter(ds)), daemon=True).start()
        print("ready", flush=True)
        time.sleep(60)
        """)
    assert s.line() == "ready"
    s.send(signal.SIGKILL)
    s.wait(20)
    assert s.gone()


@pytest.mark.soak
@pytest.mark.parametrize("delay", range(0, 600, 15))
def test_killed_at_any_moment(start, delay):
    s = start("""
        print("ready", flush=True)
        from samples import Items
        with Items(100_000, (10_000,), workers=3, use_multiprocessing=True) as ds:
            for _ in range(50):
                it = iter(ds)
                [next(it) for _ in range(100)]
        """)
    assert s.line() == "ready"
    time.sleep(delay / 1000)
    s.send(signal.SIGKILL)
    s.wait(20)
    assert s.gone()


@options
def test_os_exit(start, options):
    """Nothing of Python's or infeed's runs, and still no worker stays."""
    s = start(busy("os._exit(5)", options))
    assert s.wait(20) == 5 and s.err == "" and s.gone()


@options
def test_exec(start, options):
    """The process becomes another program: its workers end."""
    s = start(busy("os.execv(sys.executable, [sys.executable, '-c', 'print(\"another program\")'])", options))
    assert s.wait(20) == 0 and s.out == "another program\n" and s.gone()


def test_the_thread_that_started_it_all_ends(script):
    """Workers are tied to the pool, not to the thread of the first loop."""
    assert script("""
        import threading
        from samples import Items
        ds = Items(50, workers=2, use_multiprocessing=True, max_queue_size=2)
        it = iter(ds)
        got = []
        t = threading.Thread(target=lambda: got.append(next(it)))
        t.start(); t.join()
        got += list(it)
        print([int(b[0]) for b in got] == list(range(50)))
        """) == "True\n"


def test_loops_in_a_thread_pool(script):
    """concurrent.futures joins its threads at exit, after which loops in them must have ended."""
    script("""
        import concurrent.futures
        from samples import Items
        pool = concurrent.futures.ThreadPoolExecutor(2)
        ds = Items(2000, workers=2)
        futures = [pool.submit(lambda: len(list(ds))) for _ in range(2)]
        """)


def test_import_starts_nothing(script):
    assert script("""
        import os, sys, threading
        import infeed
        ds = type("D", (infeed.PyDataset,), {"__len__": lambda s: 1, "__getitem__": lambda s, i: [i]})(workers=4)
        iter(ds).state_dict()
        from infeed import _native
        print(threading.active_count(), len(os.listdir("/proc/self/task")), _native.loaded())
        """) == "1 1 False\n"


def test_shared_memory_has_no_names(script, tmp_path):
    """memfds only: /dev/shm, the temporary folder and the working directory stay as they are."""
    assert script("""
        import os, tempfile
        from samples import Items
        def listing():
            return {d: sorted(os.listdir(d)) for d in ("/dev/shm", tempfile.gettempdir(), ".") if os.path.isdir(d)}
        before = listing()
        with Items(20, (300_000,), workers=2, use_multiprocessing=True) as ds:
            ds.data = bytes(100_000)
            it = iter(ds)
            next(it)
            assert listing() == before
        print("same")
        """, TMPDIR=str(tmp_path)) == "same\n"


def test_no_object_for_a_foreign_thread():
    """A thread that Python did not start, as TensorFlow's, may iterate and let go; `threading` does not list it for good."""
    ended = _thread.allocate_lock()
    ended.acquire()
    before = set(threading.enumerate())

    def run():
        try:
            it = iter(Items(8, workers=2))
            next(it)
            del it
        finally:
            ended.release()

    _thread.start_new_thread(run, ())
    assert ended.acquire(timeout=LIMIT)
    assert set(threading.enumerate()) <= before
