"""infeed's batches as tensors, in the interpreter that has torch: infeed is taken from this tree."""

import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from bench import rows  # noqa: E402
from bench.contenders import infeed_adapters  # noqa: E402


@contextmanager
def to_torch(passes):
    """Rows a second as tensors; the check looks at them as NumPy arrays."""
    ds, n = infeed_adapters.dataset(passes)
    yield lambda: rows.rate(((x.numpy(), y.numpy()) for x, y in ds.to_torch()), n, passes)
