"""Exceptions of the user's code come out of the loop as what they are, at their turn, and say where they came from."""

import sys
import threading
import traceback

import infeed
import numpy as np
import pytest
from samples import Hooked, Items, Made, firsts

LIMIT = 20


class Odd(Exception):
    """One whose arguments are not what its constructor takes: pickle cannot make it again."""

    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


class Locked(Exception):
    """One that holds what cannot be pickled."""

    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()


def raising(error, at=3):
    """A function that makes batch i, but at `at` raises."""

    def make(ds, index):
        if index == at:
            raise error
        return np.array([index])

    return make


def caught(ds, expected, kind=BaseException):
    """The exception that a loop over ds ends with, once the batches before it have come."""
    got = []
    with pytest.raises(kind) as info:
        for batch in ds:
            got += firsts([batch])
    assert got == expected
    return info.value


def shown(error):
    """All that Python prints of an exception."""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


@pytest.mark.parametrize("error", [
    ValueError("boom"), KeyError("field"), IndexError(7), OSError(5, "no disk"), ZeroDivisionError(),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), MemoryError("much"), AssertionError(), TypeError("a", 1),
    KeyboardInterrupt(), SystemExit(3), GeneratorExit(), infeed.DataLossError("torn"), infeed.WorkerError("own"),
], ids=lambda e: type(e).__name__)
def test_types_and_arguments(error):
    for kind in (dict(workers=0), dict(workers=2), dict(workers=2, use_multiprocessing=True)):
        with Made(raising(error), **kind) as ds:
            got = caught(ds, [0, 1, 2])
        assert type(got) is type(error) and got.args == error.args


def test_what_is_told(kind):
    """Its own text, the index, the pass, who made it, and the line of the user's that raised."""
    def make(ds, index):
        if ds.epoch == 1 and index == 3:
            raise ValueError("boom 3")  # the user's line
        return np.array([index])

    with Made(make, **kind) as ds:
        list(ds)
        text = shown(caught(ds, [0, 1, 2], ValueError))
    assert "ValueError: boom 3" in text
    assert "batch 3 of pass 1" in text
    assert ("worker" in text) == (kind["workers"] > 0) or "caller" in text
    assert "raise ValueError" in text or "in make" in text
    if kind.get("use_multiprocessing"):
        assert "process" in text


def test_the_users_line_is_in_the_text_of_importable_code(processes, tmp_path, monkeypatch):
    (tmp_path / "importable.py").write_text("def make(ds, index):\n    raise ValueError('x')  # this very line\n")
    monkeypatch.syspath_prepend(tmp_path)
    import importable

    with Made(importable.make, **processes) as ds:
        assert "this very line" in shown(caught(ds, [], ValueError))


def test_field_case(parallel, tmp_path):
    """Item 3 raises, item 2 is late, item 5 raises something else: 0, 1, 2 arrive, then item 3's."""
    flag = str(tmp_path / "late")

    def make(ds, index):
        import os
        import time
        if index == 3:
            open(flag, "w").close()
            raise ValueError("boom 3")
        if index == 5:
            raise KeyError("late")
        if index == 2 and ds.parallelism > 1:
            while not os.path.exists(flag):  # until item 3 has raised
                time.sleep(0.005)
        return np.array([index])

    with Made(make, max_queue_size=8, **parallel) as ds:
        error = caught(ds, [0, 1, 2], ValueError)
    assert error.args == ("boom 3",) and "batch 3" in shown(error)


def test_causes_are_shown(kind):
    def make(ds, index):
        try:
            {}["missing"]
        except KeyError as e:
            raise RuntimeError("wrapped") from e

    with Made(make, **kind) as ds:
        text = shown(caught(ds, [], RuntimeError))
    assert "KeyError: 'missing'" in text and "wrapped" in text


