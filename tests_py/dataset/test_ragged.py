"""Ragged components in functions of Python, and in what is made of them."""

import numpy as np
import pytest

import infeed

D = infeed.Dataset


def rows(*lengths):
    return D.from_generator(lambda: (np.full(n, n, "int32") for n in lengths), output_signature=infeed.TensorSpec((None,), "int32"))


def batches(*lengths):
    return rows(*lengths).ragged_batch(2)


def ragged(arrays):
    """An object array of arrays, also where these are equally long."""
    out = np.empty(len(arrays), object)
    out[:] = arrays
    return out


def lists(element):
    return [a.tolist() for a in element.flat]


def doubled(x):
    return ragged([2 * a for a in x])


@pytest.mark.parametrize("parallel", [{}, {"num_parallel_calls": 2}, {"processes": 1}], ids=["plain", "threads", "process"])
def test_functions_take_and_give_them(parallel):
    ds = batches(1, 2, 3, 0, 4).map(doubled, **parallel)
    assert ds.element_spec == infeed.RaggedTensorSpec((None, None), "int32")
    assert list(map(lists, ds)) == [[[2], [4, 4]], [[6, 6, 6], []], [[8, 8, 8, 8]]]
    assert [x.tolist() for x in ds.unbatch()] == [[2], [4, 4], [6, 6, 6], [], [8, 8, 8, 8]]


def test_arrays_of_equal_length_stay_apart():
    ds = batches(2, 2, 2).map(lambda x: {"x": x * 0.5, "n": np.array([len(a) for a in x])})
    assert ds.element_spec["x"] == infeed.RaggedTensorSpec((None, None), "float64")
    first, last = ds
    assert first["x"].shape == (2,) and lists(first["x"]) == [[1, 1], [1, 1]] and first["n"].tolist() == [2, 2]
    assert lists(last["x"]) == [[1, 1]] and [len(e["x"]) for e in ds.unbatch()] == [2, 2, 2]


def test_matrices_and_texts():
    ds = batches(1, 3).map(lambda x: (ragged([np.outer(a, a) for a in x]), ragged([np.array([b"t"] * len(a), object) for a in x])))
    (matrices, texts), = ds
    assert [m.shape for m in matrices] == [(1, 1), (3, 3)] and lists(texts) == [[b"t"], [b"t", b"t", b"t"]]
    assert [(m.shape, len(t)) for m, t in ds.unbatch()] == [((1, 1), 1), ((3, 3), 3)]
    (matrices, texts), = ds.batch(1)
    assert matrices.shape == texts.shape == (1, 2)


def test_batches_without_arrays():
    ds = batches(1, 2, 3).map(lambda x: x[len(x) - 1:][:2 - len(x) + 1] if len(x) > 1 else x[1:])
    assert list(map(lists, ds)) == [[[2, 2]], []]
    assert [x.tolist() for x in ds.unbatch()] == [[2, 2]]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_function_that_hands_one_on_runs_natively(dtype, recwarn):
    ds = D.zip((rows(1, 2, 3).ragged_batch(2, row_splits_dtype=dtype), D.range(2))).map(lambda x, n: (n + 1, x))
    assert ds.explain().count("native") == 1 and not recwarn
    assert [(int(n), lists(x)) for n, x in ds] == [(1, [[1], [2, 2]]), (2, [[3, 3, 3]])]


def test_what_a_function_does_to_one_is_its_own():
    def spoiled(x):
        for a in x:
            a += 1
        return x

    ds = batches(1, 2, 3)
    assert list(map(lists, ds.map(spoiled))) == [[[2], [3, 3]], [[4, 4, 4]]]
    held = list(ds.take(1))[0]
    held[0][:] = 9
    assert lists(next(iter(ds))) == [[1], [2, 2]]


@pytest.mark.parametrize("make, text", [
    (lambda x: ragged([x[0], x[-1].astype("float32")]) if len(x) > 1 else x, "dtype int32, and one of 1 and float32"),
    (lambda x: ragged([x[0], x[0][:, None]]), "1 dimensions and dtype int32, and one of 2"),
    (lambda x: x if len(x) > 1 else np.arange(3), "where a ragged component is expected; give an object array of arrays"),
    (lambda x: x if len(x) > 1 else (x, x), "promised or came before"),
    (lambda x: ragged([x[0], np.array([object()])]), "an array of Python objects"),
], ids=["dtypes", "ranks", "an array", "nested", "objects"])
def test_what_is_no_ragged_component(make, text):
    ds = batches(1, 2, 3).map(make)
    with pytest.raises(infeed.InvalidArgumentError, match=text):
        list(ds)


