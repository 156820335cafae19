"""explain(): a line for each operation, with its length, access, functions and how it is taken up."""

import numpy as np
import pytest

import infeed
from infeed import Dataset


def numbers():
    return Dataset.range(12)


def workers(n):
    options = infeed.Options()
    options.threading.private_threadpool_size = n
    return options


def stream():
    return numbers().filter(lambda x: x >= 0)


def of_files(tmp_path, kind):
    path = tmp_path / "file"
    path.write_bytes(b"1\n2\n")
    return {"lines": lambda: infeed.TextLineDataset(path), "fixed": lambda: infeed.FixedLengthRecordDataset(path, 2),
            "records": lambda: infeed.TFRecordDataset(path), "csv": lambda: infeed.CsvDataset(path, ["int32"])}[kind]()


# The class of API's table by its first word, for the last operation of a pipeline.
CLASSES = {
    "seek": {
        "map": lambda: numbers().map(lambda x: x + 1), "batch": lambda: numbers().batch(3), "shuffle": lambda: numbers().shuffle(),
        "filter": stream, "take": lambda: stream().take(3), "skip": lambda: stream().skip(3), "repeat": lambda: stream().repeat(2),
        "zip": lambda: Dataset.zip(stream(), stream()), "concatenate": lambda: stream().concatenate(stream()),
        "sample": lambda: Dataset.sample_from_datasets([stream(), stream()], seed=1),
        "choose": lambda: Dataset.choose_from_datasets([stream(), stream()], Dataset.range(2)),
    },
    "refill": {
        "shuffle": lambda: stream().shuffle(3), "padded_batch": lambda: stream().padded_batch(2), "ragged_batch": lambda: stream().ragged_batch(2), "sparse_batch": lambda: stream().sparse_batch(2, []),
        "unbatch": lambda: stream().batch(2).unbatch(), "rebatch": lambda: stream().batch(2).rebatch(3), "window": lambda: stream().window(2),
    },
    "fan-in": {"interleave": lambda: stream().interleave(Dataset.range), "flat_map": lambda: stream().flat_map(Dataset.range)},
    "pending": {
        "bucket": lambda: stream().map(lambda x: np.ones(3)).bucket_by_sequence_length(len, [2], [2, 2]),
        "group": lambda: stream().group_by_window(lambda x: x % 2, lambda key, ds: ds.batch(2), 2),
    },
    "own state": {
        "scan": lambda: stream().scan(0, lambda s, x: (s + 1, x)), "ignore_errors": lambda: stream().ignore_errors(),
        "resample": lambda: stream().rejection_resample(lambda x: x % 2, [0.5, 0.5], seed=1),
    },
    "replay": {"unique": lambda: stream().unique(), "generator": lambda: Dataset.from_generator(lambda: iter([1]), output_signature=infeed.TensorSpec((), "int32"))},
}


@pytest.mark.parametrize("word, name", [(word, name) for word, made in CLASSES.items() for name in made])
def test_it_names_how_an_operation_is_taken_up(word, name):
    assert CLASSES[word][name]().explain().splitlines()[-2].partition("; resumes by ")[2].startswith(word)


@pytest.mark.parametrize("kind", ["lines", "fixed", "records", "csv"])
def test_files_are_taken_up_by_their_place(tmp_path, kind):
    line = of_files(tmp_path, kind).explain().splitlines()[0]
    assert line.endswith("resumes by seek: file and offset; compressed files are read again")


def test_length_access_and_workers():
    lines = numbers().repeat().filter(lambda x: x > 3).take(5).with_options(workers(3)).explain().splitlines()
    assert [line.split(": ", 1)[1].split("; ")[:2] for line in lines[:-1]] == [
        ["12 elements", "random access"], ["endless", "random access"], ["unknown length", "one after the other"],
        ["unknown length", "one after the other"]]
    assert lines[-1] == "up to 3 workers of the engine make elements ahead"
    assert numbers().with_options(workers(0)).explain().endswith("\nthe thread that waits for elements makes them")


def test_functions_say_where_they_run_and_why():
    def odd(x):
        return x if x % 2 else -x

    for calls, where in ((None, "the waiting thread"), (3, "3 threads"), (infeed.AUTOTUNE, "as many threads as processors")):
        line = numbers().map(odd, num_parallel_calls=calls).explain().splitlines()[1]
        assert f"odd runs as Python in {where}, since it" in line
    assert "<lambda> runs natively" in numbers().map(lambda x: x + 1).explain()
    assert "odd runs as Python in 2 worker processes, since" in numbers().map(odd, processes=2).explain()
