"""What elements are made of: structures, dtypes, shapes, and where they lie."""

import collections
import gc
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import infeed
from infeed import Dataset, TensorSpec

from .conftest import with_workers

Point = collections.namedtuple("Point", "x y")

STRUCTURES = {
    "component": [1, 2, 3],
    "tuple": ([1, 2, 3], [4.0, 5.0, 6.0]),
    "tuple of one": ([1, 2, 3],),
    "dict": {"b": [1, 2, 3], "a": [[4], [5], [6]]},
    "int keys": {2: [1, 2, 3], 1: [4, 5, 6]},
    "ordered dict": collections.OrderedDict([("z", [1, 2, 3]), ("a", [4, 5, 6])]),
    "default dict": collections.defaultdict(list, z=[1, 2, 3], a=[4, 5, 6]),
    "named tuple": Point([1, 2, 3], ["a", "b", "c"]),
    "nested": ({"x": ([1, 2, 3], {"y": [4, 5, 6]}), "a": Point([7, 8, 9], ([1, 2, 3],))}, [0, 0, 0]),
}


def flat(value):
    """[(path, component), ...], in the order in which values hold them."""
    if isinstance(value, tuple):
        return [((type(value).__name__, i, *p), v) for i, part in enumerate(value) for p, v in flat(part)]
    if isinstance(value, dict):
        return [((type(value).__name__, k, *p), v) for k, part in value.items() for p, v in flat(part)]
    return [((), value)]


def text(value):
    return [x.encode() if isinstance(x, str) else x for x in value]


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_come_out_as_they_went_in(name):
    given = STRUCTURES[name]
    ds = Dataset.from_tensor_slices(given)
    expected = [[(path, v[i]) for path, v in flat(given)] for i in range(3)]
    got = list(ds)
    assert len(got) == 3
    for want, element, one in zip(expected, got, (ds[0], ds[1], ds[2])):
        for (path, value), (got_path, got_value), (_, one_value) in zip(want, flat(element), flat(one)):
            assert path == got_path
            assert np.array_equal(got_value, text([value])[0]) and np.array_equal(one_value, got_value)
        assert len(flat(element)) == len(want)
    batch = next(iter(ds.batch(3)))
    for (path, value), (got_path, got_value) in zip(flat(given), flat(batch)):
        assert path == got_path and np.array_equal(got_value, text(value))
    assert [p for p, _ in flat(ds.element_spec)] == [p for p, _ in flat(given)]


def test_dicts_keep_their_own_data():
    ds = Dataset.from_tensor_slices(STRUCTURES["default dict"])
    assert ds[0].default_factory is list
    assert not STRUCTURES["default dict"].keys() - {"z", "a"}


DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "F", "D", "M8[ns]", "m8[s]"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (1, 2, 3)])
def test_dtypes_and_shapes(dtype, shape):
    rng = np.random.default_rng(1)
    a = rng.integers(0, 256, (7, *shape, np.dtype(dtype).itemsize), np.uint8).view(dtype)[..., 0]
    if dtype == "?":
        a = a.view(np.uint8) % 2 == 1
    ds = Dataset.from_tensor_slices(a)
    assert ds.element_spec == TensorSpec(shape, dtype)
    for got, want in zip(ds, a):
        assert got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()
    batches = list(ds.batch(3))
    assert [b.shape for b in batches] == [(3, *shape), (3, *shape), (1, *shape)]
    assert b"".join(b.tobytes() for b in batches) == a.tobytes()


def test_structured_dtypes_are_columns():
    a = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
    assert [(int(x["a"]), float(x["b"])) for x in Dataset.from_tensor_slices(a)] == [(1, 2.5), (3, 4.5)]


@pytest.mark.parametrize("given, want", [
    (np.array([b"a", b"", b"ccc"]), [b"a", b"", b"ccc"]),
    (np.array(["a", "", "h\u00e9\u4e16"]), [b"a", b"", "h\u00e9\u4e16".encode()]),
    (["a", "bb"], [b"a", b"bb"]),
    ([b"a", b"bb"], [b"a", b"bb"]),
])
def test_text_comes_as_bytes(given, want):
    ds = Dataset.from_tensor_slices(given)
    assert ds.element_spec == TensorSpec((), object)
    got = list(ds)
    assert got == want and all(type(x) is bytes for x in got)
    batch = next(iter(ds.batch(10)))
    assert batch.dtype == object and batch.tolist() == want
    assert Dataset.from_tensor_slices([given])[0].tolist() == want


