"""Reading what TensorFlow's users keep in files: tf.io's names, arguments and errors.

Inside `Dataset.map` the functions become operations of the engine, which runs them on
many elements at once; on values, such as bytes, they compute at once.
"""

import os

import numpy as np

from infeed import _advice, _csv_columns, _definition, _trace
from infeed._errors import InvalidArgumentError
from infeed._features import (INT64, TEXT, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseTensor, VarLenFeature,
                              dtype_of, text_of, wanted)
from infeed._spec import TensorSpec
from infeed._stand_in import shape_of
from infeed._writer import TFRecordOptions, TFRecordWriter

__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseTensor", "TFRecordOptions", "TFRecordWriter",
           "VarLenFeature", "decode_csv", "decode_raw", "parse_example", "parse_sequence_example",
           "parse_single_example", "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_tensor"]


def parse_example(serialized, features, example_names=None, name=None):
    """Finds features in a batch of serialized tf.train.Examples, text of shape (n,): tf.io.parse_example.

    `features` is a dict of FixedLenFeature, VarLenFeature, FixedLenSequenceFeature and RaggedFeature; the result has their keys.
    `example_names` are for messages of errors. Raises InvalidArgumentError for what is no Example, and for a feature
    that is missing or has another type or number of values, saying which and what there is instead.

    Example:
        >>> from infeed.io import FixedLenFeature, parse_example
        >>> example = bytes.fromhex("0a0c0a0a0a017912051a030a0103")
        >>> parse_example([example, example], {"y": FixedLenFeature([], "int64")})["y"].tolist()
        [3, 3]
    """
    return _parse("parse_example", serialized, features, example_names)


def parse_single_example(serialized, features, example_names=None, name=None):
    """Finds features in one serialized tf.train.Example: tf.io.parse_single_example.

    As `parse_example`, without the leading dimension. A VarLenFeature gives a vector of shape (None,), and
    so does a RaggedFeature without partitions.

    Example:
        >>> from infeed.io import FixedLenFeature, VarLenFeature, parse_single_example
        >>> example = bytes.fromhex("0a0c0a0a0a017912051a030a0103")
        >>> parse_single_example(example, {"y": FixedLenFeature([1], "int64")})["y"].tolist()
        [3]
        >>> both = {"y": VarLenFeature("int64"), "z": FixedLenFeature([], "float32", 0.5)}
        >>> {k: v.tolist() for k, v in parse_single_example(example, both).items()}
        {'y': [3], 'z': 0.5}
    """
    return _parse("parse_single_example", serialized, features, example_names)


def _parse(op, serialized, features, names):
    if features is None or not features:
        raise InvalidArgumentError(f"{op}: features are {features!r}; give a dict with one at least")
    want = wanted(op, features, ("fixed", "var", "sequence", "ragged"))
    texts, batch = _messages(op, serialized, names)
    results = _run("parse_example", {"features": [w.form() for w in want]}, texts, [s for w in want for s in w.specs(batch)])
    return _packed(want, results, batch)


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """Finds features in a batch of serialized tf.train.SequenceExamples, text of shape (n,): tf.io.parse_sequence_example.

    Returns three dicts: of the context, of the feature lists, and how many steps each example has in those that are
    FixedLenSequenceFeatures, int64 (n,). Feature lists are (n, longest, *shape), or a `SparseTensor` of (n, longest,
    most values of a step) for a VarLenFeature. Raises as `parse_example`.

    Example:
        >>> from infeed.io import FixedLenSequenceFeature, parse_sequence_example
        >>> example = bytes.fromhex("12150a130a0176120e0a051a030a01010a051a030a0102")
        >>> steps = {"v": FixedLenSequenceFeature([], "int64")}
        >>> context, lists, lengths = parse_sequence_example([example, example], sequence_features=steps)
        >>> lists["v"].tolist(), lengths["v"].tolist()
        ([[1, 2], [1, 2]], [2, 2])
    """
    return _parse_sequence("parse_sequence_example", serialized, context_features, sequence_features, example_names)


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None, name=None):
    """Finds features in one serialized tf.train.SequenceExample: tf.io.parse_single_sequence_example.

    Returns two dicts: of the context, and of the feature lists, which are (steps, *shape), or a `SparseTensor` of
    (steps, most values of a step) for a VarLenFeature. Raises as `parse_example`.

    Example:
        >>> from infeed.io import FixedLenSequenceFeature, parse_single_sequence_example
        >>> example = bytes.fromhex("12150a130a0176120e0a051a030a01010a051a030a0102")
        >>> context, lists = parse_single_sequence_example(example, None, {"v": FixedLenSequenceFeature([], "int64")})
        >>> lists["v"].tolist()
        [1, 2]
    """
    return _parse_sequence("parse_single_sequence_example", serialized, context_features, sequence_features, example_name)[:2]


