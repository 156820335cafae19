"""infeed.Dataset: an immutable definition of a sequence of elements."""

import base64
import itertools
import os

from infeed import _advice, _arguments, _definition, _options, _template
from infeed._errors import Error, InvalidArgumentError
from infeed._iterator import Iterator
from infeed._snapshot import Snapshots
from infeed._sources import Sources
from infeed._transformations import Transformations

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
AUTOTUNE = -1

MOST_WORKERS = 8  # by default; gathering rows is bound by memory
MOST_THREADS = 1 << 10  # that call functions, however many are asked for


class Dataset(Sources, Transformations, Snapshots):
    """A sequence of elements, described and not yet made. Every method returns a new one.

    An element is a component, or nested tuples, dicts and named tuples of them;
    components come as NumPy arrays, and text as `bytes`. The k-th `iter` over a
    dataset object is pass k, from 0.

    Example:
        >>> import infeed
        >>> ds = infeed.Dataset.from_tensor_slices({"x": [[1., 2.], [3., 4.], [5., 6.]], "y": [0, 1, 0]})
        >>> ds = ds.shuffle(seed=1).batch(2)
        >>> len(ds)
        2
        >>> for batch in ds:
        ...     print(batch["x"].shape, batch["y"].dtype)
        (2, 2) int32
        (1, 2) int32
    """

    def __init__(self, node, options=None):
        """For infeed's own use; datasets begin with a source such as `from_tensor_slices`."""
        self._node = node
        self._options = options or _options.Options()
        self._passes = itertools.count()
        self._seeds = None  # those of a state that was loaded

    def __getattr__(self, name):  # of what is not there
        raise AttributeError(_advice.missing("infeed.Dataset", name))

    @staticmethod
    def _of(node, options=None):
        return Dataset(node, options)

    def _apply(self, op, args=None, structure=None, inputs=()):
        """The dataset of an operation on this one, and on others."""
        options = self._options
        for other in inputs:
            options = other._options.merge(options)
        return Dataset(_definition.Node(op, args, (self._node, *(d._node for d in inputs)), structure), options)

    def with_options(self, options, name=None):
        """The dataset with these options, and what was set before where they say nothing.

        Example: see `Options`.
        """
        if not isinstance(options, _options.Options):
            raise InvalidArgumentError(f"with_options: Options are needed, not {type(options).__name__}")
        return Dataset(self._node, self._options.merge(options))

    # -- what it is ------------------------------------------------------------------

    @property
    def element_spec(self):
        """The specs of an element's components, in the structure of an element."""
        return self._node.structure.pack(self._node.specs)

    def options(self):
        """A copy of the options of this dataset."""
        return _options.Options().merge(self._options)

    def cardinality(self, name=None):
        """How many elements a pass has: an int, `infeed.INFINITE_CARDINALITY` (-1) or `infeed.UNKNOWN_CARDINALITY` (-2).

        Example:
            >>> import infeed
            >>> infeed.Dataset.from_tensor_slices([1, 2, 3]).repeat().cardinality() == infeed.INFINITE_CARDINALITY
            True
        """
        return self._node.handle().cardinality

    def __len__(self):
        n = self.cardinality()
        if n == INFINITE_CARDINALITY:
            raise TypeError("the dataset is infinite and has no length")
        if n == UNKNOWN_CARDINALITY:
            raise TypeError("the length of the dataset is not known before it was read; assert_cardinality(n) tells it")
        return n

    def __bool__(self):
        return True

    def __repr__(self):
        try:
            spec = self.element_spec
        except Exception as e:  # of the user's functions, too: a debugger shows the dataset all the same
            spec = f"not known: {e if isinstance(e, Error) else f'{type(e).__name__}: {e}'}"
        return f"<infeed.{type(self).__name__} {'.'.join(n.op for n in self._node.nodes())} element_spec={spec}>"

    # -- elements ------------------------------------------------------------------------

    def __getitem__(self, index):
        """Element index of pass 0; a negative index counts from the end.

        Raises IndexError outside, and TypeError for what is no int.

        Example:
            >>> import infeed
            >>> infeed.Dataset.from_tensor_slices([1, 2, 3]).batch(2)[-1]
            array([3], dtype=int32)
        """
        if isinstance(index, bool) or not hasattr(index, "__index__"):
            raise TypeError(f"a dataset is indexed by an int, not {type(index).__name__}; use take and skip for parts")
        handle = self._ready()
        i, n = index.__index__(), handle.cardinality
        at = i + n if i < 0 <= n else i
        if not handle.indexed:
            raise TypeError("the elements of this dataset come one after the other only; explain() says which operation is why")
        if at < 0 or 0 <= n <= at or at >= 1 << 48:
            raise IndexError(f"element {i} of a dataset of {'infinite' if n < 0 else n} elements")
        if handle.calls:
            return self._called_element(at)
        return handle.element(self._node, at)

    def _called_element(self, at):
        """Element at, made with the help of functions of Python."""
        it = self.skip(at).iterator(epoch=0)
        try:
            return next(it)
        finally:
            it.close()

    def __iter__(self):
        return Iterator(self, next(self._passes))

    def iterator(self, epoch=None, shard=None):
        """An iterator over the pass `epoch`; None: the next one, as `iter`.

        shard: (n, i) for the i-th of n readers, which share the elements of the pass: it
        gives every n-th, from element i on. Readers that are in lock step have the same
        state, and any number of readers goes on from it, in the same order. Raises
        InvalidArgumentError for a negative epoch or a shard that does not exist.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(seed=1)
            >>> list(ds.iterator(epoch=3)) == list(ds.iterator(epoch=3))
            True
            >>> two = [infeed.Dataset.range(7).iterator(shard=(2, i)) for i in range(2)]
            >>> [int(next(it)) for it in two]
            [0, 1]
            >>> three = [infeed.Dataset.range(7).iterator(shard=(3, i)) for i in range(3)]
            >>> for it in three:
            ...     it.load_state_dict(two[0].state_dict())
            >>> [[int(x) for x in it] for it in three]
            [[2, 5], [3, 6], [4]]
        """
        if shard is not None:
            shard = _arguments.shard("iterator: shard", shard)
        if epoch is None:
            return Iterator(self, next(self._passes), shard)
        epoch = _arguments.integer("iterator", "epoch", epoch)
        if epoch < 0:
            raise InvalidArgumentError(f"iterator: epoch is {epoch}; it must be at least 0")
        return Iterator(self, epoch, shard)

    def as_numpy_iterator(self):
        """The same as `iter`: elements are NumPy arrays already."""
        return iter(self)

    def to_keras(self, steps=None):
        """This dataset as a `keras.utils.PyDataset`, for `fit`, `evaluate` and `predict`.

        steps: how many elements an epoch has; None: a whole pass. A dataset without
        end needs steps, here or as `fit(steps_per_epoch=)`. A length that is not known,
        as behind filter, is counted by going through a pass once; `assert_cardinality`
        tells it. Elements must be batches
        as Keras takes them: x, (x, y), (x, y, sample_weight), with x an array, tuple
        or dict. Raises InvalidArgumentError for steps below 1.

        Example:
            >>> import numpy as np, keras, infeed
            >>> x, y = np.ones((64, 3), "float32"), np.ones((64, 1), "float32")
            >>> ds = infeed.Dataset.from_tensor_slices((x, y)).shuffle(seed=1).batch(16)
            >>> model = keras.Sequential([keras.layers.Dense(1)])
            >>> model.compile("sgd", "mse")
            >>> history = model.fit(ds.to_keras(), epochs=2, verbose=0)
            >>> len(history.epoch)
            2
        """
        if steps is not None and (steps := _arguments.integer("to_keras", "steps", steps)) < 1:
            raise InvalidArgumentError(f"to_keras: steps is {steps}; it must be at least 1, or None for a whole pass")
        from infeed import keras

        return keras.FromDataset(self, steps)

    def to_torch(self):
        """This dataset for a training loop of torch: iterate it as a `torch.utils.data.DataLoader`.

        Elements come as tensors; each `iter` is the next pass. It has `state_dict` and
        `load_state_dict` as torchdata's StatefulDataLoader.

        Example:
            >>> import infeed
            >>> try:
            ...     import torch
            ... except ImportError:
            ...     shapes = [(2,), (1,)]
            ... else:
            ...     shapes = [tuple(b.shape) for b in infeed.Dataset.range(3).batch(2).to_torch()]
            >>> shapes
            [(2,), (1,)]
        """
        from infeed.torch import Loader

        return Loader(self)

    def to_jax(self, sharding=None):
        """An iterator over the next pass whose elements are arrays on a device of JAX, one ahead.

        sharding: where to put them, a `jax.sharding.Sharding` or a device; None: the
        default device. It has `get_state` and `set_state`. As everywhere in JAX, values
        have 32 bits unless `jax_enable_x64` is set. Raises InvalidArgumentError for ints
        that do not fit then, and for text.

        Example:
            >>> import infeed
            >>> [(b.shape, str(b.dtype)) for b in infeed.Dataset.range(3).batch(2).to_jax()]
            [((2,), 'int32'), ((1,), 'int32')]
        """
        from infeed.jax import DeviceIterator

        return DeviceIterator(self, sharding)

    def explain(self):
        """What the dataset does, in words: for each operation whether it runs natively or as Python and why, and how it resumes.

        Example:
            >>> import infeed
            >>> lines = infeed.Dataset.range(3).map(lambda x: x + 1).explain().splitlines()
            >>> print(lines[1].partition(": ")[2])
            3 elements; random access; <lambda> runs natively; resumes by seek: a number
        """
        from infeed._explain import explain

        self._ready()
        return explain(self)

    # -- the engine -------------------------------------------------------------------------

    def _continue_after(self, pass_, seeds):
        """Makes the next `iter` the pass after this one, with the same seeds."""
        self._passes, self._seeds = itertools.count(pass_ + 1), seeds

    def _ready(self):
        """What the engine made of the definition, now that it is to run."""
        if self._node._handle is not None and self._node._handle.settled:
            return self._node.handle()
        for node in self._node.nodes():
            node.look()
            for function in node.functions():
                function.compare()
        return self._node.handle()

    def _threads(self):
        """How many threads call functions; 0: the one that waits for elements."""
        threads = 0
        for node in self._node.nodes():
            for f in node.functions():
                if f.calls is not None and f.calls_python():
                    threads = max(threads, self._default_workers() if f.calls == AUTOTUNE else f.calls)
        return min(threads, MOST_THREADS)

    def _workers(self, threads):
        """How many workers the engine has beside so many threads; 0: the thread that waits for elements makes them."""
        return max(_options.workers(self.options(), self._default_workers()), threads, int(self._node.handle().calls))

    @staticmethod
    def _default_workers():
        return min(len(os.sched_getaffinity(0)), MOST_WORKERS)

    def __getstate__(self):
        return {**self.__dict__, "_passes": None}

    def __setstate__(self, state):
        self.__dict__.update(state, _passes=itertools.count())

    def __reduce_ex__(self, protocol):
        # Functions of elements may be lambdas, or of __main__.
        import cloudpickle

        return _unpickled, (type(self), cloudpickle.dumps(self.__getstate__()))


def of_text(structure, text):
    """The dataset that a component of kind "dataset" is."""
    if (given := _template.argument(text, _template.Bytes)) is not None:
        args = {"structure": structure.document(), "data": given}
        return Dataset(_template.InputNode("dataset_of", args, *structure.example))
    args = {"structure": structure.document(), "data": base64.b64encode(text).decode()}
    return Dataset(_definition.Node("dataset_of", args, structure=structure.example[0]))


def _unpickled(cls, state):
    import pickle

    ds = cls.__new__(cls)
    ds.__setstate__(pickle.loads(state))
    return ds
