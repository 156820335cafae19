"""from_indexable: any object with a length and items."""

import threading

import numpy as np
import pytest

import infeed
from infeed import Dataset


class Squares:
    """As a map-style dataset of torch: a length, items by number, and an IndexError behind the last."""

    def __init__(self, n=20):
        self.n, self.asked, self.threads = n, [], set()

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        if not 0 <= index < self.n:
            raise IndexError(index)
        self.asked.append(index)
        self.threads.add(threading.current_thread().name)
        return {"x": np.full(3, index, "float32"), "label": index * index, "name": f"item {index}"}


def labels(elements):
    return [int(e["label"]) for e in elements]


def test_elements_and_random_access():
    ds = Dataset.from_indexable(Squares())
    assert len(ds) == ds.cardinality() == 20
    assert labels(ds) == [i * i for i in range(20)]
    assert ds[-1]["name"] == b"item 19" and ds[3]["x"].tolist() == [3, 3, 3]
    with pytest.raises(IndexError, match="element 20 of a dataset of 20"):
        ds[20]
    assert sorted(labels(ds.shuffle(seed=1))) == [i * i for i in range(20)] != labels(ds.shuffle(seed=1))


def test_numbers_are_python_s_and_only_what_is_needed_is_asked():
    squares = Squares(1000)
    assert labels(Dataset.from_indexable(squares).skip(500).take(3)) == [500 ** 2, 501 ** 2, 502 ** 2]
    assert {type(i) for i in squares.asked} == {int} and len(squares.asked) < 20


@pytest.mark.parametrize("calls", [None, 3])
def test_who_calls_it(calls):
    squares = Squares()
    assert labels(Dataset.from_indexable(squares, num_parallel_calls=calls).batch(1).unbatch()) == [i * i for i in range(20)]
    assert (squares.threads == {"MainThread"}) == (calls is None)


def test_sequences_of_python():
    assert [int(x) for x in Dataset.from_indexable([5, 6, 7])] == [5, 6, 7]
    assert [int(x) for x in Dataset.from_indexable(range(2, 9, 3))] == [2, 5, 8]
    assert list(Dataset.from_indexable(("a", "b"))) == [b"a", b"b"]
    assert list(Dataset.from_indexable([])) == []
    assert [x.tolist() for x in Dataset.from_indexable([[1], [2, 3]])] == [[1], [2, 3]]  # of unequal shape


def test_torch_datasets():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    ds = Dataset.from_indexable(torch.utils.data.TensorDataset(torch.arange(6).reshape(3, 2), torch.arange(3)))
    assert [(x.tolist(), int(y)) for x, y in ds] == [([0, 1], 0), ([2, 3], 1), ([4, 5], 2)]


def test_an_exception_is_its_elements():
    class Bad(Squares):
        def __getitem__(self, index):
            if index == 4:
                raise KeyError("four")
            return super().__getitem__(index)

    got = []
    with pytest.raises(KeyError, match="four"):
        for e in Dataset.from_indexable(Bad()):
            got.append(e)
    assert labels(got) == [0, 1, 4, 9]
    assert len(list(Dataset.from_indexable(Bad()).ignore_errors())) == 19


@pytest.mark.parametrize("what", [iter([1]), 5, None, {1, 2}], ids=str)
def test_what_has_no_items(what):
    with pytest.raises(infeed.InvalidArgumentError, match=f"from_indexable: {type(what).__name__} has no __len__ and __getitem__"):
        Dataset.from_indexable(what)
