"""CheckpointInputPipelineHook, driven as a MonitoredSession would, by itself and through the example."""

import importlib.util
import json
import os
import subprocess
import sys
import time
import types
import warnings

import numpy as np
import pytest

import infeed
from infeed import _checkpoint, _hook

from .conftest import HERE

EXAMPLE = HERE.parents[1] / "examples" / "monitored_loop.py"


def load_example():
    spec = importlib.util.spec_from_file_location("monitored_loop", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


monitored_loop = load_example()


def test_the_example_says_what_it_needs(monkeypatch):
    monkeypatch.setattr("sys.argv", ["monitored_loop.py"])
    with pytest.raises(SystemExit, match="usage: .*monitored_loop.py MODEL_DIR"):
        monitored_loop.main()


class Numbers(infeed.PyDataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        return np.array([index])


def estimator(folder, secs=None, steps=None, **more):
    config = types.SimpleNamespace(save_checkpoints_secs=secs, save_checkpoints_steps=steps, **more)
    return types.SimpleNamespace(model_dir=folder, config=config)


@pytest.fixture(autouse=True)
def a_registry_of_its_own(monkeypatch):
    monkeypatch.setattr(_hook, "_registered", [])


def train(hook_of, runs, start=0, iterators=1, session=True, others=(), before=()):
    """Runs a training of so many steps; returns what it was given. hook_of() makes the hook.

    It begins as another process would: nothing is registered yet.
    """
    _hook._registered.clear()
    its = [iter(Numbers(shuffle=True, seed=number, workers=0)) for number in range(iterators)]
    for it in [*before, *its]:
        infeed.make_saveable_from_iterator(it)
    seen, context = [], monitored_loop.Session(start) if session else None

    def step(session_):
        if len(seen) == runs:
            raise StopIteration
        seen.append([int(next(it)[0]) for it in its])
        if session_ is not None:
            session_.global_step += 1

    monitored_loop.monitored([hook_of(), *others], context, step)
    return seen


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("session", [True, False], ids=["with a global step", "counted by the hook"])
def test_training_goes_on(tmp_path, session):
    make = lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5))  # noqa: E731
    want = train(lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path / "other", steps=5)), 30, session=session, iterators=2)
    got = train(make, 12, session=session, iterators=2)
    assert names(tmp_path) == ["checkpoint_input", "input.ckpt-0", "input.ckpt-10", "input.ckpt-12", "input.ckpt-5", "other"]
    got += train(make, 18, 12, session=session, iterators=2)
    assert got == want


def test_a_crash_loses_what_came_after_the_last_checkpoint(tmp_path):
    class Crash:
        begin = after_create_session = before_run = end = staticmethod(lambda *_: None)

        def after_run(self, context, values):
            if context.session.global_step == 8:
                raise MemoryError

    make = lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5))  # noqa: E731
    with pytest.raises(MemoryError):
        train(make, 12, others=[Crash()])
    want = train(lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path / "other", steps=5)), 15)
    assert train(make, 10, 5) == want[5:]


def test_files_of_a_worker(tmp_path):
    worker = dict(num_worker_replicas=3, task_type="worker", task_id=2)
    train(lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5, **worker)), 5)
    assert names(tmp_path) == ["checkpoint_input_worker_2", "input_worker_2.ckpt-0", "input_worker_2.ckpt-5"]
    assert (tmp_path / "checkpoint_input_worker_2").read_text().splitlines() == [
        'model_checkpoint_path: "input_worker_2.ckpt-5"', 'all_model_checkpoint_paths: "input_worker_2.ckpt-0"',
        'all_model_checkpoint_paths: "input_worker_2.ckpt-5"']


def test_a_single_worker_has_no_name(tmp_path):
    alone = dict(num_worker_replicas=1, task_type="worker", task_id=0)
    train(lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5, **alone)), 1)
    assert names(tmp_path) == ["checkpoint_input", "input.ckpt-0", "input.ckpt-1"]


def test_five_stay(tmp_path):
    train(lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=2)), 21)
    assert names(tmp_path) == ["checkpoint_input", *sorted(f"input.ckpt-{n}" for n in (14, 16, 18, 20, 21))]


def test_no_second_checkpoint_at_the_end(tmp_path, monkeypatch):
    saved, write = [], _checkpoint.write
    monkeypatch.setattr(_checkpoint, "write", lambda path, step, state: (saved.append(step), write(path, step, state)))
    train(lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5)), 10)
    assert saved == [0, 5, 10]


def test_seconds(tmp_path, monkeypatch):
    clock = [0.0]

    class Tick:
        begin = after_create_session = after_run = end = staticmethod(lambda *_: None)

        def before_run(self, context):
            clock[0] += 4

    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    train(lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, secs=10)), 8, others=[Tick()])
    # Armed at 0 s, before the first run; after the runs it is 4, 8, 12, ... s.
    assert names(tmp_path) == ["checkpoint_input", *sorted(f"input.ckpt-{n}" for n in (0, 3, 6, 8))]


