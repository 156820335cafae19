"""infeed for Keras: a PyDataset that model.fit, evaluate and predict take as it is.

In worker processes this module does without Keras, which takes seconds to import.
"""

import sys

from infeed import _context
from infeed import _dataset_walk
from infeed import _pydataset
from infeed._engine import engine

__all__ = ["PyDataset", "BackupAndRestore", "accelerate", "audit"]

if _context.in_worker:
    PyDataset = _pydataset.KerasDataset
else:
    import keras as _keras

    from infeed._session import probe as _probe

    class PyDataset(_pydataset.PyDataset, _keras.utils.PyDataset):
        """`infeed.PyDataset` that is a `keras.utils.PyDataset` too.

        A subclass defines `__len__` (or `num_batches`) and `__getitem__(index)`, which
        returns a batch: x, (x,), (x, y), (x, y, sample_weight) or a dict. Pass it to
        `model.fit`, `evaluate` or `predict`. Arguments, and what is raised, as in
        `infeed.PyDataset`; `shuffle=None` does as `fit(shuffle=)` says.

        Keras is told workers=1 whatever the number: the work is done behind it, by
        as many workers as `parallelism` says.

        Example:
            >>> import numpy as np, keras, infeed.keras
            >>> class Data(infeed.keras.PyDataset):
            ...     def __len__(self):
            ...         return 4
            ...     def __getitem__(self, index):
            ...         x = np.full((8, 2), index, "float32")
            ...         return x, x.sum(axis=1)
            >>> model = keras.Sequential([keras.layers.Dense(1)])
            >>> model.compile("sgd", "mse")
            >>> history = model.fit(Data(workers=2), epochs=2, verbose=0)
            >>> len(history.history["loss"])
            2
        """

        @property
        def workers(self):
            """1, which is what Keras has to see; `parallelism` has the true number."""
            _probe(self, sys._getframe(1))
            return 1

        workers = workers.setter(_pydataset.PyDataset.workers.fset)

        @property
        def use_multiprocessing(self):
            """True: workers are processes."""
            frame = sys._getframe(1)
            if frame.f_globals.get("__name__", "").startswith("keras."):
                return False
            return engine(self).processes

        use_multiprocessing = use_multiprocessing.setter(_pydataset.PyDataset.use_multiprocessing.fset)


class Accelerated(PyDataset):
    """A PyDataset that makes the batches of another one, in parallel. Made by `accelerate`."""

    def __init__(self, dataset, **options):
        super().__init__(**options)
        self.dataset = dataset

    @property
    def num_batches(self):
        return self.dataset.num_batches

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, index):
        return self.dataset[index]

    def on_epoch_begin(self):
        self.dataset.on_epoch_begin()

    def on_epoch_end(self):
        self.dataset.on_epoch_end()

    def _infeed_hooks(self):
        return self.dataset


class Tagged(Accelerated):
    """Makes the batches of another dataset in full and gives their indices instead, for `audit`."""

    def __getitem__(self, index):
        import numpy as np

        self.dataset[index]
        return np.full((1, 1), index, "float32"), np.zeros((1, 1), "float32")


class FromDataset(PyDataset):
    """An `infeed.Dataset` as Keras takes it. Made by `Dataset.to_keras`.

    Pass k of the dataset is the k-th epoch; with `steps`, an epoch is the next so many
    elements, and another pass begins where one ends. evaluate, predict and
    validation_data see pass 0 from its start each time. A length that is not known is
    counted, once, by going through a pass.
    """

    def __init__(self, dataset, steps=None):
        super().__init__(workers=0)
        self.dataset, self.steps = dataset, steps
        self._stream = None
        self._counted = None

    @property
    def num_batches(self):
        if self.steps is not None:
            return self.steps
        from infeed._dataset import UNKNOWN_CARDINALITY

        n = self.dataset.cardinality()
        if n == UNKNOWN_CARDINALITY:
            if self._counted is None:  # Keras has no other way to know where an epoch ends
                self._counted = sum(1 for _ in self.dataset.iterator(epoch=0))
            return self._counted
        return n if n >= 0 else None

    def __len__(self):
        if (n := self.num_batches) is None:
            raise TypeError("the dataset has no end; give its epochs one with to_keras(steps=)")
        return n

    def __bool__(self):
        return True

    def __getitem__(self, index):
        return self.dataset[index]

    def _begin(self, pass_):
        return self.dataset.iterator(epoch=pass_)

    def _infeed_walk(self, *, length, shuffle, pass_, start=0, look=False, restored=None):
        if look or pass_ < 0:
            iterator = self.dataset.iterator(epoch=0)
            _dataset_walk.advance(iterator, start)
            return _dataset_walk.PassWalk(iterator, 0, start, length)
        if self.steps is None:
            return _dataset_walk.PassWalk(self._begin(pass_) if restored is None else restored, pass_, start, length)
        if self._stream is None or restored is not None:
            self._stream = _dataset_walk.Stream(self._begin, restored)
        return self._stream.walk(pass_, start, length)

    def _infeed_state(self, walk, pass_, position):
        if self.steps is None and walk is not None and pass_ == walk.pass_:
            return {"iterator": walk.state(position)}
        if self.steps is not None and self._stream is not None:
            return {"iterator": self._stream.state(position if pass_ == self._stream.number else self.steps)}
        iterator = self._begin(pass_)
        found = iterator.state_dict()
        iterator.close()
        return {"iterator": found}

    def _infeed_check(self, found):
        self._infeed_resume(found).close()

    def _infeed_resume(self, found):
        iterator = self._begin(0)
        iterator.load_state_dict(found.get("iterator"))  # the passes after it keep its seeds
        return iterator


