"""Sources of datasets, as class methods of Dataset and as classes of their own."""

import os

import numpy as np

from infeed import _arguments, _arrays, _definition, _generator, _nodes, _ragged, _template
from infeed._errors import InvalidArgumentError
from infeed._spec import Structure, TensorSpec, UnknownRankSpec, dtype_of, own_spec

_LEAF = Structure("leaf")


class Sources:
    """The class methods of Dataset that make datasets of other things."""

    @classmethod
    def from_tensor_slices(cls, tensors, name=None):
        """The dataset of the rows of arrays.

        tensors: an array, or nested tuples, dicts and named tuples of arrays with the
        same first dimension. Arrays are used in place, not copied, unless they are
        not contiguous, or text: what is written to them later is seen. Lists become arrays,
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
        if (made := _template.source("slices", structure, leaves)) is not None:
            return cls._of(made)
        arrays, dtypes = _arrays.slices(leaves)
        return cls._of(_definition.Slices("from_tensor_slices", structure, arrays, dtypes))

    @classmethod
    def from_tensors(cls, tensors, name=None):
        """The dataset whose one element is `tensors`: an array, or nested arrays. Object arrays of arrays are ragged components.

        Example:
            >>> import infeed
            >>> list(infeed.Dataset.from_tensors([1, 2]).repeat(2))
            [array([1, 2], dtype=int32), array([1, 2], dtype=int32)]
        """
        structure, leaves = Structure.of(tensors)
        if not leaves:
            raise InvalidArgumentError("from_tensors: there is no component; give at least one")
        if (made := _template.source("tensors", structure, leaves)) is not None:
            return cls._of(made)
        structure, leaves = _ragged.split(tensors, "from_tensors: component")
        arrays, dtypes = [], []
        for path, value in leaves:
            a, dtype = _arrays.tensor(value, f"from_tensors: component{path}")
            arrays.append(a)
            dtypes.append(dtype)
        return cls._of(_definition.Slices("from_tensors", structure, arrays, dtypes))

    @classmethod
    def range(cls, *args, output_type="int64", name=None):
        """Numbers from start (0) up to stop, by step (1): `range(stop)`, `range(start, stop)`, `range(start, stop, step)`.

        Raises InvalidArgumentError, when the dataset is used, for numbers that output_type does not have.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(1, 10, 3)]
            [1, 4, 7]
        """
        if not 1 <= len(args) <= 3:
            raise InvalidArgumentError(f"range: {len(args)} numbers; give stop, or start and stop, and step")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        start, stop, step = (_arguments.integer("range", n, v) for n, v in (("start", start), ("stop", stop), ("step", step)))
        return cls._of(_definition.Node("range", {"start": start, "stop": stop, "step": step, "output_type": _definition.code(dtype_of(output_type, "range: output_type"))},
                                        structure=_LEAF))

    @classmethod
    def counter(cls, start=0, step=1, dtype="int64", name=None):
        """start, start + step, ... without end. Integers go round at the ends of dtype, as in tf.data.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.counter(5).take(2)]
            [5, 6]
        """
        dtype = dtype_of(dtype, "counter: dtype")
        if dtype.kind in "iu":
            start, step = _arguments.integer("counter", "start", start), _arguments.integer("counter", "step", step)
        return cls._of(_definition.Node("counter", {"start": start, "step": step, "dtype": _definition.code(dtype)}, structure=_LEAF))

    @classmethod
    def random(cls, seed=None, rerandomize_each_iteration=None, name=None):
        """Random int64 numbers from 0 to 2**32 - 1, without end, a function of seed and place.

        rerandomize_each_iteration: True gives each pass numbers of its own.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.random(seed=3).take(2)
            >>> list(ds) == list(ds)
            True
        """
        drawn, seed = seed_of("random", seed)
        return cls._of(_definition.Node("random", {"seed": seed, "drawn": drawn,
                                                   "rerandomize_each_iteration": bool(rerandomize_each_iteration)}, structure=_LEAF))

    @classmethod
    def list_files(cls, file_pattern, shuffle=None, seed=None, name=None):
        """The paths that match a pattern, or any of a list of patterns, as bytes.

        shuffle: None or True gives them in another order each pass; False sorts them.
        Raises InvalidArgumentError, when the files are listed, if no file matches.

        Example:
            >>> import infeed, tempfile, pathlib
            >>> d = pathlib.Path(tempfile.mkdtemp())
            >>> for name in "ba": (d / name).touch()
            >>> [p.decode()[-1] for p in infeed.Dataset.list_files(str(d / "*"), shuffle=False)]
            ['a', 'b']
        """
        drawn, seed = seed_of("list_files", seed)
        return cls._of(_definition.Node("list_files", {"file_pattern": paths_of(file_pattern, "list_files: file_pattern"),
                                                       "shuffle": shuffle is None or bool(shuffle), "seed": seed, "drawn": drawn},
                                        structure=_LEAF))

    @classmethod
    def from_indexable(cls, obj, *, num_parallel_calls=None):
        """The dataset of obj[0], obj[1], ... up to len(obj): random access to anything of Python's, such as a torch Dataset.

        num_parallel_calls: how many threads call obj; None: the one that waits for elements.
        Raises InvalidArgumentError for an object without `__len__` and `__getitem__`.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.from_indexable([5, 6, 7]).shuffle(seed=1).skip(2)]
            [6]
        """
        if not hasattr(obj, "__getitem__") or not hasattr(obj, "__len__"):
            raise InvalidArgumentError(f"from_indexable: {type(obj).__name__} has no __len__ and __getitem__")
        calls = None if num_parallel_calls is None else _arguments.calls("from_indexable", num_parallel_calls)
        return cls._of(_nodes.IndexableNode(obj, calls))

    @classmethod
    def from_generator(cls, generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """The elements that `generator(*args)`, a callable, yields.

        output_signature: TensorSpecs nested as elements; without it, output_types (and
        output_shapes). Where no shape is promised, the first element says how many
        dimensions there are. args: numbers, text and lists come as arrays, as in
        tf.data, and text as bytes; anything else as it is. A generator object with `state_dict` and `load_state_dict` is
        taken up from its state; others are run again to where they were.
        Raises InvalidArgumentError for a generator that cannot be called, and at their
        place for elements of another dtype or shape.

        Example:
            >>> import infeed
            >>> def count(n):
            ...     yield from range(n)
            >>> ds = infeed.Dataset.from_generator(count, output_signature=infeed.TensorSpec((), "int32"), args=(3,))
            >>> [int(x) for x in ds]
            [0, 1, 2]
        """
        if not callable(generator):
            raise InvalidArgumentError(f"from_generator: generator is {type(generator).__name__}; a callable that returns an iterable "
                                       "is needed")
        if output_signature is None:
            if output_types is None:
                raise InvalidArgumentError("from_generator: give output_signature, TensorSpecs nested as elements are")
            output_signature = _signature(output_types, output_shapes)
        elif output_types is not None or output_shapes is not None:
            raise InvalidArgumentError("from_generator: give output_signature, or output_types and output_shapes, not both")
        structure, leaves = Structure.of(output_signature)
        specs = [own_spec(spec) for _, spec in leaves]
        for (path, _), spec in zip(leaves, specs):
            if not isinstance(spec, (TensorSpec, UnknownRankSpec)):
                raise InvalidArgumentError(f"from_generator: output_signature{path} is {spec!r}; a TensorSpec is needed")
        return cls._of(_generator.GeneratorNode(generator, _generator.arguments(args), structure, specs))


def _signature(types, shapes):
    structure, leaves = Structure.of(types)
    if any(isinstance(t, list) for _, t in leaves):
        raise InvalidArgumentError(f"from_generator: output_types has the list {next(t for _, t in leaves if isinstance(t, list))!r:.100}; "
                                   "give a tuple or a dict for several components")
    dims = [None] * len(leaves) if shapes is None else _shapes_of(structure, shapes)
    return structure.pack([TensorSpec(s, t) for (_, t), s in zip(leaves, dims)])


def _shapes_of(structure, shapes):
    """Shapes nested as a structure, one for each component."""
    if structure.kind == "leaf":
        return [shapes]
    fits = set(shapes) == set(structure.order) if structure.kind == "dict" and isinstance(shapes, dict) else \
        structure.kind != "dict" and isinstance(shapes, (tuple, list)) and len(shapes) == len(structure.items)
    if not fits:
        raise InvalidArgumentError(f"from_generator: output_shapes has {shapes!r:.100} where output_types has {len(structure.items)} components; "
                                   "give a shape for each, nested as output_types are")
    parts = [shapes[k] for k in structure.order] if structure.kind == "dict" else list(shapes)
    return [s for item, part in zip(structure.items, parts) for s in _shapes_of(item, part)]


def seed_of(op, seed):
    """Whether a seed is drawn, and the seed."""
    if seed is None:
        return True, int.from_bytes(os.urandom(7), "little")
    return False, _arguments.integer(op, "seed", seed, _arguments.U64) & _arguments.U64


def paths_of(value, what):
    """A list of paths from one path or many: str, bytes, os.PathLike, arrays, or a Dataset of them."""
    from infeed._dataset import Dataset

    if (given := _template.paths(value)) is not None:
        return given
    if isinstance(value, Dataset):
        value = list(value)
    elif isinstance(value, (str, bytes, os.PathLike)):
        value = [value]
    try:
        found = [os.fsdecode(os.fspath(v)) for v in np.ravel(np.asarray(value, object))]
    except TypeError as e:
        raise InvalidArgumentError(f"{what} is {value!r:.100}; a path, or a list of paths, is needed") from e
    return [_arguments.utf8(what, path) for path in found]