@pytest.mark.parametrize("secs, steps", [(None, None), (10, 10)])
def test_one_trigger(tmp_path, secs, steps):
    with pytest.raises(infeed.InvalidArgumentError, match="give one of config.save_checkpoints_secs and"):
        infeed.CheckpointInputPipelineHook(estimator(tmp_path, secs, steps))


def test_evaluation_restores_nothing(tmp_path):
    """Hooks of training are not given to evaluation; and an evaluator's hook does nothing."""
    make = lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5))  # noqa: E731
    head = train(make, 7)
    before = names(tmp_path)
    evaluator = lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5, task_type="evaluator"))  # noqa: E731
    assert train(evaluator, 7) == head
    assert names(tmp_path) == before


def test_restored_at_the_first_run_only(tmp_path):
    """Not in after_create_session, which other hooks use to start their datasets."""
    make = lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5))  # noqa: E731
    train(make, 5)
    it = iter(Numbers(shuffle=True, seed=0, workers=0))
    infeed.make_saveable_from_iterator(it)
    hook = make()
    hook.begin()
    hook.after_create_session(None, None)
    assert it.state_dict()["position"] == 0
    hook.before_run(None)
    assert it.state_dict()["position"] == 5


def test_iterators_that_are_gone_are_not_saved():
    it = iter(Numbers())
    saveable = infeed.make_saveable_from_iterator(it)
    other = iter(Numbers())
    infeed.make_saveable_from_iterator(other)
    assert [s.iterator for s in _hook.registered()] == [it, other]
    assert saveable.iterator is it and saveable.state() == it.state_dict()
    del other
    assert [s.iterator for s in _hook.registered()] == [it]


def test_nothing_registered(tmp_path):
    with pytest.raises(infeed.InvalidArgumentError, match="call infeed.make_saveable_from_iterator"):
        infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5)).begin()
    with pytest.raises(infeed.InvalidArgumentError, match=r"iter\(dataset\) makes one"):
        infeed.make_saveable_from_iterator(Numbers())


class Stateless:
    def __iter__(self):
        return self

    def __next__(self):
        return [0]


def test_policies(tmp_path):
    it = [Stateless()]
    make = lambda policy: infeed.CheckpointInputPipelineHook(estimator(tmp_path / policy, steps=5), policy)  # noqa: E731
    with pytest.raises(infeed.InvalidArgumentError, match=r"Stateless has no state_dict\(\)"):
        train(lambda: make("fail"), 5, before=it)
    with pytest.warns(UserWarning, match="iterator-0 is left out of the checkpoint of step"):
        want = train(lambda: make("warn"), 5, before=it)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert train(lambda: make("ignore"), 3, before=it) + train(lambda: make("ignore"), 2, 3, before=it) == want
    with pytest.raises(infeed.InvalidArgumentError, match="external_state_policy"):
        make("never")


def test_other_iterators(tmp_path):
    make = lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5))  # noqa: E731
    train(make, 5, iterators=2)
    with pytest.raises(infeed.StateMismatchError, match="states of 2 iterators, and 1 are registered"):
        train(make, 5)


@pytest.mark.parametrize("kind", ["cut", "gone", "pointer"])
def test_damaged(tmp_path, kind):
    make = lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path, steps=5))  # noqa: E731
    train(make, 7)
    path, pointer = tmp_path / "input.ckpt-7", tmp_path / "checkpoint_input"
    if kind == "cut":
        path.write_text(path.read_text()[:100])
    elif kind == "gone":
        path.unlink()
    else:
        pointer.write_text("")
    error = infeed.NotFoundError if kind == "gone" else infeed.DataLossError
    with pytest.raises(error) as e:
        train(make, 1)
    if kind != "pointer":
        assert str(tmp_path / "input.ckpt-5") in str(e.value)
    pointer.write_text('model_checkpoint_path: "input.ckpt-5"\n')
    want = train(lambda: infeed.CheckpointInputPipelineHook(estimator(tmp_path / "other", steps=5)), 8)
    assert train(make, 3, 5) == want[5:]


def test_the_example(tmp_path):
    def run(folder, steps):
        done = subprocess.run([sys.executable, EXAMPLE, folder, str(steps)], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(infeed.__file__))})
        return done.stdout

    run(tmp_path / "broken", 17), run(tmp_path / "broken", 30)
    assert run(tmp_path / "broken", 13) == run(tmp_path / "unbroken", 60)
    assert json.loads((tmp_path / "broken" / "model.json").read_text())["step"] == 60
