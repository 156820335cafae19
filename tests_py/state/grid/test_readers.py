"""Readers that share a pass: saved by n, continued by m, every element once and in the same order."""

import itertools
import json

import numpy as np
import pytest

import infeed

COUNTS = (1, 2, 3, 4, 8)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("readers") / "records")
    with infeed.io.TFRecordWriter(path) as w:
        for i in range(45):
            w.write(b"%d" % i)
    return path


def fails(x):
    """Some elements cannot be made."""
    return x.batch(3).map(lambda b: b + np.arange(3))


PIPELINES = {
    "numbers": lambda path: infeed.Dataset.range(48),
    "with a remainder": lambda path: infeed.Dataset.range(43),
    "shuffled": lambda path: infeed.Dataset.range(47).shuffle(seed=3).repeat(2),
    "batches": lambda path: infeed.Dataset.range(97).shuffle(seed=3).batch(4).map(lambda b: b * 2),
    "endless": lambda path: infeed.Dataset.range(11).shuffle(seed=3).repeat(),
    "filtered": lambda path: infeed.Dataset.range(80).filter(lambda x: x % 3 > 0),
    "filtered in Python": lambda path: infeed.Dataset.range(60).filter(lambda x: int(str(x)) % 3 > 0),
    "flat": lambda path: infeed.Dataset.range(10).flat_map(lambda x: infeed.Dataset.range(x)),
    "records": lambda path: infeed.TFRecordDataset(path).shuffle(7, seed=1),
    "batches of a stream": lambda path: infeed.TFRecordDataset(path).repeat(2).batch(4),
}
MOST = 48


def plain(element):
    return element.tolist() if hasattr(element, "tolist") else element


def in_lock_step(its, rounds=None):
    """What readers give in turn, for so many rounds, or until all have ended."""
    out, live = [], list(its)
    for _ in itertools.count() if rounds is None else range(rounds):
        going = []
        for it in live:
            for element in itertools.islice(it, 1):
                out.append(plain(element))
                going.append(it)
        if not going or len(out) >= MOST:
            break
        live = going
    return out[:MOST]


def readers(ds, n, state=None, epoch=0):
    its = [ds.iterator(epoch=epoch, shard=(n, i)) for i in range(n)]
    for it in its:
        if state is not None:
            it.load_state_dict(json.loads(json.dumps(state)))
    return its


@pytest.mark.parametrize("name", PIPELINES)
def test_saved_by_n_continued_by_m(name, records):
    ds = PIPELINES[name](records)
    want = [plain(e) for e in itertools.islice(ds.iterator(epoch=1), MOST)]
    for n in COUNTS:
        assert in_lock_step(readers(ds, n, epoch=1)) == want, f"{n} readers"
        its = readers(ds, n, epoch=1)
        head = in_lock_step(its, 2)
        assert head == want[:2 * n]
        states = [it.state_dict() for it in its]
        assert {(s["position"], s["pass"]) for s in states} == {(min(2 * n, len(want)), 1)}
        for m in COUNTS:
            state = states[(n * m) % n]
            assert (head + in_lock_step(readers(ds, m, state)))[:MOST] == want, f"{n} readers, then {m}"
            its = readers(ds, m, state)
            more = in_lock_step(its, 1)
            k = COUNTS[(COUNTS.index(m) + 1) % len(COUNTS)]
            rest = in_lock_step(readers(ds, k, its[-1].state_dict()))
            assert (head + more + rest)[:MOST] == want, f"{n} readers, then {m}, then {k}"


@pytest.mark.parametrize("name", ["with a remainder", "filtered", "records"])
@pytest.mark.parametrize("n", COUNTS)
def test_the_state_of_each_reader_is_that_of_all(name, n, records):
    ds = PIPELINES[name](records)
    want = [plain(e) for e in ds.iterator(epoch=0)]
    for i in range(n):
        it = ds.iterator(epoch=0, shard=(n, i))
        count = len(list(it))
        for k in range(count + 1):
            alone = iter(ds)
            alone.load_state_dict(it.state_dict(at=k))
            assert [plain(e) for e in alone] == want[n * k:], f"reader {i}, before its element {k}"
        alone = iter(ds)
        alone.load_state_dict(it.state_dict())
        assert list(alone) == [], "when one of the readers has ended, all have"


def test_elements_that_fail_are_their_readers(records):
    def batches(bad):  # the batch that begins with bad cannot be made
        return infeed.Dataset.range(32).filter(lambda x: x >= 0).batch(4).map(
            lambda b: b[:4 - 2 * (b[0] == bad).astype("i8")].reshape(2, 2))

    ds = batches(12)
    fine, broken = ds.iterator(epoch=0, shard=(2, 0)), ds.iterator(epoch=0, shard=(2, 1))
    assert len(list(fine)) == 4
    next(broken)
    with pytest.raises(infeed.InvalidArgumentError):
        next(broken)
    again = ds.iterator(shard=(2, 0))
    again.load_state_dict(fine.state_dict())
    assert list(again) == [], "what failed was for another reader"


def test_what_nothing_comes_behind_is_told_to_every_reader():
    """It may be a file that is cut: there would have been more for each of them."""
    ds = infeed.Dataset.range(30).filter(lambda x: x >= 0).batch(4).map(lambda b: b.reshape(2, 2))  # the last cannot be made
    for shard, elements in ((0, 4), (1, 3)):
        it = ds.iterator(epoch=0, shard=(2, shard))
        for _ in range(elements):
            next(it)
        with pytest.raises(infeed.InvalidArgumentError):
            next(it)


def test_what_failed_for_another_reader_is_passed_again(files):
    ds = infeed.TFRecordDataset([files("damaged"), files("part-1")])  # the second record cannot be read
    records = [*ds.ignore_errors()]
    it = ds.iterator(epoch=0, shard=(2, 0))
    assert list(it) == records[:1] + records[1::2]
    for k in range(1, 8):
        alone = iter(ds)
        alone.load_state_dict(it.state_dict(at=k))
        assert list(alone) == records[2 * k - 1:], f"before element {k}"


def test_states_before_an_error_that_came_once():
    def once(x):
        if int(str(x)) == 21 and not failed:
            failed.append(x)
            raise ValueError("this time only")
        return int(str(x)) >= 0

    failed, got = [], []
    ds = infeed.Dataset.range(40).filter(once)
    it = ds.iterator(epoch=0, shard=(2, 1))
    with pytest.raises(ValueError):
        for x in it:
            got.append(int(x))
    got += [int(x) for x in it]
    assert got == list(range(1, 40, 2)), "the iterator goes on where it failed"
    for k in range(len(got) + 1):
        alone = iter(ds)
        alone.load_state_dict(it.state_dict(at=k))
        assert [int(x) for x in alone] == list(range(2 * k, 40)), f"before element {k}"
