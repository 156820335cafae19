"""Transformations that put elements together and take them apart, as methods of Dataset."""

import base64

import numpy as np

from infeed import _arguments, _definition, _subdataset
from infeed._errors import InvalidArgumentError
from infeed._features import SparseTensor
from infeed._spec import Structure, dtype_of


class Batching:
    """Batches, windows and buckets."""

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
        size = _arguments.integer("batch", "batch_size", batch_size)
        if size < 1:
            raise InvalidArgumentError(f"batch: batch_size is {size}; it must be at least 1")
        return self._rows("batch", {"batch_size": size, "drop_remainder": bool(drop_remainder)}, _stacked)

    def unbatch(self, name=None):
        """The rows of each element's components, as elements.

        Example:
            >>> import infeed
            >>> len(infeed.Dataset.range(4).batch(2, drop_remainder=True).unbatch())
            4
        """
        return self._rows("unbatch", {}, _taken)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Batches of another size, or of sizes that repeat, of the rows of batches.

        Example:
            >>> import infeed
            >>> [len(b) for b in infeed.Dataset.range(6).batch(2).rebatch([1, 2])]
            [1, 2, 1, 2]
        """
        sizes = [_arguments.at_least("rebatch", "batch_size", v, 1) for v in np.ravel(np.asarray(batch_size, object))]
        return self._rows("rebatch", {"batch_size": sizes, "drop_remainder": bool(drop_remainder)}, _tensors)

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        """Stacks elements of differing shapes, made as large as one another.

        padded_shapes: a shape for each component, nested as elements; None or -1 as a
        dimension: that of the longest of the batch. padding_values: nested likewise, or
        one value for all; None: 0, False, or empty text.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_generator(lambda: ([1] * n for n in (1, 3)), output_signature=infeed.TensorSpec((None,), "int32"))
            >>> next(iter(ds.padded_batch(2))).tolist()
            [[1, 0, 0], [1, 1, 1]]
        """
        args = _padding("padded_batch", self._node, padded_shapes, padding_values)
        size = _arguments.at_least("padded_batch", "batch_size", batch_size, 1)
        return self._rows("padded_batch", {"batch_size": size, "drop_remainder": bool(drop_remainder), **args}, _tensors)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype="int64", name=None):
        """Stacks elements of differing shapes as object arrays, one array an element.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_generator(lambda: ([1] * n for n in (1, 3)), output_signature=infeed.TensorSpec((None,), "int32"))
            >>> [x.tolist() for x in next(iter(ds.ragged_batch(2)))]
            [[1], [1, 1, 1]]
        """
        size = _arguments.at_least("ragged_batch", "batch_size", batch_size, 1)
        args = {"batch_size": size, "drop_remainder": bool(drop_remainder),
                "row_splits_dtype": dtype_of(row_splits_dtype, "ragged_batch: row_splits_dtype").str}
        return self._rows("ragged_batch", args, _ragged)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """Stacks elements of one component as an `infeed.io.SparseTensor`, with all of their values.

        row_shape: the shape of a row of it, which no element exceeds; None as a dimension:
        that of the longest of the batch. Raises DataLossError for a larger element.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_generator(lambda: ([1] * n for n in (1, 3)), output_signature=infeed.TensorSpec((None,), "int32"))
            >>> next(iter(ds.sparse_batch(2, [4]))).to_dense().tolist()
            [[1, 0, 0, 0], [1, 1, 1, 0]]
        """
        size = _arguments.at_least("sparse_batch", "batch_size", batch_size, 1)
        row = [-1 if d is None else _arguments.at_least("sparse_batch", "row_shape", d, 0) for d in _arguments.items("sparse_batch", "row_shape", row_shape)]
        structure = Structure("namedtuple", SparseTensor._fields, items=(_LEAF,) * 3, example=SparseTensor)
        return self._apply("sparse_batch", {"batch_size": size, "row_shape": row}, structure)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of size consecutive elements each, one for each component of elements.

        shift: how many elements after the start of a window the next one starts; None:
        size. stride: how far the elements of a window are from one another.

        Example:
            >>> import infeed
            >>> [[int(x) for x in w] for w in infeed.Dataset.range(5).window(3, shift=2)]
            [[0, 1, 2], [2, 3, 4], [4]]
        """
        size = _arguments.at_least("window", "size", size, 1)
        args = {"size": size, "shift": size if shift is None else _arguments.at_least("window", "shift", shift, 1),
                "stride": _arguments.at_least("window", "stride", stride, 1), "drop_remainder": bool(drop_remainder)}
        return self._apply("window", args, self._node.structure.rebuilt(_windowed, self._node.specs))

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                                  padding_values=None, pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False, name=None):
        """Batches of elements of about equal length, padded: the i-th bucket has those shorter than bucket_boundaries[i].

        element_length_func: from an element to an integer. bucket_batch_sizes: one more
        than boundaries. padded_shapes, padding_values: as `padded_batch`'s.
        pad_to_bucket_boundary: pad to one less than the boundary; longer elements are
        an error then. no_padding: all elements of a batch must have one shape.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_generator(lambda: ([1] * n for n in (1, 5, 2)), output_signature=infeed.TensorSpec((None,), "int32"))
            >>> [x.shape for x in ds.bucket_by_sequence_length(lambda x: x.shape[0], [3], [2, 2])]
            [(2, 2), (1, 5)]
        """
        op = "bucket_by_sequence_length"
        boundaries = [_arguments.integer(op, "bucket_boundaries", b) for b in _arguments.items(op, "bucket_boundaries", bucket_boundaries)]
        sizes = [_arguments.integer(op, "bucket_batch_sizes", b) for b in _arguments.items(op, "bucket_batch_sizes", bucket_batch_sizes)]
        if len(sizes) != len(boundaries) + 1:
            raise InvalidArgumentError(f"{op}: {len(sizes)} bucket_batch_sizes for {len(boundaries)} bucket_boundaries; one more is needed")
        args = {"bucket_boundaries": boundaries, "bucket_batch_sizes": sizes, "pad_to_bucket_boundary": bool(pad_to_bucket_boundary),
                "no_padding": bool(no_padding), "drop_remainder": bool(drop_remainder),
                **_padding(op, self._node, padded_shapes, padding_values)}
        structure = self._node.structure.rebuilt(_stacked if no_padding else _tensors, self._node.specs)
        return self._with(_subdataset.bucket_by_sequence_length(self._node, element_length_func, args, structure))

    def _rows(self, op, args, change):
        """The dataset of an operation that puts rows together or takes them apart."""
        return self._with(_RowsNode(op, args, self._node, change))