@pytest.mark.parametrize("given, dtype", [
    ([1, 2], "int32"), ([1.5, 2], "float32"), ([1, 2.5], "float32"), ([True, False], "bool"), ([1, True], "int32"),
    ([2**31 - 1, -2**31], "int32"), ([2**31], "int64"), ([-2**40], "int64"), ([1 + 2j], "complex128"), ([], "float32"),
    (range(3), "int32"), ([np.int64(3)], "int32"), ([np.float64(3)], "float64"), ([2.0, np.float64(3)], "float32"),
    ([np.float16(3)], "float16"), ([np.zeros(3), np.ones(3)], "float64"), ([(1, 2), (3, 4)], "int32"),
    ([np.int64(-1), np.uint64(2**40)], "int64"), ([np.array([1], "u8"), np.array([-1])], "int32"), ([[], []], "float32"),
    ([2**63, 0.5], "float32"), ([np.array([1, 2]), [3, 4]], "int32"),
        ([np.array([1, 2]), np.array([3, 4])], "int64"), ([[np.array(1, "u1")], [np.array(2, "u1")]], "uint8"),
    (np.array([1, 2]), "int64"), (np.array([1.0]), "float64"), (np.array([1, 2], ">i4"), "int32"),
])
def test_python_numbers_become_what_tensorflow_makes_of_them(given, dtype):
    ds = Dataset.from_tensor_slices(given)
    assert ds.element_spec.dtype == dtype
    np.testing.assert_array_equal(np.array([x for x in ds]), np.array(given))


def test_arrays_are_used_in_place():
    a = np.arange(6)
    ds = Dataset.from_tensor_slices(a).batch(2)
    a[0] = 99
    assert [b.tolist() for b in ds] == [[99, 1], [2, 3], [4, 5]]
    for reader in (ds[0], next(iter(ds))):
        reader[0] = -1
    assert a[0] == 99


@pytest.mark.parametrize("name, a", [
    ("Fortran order", np.asfortranarray(np.arange(12).reshape(4, 3))),
    ("every second row", np.arange(24).reshape(8, 3)[::2]),
    ("backwards", np.arange(12).reshape(4, 3)[::-1]),
    ("broadcast", np.broadcast_to(np.arange(3), (4, 3))),
    ("other byte order", np.arange(12).reshape(4, 3).astype(">i8")),
])
def test_arrays_of_any_layout(name, a):
    ds = Dataset.from_tensor_slices(a)
    assert np.array_equal(np.stack(list(ds)), a)
    assert np.array_equal(next(iter(ds.batch(4))), a)


def test_read_only_arrays_and_other_libraries():
    a = np.arange(4)
    a.flags.writeable = False
    assert list(Dataset.from_tensor_slices(a)) == [0, 1, 2, 3]

    class Array:
        def __array__(self, dtype=None, copy=None):
            return a
    assert list(Dataset.from_tensor_slices({"x": Array()}).batch(4))[0]["x"].tolist() == [0, 1, 2, 3]


def objects_of(*rows):
    a = np.empty(len(rows), object)
    a[:] = rows
    return a


@pytest.mark.parametrize("given, text", [
    (5, "is a single value"), ((), "no array"), ({}, "no array"), (None, "is None"), (([1], None), r"component\[1\] is None"),
    (([1, 2], [1, 2, 3]), r"component\[1\] has 3 rows and component\[0\] has 2"),
    ({"a": [1, 2], "b": [[1]]}, r"component\['b'\] has 1 rows"),
    ([[1], [2, 3]], "different lengths.*from_indexable"), (([1, 2], [np.zeros((1, 2)), np.zeros((3, 2))]), r"component\[1\] has rows of different"),
    (objects_of(np.arange(2), np.arange(3)), "different lengths.*from_indexable"),
    ([[[1], [2, 3]], [[4], [5, 6]]], "cannot be made an array"), (np.array([b"a", None]), "array of Python objects"),
    ({"a": [1], 1: [2]}, "cannot be sorted"), ([2**63], "not an int64"),
    (np.zeros(2, [("a", object)]), "array of Python objects"), ({1, 2}, "is a set, which is no array"),
    ([2**70], f"{2**70} is not an int64"),
    ([2**63, -1], f"{2**63} is not an int64"), ([[1], [-2**63 - 1]], "is not an int64"),
    ([b"a", 1], "also 1 of type int"), (["a", True], "also True of type bool"), ([["a", 0.5]], "also 0.5 of type float"),
    ([np.array(["a"]), np.array([1])], "also 1 of type int"), (["a", None], "array of Python objects"),
    (["b", "a\ud800"], r"'a\\ud800' has a lone surrogate.*surrogateescape"),
    (([1, 2], np.array([["b", "c"], ["d", "\udfff"]])), r"component\[1\] has text in row 1 that UTF-8 cannot hold"),
])
def test_what_cannot_be_sliced(given, text):
    with pytest.raises(infeed.InvalidArgumentError, match=text):
        Dataset.from_tensor_slices(given)


