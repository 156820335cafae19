"""infeed.Dataset: an immutable definition of a sequence of elements."""

import itertools
import os
import threading

import numpy as np

from infeed import _definition, _native
from infeed._errors import ForkedProcessError, InvalidArgumentError
from infeed._iterator import _U64, Decoder, Iterator
from infeed._options import Options
from infeed._spec import Structure, TensorSpec

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2

MOST_WORKERS = 8  # by default; gathering rows is bound by memory

_opening = threading.Lock()


class Dataset:
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

    def __init__(self, node, structure, specs, dtypes, options=None):
        """For infeed's own use; datasets begin with `from_tensor_slices`."""
        self._node, self._structure, self._specs, self._dtypes = node, structure, specs, dtypes
        self._options = options or Options()
        self._handle = None
        self._passes = itertools.count()

    # -- sources ---------------------------------------------------------------

    @classmethod
    def from_tensor_slices(cls, tensors, name=None):
        """The dataset of the rows of arrays.

        tensors: an array, or nested tuples, dicts and named tuples of arrays with the
        same first dimension. Arrays are used in place, not copied, unless they are
        not contiguous: what is written to them later is seen. Lists become arrays,
        of int32 and float32 where TensorFlow makes them so; str and bytes in them are
        kept exactly, those in arrays without the NULs at their end, as NumPy has them.
        Raises InvalidArgumentError for what cannot be sliced, and for masked arrays.

        Example:
            >>> import numpy as np, infeed
            >>> x, y = np.zeros((10, 4), "float32"), np.arange(10)
            >>> infeed.Dataset.from_tensor_slices((x, y)).element_spec
            (TensorSpec(shape=(4,), dtype=float32), TensorSpec(shape=(), dtype=int64))
        """
        structure, leaves = Structure.of(tensors)
        arrays, dtypes = _definition.slices(leaves)
        specs = [TensorSpec(a.shape[1:], dtype) for a, dtype in zip(arrays, dtypes)]
        return cls(_definition.Slices(structure, arrays), structure, specs, [a.dtype for a in arrays])

    # -- transformations ----------------------------------------------------------

    def shuffle(self, buffer_size=None, seed=None, reshuffle_each_iteration=True, name=None):
        """The elements in an order that is a function of seed and pass.

        buffer_size: 1 leaves the order as it is; any other, or None, shuffles the
        whole dataset in memory that does not grow with it. An infinite dataset is
        shuffled within windows of buffer_size elements. seed: an int; None draws
        one, which `state_dict` tells. reshuffle_each_iteration: False gives each
        pass, and each repetition, the same order.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(seed=7)
            >>> sorted(int(x) for x in ds)
            [1, 2, 3, 4]
        """
        if buffer_size is not None and not (size := _int("shuffle", "buffer_size", buffer_size)) > 0:
            if size != UNKNOWN_CARDINALITY:
                raise InvalidArgumentError(f"shuffle: buffer_size is {size}; it must be at least 1, or None for all")
            buffer_size = None
        args = {"buffer_size": None if buffer_size is None else int(buffer_size), "drawn": seed is None,
                "same_each_pass": reshuffle_each_iteration is not None and not reshuffle_each_iteration}
        args["seed"] = int.from_bytes(os.urandom(7), "little") if seed is None else _int("shuffle", "seed", seed, _U64) & _U64
        return self._apply("shuffle", args)

    def repeat(self, count=None, name=None):
        """The dataset count times over; None or -1: without end. Each repetition is shuffled anew.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.from_tensor_slices([1, 2]).repeat(2)]
            [1, 2, 1, 2]
        """
        count = -1 if count is None else _int("repeat", "count", count)
        return self._apply("repeat", {"count": max(count, -1)})

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Stacks batch_size consecutive elements into one; the last batch has what is left.

        drop_remainder: leave out a last batch that is not full. num_parallel_calls
        and deterministic are accepted and change nothing.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_tensor_slices([1, 2, 3]).batch(2)
            >>> list(ds)
            [array([1, 2], dtype=int32), array([3], dtype=int32)]
        """
        size = _int("batch", "batch_size", batch_size)
        if size < 1:
            raise InvalidArgumentError(f"batch: batch_size is {size}; it must be at least 1")
        drop = bool(drop_remainder)
        specs = [TensorSpec((size if drop else None, *s.shape), s.dtype) for s in self._specs]
        return self._apply("batch", {"batch_size": size, "drop_remainder": drop}, specs)

    def take(self, count, name=None):
        """The first count elements; -1: all.

        Example:
            >>> import infeed
            >>> len(infeed.Dataset.from_tensor_slices([1, 2, 3]).take(2))
            2
        """
        return self._apply("take", {"count": max(_int("take", "count", count), -1)})

    def skip(self, count, name=None):
        """What comes after the first count elements; -1: nothing.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.from_tensor_slices([1, 2, 3]).skip(2)]
            [3]
        """
        return self._apply("skip", {"count": max(_int("skip", "count", count), -1)})

    def shard(self, num_shards, index, name=None):
        """Every num_shards-th element, from element index on.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.from_tensor_slices([1, 2, 3, 4]).shard(2, 1)]
            [2, 4]
        """
        shards, index = _shard("shard", (num_shards, index))
        return self._apply("shard", {"num_shards": shards, "index": index})

    def with_options(self, options, name=None):
        """The dataset with these options, and what was set before where they say nothing.

        Example: see `Options`.
        """
        if not isinstance(options, Options):
            raise InvalidArgumentError(f"with_options: Options are needed, not {type(options).__name__}")
        return Dataset(self._node, self._structure, self._specs, self._dtypes, self._options.merge(options))

    def _apply(self, op, args, specs=None):
        node = _definition.Node(op, args, (self._node,))
        return Dataset(node, self._structure, specs or self._specs, self._dtypes, self._options)

    # -- what it is ------------------------------------------------------------------

    @property
    def element_spec(self):
        """The specs of an element's components, in the structure of an element."""
        return self._structure.pack(self._specs)

    def options(self):
        """A copy of the options of this dataset."""
        return Options().merge(self._options)

    def cardinality(self, name=None):
        """How many elements a pass has: an int, or `infeed.INFINITE_CARDINALITY` (-1).

        Example:
            >>> import infeed
            >>> infeed.Dataset.from_tensor_slices([1, 2, 3]).repeat().cardinality() == infeed.INFINITE_CARDINALITY
            True
        """
        self._open()
        return self._handle.cardinality

    def __len__(self):
        n = self.cardinality()
        if n == INFINITE_CARDINALITY:
            raise TypeError("the dataset is infinite and has no length")
        return n

    def __bool__(self):
        return True

    def __repr__(self):
        return f"<infeed.Dataset {'.'.join(self._node.names())} element_spec={self.element_spec}>"

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
        i, n = index.__index__(), self.cardinality()
        at = i + n if i < 0 <= n else i
        if at < 0 or 0 <= n <= at or at >= 1 << 48:
            raise IndexError(f"element {i} of a dataset of {'infinite' if n < 0 else n} elements")
        return self._handle.element(0, at, Decoder(self))

    def __iter__(self):
        return Iterator(self, next(self._passes))

    def iterator(self, epoch=None, shard=None):
        """An iterator over the pass `epoch`; None: the next one, as `iter`.

        shard: (n, i) for the i-th of n readers, which share the elements of the pass.
        Raises InvalidArgumentError for a negative epoch or a shard that does not exist.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(seed=1)
            >>> list(ds.iterator(epoch=3)) == list(ds.iterator(epoch=3))
            True
        """
        if shard is not None:
            shard = _shard("iterator: shard", shard)
        if epoch is None:
            return Iterator(self, next(self._passes), shard)
        epoch = _int("iterator", "epoch", epoch)
        if epoch < 0:
            raise InvalidArgumentError(f"iterator: epoch is {epoch}; it must be at least 0")
        return Iterator(self, epoch, shard)

    def as_numpy_iterator(self):
        """The same as `iter`: elements are NumPy arrays already."""
        return iter(self)

    def to_keras(self, steps=None):
        """This dataset as a `keras.utils.PyDataset`, for `fit`, `evaluate` and `predict`.

        steps: how many elements an epoch has; None: a whole pass. A dataset without
        end needs steps, here or as `fit(steps_per_epoch=)`. Elements must be batches
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
        if steps is not None and (steps := _int("to_keras", "steps", steps)) < 1:
            raise InvalidArgumentError(f"to_keras: steps is {steps}; it must be at least 1, or None for a whole pass")
        from infeed import keras

        return keras.FromDataset(self, steps)

    # -- the engine -------------------------------------------------------------------------

    def _continue_after(self, pass_):
        """Makes the next `iter` the pass after this one."""
        self._passes = itertools.count(pass_ + 1)

    def _open(self):
        """The engine's handle of the definition."""
        if self._handle is None:
            _native.check_fork()
            with _opening:
                if self._handle is None:
                    self._handle = _Handle(self._node)
        return self._handle.number

    @staticmethod
    def _default_workers():
        return min(len(os.sched_getaffinity(0)), MOST_WORKERS)

    def __getstate__(self):
        return {**self.__dict__, "_handle": None, "_passes": None}

    def __setstate__(self, state):
        self.__dict__.update(state, _passes=itertools.count())


