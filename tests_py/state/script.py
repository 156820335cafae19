"""A training script that can be killed and run again: python script.py FOLDER OPTIONS

OPTIONS are those of trainings.fit, as JSON. It prints a line for each step, then a
last one of JSON with all that the training ended with.
"""

import json
import os
import sys

import trainings


class Lines(dict):
    """A log that tells each step to whoever reads standard output, which fit's own output does not reach."""

    def __setitem__(self, step, loss):
        os.write(1, f"{step} {loss!r}\n".encode())


if __name__ == "__main__":
    end = trainings.fit(sys.argv[1], Lines(), **json.loads(sys.argv[2]))
    os.write(1, (json.dumps(end) + "\n").encode())
