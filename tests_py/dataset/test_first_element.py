"""When functions are traced, and what is found with the first element: also where it is the one that fails."""

import pytest

import infeed
from infeed import Dataset


def failing(least, failed=None):
    """A function that cannot be traced, and fails for less than `least`."""

    def function(x):
        if x < least:
            if failed is not None:
                failed.append(int(x))
            raise ValueError(f"less than {least}")
        return {"x": x, "text": str(x)}

    return function


@pytest.mark.parametrize("look", [list, lambda ds: ds.element_spec, lambda ds: ds.explain()], ids=["iterated", "spec", "explain"])
def test_a_function_is_traced_when_it_is_needed(look):
    calls = []
    ds = Dataset.range(100).map(lambda x: (calls.append(type(x).__name__), x + 1)[1]).batch(10)
    assert calls == []
    look(ds)
    traced = len(calls)
    assert traced in (2, 3)  # with stand-ins, and, to compare, with an element
    list(ds), list(ds)
    assert len(calls) <= 3, "it was called for elements"


def test_what_a_function_does_besides_happens_when_it_is_traced():
    seen = []
    assert [int(x) for x in Dataset.range(50).map(lambda x: (seen.append(1), x * 2)[1])] == list(range(0, 100, 2))
    assert len(seen) == 3


@pytest.mark.parametrize("made", [
    lambda ds: ds, lambda ds: ds.map(lambda e: {**e, "more": str(e["x"])}), lambda ds: ds.shuffle(seed=1), lambda ds: ds.filter(lambda e: e["x"] > 0),
], ids=["map", "maps", "shuffle", "filter"])
def test_elements_that_fail_at_the_start_are_left_out(made):
    ds = made(Dataset.range(8).map(failing(3))).ignore_errors()
    it = iter(ds)
    assert sorted((int(e["x"]), e["text"]) for e in it) == [(i, b"%d" % i) for i in range(3, 8)]
    assert it.stats().lost == 3
    assert ds.element_spec["x"] == infeed.TensorSpec((), "int64")


def after(x, value):
    """A value, but for x below 3, for which it fails."""
    failing(3)(x)
    return value


class Items:
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return after(index, index)


@pytest.mark.parametrize("make, want", [
    (lambda: Dataset.from_indexable(Items()), [3, 4]),
    (lambda: Dataset.range(5).filter(lambda x: after(x, True)), [3, 4]),
    (lambda: Dataset.range(5).scan(0, lambda s, x: (s + 1, after(x, int(x)))), [3, 4]),
    (lambda: Dataset.range(5).flat_map(lambda x: after(x, Dataset.range(int(x)))), [0, 1, 2, 0, 1, 2, 3]),
    (lambda: Dataset.range(5).interleave(lambda x: after(x, Dataset.range(int(x)))), [0, 0, 1, 1, 2, 2, 3]),
    (lambda: Dataset.range(5).map(lambda x: after(x, x)).flat_map(lambda x: after(x, Dataset.range(int(x)))), [0, 1, 2, 0, 1, 2, 3]),
    (lambda: Dataset.range(5).bucket_by_sequence_length(lambda x: after(x, 3), [2], [1, 1]).unbatch(), [3, 4]),
], ids=["from_indexable", "filter", "scan", "flat_map", "interleave", "map and flat_map", "bucket_by_sequence_length"])
def test_every_function_may_fail_at_the_start(make, want):
    with pytest.raises(ValueError, match="less than 3"):
        list(make())
    assert [int(x) for x in make().ignore_errors()] == want


def test_batches_that_fail_at_the_start_are_left_out():
    ds = Dataset.range(8).map(failing(3)).batch(2).ignore_errors()
    assert [e["x"].tolist() for e in ds] == [[4, 5], [6, 7]]


def test_a_damaged_first_record_is_left_out(tmp_path):
    path = tmp_path / "records"
    with infeed.io.TFRecordWriter(path) as writer:
        for text in (b"one", b"two", b"three"):
            writer.write(text)
    whole = bytearray(path.read_bytes())
    whole[12] ^= 1
    path.write_bytes(whole)
    ds = infeed.TFRecordDataset(path).map(lambda text: text.upper() if text else text).ignore_errors()
    it = iter(ds)
    assert list(it) == [b"TWO", b"THREE"] and it.stats().lost == 1


def test_without_ignore_errors_the_first_failure_is_all_that_is_tried():
    failed = []
    with pytest.raises(ValueError, match="less than 3"):
        list(Dataset.range(8).map(failing(3, failed)))
    assert failed == [0]


def test_what_fails_for_every_element_has_an_end():
    ds = Dataset.counter().map(failing(1 << 40)).ignore_errors()
    with pytest.raises(ValueError, match="less than"):
        next(iter(ds))
