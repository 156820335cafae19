"""Sequences whose lengths differ: parsed, cut, and filled up in batches of 32."""

from bench.figure import Contender, Figure


def figures(scale):
    """All examples are read, whatever the scale is."""
    def contender(name, form, of="infeed"):
        return Contender(name, f"{of}_sequences:read", {"form": form}, *(["tensorflow"] if of == "tf" else []))

    yield Figure("sequences, padded batches", "examples/s", (
        contender("infeed", "padded"), contender("infeed, batch.map(parse_example)", "batches parsed"),
        contender("tf.data, best of 2 forms", "padded", "tf")))
    yield Figure("sequences, buckets of like lengths", "examples/s", (
        contender("infeed", "buckets"), contender("tf.data", "buckets", "tf")))
    yield Figure("sequences of a Python object, padded batches", "examples/s", (
        Contender("infeed", "infeed_sequences:held"), Contender("torch DataLoader, best of 2 forms", "torch_sequences:held", needs="torch")))
