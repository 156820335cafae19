"""The comparison itself sees what it is there for."""

import builtins
import collections

import numpy as np
import pytest
from cases import ERRORS, _error
from outcomes import Failure, Ragged, differences, in_any_order, literal, plain, sequence

Pair = collections.namedtuple("Pair", "u v")
ONE = np.int64(1)


@pytest.mark.parametrize("ours, theirs", [
    (ONE, np.int64(2)), (ONE, np.int32(1)), (ONE, np.array([1])), (b"a", b"b"), (b"a", ONE), (np.nan, 0.5),
    ((ONE,), ONE), ((ONE, ONE), (ONE,)), (Pair(ONE, ONE), (ONE, ONE)), ({"a": ONE}, {"b": ONE}), ({"a": ONE}, (ONE,)),
    (np.array([b"a"], object), np.array([b"b"], object)), (np.array([b"a"], object), np.array([b"a", b""], object)),
], ids=str)
def test_elements_that_differ(ours, theirs):
    assert differences(plain(ours), plain(theirs)) and differences(plain(theirs), plain(ours))


@pytest.mark.parametrize("value", [ONE, b"a", (ONE, {"x": b"t"}), Pair(ONE, ONE), np.array([0.5, np.nan]), {}, ()], ids=str)
def test_elements_that_do_not(value):
    assert not differences(plain(value), plain(value))


def test_rows_of_unequal_length():
    rows = np.empty(2, object)
    rows[:] = [np.array([1], np.int32), np.array([2, 3], np.int32)]
    assert plain(rows) == Ragged([[1], [2, 3]], np.dtype(np.int32)) and literal(plain(rows)) == [[1], [2, 3]]


def test_sequences_and_multisets():
    one, two = plain(ONE), plain(np.int64(2))
    assert sequence([one], [one, two]) and sequence([two, one], [one, two])
    assert not in_any_order([two, one], [one, two]) and in_any_order([one, one], [one, two])


def test_errors_by_class():
    import infeed

    assert not _error(Failure.of(infeed.DataLossError("x")), "DataLoss")
    assert _error(Failure.of(infeed.NotFoundError("x")), "DataLoss")
    assert not _error(Failure.of(infeed.InvalidArgumentError("x")), "Value")
    assert _error(Failure.of(ValueError("x")), "InvalidArgument")
    assert _error(None, "DataLoss") and _error(Failure.of(ValueError("x")), None) and not _error(None, None)
    assert all(hasattr(infeed, c) or hasattr(builtins, c) for classes in ERRORS.values() for c in classes)
