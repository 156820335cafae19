"""shard_func and reader_func of snapshot, save and load: parts of what is stored, and how they are read."""

import logging
import os
import pickle

import numpy as np
import pytest

import infeed
import infeed.testing


def numbers(ds):
    return [int(x) for x in ds]


def natively(x):
    return x % 3


def as_python(x):
    return int(x) % 3


def in_turn(parts):
    return parts.interleave(lambda p: p, cycle_length=3)


BY_PART = [0, 3, 6, 9, 1, 4, 7, 2, 5, 8]


@pytest.mark.parametrize("shard_func", [natively, as_python])
def test_elements_come_in_the_order_in_which_they_were_stored(shard_func, tmp_path):
    for compression in (None, "AUTO", "ZSTD"):
        infeed.Dataset.range(10).save(tmp_path / "saved", compression, shard_func)
        loaded = infeed.Dataset.load(tmp_path / "saved")
        assert numbers(loaded) == list(range(10)) and int(loaded[-3]) == 7 and len(loaded) == 10
        assert sorted(numbers(loaded.shuffle(seed=1))) == list(range(10))
        kept = infeed.Dataset.range(10).snapshot(tmp_path / f"kept {compression}", compression, shard_func=shard_func)
        assert numbers(kept) == numbers(kept) == list(range(10))
        assert len(kept) == 10


def test_elements_of_any_kind(tmp_path):
    ds = infeed.Dataset.range(30).map(lambda x: {"n": x, "v": np.full((int(x) % 3, 2), x), "t": str(int(x)).encode(), "w": np.ones((5, 3), "float32") * x})
    for shard_func in (lambda e: e["n"] % 4, lambda e: len(e["v"])):
        ds.save(tmp_path, shard_func=shard_func)
        loaded = infeed.Dataset.load(tmp_path)
        assert loaded.element_spec == ds.element_spec
        for k, (a, b) in enumerate(zip(loaded, ds, strict=True)):
            assert a["n"] == k and a["t"] == b["t"] and np.array_equal(a["v"], b["v"]) and np.array_equal(a["w"], b["w"])
    pairs = infeed.Dataset.from_tensor_slices((np.arange(4), np.ones((4, 7))))
    pairs.save(tmp_path / "pairs", shard_func=lambda x, y: int(3 - x))
    assert infeed.Dataset.load(tmp_path / "pairs").element_spec == pairs.element_spec, "shapes are those of the dataset"
    assert numbers(x for x, _ in infeed.Dataset.load(tmp_path / "pairs")) == [0, 1, 2, 3]


@pytest.mark.parametrize("reader_func,want", [
    (in_turn, list(range(10))), (lambda parts: parts.flat_map(lambda p: p), BY_PART),
    (lambda parts: parts.skip(1).flat_map(lambda p: p.skip(1)), [4, 7, 5, 8]), (lambda parts: parts.take(1).repeat(2).flat_map(lambda p: p), [0, 3, 6, 9] * 2),
    (lambda parts: parts.shard(2, 1).interleave(lambda p: p), [1, 4, 7]), (lambda parts: parts.map(lambda p: p.take(1)).flat_map(lambda p: p), [0, 1, 2]),
    (lambda parts: parts.flat_map(lambda p: p.map(lambda x: x * 10)), [10 * x for x in BY_PART]),
    (lambda parts: parts.flat_map(lambda p: p.map(lambda x: x if int(x) < 5 else -x)), [x if x < 5 else -x for x in BY_PART]),
    (lambda parts: parts.map(lambda p: p.batch(2)).interleave(lambda p: p, cycle_length=3).unbatch(), [0, 3, 1, 4, 2, 5, 6, 9, 7, 8]),
])
def test_readers(reader_func, want, tmp_path):
    """load reads as reader_func says; a snapshot so in the passes after the one that stores."""
    infeed.Dataset.range(10).save(tmp_path / "saved", shard_func=natively)
    assert numbers(infeed.Dataset.load(tmp_path / "saved", reader_func=reader_func)) == want

    def kept():
        return infeed.Dataset.range(10).snapshot(tmp_path / "kept", shard_func=natively, reader_func=reader_func)

    ds = kept()
    assert ds.cardinality() == infeed.UNKNOWN_CARDINALITY and ds.element_spec == infeed.TensorSpec((), "int64")
    assert numbers(ds) == list(range(10)), "the pass that stores gives the order of the input"
    assert numbers(ds) == numbers(ds) == numbers(kept()) == want
    assert numbers(pickle.loads(pickle.dumps(ds))) == want
    assert "reader_func" in ds.explain()


