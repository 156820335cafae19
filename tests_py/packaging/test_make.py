"""The Makefile's targets are there, do the checks in the promised order, and are what CI runs."""

import os
import re

from .conftest import ROOT, check

# These tests may themselves run under `make test`.
OUTERMOST = dict.fromkeys(["MAKEFLAGS", "MFLAGS", "MAKELEVEL"])


def test_help_lists_every_target_with_what_it_does():
    listed = dict(re.findall(r"^make (\w+) +(\S.*)$", check(["make", "help"], ROOT, **OUTERMOST), re.M))
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split()
    assert sorted(listed) == sorted(phony)
    assert {"demo", "test", "bench", "check", "race", "soak", "help"} <= set(listed)


def test_test_target_vets_then_races_then_ends_with_pytest():
    lines = check(["make", "--dry-run", "test"], ROOT, **OUTERMOST).splitlines()
    last = [re.sub(r".*infeed_build ", "", line) for line in lines[-3:]]
    assert last == ["go vet ./...", "go test -race ./...", ".venv/bin/python -m pytest"]


def test_ci_is_the_test_target():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    commands = [line for line in script.read_text().splitlines() if not line.startswith(("#", "set ", "cd "))]
    assert commands == ["exec make test"]
