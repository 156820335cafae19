"""What elements are made of: TensorSpec, and the nesting of components.

A structure is nested tuples, dicts and named tuples; everything else is a
component. Components are counted in the order of tf.data: fields of tuples in
order, keys of dicts sorted.
"""

import json
import math

import numpy as np

from infeed._errors import InvalidArgumentError, UnimplementedError


TEXT = np.dtype(object)


def dtype_of(value, what):
    """The dtype that a value is or names, also of TensorFlow's and, where that is installed, ml_dtypes'. TypeError: none.

    Text is "string", str, bytes, or a dtype of NumPy's for strings of any length.
    """
    value = getattr(value, "as_numpy_dtype", value)
    try:
        dtype = np.dtype(value)
        return TEXT if dtype.kind in "SU" else dtype
    except TypeError as e:
        why = e
    if isinstance(value, str):
        if value == "string":
            return TEXT
        try:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, value))
        except ImportError:
            why = f"{why}; names such as bfloat16 need the package ml_dtypes"
        except (AttributeError, TypeError):
            pass
    raise TypeError(f"{what}: {value!r:.60} is no dtype: {why}")


class TensorSpec:
    """Shape and dtype of one component; None is a dimension that differs between elements.

    `shape` is a tuple, `dtype` a dtype of NumPy's or TensorFlow's, or a name; text, which
    `str`, `bytes` and "string" name too, has dtype object and comes as `bytes`. A shape of
    None, as TensorFlow's for any number of dimensions, gives an `UnknownRankSpec`. Raises
    TypeError for what is no shape or dtype.

    Example:
        >>> from infeed import TensorSpec
        >>> TensorSpec((None, 3), "float32")
        TensorSpec(shape=(None, 3), dtype=float32)
        >>> TensorSpec([None, 3], "float32").shape
        (None, 3)
    """

    __slots__ = ("shape", "dtype", "name")

    def __new__(cls, shape, dtype="float32", name=None):
        if shape is None or hasattr(shape, "rank") and shape.rank is None:  # TensorFlow's
            return UnknownRankSpec(dtype)
        return super().__new__(cls)

    def __init__(self, shape, dtype="float32", name=None):
        set_ = object.__setattr__
        try:
            dimensions = None if isinstance(shape, str) else tuple(shape)
        except TypeError:
            dimensions = None
        if dimensions is None:
            raise TypeError(f"TensorSpec: shape is {shape!r}; a tuple of dimensions is needed, such as () for a scalar, with None for those that differ")
        set_(self, "shape", tuple([None if d is None else int(d) for d in dimensions]))
        if any([d is not None and not 0 <= d < 1 << 63 for d in self.shape]):
            raise InvalidArgumentError(f"TensorSpec: shape is {self.shape}; dimensions are 0 or more, or None for those that differ")
        set_(self, "dtype", dtype_of(dtype, "TensorSpec"))
        set_(self, "name", name)

    def __setattr__(self, name, value):
        raise AttributeError("a TensorSpec cannot be changed")

    def __reduce__(self):
        return TensorSpec, (self.shape, self.dtype, self.name)

    def __eq__(self, other):
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype})"


def own_spec(value):
    """The TensorSpec for one of TensorFlow's; anything else as it is."""
    theirs = type(value).__name__ == "TensorSpec" and hasattr(value.dtype, "as_numpy_dtype")
    return TensorSpec(value.shape, value.dtype) if theirs else value


class DatasetSpec:
    """A component whose values are datasets, as those of `Dataset.window`; element_spec is that of their elements.

    Example:
        >>> import infeed
        >>> infeed.Dataset.range(4).window(2).element_spec
        DatasetSpec(TensorSpec(shape=(), dtype=int64))
    """

    __slots__ = ("element_spec",)

    def __init__(self, element_spec):
        self.element_spec = element_spec

    def __eq__(self, other):
        return self.element_spec == other.element_spec if isinstance(other, DatasetSpec) else NotImplemented

    def __hash__(self):
        return hash((DatasetSpec, self.element_spec))

    def __repr__(self):
        return f"DatasetSpec({self.element_spec!r})"


class RaggedTensorSpec:
    """A component whose values are object arrays of arrays that differ in shape, as those of `Dataset.ragged_batch`, or such arrays.

    shape, dtype: as if the arrays were stacked; None is a dimension in which they differ.
    `Dataset.unbatch` gives the arrays, and `Dataset.batch` puts them together again.

    Example:
        >>> import infeed
        >>> words = infeed.Dataset.from_generator(lambda: ([1], [2, 3]), output_signature=infeed.TensorSpec((None,), "int32"))
        >>> words.ragged_batch(2).element_spec
        RaggedTensorSpec(shape=(None, None), dtype=int32)
    """

    __slots__ = ("shape", "dtype")

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)

    def __eq__(self, other):
        return (self.shape, self.dtype) == (other.shape, other.dtype) if isinstance(other, RaggedTensorSpec) else NotImplemented

    def __hash__(self):
        return hash((RaggedTensorSpec, self.shape, self.dtype))

    def __repr__(self):
        return f"RaggedTensorSpec(shape={self.shape}, dtype={self.dtype})"


