"""W2: rows in memory, shuffled anew each pass, in batches of 256; through a map, and out of each adapter."""

from bench.figure import Contender, Figure, at_least, times

# Passes of a run are such that whole batches fill them: n * passes is a multiple of 256.
WORK = {
    "narrow": ("rows of 256 B", 13e6, 20, {"infeed": 4, "take": 1, "tf": 1, "torch": 1, "usual": 0.1}, 400),
    "image": ("rows of 3 KB", 3e6, 10, {"infeed": 56, "take": 30, "tf": 8, "torch": 30, "usual": 1}, 70),
}


def figures(scale):
    """scale: fraction of the passes of a full run, where there are several."""
    for kind, (name, bound, over_tf, passes, limit) in WORK.items():
        def some(who, unit=1):
            return max(unit, int(passes[who] * scale) // unit * unit)

        def contender(name, make, needs="", **options):
            return Contender(name, make + ":shuffled_rows", {"kind": kind, **options}, needs)

        yield Figure(f"W2 {name}", "rows/s", (
            contender("infeed", "infeed_alone", passes=some("infeed", 4 if kind == "narrow" else 8)),
            Contender("np.take", "plain:take", {"kind": kind, "passes": some("take")}),
            contender("tf.data, gathered", "tf_data", "tensorflow", form="gathered", passes=some("tf")),
            contender("tf.data, usual", "tf_data", "tensorflow", form="usual", part=10 if kind == "narrow" else 1),
            contender("torch", "torch_loader", "torch", passes=some("torch")),
            contender("grain", "grain_loader", "grain", limit=limit)),
            (at_least(bound), times(1, "np.take"), times(over_tf, "tf.data, gathered")))
    yield from _mapped(scale)
    yield _adapted(scale)


def _mapped(scale):
    for place in ("before", "after"):
        def contender(name, place):
            return Contender(name, "infeed_maps:rows_through_map", {"passes": max(4, int(8 * scale) // 4 * 4), "place": place})

        yield Figure(f"W2 rows of 256 B, x * 2 + 1 {place} the batch", "rows/s", (
            contender("infeed", place), contender("infeed, no map", "")), (times(0.6, "infeed, no map"),))


def _adapted(scale):
    passes = {"passes": max(4, int(8 * scale) // 4 * 4)}
    return Figure("W2 rows of 256 B, adapters", "rows/s", (
        Contender("as_numpy_iterator", "infeed_adapters:as_numpy_iterator", passes),
        Contender("to_keras", "infeed_adapters:to_keras", passes, "keras+jax"),
        Contender("to_torch", "infeed_torch:to_torch", passes, "torch"),
        Contender("to_jax", "infeed_adapters:to_jax", passes, "jax")))
