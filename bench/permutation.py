"""The order of a shuffle: what an index costs, in bulk."""

from bench.figure import Contender, Figure, at_most


def figures(scale):
    numpy = Contender("numpy, n = 10,000,000", "plain:permutation", {"n": 10_000_000})
    yield Figure("order, slowest of n = 1e3 ... 1e9", "ns/index", (
        Contender("infeed", "go_rng:permutation", {"lengths": [10**k for k in (3, 5, 6, 7, 8, 9)]}), numpy),
        (at_most(35),), less=True)
    yield Figure("order, worst n", "ns/index", (
        Contender("infeed", "go_rng:permutation", {"lengths": [65537, 2**30 + 1]}), numpy), (at_most(50),), less=True)
