"""Functions that return datasets: what is native, what runs as Python, and that both give the same."""

import json
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import infeed

D = infeed.Dataset


def plain(element):
    """An element in plain Python."""
    if isinstance(element, tuple):
        return tuple(map(plain, element))
    if isinstance(element, dict):
        return {k: plain(v) for k, v in element.items()}
    return element.tolist() if hasattr(element, "tolist") else element


def elements(ds):
    return [plain(x) for x in ds]


def reason(ds):
    """Why the function of the last operation runs as Python; None where it is native."""
    function = ds._node.function
    function.decide()
    return function.reason


def rows():
    return D.from_tensor_slices(np.arange(6).reshape(3, 2))


def uneven():
    return D.from_generator(lambda: iter([[1, 2], [3], []]), output_signature=infeed.TensorSpec((None,), "int64"))


def uneven_text():
    return D.from_generator(lambda: iter([["a"], ["b", "c"], []]), output_signature=infeed.TensorSpec((None,), str))


def lines(folder, *texts):
    for i, text in enumerate(texts):
        (folder / f"{i}.txt").write_text(text)
    return D.list_files(str(folder / "*.txt"), shuffle=False)


NATIVE = {
    "rows of the element": (rows, lambda x: D.from_tensor_slices(x), [0, 1, 2, 3, 4, 5]),
    "a constructor itself": (rows, D.from_tensor_slices, [0, 1, 2, 3, 4, 5]),
    "rows of what is computed": (rows, lambda x: D.from_tensor_slices(x * 2 + 1), [1, 3, 5, 7, 9, 11]),
    "the element as one": (rows, lambda x: D.from_tensors(x.sum()).repeat(2), [1, 1, 5, 5, 9, 9]),
    "a number as argument": (lambda: D.range(4), lambda x: D.range(x), [0, 0, 1, 0, 1, 2]),
    "two of them": (lambda: D.range(3), lambda x: D.range(x, 2 * x + 1), [0, 1, 2, 2, 3, 4]),
    "argument of an operation": (lambda: D.range(3), lambda x: D.range(5).skip(x).take(x + 1), [0, 1, 2, 2, 3, 4]),
    "count of repeat": (lambda: D.range(3), lambda x: D.from_tensors(7).repeat(x), [7, 7, 7]),
    "size of batch": (lambda: D.range(1, 3), lambda x: D.range(3).batch(x), [[0], [1], [2], [0, 1], [2]]),
    "nothing of the element": (lambda: D.range(2), lambda x: D.range(2), [0, 1, 0, 1]),
    "several components": (lambda: D.from_tensor_slices(([1, 2], ["a", "b"])), lambda n, s: D.from_tensors((s, n)).repeat(n),
                           [(b"a", 1), (b"b", 2), (b"b", 2)]),
    "a dict": (lambda: D.from_tensor_slices({"n": [1, 2]}), lambda e: D.from_tensors({"m": e["n"] + 1}), [{"m": 2}, {"m": 3}]),
    "text as rows": (lambda: D.from_tensor_slices([["a", "b"], ["c", "dd"]]), D.from_tensor_slices, [b"a", b"b", b"c", b"dd"]),
    "rows and a constant": (rows, lambda x: D.from_tensor_slices((x, [5, 6])), [(0, 5), (1, 6), (2, 5), (3, 6), (4, 5), (5, 6)]),
    "a map inside": (lambda: D.range(2), lambda x: D.range(3).map(lambda y: y * y), [0, 1, 4, 0, 1, 4]),
    "a map that uses the element": (lambda: D.range(2), lambda x: D.range(2).map(lambda y: (x * 10 + y, x)), [(0, 0), (1, 0), (10, 1), (11, 1)]),
    "a map that uses an array": (rows, lambda x: D.range(2).map(lambda i: x[i] + x.max()), [1, 2, 5, 6, 9, 10]),
    "a map that uses text": (lambda: D.from_tensor_slices(["a", "b"]), lambda s: D.range(2).map(lambda i: (s, i)), [(b"a", 0), (b"a", 1), (b"b", 0), (b"b", 1)]),
    "a filter that uses the element": (lambda: D.range(3), lambda x: D.range(4).filter(lambda y: y > x), [1, 2, 3, 2, 3, 3]),
    "an operation on such a map": (lambda: D.range(2), lambda x: D.range(3).map(lambda y: x + y).batch(2), [[0, 1], [2], [1, 2], [3]]),
    "one in the other": (lambda: D.range(3), lambda x: D.range(x).flat_map(lambda y: D.from_tensors(y).repeat(y + 1)), [0, 0, 1, 1]),
    "one in the other that uses both": (lambda: D.range(2), lambda x: D.range(2).flat_map(lambda y: D.from_tensors(10 * x + y)), [0, 1, 10, 11]),
    "rows of what differs in length": (uneven, lambda x: D.from_tensor_slices(({"a": x}, x + 1)), [({"a": 1}, 2), ({"a": 2}, 3), ({"a": 3}, 4)]),
    "what differs in length as one": (uneven, lambda x: D.from_tensors(x.astype("float32")), [[1.0, 2.0], [3.0], []]),
    "a map that uses what differs in length": (uneven, lambda x: D.range(1).map(lambda i: (x, i)), [([1, 2], 0), ([3], 0), ([], 0)]),
    "what is made of what differs in length": (uneven, lambda x: D.range(2).map(lambda i: (x[:, None] * i)[1:]), [[[0]], [[2]], [], [], [], []]),
    "text that differs in length": (uneven_text, lambda s: D.range(1).map(lambda i: s[:1]), [[b"a"], [b"b"], []]),
    "sizes of batches that are full": (lambda: D.range(1, 4), lambda x: D.range(3).batch(x, drop_remainder=True), [[0], [1], [2], [0, 1], [0, 1, 2]]),
    "sizes of padded batches that are full": (lambda: D.range(1, 3), lambda x: D.range(2).padded_batch(x, drop_remainder=True), [[0], [1], [0, 1]]),
    "shapes to pad to": (lambda: D.range(2), lambda x: D.from_tensors([1]).padded_batch(1, padded_shapes=[1 + x]), [[[1]], [[1, 0]]]),
    "a length that differs": (uneven, lambda x: D.range(x.shape[0]), [0, 1, 0]),
    "a number of values": (uneven, lambda x: D.range(5).skip(np.size(x) + 2).take(x.shape[0] % 2), [3]),
    "an operation on such a map of it": (uneven, lambda x: D.range(3).map(lambda i: x.sum() + i).filter(lambda y: y > 3), [4, 5, 4, 5]),
    "nested results": (lambda: D.range(2), lambda x: {"a": D.range(x, x + 2), "b": D.range(2)}, [{"a": 0, "b": 0}, {"a": 1, "b": 1}, {"a": 1, "b": 0}, {"a": 2, "b": 1}]),
}


