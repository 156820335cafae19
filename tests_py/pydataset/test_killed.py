"""Worker processes that die, cannot start, or misbehave: the batch comes all the same, or an error says why not."""

import os
import signal

import infeed
import numpy as np
import pytest
from samples import Deadly, Items, Made, Unloadable, firsts
from test_lending import workers_of

DEATHS = {
    "SIGKILL": (lambda: os.kill(os.getpid(), signal.SIGKILL), -9),
    "SIGTERM": (lambda: os.kill(os.getpid(), signal.SIGTERM), -15),
    "SIGSEGV": (lambda: os.kill(os.getpid(), signal.SIGSEGV), -11),
    "abort": (lambda: os.abort(), -6),
    "_exit(3)": (lambda: os._exit(3), 3),
    "_exit(0)": (lambda: os._exit(0), 0),
}


def dying(die, at, flag, times):
    """Batch `at` kills its worker the first `times` times."""

    def make(ds, index):
        import os
        if index == at:
            for k in range(times):
                try:
                    os.close(os.open(f"{flag}{k}", os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                die()
        return np.array([index])

    return make


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("times", [1, 2])
def test_the_batch_is_made_again(death, times, tmp_path):
    make = dying(DEATHS[death][0], 3, str(tmp_path / "died"), times)
    with Made(make, workers=2, use_multiprocessing=True) as ds:
        assert firsts(ds) == list(range(8))
        assert firsts(ds) == list(range(8))
    assert len(os.listdir(tmp_path)) == times


@pytest.mark.parametrize("death", DEATHS)
def test_the_third_death_is_an_error(death, tmp_path):
    """With index, exit status and, for SIGKILL, the usual cause. The batches around it come."""
    die, status = DEATHS[death]
    with Made(dying(die, 3, str(tmp_path / "died"), 3), workers=2, use_multiprocessing=True) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(3)) == [0, 1, 2]
        with pytest.raises(infeed.WorkerError) as info:
            next(it)
        assert firsts(it) == [4, 5, 6, 7]
        assert firsts(ds) == list(range(8))
    assert (info.value.index, info.value.exitcode) == (3, status)
    assert "batch 3" in str(info.value)
    assert ("memory ran out" in str(info.value)) == (death == "SIGKILL")


@pytest.mark.parametrize("index", [0, 7])
def test_the_first_and_the_last_batch(index, tmp_path):
    die = DEATHS["SIGKILL"][0]
    with Made(dying(die, index, str(tmp_path / "died"), 2), workers=1, use_multiprocessing=True) as ds:
        assert firsts(ds) == list(range(8))


def test_every_batch_kills_once(tmp_path):
    folder = str(tmp_path)

    def make(ds, index):
        import os
        import signal
        try:
            os.close(os.open(f"{folder}/{index}", os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            return np.array([index])

    with Made(make, 6, workers=2, use_multiprocessing=True) as ds:
        assert firsts(ds) == list(range(6))


def test_killed_from_outside(processes):
    """Between batches and between passes, the system or somebody else takes workers away."""
    with Items(40, max_queue_size=2, **processes) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(5)) == list(range(5))
        for pid in workers_of(ds):
            os.kill(pid, signal.SIGKILL)
        assert firsts(it) == list(range(5, 40))
        for pid in workers_of(ds):
            os.kill(pid, signal.SIGKILL)
        assert firsts(ds) == list(range(40))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_killed_at_random(processes, seed):
    random = np.random.default_rng(seed)
    with Items(300, (40_000,), max_queue_size=4, **processes) as ds:
        for _ in range(3):
            for index, batch in enumerate(ds):
                assert (batch == index).all()
                if random.random() < 0.03:
                    for pid in workers_of(ds)[:1]:
                        os.kill(pid, signal.SIGKILL)
    del batch


def test_a_large_batch_is_half_written(tmp_path):
    """Nothing of the dead worker's writing is seen."""
    flag = str(tmp_path / "died")

    def make(ds, index):
        import os
        import signal
        out = ds.empty((200_000,), "float64")
        out[:100_000] = -1
        if index == 5:
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
        out[:] = index
        return out

    with Made(make, 12, workers=2, use_multiprocessing=True) as ds:
        for _ in range(2):
            for index, batch in enumerate(ds):
                assert (batch == index).all()
    del batch


def test_workers_that_never_become_ready():
    ds = Items(workers=1, use_multiprocessing=True)
    ds.deadly = Deadly()
    with ds, pytest.raises(infeed.WorkerError, match="3 worker processes in a row ended") as info:
        next(iter(ds))
    assert info.value.exitcode == 9


def test_a_dataset_that_cannot_be_loaded(processes):
    """The worker's traceback comes out; at once, not after repeated tries; the next try says it again."""
    ds = Items(**processes)
    ds.trap = Unloadable()
    with ds:
        for _ in range(2):
            with pytest.raises(infeed.WorkerError, match="could not load the dataset") as info:
                next(iter(ds))
            assert "ZeroDivisionError" in str(info.value)
            ds.close()


def test_a_module_that_workers_cannot_import(processes):
    """Its name is in the message, and what to do."""
    import sys
    import types

    module = types.ModuleType("only_in_the_parent")
    exec("class Thing:\n    pass", module.__dict__)
    sys.modules[module.__name__] = module
    try:
        ds = Items(**processes)
        ds.thing = module.Thing()
        with ds, pytest.raises(infeed.WorkerError, match="only_in_the_parent") as info:
            next(iter(ds))
        assert "importable" in str(info.value)
    finally:
        del sys.modules[module.__name__]


def test_output_of_workers_is_shown(start):
    s = start("""
        import sys, numpy as np
        from samples import Made
        def make(ds, index):
            print("out", index, flush=True)
            print("err", index, file=sys.stderr)
            return np.array([index])
        with Made(make, 2, workers=1, use_multiprocessing=True) as ds:
            list(ds)
        """)
    assert s.wait() == 0
    assert s.out.split("\n")[:2] == ["out 0", "out 1"] and s.err.split("\n")[:2] == ["err 0", "err 1"]


def test_stdin_of_workers_is_empty(processes):
    """One that reads from it does not take what is the user's, and does not wait."""
    def make(ds, index):
        import sys
        return np.array([len(sys.stdin.read())])

    with Made(make, 2, **processes) as ds:
        assert firsts(ds) == [0, 0]


def test_user_code_that_uses_processes_itself(processes):
    """subprocess, os.fork and multiprocessing inside __getitem__."""
    def make(ds, index):
        import multiprocessing
        import os
        import subprocess
        import sys
        if index == 0:
            out = subprocess.run([sys.executable, "-c", "print(5)"], capture_output=True, check=True).stdout
            return np.array([int(out)])
        if index == 1:
            pid = os.fork()
            if not pid:
                os._exit(6)
            return np.array([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])])
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return np.array([pool.apply(abs, (-7,))])

    with Made(make, 3, **processes) as ds:
        assert firsts(ds) == [5, 6, 7]


def test_a_fork_that_outlives_its_worker(processes, tmp_path):
    """A process that user code leaves behind does not keep the pool from closing, or the dataset from ending."""
    def make(ds, index):
        import os
        import time
        if index == 0 and not os.fork():
            time.sleep(60)
            os._exit(0)
        return np.array([index])

    before = set(workers_of(None))
    with Made(make, **processes) as ds:
        assert firsts(ds) == list(range(8))
    for name in os.listdir("/proc"):  # it is not infeed's to end
        if name.isdigit() and int(name) not in before:
            try:
                with open(f"/proc/{name}/cmdline") as f:
                    mine = "infeed._worker" in f.read()
            except OSError:
                continue
            if mine:
                os.kill(int(name), signal.SIGKILL)


def test_workers_that_are_stopped_can_be_closed(processes):
    """SIGSTOP: they do not answer, yet nothing waits for them for long."""
    ds = Items(50, max_queue_size=1, **processes)
    it = iter(ds)
    next(it)
    for pid in workers_of(ds):
        os.kill(pid, signal.SIGSTOP)
    ds.close()
    assert workers_of(ds) == []
