"""The callback that lets `fit` go on where its process was killed.

A backup is one file (see `_archive`) with all that the rest of the training depends
on: variables, the place in the data, History, callbacks, generators of random numbers.
Backups are numbered; a new one is whole before an older one is removed.

A backup is made, and loaded, at one of two points: between two steps of an epoch,
after all callbacks of the step before; or at the very end of an epoch, after all
other callbacks. The first is inside the generator of steps that fit goes through,
which also keeps Keras from waiting for each step's results, as it does for callbacks
with batch hooks.
"""

import itertools
import os
import random
import sys
import time
import warnings

import keras
import numpy as np

import infeed
from infeed import _archive, _callback_state, _checkpoint, _context, _durable, _fit, _place
from infeed._engine import length_of
from infeed._errors import DataLossError, InvalidArgumentError, StateMismatchError
from infeed._session import for_keras


class BackupAndRestore(keras.callbacks.Callback):
    """`keras.callbacks.BackupAndRestore` that goes on at the very batch, as if nothing had happened.

    Run a script again after it was killed: `fit` goes on from the last backup, on the
    same batches, and ends with bitwise the weights, optimizer state, seed generators,
    metrics and History of a run that was not broken. Data must come from an
    `infeed.keras.PyDataset` (see `accelerate`) or `Dataset.to_keras()`.

    Args:
        backup_dir: a directory for this alone; made at the first backup.
        save_freq: "epoch": at the end of each epoch; an int: after so many batches;
            False: only as save_secs says.
        double_checkpoint: keeps the backup before the last one too, which is used,
            with a warning, where the last one turns out to be damaged.
        delete_checkpoint: removes the backups when fit is through.
        save_secs: a number of seconds after which to save as well, between two batches.
        callbacks: callbacks, or anything with `state_dict` and `load_state_dict`, whose
            state is saved too. Those given to fit need not be named if they have these
            methods, or are Keras's EarlyStopping, ReduceLROnPlateau, ModelCheckpoint,
            TensorBoard and the like.

    Raises:
        InvalidArgumentError: for wrong arguments; in fit, for data that are not infeed's.
        StateMismatchError: in fit, before the first batch: the backup is of another
            dataset, model or steps_per_epoch.
        DataLossError: in fit: the backup is damaged and there is no older one.

    Example:
        >>> import numpy as np, keras, infeed.keras, tempfile
        >>> class Data(infeed.keras.PyDataset):
        ...     def __len__(self):
        ...         return 10
        ...     def __getitem__(self, index):
        ...         x = np.full((8, 2), index, "float32")
        ...         return x, x.sum(axis=1)
        >>> model = keras.Sequential([keras.layers.Dense(1)])
        >>> model.compile("sgd", "mse")
        >>> backup = infeed.keras.BackupAndRestore(tempfile.mkdtemp(), save_freq=4)
        >>> history = model.fit(Data(), epochs=2, verbose=0, callbacks=[backup])
        >>> history.epoch
        [0, 1]
    """

    def __init__(self, backup_dir, save_freq="epoch", double_checkpoint=False, delete_checkpoint=True, *, save_secs=None,
                 callbacks=()):
        super().__init__()
        if not backup_dir:
            raise InvalidArgumentError(f"backup_dir is {backup_dir!r}; it must be the path of a directory")
        self.backup_dir = os.fspath(backup_dir)
        self.save_freq, self.save_secs = _frequency(save_freq, save_secs), save_secs
        self.double_checkpoint, self.delete_checkpoint = bool(double_checkpoint), bool(delete_checkpoint)
        self._given = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
        for c in self._given:
            _callback_state.check(c)
        self._fit = self._loaded = None
        self._put_back = lambda: None
        self._batches, self._time, self._epoch = 0, 0.0, 0

    # -- Keras's hooks -------------------------------------------------------------------

    def on_train_begin(self, logs=None):
        fit = _fit.Fit(sys._getframe(1))
        if any(isinstance(c, BackupAndRestore) and c is not self for c in fit.callbacks):
            raise InvalidArgumentError("two infeed.keras.BackupAndRestore in one fit: give one")
        if not fit.is_last(self):
            return  # others, which begin after this one, would forget what they are given
        self._fit, self._loaded = fit, self._read()
        self._batches, self._time = 0, time.monotonic()
        if self._loaded is not None:
            self._begin(*self._loaded)
        fit.through(self._steps)

    def on_epoch_begin(self, epoch, logs=None):
        self._put_back()
        self._put_back = lambda: None
        self._epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        if self.save_freq == "epoch" or self._due():
            self._save(epoch + 1, 0, self._fit.place_after_epoch())

    def on_train_end(self, logs=None):
        self._put_back()
        self._put_back, self._fit = lambda: None, None
        if self.delete_checkpoint:
            for path in self._files().values():  # the latest last: a crash in between leaves it
                _durable.remove(path)
            try:
                os.rmdir(self.backup_dir)
            except OSError:  # there is more in it than ours, or nothing was ever saved
                pass

    # -- between steps -------------------------------------------------------------------

    def _steps(self, steps):
        """The steps of an epoch; backups are made, and loaded, in between."""
        loaded, self._loaded = self._loaded, None
        each = self._fit.steps_per_execution
        if loaded is not None and loaded[0]["batch"]:
            next(itertools.islice(steps, loaded[0]["batch"] // each - 1, None))
        else:
            loaded = None
        for step in steps:
            if loaded is not None:
                self._apply(*loaded)
                loaded = None
            elif step[0] and self._due():
                self._save(self._epoch, step[0], self._fit.place())
            yield step
            self._batches += each

    def _due(self):
        if self.save_freq and self.save_freq != "epoch" and self._batches >= self.save_freq:
            return True
        return self.save_secs is not None and time.monotonic() - self._time >= self.save_secs

    # -- saving --------------------------------------------------------------------------

    def _files(self):
        return _durable.numbered(self.backup_dir, "backup-", ".npz")

    def _save(self, epoch, batch, place):
        model, fit = self.model, self._fit  # on JAX, `model` brings its variables up to date
        arrays, described = [], {}
        for group, found in _fit.variables(model).items():
            values = [keras.ops.convert_to_numpy(v) for v in found]
            described[group] = [{"path": v.path, "dtype": str(a.dtype), "shape": list(a.shape)} for v, a in zip(found, values)]
            arrays += values
        document = {
            "version": infeed.__version__, "keras": keras.__version__, "backend": keras.backend.backend(),
            "epoch": epoch, "batch": batch, "stopped": bool(model.stop_training),
            "steps_per_epoch": fit.steps_per_epoch, "steps_per_execution": fit.steps_per_execution,
            "data": _place.state(fit.session, *place, arrays),
            "callbacks": {n: _archive.pack(_callback_state.state(c), arrays, n) for n, c in self._with_state().items()},
            "random": _archive.pack(_random_state(), arrays),
            "variables": described}
        os.makedirs(self.backup_dir, exist_ok=True)
        files = self._files()
        number = max(files, default=0) + 1
        _archive.write(os.path.join(self.backup_dir, f"backup-{number}.npz"), document, arrays)
        for old in list(files)[:-1] if self.double_checkpoint else files:
            _durable.remove(files[old])
        self._batches, self._time = 0, time.monotonic()

    def _with_state(self):
        """The callbacks whose state is saved, by name."""
        every = [c for c in self._fit.callbacks if c is not self]
        return _callback_state.named(every + [c for c in self._given if all(c is not e for e in every)])

    # -- loading -------------------------------------------------------------------------

    def _read(self):
        """The latest backup that is whole, as (document, arrays); None: there is none."""
        _durable.sweep(self.backup_dir, "backup-", ".npz")
        files = list(self._files().values())
        while files:
            try:
                return _archive.read(files[-1])
            except DataLossError as e:
                if len(files) == 1:
                    raise _checkpoint.damaged(e, "there is no older one: remove it to start from the beginning; "
                                              "double_checkpoint=True keeps an older one") from None
                warnings.warn(f"{e}; the training goes on from the backup before it, {files[-2]}", stacklevel=2)
                files.pop()
        return None

    def _begin(self, document, arrays):
        """Has fit begin where a backup says, or refuses it."""
        fit, model = self._fit, self.model
        self._check(document)
        _place.check(document["data"], fit.session)
        _build(document, model, fit.session.dataset)
        fit.go_on(document["data"]["position"], document["batch"])  # torch's loaders draw a number when they are made
        self._apply(document, arrays)
        _place.arm(document["data"], fit.session, document["batch"], arrays)
        epoch = fit.epochs if document["stopped"] else document["epoch"]
        self._put_back = _fit.begin_at(model, epoch)

    def _check(self, document):
        fit = self._fit
        if document["steps_per_epoch"] != fit.steps_per_epoch:
            raise StateMismatchError(f"the backup in {self.backup_dir} is of a training with steps_per_epoch="
                                     f"{document['steps_per_epoch']}, and it is {fit.steps_per_epoch}")
        if document["batch"] % fit.steps_per_execution:
            raise StateMismatchError(f"the backup in {self.backup_dir} was made before batch {document['batch']} with "
                                     f"steps_per_execution={document['steps_per_execution']}; {fit.steps_per_execution} steps at a "
                                     "time do not begin there")

    def _apply(self, document, arrays):
        """Makes everything as it was when the backup was made."""
        rest = iter(arrays)
        for group, described in document["variables"].items():
            if group == "random" and described:
                _fit.global_seed_generator(make=True)
            for v, _ in zip(_fit.variables(self.model)[group], described):
                _assign(v, next(rest))
        callbacks = self._with_state()
        for name, found in document["callbacks"].items():
            if name in callbacks:
                _callback_state.load(callbacks[name], _archive.unpack(found, arrays))
        _load_random_state(_archive.unpack(document["random"], arrays))


def _frequency(save_freq, save_secs):
    if save_secs is not None and (isinstance(save_secs, bool) or not isinstance(save_secs, (int, float)) or not save_secs > 0):
        raise InvalidArgumentError(f"save_secs is {save_secs!r}; it must be a number of seconds above 0, or None")
    if save_freq is False and save_secs is None:
        raise InvalidArgumentError("save_freq=False saves nothing by itself: give save_secs with it")
    if save_freq == "epoch" or save_freq is False:
        return save_freq
    if isinstance(save_freq, bool) or not hasattr(save_freq, "__index__") or save_freq < 1:
        raise InvalidArgumentError(f"save_freq is {save_freq!r}; it must be \"epoch\", a number of batches from 1 on, or False")
    return save_freq.__index__()


# -- the model ---------------------------------------------------------------------------


def _differences(document, model):
    """How a model's variables differ from those of a backup; empty: they do not."""
    found, current = [], _fit.variables(model)
    for group in ("model", "optimizer", "metrics"):
        was = [(d["path"], d["dtype"], d["shape"]) for d in document["variables"][group]]
        is_ = [(v.path, str(keras.backend.standardize_dtype(v.dtype)), list(v.shape)) for v in current[group]]
        if len(was) != len(is_):
            found.append(f"the {group} had {len(was)} variables and has {len(is_)}")
        found += [f"variable {a[0]} of the {group} was {a[1]}{a[2]} and {b[0]} is {b[1]}{b[2]}"
                  for a, b in zip(was, is_) if a[1:] != b[1:]]
    return found


def _build(document, model, dataset):
    """Has a model and its optimizer and metrics make their variables, where the first step would; or refuses the backup."""
    optimizer = getattr(model, "optimizer", None)
    if not _differences(document, model):
        return
    if not model.built or len(_fit.variables(model)["metrics"]) != len(document["variables"]["metrics"]):
        model.test_on_batch(*keras.utils.unpack_x_y_sample_weight(_first_batch(dataset)))
        model.reset_metrics()
    if optimizer is not None and not optimizer.built:
        optimizer.build(model.trainable_variables)
    if differences := _differences(document, model):
        raise StateMismatchError("the backup is of a training of another model: " + "; ".join(differences[:3]))


def _first_batch(dataset):
    walk = dataset._infeed_walk(length=length_of(dataset), shuffle=False, pass_=_context.EVALUATION, start=0, look=True)
    try:
        return for_keras(walk.next())
    finally:
        walk.close()


def _assign(variable, array):
    if array.dtype.kind == "V":  # NumPy's files have no name for bfloat16 and its like
        array = array.view(keras.ops.convert_to_numpy(variable).dtype)
    variable.assign(array)


# -- random numbers ----------------------------------------------------------------------


def _random_state():
    version, numbers, gauss = random.getstate()
    found = {"python": [version, np.array(numbers, "uint64"), gauss], "numpy": np.random.get_state(legacy=False)}
    if "torch" in sys.modules:
        found["torch"] = sys.modules["torch"].get_rng_state().numpy()
    return found


def _load_random_state(found):
    version, numbers, gauss = found["python"]
    random.setstate((version, tuple(numbers.tolist()), gauss))
    np.random.set_state(found["numpy"])
    if "torch" in found and "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.set_rng_state(torch.from_numpy(found["torch"]))
