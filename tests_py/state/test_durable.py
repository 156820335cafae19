"""A file is as it was, or as it was to become, whatever file operation a crash comes before."""

import os

import numpy as np
import pytest

import infeed
from infeed import _archive, _checkpoint, _durable

CALLS = ("replace", "unlink", "fsync", "open")


def crash_before(number, act):
    """Runs act in a process that ends, as if killed, before its `number`-th file operation; returns whether it did."""
    child = os.fork()
    if child == 0:
        count = 0

        def counted(function):
            def call(*args, **kwargs):
                nonlocal count
                count += 1
                if count > number:
                    os._exit(9)
                return function(*args, **kwargs)
            return call

        for name in CALLS:
            setattr(os, name, counted(getattr(os, name)))
        _durable.open = counted(open)
        try:
            act()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


WRITES = {
    "checkpoint": (lambda path, n: _checkpoint.write(path, n, {"n": n}), lambda path: _checkpoint.read(path)["step"]),
    "archive": (lambda path, n: _archive.write(path, {"n": n}, [np.full(1000, n)]),
                lambda path: _archive.read(path)[0]["n"] if len(set(_archive.read(path)[1][0])) == 1 else None)}


@pytest.mark.parametrize("kind", WRITES)
def test_written_whole_or_not_at_all(tmp_path, kind):
    write, read = WRITES[kind]
    path = str(tmp_path / "file-1")
    write(path, 1)
    seen, number = [], 0
    while crash_before(number, lambda: write(path, 2)):
        seen.append(read(path))
        write(path, 1)
        number += 1
    assert read(path) == 2
    assert number >= 4 and set(seen) == {1, 2} and seen == sorted(seen), seen
    _durable.sweep(str(tmp_path), "file-", "")
    assert [p.name for p in tmp_path.iterdir()] == ["file-1"]


def test_manager_after_a_crash_at_any_point(tmp_path):
    """There is always one to restore, and what the crash left goes at the next save."""
    class It:
        def state_dict(self):
            return {}

        load_state_dict = state_dict

    number = 0
    while True:
        folder = tmp_path / str(number)
        manager = infeed.CheckpointManager(folder, max_to_keep=1)
        manager.save(It(), 1)
        crashed = crash_before(number, lambda: manager.save(It(), 2))
        assert infeed.CheckpointManager(folder).latest_step in (1, 2)
        manager.save(It(), 3)
        assert [p.name for p in folder.iterdir()] == ["checkpoint-3.json"]
        number += 1
        if not crashed:
            break
    assert number > 4


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path):
    path = str(tmp_path / "file")
    _durable.replace(path, lambda file: file.write(b"old"))

    def write(file):
        file.write(b"new")
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        _durable.replace(path, write)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    with open(path, "rb") as file:
        assert file.read() == b"old"
