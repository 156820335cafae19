"""What holds for every test: nothing is left behind, and long loops run only when asked for.

INFEED_SOAK   set: the tests marked `soak` run too
"""

import ast
import functools
import gc
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

# Seconds for what ends by itself, such as a thread whose last reference is gone.
SETTLE = 5.0
PASSED = pytest.StashKey()


def pytest_configure(config):
    config.addinivalue_line("markers", "soak: a longer loop of a test, run by `make soak` only")
    # What is ignored here, as in the background of a shell or by nohup, would be in the programs that tests interrupt.
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, lambda *_: None)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def pytest_collection_modifyitems(config, items):
    if os.environ.get("INFEED_SOAK"):
        return
    soak = [i for i in items if i.get_closest_marker("soak")]
    config.hook.pytest_deselected(items=soak)
    items[:] = [i for i in items if not i.get_closest_marker("soak")]


def children():
    """Processes whose parent is this one, dead ones that nobody waited for included."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as f:
                    parent = f.read().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == os.getpid():
                found.add(int(name))
    return found


# What Go's runtime keeps open: what it waits on, and the limits of its container.
RUNTIME = ("anon_inode:[eventpoll]", "anon_inode:[eventfd]", "/sys/fs/cgroup/")


def descriptors():
    """Open descriptors by number, but for those of Go's runtime."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # that of the listing itself
    return {n: at for n, at in found.items() if not at.startswith(RUNTIME)}


def engine_counts():
    """What is alive in the engine; empty where the library was never loaded."""
    native = sys.modules.get("infeed._native")
    if native is None or not native.loaded():
        return {}
    return {k: v for k, v in native.alive().items() if v}


def pytest_collection_finish(session):
    # What is there by now stays; the collections after every test need not look at it again.
    gc.collect()
    gc.freeze()


class Before:
    """What there was when a test began: a failed one before it may still hold things through its traceback."""

    def __init__(self):
        self.threads, self.children = set(threading.enumerate()), children()
        self.descriptors, self.engine = descriptors(), engine_counts()

    def threads_since(self):
        return [t for t in threading.enumerate() if t.name.startswith("infeed-") and t not in self.threads]

    def left(self):
        """In words, what is there now and was not."""
        found = [f"thread {t.name}" for t in self.threads_since()]
        found += [f"process {p}" for p in children() - self.children]
        found += [f"descriptor {n}: {at}" for n, at in descriptors().items() if n not in self.descriptors]
        found += [f"engine: {v} {k}" for k, v in engine_counts().items() if v > self.engine.get(k, 0)]
        return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    return report


@pytest.fixture(autouse=True)
def nothing_left(request):
    """After every test that passed: no thread, process, descriptor, mapping or goroutine of infeed's."""
    before = Before()
    yield
    if not request.node.stash.get(PASSED, False):
        return
    end = time.monotonic() + SETTLE
    gc.collect()
    while (left := before.left()) and time.monotonic() < end:
        for t in before.threads_since():
            t.join(0.1)
        gc.collect()
        time.sleep(0.01)
    assert not left, "left behind: " + "; ".join(left)


@functools.cache
def never_between(path):
    """Lines of a file that Python goes to without looking for signals: `with` lines at their end, and `finally`."""
    lines = set()
    for node in ast.walk(ast.parse(Path(path).read_text())):
        if isinstance(node, ast.With):
            lines.update(range(node.lineno, node.body[0].lineno))
        for statement in getattr(node, "finalbody", ()):
            lines.update(range(statement.lineno, statement.end_lineno + 1))
    return lines


class Interrupt:
    """`with Interrupt(n):` raises Interrupt.Exception at the n-th of the lines and calls of infeed's Python code."""

    class Exception(BaseException):
        pass

    def __init__(self, n):
        self.left = n

    def __enter__(self):
        self.folder = os.path.dirname(sys.modules["infeed"].__file__) + os.sep
        sys.settrace(self._step)

    def __exit__(self, *_):
        sys.settrace(None)

    def _step(self, frame, event, argument):
        path = frame.f_code.co_filename
        if not path.startswith(self.folder):
            return None
        # Raised while another exception is handled, that one would never be freed by Python 3.11.
        if event == "call" or event == "line" and frame.f_lineno not in never_between(path):
            if sys.exc_info()[0] is None:
                self.left -= 1
                if self.left == 0:
                    raise self.Exception
        return self._step


@pytest.fixture
def interrupt():
    """What an exception of a signal's handler may do, at every place in turn."""
    return Interrupt