def accelerate(dataset, workers=None, use_multiprocessing=None, max_queue_size=None, *, shuffle=None, seed=None,
               timeout=None):
    """Wraps any keras.utils.PyDataset so that it keeps infeed's promises.

    Args:
        dataset: a `keras.utils.PyDataset`; it is used, not copied (worker processes
            get a copy).
        workers, use_multiprocessing, max_queue_size: as in `infeed.PyDataset`; None:
            what the dataset itself was made with.
        shuffle, seed, timeout: as in `infeed.PyDataset`.

    Returns:
        An `infeed.keras.PyDataset` for `fit`, `evaluate`, `predict` and `for` loops.

    Raises:
        InvalidArgumentError: dataset is no PyDataset.

    Example:
        >>> import keras, numpy as np, infeed.keras
        >>> class Old(keras.utils.PyDataset):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, index):
        ...         return np.full((2, 1), index), np.zeros((2, 1))
        >>> with infeed.keras.accelerate(Old(), workers=2) as ds:
        ...     [int(x[0, 0]) for x, y in ds]
        [0, 1, 2]
    """
    import keras

    if not isinstance(dataset, keras.utils.PyDataset):
        from infeed import InvalidArgumentError

        raise InvalidArgumentError(f"accelerate needs a keras.utils.PyDataset; this is a {type(dataset).__name__}")
    if isinstance(dataset, PyDataset):
        e = engine(dataset)
        own = e.workers, e.processes, e.queue
    else:
        own = dataset.workers, dataset.use_multiprocessing, dataset.max_queue_size
    given = (workers, use_multiprocessing, max_queue_size)
    workers, use_multiprocessing, max_queue_size = (o if g is None else g for o, g in zip(own, given))
    return Accelerated(dataset, workers=workers, use_multiprocessing=use_multiprocessing,
                       max_queue_size=max_queue_size, shuffle=shuffle, seed=seed, timeout=timeout)


def audit(dataset, epochs=2, **fit_options):
    """Trains a tiny model on a dataset's indices and reports what the train step saw.

    Args:
        dataset: any `keras.utils.PyDataset`, stock ones included. It is used with its
            own workers; each batch is made in full and then replaced by its index.
        epochs: how many epochs to fit.
        fit_options: passed on to `fit`, such as shuffle or steps_per_epoch.

    Returns:
        A report, printable, with fields: epochs (per epoch the indices in the order in
        which they were trained on), duplicated, missing and out_of_order (per epoch,
        lists of indices), seconds_per_batch, seconds_per_epoch_end, leftover_threads,
        leftover_processes.

    Raises:
        InvalidArgumentError: dataset is no PyDataset, or epochs is below 1.

    Example:
        >>> import keras, numpy as np, infeed.keras
        >>> class Data(infeed.keras.PyDataset):
        ...     def __len__(self):
        ...         return 5
        ...     def __getitem__(self, index):
        ...         return np.zeros((2, 3)), np.zeros((2, 1))
        >>> report = infeed.keras.audit(Data(workers=2), epochs=2, shuffle=False)
        >>> report.epochs
        [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
        >>> report.missing, report.duplicated
        ([[], []], [[], []])
    """
    from infeed import _audit

    return _audit.run(dataset, epochs, fit_options)


def __getattr__(name):
    if name != "BackupAndRestore":  # which needs Keras, and worker processes do not
        raise AttributeError(f"module 'infeed.keras' has no attribute {name!r}")
    from infeed._backup import BackupAndRestore

    globals()[name] = BackupAndRestore
    return BackupAndRestore
