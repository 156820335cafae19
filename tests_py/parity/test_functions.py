"""The functions of the porting page: what its table says to write in place of TensorFlow's runs natively, and gives the same."""

import re
from pathlib import Path

import numpy as np
import pytest

import infeed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "porting-from-tf-data.md"


def rows():
    """(TensorFlow's expression, NumPy's) of the table."""
    table = PAGE.read_text().split("## Functions in map", 1)[1].split("\n## ", 1)[0]
    found = []
    for line in table.splitlines():
        cells = [re.findall(r"`([^`]+)`", cell) for cell in line.split(" | ")]
        if len(cells) == 2 and cells[0]:
            found += zip(*cells, strict=True)
    return found


VECTORS = [[1.5, -2, 3, 0.5, 1.5, 4], [3, 2, 1], [0.25, 4, 4, -1]]


@pytest.mark.parametrize("theirs, ours", rows(), ids=lambda text: re.sub(r"\W+", "_", text)[:40])
def test_functions(theirs, ours):
    tensorflow = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")

    def elements():
        for k, x in enumerate(VECTORS):
            yield np.array(x, np.float32), np.int32(k % 2), [b"yes", b"no"][k % 2]

    spec = infeed.TensorSpec((None,), np.float32), infeed.TensorSpec((), np.int32), infeed.TensorSpec((), object)
    ds = infeed.Dataset.from_generator(elements, output_signature=spec).map(eval(f"lambda x, i, t: {ours}", {"np": np}))
    assert "runs natively" in ds.explain()
    found = [eval(f"lambda x, i, t: {theirs}", {"tf": tensorflow})(*map(tensorflow.constant, e)).numpy() for e in elements()]
    for own, expected in zip(ds, found, strict=True):
        assert np.shape(own) == expected.shape and (expected.dtype.kind != "f" or own.dtype == expected.dtype)
        assert np.array_equal(own, expected) if expected.dtype.kind != "f" else np.allclose(own, expected, 1e-6)


def test_there_are_rows():
    assert len(rows()) > 50
