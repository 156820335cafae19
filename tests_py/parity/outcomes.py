"""What a pipeline gives, in a form that is the same for both libraries.

An outcome holds the elements as nested tuples and dicts with NumPy arrays as
leaves (text as arrays of bytes objects), the kind of the error that ended the walk
or stopped the definition, the cardinality and the specs. It refers to nothing of
the library it came from.
"""

import dataclasses

import numpy as np

LIMIT = 12  # elements taken of a dataset unless a case says otherwise: some have no end


@dataclasses.dataclass
class Ragged:
    """Rows of unequal length, as nested lists; dtype is None where no value says."""

    rows: list
    dtype: object


@dataclasses.dataclass
class Sparse:
    indices: np.ndarray
    values: np.ndarray
    shape: np.ndarray


@dataclasses.dataclass
class Inner:
    """The elements of a dataset that is a component."""

    elements: list


@dataclasses.dataclass(frozen=True)
class Spec:
    kind: str
    shape: tuple
    dtype: str


@dataclasses.dataclass
class Failure:
    """An error: TensorFlow's name for its kind, the exception's classes, its text."""

    kind: str
    classes: tuple
    text: str

    @classmethod
    def of(cls, error):
        name = type(error).__name__
        classes = type(error).__mro__
        for base, kind in ((TypeError, "Type"), (ValueError, "Value")):
            if isinstance(error, base) and not type(error).__module__.startswith(("tensorflow", "infeed")):
                name = kind
        return cls(name.removesuffix("Error"), classes, str(error))


@dataclasses.dataclass
class Outcome:
    elements: list = None
    failure: Failure = None
    cardinality: int = None
    spec: object = None


def observe(side, make, limit=LIMIT, walks=1):
    """Defines a pipeline and walks it: its outcome, or those of several walks over one object."""
    try:
        made = side.define(make)
        if not side.is_dataset(made):
            value = plain(made, limit)
            return _several([Outcome([value])], walks)
        about = dict(cardinality=int(made.cardinality()), spec=spec(made.element_spec))
    except Exception as error:
        return _several([Outcome([], Failure.of(error))], walks)
    return _several([Outcome(*walk(made, limit, side.walk), **about) for _ in range(walks)], walks)


def _several(outcomes, walks):
    return outcomes[0] if walks == 1 else (outcomes * walks)[:walks]


def walk(dataset, limit, begin=iter):
    """The first elements of a dataset, and what ended them where that was an error."""
    elements = []
    try:
        iterator = begin(dataset)
        while len(elements) < limit:
            elements.append(plain(next(iterator), limit))
    except StopIteration:
        pass
    except Exception as error:
        return elements, Failure.of(error)
    return elements, None


