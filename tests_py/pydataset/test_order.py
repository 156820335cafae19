"""The order of a pass: by index, or a permutation that only seed and pass decide."""

import infeed
import numpy as np
import pytest
from samples import Items, firsts

# Passes 0 and 1 over 10 batches with seed 7: frozen, version 1.
GOLDEN = [[0, 6, 2, 1, 4, 9, 8, 5, 7, 3], [5, 3, 2, 4, 8, 9, 7, 1, 0, 6]]


@pytest.mark.parametrize("shuffle", [None, False])
def test_by_index(kind, shuffle):
    with Items(shuffle=shuffle, **kind) as ds:
        assert firsts(ds) == list(range(8))


@pytest.mark.parametrize("queue", [1, 10])
def test_golden(kind, queue):
    with Items(10, shuffle=True, seed=7, max_queue_size=queue, **kind) as ds:
        assert [firsts(ds), firsts(ds)] == GOLDEN
        ds.epoch = 0
        assert firsts(ds) == GOLDEN[0]
        ds.epoch = 1
        assert firsts(ds) == GOLDEN[1]


def test_every_pass_is_another_permutation(kind):
    with Items(50, shuffle=True, seed=1, **kind) as ds:
        passes = [firsts(ds) for _ in range(6)]
    assert all(sorted(p) == list(range(50)) for p in passes)
    assert len({tuple(p) for p in passes}) == 6


def test_neighbouring_seeds_and_passes_share_nothing():
    """A seed is hashed with the pass, not added to it."""
    orders = set()
    for seed in range(20):
        ds = Items(30, shuffle=True, seed=seed, workers=0)
        orders |= {tuple(firsts(ds)) for _ in range(20)}
    assert len(orders) == 400


@pytest.mark.parametrize("seed", [0, 1, 1 << 31, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_all_seeds(kind, seed):
    expected = firsts(Items(12, shuffle=True, seed=seed, workers=0))
    with Items(12, shuffle=True, seed=seed, **kind) as ds:
        assert firsts(ds) == expected
        assert ds.seed == seed


def test_seed_that_is_drawn(kind):
    """Another one for each dataset; the state and `seed` have it, and it gives the same again."""
    with Items(40, shuffle=True, **kind) as ds, Items(40, shuffle=True, **kind) as other:
        order = firsts(ds)
        assert order != firsts(other)
        assert iter(ds).state_dict()["seed"] == ds.seed
        assert firsts(Items(40, shuffle=True, seed=ds.seed, workers=0)) == order


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7, 1023, 1024, 1025, 65_536, 65_537])
def test_permutations_of_awkward_lengths(length):
    ds = Items(length, shape=(1,), shuffle=True, seed=2, workers=0)
    assert sorted(firsts(ds)) == list(range(length))


def test_workers_and_the_caller_agree_on_long_orders():
    """The engine and the loop without workers reckon orders on their own."""
    a = Items(70_000, shape=(1,), shuffle=True, seed=3, workers=0)
    with Items(70_000, shape=(1,), shuffle=True, seed=3, workers=1, max_queue_size=1000) as b:
        assert firsts(a) == firsts(b)


def test_uniform():
    """Each index comes in each place equally often: chi-square over 4,000 passes of 6."""
    ds = Items(6, shape=(1,), shuffle=True, seed=11, workers=0)
    counts = np.zeros((6, 6))
    for _ in range(4000):
        counts[range(6), firsts(ds)] += 1
    expected = 4000 / 6
    assert ((counts - expected) ** 2 / expected).sum() < 60  # 25 degrees of freedom: p < 1e-4 above


@pytest.mark.parametrize("epoch", [-1, 1.5, None, "3"])
def test_epoch_of_the_wrong_kind(epoch):
    with pytest.raises(infeed.InvalidArgumentError, match="epoch"):
        Items().epoch = epoch


def test_epoch_counts_passes(kind):
    """A pass that was left counts; the next has the next number."""
    with Items(**kind) as ds:
        assert ds.epoch == 0
        for number in range(3):
            it = iter(ds)
            next(it)
            assert ds.epoch == number
            assert len(list(it)) == 7
            assert ds.epoch == number + 1
        next(iter(ds))
        assert ds.epoch == 3
        next(iter(ds))
        assert ds.epoch == 4
        ds.epoch = 10
        next(iter(ds))
        assert ds.epoch == 10


def test_an_iterator_that_nothing_is_drawn_from_is_no_pass(kind):
    with Items(**kind) as ds:
        for _ in range(5):
            iter(ds)
        assert ds.epoch == 0
