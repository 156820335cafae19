"""The code of docs/resume.md runs, twice in the same folder, as who restarts a script does."""

import re
import subprocess
import sys

import pytest

from .conftest import HERE, environment

BLOCKS = re.findall(r"```python\n(.*?)```", (HERE.parents[1] / "docs" / "resume.md").read_text(), re.S)


def test_there_are_blocks():
    assert len(BLOCKS) == 3


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs_as_a_script(number, tmp_path):
    (tmp_path / "example.py").write_text(BLOCKS[number])
    for _ in range(2):
        done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, env=environment("jax"), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    left = {p.name for p in tmp_path.iterdir()} - {"example.py"}
    assert left <= {"checkpoints"}, "a training that ended leaves no backup"