def plain(value, limit=LIMIT):
    """An element without anything of the library it came from."""
    if isinstance(value, tuple) and type(value).__name__ not in ("SparseTensorValue", "SparseTensor"):
        items = [plain(v, limit) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return {k: plain(v, limit) for k, v in value.items()}
    kind = type(value).__name__
    if kind.startswith("RaggedTensor"):
        return Ragged(value.to_list(), np.dtype(value.dtype.as_numpy_dtype))
    if kind.startswith("SparseTensor"):
        return Sparse(*(_array(v) for v in (value.indices, value.values, value.dense_shape)))
    if hasattr(value, "element_spec"):
        elements, failure = walk(value, limit)
        if failure is not None:
            raise AssertionError(f"a dataset inside an element failed: {failure.text}")
        return Inner(elements)
    return _dense(_array(value))


def _array(value):
    value = value.numpy() if hasattr(value, "numpy") else value
    if isinstance(value, (bytes, str)):
        boxed = np.empty((), object)
        boxed[()] = value
        return boxed
    return np.array(value)


def _dense(array):
    """An array; an object array of arrays is how rows of unequal length come."""
    if array.dtype != object or not any(isinstance(v, np.ndarray) for v in array.flat):
        return array
    rows = [plain(v) for v in array]
    leaf = next((r.dtype for r in rows if r.dtype is not None), None)
    return Ragged([r.rows if isinstance(r, Ragged) else r.tolist() for r in rows], leaf)


def spec(value):
    """Specs in the structure of an element."""
    if type(value).__name__ == "SparseTensor":  # infeed's: the specs of three arrays
        return Spec("SparseTensor", (None,) * value.indices.shape[1], np.dtype(value.values.dtype).name)
    if isinstance(value, tuple):
        items = [spec(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, dict):
        return {k: spec(v) for k, v in value.items()}
    kind = type(value).__name__.removesuffix("Spec")
    if kind == "Dataset":
        return Spec(kind, (), spec(value.element_spec))
    dtype = getattr(value.dtype, "as_numpy_dtype", value.dtype)
    shape = value.shape
    if kind == "SparseTensor":  # specs of infeed's do not say how large it is
        return Spec(kind, (None,) * len(shape), np.dtype(dtype).name)
    if getattr(shape, "rank", 0) is None or shape is None:
        return Spec(kind, None, np.dtype(dtype).name)
    return Spec(kind, tuple(shape), np.dtype(dtype).name)


def literal(value):
    """An element in plain Python: lists for arrays, tuples and dicts as they are."""
    if isinstance(value, tuple):
        return tuple(literal(v) for v in value)
    if isinstance(value, dict):
        return {k: literal(v) for k, v in value.items()}
    if isinstance(value, Ragged):
        return value.rows
    if isinstance(value, Sparse):
        return {"indices": value.indices.tolist(), "values": value.values.tolist(), "shape": value.shape.tolist()}
    if isinstance(value, Inner):
        return [literal(v) for v in value.elements]
    return value.tolist()


def differences(ours, theirs, path="element"):
    """In words, where two elements differ in structure, dtype, shape or value."""
    if isinstance(theirs, (tuple, dict)) or isinstance(ours, (tuple, dict)):
        return _in_structure(ours, theirs, path)
    if type(ours) is not type(theirs):
        return [f"{path}: {ours!r} and not {theirs!r}"]
    if isinstance(theirs, Inner):
        return sequence(ours.elements, theirs.elements, path)
    if isinstance(theirs, Ragged):
        same = ours.rows == theirs.rows and (ours.dtype is None or ours.dtype == theirs.dtype)
        return [] if same else [f"{path}: {ours!r} and not {theirs!r}"]
    if isinstance(theirs, Sparse):
        parts = ("indices", "values", "shape")
        return [d for p in parts for d in differences(getattr(ours, p), getattr(theirs, p), f"{path}.{p}")]
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return [f"{path}: {ours.dtype}{ours.shape} and not {theirs.dtype}{theirs.shape}"]
    if ours.dtype.kind == "f":
        same = np.allclose(ours, theirs, rtol=1e-6, atol=0, equal_nan=True)
    else:
        same = np.array_equal(ours, theirs)
    return [] if same else [f"{path}: {ours!r} and not {theirs!r}"]


def _in_structure(ours, theirs, path):
    named = getattr(theirs, "_fields", None)
    if type(ours) is not type(theirs) or len(ours) != len(theirs) or getattr(ours, "_fields", None) != named:
        return [f"{path}: {ours!r} and not {theirs!r}"]
    if isinstance(theirs, dict):
        if set(ours) != set(theirs):
            return [f"{path}: keys {sorted(ours)} and not {sorted(theirs)}"]
        return [d for k in theirs for d in differences(ours[k], theirs[k], f"{path}[{k!r}]")]
    pairs = enumerate(zip(ours, theirs))
    return [d for i, (a, b) in pairs for d in differences(a, b, f"{path}[{i}]")]


def sequence(ours, theirs, path="element"):
    """Where two sequences of elements differ."""
    found = [d for i, (a, b) in enumerate(zip(ours, theirs)) for d in differences(a, b, f"{path} {i}")]
    if len(ours) != len(theirs):
        found.append(f"{len(ours)} {path}s and not {len(theirs)}")
    return found


def in_any_order(ours, theirs):
    """Where two sequences differ as multisets."""
    key = lambda e: repr(literal(e))  # noqa: E731
    return sequence(sorted(ours, key=key), sorted(theirs, key=key))
