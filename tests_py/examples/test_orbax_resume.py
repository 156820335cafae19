"""The example with Orbax's checkpoints, run as users run it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "orbax_resume.py"


@pytest.mark.skipif(importlib.util.find_spec("orbax") is None or importlib.util.find_spec("jax") is None,
                    reason="orbax-checkpoint is not installed")
def test_the_run_goes_on_at_the_very_batch():
    out = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=110, env=dict(os.environ, JAX_PLATFORMS="cpu"))
    assert out.returncode == 0, out.stderr
    assert "broken off after step 23, gone on after step 20: 20 losses and the weights" in out.stdout
