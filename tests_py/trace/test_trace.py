"""What ends a trace, in words, and what a trace says of a function."""

import random
import time

import numpy as np
import pytest

import infeed
from infeed import _program, _trace
from infeed._spec import Structure, TensorSpec
from test_operations import traced

F4 = "f4[3,4]"


def in_place(x):
    x += 1
    return x


def assigns(x):
    x[0] = 1
    return x


def revives(x):
    try:
        bool(x[0, 0] > 0)
    except Exception:
        pass
    except BaseException:
        x = x * 2
    return x


def through_out(x):
    np.add(x, 1, out=np.zeros((3, 4), "f4"))
    return x


counter = iter(range(1000))

ENDS = {
    "if": (lambda x: x if x.sum() > 0 else -x, "truth of values"),
    "while": (lambda x: [x for _ in range(3) if x[0, 0]], "truth of values"),
    "float()": (lambda x: float(x[0, 0]), "needs the values of its argument"),
    "index": (lambda x: [1, 2, 3][x[0, 0]], "needs the values of its argument"),
    "int()": (lambda x: int(x[0, 0]), "needs the values of its argument"),
    "np.array": (lambda x: np.array(x), "needs the values of its argument"),
    "other library": (lambda x: np.linalg.inv(x[:3, :3]), "np.inv"),
    "in place": (in_place, "in place"),
    "assignment": (assigns, "assigns to items"),
    "out=": (through_out, "out="),
    "exceptions caught": (revives, "truth of values"),
    "clock": (lambda x: x + np.float32(time.perf_counter_ns() % 1000003), "each time it is called"),
    "np.random": (lambda x: x + np.random.rand(), "each time it is called"),
    "random": (lambda x: x * random.random(), "each time it is called"),
    "counter": (lambda x: x + next(counter), "each time it is called"),
    "sort": (lambda x: np.partition(x, 1), "np.partition"),
    "order of equals": (lambda x: np.argsort(x), "kind='stable'"),
    "mask": (lambda x: x[x[:2] > 0], "a mask of shape (2, 4)"),
    "mask with others": (lambda x: x[x[:, 0] > 0, 1], "several values"),
    "step": (lambda x: x[::x[0, 0].astype(int)], "step"),
    "bound": (lambda x: x[x[0, 0]:], "slices by a value of float32"),
    "format": (lambda x: {"name": f"{x}", "x": x}, "formats"),
    "method": (lambda x: x.tolist(), ".tolist"),
    "exception": (lambda x: {}[1], "raised KeyError: 1"),
    "axis": (lambda x: x.sum(axis=3), "axis 3"),
    "shapes": (lambda x: x + np.zeros(3), "cannot be broadcast"),
    "None": (lambda x: None, "None"),
    "array of it": (lambda x: np.asarray(x, "f8"), "x.astype(dtype)"),
    "ufunc": (lambda x: np.nextafter(x, x), "np.nextafter"),
    "ufunc method": (lambda x: np.maximum.accumulate(x), "np.maximum.accumulate"),
    "negative power": (lambda x: x.astype("i4") ** x.astype("i4"), "error in NumPy"),
    "too large a number": (lambda x: x.astype("u1") + 300, "cannot hold"),
    "pickle": (lambda x: __import__("copy").deepcopy(x), "copies or pickles"),
    "objects": (lambda x: np.concatenate([x.ravel(), np.array([object()] * 4)]), "objects"),
    "large closure": (lambda x, big=np.zeros(1 << 24): x[0, 0] + big, "64 MiB"),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_in_words(name):
    function, words = ENDS[name]
    reason, _ = traced(function, [F4])
    assert isinstance(reason, str) and words in reason


def test_stand_ins_end_with_the_call():
    kept = []
    traced(lambda x: kept.append(x) or x, [F4])
    with pytest.raises(_trace.EndOfTrace, match="after the call"):
        kept[0] + 1
    reason, _ = traced(lambda x: x + kept[0], [F4])
    assert "after the call" in reason


def test_a_trace_does_not_pass_for_an_exception():
    assert not issubclass(_trace.EndOfTrace, Exception)


def test_looks_like_what_it_stands_for():
    seen = {}

    def look(x, y, t):
        seen.update(x=(isinstance(x, np.ndarray), x.shape, x.dtype, x.ndim, x.size, len(x), x.nbytes, hasattr(x, "numpy")),
                    y=(isinstance(y, np.int64), isinstance(y, np.ndarray), np.ndim(y), np.shape(y)), t=isinstance(t, bytes))
        return x

    assert not isinstance(traced(look, [F4, "i8[]", "O[]"])[0], str)
    assert seen["x"] == (True, (3, 4), np.dtype("f4"), 2, 12, 3, 48, False)
    assert seen["y"] == (True, False, 0, ()) and seen["t"]


def with_unknown(function, *specs):
    structure, _ = Structure.of(tuple(specs))
    return _trace.trace(function, structure, list(specs))


X = TensorSpec((None, 3), "f4")

UNKNOWN = {
    "add": (lambda x: x + 1, (None, 3)), "sum": (lambda x: x.sum(), ()), "sum of rows": (lambda x: x.sum(1), (None,)),
    "mean": (lambda x: x.mean(0), (3,)), "std": (lambda x: x.std(), ()), "reshape": (lambda x: x.reshape(-1), (None,)),
    "slice": (lambda x: x[1:], (None, 3)), "row": (lambda x: x[-1], (3,)), "backwards": (lambda x: x[::-1], (None, 3)),
    "column": (lambda x: x[:, 0], (None,)), "transpose": (lambda x: x.T, (3, None)), "matmul": (lambda x: x @ x.T, (None, None)),
    "concatenate": (lambda x: np.concatenate([x, x]), (None, 3)), "stack": (lambda x: np.stack([x, x]), (2, None, 3)),
    "new axis": (lambda x: x[:, None], (None, 1, 3)), "where": (lambda x: np.where(x > 0, x, 0), (None, 3)),
    "standardize": (lambda x: (x - x.mean()) / x.std(), (None, 3)), "take": (lambda x: x[[0, -1]], (2, 3)),
    "argmax": (lambda x: x.argmax(1), (None,)), "flat argmax": (lambda x: x.argmax(), ()),
    "reshape to its own": (lambda x: x.reshape(x.shape[0], -1, 1), (None, None, 1)),
    "reshape to another's": (lambda x: np.concatenate([x, x]).reshape((2, x.shape[0], 3)), (2, None, 3)),
    "columns": (lambda x: np.concatenate([x, x[:, :1]], axis=1), (None, 4)),
    "cast": (lambda x: x.astype("f8"), (None, 3)), "columns of a cast": (lambda x: x.astype("i4")[:, 1:].reshape(-1, 1), (None, 1)),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_dimensions(name):
    function, shape = UNKNOWN[name]
    program = with_unknown(function, X)
    assert not isinstance(program, str), program
    assert program.specs[0].shape == shape
    for n in (2, 5):
        x = np.random.default_rng(n).normal(size=(n, 3)).astype("f4")
        native = _program.results(program.document, program.specs, [x])[0]
        assert _trace.agree(native, function(x), program.exact) is None


@pytest.mark.parametrize("words, function", {
    "length": lambda x: len(x), "a size": lambda x: x / (x.size + 0.5), "each row": lambda x: [r for r in x],
    "squeezes": lambda x: np.squeeze(x), "dimension 0": lambda x: x.astype("u1") * x.shape[0], "dimension 0 ": lambda x: np.zeros(x.shape),
}.items())
def test_what_needs_a_dimension(words, function):
    reason = with_unknown(function, X)
    assert "differ" in reason and "between elements" in reason and (words.strip() in reason or words == "each row")


def test_errors_of_shapes_come_when_it_runs():
    program = with_unknown(lambda x, y: x + y, X, X)
    with pytest.raises(ValueError, match=r"add: operands could not be broadcast together: \[2 3\], \[4 3\]"):
        _program.results(program.document, program.specs, [np.zeros((2, 3), "f4"), np.zeros((4, 3), "f4")])
    program = with_unknown(lambda x: x[5], X)
    with pytest.raises(ValueError, match="index 5 is out of bounds for axis 0 with size 2"):
        _program.results(program.document, program.specs, [np.zeros((2, 3), "f4")])


def test_gather_out_of_bounds():
    program, _ = traced(lambda x, i: x[i], ["f4[4]", "i8[]"])
    with pytest.raises(ValueError, match="index 4 is out of bounds for axis 0 with size 4"):
        _program.results(program.document, program.specs, [np.zeros(4, "f4"), np.int64(4)])


def test_text_of_a_fixed_size():
    for dtype, values in {"S3": [b"ab", b"", b"xyz"], "U3": ["ab", "", "\u20acz"]}.items():
        a = np.array(values, dtype)
        wanted = [v if isinstance(v, bytes) else v.encode() for v in values]
        program = _trace.trace(lambda t: (t[::-1], t == wanted[2]), Structure("leaf"), [TensorSpec((3,), object)])
        native, same = _program.results(program.document, program.specs, [a])
        assert native.tolist() == wanted[::-1] and same.tolist() == [False, False, True]


@pytest.mark.parametrize("fn", [lambda t: t == "b", lambda t: "b" == t, lambda t: t != np.array(["x", "b"])])
def test_text_equals_no_str(fn):
    """Whichever element comes first: that a comparison with it agrees says nothing about the others."""
    for values in (["a", "b"], ["b", "a"]):
        ds = infeed.Dataset.from_tensor_slices(values).map(fn)
        with pytest.warns(UserWarning, match="compare it with b'[bx]', not '[bx]'") as caught:
            got = list(ds)
        assert caught[0].filename == __file__ and len(caught) == 1
        assert all((g == fn(v.encode())).all() for g, v in zip(got, values))
        assert "runs as Python in the waiting thread, since it compares text with str" in ds.explain()


def test_other_dtypes_pass_through():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a = np.arange(6, dtype=ml_dtypes.bfloat16).reshape(2, 3)
    structure, spec = Structure("leaf"), [TensorSpec(a.shape, a.dtype)]
    program = _trace.trace(lambda x: (x.T, x[1]), structure, spec)
    native = _program.results(program.document, program.specs, [a])
    assert native[0].dtype == a.dtype and (native[0] == a.T).all() and (native[1] == a[1]).all()
    assert "bfloat16" in _trace.trace(lambda x: x + 1, structure, spec)


AGREE = [
    (np.float32(1), np.float32(1), True, None),
    (np.float32(1), np.float64(1), True, "float32"),
    (np.zeros(3), np.zeros((3, 1)), True, "[3, 1]"),
    (np.float64(1), np.nextafter(1, 2), True, "when run natively"),
    (np.float64(1), np.nextafter(1, 2), False, None),
    (np.float64(1), np.float64(1 + 1e-14), False, "when run natively"),
    (np.float64(np.nan), np.float64(np.nan), True, None),
    (np.array([1e-30, 1]), np.array([2e-30, 1]), False, None),
    (np.int64(1), np.int64(2), False, "when run natively"),
    (np.float64(1), np.float64(2), None, None),
    (np.float64(1), np.float32(2), None, "float32"),
    ((np.int32(1), b"x"), (1, "x"), True, None),
    ({"a": np.int32(1)}, (1,), True, "nested"),
    (b"x", b"y", True, "other values"),
]


@pytest.mark.parametrize("native, own, exact, words", AGREE)
def test_agree(native, own, exact, words):
    found = _trace.agree(native, own, exact)
    assert found is None if words is None else words in found


@pytest.mark.parametrize("options", [{}, {"num_parallel_calls": 2}, {"processes": 1}], ids=str)
def test_lists_of_python_are_those_of_programs(options):
    def listed(x):
        return [x, [x, x + 1], [x, 7]]

    def in_python(x):
        return listed(x) if int(x) >= 0 else None

    native, own = (infeed.Dataset.range(3).map(fn, **options) for fn in (listed, in_python))
    assert ("natively" in native.explain() or options) and "natively" not in own.explain()
    assert native.element_spec[0] == own.element_spec[0]
    for a, b, n in zip(native, own, range(3)):
        assert type(a) is type(b) is tuple
        for x, y, wanted in zip(a, b, (n, [n, n + 1], [n, 7])):
            assert x.dtype == y.dtype == np.int64 and x.tolist() == y.tolist() == wanted