@pytest.mark.parametrize("name", NATIVE)
def test_native(name):
    make, function, expected = NATIVE[name]
    ds = make().flat_map(function)
    assert reason(ds) is None
    assert elements(ds) == expected
    assert elements(pickle.loads(pickle.dumps(ds))) == expected
    infeed_spec = ds.element_spec
    assert isinstance(infeed_spec, (infeed.TensorSpec, tuple, dict))


def test_a_dataset_from_outside():
    other = D.from_tensor_slices([5, 6])
    ds = D.range(2).flat_map(lambda x: other.concatenate(other))
    assert reason(ds) is None
    assert elements(ds) == [5, 6, 5, 6] * 2


def test_files(tmp_path):
    files = lines(tmp_path, "a\nb\n", "", "c\nd\ne\n")
    for function in (infeed.TextLineDataset, lambda f: infeed.TextLineDataset([f]), lambda f: infeed.TextLineDataset(f).take(9)):
        ds = files.interleave(function, cycle_length=2, num_parallel_calls=2)
        assert reason(ds) is None
        assert elements(ds) == [b"a", b"b", b"c", b"d", b"e"]
    ds = files.batch(2).flat_map(lambda f: infeed.TextLineDataset(f))
    assert reason(ds) is None
    assert elements(ds) == [b"a", b"b", b"c", b"d", b"e"]


def threes(x):
    if x == 1:
        return D.from_tensor_slices(np.array([30, 31]))
    return D.range(x)


def test_a_function_that_looks_at_values_runs_as_python():
    ds = D.range(4).flat_map(threes)
    assert "truth" in reason(ds)
    assert elements(ds) == [30, 31, 0, 1, 0, 1, 2]
    assert ds.element_spec == infeed.TensorSpec((), "int64")
    ds = D.range(4).interleave(threes, cycle_length=2, num_parallel_calls=2)
    assert elements(ds) == [30, 0, 31, 1, 0, 1, 2]


def test_text_and_nested_elements_from_python():
    def some(x):
        n = int(x)
        return D.from_tensor_slices({"s": ["x" * n, "é"], "n": np.full((2, n), n, "float32")})

    ds = D.range(1, 3).flat_map(some)
    assert reason(ds) is not None
    assert elements(ds) == [{"s": b"x", "n": [1.0]}, {"s": "é".encode(), "n": [1.0]}, {"s": b"xx", "n": [2.0, 2.0]}, {"s": "é".encode(), "n": [2.0, 2.0]}]


