"""The features that parsers of examples look for: what users give, and what the engine is told.

See core/op/io_feature.go for the form in which features reach the engine.
"""

import base64
from collections import namedtuple

import numpy as np

from infeed import _spec
from infeed._errors import InvalidArgumentError, UnimplementedError
from infeed._spec import TEXT, Structure, TensorSpec

INT64 = np.dtype(np.int64)
_NAMES = {np.dtype(np.float32): "float32", INT64: "int64", TEXT: "string"}
_KINDS = {"FixedLenFeature": "fixed", "VarLenFeature": "var", "FixedLenSequenceFeature": "sequence", "RaggedFeature": "ragged"}


class FixedLenFeature(namedtuple("FixedLenFeature", ("shape", "dtype", "default_value"))):
    """A feature with as many values in every example: tf.io.FixedLenFeature.

    Gives values of `shape`, in a batch (examples, *shape). `dtype` is float32, int64, or text ("string" or object).
    Examples without it get `default_value`, or are an error where that is None.

    Example:
        >>> from infeed.io import FixedLenFeature
        >>> FixedLenFeature([28, 28], "float32")
        FixedLenFeature(shape=[28, 28], dtype='float32', default_value=None)
    """

    __slots__ = ()

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class VarLenFeature(namedtuple("VarLenFeature", ("dtype",))):
    """A feature with any number of values: tf.io.VarLenFeature.

    Gives a vector of shape (None,) for one example, and a `SparseTensor` for a batch. `dtype` is float32, int64, or
    text ("string" or object).

    Example:
        >>> from infeed.io import VarLenFeature
        >>> VarLenFeature("int64")
        VarLenFeature(dtype='int64')
    """

    __slots__ = ()


class FixedLenSequenceFeature(namedtuple("FixedLenSequenceFeature", ("shape", "dtype", "allow_missing",
                                                                     "default_value"))):
    """A feature with any number of steps of `shape`: tf.io.FixedLenSequenceFeature.

    Gives (steps, *shape) for one example, and (examples, longest, *shape) for a batch, where missing steps have the
    one value `default_value`, or 0 or b"". `allow_missing` lets an example be without it.

    Example:
        >>> from infeed.io import FixedLenSequenceFeature
        >>> FixedLenSequenceFeature([2], "float32", allow_missing=True).allow_missing
        True
    """

    __slots__ = ()

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class RaggedFeature(namedtuple("RaggedFeature", ("dtype", "value_key", "partitions", "row_splits_dtype", "validate"))):
    """A feature with any number of values, which come as rows: tf.io.RaggedFeature.

    Gives for a batch an object array with a vector for each example, and a vector for one example. `value_key`: the key
    of the values, where it is another. `partitions`, none or one, cuts those of an example into rows: `RowLengths`,
    `RowSplits`, `RowStarts` and `RowLimits` of a key, for single examples, which give an object array of rows, or a
    `UniformRowLength`. `dtype` is float32, int64, or text ("string" or object). `row_splits_dtype` is that in which the
    engine keeps lengths. Rows that are not those of the values are an error, whether `validate` is set or not.

    Example:
        >>> from infeed.io import RaggedFeature, parse_example
        >>> example = bytes.fromhex("0a0c0a0a0a017912051a030a0103")
        >>> [row.tolist() for row in parse_example([example, b""], {"y": RaggedFeature("int64")})["y"]]
        [[3], []]
    """

    __slots__ = ()

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype="int32", validate=False):
        return super().__new__(cls, dtype, value_key, partitions, row_splits_dtype, validate)

    RowLengths = namedtuple("RowLengths", ("key",))
    RowSplits = namedtuple("RowSplits", ("key",))
    RowStarts = namedtuple("RowStarts", ("key",))
    RowLimits = namedtuple("RowLimits", ("key",))
    ValueRowIds = namedtuple("ValueRowIds", ("key",))
    UniformRowLength = namedtuple("UniformRowLength", ("length",))


_PARTITIONS = {"RowLengths": "row_lengths", "RowSplits": "row_splits", "RowStarts": "row_starts", "RowLimits": "row_limits",
               "UniformRowLength": "uniform"}


