"""Which elements come, and in which order."""

import pickle

import numpy as np
import pytest

import infeed

from .conftest import numbers, with_workers


def test_batches(pairs):
    assert [len(y) for _, y in pairs(10).batch(4)] == [4, 4, 2]
    assert [len(y) for _, y in pairs(10).batch(4, drop_remainder=True)] == [4, 4]
    assert numbers(pairs(10).batch(np.int64(3))) == list(range(10))
    assert [y.shape for _, y in pairs(12).batch(2).batch(3)] == [(3, 2), (3, 2)]
    assert list(pairs(0).batch(4)) == []


@pytest.mark.parametrize("n", [10, 1000, 65_536, 65_537, 200_000])
def test_shuffle_is_a_permutation_and_reshuffles(pairs, n):
    ds = pairs(n).shuffle(buffer_size=None, seed=3).batch(4096)
    first, second = numbers(ds), numbers(ds)
    assert sorted(first) == sorted(second) == list(range(n))
    assert first != second and first != list(range(n))
    again = pairs(n).shuffle(seed=3).batch(100)
    assert numbers(again) == first, "the order depends on more than seed and pass"


def test_passes(pairs):
    ds = pairs(50).shuffle(seed=3)
    orders = [numbers(ds) for _ in range(3)]
    assert len({tuple(o) for o in orders}) == 3
    assert [numbers(ds.iterator(epoch=k)) for k in (2, 0, 1)] == [orders[2], orders[0], orders[1]]
    assert numbers(ds) not in orders, "iterator(epoch=k) moved the passes"
    same = pairs(50).shuffle(seed=3, reshuffle_each_iteration=False)
    assert numbers(same) == numbers(same)
    assert numbers(same.repeat(2)) == 2 * numbers(same)


def test_each_repetition_is_shuffled_anew(pairs):
    got = numbers(pairs(20).shuffle(seed=1).repeat(3))
    parts = [tuple(got[i:i + 20]) for i in (0, 20, 40)]
    assert len(set(parts)) == 3 and all(sorted(p) == list(range(20)) for p in parts)


def test_buffer_size(pairs):
    assert numbers(pairs(20).shuffle(1, seed=1)) == list(range(20))
    whole = numbers(pairs(20).shuffle(seed=1))
    assert numbers(pairs(20).shuffle(2, seed=1)) == whole
    assert numbers(pairs(20).shuffle(infeed.UNKNOWN_CARDINALITY, seed=1)) == whole
    windows = numbers(pairs(20).repeat().shuffle(10, seed=1).take(40))
    assert [sorted(windows[i:i + 10]) for i in (0, 10, 20, 30)] == 2 * [list(range(10)), list(range(10, 20))]
    with pytest.raises(infeed.InvalidArgumentError, match="put shuffle before repeat"):
        next(iter(pairs(20).repeat().shuffle(seed=1)))


def test_seeds(pairs):
    assert numbers(pairs(20).shuffle(seed=1)) != numbers(pairs(20).shuffle(seed=2))
    assert numbers(pairs(20).shuffle(seed=-1)) == numbers(pairs(20).shuffle(seed=2**64 - 1))
    drawn = pairs(20).shuffle()
    assert numbers(drawn.iterator(epoch=0)) == numbers(drawn.iterator(epoch=0)) == numbers(drawn.batch(3))
    assert numbers(drawn.iterator(epoch=0)) != numbers(pairs(20).shuffle())


def test_two_datasets_with_one_seed_have_one_order(pairs):
    x = infeed.Dataset.from_tensor_slices(np.arange(20)).shuffle(seed=9)
    y = infeed.Dataset.from_tensor_slices(np.arange(20) * 10).shuffle(seed=9).batch(2)
    assert np.concatenate(list(y)).tolist() == [10 * int(v) for v in x]