def test_notes_of_the_users_are_kept(kind):
    def make(ds, index):
        error = ValueError("x")
        error.add_note("look at the sensor")
        raise error

    if not hasattr(ValueError, "add_note"):
        pytest.skip("this Python has no notes")
    with Made(make, **kind) as ds:
        assert "look at the sensor" in shown(caught(ds, [], ValueError))


def test_classes_of_the_users(kind):
    """Defined beside the dataset, with attributes."""
    class Broken(Exception):
        pass

    def make(ds, index):
        error = Broken("sensor")
        error.sensor = 7
        raise error

    with Made(make, **kind) as ds:
        got = caught(ds, [])
    assert type(got).__name__ == "Broken" and (str(got), got.sensor) == ("sensor", 7)


@pytest.mark.parametrize("make_error", [lambda: Odd(1, 2), lambda: Locked("locked")], ids=["Odd", "Locked"])
def test_what_cannot_be_pickled(kind, make_error):
    """Threads pass it on; from processes comes a WorkerError with its text."""
    def make(ds, index):
        if index == 3:
            raise make_error()
        return np.array([index])

    with Made(make, **kind) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(3)) == [0, 1, 2]
        with pytest.raises(Exception) as info:
            next(it)
        assert firsts(it) == [4, 5, 6, 7]
    expected = make_error()
    assert str(expected) in str(info.value)
    if kind.get("use_multiprocessing"):
        assert type(info.value) is infeed.WorkerError and info.value.index == 3
        assert type(expected).__name__ in str(info.value) and "in make" in str(info.value)
    else:
        assert type(info.value).__name__ == type(expected).__name__


def test_stop_iteration_does_not_end_the_loop(kind):
    """A common slip: next() in __getitem__."""
    def make(ds, index):
        return next(iter([])) if index == 3 else np.array([index])

    with Made(make, **kind) as ds:
        error = caught(ds, [0, 1, 2], RuntimeError)
        assert "StopIteration" in shown(error) and "batch 3" in shown(error)


def test_long_texts(kind):
    """Longer than any buffer of the engine."""
    text = "long " * 100_000

    def make(ds, index):
        raise ValueError(text)

    with Made(make, **kind) as ds:
        assert caught(ds, []).args == (text,)


def test_every_batch_fails(kind):
    def make(ds, index):
        raise ValueError(index)

    with Made(make, **kind) as ds:
        it, got = iter(ds), []
        for _ in range(8):
            with pytest.raises(ValueError) as info:
                next(it)
            got += info.value.args
        assert got == list(range(8))
        assert list(it) == []


@pytest.mark.parametrize("value, words", [
    (None, "None"), ((), "tuple of 0"), ((np.zeros(2),) * 4, "tuple of 4"), ([np.zeros(2)] * 4, "list of 4"),
    ("not a batch", "str"), (7, "int"), (2.5, "float"), ({1, 2}, "set"), (range(3), "range"),
], ids=lambda v: str(type(v).__name__))
def test_no_batch(value, words):
    for kind in (dict(workers=0), dict(workers=2), dict(workers=2, use_multiprocessing=True)):
        with Made(lambda ds, i: ds.value if i == 3 else np.array([i]), **kind) as ds:
            ds.value = value
            error = caught(ds, [0, 1, 2], infeed.InvalidArgumentError)
        assert "__getitem__(3)" in str(error) and words in str(error) and "tuple" in str(error)


def test_a_batch_that_cannot_be_pickled(processes):
    """It says what and where; the loop goes on."""
    def make(ds, index):
        import threading
        return {"x": np.array([index]), "lock": threading.Lock()} if index == 3 else np.array([index])

    with Made(make, **processes) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(3)) == [0, 1, 2]
        with pytest.raises(Exception, match="lock") as info:
            next(it)
        assert "batch 3" in shown(info.value)
        assert firsts(it) == [4, 5, 6, 7]


