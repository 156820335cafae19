"""The short examples run, and say what they are to say."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name, said", [
    ("tfrecords", "1000 examples, batches of float32[40, 3] at the end"),
    ("csv_columns", "300 rows, 1 left out: "),
    ("arrays", "21 batches follow the saved place of "),
])
def test_example(name, said, tmp_path):
    done = subprocess.run([sys.executable, ROOT / "examples" / f"{name}.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env=os.environ)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert said in done.stdout
    assert list(tmp_path.iterdir()) == []
