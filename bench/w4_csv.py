"""W4: a CSV file with two columns of strings, in batches of 256, in order."""

from bench.figure import Contender, Figure, at_least, times


def figures(scale):
    """scale: fraction of tf.data's part."""
    yield Figure("W4 CSV", "rows/s", (
        Contender("infeed", "infeed_files:csv"),
        Contender("tf.data, best of 3 forms", "tf_files:csv", {"limit": int(200 * scale)}, "tensorflow"),
        Contender("pyarrow, streaming", "pyarrow_csv:csv", needs="pyarrow")),
        (at_least(4e6), times(8, "tf.data, best of 3 forms"), times(4, "pyarrow, streaming")))