def test_a_batch_that_cannot_be_unpickled(processes):
    """Made of a class that raises when it is made again in the main process."""
    class Trap:
        def __reduce__(self):
            return divmod, (1, 0)

    def make(ds, index):
        return {"x": np.array([index]), "trap": Trap()} if index == 3 else np.array([index])

    with Made(make, **processes) as ds:
        it = iter(ds)
        assert firsts(next(it) for _ in range(3)) == [0, 1, 2]
        with pytest.raises(ZeroDivisionError):
            next(it)
        assert firsts(it) == [4, 5, 6, 7]


@pytest.mark.parametrize("length, words", [(-1, "-1"), (2.5, "2.5"), ("8", "'8'")], ids=str)
def test_numbers_of_batches_that_are_none(kind, length, words):
    class Wrong(Items):
        @property
        def num_batches(self):
            return length

    with Wrong(**kind) as ds:
        with pytest.raises(infeed.InvalidArgumentError, match="num_batches") as info:
            next(iter(ds))
    assert words in str(info.value)


def test_a_length_that_raises(kind):
    class Wrong(Items):
        def __len__(self):
            raise ZeroDivisionError("no length")

    with Wrong(**kind) as ds, pytest.raises(ZeroDivisionError, match="no length"):
        next(iter(ds))


def test_a_length_that_is_too_large(kind):
    """The user's own IndexError comes out, as an error and not as an end."""
    with Made(lambda ds, i: np.array([[0, 1, 2][i]]), 5, **kind) as ds:
        error = caught(ds, [0, 1, 2], IndexError)
    assert "batch 3" in shown(error)


def test_a_length_that_changes(kind):
    """Each pass has the length of its beginning."""
    with Items(5, **kind) as ds:
        it = iter(ds)
        next(it)
        ds.length = 3
        assert firsts(it) == [1, 2, 3, 4]
        assert firsts(ds) == [0, 1, 2]
        ds.length = 7
        assert firsts(ds) == list(range(7))
        ds.length = 0
        assert firsts(ds) == []


@pytest.mark.parametrize("hook", ["on_epoch_begin", "on_epoch_end"])
def test_a_hook_that_raises(kind, hook):
    """It comes out of the loop; the next pass is whole."""
    class Failing(Hooked):
        fail = True

    def failing(self):
        if self.fail:
            raise ValueError(hook)

    setattr(Failing, hook, failing)
    with Failing(4, **kind) as ds:
        with pytest.raises(ValueError, match=hook):
            list(ds)
        ds.fail = False
        assert [int(b[1]) for b in ds] == [0, 1, 2, 3]


@pytest.mark.parametrize("lacks", ["__getitem__", "__len__"])
def test_a_class_that_lacks_something(lacks):
    class Half(infeed.PyDataset):
        def __len__(self):
            return 2

    if lacks == "__getitem__":
        with pytest.raises(NotImplementedError, match="Half must define __getitem__"):
            next(iter(Half(workers=0)))
    else:
        class Other(infeed.PyDataset):
            def __getitem__(self, index):
                return np.array([index])

        with pytest.raises(NotImplementedError, match="Other must define __len__, or the property num_batches"):
            Other().num_batches


def test_an_exception_that_cannot_be_printed(kind):
    """Its own __str__ raises; it comes out as what it is all the same."""
    class Mute(Exception):
        def __str__(self):
            raise ZeroDivisionError

    def make(ds, index):
        if index == 3:
            raise Mute
        return np.array([index])

    with Made(make, **kind) as ds:
        assert type(caught(ds, [0, 1, 2])).__name__ == "Mute"


def test_lines_of_a_scripts_own_classes(start, tmp_path):
    """The worker has them by value; its traceback shows them nevertheless."""
    (tmp_path / "train.py").write_text("""
import infeed
class Mine(infeed.PyDataset):
    def __len__(self): return 2
    def __getitem__(self, index):
        raise ValueError("x")  # this very line
next(iter(Mine(workers=1, use_multiprocessing=True)))
""")
    s = start("", command=[sys.executable, "train.py"])
    assert s.wait(60) == 1
    assert "this very line" in s.err and "train.py" in s.err