class SparseTensor(namedtuple("SparseTensor", ("indices", "values", "dense_shape"))):
    """The parts of a tf.sparse.SparseTensor, as arrays: `values` (n,) at the places `indices` (n, rank) of `dense_shape`.

    Example:
        >>> import numpy as np
        >>> from infeed.io import SparseTensor
        >>> t = SparseTensor(np.array([[0, 1]]), np.array([7]), np.array([2, 2]))
        >>> t.to_dense().tolist()
        [[0, 7], [0, 0]]
    """

    __slots__ = ()

    def to_dense(self, default_value=None):
        """The array of dense_shape, with default_value (0 or b"") where there is no value: tf.sparse.to_dense."""
        if default_value is None:
            default_value = b"" if self.values.dtype.hasobject else 0
        out = np.full([int(n) for n in self.dense_shape], default_value, self.values.dtype)
        out[tuple(np.transpose(self.indices))] = self.values
        return out


def dtype_of(value, what):
    """The dtype of a feature: float is float32 here, as TensorFlow's is."""
    if value is None:
        raise InvalidArgumentError(f"{what} has no dtype; give one, such as np.float32")
    return _spec.dtype_of(np.float32 if value is float else value, what).newbyteorder("=")


class Wanted:
    """One feature under its key, checked."""

    def __init__(self, op, key, feature, kinds, steps=False):
        self.key = key
        self.what = f"{op}: feature {key!r}"
        self.kind = _KINDS.get(type(feature).__name__) if isinstance(feature, tuple) else None
        if self.kind not in kinds:
            allowed = ", ".join(name for name, kind in _KINDS.items() if kind in kinds)
            raise InvalidArgumentError(f"{self.what} is {feature!r:.80} of type {type(feature).__name__}; give one of {allowed}")
        self.dtype = dtype_of(feature.dtype, self.what)
        if self.dtype not in _NAMES:
            raise InvalidArgumentError(f"{self.what} has dtype {self.dtype}; examples hold float32, int64 and text")
        free = self.kind in ("var", "ragged")
        self.shape = () if free else self._shape(feature.shape)
        self.default = None if free else feature.default_value
        self.partition = self._partition(feature) if self.kind == "ragged" else None
        self.value_key = None
        if self.kind == "ragged" and feature.value_key is not None:
            self.value_key = text_of(feature.value_key, f"{self.what}: value_key").decode()
        self.required = self.kind == "sequence" and not feature.allow_missing
        if self.required and not steps:
            raise InvalidArgumentError(f"{self.what}: a FixedLenSequenceFeature needs allow_missing=True, for examples "
                                       "do not tell an empty sequence from none")
        if steps and self.default is not None:
            raise InvalidArgumentError(f"{self.what} has default_value {self.default!r:.60}; sequences are filled up with "
                                       "zeros only, so leave it out")

    def _shape(self, shape):
        if shape is None:
            raise InvalidArgumentError(f"{self.what} has no shape; give one, such as []")
        try:
            shape = tuple(shape) if np.ndim(shape) or hasattr(shape, "__iter__") else (shape,)
            shape = tuple(None if d is None else int(d) for d in shape)
        except (TypeError, ValueError):
            raise TypeError(f"{self.what}: {shape!r:.60} is no shape") from None
        if any(d is None or d < 0 for d in shape):
            hint = "for any number of values use FixedLenSequenceFeature or VarLenFeature" if None in shape else "dimensions are 0 or more"
            raise InvalidArgumentError(f"{self.what} has the shape {list(shape)}; {hint}")
        return shape

    def _partition(self, feature):
        """The key of the values of a ragged feature, and what the engine is told of its rows."""
        splits = _spec.dtype_of(feature.row_splits_dtype, f"{self.what}: row_splits_dtype")
        if splits not in (np.dtype(np.int32), INT64):
            raise InvalidArgumentError(f"{self.what} has row_splits_dtype {splits}; it must be int32 or int64")
        parts = feature.partitions
        parts = [parts] if type(parts).__name__ in RaggedFeature.__dict__ else list(parts)
        kinds = [_PARTITIONS.get(type(p).__name__) for p in parts]
        if len(parts) > 1 or None in kinds:
            raise UnimplementedError(f"{self.what} has the partitions {parts!r:.100}; none, or one of {', '.join(_PARTITIONS)}, is understood")
        form = {"shapes": splits.str, "partition": kinds[0] if kinds else ""}
        if kinds == ["uniform"]:
            if isinstance(parts[0].length, bool) or not hasattr(parts[0].length, "__index__") or int(parts[0].length) < 1:
                raise InvalidArgumentError(f"{self.what} has rows of length {parts[0].length!r:.60}; give a number, 1 or more")
            form["length"] = int(parts[0].length)
        elif kinds:
            form["key"] = text_of(parts[0].key, f"{self.what}: the key of its partition").decode()
        return form

    def ragged(self):
        """The structure of what a ragged feature gives for a batch, and where its values are cut into rows."""
        row = (None, self.partition["length"]) if self.partition["partition"] == "uniform" else (None,)
        return Structure("ragged", items=(Structure("leaf"),) * 2, example=TensorSpec(row, self.dtype))

    def is_ragged(self, batch):
        """Whether examples of a shape give something ragged: a batch, or one whose values are cut into rows."""
        return self.kind == "ragged" and bool(batch or self.partition["partition"] not in ("", "uniform"))

    def form(self):
        """What the engine is told."""
        key = self.key.decode() if isinstance(self.key, bytes) else self.key
        form = {"key": key, "kind": self.kind, "dtype": _NAMES[self.dtype], "shape": self.shape, "required": self.required}
        if self.default is not None and (default := self._default()):
            form["default"] = default
        if self.kind == "ragged":
            form.update(key=self.value_key or key, ragged=self.partition)
        return form

    def _default(self):
        """The values for examples without the feature; None where its shape has none: TensorFlow takes it as required then."""
        n = 1 if self.kind == "sequence" else int(np.prod(self.shape))
        if self.dtype == TEXT:
            values = np.asarray(self.default, object).reshape(-1)
            form = {"texts": [encoded(text_of(v, f"{self.what}: default_value")) for v in values]}
        else:
            values = self._numbers(np.asarray(self.default)).reshape(-1)
            form = {"data": encoded(values.tobytes())}
        if len(values) != n:
            each = "; steps are filled up with one" if self.kind == "sequence" else f" for the shape {list(self.shape)}"
            raise InvalidArgumentError(f"{self.what} has a default_value of {len(values)} values{each}")
        return form if n else None

    def _numbers(self, a):
        if a.size and (a.dtype.kind not in ("biu" if self.dtype == INT64 else "biuf") or self.dtype == INT64 and int(a.max()) >= 1 << 63):
            raise TypeError(f"{self.what}: default_value {self.default!r:.60} cannot be {self.dtype}")
        return a.astype(self.dtype)

    def specs(self, batch, steps=False):
        """What the engine gives for examples of a shape: () or (n,); n is None where it differs."""
        if self.kind == "fixed":
            return [TensorSpec((*batch, *self.shape), self.dtype)]
        if self.kind == "sequence":
            padded = TensorSpec((*batch, None, *self.shape), self.dtype)
            return [padded, TensorSpec(batch, INT64)] if steps else [padded]
        if self.kind == "ragged" and not self.is_ragged(batch):
            return [self.ragged().example]
        if self.kind == "ragged":
            return [TensorSpec((None,), self.dtype), TensorSpec((*(batch or (None,)), len(self.ragged().example.shape)), self.partition["shapes"])]
        if not batch and not steps:
            return [TensorSpec((None,), self.dtype)]
        rank = 1 + len(batch) + steps
        return [TensorSpec((None, rank), INT64), TensorSpec((None,), self.dtype), TensorSpec((rank,), INT64)]


def wanted(op, features, kinds, steps=False):
    """The features of a dict, in the order of their keys."""
    if not hasattr(features, "items"):
        raise InvalidArgumentError(f"{op}: features are {features!r:.60} of type {type(features).__name__}; give a dict of keys "
                                   "and features such as FixedLenFeature")
    for key in features:
        if not isinstance(key, (str, bytes)):
            raise TypeError(f"{op}: the key {key!r:.60} is of type {type(key).__name__}; keys of features are str")
    return [Wanted(op, k, f, kinds, steps) for k, f in sorted(features.items(), key=lambda item: item[0])]


def text_of(value, what):
    """The bytes of a bytes or str."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return bytes(value)
    raise TypeError(f"{what}: {value!r:.60} is of type {type(value).__name__}, and no text; give bytes or str")


def encoded(value):
    """Bytes as JSON has them."""
    return base64.b64encode(value).decode()
