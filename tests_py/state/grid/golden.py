"""The pipelines whose states are kept in testdata/states, as this version and earlier ones saved them.

What is here never changes: a state that was saved once must load for ever. Another
version of the format, or another operation, gets a pipeline more, and
`python -m tests_py.state.grid.golden` from the root of the tree writes the files that
are not there yet.
"""

import itertools
import json
import pathlib

import numpy as np

import infeed

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "testdata" / "states"
AFTER = (0, 3, 7)  # before which elements states are kept
NEXT = 6  # how many elements after them

D = infeed.Dataset
NUMBER = infeed.TensorSpec((), "int64")


class Counting:
    """A generator with a state."""

    def __init__(self, n):
        self.n, self.at = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == self.n:
            raise StopIteration
        self.at += 1
        return self.at

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def records(*names):
    return infeed.TFRecordDataset([str(FOLDER / name) for name in names])


def rows():
    return D.from_tensor_slices((np.arange(46, dtype=np.float32).reshape(23, 2), np.arange(23)))


def stream(n=40):
    return D.range(n).filter(lambda x: x >= 0)


def words():
    return stream().map(lambda x: np.arange(int(str(x)) % 5 + 1))


PIPELINES = {
    "training": lambda: rows().shuffle(seed=1).repeat().batch(4),
    "large": lambda: D.range(10**9).shuffle(seed=1).map(lambda x: x + 1).batch(8),
    "records": lambda: records("a.tfrecord", "b.tfrecord").shuffle(5, seed=1).repeat(3).batch(2),
    "compressed": lambda: infeed.TFRecordDataset(str(FOLDER / "c.tfrecord.gz"), "GZIP").batch(2),
    "skipped": lambda: infeed.TFRecordDataset([str(FOLDER / "damaged.tfrecord"), str(FOLDER / "a.tfrecord")], errors="skip"),
    "ignored": lambda: records("damaged.tfrecord", "b.tfrecord").ignore_errors(),
    "interleaved": lambda: D.range(9).interleave(lambda x: D.range(x), cycle_length=3, block_length=2).batch(2),
    "flat": lambda: D.range(9).flat_map(lambda x: D.range(x)).batch(3),
    "buckets": lambda: words().bucket_by_sequence_length(lambda a: a.shape[0], [3, 5], [3, 2, 2]),
    "groups": lambda: stream().group_by_window(lambda x: x % 3, lambda key, w: w.batch(4), window_size=4),
    "windows": lambda: stream().window(4, shift=2).flat_map(lambda w: w.batch(4)),
    "rebatched": lambda: stream().batch(5).rebatch(3),
    "ragged": lambda: words().ragged_batch(3).rebatch([2, 5]).unbatch().batch(2),
    "ragged_rows": lambda: words().ragged_batch(3).rebatch([2, 5]).unbatch(),
    "scanned": lambda: stream().scan(np.int64(1), lambda s, x: (s + x, s * x)),
    "resampled": lambda: D.range(60).rejection_resample(lambda x: (x % 3 > 0).astype("int32"), [0.5, 0.5], seed=3),
    "mixed": lambda: D.sample_from_datasets([D.range(30), stream()], weights=[0.3, 0.7], seed=2),
    "unique": lambda: D.range(60).map(lambda x: x * x % 37).unique(),
    "generator": lambda: D.from_generator(Counting, output_signature=NUMBER, args=(30,)).batch(2),
    "zipped": lambda: D.zip(D.range(30), stream().shuffle(4, seed=2)).enumerate().prefetch(2),
}


def reader(n, i):
    """A reader of those whose number changes."""
    return iter(D.range(80).shuffle(seed=4).shard(n, i).filter(lambda x: x % 3 > 0).flat_map(lambda x: D.range(3).map(lambda y: 10 * x + y)).batch(2))


def plain(element):
    if isinstance(element, (tuple, list)):
        return [plain(v) for v in element]
    if isinstance(element, bytes):
        return element.decode()
    a = np.asarray(element)
    return [plain(x) for x in a.flat] if a.dtype.hasobject else a.tolist()


def some(it, count):
    return [plain(e) for e in itertools.islice(it, count)]


def pipeline(name):
    """What is kept of a pipeline: states and what comes after each."""
    it = PIPELINES[name]().iterator(epoch=2)
    states, elements = [it.state_dict()], []
    for element in itertools.islice(it, max(AFTER) + NEXT):
        elements.append(plain(element))
        states.append(it.state_dict())
    return [{"state": states[k], "next": elements[k:k + NEXT]} for k in AFTER]


def readers():
    """What is kept of readers: the states of three, one of two that went on, and what comes after each."""
    three = [reader(3, i) for i in range(3)]
    for i, it in enumerate(three):
        some(it, 2 * i + 1)
    states = [it.state_dict() for it in three]
    two = reader(2, 1)
    two.load_state_dict(states)
    first = {"state": states, "next": some(two, 2)}
    return [first, {"state": two.state_dict(), "next": some(two, NEXT)}]


def main():
    from infeed import _native

    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in [*((name, lambda name=name: pipeline(name)) for name in PIPELINES), ("readers", readers)]:
        path = FOLDER / f"dataset_{name}.json"
        if not path.exists():
            text = json.dumps({"order": _native.about()["order"], "places": make()}, indent=1)
            path.write_text(text.replace(f"{FOLDER}/", "") + "\n")


if __name__ == "__main__":
    main()
