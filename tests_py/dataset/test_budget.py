"""Options.ram_budget: how many bytes are made before they are asked for."""

import numpy as np
import pytest

from infeed import Dataset, Options

ELEMENT, BUDGET, COUNT = 64 << 10, 4 << 20, 400
SLACK = 24 * ELEMENT  # an element for each worker and stage

PIPELINES = {
    "random access": lambda ds: ds,
    "shapes differ": lambda ds: ds.filter(lambda x: x.shape[0] > 0 and x[0] >= 0),
    "prefetch": lambda ds: ds.filter(lambda x: x[0] >= 0).prefetch(-1),
    "prefetches": lambda ds: ds.filter(lambda x: x[0] >= 0).prefetch(300).map(lambda x: x + 1).prefetch(-1),
    "batch": lambda ds: ds.take_while(lambda x: x[0] >= 0).batch(4).prefetch(-1),
    "Python": lambda ds: ds.map(lambda x: np.array(x.tolist(), "uint8") if x[0] > 250 else x + 1, num_parallel_calls=2),
}


def made(name):
    options = Options()
    options.ram_budget = BUDGET
    options.threading.private_threadpool_size = 2
    zeros = np.zeros(ELEMENT, "uint8")
    return PIPELINES[name](Dataset.range(COUNT).map(lambda n: n.astype("uint8") % 200 + zeros)).with_options(options)


@pytest.mark.parametrize("adapter", ["iter", "to_jax"])
@pytest.mark.parametrize("name", PIPELINES)
def test_what_is_made_ahead_fits_the_budget(name, adapter):
    if adapter == "to_jax":
        pytest.importorskip("jax", reason="jax is not installed")
        it = made(name).to_jax()
        inside = it._it
    else:
        it = inside = iter(made(name))
    delivered, most = 0, 0
    for element in it:
        delivered += element.size
        most = max(most, inside.stats().stages[1]["bytes"] - delivered)
        if delivered >= COUNT * ELEMENT:
            break
    assert delivered == COUNT * ELEMENT
    assert most <= BUDGET + SLACK
    it.close()