class UnknownRankSpec:
    """A component whose values are arrays that differ even in how many dimensions they have.

    Example:
        >>> import infeed
        >>> infeed.UnknownRankSpec("float32")
        UnknownRankSpec(dtype=float32)
    """

    __slots__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype_of(dtype, "UnknownRankSpec")

    def __eq__(self, other):
        return self.dtype == other.dtype if isinstance(other, UnknownRankSpec) else NotImplemented

    def __hash__(self):
        return hash((UnknownRankSpec, self.dtype))

    def __repr__(self):
        return f"UnknownRankSpec(dtype={self.dtype})"


class Structure:
    """How the components of an element are nested; the tree that `of` finds in a value."""

    __slots__ = ("kind", "keys", "order", "items", "example")

    def __init__(self, kind, keys=(), order=(), items=(), example=None):
        self.kind = kind  # "leaf", "tuple", "dict" or "namedtuple"; "dataset": one text that stands for a dataset;
        # "ragged": all values of arrays, and the shape of each, or an array out of such; "any": all values of an array, and its shape
        self.keys = keys  # of a dict as it had them; fields of a named tuple; of an array out of a ragged component, the dtype of shapes
        self.order = order  # of a dict: sorted keys
        self.items = items  # in the order of components
        self.example = example  # what makes a dict or named tuple of the user's type; structure and specs of a dataset's elements; the spec of a ragged component's arrays

    @classmethod
    def of(cls, value, path=""):
        """The structure of a value and its leaves, as [(path, leaf), ...]."""
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = [(f".{f}", v) for f, v in zip(value._fields, value)]
            make = dict(kind="namedtuple", keys=value._fields, example=type(value))
        elif isinstance(value, tuple):
            parts = [(f"[{i}]", v) for i, v in enumerate(value)]
            make = dict(kind="tuple")
        elif isinstance(value, dict):
            order = _sorted_keys(value, path)
            parts = [(f"[{k!r}]", value[k]) for k in order]
            make = dict(kind="dict", keys=tuple(value), order=order, example=_empty_like(value))
        else:
            return cls("leaf"), [(path, value)]
        items, leaves = [], []
        for step, part in parts:
            item, more = cls.of(part, path + step)
            items.append(item)
            leaves += more
        return cls(items=tuple(items), **make), leaves

    def leaves(self):
        """How many components there are."""
        return 1 if self.kind == "leaf" else sum(item.leaves() for item in self.items)

    def has(self, *kinds):
        """Whether there is a node of one of these kinds in it."""
        return self.kind in kinds or any(item.has(*kinds) for item in self.items)

    def own_types(self):
        """Whether a named tuple, or a mapping that is no dict, is in it."""
        return self.kind == "namedtuple" or self.kind == "dict" and type(self.example) is not dict or any(item.own_types() for item in self.items)

    def replaced(self, structures):
        """This structure with the next of `structures`, an iterator, in the place of each leaf."""
        if self.kind == "leaf":
            return next(structures)
        return Structure(self.kind, self.keys, self.order, tuple(item.replaced(structures) for item in self.items), self.example)

    def rebuilt(self, change, specs):
        """This structure with change(component, its specs) in the place of each component; specs are those of all leaves."""
        specs = iter(specs)

        def visit(node):
            if node.kind not in ("tuple", "dict", "namedtuple"):
                return change(node, [next(specs) for _ in range(node.leaves())])
            return Structure(node.kind, node.keys, node.order, tuple(map(visit, node.items)), node.example)

        return visit(self)

    def of_parts(self, specs):
        """specs, with the length of the shapes of what is ragged, which is its arrays' number of dimensions."""
        specs, at = list(specs), 0

        def visit(part, found):
            nonlocal at
            at += len(found)
            if part.kind == "ragged" and len(found) == 2:
                specs[at - 1] = TensorSpec((*found[1].shape[:-1], len(part.example.shape)), found[1].dtype)
            return part

        self.rebuilt(visit, specs)
        return specs

    def is_flat_tuple(self):
        """Whether an element is the tuple of its components."""
        return self.kind == "tuple" and all(item.kind == "leaf" for item in self.items)

    def document(self):
        """The structure as the engine reads it (see core/spec)."""
        inside = [item.document() for item in self.items]
        if self.kind == "leaf":
            return None
        if self.kind == "ragged":
            return {"dict": [[k, None] for k in self.keys or ("values", "shapes")], "name": ":ragged"}
        if self.kind == "any":
            return {"dict": [["values", None], ["shape", None]], "name": ":tensor"}
        if self.kind == "dataset":
            return {"dict": [[_described(*self.example), None]], "name": ":dataset"}
        if self.kind == "tuple":
            return {"tuple": inside}
        if self.kind == "dict":
            return {"dict": [[str(k), d] for k, d in zip(self.order, inside)]}
        return {"dict": [[k, d] for k, d in zip(self.keys, inside)], "name": self.example.__name__}

    def pack(self, values):
        """The element with these components, given in order."""
        return self.packer()(tuple(values))

    def packer(self):
        """A function from a tuple of components to the element."""
        if self.kind == "leaf":
            return lambda values: values[0]
        if self.kind == "dataset":
            return self._dataset
        if self.kind == "ragged":
            return self._ragged
        if self.kind == "any":
            return _reshaped
        if all(item.kind == "leaf" for item in self.items):
            return self._joiner()
        join, parts, at = self._joiner(), [], 0
        for item in self.items:
            n = item.leaves()
            parts.append((item.packer(), slice(at, at + n)))
            at += n
        return lambda values: join(tuple([f(values[s]) for f, s in parts]))

    def _dataset(self, values):
        """The dataset that a text stands for; of a spec, that of such datasets."""
        if isinstance(values[0], TensorSpec):
            structure, specs = self.example
            return DatasetSpec(structure.pack(specs))
        from infeed import _dataset

        return _dataset.of_text(self, values[0])

    def _ragged(self, values):
        """An object array of arrays, or one of those; the spec of such, of the specs of its parts."""
        flat, shapes = values if len(values) == 2 else (values[0], None)
        if isinstance(flat, TensorSpec):
            return RaggedTensorSpec((*(() if shapes is None else shapes.shape[:-1]), *self.example.shape), flat.dtype)
        if shapes is None:
            return flat
        if type(flat) is not np.ndarray:  # a stand-in
            return _parts(self, values)
        out = np.empty(shapes.shape[:-1], object)
        start = 0
        for i, shape in enumerate(shapes.reshape(-1, shapes.shape[-1]).tolist()):
            end = start + math.prod(shape)
            out.flat[i] = flat[start:end].reshape(shape)
            start = end
        return out

    def _joiner(self):
        """A function from a tuple of this node's own items to the node."""
        if self.kind == "tuple":
            return lambda values: values
        if self.kind == "namedtuple":
            return self.example._make
        keys, places = self.keys, [self.order.index(k) for k in self.keys]
        as_given = places == list(range(len(places)))
        if type(self.example) is dict:
            if as_given:
                return lambda values: dict(zip(keys, values))
            return lambda values: {k: values[i] for k, i in zip(keys, places)}
        return lambda values: _filled(self.example, keys, [values[i] for i in places])


