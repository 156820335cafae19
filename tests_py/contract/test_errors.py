"""Whatever goes wrong in a dataset becomes an error, soon, and names the place."""

import re

import pytest

pytestmark = pytest.mark.tensorflow

KINDS = [(0, False), (1, False), (4, False), (2, True)]
IDS = [f"{w}{'processes' if p else 'threads'}" for w, p in KINDS]
kinds = pytest.mark.parametrize("workers, processes", KINDS, ids=IDS)
LIMIT = 25


def source(workers, processes, how, bad=13, length=20, **more):
    return dict(dataset="Bad", length=length, bad=bad, how=how, workers=workers,
                use_multiprocessing=processes, max_queue_size=4, **more)


def is_error(got, name, backend):
    """TensorFlow can only pass on the text of an error raised inside tf.data."""
    if backend == "tensorflow":
        ours = r"infeed[.\w]*\.InvalidArgumentError" if name == "ValueError" else name
        return re.search(f"{name}|{ours}", got["text"]) is not None
    return name in got["bases"]


@kinds
@pytest.mark.parametrize("how, name, message", [
    ("value", "ValueError", "bad luck in the dataset"),
    ("key", "KeyError", "missing-field")])
def test_error_type_and_message(fails, backend, workers, processes, how, name, message):
    got = fails("fit", LIMIT, train=source(workers, processes, how), shuffle=False)
    assert is_error(got, name, backend), got["text"]
    assert message in got["text"]


@kinds
def test_error_within_ten_seconds(run, workers, processes):
    got = run("time_to_error", LIMIT, train=source(workers, processes, "value"))
    assert got["seconds"] < 10


@kinds
def test_error_names_the_index(fails, workers, processes):
    got = fails("fit", LIMIT, train=source(workers, processes, "value"), shuffle=False)
    assert "13" in got["text"], got["text"]


@kinds
def test_batches_before_the_error_are_used(run, workers, processes):
    got = run("until_error", LIMIT, train=source(workers, processes, "value"))
    assert got["train"][0] == list(range(13))


@kinds
@pytest.mark.parametrize("bad", [0, 1, 19])
def test_error_in_first_or_last_batch(fails, backend, workers, processes, bad):
    got = fails("fit", LIMIT, train=source(workers, processes, "value", bad=bad), shuffle=False)
    assert "bad luck in the dataset" in got["text"]


@kinds
def test_error_in_validation(fails, workers, processes):
    got = fails("fit", LIMIT, train=dict(length=3), val=source(workers, processes, "value"), shuffle=False)
    assert "bad luck in the dataset" in got["text"]


@kinds
def test_error_in_predict(fails, workers, processes):
    got = fails("predict", LIMIT, dataset=source(workers, processes, "value"))
    assert "bad luck in the dataset" in got["text"]


@kinds
def test_none_batch(fails, workers, processes):
    got = fails("fit", LIMIT, train=source(workers, processes, "none"), shuffle=False)
    assert "None" in got["text"]


@kinds
@pytest.mark.parametrize("how", ["four", "zero", "string"])
def test_wrong_batch_structure(fails, backend, workers, processes, how):
    got = fails("fit", LIMIT, train=source(workers, processes, how), shuffle=False)
    assert is_error(got, "ValueError", backend), got["text"]
    assert "tuple" in got["text"]


@kinds
def test_empty_dataset(fails, workers, processes):
    got = fails("fit", LIMIT, train=dict(length=0, workers=workers, use_multiprocessing=processes))
    assert any(w in got["text"].lower() for w in ("empty", "length 0", "no batches", "0 batches")), got["text"]


@pytest.mark.parametrize("how", ["kill", "_exit"])
def test_killed_worker_is_an_error_or_replaced(run, how):
    """Whenever the batch is asked for, its worker dies: that must be said."""
    got = run("survive", 40, train=source(2, True, how))
    if got["error"] is None:  # a batch made in the main process is a recovery too
        assert got["train"] == [list(range(20))] * 2
    else:
        assert any(w in got["error"].lower() for w in ("worker", "process", "died", "killed", "signal"))


def test_worker_killed_once(run, tmp_path):
    """The batch kills its worker only the first time: retried, or an error."""
    got = run("survive", 40, train=source(2, True, "kill", flag=str(tmp_path / "died")))
    if got["error"] is None:
        assert got["train"] == [list(range(20))] * 2
    else:
        assert any(w in got["error"].lower() for w in ("worker", "process", "died", "killed", "signal"))


def test_unpicklable_dataset(run):
    """Works (fork), or says what cannot be pickled; it does not hang."""
    got = run("attempt_unpicklable", 40)
    if got["error"] is None:
        assert got["train"] == [list(range(6))] * 2
    else:
        assert "pickle" in got["error"].lower()


@pytest.mark.parametrize("workers, processes", [(0, False), (4, False), (2, True)], ids=["0", "4threads", "2processes"])
def test_keyboard_interrupt(run, backend, workers, processes):
    if backend == "tensorflow":
        pytest.skip("the main thread waits inside TensorFlow, out of reach of a dataset")
    got = run("interrupt", LIMIT, fresh=True, workers=workers, processes=processes)
    assert got["seconds"] is not None and got["seconds"] < 10, "the batch takes 30 s"


@pytest.mark.usefixtures("ours")
def test_a_killed_worker_is_replaced(run, tmp_path):
    """Once and twice the batch is made again; its third death is an error."""
    got = run("survive", 40, train=source(2, True, "kill", flag=str(tmp_path / "died")))
    assert got["error"] is None and got["train"] == [list(range(20))] * 2
    got = run("survive", 40, train=source(2, True, "kill"))
    assert "WorkerError" in got["error"] and "batch 13" in got["error"] and "memory ran out" in got["error"]


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("workers, processes", [(2, False), (2, True)], ids=["threads", "processes"])
def test_timeout_of_a_stuck_batch(fails, backend, workers, processes):
    """An error with the stack of the worker, in place of a wait."""
    got = fails("stuck", LIMIT, workers=workers, processes=processes, timeout=1.0)
    assert is_error(got, "TimeoutError", backend), got["text"]
    assert all(part in got["text"] for part in ("batch 3", "datasets.py", "__getitem__")), got["text"]
