"""What Keras sees instead of the dataset: one object for each adapter that Keras makes.

Keras wraps a PyDataset in an adapter and asks that for batches by index. infeed
stands in for the dataset there (see `probe`), so that each of fit's training walk,
validation, evaluate and predict has a session of its own. Keras is told that there
are no workers and not to shuffle; so the index it asks for is a position, and 0 says
that a walk begins.

What Keras draws before a training session's first on_epoch_end is only looked at
(to build the model, for TensorFlow's signature): it is not part of a pass.
"""

import threading
import warnings
import weakref

from infeed import _context, _native
from infeed._errors import CancelledError, InvalidArgumentError
from infeed._engine import engine, hooks_overridden, length_of, run_hook


class Session:
    """One adapter's way through a dataset.

    It does not keep the dataset alive, and the dataset keeps its walk: TensorFlow never
    forgets an adapter whose batches it took, while fit's own frame holds the dataset.
    """

    workers = 1
    use_multiprocessing = False

    def __init__(self, dataset, training, shuffle, steps=None):
        self._dataset = weakref.ref(dataset)
        self.training = training
        self.shuffle = shuffle
        self.looking = True
        self.lock = threading.RLock()
        # Batches of an epoch, where fit was told; see _hold_back.
        self.steps = steps if training and hooks_overridden(dataset) else None
        self.drawn = 0
        self.epoch_thread = None
        self.next_epoch = threading.Condition()
        self.ended = False
        self.length = None
        self.pass_ = None
        self.current = None  # the pass that was begun last, its end notwithstanding
        # Where a restored training goes on: see _place.
        self.first = self.armed = 0  # the position that Keras's index 0 stands for, now and in the walk that begins next
        self.resume = self.restored = None
        self.max_queue_size = engine(dataset).queue

    @property
    def dataset(self):
        found = self._dataset()
        if found is None:
            raise CancelledError("the dataset that Keras reads was deleted; keep a reference to it")
        return found

    @property
    def walk(self):
        return engine(self.dataset).of_sessions.get(self)

    # Hooks hold the lock: drawing waits while they change what is drawn.

    @property
    def num_batches(self):
        n = length_of(self.dataset)
        if n == 0:
            raise InvalidArgumentError(f"{type(self.dataset).__name__} is empty: it has length 0")
        return None if n is None else n - self.armed

    def on_epoch_begin(self):
        with self.lock:
            if not self.training:
                self.looking = False
            resume, self.resume = self.resume, None
            if resume is None or not resume.after_hook:
                run_hook(self.dataset, "on_epoch_begin")
        with self.next_epoch:
            self.drawn, self.epoch_thread = 0 if resume is None else resume.batch, threading.get_ident()
            self.next_epoch.notify_all()

    def on_epoch_end(self):
        with self.lock:
            run_hook(self.dataset, "on_epoch_end")
            if self.looking:
                self.looking = False
                self._drop()
            elif self.training and self.pass_ is not None and self.walk is not None and (
                    self.walk.position == self.length):
                engine(self.dataset).end_pass(self.pass_)
                self.pass_ = None

    def end(self):
        """Keras will draw no more: whoever is held back may go on, and the walk ends."""
        with self.next_epoch:
            self.ended = True
            self.next_epoch.notify_all()
        if self.lock.acquire(blocking=False):  # else a thread of TensorFlow's is drawing, and drops it
            try:
                self._drop()
            finally:
                self.lock.release()

    def _hold_back(self):
        """Keeps TensorFlow, which draws ahead in a thread of its own, from drawing a batch
        of the next epoch before the hooks in between have run."""
        if self.steps is None or self.looking or threading.get_ident() == self.epoch_thread:
            return
        with self.next_epoch:
            while self.drawn >= self.steps and not self.ended and not _native.exiting():
                self.next_epoch.wait(0.2)
            self.drawn += 1

    def __getitem__(self, index):
        self._hold_back()
        with self.lock:
            if index == 0:
                self.first, self.armed = self.armed, 0
            position, walk = self.first + index, self.walk
            if walk is None or position != walk.position or index == 0:
                self._begin(position)
                walk = self.walk
            try:
                batch = walk.next()
            except StopIteration:
                raise IndexError(f"batch {position} was asked for, but the dataset has {self.length}") from None
            if self.ended:
                self._drop()
            return for_keras(batch)

    def _begin(self, position):
        self._drop()
        e = engine(self.dataset)
        self.length = length_of(self.dataset)
        if not self.training:
            pass_ = _context.EVALUATION
        elif self.looking:
            pass_ = e.epoch + 1 if e.started else e.epoch
        elif position == 0 or self.pass_ is None:
            pass_ = self.pass_ = e.begin_pass()
        else:
            pass_ = self.pass_
        self.current = pass_
        more, self.restored = {} if self.restored is None else {"restored": self.restored}, None
        e.of_sessions[self] = self.dataset._infeed_walk(
            length=self.length, shuffle=self.training and self.shuffle, pass_=pass_, start=position, look=self.looking, **more)

    def _drop(self):
        dataset = self._dataset()
        walk = None if dataset is None else engine(dataset).of_sessions.pop(self, None)
        if walk is not None:
            walk.close()


