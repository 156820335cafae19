"""Fixtures for tests of infeed.PyDataset by itself: kinds of workers, and scripts in a process of their own."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import cloudpickle
import infeed
import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # for samples, here and in worker processes

from samples import KINDS, PARALLEL, PROCESSES  # noqa: E402

PACKAGE = str(Path(infeed.__file__).resolve().parents[1])


def pytest_generate_tests(metafunc):
    # One worker process and two differ in little: where all kinds are tried, `make soak` tries one.
    few = [] if os.environ.get("INFEED_SOAK") else ["process"]
    every, parallel = [k for k in KINDS if k not in few], [k for k in PARALLEL if k not in few]
    for name, chosen in (("kind", every), ("parallel", parallel), ("processes", PROCESSES)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, [KINDS[k] for k in chosen], ids=chosen)


@pytest.fixture(scope="module", autouse=True)
def by_value(request):
    """Workers need not import the test module: its functions and classes go to them by value."""
    cloudpickle.register_pickle_by_value(request.module)
    yield
    cloudpickle.unregister_pickle_by_value(request.module)


def session_of(pid):
    """Processes of the session that a process leads or led, without dead ones."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    state, _, _, session = f.read().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(session) == pid and state != "Z":
                found.append(int(name))
    return found


class Script:
    """A Python program that runs in a session of its own."""

    def __init__(self, code, cwd, command=None, **env):
        merged = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGE, str(HERE)]), "PYTHONFAULTHANDLER": "1", **env}
        self.process = subprocess.Popen(
            command or [sys.executable, "-c", textwrap.dedent(code)], cwd=cwd, env=merged, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.pid = self.process.pid

    def line(self):
        """The next line that it prints."""
        return self.process.stdout.readline().strip()

    def send(self, number):
        os.kill(self.pid, number)

    def wait(self, limit=30):
        """Its exit status, once it has ended; a hang fails the test with the stacks of all threads."""
        try:
            self.out, self.err = self.process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGABRT)
            self.end()
            pytest.fail(f"the script has not ended within {limit} s:\n{self.process.stderr.read()[-4000:]}")
        return self.process.returncode

    def until_asleep(self, limit=20):
        """Waits until its main thread waits for something."""
        end = time.monotonic() + limit
        while (state := Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]) != "S":
            assert time.monotonic() < end, f"its main thread is in state {state}"
            time.sleep(0.01)

    def gone(self, limit=5):
        """True when no process of its session is left; waits for it up to a limit."""
        end = time.monotonic() + limit
        while session_of(self.pid) and time.monotonic() < end:
            time.sleep(0.01)
        return not session_of(self.pid)

    def end(self):
        for pid in session_of(self.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()

    def close(self):
        self.end()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def start(tmp_path):
    """Starts a script; whatever becomes of it, nothing of it is left after the test."""
    started = []

    def call(code, cwd=tmp_path, command=None, **env):
        started.append(Script(code, cwd, command, **env))
        return started[-1]

    yield call
    for s in started:
        s.close()


@pytest.fixture
def script(start):
    """Runs a script that must succeed, say nothing on stderr and leave no process; returns its output."""

    def call(code, limit=60, **options):
        s = start(code, **options)
        status = s.wait(limit)
        assert (status, s.err) == (0, ""), f"exit status {status}\n{s.out}\n{s.err}"
        assert s.gone(), "a process is left"
        return s.out

    return call
