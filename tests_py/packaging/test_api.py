"""The names that others may rely on are the ones listed under api/.

A name is added or taken away on purpose: change the code, run `make api`, and
commit the changed list. tests_go/api does the same for the Go packages.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import infeed

from .conftest import ROOT, check

LIBRARY = Path(infeed.__file__).parent / "libinfeed.so"
UPDATE = bool(os.environ.get("INFEED_UPDATE_API"))

# Run in a process of its own: importing Keras settles its backend for good.
PUBLIC_NAMES = '''
import importlib, inspect, sys
for module_name in sys.argv[1:]:
    module = importlib.import_module(module_name)
    for name in module.__all__:
        value = getattr(module, name)
        print(f"{module_name}.{name}")
        if inspect.isclass(value) and value.__module__.startswith("infeed"):
            for member in vars(value):
                if not member.startswith("_"):
                    print(f"{module_name}.{name}.{member}")
'''


def compare(file, names, update=UPDATE):
    """Assert that the names are the listed ones, or list them when that is asked for."""
    path = ROOT / "api" / file
    if update:
        path.write_text("".join(f"{name}\n" for name in sorted(names)))
    listed = set(path.read_text().split())
    advice = f"if this is wanted, run `make api` and commit api/{file}"
    assert set(names) - listed == set(), f"public, but not in api/{file}: {advice}"
    assert listed - set(names) == set(), f"in api/{file}, but not public any more: {advice}"


def test_python_names():
    command = [sys.executable, "-c", PUBLIC_NAMES, "infeed", "infeed.io", "infeed.keras"]
    compare("python.txt", check(command, "/", KERAS_BACKEND="jax").split())


def test_c_names_of_the_header():
    header = (ROOT / "capi" / "infeed.h").read_text()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    compare("c.txt", set(re.findall(r"\b(infeed_\w+)\s*\(", header)))


def test_c_names_that_the_library_shows():
    listing = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    compare("c.txt", {line.split()[-1].partition("@")[0] for line in listing.splitlines()}, update=False)
