"""Which interpreter has a peer: this one, or a virtual environment of the peer's own.

Those live in .bench (or in the folder that INFEED_BENCH_PEERS names), one folder
a peer, made by `python -m bench --install PEER`.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What pip is told for a peer with an environment of its own.
REQUIREMENTS = {
    "grain": ["grain"],
    "pyarrow": ["pyarrow", "numpy"],
    "spdl": ["spdl-core", "numpy"],
    "torch": ["torch", "numpy"],
}


def _home():
    return Path(os.environ.get("INFEED_BENCH_PEERS", ROOT / ".bench"))


def find(package):
    """(interpreter, "") or (None, the reason why there is none)."""
    if package in REQUIREMENTS:
        own = _home() / package / "bin" / "python"
        if own.exists():
            return str(own), ""
    missing = [p for p in package.split("+") if p and importlib.util.find_spec(p) is None]
    if not missing:
        return sys.executable, ""
    if package in REQUIREMENTS:
        return None, f"{package} is not installed: python -m bench --install {package}"
    return None, f"{' and '.join(missing)} is not installed: pip install 'infeed[bench]'"


def install(package):
    """Makes the environment of a peer."""
    if package not in REQUIREMENTS:
        sys.exit(f"no environment is known for {package!r}; those known: {', '.join(REQUIREMENTS)}")
    where = _home() / package
    subprocess.run([sys.executable, "-m", "venv", where], check=True)
    subprocess.run([where / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install",
                    *REQUIREMENTS[package]], check=True)