def _parse_sequence(op, serialized, context, lists, names):
    if not context and not lists:
        raise InvalidArgumentError(f"{op}: there are no context_features and no sequence_features; give one at least")
    context = wanted(op, context or {}, ("fixed", "var"))
    lists = wanted(op, lists or {}, ("var", "sequence"), steps=True)
    texts, batch = _messages(op, serialized, names)
    specs = [s for w in context for s in w.specs(batch)] + [s for w in lists for s in w.specs(batch, steps=True)]
    results = _run("parse_sequence_example", {"context": [w.form() for w in context], "lists": [w.form() for w in lists]},
                   texts, specs)
    values, steps, lengths = _packed(context, results, batch), {}, {}
    for w in lists:
        if w.kind == "var":
            steps[w.key] = SparseTensor(next(results), next(results), next(results))
        else:
            steps[w.key], lengths[w.key] = next(results), next(results)
    return values, steps, lengths


def _packed(want, results, batch):
    """The dict of results, an iterator, which are in the order of features."""
    out = {}
    for w in want:
        if w.is_ragged(batch):
            out[w.key] = w.ragged().pack((next(results), next(results)))
        elif w.kind == "var" and batch:
            out[w.key] = SparseTensor(next(results), next(results), next(results))
        else:
            out[w.key] = next(results)
    return out


def _messages(op, serialized, names):
    """The operands of a parser of examples, and their shape."""
    try:
        texts = [_text(op, "serialized", serialized)]
    except TypeError as e:
        raise InvalidArgumentError(str(e)) from None
    shape = shape_of(texts[0])
    if shape and "single" in op:
        raise InvalidArgumentError(f"{op}: serialized has the shape {shape}, and has to be a single text; use {op.replace('single_', '')}")
    if len(shape) > 1:
        raise InvalidArgumentError(f"{op}: serialized has the shape {shape}; give a vector, or a single text")
    if names is not None:
        texts.append(_text(op, "example_names", names))
        if shape_of(texts[1]) != shape:
            raise InvalidArgumentError(f"{op}: example_names have the shape {shape_of(texts[1])} and serialized {shape}; "
                                       "give each example a name")
    return texts, shape


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """Sees the bytes of texts as numbers: text of any shape to `out_type` of (*shape, n): tf.io.decode_raw.

    All texts need the same number of bytes, or are cut or filled up with zeros to `fixed_length` bytes. `out_type` is
    any dtype of numbers. Raises InvalidArgumentError for sizes that do not fit.

    Example:
        >>> from infeed.io import decode_raw
        >>> decode_raw(b"\\x01\\x00\\x02\\x00", "int16").tolist()
        [1, 2]
        >>> decode_raw([b"\\x01", b""], "uint8", fixed_length=2).tolist()
        [[1, 0], [0, 0]]
    """
    dtype = dtype_of(out_type, "decode_raw: out_type")
    if dtype.kind not in "biufcV" or not dtype.itemsize or dtype.names:
        raise InvalidArgumentError(f"decode_raw: out_type is {dtype}, which bytes cannot be seen as; give a dtype of numbers")
    texts = _text("decode_raw", "input_bytes", input_bytes)
    attrs, count = {"dtype": _definition.plain(dtype).str, "big": not little_endian}, None
    if fixed_length is not None:
        if isinstance(fixed_length, bool) or not hasattr(fixed_length, "__index__"):
            raise TypeError(f"decode_raw: fixed_length is {fixed_length!r:.60}; give a number of bytes")
        attrs["fixed_length"] = fixed_length = int(fixed_length)
        if fixed_length <= 0 or fixed_length % dtype.itemsize:
            raise InvalidArgumentError(f"decode_raw: fixed_length is {fixed_length}; give a multiple of the {dtype.itemsize} "
                                       f"bytes of {dtype}, more than 0")
        count = fixed_length // dtype.itemsize
    return next(_run("decode_raw", attrs, [texts], [TensorSpec((*shape_of(texts), count), dtype)]))


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None):
    """Parses texts of any shape, each one row of CSV, to a list of arrays of that shape, one a column: tf.io.decode_csv.

    `record_defaults` has a default for each column, which gives its dtype, int32, int64, float32, float64 or text; an
    empty one makes values required. `select_cols` are the fields to use, rising from 0. Raises InvalidArgumentError
    for a record that does not fit, saying which field and why.

    Example:
        >>> from infeed.io import decode_csv
        >>> [c.tolist() for c in decode_csv(["1,x", ",y"], [[7], [""]])]
        [[1, 7], [b'x', b'y']]
    """
    columns, attrs = _csv_columns.of(record_defaults, field_delim, use_quote_delim, na_value, select_cols)
    texts = _text("decode_csv", "records", records)
    return list(_run("decode_csv", attrs, [texts], [TensorSpec(shape_of(texts), dtype) for dtype in columns]))


