"""The sdist builds and tests without a network: the Go modules are inside."""

import sys
import tarfile

from .conftest import ROOT, build, check, unpack

OFFLINE = {"GOPROXY": "off", "GOFLAGS": None, "GONOSUMDB": None, "GONOSUMCHECK": None}


def test_sdist_builds_without_a_network_and_with_an_empty_module_cache(sdist, tmp_path):
    tree = unpack(sdist, tmp_path / "tree")
    wheel = build("build_wheel", tree, tmp_path / "out", GOMODCACHE=tmp_path / "empty", **OFFLINE)
    assert wheel.is_file()


def test_every_package_and_test_of_the_sdist_has_its_modules(sdist, tmp_path):
    tree = unpack(sdist, tmp_path / "tree")
    go = [sys.executable, "-m", "infeed_build", "go", "list", "-test", "-deps", "./..."]
    listed = check(go, tree, PYTHONPATH="build_backend", GOMODCACHE=tmp_path / "empty", **OFFLINE).split()
    assert "infeed/capi" in listed
    assert "github.com/stretchr/testify/require" in listed


def test_the_files_that_tests_read_are_in_the_sdist(sdist):
    folders = [ROOT / "testdata", *(ROOT / "core").rglob("testdata")]
    wanted = {str(p.relative_to(ROOT)) for folder in folders for p in folder.rglob("*") if p.is_file()}
    assert "testdata/tf/tensors.json" in wanted and "core/rng/testdata/orders_v1.txt" in wanted
    assert wanted <= {name.partition("/")[2] for name in members(sdist)}


def test_sdist_made_from_an_sdist_is_complete_again(sdist, tmp_path):
    tree = unpack(sdist, tmp_path / "tree")
    again = build("build_sdist", tree, tmp_path / "out", GOMODCACHE=tmp_path / "empty", **OFFLINE)
    assert members(again) == members(sdist)


def test_build_without_a_home_folder_keeps_its_caches_in_the_build_folder(sdist, tmp_path):
    """setuptools sets HOME for users that the system knows, so this one is not built through a hook."""
    tree = unpack(sdist, tmp_path / "tree")
    homeless = dict.fromkeys(["HOME", "XDG_CACHE_HOME", "GOCACHE", "GOPATH", "GOMODCACHE"])
    check([sys.executable, "-m", "infeed_build", "library"], tree, PYTHONPATH="build_backend", **homeless)
    assert (tree / "python" / "infeed" / "libinfeed.so").is_file()
    assert (tree / "build" / "go-cache").is_dir()


def members(path):
    with tarfile.open(path) as archive:
        return sorted(archive.getnames())
