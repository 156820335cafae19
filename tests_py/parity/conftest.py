"""infeed beside TensorFlow: the same text of a pipeline, run by both (see cases.py)."""

import gc
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # for the modules that the cases share

from files import write  # noqa: E402
from outcomes import observe  # noqa: E402
from sides import Infeed, TensorFlow  # noqa: E402

class Sides:
    """Both libraries, and what TensorFlow gave for each case."""

    def __init__(self, folder):
        self.tensorflow, self.infeed = TensorFlow(folder), Infeed(folder)
        self._theirs = {}

    def theirs(self, one):
        """TensorFlow's outcomes of two walks."""
        if one.make not in self._theirs:
            self._theirs[one.make] = observe(self.tensorflow, one.make, one.limit, walks=2)
        return self._theirs[one.make]


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    folder = tmp_path_factory.mktemp("parity")
    write(folder)
    both = Sides(str(folder))
    # TensorFlow's objects stay: the collections after each test need not look at them again.
    gc.collect()
    gc.freeze()
    return both


@pytest.fixture(scope="module", autouse=True)
def _what_tensorflow_keeps():
    """Its functions and graphs stay for good: the collections after later tests need not look at them."""
    yield
    gc.collect()
    gc.freeze()