def test_take_skip_shard(pairs):
    assert numbers(pairs(10).take(3)) == [0, 1, 2]
    assert numbers(pairs(10).take(-1)) == numbers(pairs(10).take(99)) == list(range(10))
    assert numbers(pairs(10).skip(7)) == [7, 8, 9]
    assert numbers(pairs(10).skip(-1)) == numbers(pairs(10).skip(10)) == []
    shards = [numbers(pairs(10).shard(3, i)) for i in range(3)]
    assert shards == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]


def test_readers_share_a_pass(pairs):
    ds = pairs(30).shuffle(seed=2).batch(4)
    whole = [y.tolist() for _, y in ds.iterator(epoch=5)]
    for i in range(3):
        assert [y.tolist() for _, y in ds.iterator(epoch=5, shard=(3, i))] == whole[i::3]


@pytest.mark.parametrize("make", [
    lambda ds: ds, lambda ds: ds.batch(7), lambda ds: ds.shuffle(seed=1).repeat(3).batch(64, drop_remainder=True),
    lambda ds: ds.batch(7).shuffle(seed=2).repeat(2).skip(3),
])
def test_workers_do_not_show(pairs, make):
    ds = make(pairs(5000))
    results = [numbers(with_workers(ds, n)) for n in (0, 1, 2, 8)]
    assert all(r == results[0] for r in results)


def test_datasets_are_immutable_and_picklable(pairs):
    base = pairs(20)
    ds = base.shuffle(seed=1).batch(3)
    first = numbers(ds)
    assert numbers(base) == list(range(20))
    copy = pickle.loads(pickle.dumps(ds))
    assert copy.element_spec == ds.element_spec
    assert numbers(copy) == first, "a copy begins with pass 0"
    assert numbers(copy) == numbers(ds)


def test_length_and_cardinality(pairs):
    ds = pairs(10)
    assert [len(d) for d in (ds, ds.batch(4), ds.batch(4, True), ds.repeat(3), ds.take(0), ds.skip(4))] == [10, 3, 2, 30, 0, 6]
    for endless in (ds.repeat(), ds.repeat(-1), ds.repeat(-5).batch(3)):
        assert endless.cardinality() == infeed.INFINITE_CARDINALITY
        with pytest.raises(TypeError, match="infinite"):
            len(endless)
    assert ds.take(0) and ds.take(0).repeat().cardinality() == 0


def test_items_are_those_of_the_first_pass(pairs):
    ds = pairs(23).shuffle(seed=4).batch(5)
    first = [y.tolist() for _, y in ds]
    assert [ds[i][1].tolist() for i in range(5)] == first
    assert [ds[i - 5][1].tolist() for i in range(5)] == first
    assert ds[np.int64(2)][1].tolist() == first[2]
    for i in (5, -6, 1 << 70):
        with pytest.raises(IndexError, match=f"element {i}"):
            ds[i]
    for i in (1.0, "0", slice(2), None, True):
        with pytest.raises(TypeError, match="indexed by an int"):
            ds[i]
    endless = ds.repeat()
    assert endless[5][1].tolist() != first[0] and sorted(numbers(endless[i] for i in range(5, 10))) == list(range(23))
    for i in (-1, 1 << 60):
        with pytest.raises(IndexError):
            endless[i]


@pytest.mark.parametrize("call, text", [
    (lambda d: d.batch(0), "batch_size is 0"), (lambda d: d.batch(-1), "batch_size is -1"), (lambda d: d.batch(2.5), "2.5"),
    (lambda d: d.batch(True), "True"), (lambda d: d.shuffle(0), "buffer_size is 0"), (lambda d: d.shuffle(-1), "buffer_size is -1"),
    (lambda d: d.shuffle(seed="x"), "seed is 'x'"), (lambda d: d.repeat(1.5), "count is 1.5"), (lambda d: d.take("3"), "count is '3'"),
    (lambda d: d.skip(None), "count is None"), (lambda d: d.shard(3, 3), "index 3 of num_shards 3"),
    (lambda d: d.shard(0, 0), "num_shards 0"), (lambda d: d.iterator(epoch=-1), "epoch is -1"), (lambda d: d.iterator(epoch=0.5), "0.5"),
    (lambda d: d.iterator(shard=3), "which of them"), (lambda d: d.iterator(shard=(2, 2)), "index 2 of num_shards 2"),
    (lambda d: d.with_options({}), "Options are needed"),
])
def test_arguments_that_make_no_sense(pairs, call, text):
    with pytest.raises(infeed.InvalidArgumentError, match=text):
        call(pairs(10))


