"""What the Makefile asks of the build: `python -m infeed_build COMMAND`.

    requirements    print what pip must install before a build, if anything
    library         build python/infeed/libinfeed.so and libslotmem.so in the tree
    go ARGUMENT...  run the suitable Go with the build's environment
"""

import os
import sys
from pathlib import Path

from . import library, toolchain

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "build"


def main(arguments):
    command, rest = (arguments or ["help"])[0], arguments[1:]
    if command == "requirements":
        print(*toolchain.missing_requirements())
    elif command == "library":
        package = ROOT / "python" / "infeed"
        library.build_slotmem(ROOT, package / library.SLOTMEM_NAME)
        library.build(ROOT, package / library.NAME, SCRATCH)
    elif command == "go":
        go = toolchain.require_go()
        os.execve(go, [go, *rest], library.compile_environment(ROOT, SCRATCH))
    else:
        sys.exit(__doc__.strip())


if __name__ == "__main__":
    main(sys.argv[1:])
