"""Functions of Python that nothing calls: what they return cannot be found out, and that is no error."""

import numpy as np
import pytest

import infeed
from infeed import Dataset


def plus(s, x):
    return np.int64(int(s) + int(x))


# Each works on a dataset of int64 scalars, with functions that are not traced.
OPERATIONS = {
    "map": lambda ds: ds.map(lambda x: int(x)), "filter": lambda ds: ds.filter(lambda x: int(x) >= 0),
    "take_while": lambda ds: ds.take_while(lambda x: int(x) >= 0), "scan": lambda ds: ds.scan(np.int64(0), lambda s, x: (plus(s, x), int(x))),
    "flat_map": lambda ds: ds.flat_map(lambda x: Dataset.range(int(x))), "interleave": lambda ds: ds.interleave(lambda x: Dataset.range(int(x))),
    "group_by_window": lambda ds: ds.group_by_window(lambda x: int(x) % 2, lambda k, d: d.batch(int(k) + 1), window_size=2),
    "bucket_by_sequence_length": lambda ds: ds.bucket_by_sequence_length(lambda x: int(x), [3], [2, 2]),
    "rejection_resample": lambda ds: ds.rejection_resample(lambda x: int(x) % 2, [0.5, 0.5], seed=1),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("source", [lambda: Dataset.range(0), lambda: Dataset.range(4).filter(lambda x: x > 9)], ids=["known", "unknown"])
def test_of_an_empty_dataset(name, source):
    ds = OPERATIONS[name](source())
    ds.element_spec
    assert list(ds) == [] and list(ds.batch(2)) == [] and list(ds.repeat(2)) == []


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("outer", ["flat_map", "interleave"])
def test_of_datasets_some_of_which_are_empty(name, outer):
    def inside(x):
        return OPERATIONS[name](Dataset.range(int(x)))

    got = list(getattr(Dataset.from_tensor_slices(np.int64([0, 4, 0, 3, 0])), outer)(inside))
    want = [e for n in (4, 3) for e in OPERATIONS[name](Dataset.range(n))]
    assert sorted(map(repr, got)) == sorted(map(repr, want)) and got


def test_reduce_gives_the_initial_state():
    state = (np.int64(7), {"name": b"x"})
    assert Dataset.range(0).reduce(state, lambda s, x: (plus(s[0], x), s[1])) == state


def test_a_scan_without_elements_is_checked_as_far_as_it_is_known():
    assert Dataset.range(0).scan(np.int64(0), lambda s, x: (plus(s, x), x)).batch(2).element_spec.shape == (None,)
    with pytest.raises(infeed.InvalidArgumentError, match="must return a pair"):
        Dataset.range(0).scan(np.int64(0), lambda s, x: s).element_spec


def test_elements_that_come_only_later_are_no_silent_loss():
    def outcome(tries):
        """Of a function that is not the same each time: elements pass when it was called more often than so."""
        calls = []

        def passes(n):
            calls.append(n)
            return n == 1 or calls.count(n) > tries

        ds = Dataset.range(1, 3).flat_map(lambda n: Dataset.range(int(n)).filter(lambda x: passes(int(n) + 0 * int(x))).map(lambda x: int(x)))
        try:
            return [int(x) for x in ds]
        except infeed.InvalidArgumentError as e:
            return str(e)

    found = [outcome(tries) for tries in range(9)]
    assert found[0] == [0, 0, 1] and found[-1] == [0]
    assert any("must do the same each time" in f for f in found if isinstance(f, str))