def test_rows_of_different_lengths():
    rows = [np.arange(2), np.arange(3), np.arange(0), np.arange(1)]
    ds = Dataset.from_indexable(list(zip(rows, "abcd"))).padded_batch(2)
    assert [(x.tolist(), y.tolist()) for x, y in ds] == [([[0, 1, 0], [0, 1, 2]], [b"a", b"b"]), ([[0], [0]], [b"c", b"d"])]


TEXTS = {
    "bytes": [b"ab\0", b"c\0\0d", b"\0\0", b"", b"\1", b"\0\1"],
    "str": ["a\0", "", "h\u00e9\0\0", "\0", "\U0001f600", "\0b"],
    "both": [b"\xff\0", "\u4e16", "", b"\0", "a", b"b"],
    "NumPy's": [np.bytes_(b"a\0"), np.str_("b"), b"", "\0", np.bytes_(b"c"), np.str_("d")],
    "nested": [[b"a", b"b\0"], [b"", b"\0"], ("c\0", b"d"), [b"e", b"f"], [b"g", b"h"], [b"", b""]],
    "without NULs": ["a", b"b", "", "\u4e16", b"\xff", "c"],
}


@pytest.mark.parametrize("wrap", [list, collections.deque])
@pytest.mark.parametrize("name", TEXTS)
def test_text_is_kept_to_the_last_byte(name, wrap):
    want = [text(v) if isinstance(v, (list, tuple)) else text([v])[0] for v in TEXTS[name]]
    ds = Dataset.from_tensor_slices((wrap(TEXTS[name]), range(6)))
    ds = pickle.loads(pickle.dumps(ds))
    assert ds.element_spec[0] == TensorSpec((2,) if name == "nested" else (), object)
    as_lists = [v.tolist() if name == "nested" else v for v, _ in ds]
    assert as_lists == want and all(type(v) is bytes for v in np.ravel(np.array(as_lists, object)))
    assert ds.batch(6)[0][0].tolist() == want and ds.batch(3).batch(2)[0][0].reshape(6, -1).tolist() == [
        v if name == "nested" else [v] for v in want]
    assert [v.tolist() if name == "nested" else v for v, _ in with_workers(ds.shuffle(seed=1), 2)] == [
        want[k] for _, k in ds.shuffle(seed=1)]


def test_many_kept_texts():
    given = [b"x" * (k % 7) + b"\0" * (k % 3) for k in range(20_000)]
    kept = list(Dataset.from_tensor_slices(given).batch(7))
    assert [v for b in kept for v in b] == given


def test_void_columns_are_no_text():
    a = np.array([b"a\0\1", b"\0b\0"]).astype("V3")
    ds = Dataset.from_tensor_slices(a)
    assert ds.element_spec == TensorSpec((), "V3") and [v.tobytes() for v in ds] == [b"a\0\1", b"\0b\0"]


@pytest.mark.parametrize("given", [
    np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2]), np.ma.array([[1.0], [2.0]], mask=[[1], [0]]),
    [np.ma.array([1, 2], mask=[0, 1]), np.array([3, 4])], [(np.ma.array(["a"], mask=[1]),)],
    np.ma.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]),
])
def test_masks_are_not_lost(given):
    with pytest.raises(infeed.InvalidArgumentError, match=r"component\['x'\] .*has a mask.*a\.filled"):
        Dataset.from_tensor_slices({"x": given})


@pytest.mark.filterwarnings("ignore:.*masked element")
def test_masked_values_in_lists_are_refused():
    with pytest.raises(infeed.InvalidArgumentError, match="has a mask"):
        Dataset.from_tensor_slices([np.ma.masked, 1.0])


@pytest.mark.filterwarnings("ignore:.*masked element")
@pytest.mark.parametrize("dtype, given", [
    ("float32", np.ma.array([1.0, 2.0], mask=[0, 1])), ("float32", [1.0, np.ma.masked]),
    ("float32", [np.ma.array(1.0), np.ma.array(2.0, mask=1)]), (object, np.ma.array(["a", "b"], mask=[0, 1])),
])
def test_masks_of_what_a_generator_yields_are_not_lost(dtype, given):
    ds = Dataset.from_generator(lambda: iter([given]), output_signature=TensorSpec((2,), dtype))
    with pytest.raises(infeed.InvalidArgumentError, match="component 0 .*has a mask"):
        list(ds)


def test_text_that_turns_bad_later():
    a = np.array(["a", "b", "c"])
    it = iter(Dataset.from_tensor_slices(a).batch(1))
    a[:] = "\ud800"
    with pytest.raises(infeed.InvalidArgumentError, match="written into the array later"):
        list(it)


