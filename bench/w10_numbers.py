"""W10: range, map and batch: what an element costs, and a batch; and maps that cost more."""

from bench.figure import Contender, Figure, at_least, at_most, times

TF = "tf.data, best of 4 forms"


def figures(scale):
    """scale: fraction of the elements of a full run."""
    def mapped(name, size, count, **options):
        return Contender(name, "infeed_maps:mapped", {"size": size, "count": int(count * scale), **options})

    def tf(size, count):
        return Contender(TF, "tf_numbers:mapped", {"size": size, "count": int(count * scale)}, "tensorflow")

    yield Figure("W10 map, batch(256)", "elements/s", (
        mapped("infeed", 256, 40_000), mapped("infeed, batch first", 256, 40_000, last=True), tf(256, 200)),
        (at_least(50e6), times(30, TF)))
    yield Figure("W10 map, batch(1)", "batches/s", (
        mapped("infeed", 1, 1_000_000), mapped("infeed, batch first", 1, 1_000_000, last=True), tf(1, 3000)),
        (at_least(1e6), times(100, TF)))
    n = int(100_000 * scale)
    yield Figure("map, a function that needs Python", "us/element", (
        Contender("infeed", "infeed_maps:untraced", {"n": n}),
        Contender("infeed, 2 threads", "infeed_maps:untraced", {"n": n, "num_parallel_calls": 2}),
        Contender("bare loop", "plain:mapped", {"n": n})),
        (at_most(2, "bare loop", "difference"),), less=True)
    n = int(20_000 * scale)
    yield Figure("map, a function that needs Python, shapes that differ", "us/element", (
        Contender("infeed", "infeed_maps:untraced_lengths", {"n": n}),
        Contender("tf.data, numpy_function", "tf_numbers:untraced_lengths", {"n": n}, "tensorflow"),
        Contender("bare loop", "plain:lengths", {"n": n})), less=True)
    n = int(2000 * scale)
    yield Figure("map, 1 ms of Python, 2 processes", "elements/s", (
        Contender("infeed", "infeed_maps:worked", {"n": n, "processes": 2}),
        Contender("bare loop", "plain:worked", {"n": n})), (times(1.8, "bare loop"),))
    yield Figure("200 operations, defined and started", "ms", (
        Contender("infeed", "infeed_maps:definition"),), (at_most(20),), less=True)