def test_readers_that_shuffle(tmp_path):
    def kept():
        return infeed.Dataset.range(300).snapshot(tmp_path, shard_func=lambda x: x % 7, reader_func=lambda parts: parts.shuffle(7, seed=3).interleave(
            lambda p: p.shuffle(50, seed=4), cycle_length=3, num_parallel_calls=2))

    ds = kept()
    first = numbers(ds)
    assert first == list(range(300))
    second, third = numbers(ds), numbers(ds)
    assert sorted(second) == sorted(third) == first and second != third != first
    assert numbers(kept().iterator(epoch=2)) == third


def test_states_hold(tmp_path):
    """A pass that began before the snapshot was complete goes on as it began; the others as reader_func says."""
    def make(workers, path=str(tmp_path), read=True):
        options = infeed.Options()
        options.threading.private_threadpool_size = workers
        kept = infeed.Dataset.range(25).shuffle(25, seed=2).snapshot(path, shard_func=lambda x: x % 4, reader_func=(lambda parts: parts.shuffle(4, seed=1).interleave(
            lambda p: p, cycle_length=2)) if read else None)
        return kept.batch(2).with_options(options)

    infeed.testing.assert_resumable(lambda workers, path=str(tmp_path / "plain"): make(workers, path, False), every=3)
    ds = make(1)
    writing = iter(ds)
    want, states = [], []
    for _ in range(4):
        states.append(writing.state_dict())
        want.append(next(writing).tolist())
    del writing
    again = iter(make(0))
    again.load_state_dict(states[2])  # nothing is complete yet; this pass goes on with storing
    stored = want[:2] + [b.tolist() for b in again]
    assert stored[:4] == want and len(stored) == 13
    infeed.testing.assert_resumable(make, every=3)
    assert [b.tolist() for b in make(2).iterator(epoch=1)] != stored
    for k in range(4):  # now it is complete
        again = iter(make(2))
        again.load_state_dict(states[k])
        assert [b.tolist() for b in again] == stored[k:]


def test_broken_off_passes_are_gone_on_with(tmp_path):
    calls = []

    def slow(x):
        calls.append(int(x))
        return x

    def make():
        return infeed.Dataset.range(50).map(slow).snapshot(tmp_path, shard_func=natively, fingerprint="1")

    it = iter(make())
    first = [int(next(it)) for _ in range(20)]
    it.close()
    calls.clear()
    assert first + numbers(make())[20:] == list(range(50))
    # The first element is made to see what it is. A group that was being made when the pass was closed is made again.
    assert not [c for c in calls if 0 < c < 20], "what was given is not made again"
    assert numbers(infeed.Dataset.load(tmp_path, reader_func=lambda parts: parts.take(1).flat_map(lambda p: p))) == list(range(0, 50, 3))


def test_elements_without_a_part(tmp_path):
    for bad, text in ((lambda x: x - 5, "shard_func returned -5"), (lambda x: x * 200, "shard_func returned 1000; it must be from 0 to 999")):
        with pytest.raises(infeed.InvalidArgumentError, match=text):
            infeed.Dataset.range(10).save(tmp_path / "saved", shard_func=bad)
        for _ in range(2):
            with pytest.raises(infeed.InvalidArgumentError, match=text):
                list(infeed.Dataset.range(10).snapshot(tmp_path / "kept", shard_func=bad))

    def fails(x):
        if int(x) == 7:
            raise KeyError("seven")
        return int(x)

    got = []
    with pytest.raises(KeyError, match="seven"):
        for x in infeed.Dataset.range(10).snapshot(tmp_path / "kept", shard_func=fails):
            got.append(int(x))
    assert got == list(range(7))