def test_a_bad_character_is_found_anywhere():
    a = np.full((1100, 2, 3), "x" * 200)
    assert Dataset.from_tensor_slices(a).element_spec.shape == (2, 3)
    a[1099, 1, 2] = "x" * 199 + "\udc80"
    with pytest.raises(infeed.InvalidArgumentError, match="row 1099 "):
        Dataset.from_tensor_slices(a)


def test_elements_may_be_written_and_outlive_everything():
    ds = Dataset.from_tensor_slices(np.arange(1000)).repeat().batch(10)
    it = iter(ds)
    kept = [next(it) for _ in range(50)]
    for k, b in enumerate(kept):
        assert b.flags.writeable
        b += k
    for _ in range(2000):
        next(it)
    it.close()
    del it, ds
    gc.collect()
    for k, b in enumerate(kept):
        assert b.tolist() == [10 * k + i + k for i in range(10)]


def test_large_elements():
    a = np.arange(3 << 20, dtype=np.int32).reshape(3, 1 << 20)
    assert all(np.array_equal(x, y) for x, y in zip(Dataset.from_tensor_slices(a), a))
    assert np.array_equal(Dataset.from_tensor_slices(a).batch(2)[0], a[:2])


def test_an_empty_list_of_a_generator_is_one_of_text():
    spec = infeed.TensorSpec((None,), object)
    got = list(infeed.Dataset.from_generator(lambda: iter([["a"], [], ["b", "c"]]), output_signature=spec))
    assert [x.tolist() for x in got] == [[b"a"], [], [b"b", b"c"]] and got[1].dtype == object
    with pytest.raises(infeed.InvalidArgumentError, match=r"float64\[0\]; output_signature says"):
        list(infeed.Dataset.from_generator(lambda: iter([np.zeros(0)]), output_signature=spec))


@pytest.mark.parametrize("dtype", ["string", "object", object, str, bytes, np.str_, np.bytes_, "S", "S5", "U3"], ids=str)
def test_names_of_text(dtype):
    spec = infeed.TensorSpec((), dtype)
    assert spec == infeed.TensorSpec((), object)
    assert list(infeed.Dataset.from_generator(lambda: iter(["a", b"longer than 5"]), output_signature=spec)) == [b"a", b"longer than 5"]


@pytest.mark.parametrize("spec", [TensorSpec((None, 3), "int64"), TensorSpec([], bool, name="x")])
def test_tensor_spec(spec):
    assert spec == pickle.loads(pickle.dumps(spec)) and hash(spec) == hash(TensorSpec(spec.shape, spec.dtype))
    assert spec != TensorSpec((4,), spec.dtype) and spec != "spec"
    with pytest.raises(AttributeError):
        spec.shape = ()


def test_element_spec_of_batches():
    ds = Dataset.from_tensor_slices({"x": np.zeros((5, 2), "f4"), "y": ["a"] * 5})
    assert ds.batch(2).element_spec == {"x": TensorSpec((None, 2)), "y": TensorSpec((None,), object)}
    assert ds.batch(2, drop_remainder=True).batch(3).element_spec["x"] == TensorSpec((None, 2, 2))


def test_columns_of_objects_that_are_text():
    a = np.array(["a", b"\x00", "ü"], object)
    assert list(infeed.Dataset.from_tensor_slices(a)) == [b"a", b"\0", "ü".encode()]


def test_what_ignore_errors_leaves_out_is_logged_when_asked_for(caplog):
    def some(x):
        if x % 3 == 1:
            raise ValueError(f"no {x}")
        return x

    ds = infeed.Dataset.range(7).map(some)
    it = iter(ds.ignore_errors())
    assert [int(x) for x in it] == [0, 2, 3, 5, 6]
    assert it.stats().lost == 2 and it.stats().places == ["element 1", "element 4"] and not caplog.records
    assert len(list(ds.ignore_errors(log_warning=True))) == 5
    assert "2 elements were left out" in caplog.text and "element 4" in caplog.text


def test_modules_that_nobody_uses_are_not_imported():
    """numpy.ma takes as long to import as all that happens before a first batch, importlib.metadata longer."""
    program = """
        import sys, numpy as np
        before = set(sys.modules)
        import infeed
        ds = infeed.Dataset.range(10).map(lambda x: np.sqrt(x)).map(lambda x: float(x)).shuffle(5, seed=1).batch(3)
        assert len(list(ds)) == 4
        print({"numpy.ma", "importlib.metadata", "keras", "jax", "torch", "tensorflow"} & (set(sys.modules) - before))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "set()\n", done.stderr
