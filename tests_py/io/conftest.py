"""infeed.io beside tf.io: the same calls by both."""

import gc
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for the modules that the tests share

from both import Library  # noqa: E402


@pytest.fixture(scope="session")
def tensorflow():
    pytest.importorskip("tensorflow", reason="TensorFlow has no wheel for this Python")
    lib = Library("tensorflow")
    gc.collect()
    gc.freeze()  # the collections after every test need not look at all of it again
    return lib


@pytest.fixture(scope="session")
def infeed():
    return Library("infeed")