def serialize_tensor(tensor, name=None):
    """The bytes of a TensorProto that holds an array: tf.io.serialize_tensor, byte for byte.

    Raises InvalidArgumentError for what is no array, or has a dtype that TensorFlow has not.

    Example:
        >>> from infeed.io import parse_tensor, serialize_tensor
        >>> parse_tensor(serialize_tensor([1.0, 2.0]), "float32").tolist()
        [1.0, 2.0]
    """
    value = _array("serialize_tensor", tensor)
    attrs = {"dtype": "string" if value.dtype == TEXT else value.dtype.name}
    return next(_run("serialize_tensor", attrs, [value], [TensorSpec((), TEXT)]))


def parse_tensor(serialized, out_type, name=None, *, shape=None):
    """The array in a serialized TensorProto, whose dtype has to be `out_type`: tf.io.parse_tensor.

    `shape` is what is known of its shape; None is a dimension that differs. Inside `map` it lets this run natively, for
    there the number of dimensions has to be known. Raises InvalidArgumentError for another dtype or shape, and for what
    is no TensorProto.

    Example:
        >>> from infeed.io import parse_tensor, serialize_tensor
        >>> parse_tensor(serialize_tensor([[1, 2]]), "int32", shape=[None, 2]).shape
        (1, 2)
    """
    dtype = dtype_of(out_type, "parse_tensor: out_type")
    text = _single("parse_tensor", "serialized", serialized)
    attrs = {"dtype": "string" if dtype == TEXT else dtype.name}
    if shape is not None:
        spec = TensorSpec(shape, dtype)
        attrs["shape"] = [-1 if d is None else d for d in spec.shape]
        return next(_run("parse_tensor", attrs, [text], [spec]))
    if _trace.trace_of([text]) is not None:
        _trace.trace_of([text]).end("parse_tensor gives any number of dimensions; give it shape=, such as [None, 3]")
    values, dimensions = _run("parse_tensor", attrs, [text], [TensorSpec((None,), dtype), TensorSpec((None,), INT64)])
    return values.reshape(dimensions)[()]


def read_file(filename, name=None):
    """The content of a file as bytes: tf.io.read_file.

    Raises NotFoundError where there is none, InvalidArgumentError for a folder.

    Example:
        >>> import infeed, tempfile
        >>> with tempfile.NamedTemporaryFile() as f:
        ...     _ = f.write(b"abc"), f.flush()
        ...     infeed.io.read_file(f.name)
        b'abc'
    """
    if isinstance(filename, os.PathLike):
        filename = os.fsencode(filename)
    return next(_run("read_file", {}, [_single("read_file", "filename", filename)], [TensorSpec((), TEXT)]))


def _text(op, what, value):
    """Text of any shape as a stand-in, or as an array of bytes objects. Raises TypeError for anything else."""
    trace = _trace.trace_of([value])
    if trace is not None:
        value = trace.tensor(value)
        if not value.dtype.hasobject:
            raise TypeError(f"{op}: {what} is {value!r}, and no text")
        return value
    a = np.asarray(value, object)
    out = np.empty(a.shape, object)
    for i, v in enumerate(a.flat):
        out.flat[i] = text_of(v, f"{op}: {what}")
    return out


def _single(op, what, value):
    text = _text(op, what, value)
    if text.shape:
        raise InvalidArgumentError(f"{op}: {what} has the shape {tuple(text.shape)}; give a single text")
    return text


def _array(op, value):
    """A stand-in, or an array whose dtype is TensorFlow's choice for Python's values."""
    trace = _trace.trace_of([value])
    if trace is not None:
        return trace.tensor(value)
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        try:
            return _text(op, "tensor", value)
        except TypeError as e:
            raise InvalidArgumentError(str(e)) from None
    return _trace.result_array(list(value) if isinstance(value, tuple) else value, f"{op}: tensor")


def _run(op, attrs, operands, results):
    """The results of an operation, one after the other: noted where operands are stand-ins, computed where not."""
    if _trace.trace_of(operands) is not None:
        return iter(_trace.record(op, operands, attrs, results))
    from infeed import _program

    n = len(operands)
    outputs = list(range(n, n + len(results)))
    document = {"nodes": [{"op": op, "in": list(range(n)), "attrs": attrs}], "outputs": outputs,
                "structure": {"tuple": [None] * len(results)}}
    return iter(_program.results(document, results, operands))


def __getattr__(name):
    raise AttributeError(_advice.missing("infeed.io", name))