INT = infeed.TensorSpec((), "int64")


def multiples(n):
    yield from range(0, 10 * int(n), 10)


GENERATED = {
    "the same": (lambda x: D.from_generator(lambda: iter([5, 6]), output_signature=INT), [5, 6] * 3),
    "of the element": (lambda x: D.from_generator(multiples, output_signature=INT, args=(x,)), [0, 0, 10]),
    "that sees the element": (lambda x: D.from_generator(lambda: iter([int(x)]), output_signature=INT), [0, 1, 2]),
    "one in the other": (lambda x: D.range(x).flat_map(lambda y: D.from_generator(multiples, output_signature=INT, args=(x + y,))), [0, 0, 10, 0, 10, 20]),
    "with a map": (lambda x: D.from_generator(multiples, output_signature=INT, args=(x,)).map(lambda y: y + x), [1, 2, 12]),
}


@pytest.mark.parametrize("name", GENERATED)
def test_generators(name):
    function, expected = GENERATED[name]
    assert elements(D.range(3).flat_map(function)) == expected
    assert elements(D.range(3).interleave(function, cycle_length=1, num_parallel_calls=1)) == expected


def digits(x):
    return np.int32(len(str(int(x))))


CAPTURING = {
    "a map": (lambda x: D.range(2).map(lambda y: y + 10 * x), [1, 1, 2, 2, 2, 2]),
    "one in the other": (lambda x: D.range(1, 3).flat_map(lambda y: D.range(2).map(lambda z: z + 10 * x * y)), [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2]),
}


@pytest.mark.parametrize("name", CAPTURING)
def test_python_above_functions_that_use_the_element(name):
    function, expected = CAPTURING[name]
    for ds in (D.range(3).flat_map(function).map(digits), D.range(3).interleave(function, cycle_length=1).map(digits), D.range(3).flat_map(lambda x: function(x).map(digits))):
        assert elements(ds) == expected
        assert ds.element_spec == infeed.TensorSpec((), "int32")


def test_python_inside_of_a_template():
    seen = []

    def slow(y):
        seen.append(int(y))
        return y + np.int64(len(str(int(y))))

    ds = D.range(3).flat_map(lambda x: D.range(x).map(slow))
    assert reason(ds) is None
    assert elements(ds) == [1, 1, 2]
    assert seen[-3:] == [0, 0, 1]


def test_python_inside_that_uses_the_element():
    ds = D.range(3).flat_map(lambda x: D.range(2).map(lambda y: int(y) * 10 + int(x)))
    assert "runs as Python" in reason(ds)
    assert elements(ds) == [0, 10, 1, 11, 2, 12]


def test_an_exception_comes_at_its_element():
    def some(x):
        if x == 1:
            raise ZeroDivisionError("at one")
        return D.range(x, x + 2)

    it = iter(D.range(3).flat_map(some))
    assert [int(next(it)), int(next(it))] == [0, 1]
    with pytest.raises(ZeroDivisionError, match="at one"):
        next(it)


def test_a_function_must_return_a_dataset():
    for result in (5, None, [1], (1, 2), {}):
        with pytest.raises(TypeError, match="must return a Dataset"):
            D.range(3).flat_map(lambda x, r=result: r).element_spec


def test_what_differs_from_call_to_call_is_not_native():
    count = iter(range(1000))
    assert "each time" in reason(D.range(3).flat_map(lambda x: D.range(next(count))))


def test_a_stand_in_cannot_be_kept():
    kept = []
    ds = D.range(3).flat_map(lambda x: kept.append(x) or D.range(x))
    assert elements(ds) == [0, 0, 1]
    late = D.range(2).map(lambda y: y + kept[0])
    assert late._node.function.calls_python()


def test_errors_of_datasets_come_at_their_element():
    ds = D.range(3).flat_map(lambda x: D.range(4).shard(x, 0))
    assert reason(ds) is None
    with pytest.raises(infeed.InvalidArgumentError, match="num_shards 0"):
        list(ds)
    assert elements(ds.ignore_errors()) == [0, 1, 2, 3, 0, 2]


def test_group_by_window():
    ds = D.range(7).group_by_window(lambda x: x % 2, lambda key, d: d.map(lambda x: (key, x)).batch(2), window_size=3)
    assert reason(ds) is None
    assert elements(ds) == [([0, 0], [0, 2]), ([0], [4]), ([1, 1], [1, 3]), ([1], [5]), ([0], [6])]
    by_python = D.range(7).group_by_window(lambda x: int(x) % 2, lambda key, d: d.batch(2) if key else d.batch(3),
                                           window_size_func=lambda key: 2 + int(key))
    assert reason(by_python) is not None
    assert elements(by_python) == [[0, 2], [1, 3], [5], [4, 6]]


