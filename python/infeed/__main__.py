"""`python -m infeed` is the command `infeed`."""

import sys

from infeed._cli import main

if __name__ == "__main__":
    sys.exit(main())
