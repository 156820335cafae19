"""Processes that store: killed, together, and where there is no room."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import infeed

WRITER = """
import json, logging, sys, infeed
logging.basicConfig(format="%(message)s")
path, parts, count, pause = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
made = []
def slow(x):
    import time
    made.append(int(x))
    time.sleep(pause)
    return {"x": x, "t": str(int(x)).encode() * 10}
ds = infeed.Dataset.range(count).map(slow).shuffle(count).snapshot(path, None, shard_func=(lambda e: e["x"] % parts) if parts else None, fingerprint="1")
ds._node.args["chunk_bytes"] = 4000  # of some hundred elements: much is committed on the way
out = []
for e in ds:
    if not out:
        print("begun", flush=True)
    out.append([int(e["x"]), int(e["t"][:len(e["t"]) // 10])])
print(json.dumps([out, len(made)]), flush=True)
"""


@pytest.fixture
def start(tmp_path):
    """start(*arguments): a process that stores, which has given its first element."""
    script = tmp_path / "writer.py"
    script.write_text(WRITER)
    started = []

    def start(parts, count=2000, pause=0.0005, **options):
        process = subprocess.Popen([sys.executable, script, tmp_path / "s", str(parts), str(count), str(pause)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, **options)
        started.append(process)
        assert process.stdout.readline() == "begun\n", process.communicate()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def finished(process):
    """(what it gave, how many elements it made, what it logged)."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return (*json.loads(out), err)


@pytest.mark.parametrize("parts", [0, 3])
def test_a_killed_writer_is_gone_on_with(parts, tmp_path, start):
    """A writer is killed at random moments; in the end each element is stored once, in one order."""
    rounds, r = (50 if os.environ.get("INFEED_SOAK") else 10 if parts == 0 else 5), random.Random(parts)
    for _ in range(rounds):
        process = start(parts)
        time.sleep(r.random() * 0.3)  # the moment is what is random
        process.send_signal(signal.SIGKILL)
        process.communicate()
    given, made, _ = finished(start(parts))
    assert made < 2000, "nothing was committed"
    assert sorted(given) == [[x, x] for x in range(2000)]
    (folder,) = (tmp_path / "s").iterdir()
    stored = infeed.Dataset.load(folder)
    assert [[int(e["x"]), int(e["t"][:len(e["t"]) // 10])] for e in stored] == given
    assert finished(start(parts))[0] == given


def test_two_processes_at_once(tmp_path, start):
    """Both give all elements; one snapshot is there, and is read by the next."""
    processes = [start(0), start(0)]
    both = [finished(p) for p in processes]
    for given, _, err in both:
        assert sorted(given) == [[x, x] for x in range(2000)] and "not kept" not in err
    (folder,) = (tmp_path / "s").iterdir()
    stored = [int(e["x"]) for e in infeed.Dataset.load(folder)]
    assert stored in [[x for x, _ in given] for given, _, _ in both]
    assert [x for x, _ in finished(start(0))[0]] == stored


def test_a_disk_that_fills_up(tmp_path, start):
    """The elements come, that they are not kept is said once, and when there is room the next pass keeps them."""
    code = "import resource, sys, os; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); os.execv(sys.argv[1], sys.argv[1:])"
    script = tmp_path / "writer.py"
    command = [sys.executable, "-c", code, sys.executable, script, tmp_path / "s", "0", "500", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert sorted(json.loads(done.stdout.splitlines()[1])[0]) == [[x, x] for x in range(500)]
    assert done.stderr.count("is not kept, though its elements are given") == 1
    given = finished(start(0, 500, 0))[0]
    (folder,) = (tmp_path / "s").iterdir()
    assert [int(e["x"]) for e in infeed.Dataset.load(folder)] == [x for x, _ in given]