def test_windows():
    ds = D.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "y", "z"]}).window(2).flat_map(lambda w: D.zip({"a": w["a"].batch(2), "b": w["b"].batch(2)}))
    assert reason(ds) is None
    assert elements(ds) == [{"a": [1, 2], "b": [b"x", b"y"]}, {"a": [3], "b": [b"z"]}]
    ds = D.range(5).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(2))
    assert elements(ds) == [[0, 1], [2], [1, 2], [3], [2, 3], [4]]
    ds = D.range(4).window(2).flat_map(lambda w: w.map(lambda x: int(x) + len(list(w))))
    assert elements(ds) == [2, 3, 4, 5]


GRAPHS = {
    "flat_map": lambda: D.range(5).flat_map(lambda x: D.range(x).shuffle(3)),
    "interleave": lambda: D.range(6).shuffle(seed=3).interleave(lambda x: D.range(3).map(lambda y: 10 * x + y), cycle_length=3, block_length=2),
    "read ahead": lambda: D.range(6).interleave(lambda x: D.range(x).batch(2).map(np.sum), cycle_length=3, num_parallel_calls=3),
    "python": lambda: D.range(5).flat_map(threes),
    "groups": lambda: D.range(13).group_by_window(lambda x: x % 3, lambda k, d: d.shuffle(4).batch(2), window_size=4),
    "windows": lambda: D.range(9).window(4, shift=3).flat_map(lambda w: w.shuffle(4)),
    "batches": lambda: D.range(7).flat_map(lambda x: D.range(x)).batch(3),
    "nested": lambda: D.range(4).flat_map(lambda x: D.range(x).interleave(lambda y: D.from_tensors((x, y)).repeat(2), cycle_length=2)),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("workers", [0, 2])
def test_resume(name, workers):
    """Taken up before every element, in another dataset of the same definition and with other workers."""
    def make(workers):
        options = infeed.Options()
        options.threading.private_threadpool_size = workers
        return GRAPHS[name]().with_options(options)

    it = iter(make(workers))
    whole, states = [], [it.state_dict()]
    for x in it:
        whole.append(plain(x))
        states.append(json.loads(json.dumps(it.state_dict())))
    assert len(whole) >= 5
    for k, state in enumerate(states):
        again = iter(make(2 - workers))
        again.load_state_dict(state)
        assert [plain(x) for x in again] == whole[k:], k


def test_passes_differ_and_repeat():
    ds = D.range(1).flat_map(lambda x: D.range(50).shuffle(50, seed=1))
    first, second = elements(ds), elements(ds)
    assert first != second and sorted(first) == sorted(second)
    assert elements(ds.iterator(epoch=0)) == first
    two = D.range(2).flat_map(lambda x: D.range(50).shuffle(50, seed=1))
    both = elements(two)
    assert both[:50] != both[50:], "each dataset has an order of its own"


def test_states_of_other_functions_are_refused():
    state = iter(D.range(5).flat_map(lambda x: D.range(x))).state_dict()
    for other in (lambda x: D.range(x + 1), lambda x: D.range(x).batch(1).unbatch()):
        with pytest.raises(infeed.Error):
            iter(D.range(5).flat_map(other)).load_state_dict(state)


def test_no_thread_and_no_file_is_left(tmp_path):
    files = lines(tmp_path, *["x\ny\n"] * 30)
    before = threading.active_count()
    it = iter(files.interleave(infeed.TextLineDataset, cycle_length=8, num_parallel_calls=4))
    next(it)
    it.close()
    assert threading.active_count() == before
    from pathlib import Path

    open_files = [p for p in Path("/proc/self/fd").iterdir() if p.exists() and str(tmp_path) in str(p.resolve())]
    assert not open_files


def test_ten_thousand_files_with_few_descriptors(tmp_path):
    for i in range(10_000):
        (tmp_path / f"{i:05}").write_bytes(b"a\nb\n")
    script = f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
import infeed
files = infeed.Dataset.list_files({str(tmp_path / '*')!r}, shuffle=False)
print(sum(1 for _ in files.interleave(infeed.TextLineDataset, cycle_length=16, num_parallel_calls=8)))
print(sum(1 for _ in files.flat_map(infeed.TextLineDataset)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["20000", "20000"], done.stderr


def test_no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert elements(D.range(3).flat_map(lambda x: D.range(x).map(lambda y: y + x))) == [1, 2, 3]