@pytest.mark.parametrize("call, name", [
    (lambda d, n: d.batch(n), "batch: batch_size"), (lambda d, n: d.take(n), "take: count"), (lambda d, n: d.skip(n), "skip: count"),
    (lambda d, n: d.repeat(n), "repeat: count"), (lambda d, n: d.shuffle(n), "shuffle: buffer_size"),
    (lambda d, n: d.shuffle(seed=n), "shuffle: seed"), (lambda d, n: d.shard(n, 0), "shard: num_shards"),
    (lambda d, n: d.shard(3, n), "shard: index"), (lambda d, n: d.iterator(epoch=n), "iterator: epoch"),
    (lambda d, n: d.iterator(shard=(n, 0)), "iterator: shard: num_shards"), (lambda d, n: d.to_keras(n), "to_keras: steps"),
])
def test_ints_that_do_not_fit(pairs, call, name):
    for n, shown in ((1 << 64, 1 << 64), (-(1 << 63) - 1, -(1 << 63) - 1), (1 << 70, 1 << 70), (10**5000, "an int of 16610 bits")):
        with pytest.raises(infeed.InvalidArgumentError, match=f"^{name} is {shown}; it must be at (most|least) -?[0-9]{{19,}}$"):
            call(pairs(10), n)


def test_the_largest_ints(pairs):
    most, least = (1 << 63) - 1, -1 << 63
    assert numbers(pairs(10).batch(most)) == numbers(pairs(10).take(most)) == numbers(pairs(10).take(least)) == list(range(10))
    assert numbers(pairs(10).skip(most)) == numbers(pairs(10).skip(least)) == numbers(pairs(10).shard(most, most - 1)) == []
    assert pairs(0).repeat(most).cardinality() == 0 and pairs(10).repeat(least).cardinality() == infeed.INFINITE_CARDINALITY
    assert sorted(numbers(pairs(10).shuffle(most))) == list(range(10))
    assert numbers(pairs(10).shuffle(seed=-1)) == numbers(pairs(10).shuffle(seed=(1 << 64) - 1))
    assert sorted(numbers(pairs(10).shuffle(seed=1).iterator(epoch=most))) == list(range(10))


def test_unequal_elements_cannot_be_batched(pairs):
    it = iter(pairs(10).batch(4).batch(3))
    for _ in range(2):
        with pytest.raises(infeed.InvalidArgumentError, match=r"one has \[4 3\], \[4\] and one has \[2 3\], \[2\]"):
            next(it)
    late = iter(pairs(10).batch(4).repeat(2).batch(2))
    assert next(late)[1].shape == (2, 4)
    with pytest.raises(infeed.InvalidArgumentError, match="different shapes"):
        next(late)


def test_options(pairs):
    ds = with_workers(pairs(10), 2)
    more = infeed.Options()
    more.ram_budget = 1 << 20
    more.deterministic = False
    ds = ds.with_options(more)
    assert ds.options().threading.private_threadpool_size == 2 and ds.options().ram_budget == 1 << 20
    assert "ram_budget=1048576" in repr(ds.options()) and ds.options() == ds.options()
    assert numbers(ds) == list(range(10))
    with pytest.raises(AttributeError, match="no option 'speed'"):
        more.speed = 3


def test_repr(pairs):
    assert repr(pairs(4).batch(2)) == (
        "<infeed.Dataset from_tensor_slices.batch element_spec=(TensorSpec(shape=(None, 3), dtype=float32), "
        "TensorSpec(shape=(None,), dtype=int64))>")
    assert repr(pairs(4).map(lambda x, y: {}["a"])) == "<infeed.Dataset from_tensor_slices.map element_spec=not known: KeyError: 'a'>"