def for_keras(batch):
    """Keras takes dicts, tuples and NumPy arrays; other bare arrays go into a tuple."""
    if isinstance(batch, (dict, tuple)):
        return batch
    return tuple(batch) if isinstance(batch, list) else (batch,)


def probe(dataset, frame):
    """Puts a session in the dataset's place, in the adapter that is being made.

    The one place that depends on how Keras is written. frame is the one that reads
    `dataset.workers`: if it is the constructor of an adapter of Keras's, its `self`
    has the dataset as an attribute and its `shuffle` says what fit was told. Which
    of fit's two adapters it is follows from fit's own frame further up: the
    training one is made first. Returns the session; None if the reader is not Keras;
    False, with a warning, if it is, but not as expected.
    """
    if not frame.f_globals.get("__name__", "").startswith("keras.") or frame.f_code.co_name != "__init__":
        return None
    local = frame.f_locals
    adapter = local.get("self")
    names = [k for k, v in getattr(adapter, "__dict__", {}).items() if v is dataset]
    if not names or "shuffle" not in local:
        warnings.warn(
            "infeed does not recognise how this version of Keras reads a dataset: batches are made without workers and "
            "in Keras's order; pass shuffle=True or shuffle=False to fit, and report the versions of both", stacklevel=4)
        return False
    shuffle = bool(local["shuffle"])
    training, steps = _role(frame, shuffle)
    own = engine(dataset).shuffle
    session = Session(dataset, training, shuffle if own is None else bool(own), steps)
    for name in names:
        setattr(adapter, name, session)
    adapter.shuffle = False
    _end_with_owner(session, frame)
    return session


def _role(frame, shuffle):
    """(True where the adapter is made for the batches that fit trains on, fit's steps_per_epoch)."""
    up = frame.f_back
    for _ in range(20):
        if up is None:
            break
        name = up.f_code.co_name
        if name in ("evaluate", "predict"):
            return False, None
        if name == "fit" and "epochs" in up.f_locals:
            return "epoch_iterator" not in up.f_locals, up.f_locals.get("steps_per_epoch")
        up = up.f_back
    return shuffle, None  # only fit ever shuffles


def _end_with_owner(session, frame):
    """Has the session end when Keras's iterator over epochs, which makes the adapter, is gone."""
    up = frame.f_back
    for _ in range(20):
        if up is None:
            return
        owner = up.f_locals.get("self")
        if up.f_code.co_name == "__init__" and type(owner).__name__.endswith("EpochIterator"):
            weakref.finalize(owner, session.end)
            return
        up = up.f_back
