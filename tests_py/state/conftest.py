"""Trainings that are broken off and gone on with, compared with unbroken ones; and checkpoints.

KERAS_BACKEND  jax, tensorflow or torch: the trainings on that one only
INFEED_SOAK    set: all trainings on JAX and on TensorFlow, and killed more often

Trainings run in a process of their own for each backend, the one of the contract
tests (contract/child.py), which is used again for the next. trainings.py, on_disk.py
and in_keras.py have them, trained_on.py their datasets; script.py is the training
script that is killed.
"""

import atexit
import functools
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CHILD = HERE.parent / "contract" / "child.py"
LIMIT = 300 * float(os.environ.get("CONTRACT_SLOW", "1"))


@functools.cache
def compiled():
    """A folder of this session for what JAX compiles."""
    folder = tempfile.mkdtemp(prefix="state-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def environment(backend):
    return dict(os.environ, KERAS_BACKEND=backend, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="",
                JAX_PLATFORMS=os.environ.get("JAX_PLATFORMS", "cpu"),
                JAX_COMPILATION_CACHE_DIR=compiled(), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
                JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="-1",
                PYTHONPATH=os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))


class Child:
    """A process that runs scenarios, one line of JSON in, one out."""

    current = None

    def __init__(self, backend):
        self.backend = backend
        r, w = os.pipe()
        self.err = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([sys.executable, CHILD, str(w), "trainings", "on_disk", "in_keras"], stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=self.err, pass_fds=(w,), env=environment(backend),
                                        text=True, start_new_session=True)
        os.close(w)
        self.answers = open(r)
        self.read()

    def read(self):
        """The next answer; one that does not come within the limit fails the test with the stacks of all threads."""
        alarm = threading.Timer(LIMIT, self.process.send_signal, (signal.SIGABRT,))
        alarm.start()
        line = self.answers.readline()
        alarm.cancel()
        alarm.join()
        if not line:
            self.process.wait()
            self.err.seek(0)
            text = self.err.read()[-4000:]
            self.close()
            pytest.fail(f"the process of trainings ended:\n{text}", pytrace=False)
        return json.loads(line)

    def call(self, name, options):
        self.process.stdin.write(json.dumps({"id": 0, "name": name, "kwargs": options}) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        Child.current = None
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for f in (self.process.stdin, self.answers, self.err):
            f.close()


class Failure(AssertionError):
    """A scenario raised; `error` is what contract/child.py says about it."""

    def __init__(self, error):
        super().__init__(error["traceback"])
        self.error = error


def pytest_configure(config):
    config.addinivalue_line("markers", "tensorflow: runs on TensorFlow too, where Keras takes another way")


def pytest_generate_tests(metafunc):
    if "backend" in metafunc.fixturenames:
        chosen = os.environ.get("KERAS_BACKEND")
        both = metafunc.definition.get_closest_marker("tensorflow") is not None or os.environ.get("INFEED_SOAK")
        metafunc.parametrize("backend", [chosen] if chosen else ["jax", "tensorflow"] if both else ["jax"], indirect=True,
                             scope="session")


@pytest.fixture(scope="session")
def backend(request):
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def run(backend):
    """Runs a scenario and returns what it returned; it must leave nothing of infeed's behind."""
    def call(name, **options):
        if Child.current is not None and Child.current.backend != backend:
            Child.current.close()
        if Child.current is None:
            Child.current = Child(backend)
        answer = Child.current.call(name, options)
        if "error" in answer:
            raise Failure(answer["error"])
        assert not answer["left"], f"left behind: {answer['left']}"
        return answer["value"]
    return call


@pytest.fixture(autouse=True)
def nothing_left():
    """The process of trainings answers for itself, and stays for the next test."""


@pytest.fixture(scope="package", autouse=True)
def no_child_after_the_last_test():
    yield
    if Child.current is not None:
        Child.current.close()
