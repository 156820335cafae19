"""W3: TFRecord files of examples, parsed, shuffled in windows of 10,000, in batches of 256."""

from bench.figure import Contender, Figure, at_least, at_most, times

LARGE = 10 * 10**9  # bytes that are read while memory is looked at
BUFFER = 28.4  # MB of 100,000 examples: of each 264 bytes of numbers and 20 of text


def figures(scale):
    """scale: fraction of the passes of a full run."""
    passes = max(2, int(8 * scale))

    def ours(name, **options):
        return Contender(name, "infeed_files:parsed", {"passes": passes, **options})

    yield Figure("W3 parse, shuffle, batch", "samples/s", (
        ours("infeed"), ours("infeed, batch.map(parse_example)", form="shuffle, batch, map of batches"),
        Contender("tf.data, best of 3 forms", "tf_files:parsed", needs="tensorflow", limit=120)),
        (at_least(2e6), times(25, "tf.data, best of 3 forms")))
    for window in (10_000, 100_000):
        yield Figure(f"W3 shuffle({window:,})", "samples/s", (
            ours("infeed", window=window), ours("infeed, no shuffle", form="map, batch")),
            (times(0.85, "infeed, no shuffle"),))
    yield Figure("W3 records counted", "records/s", (
        Contender("infeed", "infeed_files:counted", {"passes": 4 * passes}),
        Contender("tf.data, best of 2 forms", "tf_files:counted", needs="tensorflow")), (at_least(12e6),))
    yield Figure("W3 records as bytes", "records/s", (
        Contender("infeed", "infeed_files:as_bytes", {"passes": passes}),
        Contender("tf.data, best of 2 forms", "tf_files:as_bytes", needs="tensorflow")), (at_least(4e6),))
    yield Figure("W3 first batch", "ms", (
        Contender("infeed", "infeed_files:first_batch", fresh=True),), (at_most(30),), less=True)
    yield Figure("W3 memory, shuffle(100,000)", "MB", (
        _memory("infeed", scale, 1e9, window=100_000), _memory("infeed, no shuffle", scale, 1e9, form="map, batch")),
        (at_most(1.5 * BUFFER, "infeed, no shuffle", "difference"),), less=True, rounds=1, warm=False)
    yield Figure("W3 memory over 10 GB", "MB", (
        _memory("infeed", scale, LARGE),), (at_most(200),), less=True, rounds=1, warm=False)


def _memory(name, scale, nbytes, **options):
    return Contender(name, "infeed_files:memory", {"nbytes": int(nbytes * scale), **options}, fresh=True, limit=300)
