"""What the tests of snapshots share."""

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture
def run(tmp_path):
    """run(text, *args): what a script, in a process of its own, prints as JSON."""
    def run(text, *args, check=True):
        script = tmp_path / "script.py"
        script.write_text(text)
        done = subprocess.run([sys.executable, script, *map(str, args)], capture_output=True, text=True, timeout=120, env=dict(os.environ))
        assert not check or done.returncode == 0, done.stderr
        return json.loads(done.stdout) if check else done
    return run
