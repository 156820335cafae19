"""Start-up in fresh interpreters, and sizes on disk."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

INFEED_FIRST = """
import numpy as np, infeed
ds = infeed.Dataset.from_tensor_slices(np.arange(100_000)).shuffle(seed=1).batch(64)
assert len(next(iter(ds))) == 64
"""
INFEED_PYDATASET = """
import numpy as np, infeed
class Data(infeed.PyDataset):
    def __len__(self): return 4
    def __getitem__(self, index): return np.full((64, 4), index)
it = iter(Data(workers=2))
assert next(it)[0, 0] == 0
"""
KERAS_FIRST = """
import numpy as np, keras
from keras.src.trainers.epoch_iterator import EpochIterator
class Data(keras.utils.PyDataset):
    def __len__(self): return 4
    def __getitem__(self, index): return np.full((64, 4), index), np.zeros((64, 1))
assert next(iter(EpochIterator(x=Data(workers=2))))[0] == 0
import os; os._exit(0)
"""
TF_FIRST = """
import numpy as np, tensorflow as tf
ds = tf.data.Dataset.from_tensor_slices(np.arange(100_000)).shuffle(100_000).batch(64)
assert len(next(ds.as_numpy_iterator())) == 64
"""
TORCH_FIRST = """
import torch.utils.data as d
class Data(d.Dataset):
    def __len__(self): return 100_000
    def __getitem__(self, index): return index
assert len(next(iter(d.DataLoader(Data(), 64, shuffle=True)))) == 64
"""
GRAIN_FIRST = """
import grain
ds = grain.MapDataset.range(100_000).shuffle(seed=1).batch(64).to_iter_dataset()
assert len(next(iter(ds))) == 64
"""
SPDL_FIRST = """
from spdl.pipeline import PipelineBuilder
p = PipelineBuilder().add_source(range(100_000)).aggregate(64).add_sink(2).build(num_threads=1)
with p.auto_stop():
    assert len(next(iter(p.get_iterator()))) == 64
"""
PROGRAMS = {
    "import numpy": "import numpy",
    "import infeed": "import numpy, infeed; infeed.PyDataset, infeed.Dataset",
    "import keras": "import keras",
    "import grain": "import grain",
    "import spdl": "import spdl.pipeline",
    "infeed": INFEED_FIRST, "infeed PyDataset": INFEED_PYDATASET, "keras": KERAS_FIRST, "tensorflow": TF_FIRST,
    "torch": TORCH_FIRST, "grain": GRAIN_FIRST, "spdl": SPDL_FIRST,
}


@contextmanager
def process(program):
    """Milliseconds of a whole process that runs a program."""
    def run():
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", PROGRAMS[program]], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return 1e3 * (time.perf_counter() - start)

    yield run


def _requirements(name, sizes):
    """Adds the installed size of a distribution and of what it requires."""
    key = re.sub(r"[-_.]+", "-", name).lower()
    if key in sizes:
        return
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return
    places = (f.locate() for f in found.files or [] if not str(f).endswith(".pyc"))
    sizes[key] = sum(os.path.getsize(p) for p in places if os.path.exists(p))
    for line in found.requires or []:
        if "extra ==" not in line:
            _requirements(re.match(r"[A-Za-z0-9._-]+", line).group(), sizes)


@contextmanager
def installed(names):
    """MB on disk of distributions and all that they require, compiled files aside."""
    def run():
        sizes = {}
        for name in names:
            _requirements(name, sizes)
        return sum(sizes.values()) / 1e6

    yield run


def _wheel(folder):
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps",
                    "--no-build-isolation", "-w", folder, ROOT], check=True, stdout=subprocess.DEVNULL)
    return next(Path(folder).glob("*.whl"))


@contextmanager
def wheel():
    """MB of infeed's wheel, built from this tree."""
    with tempfile.TemporaryDirectory() as folder:
        yield lambda: _wheel(folder).stat().st_size / 1e6


@contextmanager
def unpacked():
    """MB on disk of infeed, from its wheel, and of the installed distributions that it requires."""
    with tempfile.TemporaryDirectory() as folder:
        def run():
            with zipfile.ZipFile(_wheel(folder)) as z:
                own = sum(i.file_size for i in z.infolist())
            sizes = {}
            for name in ("numpy", "cloudpickle"):
                _requirements(name, sizes)
            return (own + sum(sizes.values())) / 1e6

        yield run
