"""SIGKILL at random moments of a training script, which is run again each time: it ends as if nothing had happened."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from .conftest import HERE, LIMIT, environment

KILLS = {"jax": 7, "tensorflow": 3, "torch": 3}
LEAST = 3  # kills, without which the test says little
OPTIONS = {"data": {"length": 20, "workers": 2, "dataset": "Shuffling"}, "val": {"length": 2}, "epochs": 4,
           "callbacks": ["Nudge", "Best"], "backup": {"save_freq": 2}}


class Script:
    def __init__(self, backend, folder):
        folder.mkdir(exist_ok=True)
        self.err = open(folder / "stderr", "w+")
        self.process = subprocess.Popen([sys.executable, HERE / "script.py", folder, json.dumps(OPTIONS)], stdout=subprocess.PIPE,
                                        stderr=self.err, env=environment(backend), text=True, start_new_session=True)

    def lines(self):
        for line in self.process.stdout:
            yield line.strip()

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdout.close()
        self.err.close()


def run(backend, folder, stop=None, delay=0.0):
    """What a script printed, by step, and what it ended with; None where it was killed, a moment after so many steps."""
    script = Script(backend, folder)
    steps, end = {}, None
    try:
        for line in script.lines():
            if line.startswith("{"):
                end = json.loads(line)
                break
            epoch, batch, loss = line.split()
            steps[epoch, batch] = loss
            if len(steps) == stop:
                time.sleep(delay)
                script.process.send_signal(signal.SIGKILL)
        code = script.process.wait(LIMIT)
        script.err.seek(0)
        assert code in (0, -signal.SIGKILL), script.err.read()
    finally:
        script.close()
    return steps, end


@pytest.mark.timeout(1800)
@pytest.mark.tensorflow
def test_killed_at_random_moments(backend, tmp_path):
    kills = 50 if os.environ.get("INFEED_SOAK") else KILLS[backend]
    seed = random.SystemRandom().getrandbits(32)
    print(f"random.Random({seed})")
    moments = random.Random(seed)
    steps, want = run(backend, tmp_path / "unbroken")
    folder, got, end, killed = tmp_path / "killed", {}, None, 0
    while killed < kills:
        # Backups are made every second step, so two steps are never all lost.
        stop = moments.randint(1, max(3, 2 * len(steps) // kills))
        if killed < LEAST:  # not so far that the others of these come after the end: a dozen steps pass in a delay
            stop = max(1, min(stop, len(steps) - len(got) - 12 * (LEAST - killed)))
        seen, end = run(backend, folder, stop, moments.choice([0, moments.random() / 50]))
        check(steps, got, seen)
        if end is not None:
            break
        killed += 1
    if end is None:
        seen, end = run(backend, folder)
        check(steps, got, seen)
    assert end == want
    assert got.keys() == steps.keys()
    assert killed >= LEAST, "it was hardly ever killed"
    assert not (folder / "backup").exists()


def check(want, got, seen):
    """What a run trained on is what the unbroken one did, step by step."""
    for step, loss in seen.items():
        assert loss == want[step], f"epoch and batch {step}"
        got[step] = loss
