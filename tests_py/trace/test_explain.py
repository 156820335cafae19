"""In a dataset, too, every operation that must be native is: explain() says so, and elements are NumPy's own results."""

import warnings

import numpy as np
import pytest
from operations import operations, value

import infeed
from infeed import _trace

IO = {
    "parse_single_example": lambda s: infeed.io.parse_single_example(s, {"x": infeed.io.FixedLenFeature([], "int64", 0)}),
    "parse_sequence_example": lambda s: infeed.io.parse_single_sequence_example(s, {"x": infeed.io.FixedLenFeature([], "int64", 0)}, {}),
    "decode_raw": lambda s: infeed.io.decode_raw(s, "uint8"),
    "decode_csv": lambda s: infeed.io.decode_csv(s, [["a"]]),
    "serialize_tensor": lambda s: infeed.io.serialize_tensor(s),
    "parse_tensor": lambda s: infeed.io.parse_tensor(infeed.io.serialize_tensor(s), object, shape=[]),
    "uniform": lambda s: infeed.random.uniform((2,), seed=1),
    "normal": lambda s: infeed.random.normal((2,), seed=1),
    "integers": lambda s: infeed.random.integers(0, 9, (2,), seed=1),
}


def explained(element, fn):
    ds = infeed.Dataset.from_tensors(element).map(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        return ds, ds.explain().splitlines()[1]


@pytest.mark.parametrize("operation", operations())
def test_operations_run_natively_in_datasets(operation):
    name, fn, arguments = operations()[operation][0]
    element = tuple(value(a, i, special=False) for i, a in enumerate(arguments))
    ds, line = explained(element, fn)
    assert " runs natively" in line, f"{name}: {line}"
    with np.errstate(all="ignore"):
        own = fn(*element)
    got = next(iter(ds))
    for a, b in zip(_leaves(got), _leaves(own)):
        b = _trace.result_array(b, name)  # Python's numbers are int32 and float32
        assert (np.asarray(a).dtype.kind in "OS" if b.dtype.hasobject else np.asarray(a).dtype == b.dtype) and np.shape(a) == b.shape, name


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for k in sorted(value) for leaf in _leaves(value[k])]
    return [leaf for v in value for leaf in _leaves(v)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("operation", IO)
def test_infeed_operations_run_natively_in_datasets(operation):
    _, line = explained(b"", IO[operation])
    assert " runs natively" in line, line


def test_shuffle_runs_natively_in_datasets():
    _, line = explained(np.arange(5), lambda x: infeed.random.shuffle(x, seed=1))
    assert " runs natively" in line, line


def test_parse_example_runs_natively_in_datasets():
    ds = infeed.Dataset.from_tensor_slices([b"", b""]).batch(2)
    ds = ds.map(lambda s: infeed.io.parse_example(s, {"x": infeed.io.FixedLenFeature([], "int64", 7)}))
    assert " runs natively" in ds.explain().splitlines()[2]
    assert next(iter(ds))["x"].tolist() == [7, 7]


def test_what_is_not_native_is_said_with_a_reason():
    def fn(x):
        return x if x > 0 else -x

    assert "runs as Python in the waiting thread, since it needs the truth" in explained(np.int64(3), fn)[1]
