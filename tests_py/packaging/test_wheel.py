"""What the wheel is: one library for every Python 3, small, with nothing showing, the same bytes from any folder."""

import hashlib
import re
import shutil
import subprocess
import zipfile

import pytest
from infeed import _elf

from .conftest import build, unpack

LIBRARIES = pytest.mark.parametrize("name", ["libinfeed.so", "libslotmem.so"])


def test_wheel_is_for_every_python_3_on_this_platform(wheel):
    assert re.fullmatch(r"infeed-[\d.]+-py3-none-linux_x86_64\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/WHEEL"))
        fields = archive.read(name).decode().splitlines()
    assert "Root-Is-Purelib: false" in fields
    assert "Tag: py3-none-linux_x86_64" in fields


def test_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"infeed/libinfeed.so", "infeed/libslotmem.so", "infeed/_cli.py"} <= set(names)
    expected = r"infeed/.*\.py|infeed/lib(infeed|slotmem)\.so|infeed-[^/]*\.dist-info/.*"
    strangers = [n for n in names if not re.fullmatch(expected, n)]
    assert strangers == []


def test_wheel_is_smaller_than_8_MB(wheel):
    assert wheel.stat().st_size < 8_000_000


def test_needs_of_the_package_are_numpy_and_cloudpickle(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    always = {re.match(r"[\w-]+", need)[0] for need in re.findall(r"^Requires-Dist: ([^;\n]*)$", text, re.M)}
    assert always == {"numpy", "cloudpickle"}
    assert "Requires-Python: >=3.10" in text


@pytest.mark.parametrize("name, one", [("libinfeed.so", "infeed_abi_version"), ("libslotmem.so", "infeed_slot_map")])
def test_only_names_of_infeed_show(library, name, one):
    command = ["nm", "-D", "--defined-only", library.with_name(name)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shown = [line.split()[-1].partition("@")[0] for line in listing.splitlines()]
    assert one in shown
    assert [name for name in shown if not name.startswith("infeed_")] == []


@LIBRARIES
def test_library_needs_the_c_library_only(library, name):
    needed = {other for other, _ in _elf.needed_versions(library.with_name(name))}
    assert needed <= {"libc.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2"}


@LIBRARIES
def test_library_names_no_folder_of_the_machine_that_built_it(library, name, wheel):
    content = library.with_name(name).read_bytes()
    assert str(wheel.parent.parent).encode() not in content
    assert b"/go/src/runtime" not in content


def test_wheel_is_the_same_bytes_from_another_folder_with_cold_caches(sdist, wheel, tmp_path):
    other = build("build_wheel", unpack(sdist, tmp_path / "another place"), tmp_path / "out", GOCACHE=tmp_path / "cache")
    if digest(other) != digest(wheel):
        raise AssertionError(f"differing members: {differing(wheel, other)}")


def test_wheel_leaves_out_modules_deleted_since_the_last_build(sdist, tmp_path):
    tree = unpack(sdist, tmp_path / "tree")
    gone = tree / "python" / "infeed" / "gone.py"
    gone.write_text("")
    first = build("build_wheel", tree, tmp_path / "first")
    gone.unlink()
    shutil.rmtree(tree / "python" / "infeed.egg-info")
    second = build("build_wheel", tree, tmp_path / "second")
    assert ["infeed/gone.py" in zipfile.ZipFile(w).namelist() for w in (first, second)] == [True, False]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def differing(a, b):
    with zipfile.ZipFile(a) as x, zipfile.ZipFile(b) as y:
        names = set(x.namelist()) | set(y.namelist())
        return sorted(n for n in names if n not in x.namelist() or n not in y.namelist() or x.read(n) != y.read(n))