def test_functions_that_give_datasets():
    ds = batches(1, 2, 3)
    assert [x.tolist() for x in ds.flat_map(lambda x: D.from_indexable(list(x)))] == [[1], [2, 2], [3, 3, 3]]
    assert [int(x) for x in ds.flat_map(lambda x: D.range(len(x)))] == [0, 1, 0]
    assert [int(x) for x in ds.enumerate().flat_map(lambda n, x: D.range(n))] == [0]
    assert [lists(x) for x in ds.group_by_window(lambda x: 0, lambda key, w: w.unbatch().batch(3), 2)] == [[[1], [2, 2], [3, 3, 3]]]
    assert [lists(x) for x in ds.window(2).flat_map(lambda w: (str(w), w.map(doubled).unbatch().batch(3))[1])] == [[[2], [4, 4], [6, 6, 6]]]


def test_one_that_is_brought_along():
    x = ragged([np.arange(2), np.arange(3)])
    ds = D.from_tensors((x, [1, 2])).unbatch()
    assert ds.element_spec == (infeed.RaggedTensorSpec((None,), "int64"), infeed.TensorSpec((), "int32")) and len(ds) == 2
    assert [(a.tolist(), int(n)) for a, n in ds] == [([0, 1], 1), ([0, 1, 2], 2)] and ds[1][0].tolist() == [0, 1, 2]
    assert [lists(e) for e in batches(1, 2, 3).flat_map(D.from_tensors)] == [[[1], [2, 2]], [[3, 3, 3]]]
    assert [lists(e) for e in D.from_tensors(ragged([np.array([b"a"]), np.array([], object)]))] == [[[b"a"], []]]


def test_predicates_keys_and_states():
    ds = batches(1, 2, 3)
    assert list(map(lists, ds.filter(lambda x: len(x) > 1))) == [[[1], [2, 2]]]
    assert list(map(lists, ds.take_while(lambda x: x[0][0] < 3))) == [[[1], [2, 2]]]
    assert int(ds.reduce(np.int64(0), lambda s, x: s + sum(map(len, x)))) == 6
    buckets = ds.unbatch().bucket_by_sequence_length(len, [2], [2, 2])
    assert buckets.element_spec == infeed.TensorSpec((None, None), "int32")
    assert sorted(x.tolist() for x in buckets) == [[[1]], [[2, 2, 0], [3, 3, 3]]]
    whole = ds.unbatch().bucket_by_sequence_length(len, [2], [2, 2], no_padding=True)
    assert sorted(map(lists, whole)) == [[[1]], [[2, 2], [3, 3, 3]]]


def test_padding_of_rows():
    ds = D.zip((batches(1, 2), D.range(2).batch(2))).unbatch()
    assert ds.element_spec == (infeed.RaggedTensorSpec((None,), "int32"), infeed.TensorSpec((), "int64"))
    (x, n), = ds.padded_batch(2, padded_shapes=([3], []), padding_values=(7, None))
    assert x.tolist() == [[1, 7, 7], [2, 2, 7]] and n.tolist() == [0, 1]
    with pytest.raises(infeed.UnimplementedError, match="padded_batch: components that are ragged cannot be padded; unbatch them"):
        list(batches(1, 2).padded_batch(2))


def test_rows_as_a_sparse_tensor():
    sparse, = batches(1, 2).unbatch().sparse_batch(2, [None])
    assert isinstance(sparse, infeed.io.SparseTensor) and sparse.to_dense().tolist() == [[1, 0], [2, 2]]


def test_rows_by_number():
    ds = D.from_indexable([np.arange(n) for n in range(7)]).ragged_batch(3, drop_remainder=True).unbatch()
    assert len(ds) == 6 and ds[4].tolist() == [0, 1, 2, 3]
    assert sorted(map(len, ds.shuffle(seed=1))) == list(range(6))
    assert lists(ds.batch(4)[1]) == [list(range(4)), list(range(5))]


@pytest.mark.parametrize("after", range(6))
def test_states_within_a_batch(after):
    ds = batches(1, 2, 3, 0, 4).map(doubled).unbatch()
    it = iter(ds)
    for _ in range(after):
        next(it, None)
    again = iter(ds)
    again.load_state_dict(it.state_dict())
    assert [x.tolist() for x in again] == [x.tolist() for x in ds][after:]


def test_tensors_for_devices():
    pytest.importorskip("jax", reason="JAX is not installed")
    got = [x.tolist() for x in batches(1, 2, 3).unbatch().to_jax()]
    assert got == [[1], [2, 2], [3, 3, 3]]
    with pytest.raises(infeed.InvalidArgumentError, match="dtype object"):
        list(batches(1, 2, 3).to_jax())
