"""Contract of a parallel PyDataset, checked through real Keras training.

PYDATASET      class under test, default infeed.keras.PyDataset
KERAS_BACKEND  jax, tensorflow or torch: all tests on that one
CONTRACT_SLOW  factor for all time limits, default 1
INFEED_SOAK    set: all tests on JAX and on TensorFlow

By default all tests run on JAX, and those marked `tensorflow`, whose way through
Keras differs there, on TensorFlow too, with two kinds of workers.

Scenarios run in a child process (child.py) that is killed, with all its own
children, when it gives no answer in time, and used again for the next scenario
otherwise: after each scenario nothing may be left in it. A class other than
infeed's is not held to that, and gets a new child after an exception and where a
test asks for fresh=True.

datasets.py has the datasets, and needs no Keras in worker processes; recording.py
the model that writes down what its training step is given; training.py, living.py
and passes.py the scenarios.
"""

import atexit
import functools
import importlib.util
import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
MODULES = ["training", "living", "passes"]
CLASS = os.environ.get("PYDATASET", "infeed.keras.PyDataset")
OURS = CLASS.startswith("infeed.")
SLOW = float(os.environ.get("CONTRACT_SLOW", "1"))
START_LIMIT = 120


@functools.cache
def compiled():
    """A folder of this session for what JAX compiles."""
    folder = tempfile.mkdtemp(prefix="contract-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Hang(Exception):
    pass


class Child:
    ids = itertools.count()

    def __init__(self, backend):
        env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", KERAS_BACKEND=backend,
                   PYDATASET=CLASS, JAX_PLATFORMS=os.environ.get("JAX_PLATFORMS", "cpu"),
                   # The same small model is compiled for every scenario: most of the time there was.
                   JAX_COMPILATION_CACHE_DIR=compiled(), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
                   JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="-1",
                   PYTHONPATH=os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
        self.backend = backend
        r, w = os.pipe()
        self.err = tempfile.TemporaryFile("w+")
        self.proc = subprocess.Popen(
            [sys.executable, str(HERE / "child.py"), str(w), *MODULES],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=self.err,
            pass_fds=(w,), env=env, text=True, start_new_session=True)
        os.close(w)
        self.fd, self.buf = r, b""
        self.read(START_LIMIT * SLOW)

    def read(self, limit):
        end = time.monotonic() + limit
        while b"\n" not in self.buf:
            left = end - time.monotonic()
            if left <= 0:
                raise Hang(f"no answer within {limit:g} s; stacks:\n{self.stacks()}")
            if select.select([self.fd], [], [], left)[0]:
                got = os.read(self.fd, 65536)
                if not got:
                    raise Hang(f"the child died (exit {self.proc.wait()}):\n{self.tail()}")
                self.buf += got
        line, self.buf = self.buf.split(b"\n", 1)
        return json.loads(line)

    def call(self, name, kwargs, limit):
        ident = next(self.ids)
        self.proc.stdin.write(json.dumps({"id": ident, "name": name, "kwargs": kwargs}) + "\n")
        self.proc.stdin.flush()
        while True:
            answer = self.read(limit)
            if answer.get("id") == ident:
                return answer

    def tail(self, chars=2500):
        self.err.seek(0)
        return self.err.read()[-chars:]

    def stacks(self):
        self.proc.send_signal(signal.SIGABRT)  # faulthandler prints all stacks
        try:
            self.proc.wait(5)
        except subprocess.TimeoutExpired:
            pass
        return self.tail()

    def close(self):
        try:
            os.killpg(self.proc.pid, signal.SIGKILL)  # the child leads its own group
        except ProcessLookupError:
            pass
        self.proc.wait()
        for f in (self.proc.stdin, self.err):
            try:
                f.close()
            except OSError:
                pass
        os.close(self.fd)


class Failure(AssertionError):
    """The scenario raised; .error is what child.describe() made of it."""

    def __init__(self, error):
        super().__init__(error["traceback"])
        self.error = error


class Runner:
    """Calls scenarios on one backend, in a child that is kept from test to test."""

    child = None
    broken = {}  # why no child of a backend gets as far as its first scenario

    def __init__(self, backend):
        self.backend = backend

    @classmethod
    def drop(cls):
        if Runner.child is not None:
            Runner.child.close()
            Runner.child = None

    def __call__(self, name, limit=40, fresh=False, **kwargs):
        """Run one scenario and return its value; a hang fails the test."""
        fresh = fresh and not OURS
        if fresh or Runner.child is not None and Runner.child.backend != self.backend:
            self.drop()
        if self.backend in self.broken:
            pytest.fail(self.broken[self.backend], pytrace=False)
        if Runner.child is None:
            try:
                Runner.child = Child(self.backend)
            except Hang as e:
                self.broken[self.backend] = f"no child on {self.backend}: {e}"
                pytest.fail(self.broken[self.backend], pytrace=False)
        try:
            answer = Runner.child.call(name, kwargs, limit * SLOW)
        except Hang as e:
            self.drop()
            pytest.fail(f"HANG in {name}({kwargs}): {e}", pytrace=False)
        except BaseException:
            self.drop()
            raise
        if fresh or answer["left"] or "error" in answer and not OURS:
            self.drop()
        if answer["left"]:
            pytest.fail(f"{name}({kwargs}) left behind: {answer['left']}", pytrace=False)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer["value"]


def pytest_configure(config):
    config.addinivalue_line("markers", "tensorflow: runs on TensorFlow too, where Keras takes another way")


def pytest_generate_tests(metafunc):
    if "backend" in metafunc.fixturenames:
        marked = metafunc.definition.get_closest_marker("tensorflow") is not None
        metafunc.parametrize("backend", _backends(marked), indirect=True, scope="session")


def _backends(marked):
    chosen = os.environ.get("KERAS_BACKEND")
    if chosen:
        return [chosen]
    return ["jax", "tensorflow"] if marked or os.environ.get("INFEED_SOAK") else ["jax"]


# What TensorFlow is tried with by default, where there is a choice: (workers, processes).
FEW = [(4, False), (2, True)]


def pytest_collection_modifyitems(config, items):
    if os.environ.get("INFEED_SOAK") or os.environ.get("KERAS_BACKEND"):
        return
    spared = [i for i in items if _spared(getattr(i, "callspec", None))]
    config.hook.pytest_deselected(items=spared)
    items[:] = [i for i in items if not _spared(getattr(i, "callspec", None))]


def _spared(callspec):
    if callspec is None or callspec.params.get("backend") != "tensorflow":
        return False
    return "processes" in callspec.params and (callspec.params["workers"], callspec.params["processes"]) not in FEW


@pytest.fixture(scope="session")
def backend(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def run(backend):
    return Runner(backend)


@pytest.fixture
def fails(run):
    """Runs a scenario that must raise; returns the description of the error."""

    def call(name, limit=40, **kwargs):
        try:
            value = run(name, limit, **kwargs)
        except Failure as e:
            return e.error
        pytest.fail(f"{name}({kwargs}) should raise, but returned {value!r}", pytrace=False)

    return call


@pytest.fixture
def ours():
    """For what only infeed promises."""
    if not OURS:
        pytest.skip(f"{CLASS} does not promise this")


@pytest.fixture(autouse=True)
def nothing_left():
    """The child answers for itself, and stays for the next test."""


@pytest.fixture(scope="package", autouse=True)
def no_child_after_the_last_test():
    yield
    Runner.drop()


def pytest_report_header(config):
    return f"contract: {CLASS}"
