"""One call of tf.io's, made by TensorFlow and by infeed: what is given, and whether both are the same.

A case is a function of a library, its `io` and dtypes, and of a value; `x` is that
value: bytes, or nested lists of bytes, which `map` gives it as a component too.
"""

import dataclasses

import numpy as np

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "complex64", "complex128")

# infeed's classes for TensorFlow's: Python's own are the same.
ERRORS = {
    "InvalidArgumentError": "InvalidArgumentError", "NotFoundError": "NotFoundError",
    "FailedPreconditionError": "InvalidArgumentError", "ValueError": "ValueError", "TypeError": "TypeError",
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A call; `gives` is what infeed gives where it does otherwise on purpose, and `why` says so."""

    name: str
    x: object
    make: object
    why: str = ""
    gives: object = None

    def __str__(self):
        return self.name


class Library:
    """`io` and the dtypes of a library under TensorFlow's names."""

    def __init__(self, name):
        self.name = name
        if name == "tensorflow":
            import tensorflow as tf

            self.io, self.string, self.bfloat16 = tf.io, tf.string, tf.bfloat16
            self.dtypes = {d: getattr(tf, d) for d in DTYPES}
        else:
            import infeed.io
            import ml_dtypes

            self.io, self.string, self.bfloat16 = infeed.io, np.dtype(object), np.dtype(ml_dtypes.bfloat16)
            self.dtypes = {d: np.dtype(d) for d in DTYPES}

    def __getattr__(self, name):
        try:
            return self.__dict__["dtypes"][name]
        except KeyError:
            raise AttributeError(name) from None


def of_tensorflow(lib, case):
    """What TensorFlow gives, as plain structures of arrays, or its exception."""
    import tensorflow as tf

    x = tf.constant(case.x, tf.string) if isinstance(case.x, (bytes, list)) else case.x
    try:
        return plain(case.make(lib, x))
    except Exception as e:
        return e


def eager(lib, case):
    x = case.x
    try:
        return plain(case.make(lib, x))
    except Exception as e:
        return e


def traced(lib, case):
    """What infeed gives for the same function traced, as `map` does, and run by the engine for x."""
    from infeed import _program, _trace
    from infeed._spec import Structure, TensorSpec

    x = np.array(case.x, object)
    text = TensorSpec(x.shape, object)
    found = _trace.trace(lambda v: as_element(case.make(lib, v)), Structure("leaf"), [text])
    if isinstance(found, str):
        return found
    try:
        got = plain(_program.of_traced(found, (Structure("leaf"), None), x))
    except Exception as e:
        return e
    for path, leaf, spec in zip(*zip(*Structure.of(got)[1]), found.specs):
        assert leaf.dtype == spec.dtype and len(leaf.shape) == len(spec.shape), path
        assert all(d in (None, n) for d, n in zip(spec.shape, leaf.shape)), path
    return got


def as_element(result):
    """A result as a function given to `map` returns it: a list would be stacked."""
    return tuple(result) if isinstance(result, list) else result


def can_be_traced(case):
    """Whether x is text, which is what stand-ins are for."""
    return isinstance(case.x, (bytes, list))


def plain(value):
    """A result without anything of its library. A sparse tensor of rank 1 is the vector that it is."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if type(value).__name__ == "SparseTensor":
        parts = tuple(plain(v) for v in (value.indices, value.values, value.dense_shape))
        return parts[1] if parts[0].shape[1] == 1 else parts
    if isinstance(value, (tuple, list)):
        return tuple(plain(v) for v in value)
    value = value.numpy() if hasattr(value, "numpy") else value
    if isinstance(value, bytes):
        boxed = np.empty((), object)
        boxed[()] = value
        return boxed
    return np.asarray(value)


def differences(ours, theirs, path="result"):
    """In words, where two results differ in structure, dtype, shape or value."""
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        return error_differences(ours, theirs)
    if isinstance(theirs, (dict, tuple)):
        keys = theirs if isinstance(theirs, dict) else range(len(theirs))
        if type(ours) is not type(theirs) or len(ours) != len(theirs) or isinstance(ours, dict) and set(ours) != set(theirs):
            return [f"{path}: {ours!r} and not {theirs!r}"]
        return [d for k in keys for d in differences(ours[k], theirs[k], f"{path}[{k!r}]")]
    if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
        return [f"{path}: {ours.dtype}{ours.shape} and not {theirs.dtype}{theirs.shape}"]
    as_values = ours.dtype == object or ours.dtype == bool  # TensorFlow keeps other bytes than 0 and 1 in bools
    same = ours.tolist() == theirs.tolist() if as_values else ours.tobytes() == theirs.tobytes()
    return [] if same else [f"{path}: {ours!r} and not {theirs!r}"]


def error_differences(ours, theirs):
    if not isinstance(ours, Exception) or not isinstance(theirs, Exception):
        return [f"{ours!r} and not {theirs!r}"]
    theirs = type(theirs).__name__
    classes = {c.__name__ for c in type(ours).__mro__}
    return [] if ERRORS.get(theirs, theirs) in classes else [f"{type(ours).__name__} ({ours}) and not {theirs}"]
