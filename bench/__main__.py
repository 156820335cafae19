"""Runs the benchmarks: see the package's documentation."""

import argparse
import dataclasses
import itertools
import json
import sys
import time

from bench import (interpreters, permutation, table, w1_pydataset, w2_arrays, w3_records, w4_csv, w6_snapshots, w8_resume, w9_start,
                   w10_numbers, w11_sequences)
from bench.runner import Runner

QUICK_SCALE = 0.25
WORKLOADS = (w1_pydataset, w2_arrays, w3_records, w4_csv, w6_snapshots, w8_resume, w10_numbers, w11_sequences, permutation, w9_start)


def arguments():
    p = argparse.ArgumentParser(prog="python -m bench", description="infeed beside its peers, in one table of ratios")
    p.add_argument("--only", default="", metavar="TEXT", help="figures whose name contains TEXT; several: A|B")
    p.add_argument("--rounds", type=int, help="measurements of each contender; the median counts (default 5)")
    p.add_argument("--quick", action="store_true", help="three rounds of shorter runs, infeed and what its goals name")
    p.add_argument("--json", action="store_true", help="one JSON line a figure instead of the table")
    p.add_argument("--install", metavar="PEERS", help=f"make environments for: {', '.join(interpreters.REQUIREMENTS)}")
    return p.parse_args()


def chosen(only, quick):
    every = itertools.chain.from_iterable(w.figures(QUICK_SCALE if quick else 1) for w in WORKLOADS)
    some = [f for f in every if any(part.lower() in f.name.lower() for part in only.split("|"))]
    return [without_onlookers(f) for f in some if f.goals] if quick else some


def without_onlookers(figure):
    """The figure with infeed and the contenders that its goals name."""
    named = {g.to for g in figure.goals}
    ours, *others = figure.contenders
    return dataclasses.replace(figure, contenders=(ours, *(c for c in others if c.name in named)))


def judged(figure, measured):
    """The goals of a figure as JSON-able dicts."""
    return [{**dataclasses.asdict(goal), "value": value, "met": met}
            for goal, value, met in table.verdicts(figure, measured)]


def main():
    options = arguments()
    if options.install:
        for peer in options.install.split(","):
            interpreters.install(peer)
        return
    figures = chosen(options.only, options.quick)
    if not figures:
        sys.exit(f"no figure's name contains {options.only!r}")
    runner = Runner(options.rounds or (3 if options.quick else 5))
    pairs, start = [], time.perf_counter()
    try:
        for figure in figures:
            measured = runner.measure(figure)
            pairs.append((figure, measured))
            print(f"{time.perf_counter() - start:5.0f} s  {figure.name}", file=sys.stderr, flush=True)
            if options.json:
                print(json.dumps({**measured, "goals": judged(figure, measured)}), flush=True)
    finally:
        runner.end()
    if not options.json:
        print(table.render(pairs))


if __name__ == "__main__":
    main()
