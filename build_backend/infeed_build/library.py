"""Compile libinfeed.so from the Go and C sources with `go build`, and libslotmem.so with the C compiler alone.

The same sources and compilers give the same bytes in any folder: paths are
trimmed, and build ids, version control stamps and debug information are left
out. Nothing but the names that `capi/exports.map` lists stays visible, so
that a second Go library in the process cannot be mixed up with this one.
"""

import os
import subprocess
from pathlib import Path

from . import toolchain

NAME = "libinfeed.so"
SLOTMEM_NAME = "libslotmem.so"

# Fused multiply-add would round differently from the Go twins of the kernels.
_C_FLAGS = "-O3 -g0 -ffp-contract=off"
_LINK_FLAGS = "-Wl,-z,relro,-z,now -Wl,--build-id=none"


def environment(root, scratch):
    """Return the environment in which `go` works on the sources in `root`.

    What would make two builds differ is fixed; caches, proxies and the like
    stay the user's. `scratch` holds the caches when there is no home folder
    for them.
    """
    env = toolchain.go_environment()
    env.update(
        GOOS="linux",
        GOARCH="amd64",
        GOFLAGS="-mod=vendor" if Path(root, "vendor", "modules.txt").is_file() else "-mod=readonly",
    )
    if not env.get("HOME"):
        if not env.get("XDG_CACHE_HOME"):
            env.setdefault("GOCACHE", os.path.join(os.path.abspath(scratch), "go-cache"))
        env.setdefault("GOPATH", os.path.join(os.path.abspath(scratch), "go-path"))
    return env


def compile_environment(root, scratch):
    """Return `environment` with what the C compiler needs."""
    env = environment(root, scratch)
    # The user's flags come first, so that ours win.
    flags = [env.get("CGO_CFLAGS"), _C_FLAGS]
    env.update(CGO_ENABLED="1", CC=toolchain.require_cc(), CGO_CFLAGS=" ".join(filter(None, flags)))
    return env


def build(root, target, scratch):
    """Build the library of the source tree `root` into the file `target`."""
    toolchain.check_platform()
    env = compile_environment(root, scratch)
    # The linker runs elsewhere, hence an absolute path, which may hold spaces.
    visible = f"'{_visible(Path(root).absolute())}'"
    command = [
        toolchain.require_go(),
        "build",
        "-buildmode=c-shared",
        "-trimpath",
        "-buildvcs=false",
        "-ldflags",
        f'-s -w -buildid= -extldflags "{_LINK_FLAGS} {visible}"',
    ]
    _make(command, "./capi", root, env, target)


def build_slotmem(root, target):
    """Build the library that worker processes load, which is C alone, into the file `target`."""
    toolchain.check_platform()
    command = [
        *toolchain.require_cc().split(),
        *_C_FLAGS.split(),
        *_LINK_FLAGS.split(),
        *"-std=gnu11 -Wall -shared -fPIC -pthread -s".split(),
        _visible("."),
    ]
    _make(command, "capi/slotmem/slotmem.c", root, dict(os.environ), target)


def _visible(root):
    return f"-Wl,--version-script={Path(root, 'capi', 'exports.map')}"


def _make(command, source, root, env, target):
    """Run a compiler in `root` on `source`; the file `target` changes at once, when all is well."""
    target = Path(target).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    # A process may have the old library mapped: it must never see it change.
    fresh = target.with_name(target.name + ".new")
    try:
        if subprocess.run([*command, "-o", str(fresh), source], cwd=root, env=env).returncode != 0:
            what = f"{os.path.basename(command[0])} ... {source}"
            raise SystemExit(f"infeed: `{what}` in {os.path.abspath(root)} failed; its output is above.")
        fresh.chmod(0o755)
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
        # The C header that cgo writes; capi/infeed.h, by hand, is the contract.
        fresh.with_suffix(".h").unlink(missing_ok=True)


def vendor(root, target, scratch):
    """Copy the Go modules that the sources in `root` need into the folder `target`."""
    env = environment(root, scratch)
    env["GOFLAGS"] = ""
    command = [toolchain.require_go(), "mod", "vendor", "-o", os.path.abspath(target)]
    if subprocess.run(command, cwd=root, env=env).returncode != 0:
        raise SystemExit(f"infeed: `go mod vendor` in {os.path.abspath(root)} failed; its output is above.")
