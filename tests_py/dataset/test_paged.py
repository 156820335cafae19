"""shuffle(page_size=): pages, and the elements of a few pages together."""

import numpy as np
import pytest

import infeed
import infeed.testing


def numbers(ds):
    return [int(x) for x in ds]


@pytest.mark.parametrize("n", [0, 1, 99, 100, 101, 1234])
@pytest.mark.parametrize("page_size,buffer_size", [(1, 7), (10, 40), (100, 250), (5000, 5000)])
def test_each_element_once(n, page_size, buffer_size):
    ds = infeed.Dataset.range(n).shuffle(buffer_size, seed=3, page_size=page_size)
    first, second = numbers(ds), numbers(ds)
    assert sorted(first) == sorted(second) == list(range(n)) and len(ds) == n
    assert n < 2 or first != second or n == 1
    assert [int(ds[i]) for i in range(0, n, 17)] == first[::17]


def test_a_window_has_the_elements_of_its_pages():
    got = np.array(numbers(infeed.Dataset.range(1000).shuffle(50, seed=1, page_size=10))).reshape(20, 50)
    for window in got:
        assert sorted(window) != list(window)
        pages, counts = np.unique(window // 10, return_counts=True)
        assert len(pages) == 5 and set(counts) == {10}
    assert len({tuple(np.unique(w // 10)) for w in got}) == 20


def test_states_hold_and_readers_share(tmp_path):
    infeed.Dataset.range(100).map(lambda x: {"x": x, "t": np.array([b"a"] * 3)}).save(tmp_path, "SNAPPY")

    def make(workers, path=str(tmp_path)):
        options = infeed.Options()
        options.threading.private_threadpool_size = workers
        return infeed.Dataset.load(path).shuffle(40, seed=1, page_size=8).batch(7).with_options(options)

    infeed.testing.assert_resumable(make, every=4)
    ds = infeed.Dataset.load(tmp_path).shuffle(40, seed=1, page_size=8).map(lambda e: e["x"])
    whole = numbers(ds.iterator(epoch=0))
    assert [numbers(ds.iterator(epoch=0, shard=(2, i))) for i in range(2)] == [whole[::2], whole[1::2]]


@pytest.mark.parametrize("make,text", [
    (lambda ds: ds.shuffle(page_size=5), "buffer_size must say"), (lambda ds: ds.shuffle(10, page_size=0), "page_size is 0"),
    (lambda ds: ds.shuffle(10, page_size=2.5), "page_size"), (lambda ds: ds.filter(lambda x: x > 1).shuffle(10, page_size=2), "random access"),
    (lambda ds: ds.repeat().shuffle(10, page_size=2), "finite"),
])
def test_what_cannot_be(make, text):
    with pytest.raises(infeed.InvalidArgumentError, match=text):
        len(make(infeed.Dataset.range(20)))


def test_a_state_of_other_pages_is_refused():
    it = iter(infeed.Dataset.range(20).shuffle(10, seed=1, page_size=2))
    next(it)
    other = iter(infeed.Dataset.range(20).shuffle(10, seed=1, page_size=3))
    with pytest.raises(infeed.StateMismatchError, match="page_size=2"):
        other.load_state_dict(it.state_dict())
