"""Functions that use sizes which differ between elements: lengths, and what is computed and compared with them."""

import numpy as np
import pytest

import infeed

ROWS = [([1] * n, [[2, 3]] * (n % 3)) for n in (1, 5, 2, 7, 3, 3)]
SIGNATURE = infeed.TensorSpec((None,), "int32"), infeed.TensorSpec((None, 2), "int32")


def rows():
    return infeed.Dataset.from_generator(arrays, output_signature=SIGNATURE)


LENGTHS = {
    "np.size": lambda a, b: np.size(a),
    "size of two dimensions": lambda a, b: a.size + b.size,
    "np.shape": lambda a, b: np.shape(a)[0],
    "maximum": lambda a, b: np.maximum(np.size(a), b.shape[0] * 3),
    "minimum with an int": lambda a, b: np.minimum(5, a.shape[0]),
    "arithmetic": lambda a, b: (a.shape[0] + 7) // 3 * 2 - 1 + b.size % 4,
    "reflected": lambda a, b: 9 - a.size + 2 * b.shape[0],
}
PREDICATES = {
    "less": lambda a, b: np.shape(a)[0] < 6,
    "logical_and": lambda a, b: np.logical_and(np.size(a) <= 5, b.shape[0] >= 1),
    "and": lambda a, b: (a.size > 1) & (2 < b.size),
    "equal": lambda a, b: a.shape[0] == b.shape[0],
    "not equal": lambda a, b: a.shape[0] != 5,
    "ufunc": lambda a, b: np.equal(a.size, 3),
    "with an array": lambda a, b: np.sum(a) * a.size > 4,
    "before an array": lambda a, b: 4 < a.size - a.astype("f4").sum() + b.shape[0] / a.max(),
    "slice": lambda a, b: a[:b.shape[0] + 1].sum() > 1,
    "mask": lambda a, b: b[b[:, 0] > 1].size > 2,
}
PYTHON = {
    "len": lambda a, b: len(a) > 2,
    "if": lambda a, b: True if a.size > 2 else False,
    "division by a size": lambda a, b: a.size // (b.size + 1) > 0,
    "float": lambda a, b: a.size > 2.5,
    "fraction": lambda a, b: a.size / 2 > 2,
    "array of sizes": lambda a, b: np.array([a.size, 3]).max() > 3,
    "of a small dtype": lambda a, b: a.astype("i1").max() * a.size > 4,
    "max": lambda a, b: max(a.size, 3) > 4,
    "arange": lambda a, b: np.arange(a.size).sum() > 3,
}
RESULTS = {
    "size": lambda a, b: a.size,
    "dimension": lambda a, b: {"rows": b.shape[0], "x": (a, a.shape[0])},
    "product": lambda a, b: a.size * 10000 + b.size,
    "padding": lambda a, b: np.pad(a, [[0, 9 - a.shape[0]]]),
    "slice": lambda a, b: a[:a.size - 1],
    "int64": lambda a, b: np.int64(a.size),
    "maximum": lambda a, b: np.maximum(a.size, b.size),
    "comparison": lambda a, b: a.size > 2,
    "where": lambda a, b: np.where(a > 0, a.size, 0),
    "stack": lambda a, b: np.stack([a.size, b.size]),
    "mean": lambda a, b: a.sum() / a.size,
}


def natively(ds):
    return "runs natively" in ds.explain().splitlines()[1]


def arrays():
    return [(np.array(a, np.int32), np.array(b, np.int32).reshape(-1, 2)) for a, b in ROWS]


@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_run_natively(name):
    length = LENGTHS[name]
    ds = rows().bucket_by_sequence_length(length, [3, 6], [1, 1, 1])
    assert natively(ds)
    assert [x.tolist() for x, _ in ds] == [[a] for a, _ in ROWS]
    grouped = rows().group_by_window(length, lambda key, window: window.map(lambda a, b: (key, a)).batch(1), window_size=1)
    assert [(int(key[0]), a[0].tolist()) for key, a in grouped] == [(length(a, b), a.tolist()) for a, b in arrays()]


@pytest.mark.parametrize("name", PREDICATES)
def test_predicates_run_natively(name):
    ds = rows().filter(PREDICATES[name])
    assert natively(ds)
    assert [a.tolist() for a, _ in ds] == [a.tolist() for a, b in arrays() if PREDICATES[name](a, b)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", PYTHON)
def test_what_needs_the_number_runs_as_python(name):
    ds = rows().filter(PYTHON[name])
    assert not natively(ds)
    assert [a.tolist() for a, _ in ds] == [a.tolist() for a, b in arrays() if PYTHON[name](a, b)]


def leaves(x):
    if isinstance(x, (dict, tuple)):
        return [leaf for v in (x.values() if isinstance(x, dict) else x) for leaf in leaves(v)]
    return [x]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_the_functions_own(name):
    found = list(rows().map(RESULTS[name]))
    for x, (a, b) in zip(found, arrays(), strict=True):
        y = RESULTS[name](a, b)
        for own, of in zip(leaves(x), leaves(y), strict=True):
            of = np.int32(of) if type(of) is int else np.asarray(of)
            assert (own.dtype, own.shape, own.tolist()) == (of.dtype, of.shape, of.tolist())


def test_a_size_divided_by_0_is_pythons_error():
    with pytest.raises(ZeroDivisionError):
        list(rows().filter(lambda a, b: a.size // 0 > 1))


def test_a_key_that_no_int64_holds_is_an_error():
    ds = rows().group_by_window(lambda a, b: 1 << 70 if len(a) > 2 else 0, lambda key, window: window.map(lambda a, b: a).ragged_batch(9), 2)
    with pytest.raises(infeed.Error):
        list(ds)
