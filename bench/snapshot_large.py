"""W6, what takes gigabytes or a kill: memory and opening of large snapshots, and what keeping costs.

    python -m bench.snapshot_large                       all figures; 10 GB of disk, some minutes
    python -m bench.snapshot_large --only open           those whose name contains "open"
    python -m bench.snapshot_large --folder /data        where to write (default: .bench/data)
    python -m bench.snapshot_large --scale 0.01          smaller runs, for a look

Each figure is measured in processes of its own; what they write is removed. Memory is the
most that a process held (VmHWM) beyond what it held when infeed was imported and loaded.
"""

import argparse
import functools
import json
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

COMMON = """
import json, sys, time
import infeed
import numpy as np

def memory(line):
    return next(int(x.split()[1]) * 1024 for x in open("/proc/self/status") if x.startswith(line))

infeed.Dataset.range(1).cardinality()  # the library is loaded when it is needed
imported = memory("VmRSS")
path, n, compression, work = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def pictures(n):
    "n elements of 30,000 bytes."
    levels = np.random.default_rng(1).integers(0, 256, (64, 50, 50, 3)) / 255
    return infeed.Dataset.from_tensor_slices(levels.astype("float32")).repeat(-(-n // 64)).take(n)

def working(n):
    "The same with about a millisecond of arithmetic each."
    def busy(x):
        y = x
        for _ in range(work):
            y = np.sqrt(y * y + 1)
        return y
    return pictures(n).map(busy)

def walk(ds):
    start = time.perf_counter()
    for _ in ds:
        pass
    return time.perf_counter() - start

def tell(**found):
    print(json.dumps({**found, "memory": memory("VmHWM") - imported}), flush=True)
"""

SAVES = COMMON + "pictures(n).save(path, compression); tell()"
KEEPS = COMMON + "walk(pictures(n).snapshot(path, compression)); tell()"
NUMBERS = COMMON + "infeed.Dataset.range(n).save(path); tell()"
OPENS = COMMON + """
start = time.perf_counter()
ds = infeed.Dataset.load(path)
assert len(ds) == n
opened = time.perf_counter() - start
assert ds[n // 2] == n // 2
tell(opened=opened, first=time.perf_counter() - start)
"""
COSTS = COMMON + """
ds = working(n)
tell(plain=walk(ds), kept=walk(ds.snapshot(path, compression)), again=walk(ds))
"""
BREAKS_OFF = COMMON + """
for i, x in enumerate(working(n).snapshot(path, compression)):
    if i == n // 2:
        print("halfway", flush=True)
"""
FIRST = COMMON + """
start = time.perf_counter()
it = iter(working(n).snapshot(path, compression))
next(it)
tell(first=time.perf_counter() - start)
"""


def run(code, path, n, compression="NONE", work=0):
    """What a process says of itself."""
    command = [sys.executable, "-c", code, str(path), str(n), compression, str(work)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def removed(measure):
    """measure(folder, scale), with a folder that is removed afterwards."""
    @functools.wraps(measure)
    def measured(home, scale):
        folder = Path(tempfile.mkdtemp(dir=home))
        try:
            yield from measure(folder, scale)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return measured


@removed
def memory_while_writing(folder, scale):
    n = int(scale * 10**10) // 30_000
    for name, code, compression in (("save", SAVES, "NONE"), ("snapshot", KEEPS, "NONE"), ("save", SAVES, "ZSTD")):
        found = run(code, folder / "s", n, compression)
        shutil.rmtree(folder / "s")
        yield f"memory while {name} writes {n * 30_000 / 1e9:.3g} GB, {compression}", found["memory"] / 1e6, "MB", 300


@removed
def opening(folder, scale):
    n = int(scale * 10**9)
    found = run(NUMBERS, folder / "s", n)
    yield f"memory while {n:.3g} elements of 8 bytes are written", found["memory"] / 1e6, "MB", 300
    opened = [run(OPENS, folder / "s", n) for _ in range(5)]
    for key, goal in (("opened", 50), ("first", None)):
        what = {"opened": "open a snapshot", "first": "open it and read an element"}[key]
        yield f"{what} of {n:.3g} elements of 8 bytes", 1e3 * statistics.median(f[key] for f in opened), "ms", goal
    yield "memory of that", max(f["memory"] for f in opened) / 1e6, "MB", 50


def millisecond(folder):
    """How many rounds of work make a pass take a millisecond for each element."""
    took = run(COMMON + "walk(working(300)); tell(took=walk(working(1000)))", folder, 0, work=40)["took"]
    return max(round(40 / took), 1)


@removed
def cost_of_keeping(folder, scale):
    n, work = max(int(12_000 * scale), 100), millisecond(folder)
    for compression in ("NONE", "AUTO"):
        ratios = []
        for i in range(3):
            found = run(COSTS, folder / f"s{i}", n, compression, work)
            shutil.rmtree(folder / f"s{i}")
            ratios.append(2 * found["kept"] / (found["plain"] + found["again"]) - 1)
        yield f"what a snapshot adds to a pass of {n} elements of 1 ms, {compression}", 100 * statistics.median(ratios), "%", 3


@removed
def going_on(folder, scale):
    n, work = max(int(40_000 * scale), 400), 3
    fresh, on = [], []
    for i in range(5):
        path = folder / f"s{i}"
        command = [sys.executable, "-c", BREAKS_OFF, str(path), str(n), "NONE", str(work)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "halfway\n"
        time.sleep(0.05 * i)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        on.append(run(FIRST, path, n, "NONE", work)["first"])
        fresh.append(run(FIRST, folder / f"f{i}", n, "NONE", work)["first"])
        shutil.rmtree(path)
    yield "first element of a fresh pass", 1e3 * statistics.median(fresh), "ms", None
    yield "going on after a kill: first element, beyond that", 1e3 * (statistics.median(on) - statistics.median(fresh)), "ms", 50


FIGURES = (cost_of_keeping, going_on, opening, memory_while_writing)


def main():
    p = argparse.ArgumentParser(prog="python -m bench.snapshot_large", description=__doc__.splitlines()[0])
    p.add_argument("--only", default="", help=f"of {', '.join(f.__name__ for f in FIGURES)}: those whose name contains this")
    p.add_argument("--folder", type=Path, default=ROOT / ".bench" / "data")
    p.add_argument("--scale", type=float, default=1.0)
    options = p.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    missed = 0
    for figure in FIGURES:
        if options.only in figure.__name__:
            for name, value, unit, goal in figure(options.folder, options.scale):
                missed += goal is not None and value > goal
                bound = "" if goal is None else f"   at most {goal}: {'yes' if value <= goal else 'NO'}"
                print(f"{name:70} {value:9.1f} {unit:3}{bound}", flush=True)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
