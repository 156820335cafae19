"""Checkpoints of iterators: their states in files that outlive the process.

A checkpoint is one JSON object in one file, `checkpoint-<step>.json`, indented so that
an editor shows it. `sha256` in it is of all the rest, written without spaces and with
sorted keys, so that a file that was cut, damaged or edited is recognised. It is put in
place whole (see `_durable`).
"""

import datetime
import hashlib
import json
import os
import time

import infeed
from infeed import _durable
from infeed._errors import DataLossError, InvalidArgumentError, NotFoundError, StateMismatchError

FORMAT = 1
KIND = "checkpoint"


class CheckpointManager:
    """Keeps the latest states of an iterator in a directory.

    Args:
        directory: made at the first save.
        max_to_keep: how many checkpoints stay, those of the highest steps; None: all.
        save_steps: `save` does nothing until this many steps after the last one.
        save_secs: `save` does nothing until this many seconds after the last one.
            With both, the first that is due counts; with neither, each `save` saves.

    Raises:
        InvalidArgumentError: a number is not above 0.

    Example:
        >>> import infeed, tempfile
        >>> ds = infeed.Dataset.range(10).batch(2)
        >>> manager = infeed.CheckpointManager(tempfile.mkdtemp(), save_steps=2)
        >>> it = iter(ds)
        >>> for step in range(1, 4):
        ...     _ = next(it), manager.save(it, step)
        >>> manager.steps
        [2]
        >>> again = iter(ds)
        >>> manager.restore(again)
        2
        >>> next(again)
        array([4, 5])
    """

    def __init__(self, directory, max_to_keep=5, save_steps=None, save_secs=None):
        self.directory = os.fspath(directory)
        self.max_to_keep = _above_zero("max_to_keep", max_to_keep, int)
        self.save_steps = _above_zero("save_steps", save_steps, int)
        self.save_secs = _above_zero("save_secs", save_secs, (int, float))
        self._last_step, self._last_time = self.latest_step or 0, time.monotonic()

    @property
    def steps(self):
        """The steps of the checkpoints that are there, in order."""
        return list(self._files())

    @property
    def latest_step(self):
        """The highest step that was saved, or None."""
        steps = self.steps
        return steps[-1] if steps else None

    def save(self, iterator, step):
        """Saves where an iterator stands, if that is due; returns the file's path, or None where it was not.

        Args:
            iterator: anything with `state_dict`, or with Grain's `get_state`.
            step: an int from 0 on; a checkpoint of the same step is replaced.

        Raises:
            InvalidArgumentError: step is none, or the iterator has no state that JSON can hold.
            OSError: the file cannot be written; the checkpoints before it are as they were.
        """
        if isinstance(step, bool) or not hasattr(step, "__index__") or step < 0:
            raise InvalidArgumentError(f"save: step is {step!r}; it must be an int from 0 on")
        step = step.__index__()
        if not self._due(step):
            return None
        os.makedirs(self.directory, exist_ok=True)
        _durable.sweep(self.directory, "checkpoint-", ".json")
        path = os.path.join(self.directory, f"checkpoint-{step}.json")
        write(path, step, state_of(iterator))
        self._last_step, self._last_time = step, time.monotonic()
        for old in self.steps[:-self.max_to_keep] if self.max_to_keep else ():
            if old != step:
                _durable.remove(os.path.join(self.directory, f"checkpoint-{old}.json"))
        return path

    def restore(self, iterator, step=None):
        """Puts an iterator where a checkpoint says; returns its step, or None where nothing was saved yet.

        Args:
            iterator: one from which nothing was drawn yet, with `load_state_dict` or Grain's `set_state`.
            step: which checkpoint; None: the latest.

        Raises:
            NotFoundError: there is no checkpoint of this step.
            DataLossError: the file is damaged; the text says which older one is whole.
            StateMismatchError: it is of another dataset, or of another version of infeed.
        """
        files = self._files()
        if step is None:
            if not files:
                return None
            step = max(files)
        if step not in files:
            have = f"there are those of {', '.join(map(str, files))}" if files else "there is none"
            raise NotFoundError(f"restore: no checkpoint of step {step!r} in {self.directory}; {have}")
        try:
            document = read(files[step])
        except DataLossError as e:
            raise damaged(e, self._whole_before(files, step)) from None
        load(iterator, document["state"])
        self._last_step, self._last_time = step, time.monotonic()
        return step

    def _files(self):
        return _durable.numbered(self.directory, "checkpoint-", ".json")

    def _whole_before(self, files, step):
        for older in reversed([s for s in files if s < step]):
            try:
                read(files[older])
            except (DataLossError, StateMismatchError):
                continue
            return f"the one of step {older} is whole: restore(iterator, step={older}) continues there"
        return "there is no older one: remove the file to start from the beginning"

    def _due(self, step):
        if self.save_steps is None and self.save_secs is None:
            return True
        by_steps = self.save_steps is not None and step - self._last_step >= self.save_steps
        return by_steps or self.save_secs is not None and time.monotonic() - self._last_time >= self.save_secs