def _reshaped(values):
    """An array of its values and its shape; the spec of such, of the specs of its parts. UnimplementedError: they were stacked."""
    flat, shape = values
    if type(flat) is not np.ndarray and not isinstance(flat, TensorSpec):  # a stand-in
        return _parts(Structure("any", items=(Structure("leaf"),) * 2), values)
    if len(flat.shape) != 1:
        raise UnimplementedError("components of unknown rank cannot be stacked by batch and the like; map them to arrays first")
    if isinstance(flat, TensorSpec):
        return UnknownRankSpec(flat.dtype)
    return flat.reshape(shape) if len(shape) else flat.reshape(())[()]


def _parts(structure, values):
    from infeed._stand_in import Parts

    return Parts(structure, values)


def _described(structure, specs):
    """A component as the engine writes it in JSON: as core/spec does one, or an element where it is no tensor."""
    from infeed import _definition

    form = [{"dtype": _definition.code(s.dtype), "shape": [-1 if d is None else d for d in s.shape]} for s in specs]
    form = form[0] if structure.kind == "leaf" else {"structure": structure.document(), "components": form}
    return json.dumps(form, separators=(",", ":"))


def _sorted_keys(value, path):
    try:
        return sorted(value)
    except TypeError:
        raise InvalidArgumentError(f"the keys of the dict{path} cannot be sorted: {list(value)!r}; use keys of one "
                                   "type") from None


def _empty_like(value):
    """An empty mapping of the type of value, with what else that type needs."""
    if type(value) is dict:
        return {}
    empty = value.copy()
    empty.clear()
    return empty


def _filled(example, keys, values):
    out = example.copy()
    out.update(zip(keys, values))
    return out


def settled(result):
    """A result, nested as it may be, as it is now."""
    if isinstance(result, np.ndarray):
        return result.copy()
    if isinstance(result, list):
        return [settled(v) for v in result]
    if not isinstance(result, (tuple, dict)):
        return result
    structure, leaves = Structure.of(result)
    return structure.pack([settled(v) for _, v in leaves])