@pytest.mark.parametrize("given,text", [
    ({"shard_func": 5}, "is no function"), ({"shard_func": lambda x: x * 0.5}, "shard_func must return an integer"),
    ({"shard_func": lambda x: np.array([1, 2])}, "shard_func must return an integer"), ({"reader_func": 5}, "reader_func is 5"),
    ({"reader_func": lambda parts: parts}, "reader_func returned"), ({"reader_func": lambda parts: None}, "reader_func returned None"),
    ({"reader_func": lambda parts: parts.flat_map(lambda p: p.batch(2))}, "put map and batch behind snapshot"),
])
def test_functions_that_cannot_be(given, text, tmp_path):
    with pytest.raises(infeed.InvalidArgumentError, match=text):
        list(infeed.Dataset.range(10).snapshot(tmp_path, **given))
    if "shard_func" in given:
        with pytest.raises(infeed.InvalidArgumentError, match=text):
            infeed.Dataset.range(10).save(tmp_path / "saved", **given)
    elif "behind" not in text:
        infeed.Dataset.range(10).save(tmp_path / "saved")
        with pytest.raises(infeed.InvalidArgumentError, match=text):
            infeed.Dataset.load(tmp_path / "saved", **given)


def test_what_is_stored_depends_on_shard_func_and_not_on_reader_func(tmp_path, caplog):
    def make(k, j):
        return infeed.Dataset.range(6).snapshot(tmp_path, shard_func=lambda x: x % k, reader_func=lambda parts: parts.skip(j).flat_map(lambda p: p))

    list(make(2, 0))
    assert numbers(make(2, 1)) == [1, 3, 5] and len(os.listdir(tmp_path)) == 1
    with caplog.at_level(logging.WARNING, "infeed"):
        assert numbers(make(3, 0)) == list(range(6))
    assert "shard_func: program changed" in caplog.text and len(os.listdir(tmp_path)) == 2
    # but what is made of it behind does
    stored = make(2, 0).batch(2).snapshot(tmp_path / "behind")
    first = [x.tolist() for x in stored]
    assert first == [[0, 2], [4, 1], [3, 5]]
    assert [x.tolist() for x in make(2, 1).batch(2).snapshot(tmp_path / "behind")] == [[1, 3], [5]]
    assert len(os.listdir(tmp_path / "behind")) == 2


def test_what_was_read_and_is_gone(tmp_path):
    import shutil

    def make():
        return infeed.Dataset.range(6).snapshot(tmp_path / "s", shard_func=natively, reader_func=in_turn)

    list(make())
    it = iter(make())
    next(it)
    state = it.state_dict()
    it.close()
    shutil.rmtree(tmp_path / "s")
    it = iter(make())
    with pytest.raises(infeed.StateMismatchError, match="not there any more"):
        it.load_state_dict(state)
        next(it)


def test_inspect_verify_and_prune(tmp_path, capsys):
    from infeed import _cli

    infeed.Dataset.range(10).save(tmp_path / "whole", shard_func=natively)
    assert _cli.main(["inspect", str(tmp_path / "whole")]) == 0 and "4 chunks of 3 parts and their order" in capsys.readouterr().out
    assert _cli.main(["verify", str(tmp_path / "whole")]) == 0 and "10 elements" in capsys.readouterr().out
    assert _cli.main(["prune", str(tmp_path / "whole"), "--yes"]) == 0
    assert numbers(infeed.Dataset.load(tmp_path / "whole")) == list(range(10))
    order = next(f for f in (tmp_path / "whole" / "chunks").iterdir() if "-order-" in f.name)
    order.write_bytes(order.read_bytes()[:-1])
    assert _cli.main(["verify", str(tmp_path / "whole")]) == 1 and order.name in capsys.readouterr().err

    def fails(x):
        if int(x) == 7:
            raise KeyError("seven")
        return x

    with pytest.raises(KeyError):
        list(infeed.Dataset.range(10).map(fails).snapshot(tmp_path / "kept", shard_func=natively, fingerprint="1"))
    (folder,) = (tmp_path / "kept").iterdir()
    assert _cli.main(["inspect", str(folder)]) == 0 and "7 elements in 4 chunks committed" in capsys.readouterr().out
    (journal,) = folder.glob("journal-*")
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]))  # the order of the group is not there: none of it is committed
    assert _cli.main(["inspect", str(folder)]) == 0 and "nothing is committed" in capsys.readouterr().out
    assert numbers(infeed.Dataset.range(10).map(lambda x: x).snapshot(tmp_path / "kept", shard_func=natively, fingerprint="1")) == list(range(10))


def test_a_snapshot_inside_of_a_function_is_refused(tmp_path):
    with pytest.raises(infeed.InvalidArgumentError, match="put snapshot behind"):
        list(infeed.Dataset.range(3).flat_map(lambda x: infeed.Dataset.range(x).snapshot(tmp_path)))
