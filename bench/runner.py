"""Measures a figure: its contenders one after the other, round after round."""

import itertools
import json
import os
import select
import signal
import statistics
import subprocess
import tempfile
import time

from bench import interpreters
from bench.processes import Load

ENVIRONMENT = {"KERAS_BACKEND": "jax", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3",
               "PYTHONWARNINGS": "ignore"}
START_LIMIT = 120.0


class Hung(Exception):
    """No answer in time."""


class Child:
    """A process that measures, and all that it starts."""

    def __init__(self, python):
        path = [str(interpreters.ROOT), os.environ.get("PYTHONPATH", "")]
        self.ended = False
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [python, "-m", "bench.child"], cwd=interpreters.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, text=True, start_new_session=True,
            env={**os.environ, **ENVIRONMENT, "PYTHONPATH": os.pathsep.join(p for p in path if p)})

    def ask(self, order, limit):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], limit)[0]:
            raise Hung(f"nothing within {limit:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            raise RuntimeError("the process ended: " + self.log.read()[-300:])
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"].strip().splitlines()[-1])
        return reply

    def end(self):
        """Ends the process and, as it leads a session of its own, those it left behind."""
        self.ended = True
        try:
            self.process.stdin.close()
            self.process.wait(2.0)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Entry:
    """A contender in the rounds of one figure."""

    def __init__(self, contender, children):
        self.contender, self.children = contender, children
        self.values, self.note, self.failure = {}, "", ""
        self.child, self.key = None, None
        self.python, self.skipped = interpreters.find(contender.needs)
        self.failure = self.skipped

    def open(self, number):
        c = self.contender
        # Contenders of one file share a process, as importing takes seconds.
        place = (self.python, c.make.split(":")[0]) if not c.fresh else object()
        child = self.children.get(place)
        if child is None:
            child = self.children[place] = Child(self.python)
        self.child, self.key, self.place = child, number, place
        child.ask({"open": number, "make": c.make, "options": c.options}, START_LIMIT)

    def run(self, round_, numbers):
        if self.failure:
            return
        try:
            if self.child is None or self.child.ended:  # it may have hung in another contender's run
                self.open(next(numbers))
            reply = self.child.ask({"run": self.key}, self.contender.limit)
            self.values[round_] = reply["value"]
            self.note = self.note or reply["note"]
            if self.contender.fresh:
                self.close()
        except (Hung, RuntimeError, OSError) as e:
            self.failure = str(e)
            self.abandon()

    def close(self):
        if self.child is None or self.child.ended:
            return
        try:
            self.child.ask({"close": self.key}, self.contender.limit)
            if self.contender.fresh:
                self.abandon()
        except (Hung, RuntimeError, OSError):
            self.abandon()
        self.child = None

    def abandon(self):
        if self.child is not None:
            self.children.pop(self.place, None)
            self.child.end()
            self.child = None

    def result(self):
        value = statistics.median(self.values.values()) if self.values and not self.failure else None
        return {"name": self.contender.name, "value": value, "note": self.failure or self.note,
                "skipped": bool(self.skipped), "runs": [self.values[k] for k in sorted(self.values)]}


class Runner:
    """Measures figures, keeping processes for the next one."""

    def __init__(self, rounds):
        self.rounds, self.children, self.numbers = rounds, {}, itertools.count()

    def measure(self, figure):
        """A dict: the figure's name, unit, contenders with values, ratios and differences, other load."""
        entries = [Entry(c, self.children) for c in figure.contenders]
        started = time.perf_counter()
        if figure.warm:
            self._round(entries, 0)
            for e in entries:
                e.values.clear()
        load = Load(os.getpid(), time.perf_counter)
        for round_ in range(1, (figure.rounds or self.rounds) + 1):
            self._round(entries, round_)
        others = load.others()
        for e in entries:
            e.close()
        return {"figure": figure.name, "unit": figure.unit, "seconds": round(time.perf_counter() - started, 1),
                "other_cores": round(others, 2), "contenders": [self._beside(e, entries[0]) for e in entries]}

    def _round(self, entries, round_):
        for e in entries:
            e.run(round_, self.numbers)

    @staticmethod
    def _beside(entry, ours):
        result = entry.result()
        pairs = [(ours.values[r], v) for r, v in entry.values.items() if r in ours.values]
        if entry is not ours and pairs and not entry.failure:
            result["ratio"] = statistics.median(a / b for a, b in pairs if b)
            result["difference"] = statistics.median(a - b for a, b in pairs)
        return result

    def end(self):
        for child in self.children.values():
            child.end()
        self.children.clear()
