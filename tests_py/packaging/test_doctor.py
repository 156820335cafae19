"""`infeed doctor`: what it tells is true, and it works where the library does not."""

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import infeed
from infeed import _cli, _doctor, _elf

from .conftest import check, run

PACKAGE = Path(infeed.__file__).parent
DOCTOR = [sys.executable, "-m", "infeed", "doctor"]


@pytest.fixture
def package(tmp_path):
    """A copy of the package without its library; returns the folder to put on PYTHONPATH."""
    shutil.copytree(PACKAGE, tmp_path / "lib" / "infeed", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return tmp_path / "lib"


def test_findings_are_true():
    found = json.loads(check([*DOCTOR, "--json"], "/"))
    assert found["infeed"] == infeed.__version__
    assert found["numpy"] == importlib.metadata.version("numpy")
    assert found["cloudpickle"] == importlib.metadata.version("cloudpickle")
    assert found["python"]["executable"] == sys.executable
    assert found["library"]["path"] == str(PACKAGE / "libinfeed.so")
    assert found["library"]["abi"] == "1.0"
    assert found["library"]["go"].startswith("go1.")
    assert "gather" in found["library"]["kernels"]
    assert found["system"]["cores"] == len(os.sched_getaffinity(0))
    assert found["system"]["glibc"] == os.confstr("CS_GNU_LIBC_VERSION").split()[1]
    assert found["problems"] == []


def test_frameworks_are_found_but_not_imported():
    probe = "import sys; from infeed import _doctor; print(_doctor.examine()['optional'], 'keras' in sys.modules)"
    (line,) = check([sys.executable, "-c", probe], "/").splitlines()
    assert f"'keras': '{importlib.metadata.version('keras')}'" in line
    assert line.endswith("False")


def test_text_says_the_same():
    text = check(DOCTOR, "/")
    assert re.search(r"^infeed +" + re.escape(infeed.__version__) + "$", text, re.M)
    assert re.search(r"^  needs glibc +2\.\d+ or newer$", text, re.M)
    assert re.search(r"^  codecs +\S", text, re.M)
    assert "PROBLEM" not in text


def test_missing_library_is_said(package):
    done = run(DOCTOR, "/", PYTHONPATH=package)
    assert done.returncode == 1
    assert f"PROBLEM: {package}/infeed/libinfeed.so is missing: build it with `pip install -e .`" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("content", [b"", b"not a library", "cut"], ids=["empty", "other", "cut"])
def test_damaged_library_is_said(package, content):
    whole = (PACKAGE / "libinfeed.so").read_bytes()
    (package / "infeed" / "libinfeed.so").write_bytes(whole[:70_000] if content == "cut" else content)
    done = run([*DOCTOR, "--json"], "/", PYTHONPATH=package)
    assert done.returncode == 1
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem.startswith(f"{package}/infeed/libinfeed.so cannot be used: ")


def test_library_of_another_interface_is_said(package):
    source = "unsigned infeed_abi_version(void) { return 0x00630000; }\n"
    target = package / "infeed" / "libinfeed.so"
    subprocess.run(["cc", "-shared", "-o", target, "-xc", "-"], input=source, text=True, check=True)
    done = run(DOCTOR, "/", PYTHONPATH=package)
    assert done.returncode == 1
    assert f"PROBLEM: {target} cannot be used: " in done.stdout


def test_needs_are_those_that_binutils_reads():
    for library in [PACKAGE / "libinfeed.so", next(Path(json.__file__).parents[1].rglob("lib-dynload/*.so"))]:
        listing = subprocess.run(["objdump", "-p", library], capture_output=True, text=True, check=True).stdout
        listing = listing.partition("Version References:")[2]
        needs = set()
        for owner, versions in re.findall(r"required from (\S+):\n((?:    0x.*\n)*)", listing):
            needs |= {(owner, line.split()[-1]) for line in versions.splitlines()}
        assert needs
        assert _elf.needed_versions(library) == needs


@pytest.mark.parametrize("command", [[], ["nonsense"]])
def test_wrong_usage_is_exit_status_2(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        _cli.main(command)
    assert stopped.value.code == 2
    assert "usage: infeed" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        _cli.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"infeed {infeed.__version__}\n"


def test_memory_of_a_container_is_named():
    system = {"memory_bytes": 8 << 30, "memory_limit_bytes": 3 << 29}
    assert _doctor._memory_text(system) == "8.0 GiB, of which this container may use 1.5 GiB"