class _RowsNode(_definition.Node):
    """An operation that puts rows together or takes them apart.

    change: a function of a component that is ragged, or of any one, and the specs of its
    leaves, to what it becomes.
    """

    def __init__(self, op, args, node, change):
        super().__init__(op, args, (node,))
        self._change = change

    @property
    def structure(self):
        node = self.inputs[0]
        structure = node.structure
        return structure.rebuilt(self._change, node.specs) if self._change is _ragged or structure.has("ragged") else structure


_LEAF = Structure("leaf")


def _is_row(part):
    """Whether a component is an array out of a ragged one."""
    return part.kind == "ragged" and len(part.items) == 1


def _stacked(part, specs):
    """What a component becomes in batches."""
    return Structure("ragged", items=(_LEAF, _LEAF), example=part.example) if _is_row(part) else part


def _ragged(part, specs):
    """What a component becomes in ragged batches."""
    if part.kind == "leaf" and None in specs[0].shape:
        return Structure("ragged", items=(_LEAF, _LEAF), example=specs[0])
    return _stacked(part, specs)


def _windowed(part, specs):
    """What a component becomes in windows."""
    return Structure("dataset", items=(_LEAF,), example=(part, specs))


def _taken(part, specs):
    """What the rows of a component are."""
    if part.kind == "ragged" and len(specs) == 2 and len(specs[1].shape) == 2:
        return Structure("ragged", keys=(specs[1].dtype.str,), items=(_LEAF,), example=part.example)
    return _tensors(part, specs)


def _tensors(part, specs):
    """A component without the sign of having been in a ragged one."""
    return _LEAF if _is_row(part) else part


def _padding(op, node, padded_shapes, padding_values):
    """padded_shapes and padding_values as lists, one for each component."""
    structure, specs = node.structure.rebuilt(_tensors, node.specs), node.specs
    shapes = None
    if padded_shapes is not None:
        found = _nested(op, "padded_shapes", structure, padded_shapes)
        shapes = [[-1 if d is None else _arguments.integer(op, "padded_shapes", d) for d in (s if hasattr(s, "__iter__") and getattr(s, "ndim", 1) else (s,))] for s in found]
    if padding_values is None:
        values = [None] * len(specs)
    elif structure.kind == "leaf" or isinstance(padding_values, (tuple, dict)):
        values = _nested(op, "padding_values", structure, padding_values)
    else:
        values = [padding_values] * len(specs)
    encoded = [None if v is None else _padding_value(op, i, v, s.dtype) for i, (v, s) in enumerate(zip(values, specs))]
    return {"padded_shapes": shapes, "padding_values": encoded}


def _padding_value(op, i, value, dtype):
    if dtype.hasobject:
        raw = value.encode() if isinstance(value, str) else value
        if not isinstance(raw, bytes):
            raise InvalidArgumentError(f"{op}: padding value {i} is {value!r}; component {i} is text")
        return base64.b64encode(raw).decode()
    a = np.asarray(value)
    if a.ndim or a.dtype.kind not in "biufc" or not np.can_cast(np.min_scalar_type(a[()]) if a.dtype.kind in "iub" else a.dtype, dtype, "same_kind"):
        raise InvalidArgumentError(f"{op}: padding value {i} is {value!r}; component {i} has dtype {dtype}")
    return base64.b64encode(a.astype(dtype).tobytes()).decode()


def _nested(op, name, structure, value):
    """The parts of a value nested as a structure, one for each component."""
    try:
        return list(_parts(structure, value))
    except (TypeError, KeyError, ValueError):
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; it must be nested as elements are, with one for each of the "
                                   f"{structure.leaves()} components") from None


def _parts(structure, value):
    if structure.kind == "leaf":
        yield value
        return
    if structure.kind == "dict":
        if len(value) != len(structure.order):
            raise KeyError
        value = [value[key] for key in structure.order]
    for part, item in zip(value, structure.items, strict=True):
        yield from _parts(item, part)
