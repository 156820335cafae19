"""Where data for benchmarks is kept: .bench/data, or the folder that INFEED_BENCH_DATA names."""

import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def folder(name, make):
    """The folder of that name, filled by make(folder) if it is not there yet.

    A change of what is made needs another name. Two that make it at once do no harm.
    """
    home = Path(os.environ.get("INFEED_BENCH_DATA", ROOT / ".bench" / "data"))
    path = home / name
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=home))
        try:
            make(new)
            new.rename(path)
        except OSError:
            if not path.exists():
                raise
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return path