def _above_zero(name, value, kinds):
    if value is not None and (isinstance(value, bool) or not isinstance(value, kinds) or not value > 0):
        raise InvalidArgumentError(f"{name} is {value!r}; it must be above 0, or None")
    return value


def state_of(iterator):
    """The state of an iterator of infeed's or of Grain's kind."""
    for name in ("state_dict", "get_state"):
        if hasattr(iterator, name):
            return getattr(iterator, name)()
    raise InvalidArgumentError(f"save: a {type(iterator).__name__} has no state_dict(); give an iterator, which iter(dataset) makes")


def load(iterator, state):
    """Puts an iterator where a state says."""
    for name in ("load_state_dict", "set_state"):
        if hasattr(iterator, name):
            return getattr(iterator, name)(state)
    raise InvalidArgumentError(f"restore: a {type(iterator).__name__} has no load_state_dict(); give an iterator, which "
                               "iter(dataset) makes")


def write(path, step, state, **more):
    """Puts the file of a checkpoint in place."""
    saved = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    document = {"infeed": KIND, "format": FORMAT, "version": infeed.__version__, "step": step, "saved": saved, **more, "state": state}
    try:
        document = json.loads(json.dumps(document))  # as it will be read
    except (TypeError, ValueError) as e:
        raise InvalidArgumentError(f"save: the state is none that JSON can hold: {e}") from None
    document["sha256"] = _checksum(document)
    text = json.dumps(document, indent=1) + "\n"
    _durable.replace(path, lambda file: file.write(text.encode()))


def _checksum(document):
    rest = {k: v for k, v in document.items() if k != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read(path):
    """What is in the file of a checkpoint, once it is known to be whole."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        document = json.loads(data.decode())
    except (ValueError, RecursionError) as e:
        what = "is empty" if not data else f"is cut off or damaged ({e})"
        raise lost(path, f"{path} {what}") from None
    if not isinstance(document, dict) or document.get("infeed") != KIND:
        raise lost(path, f"{path} is no checkpoint of infeed's: it is JSON of something else")
    check_format(path, document, FORMAT)
    if document.get("sha256") != _checksum(document):
        raise lost(path, f"{path} is damaged or was edited: its checksum is not that of what is in it")
    return document


def check_format(path, document, newest):
    """Refuses what another version of infeed wrote in a way that this one does not know."""
    found = document.get("format")
    if not isinstance(found, int) or not 1 <= found <= newest:
        raise StateMismatchError(f"{path} has format {found!r}, written by infeed {document.get('version')}; this is infeed "
                                 f"{infeed.__version__}, which reads formats up to {newest}: use the version that wrote it")


def lost(path, text):
    """A DataLossError about a file."""
    error = DataLossError(text)
    error.path = path
    return error


def damaged(error, advice):
    """The same with what to do."""
    return lost(error.path, f"{error}; {advice}")
