"""`infeed doctor`: what was built in and what the machine offers, for a report of a problem.

It must work where nothing else does: it loads no other part of the package until it
knows that the library is there.
"""

import importlib.metadata
import importlib.util
import os
import platform
import sys
from pathlib import Path

import infeed
from infeed import _elf

LIBRARY = Path(__file__).with_name("libinfeed.so")
OPTIONAL = ("keras", "jax", "tensorflow", "torch")

# What the kernels and checksums can make use of, of the many flags that a processor has.
_FEATURES = ("sse4_2", "pclmulqdq", "avx", "avx2", "fma", "bmi2", "f16c", "avx512f", "avx512bw", "avx512vl", "gfni")


def examine():
    """Return the findings of `infeed doctor` as a JSON-able dict; what is wrong is listed under "problems"."""
    problems = []
    report = {
        "infeed": infeed.__version__,
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "numpy": _version("numpy"),
        "cloudpickle": _version("cloudpickle"),
        "library": _library(problems),
        "system": _system(),
        "optional": _optional(),
        "problems": problems,
    }
    return report


def describe(report):
    """Return the findings of `examine` as text for a person."""
    library, system = report["library"], report["system"]
    rows = [
        ("infeed", report["infeed"]),
        ("python", "{version} ({executable})".format(**report["python"])),
        ("numpy", report["numpy"]),
        ("cloudpickle", report["cloudpickle"]),
        ("library", library["path"]),
    ]
    if library["abi"]:
        rows += [
            ("  interface", library["abi"]),
            ("  Go", library["go"]),
            ("  C kernels", ", ".join(library["kernels"]) or "none: the Go ones are used"),
            ("  codecs", ", ".join(library["codecs"]) or "none in this version"),
        ]
    if library["glibc"]:
        rows.append(("  needs glibc", f"{library['glibc']} or newer"))
    rows += [
        ("glibc", system["glibc"] or "none: this system uses another C library"),
        ("platform", system["platform"]),
        ("processor", system["processor"]),
        ("  features", " ".join(system["features"]) or "unknown"),
        ("  cores", f"{system['cores']} usable"),
        ("memory", _memory_text(system)),
    ]
    rows += [(name, version or "not installed") for name, version in report["optional"].items()]
    lines = [f"{name:14}{value}" for name, value in rows]
    return "\n".join(lines + [f"\nPROBLEM: {text}" for text in report["problems"]])


def _library(problems):
    found = {"path": str(LIBRARY), "abi": None, "go": None, "kernels": [], "codecs": [], "glibc": None}
    if not LIBRARY.is_file():
        problems.append(
            f"{LIBRARY} is missing: build it with `pip install -e .` in a source tree, or install infeed again"
        )
        return found
    try:
        found["glibc"] = ".".join(map(str, _elf.glibc_level(LIBRARY)))
        from infeed import _native

        about = _native.about()
    except (OSError, ValueError, ImportError) as err:
        problems.append(f"{LIBRARY} cannot be used: {err}")
        return found
    abi = _native.library().slow.infeed_abi_version()
    found.update(abi=f"{abi >> 16}.{abi & 0xFFFF}", go=about["go"], kernels=about["kernels"], codecs=about["codecs"])
    return found


def _system():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        fields = dict(line.partition(":")[::2] for line in file if ":" in line)
    cpu = {name.strip(): value.strip() for name, value in fields.items()}
    flags = set(cpu.get("flags", "").split())
    return {
        "platform": platform.platform(),
        "glibc": _system_glibc(),
        "processor": cpu.get("model name", platform.machine()),
        "features": [name for name in _FEATURES if name in flags],
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "memory_limit_bytes": _memory_limit(),
    }


def _system_glibc():
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except (OSError, ValueError):  # another C library does not know the question
        return None
    return version if name == "glibc" else None


def _memory_limit():
    """Return the limit that a container sets, in bytes, or None."""
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limit = int(Path(path).read_text())
        except (OSError, ValueError):  # no such version of cgroups, or "max"
            continue
        return limit if limit < 1 << 60 else None
    return None


def _memory_text(system):
    text = f"{system['memory_bytes'] / 2**30:.1f} GiB"
    limit = system["memory_limit_bytes"]
    return text if limit is None else f"{text}, of which this container may use {limit / 2**30:.1f} GiB"


def _optional():
    """Return the versions of the frameworks that are installed, without importing them (seconds each)."""
    owners = importlib.metadata.packages_distributions()
    found = {}
    for name in OPTIONAL:
        here = importlib.util.find_spec(name) is not None
        # TensorFlow comes from packages of several names.
        found[name] = _version(owners.get(name, [name])[0]) or "version unknown" if here else None
    return found


def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
