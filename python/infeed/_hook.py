"""The session hook that keeps the place of input pipelines beside a model's checkpoints.

It is tf.data's CheckpointInputPipelineHook without TensorFlow: whoever drives it calls
the five methods of a SessionRunHook in the order of a MonitoredSession. Where that is
a plain loop, see examples/monitored_loop.py.
"""

import os
import re
import time
import warnings
import weakref

from infeed import _checkpoint, _durable
from infeed._errors import InvalidArgumentError, NotFoundError, StateMismatchError

KEPT = 5  # checkpoints, as tf.train.Saver does
POLICIES = ("fail", "warn", "ignore")

_registered = []  # functions that return an iterator, or None once it is gone, in the order of registration


class Saveable:
    """An iterator that hooks save and restore. Made by `make_saveable_from_iterator`."""

    def __init__(self, iterator):
        self.iterator = iterator

    def state(self):
        return _checkpoint.state_of(self.iterator)

    def restore(self, state):
        _checkpoint.load(self.iterator, state)


def make_saveable_from_iterator(iterator):
    """Registers an iterator with the `CheckpointInputPipelineHook`s that begin later.

    Args:
        iterator: of an infeed dataset, or anything with state_dict and load_state_dict.
            It is registered as long as it is alive. After a restart, the same
            iterators must be registered in the same order.

    Returns:
        What the hook saves, which keeps the iterator alive: it has `iterator`,
        `state()` and `restore(state)`.

    Raises:
        InvalidArgumentError: it is a dataset, of which `iter` makes an iterator, or another thing.

    Example:
        >>> import infeed
        >>> it = iter(infeed.Dataset.range(3))
        >>> saveable = infeed.make_saveable_from_iterator(it)
        >>> saveable.state()["position"]
        0
    """
    if not hasattr(iterator, "__next__") and not hasattr(iterator, "state_dict"):
        raise InvalidArgumentError(f"make_saveable_from_iterator: a {type(iterator).__name__} is no iterator; iter(dataset) makes one")
    try:
        _registered.append(weakref.ref(iterator))
    except TypeError:  # it cannot be referred to weakly
        _registered.append(lambda: iterator)
    return Saveable(iterator)


def registered():
    """Saveables of the iterators that are alive."""
    _registered[:] = [alive for alive in _registered if alive() is not None]
    return [Saveable(alive()) for alive in _registered]


