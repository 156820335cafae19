"""W2: rows in memory, shuffled anew each pass, in batches of 256."""

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
