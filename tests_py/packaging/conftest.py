"""Packages built once for the tests of this folder, away from the tree itself.

The compilers' caches are the user's, so that a build costs seconds; the tests
that are about a machine without caches, Go or a C compiler say so.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EPOCH = "1700000000"
HOOK = "import sys; sys.path.insert(0, 'build_backend'); import infeed_build; print(infeed_build.{}({!r}))"

# Names in the root of a checkout that are no part of the source.
_NOT_SOURCE = shutil.ignore_patterns(
    ".*", "build", "dist", "data", "vendor", "*.egg-info", "*.so", "__pycache__"
)


def run(command, cwd, **env):
    """Run a command with changes to the environment (None: unset); return it with its output as text."""
    merged = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, **env}
    merged = {name: str(value) for name, value in merged.items() if value is not None}
    return subprocess.run(list(map(str, command)), cwd=cwd, env=merged, capture_output=True, text=True, timeout=500)


def check(command, cwd, **env):
    """Run a command that must succeed; return its standard output."""
    done = run(command, cwd, **env)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(hook, source, out, **env):
    """Call a hook of the build backend as an installer does; return the file it made."""
    Path(out).mkdir(parents=True, exist_ok=True)
    return Path(out, check([sys.executable, "-c", HOOK.format(hook, str(out))], source, **env).split()[-1])


def unpack(sdist, folder):
    """Unpack an sdist into a new folder; return the root of its source."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (source,) = Path(folder).iterdir()
    return source


def path_without(*hidden, folder):
    """Return a PATH that has every program of the present one but the hidden ones."""
    folder.mkdir()
    for place in os.get_exec_path():
        for program in Path(place).glob("*") if os.path.isdir(place) else ():
            link = folder / program.name
            if program.name not in hidden and not link.is_symlink():
                link.symlink_to(program)
    return folder


def light_venv(folder):
    """Return the Python of a new venv that sees the packages of this one.

    It saves fetching NumPy and setuptools from the network again. What is
    installed into it comes first, and an editable infeed in this Python stays
    unseen: the .pth files of a folder that was added by a .pth are not read.
    """
    check([sys.executable, "-m", "venv", "--without-pip", folder], ROOT)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "parent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


def pytest_collection_modifyitems(items):
    """Compiling with cold caches on a busy machine takes minutes; the bound is there for hangs only."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture
def source(tmp_path):
    """A copy of the source tree, without anything built."""
    return Path(shutil.copytree(ROOT, tmp_path / "source", ignore=_NOT_SOURCE))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    copy = shutil.copytree(ROOT, folder / "source", ignore=_NOT_SOURCE)
    return build("build_sdist", copy, folder / "out")


@pytest.fixture(scope="session")
def wheel(sdist, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    return build("build_wheel", unpack(sdist, folder / "one"), folder / "out")


@pytest.fixture(scope="session")
def library(wheel, tmp_path_factory):
    """The library as it is in the wheel."""
    folder = tmp_path_factory.mktemp("library")
    shutil.unpack_archive(wheel, folder, format="zip")
    return folder / "infeed" / "libinfeed.so"