class CheckpointInputPipelineHook:
    """Saves the state of all registered iterators every so many steps or seconds, and restores it.

    `<model_dir>/input.ckpt-<step>` (with several workers
    `input_<task_type>_<task_id>.ckpt-<step>`) is a checkpoint, and the text file
    `checkpoint_input` (`checkpoint_input_<task_type>_<task_id>`) names the latest. At
    the first `before_run` it is restored if there is one; else one is saved. Give the
    hook to training only. A task of type "evaluator" neither saves nor restores.

    The step is `run_context.session.global_step`, a number or a function without
    arguments; where there is none, the hook counts its runs, on from what it restored.

    Args:
        estimator: anything with `model_dir` and `config`, which has either
            `save_checkpoints_secs` or `save_checkpoints_steps`, and for several workers
            `num_worker_replicas`, `task_type` and `task_id`.
        external_state_policy: what to do about an iterator that has no state to save:
            "fail", "warn" (leave it out and say so) or "ignore".

    Raises:
        InvalidArgumentError: both triggers are given, or neither, or another policy.

    Example:
        >>> import infeed, tempfile, types
        >>> config = types.SimpleNamespace(save_checkpoints_steps=2, save_checkpoints_secs=None)
        >>> estimator = types.SimpleNamespace(model_dir=tempfile.mkdtemp(), config=config)
        >>> def train(runs):
        ...     it = iter(infeed.Dataset.range(100))
        ...     infeed.make_saveable_from_iterator(it)
        ...     hook = infeed.CheckpointInputPipelineHook(estimator)
        ...     hook.begin()
        ...     hook.after_create_session(None, None)
        ...     for _ in range(runs):
        ...         hook.before_run(None)
        ...         element = next(it)
        ...         hook.after_run(None, None)
        ...     hook.end(None)
        ...     return int(element)
        >>> train(3), train(3)
        (2, 5)
    """

    def __init__(self, estimator, external_state_policy="fail"):
        if external_state_policy not in POLICIES:
            raise InvalidArgumentError(f"external_state_policy is {external_state_policy!r}; it must be one of {', '.join(POLICIES)}")
        config = estimator.config
        self._policy = external_state_policy
        self._timer = Timer(getattr(config, "save_checkpoints_secs", None), getattr(config, "save_checkpoints_steps", None))
        self._steps_per_run = getattr(config, "steps_per_run", 1) or 1
        self._evaluates = getattr(config, "task_type", None) == "evaluator"
        suffix = ""
        if (getattr(config, "num_worker_replicas", None) or 1) > 1:
            suffix = f"_{config.task_type}_{config.task_id}"
        self._folder = os.fspath(estimator.model_dir)
        self._name, self._pointer = f"input{suffix}.ckpt", os.path.join(self._folder, f"checkpoint_input{suffix}")
        self._saveables, self._first, self._counted, self._saved = [], True, 0, None

    def begin(self):
        """Takes the iterators that are registered by now."""
        self._saveables = [] if self._evaluates else registered()
        self._first, self._counted, self._saved = True, 0, None
        if not self._saveables and not self._evaluates:
            raise InvalidArgumentError("CheckpointInputPipelineHook: no iterator is registered; call "
                                       "infeed.make_saveable_from_iterator(iterator) before begin()")

    def after_create_session(self, session, coord):
        """Does nothing: other hooks may still start their datasets anew."""

    def before_run(self, run_context):
        """Restores, or saves, before the first run."""
        if not self._first or self._evaluates:
            return None
        self._first = False
        latest = self._latest()
        if latest is None:
            self._save(self._step(run_context))
        else:
            self._restore(latest)
            self._timer.triggered(self._step(run_context))
        return None

    def after_run(self, run_context, run_values):
        """Saves if it is time to."""
        self._counted += self._steps_per_run
        if self._evaluates:
            return
        step = self._step(run_context)
        if self._timer.due(step):
            self._save(step)

    def end(self, session):
        """Saves, unless that was done at this step."""
        if not self._evaluates and not self._first:
            step = self._step(session)
            if step != self._saved:
                self._save(step)

    # -- files ---------------------------------------------------------------------------

    def _step(self, context):
        session = getattr(context, "session", context)
        step = getattr(session, "global_step", None)
        if step is None:
            return self._counted
        return int(step() if callable(step) else step)

    def _save(self, step):
        states = {}
        for number, saveable in enumerate(self._saveables):
            try:
                states[f"iterator-{number}"] = saveable.state()
            except Exception as e:
                if self._policy == "fail":
                    raise
                if self._policy == "warn":
                    warnings.warn(f"CheckpointInputPipelineHook: iterator-{number} is left out of the checkpoint of step {step}, "
                                  f"since it has no state: {e}", stacklevel=3)
        os.makedirs(self._folder, exist_ok=True)
        _checkpoint.write(os.path.join(self._folder, f"{self._name}-{step}"), step, states)
        steps = [s for s in _paths(self._folder, self._name) if s <= step][-KEPT:]
        self._point_at(steps)
        for old in set(_paths(self._folder, self._name)) - set(steps):
            _durable.remove(os.path.join(self._folder, f"{self._name}-{old}"))
        self._saved = step
        self._timer.triggered(step)

    def _point_at(self, steps):
        lines = [f'model_checkpoint_path: "{self._name}-{steps[-1]}"']
        lines += [f'all_model_checkpoint_paths: "{self._name}-{s}"' for s in steps]
        _durable.replace(self._pointer, lambda file: file.write(("\n".join(lines) + "\n").encode()))

    def _latest(self):
        try:
            with open(self._pointer, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except FileNotFoundError:
            return None
        found = re.search(r'^model_checkpoint_path: "(.*)"$', text, re.M)
        if found is None:
            raise _checkpoint.lost(self._pointer, f"{self._pointer} is damaged: it names no checkpoint. Remove it to start from the "
                                   f"beginning, or write model_checkpoint_path: \"{self._name}-<step>\" into it")
        return os.path.join(self._folder, found[1])

    def _restore(self, path):
        older = [p for p in _paths(self._folder, self._name).values() if p != path]
        advice = f"older ones are {', '.join(older)}: write the name of one into {self._pointer}" if older else (
            f"there is no older one: remove {self._pointer} to start from the beginning")
        try:
            document = _checkpoint.read(path)
        except FileNotFoundError:
            raise NotFoundError(f"{self._pointer} names {path}, which is not there; {advice}") from None
        except _checkpoint.DataLossError as e:
            raise _checkpoint.damaged(e, advice) from None
        states = document["state"]
        if self._policy == "fail" and len(states) != len(self._saveables):
            raise StateMismatchError(f"{path} has the states of {len(states)} iterators, and {len(self._saveables)} are registered")
        for number, saveable in enumerate(self._saveables):
            if (state := states.get(f"iterator-{number}")) is not None:
                saveable.restore(state)
        self._counted, self._saved = document["step"], document["step"]


def _paths(folder, name):
    return _durable.numbered(folder, f"{name}-", "")


class Timer:
    """When to save: after so many steps or seconds, never twice at one step."""

    def __init__(self, every_secs, every_steps):
        if (every_secs is None) == (every_steps is None):
            raise InvalidArgumentError("CheckpointInputPipelineHook: give one of config.save_checkpoints_secs and "
                                       f"config.save_checkpoints_steps; they are {every_secs!r} and {every_steps!r}")
        self.every_secs, self.every_steps = every_secs, every_steps
        self.step = self.time = None

    def due(self, step):
        if self.step is None:
            return True
        if step == self.step:
            return False
        if self.every_secs is not None:
            return time.monotonic() - self.time >= self.every_secs
        return step - self.step >= self.every_steps

    def triggered(self, step):
        self.step, self.time = step, time.monotonic()
