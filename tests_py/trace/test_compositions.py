"""Functions made at random of many operations: what runs natively is what NumPy gives, for rows alike and for sizes that differ."""

import os
import random
import warnings

import numpy as np
import pytest

import infeed
from infeed import _trace

STEPS = [
    lambda x, i: x[x > 1], lambda x, i: x[x >= x.sum()], lambda x, i: x[i:], lambda x, i: x[:i], lambda x, i: x[-i:],
    lambda x, i: x[i:i + 3], lambda x, i: x[::-1], lambda x, i: x[i::2], lambda x, i: x[i::-1],
    lambda x, i: np.stack([x, x])[:, i:].sum(0), lambda x, i: np.stack([x, x + 1], 1)[x > 1].ravel(),
    lambda x, i: x[np.clip(np.argsort(x, kind="stable"), 0, 2)],
    lambda x, i: np.cumsum(x), lambda x, i: np.sort(x), lambda x, i: np.argsort(x, kind="stable"), lambda x, i: np.unique(x),
    lambda x, i: np.flatnonzero(x), lambda x, i: np.argwhere(x > 1).ravel(), lambda x, i: np.isin(x, [0, 1, 2]),
    lambda x, i: np.searchsorted(np.sort(x), x), lambda x, i: np.digitize(x, [0, 1, 3]), lambda x, i: np.isclose(x, 1),
    lambda x, i: np.pad(x, (1, 2)), lambda x, i: np.repeat(x, 2), lambda x, i: np.roll(x, 2), lambda x, i: np.tile(x, 2),
    lambda x, i: np.ones_like(x) + x, lambda x, i: np.concatenate([x, x[:1]]), lambda x, i: np.append(x, 3), lambda x, i: np.diff(x),
    lambda x, i: x + 1, lambda x, i: x + i, lambda x, i: x * x.shape[0], lambda x, i: x / x.size, lambda x, i: x - x.shape[0],
    lambda x, i: x.astype("i4"), lambda x, i: x.astype("f4"), lambda x, i: x.astype("i8").astype("u1"),
    lambda x, i: np.clip(x, 0, 2), lambda x, i: np.where(x > 1, x, 0), lambda x, i: np.select([x > 2, x > 1], [x, x * 2], 0),
    lambda x, i: np.outer(x, x).ravel(), lambda x, i: (x[:, None] * x[None, :]).sum(1), lambda x, i: x - np.append(x, 0).max(),
    lambda x, i: x + np.append(x, 1)[i % 1], lambda x, i: x / (1 + np.linalg.norm(x.astype("f8"), axis=-1)),
    lambda x, i: np.nansum(np.append(x, 1)) + x, lambda x, i: np.count_nonzero(x) + x,
]
COUNT = 3000 if os.environ.get("INFEED_SOAK") else 120


def composed(seed):
    """A function, the dtype of its argument, and a source of numbers."""
    source = random.Random(seed)
    steps = [source.choice(STEPS) for _ in range(source.randint(1, 5))]

    def function(x, i):
        for step in steps:
            x = step(x, i)
        return x

    return function, source.choice(["i8", "f8", "f4", "i4", "u1", "i2"]), np.random.default_rng(seed)


def elements(rng, dtype, lengths):
    return [((rng.integers(0, 9, n) / (2 if dtype[0] == "f" else 1)).astype(dtype), np.int32(rng.integers(4))) for n in lengths]


def compare(ds, function, given):
    """Each element is the function's; the loop ends where the function raises."""
    it = iter(ds)
    for x, i in given:
        try:
            own = np.asarray(function(x, i))
        except Exception:
            with pytest.raises(Exception):  # noqa: B017  natively it is another error
                next(it)
            return
        assert _trace._difference(np.asarray(next(it)), own, exact=False) is None


@pytest.mark.parametrize("part", range(4))
def test_compositions(part):
    native = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for seed in range(part, COUNT, 4):
            function, dtype, rng = composed(seed)
            given = elements(rng, dtype, rng.integers(0, 7, 6))
            spec = infeed.TensorSpec((None,), dtype), infeed.TensorSpec((), "i4")
            ds = infeed.Dataset.from_generator(lambda given=given: iter(given), output_signature=spec).map(function)
            native += "runs natively" in ds.explain()
            compare(ds, function, given)
            given = elements(rng, dtype, [int(rng.choice([0, 1, 5]))] * 20)
            xs, numbers = zip(*given)
            compare(infeed.Dataset.from_tensor_slices((np.stack(xs), np.array(numbers))).map(function), function, given)
    assert native > 0.9 * COUNT / 4