class _Handle:
    """A definition that the engine has opened. It keeps the arrays that the engine reads."""

    def __init__(self, node):
        call = _native.Call()
        call("dataset_open", node.document())
        self.node = node
        self.number = call.struct.handle
        self.cardinality, self._bytes = call.struct.out[0], call.struct.out[1]

    def element(self, pass_, index, decode):
        """Element index of a pass, in memory of its own."""
        memory = np.empty(self._bytes, np.uint8)
        call = _native.Call(self.number)
        s = call.struct
        s.arg[0], s.arg[1] = pass_, index
        s.data, s.data_bytes = memory.ctypes.data, memory.nbytes
        status = _native.library().infeed_dataset_at(call.address)
        if status < 0:
            raise call.error(status)
        return decode(memory, s.out[0])[0]

    def __del__(self):
        number, self.number = getattr(self, "number", 0), 0
        if number:
            try:
                _native.Call(number)("close")
            except ForkedProcessError:  # there is nothing to close in a fork
                pass


def _int(op, name, value, most=_U64 >> 1):
    """An int argument; floats and bools are refused as they hide mistakes."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise InvalidArgumentError(f"{op}: {name} is {value!r}; an int is needed")
    if not -1 << 63 <= (number := value.__index__()) <= most:
        limit = f"at most {most}" if number > most else f"at least {-1 << 63}"
        raise InvalidArgumentError(f"{op}: {name} is {_shown(number)}; it must be {limit}")
    return number


def _shown(number):
    """An int for a message; Python refuses to write out those of thousands of digits."""
    return str(number) if number.bit_length() < 512 else f"an int of {number.bit_length()} bits"


def _shard(op, shard):
    try:
        n, i = shard
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{op} is {shard!r}; (how many readers, which of them) is needed") from None
    n, i = _int(op, "num_shards", n), _int(op, "index", i)
    if n < 1 or not 0 <= i < n:
        raise InvalidArgumentError(f"{op}: index {i} of num_shards {n}; 0 <= index < num_shards is needed")
    return n, i
