"""Every example of the documentation runs: README's code blocks and the docstrings of public names."""

import doctest
import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest

import infeed.io

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
ENV = dict(os.environ, KERAS_BACKEND="jax", JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3")

MODULES = sorted(p.stem for p in (ROOT / "python" / "infeed").glob("*.py") if ">>>" in p.read_text() and p.stem != "torch")  # that one has its own tests, where torch is

CHECK = """
import doctest, importlib, sys
failed, tried = doctest.testmod(importlib.import_module("infeed." + sys.argv[1]))
print(tried)
sys.exit(bool(failed))
"""


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_readme_block_runs_as_a_script(number, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(BLOCKS[number])
    done = subprocess.run([sys.executable, script], env=ENV, cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["tutorial", "porting-from-tf-data", "snapshots"])
def test_page_runs_as_a_script(page, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.S)
    script = tmp_path / "page.py"
    script.write_text("".join(blocks))
    done = subprocess.run([sys.executable, script], env=ENV, cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert blocks and done.returncode == 0, done.stderr


def test_readme_has_examples_and_names_two_commands():
    assert len(BLOCKS) >= 2
    assert "    make demo\n    make test\n" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples(module):
    done = subprocess.run([sys.executable, "-c", CHECK, module], env=ENV, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["PyDataset", "Dataset", "Error", "TensorSpec", "keras.PyDataset", "keras.accelerate",
                                  "keras.audit", *(f"io.{name}" for name in infeed.io.__all__)])
def test_public_docstring_has_a_tested_example(name):
    os.environ.setdefault("KERAS_BACKEND", "jax")
    module, _, member = f"infeed.{name}".rpartition(".")
    thing = getattr(importlib.import_module(module), member)
    assert doctest.DocTestParser().get_examples(thing.__doc__ or ""), f"{name} has no example"
