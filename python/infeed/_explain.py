"""What a dataset does, in words: `Dataset.explain`."""

from infeed._dataset import AUTOTUNE

# How an iterator is taken up at an operation that is not random access; what is not
# named here goes on where its input does.
_RESUMES = {
    "shuffle": "refill: one window is read again", "padded_batch": "refill", "ragged_batch": "refill", "sparse_batch": "refill", "batch": "refill",
    "unbatch": "refill", "rebatch": "refill", "window": "refill", "interleave": "fan-in: the place in each open input",
    "flat_map": "fan-in: the place in the open input", "bucket_by_sequence_length": "pending: what waits is read again",
    "group_by_window": "pending: what waits is read again", "scan": "own state: the state of scan_func",
    "rejection_resample": "own state: the counts", "ignore_errors": "own state: the counts",
    "unique": "replay: all is read again", "from_generator": "replay: all is read again, unless the generator has state_dict",
    "TFRecordDataset": "seek: file and offset; compressed files are read again", "TextLineDataset": "seek: file and offset; "
    "compressed files are read again", "FixedLengthRecordDataset": "seek: file and offset; compressed files are read again",
    "CsvDataset": "seek: file and offset; compressed files are read again",
    "load_tf": "seek: file and offset; files compressed with GZIP are read again",
}


def explain(dataset):
    """A line for each operation, the source first."""
    lines = []
    for node in dataset._node.nodes():
        handle = node.handle()
        facts = [_cardinality(handle.cardinality), "random access" if handle.indexed else "one after the other"]
        for f in node.functions():
            if f.calls_python():
                facts.append(f"{f.name} runs as Python in {_callers(f)}, since {f.reason}")
            else:
                facts.append(f"{f.name} runs natively")
        resumes = "seek: a number" if handle.indexed else _RESUMES.get(node.op, "seek: where its input is")
        lines.append(f"{handle.text}: {'; '.join(facts)}; resumes by {resumes}")
    workers = dataset._workers(dataset._threads())
    lines.append(f"up to {workers} workers of the engine make elements ahead" if workers else "the thread that waits for elements makes them")
    return "\n".join(lines)


def _callers(function):
    if function.processes is not None:
        return f"{function.processes} worker processes"
    if function.calls is None:
        return "the waiting thread"
    return "as many threads as processors" if function.calls == AUTOTUNE else f"{function.calls} threads"


def _cardinality(n):
    return {-1: "endless", -2: "unknown length"}.get(n, f"{n} elements")
