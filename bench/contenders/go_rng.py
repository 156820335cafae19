"""The permutation of the engine, through the benchmark that Go runs."""

import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def permutation(lengths, milliseconds=40):
    """Nanoseconds an index in bulk, at the length where it is slowest."""
    with tempfile.TemporaryDirectory() as folder:
        test = Path(folder) / "rng.test"
        path = os.pathsep.join([str(ROOT / "build_backend"), os.environ.get("PYTHONPATH", "")])
        subprocess.run([sys.executable, "-m", "infeed_build", "go", "test", "-c", "-o", test, "./core/rng"], cwd=ROOT,
                       env={**os.environ, "PYTHONPATH": path}, check=True, stdout=subprocess.DEVNULL)
        command = [test, "-test.run", "^$", "-test.bench", f"^BenchmarkFill$/^n=({'|'.join(map(str, lengths))})$",
                   "-test.benchtime", f"{milliseconds}ms"]

        def run():
            text = subprocess.run(command, cwd=ROOT / "core" / "rng", check=True, capture_output=True, text=True).stdout
            found = {int(n): float(ns) for n, ns in re.findall(r"n=(\d+)\S*\s.*?([\d.]+) ns/index", text)}
            missing = set(lengths) - set(found)
            if missing:
                raise RuntimeError(f"the benchmark of core/rng has no figure for n = {sorted(missing)}")
            worst = max(found, key=found.get)
            return found[worst], f"slowest: n = {worst:,}"

        yield run
