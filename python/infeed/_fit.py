"""A `fit` of Keras's that is under way: what has no public name, in one place.

Used of Keras are: the local names `epoch_iterator`, `callbacks` and `epochs` of
`fit`; of the epoch iterator `_enumerate_iterator`, which gives (first step, last step,
iterator) for each call of the train step, `_get_iterator`, `_current_iterator`,
`_steps_seen` and the public `steps_per_epoch`, `steps_per_execution` and
`data_adapter`; `CallbackList.callbacks`; `model._initial_epoch`, as Keras's own
BackupAndRestore does; and the generator of unseeded random numbers.
tests_py/state/test_fit.py tells when a new version of Keras differs.
"""

import weakref

from infeed._errors import InternalError, InvalidArgumentError
from infeed._session import Session


class Fit:
    """The `fit` in whose on_train_begin a callback is. Keeps nothing of it alive."""

    def __init__(self, frame):
        found = _locals_of_fit(frame)
        self._iterator = weakref.ref(found["epoch_iterator"])
        self._callbacks = weakref.ref(found["callbacks"])
        self.epochs = found["epochs"]
        self.initial_epoch = found["initial_epoch"]
        session = self.session
        if session is None:
            raise InvalidArgumentError("BackupAndRestore continues trainings on an infeed.keras.PyDataset, or on a Dataset with "
                                       "to_keras(); this fit was given other data (infeed.keras.accelerate wraps any PyDataset)")
        missing = [n for n in ("_enumerate_iterator", "_get_iterator", "_current_iterator", "_steps_seen", "steps_per_execution")
                   if not hasattr(found["epoch_iterator"], n)]
        if missing:
            raise _unknown(f"its epoch iterator has no {', '.join(missing)}")

    @property
    def iterator(self):
        return self._iterator()

    @property
    def session(self):
        """infeed's session of the dataset that is trained on; None where the data are not infeed's."""
        return next((v for v in vars(self.iterator.data_adapter).values() if isinstance(v, Session)), None)

    # -- callbacks ---------------------------------------------------------------------

    @property
    def callbacks(self):
        return self._callbacks().callbacks

    def is_last(self, callback):
        """Whether Keras comes to a callback after all others.

        If not, it is put at the end; Keras, which is going through the list, comes
        to it again.
        """
        every = self.callbacks
        if every[-1] is not callback:
            every.append(callback)
            return False
        if sum(c is callback for c in every) > 1:
            self._callbacks().callbacks = [c for c in every if c is not callback] + [callback]
        return True

    # -- steps -------------------------------------------------------------------------

    @property
    def steps_per_epoch(self):
        return self.iterator.steps_per_epoch

    @property
    def steps_per_execution(self):
        return self.iterator.steps_per_execution

    def through(self, steps):
        """Has every epoch go through steps(generator of the epoch's steps) instead of through the generator itself."""
        iterator = self._iterator  # not itself: it would never be freed

        def enumerate_():
            it = iterator()
            return steps(type(it)._enumerate_iterator(it))

        self.iterator._enumerate_iterator = enumerate_

    def place(self):
        """(pass, position) of the step that the generator of steps gave last."""
        return self.session.current, self.iterator._steps_seen - self.steps_per_execution

    def place_after_epoch(self):
        """(pass, position) of the step that comes next, at the end of an epoch."""
        it, session = self.iterator, self.session
        goes_on = it.steps_per_epoch is not None and it._current_iterator is not None and it._steps_seen > 0
        return (session.current, it._steps_seen) if goes_on else (session.current + 1, 0)

    def go_on(self, position, batch):
        """Has the epoch that begins next go on with a pass, where batch `batch` of the epoch is the one at a position."""
        it = self.iterator
        if it.steps_per_epoch is not None:
            it._current_iterator = iter(it._get_iterator())
            it._steps_seen = position - batch


def _locals_of_fit(frame):
    while frame is not None:
        if frame.f_code.co_name == "fit" and {"epoch_iterator", "callbacks", "epochs", "initial_epoch"} <= frame.f_locals.keys():
            return dict(frame.f_locals)
        frame = frame.f_back
    raise _unknown("its fit has other names")


def _unknown(what):
    import keras

    return InternalError(f"infeed.keras.BackupAndRestore does not know this version of Keras ({keras.__version__}): {what}. Use a "
                         "version that infeed was tested with, and report both versions")


# -- the model -----------------------------------------------------------------------------


def variables(model):
    """The variables of a model that training changes, by group: all that it has, the optimizer's, metrics', and seeds."""
    groups, seen = {}, set()
    optimizer = getattr(model, "optimizer", None)
    for name, found in (("model", model.variables), ("optimizer", optimizer.variables if optimizer is not None else ()),
                        ("metrics", model.metrics_variables)):
        groups[name] = [v for v in found if id(v) not in seen and not seen.add(id(v))]
    generator = global_seed_generator(make=False)
    groups["random"] = [] if generator is None else [generator.state]
    return groups


def global_seed_generator(make):
    """Keras's generator for random numbers without a seed; None: nobody needed it yet."""
    from keras.src.backend.common import global_state
    from keras.src.random import seed_generator

    if make:
        return seed_generator.global_seed_generator()
    return global_state.get_global_attribute(seed_generator.GLOBAL_SEED_GENERATOR)


def begin_at(model, epoch):
    """Has fit begin with an epoch; returns what puts it back."""
    before = model._initial_epoch
    model._initial_epoch = epoch

    def put_back():
        model._initial_epoch = before

    return put_back
