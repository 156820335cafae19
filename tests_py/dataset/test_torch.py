"""to_torch: elements as tensors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import infeed  # noqa: E402
from infeed import Dataset  # noqa: E402


def test_elements_share_the_memory_of_arrays():
    ds = Dataset.from_tensor_slices({"x": np.arange(24, dtype="float32").reshape(8, 3), "y": (np.arange(8), ["a"] * 8)}).batch(4)
    first, second = ds.to_torch()
    assert first["x"].tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]] and second["y"][0].tolist() == [4, 5, 6, 7]
    assert first["y"][1] == [b"a"] * 4
    first["x"][:] = -1  # it is its user's
    assert second["x"][0, 0] == 12


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e3m4", "int4"])
@pytest.mark.parametrize("batch", [0, 2])
def test_dtypes_of_ml_dtypes(name, batch):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(4).astype(getattr(ml_dtypes, name))
    ds = Dataset.from_tensor_slices(x)
    loader = (ds.batch(batch) if batch else ds).to_torch()
    if name in ("float8_e3m4", "int4"):
        with pytest.raises(infeed.InvalidArgumentError, match=f"torch has no {name}.*astype"):
            next(iter(loader))
        return
    got = list(loader)
    assert {t.dtype for t in got} == {getattr(torch, name)} and got[0].shape == ((batch,) if batch else ())
    assert [v for t in got for v in t.float().reshape(-1).tolist()] == [0, 1, 2, 3]
