"""The names and arguments that others may rely on are the ones listed under api/.

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
import enum, importlib, inspect, sys

def arguments(f):
    try:
        found = [p for p in inspect.signature(f).parameters.values() if p.name not in ("self", "_cls")]
    except ValueError:  # of classes that take what their base in C takes
        return "()"
    names, starred = [], False
    for p in found:
        if p.kind is p.KEYWORD_ONLY and not starred:
            names.append("*")
        starred = starred or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        names.append({p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name)
    return f"({', '.join(names)})"

def show(label, value, called=True):
    print(label + (arguments(value) if callable(value) and called else ""))
    if inspect.isclass(value):
        above = {c for base in value.__mro__[1:] if base in PUBLIC for c in base.__mro__}  # listed with the public base
        for c in set(value.__mro__) - above:
            for member in vars(c) if c.__module__.startswith("infeed") else ():
                if not member.startswith("_"):
                    found = getattr(value, member)
                    print(f"{label}.{member}" + (arguments(found) if callable(found) else ""))

MODULES = [importlib.import_module(name) for name in ("infeed", "infeed.experimental", "infeed.io", "infeed.keras", "infeed.random", "infeed.testing")]
PUBLIC = [value for m in MODULES for value in (getattr(m, name) for name in m.__all__) if inspect.isclass(value)]
for module in MODULES:
    for name in module.__all__:
        value = getattr(module, name)
        not_made = inspect.isclass(value) and issubclass(value, (Exception, enum.Enum))
        show(f"{module.__name__}.{name}", value, called=not not_made and name != "Dataset")  # a Dataset is made by its class methods

# What is returned and has no public class.
RETURNED = {"iter(infeed.Dataset)": "_iterator.Iterator", "iter(infeed.PyDataset)": "_pass.PassIterator",
            "infeed.Dataset.to_jax()": "jax.DeviceIterator", "infeed.keras.audit()": "_audit.Report"}
for label, place in RETURNED.items():
    module_name, _, name = place.rpartition(".")
    value = getattr(importlib.import_module(f"infeed.{module_name}"), name)
    for member in sorted(set(dir(value)) | set(getattr(value, "__dataclass_fields__", ()))):
        if not member.startswith("_"):
            found = getattr(value, member, None)
            print(f"{label}.{member}" + (arguments(found) if callable(found) else ""))
'''


def compare(file, names, update=UPDATE):
    """Assert that the names are the listed ones, or list them when that is asked for."""
    path = ROOT / "api" / file
    if update:
        path.write_text("".join(f"{name}\n" for name in sorted(names)))
    listed = set(path.read_text().splitlines())
    advice = f"if this is wanted, run `make api` and commit api/{file}"
    assert set(names) - listed == set(), f"public, but not in api/{file}: {advice}"
    assert listed - set(names) == set(), f"in api/{file}, but not public any more: {advice}"


def test_python_names():
    compare("python.txt", set(check([sys.executable, "-c", PUBLIC_NAMES], "/", KERAS_BACKEND="jax").splitlines()))


def test_c_names_of_the_header():
    header = (ROOT / "capi" / "infeed.h").read_text()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    compare("c.txt", set(re.findall(r"\b(infeed_\w+)\s*\(", header)))


def test_c_names_that_the_library_shows():
    listing = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    compare("c.txt", {line.split()[-1].partition("@")[0] for line in listing.splitlines()}, update=False)
