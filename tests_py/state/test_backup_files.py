"""What BackupAndRestore writes: which files there are, what becomes of damaged ones; and what users see of it."""

import importlib.util
import re

import numpy as np
import pytest

from infeed import _archive


@pytest.mark.parametrize("how", ["cut", "empty", "document", "array", "end"])
def test_a_damaged_backup_is_no_backup(run, how):
    found = run("damaged", how=how, backup={"save_freq": 3})
    assert found["kept"] == ["backup-2.npz"]
    assert found["type"] == "DataLossError" and found["first"] is None
    assert re.search(r"backup-2\.npz is cut off or damaged.*there is no older one: remove it to start", found["text"])


@pytest.mark.parametrize("how", ["cut", "array"])
def test_the_one_before_is_used(run, how):
    """And the training ends as it should, from further back."""
    found = run("damaged", how=how, backup={"save_freq": 3, "double_checkpoint": True})
    assert found["kept"] == ["backup-1.npz", "backup-2.npz"]
    assert found["type"] is None and found["same"] and found["first"] == "0 3"
    assert any(re.search(r"backup-2\.npz is cut off or damaged .*goes on from the backup before it, .*backup-1\.npz", w)
               for w in found["warnings"])


def test_of_another_version(run):
    found = run("damaged", how="version", backup={"save_freq": 3})
    assert found["type"] == "StateMismatchError" and "has format 9, written by infeed" in found["text"]


def test_which_files_stay(run):
    one = run("kept", backup={"save_freq": 2})
    assert one == {"broken": ["backup-4.npz", ], "ended": ["mine"]}, "what is not infeed's is left alone"
    two = run("kept", backup={"save_freq": 2, "double_checkpoint": True, "delete_checkpoint": False})
    assert two == {"broken": ["backup-3.npz", "backup-4.npz"], "ended": ["backup-8.npz", "backup-9.npz", "mine"]}
    assert run("kept", backup={}, stop=3) == {"broken": None, "ended": None}


def test_the_progress_bar_starts_where_it_was(run):
    def counts(text):
        return re.findall(r"(?:\x08|\r|^|\x1b\[1m) ?(\d+)/6", text), re.findall(r"Epoch (\d)/3", text)

    whole, rest = run("bars")
    assert counts(whole)[0][0] == "1" and counts(whole)[1] == ["1", "2", "3"]
    assert counts(rest)[0][0] == "3" and counts(rest)[1] == ["2", "3"], rest


@pytest.mark.tensorflow
def test_other_fits_are_as_they_were(run):
    found = run("later_fits")
    assert found == {"other": [0, 1, 2], "first": [0, 1, 2], "second": [0, 1, 2], "steps": 18 - 13, "initial": found["initial"]}
    assert not found["initial"]


@pytest.mark.tensorflow
def test_the_same_objects_again(run):
    """A cell of a notebook that was interrupted and is run again."""
    assert run("same_object") == {"history": True, "log": True, "variables": True}


@pytest.mark.timeout(300)
@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="tensorboard is not installed")
def test_tensorboard_counts_on(run):
    """Steps that were trained on twice, after the last backup, are written twice, as they should be."""
    one, two = run("board")
    assert one and one.keys() == two.keys()
    assert any(len(steps) > 3 for steps in one.values())
    for tag, steps in one.items():
        assert sorted(set(two[tag])) == steps, tag


# -- the file ------------------------------------------------------------------------------


VALUE = {"a": [1, 2.5, None, True, "text"], "t": (1, (2,)), "b": b"\x00\xff", "n": np.float32(1.5), "x": np.arange(3),
         "e": np.zeros((0, 2)), "d": {1: "one", (2, 3): [np.uint8(7)]}, "big": 1 << 100, "$odd": {"$tuple": 1}}


def same(a, b):
    if isinstance(a, np.ndarray) or isinstance(a, np.generic):
        return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def test_values_come_back(tmp_path):
    arrays = []
    document = {"value": _archive.pack(VALUE, arrays)}
    _archive.write(tmp_path / "file", document, arrays)
    found, read = _archive.read(tmp_path / "file")
    assert same(VALUE, _archive.unpack(found["value"], read))
    assert _archive.read(tmp_path / "file", arrays=False) == (found, [])


def test_many_arrays_keep_their_order(tmp_path):
    arrays = [np.array(n) for n in range(1200)]
    _archive.write(tmp_path / "file", {}, arrays)
    assert [int(a) for a in _archive.read(tmp_path / "file")[1]] == list(range(1200))


@pytest.mark.parametrize("value", [object(), {"a": [lambda: 0]}, np.array([None])], ids=["object", "function", "objects"])
def test_what_a_backup_cannot_hold(value):
    with pytest.raises(ValueError, match="the state of X holds a"):
        _archive.pack(value, [], "the state of X")


def test_any_byte_damaged(tmp_path):
    """Either an error that says so, or exactly what was written."""
    from infeed import Error

    path = tmp_path / "file"
    _archive.write(path, {"n": 1}, [np.arange(5), np.ones(3, "float32")])
    data = path.read_bytes()
    want = _archive.read(path)
    for place in range(len(data)):
        for bit in (1, 128):
            path.write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1:])
            try:
                document, arrays = _archive.read(path)
            except Error:
                continue
            assert document == want[0] and all(map(np.array_equal, arrays, want[1])), f"byte {place}"


def test_cut_anywhere(tmp_path):
    from infeed import DataLossError

    path = tmp_path / "file"
    _archive.write(path, {"n": 1}, [np.arange(5)])
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(DataLossError):
            _archive.read(path)
