"""Transformations of datasets, as methods of Dataset."""

import base64
import os

import numpy as np

from infeed import _arguments, _errors, _function, _sources, _subdataset
from infeed._errors import InvalidArgumentError
from infeed._spec import Structure


class Transformations:
    """The methods of Dataset that make datasets of it."""

    def shuffle(self, buffer_size=None, seed=None, reshuffle_each_iteration=True, name=None):
        """The elements in an order that is a function of seed and pass.

        buffer_size: 1 leaves the order as it is; any other, or None, shuffles the
        whole dataset in memory that does not grow with it. An infinite dataset is
        shuffled within windows of buffer_size elements. seed: an int; None draws
        one, which `state_dict` tells. reshuffle_each_iteration: False gives each
        pass, and each repetition, the same order; parts made by take and skip behind
        it are disjoint over passes only so.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(seed=7)
            >>> sorted(int(x) for x in ds)
            [1, 2, 3, 4]
        """
        if buffer_size is not None and not (size := _arguments.integer("shuffle", "buffer_size", buffer_size)) > 0:
            if size != -2:
                raise InvalidArgumentError(f"shuffle: buffer_size is {size}; it must be at least 1, or None for all")
            buffer_size = None
        args = {"buffer_size": None if buffer_size is None else int(buffer_size), "drawn": seed is None,
                "same_each_pass": reshuffle_each_iteration is not None and not reshuffle_each_iteration}
        args["seed"] = int.from_bytes(os.urandom(7), "little") if seed is None else _arguments.integer("shuffle", "seed", seed, _arguments.U64) & _arguments.U64
        return self._apply("shuffle", args)

    def repeat(self, count=None, name=None):
        """The dataset count times over; None or -1: without end. Each repetition is shuffled anew.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.from_tensor_slices([1, 2]).repeat(2)]
            [1, 2, 1, 2]
        """
        count = -1 if count is None else _arguments.integer("repeat", "count", count)
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
        size = _arguments.integer("batch", "batch_size", batch_size)
        if size < 1:
            raise InvalidArgumentError(f"batch: batch_size is {size}; it must be at least 1")
        return self._apply("batch", {"batch_size": size, "drop_remainder": bool(drop_remainder)})

    def take(self, count, name=None):
        """The first count elements; -1: all.

        Example:
            >>> import infeed
            >>> len(infeed.Dataset.from_tensor_slices([1, 2, 3]).take(2))
            2
        """
        return self._apply("take", {"count": max(_arguments.integer("take", "count", count), -1)})

    def skip(self, count, name=None):
        """What comes after the first count elements; -1: nothing.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.from_tensor_slices([1, 2, 3]).skip(2)]
            [3]
        """
        return self._apply("skip", {"count": max(_arguments.integer("skip", "count", count), -1)})

    def shard(self, num_shards, index, name=None):
        """Every num_shards-th element, from element index on.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.from_tensor_slices([1, 2, 3, 4]).shard(2, 1)]
            [2, 4]
        """
        shards, index = _arguments.shard("shard", (num_shards, index))
        return self._apply("shard", {"num_shards": shards, "index": index})

    def prefetch(self, buffer_size=None, name=None):
        """The same dataset: elements are made ahead anyway, within `Options.ram_budget`.

        Example:
            >>> import infeed
            >>> len(infeed.Dataset.range(3).prefetch(infeed.AUTOTUNE))
            3
        """
        size = -1 if buffer_size is None else _arguments.integer("prefetch", "buffer_size", buffer_size)
        return self._apply("prefetch", {"buffer_size": size})

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False,
            name=None, *, processes=None):
        """What map_func makes of each element.

        map_func: a function of NumPy semantics. It is traced: what NumPy and `infeed`
        operations express runs natively, and in parallel; what they do not runs as
        Python, see `explain`. Elements that are tuples are given as positional
        arguments; text is bytes. num_parallel_calls: how many threads call a function
        of Python; None: the one that waits for elements. processes: how many worker
        processes call it instead. deterministic is accepted; the order never changes.
        An exception in map_func is raised at its element.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(3).map(lambda x: x * 2 + 1)]
            [1, 3, 5]
        """
        calls = num_parallel_calls if num_parallel_calls is None else _calls("map", num_parallel_calls)
        if processes is not None:
            _at_least("map", "processes", processes, 1)
        return self._with(_function.MapNode(self._node, map_func, calls, processes))

    def filter(self, predicate, name=None):
        """The elements for which predicate, a function as map's, is true.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(6).filter(lambda x: x % 2 == 1)]
            [1, 3, 5]
        """
        return self._with(_function.PredicateNode("filter", self._node, predicate))

    def take_while(self, predicate, name=None):
        """The elements before the first for which predicate is false.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(6).take_while(lambda x: x < 2)]
            [0, 1]
        """
        return self._with(_function.PredicateNode("take_while", self._node, predicate))

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that map_func makes of elements, one dataset after the other.

        map_func is traced: where an argument of a dataset is computed from its own, as
        paths or arrays are, the engine does that for each element. A function that
        needs the values themselves is called in Python for each element, see
        `explain`. Raises TypeError where it does not return a Dataset.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.range(4).flat_map(lambda x: infeed.Dataset.range(x))
            >>> [int(x) for x in ds]
            [0, 0, 1, 0, 1, 2]
        """
        return self._with(_subdataset.flat_map(self._node, map_func))

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None, name=None):
        """The elements of the datasets that map_func makes, in turn: block_length (1) of each of cycle_length datasets.

        cycle_length: how many are open at once; None or AUTOTUNE: 8, on any machine.
        num_parallel_calls: how many of them are read ahead at once, which changes no
        order. deterministic is accepted; the order never changes. map_func: as
        `flat_map`'s. Raises InvalidArgumentError for lengths below 1.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.range(3).interleave(lambda x: infeed.Dataset.from_tensors(x).repeat(2), cycle_length=2)
            >>> [int(x) for x in ds]
            [0, 1, 0, 1, 2, 2]
        """
        cycle = None if cycle_length is None else _arguments.integer("interleave", "cycle_length", cycle_length)
        calls = None if num_parallel_calls is None else _calls("interleave", num_parallel_calls)
        if cycle is None or cycle == -1:
            cycle = _CYCLE
            calls = calls and min(calls, cycle)
        _at_least("interleave", "cycle_length", cycle, 1)
        block = 1 if block_length is None else _at_least("interleave", "block_length", block_length, 1)
        if calls is not None and calls > cycle:
            raise InvalidArgumentError(f"interleave: num_parallel_calls is {calls}; it can be no more than cycle_length, {cycle}")
        return self._with(_subdataset.interleave(self._node, map_func, cycle, block, calls))

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """The datasets that reduce_func makes of groups of window_size elements with one key.

        key_func: from an element to an integer. reduce_func: from a key and the dataset
        of a group to a Dataset. window_size_func: from a key to a window_size. A group
        comes when it is complete; what is left at the end, in the order of keys.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.range(7).group_by_window(lambda x: x % 2, lambda key, ds: ds.batch(3), window_size=3)
            >>> [x.tolist() for x in ds]
            [[0, 2, 4], [1, 3, 5], [6]]
        """
        if (window_size is None) == (window_size_func is None):
            raise InvalidArgumentError("group_by_window: give window_size or window_size_func, one of them")
        size = None if window_size is None else _arguments.integer("group_by_window", "window_size", window_size)
        return self._with(_subdataset.group_by_window(self._node, key_func, reduce_func, size, window_size_func))

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
        boundaries = [_arguments.integer(op, "bucket_boundaries", b) for b in bucket_boundaries]
        sizes = [_arguments.integer(op, "bucket_batch_sizes", b) for b in bucket_batch_sizes]
        if len(sizes) != len(boundaries) + 1:
            raise InvalidArgumentError(f"{op}: {len(sizes)} bucket_batch_sizes for {len(boundaries)} bucket_boundaries; one more is needed")
        args = {"bucket_boundaries": boundaries, "bucket_batch_sizes": sizes, "pad_to_bucket_boundary": bool(pad_to_bucket_boundary),
                "no_padding": bool(no_padding), "drop_remainder": bool(drop_remainder),
                **_padding(op, self._node, padded_shapes, padding_values)}
        return self._with(_subdataset.bucket_by_sequence_length(self._node, element_length_func, args))

    def scan(self, initial_state, scan_func, name=None):
        """What scan_func makes of a state and each element: `state, output = scan_func(state, element)`.

        Example:
            >>> import infeed
            >>> import numpy as np
            >>> sums = infeed.Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s + x))
            >>> [int(x) for x in sums]
            [0, 1, 3, 6]
        """
        return self._with(_function.FoldNode("scan", self._node, initial_state, scan_func))

    def reduce(self, initial_state, reduce_func, name=None):
        """The state after all elements: `state = reduce_func(state, element)` for each.

        Example:
            >>> import infeed
            >>> import numpy as np
            >>> int(infeed.Dataset.range(5).reduce(np.int64(0), lambda s, x: s + x))
            10
        """
        return self._with(_function.FoldNode("reduce", self._node, initial_state, reduce_func)).get_single_element()

    def enumerate(self, start=0, name=None):
        """Pairs of a number, counted from start, and an element.

        Example:
            >>> import infeed
            >>> list(infeed.Dataset.from_tensor_slices([b"a", b"b"]).enumerate())
            [(np.int64(0), b'a'), (np.int64(1), b'b')]
        """
        structure = Structure("tuple", items=(Structure("leaf"), self._node.structure))
        return self._apply("enumerate", {"start": _arguments.integer("enumerate", "start", start)}, structure)

    @classmethod
    def zip(cls, *args, datasets=None, name=None):
        """Elements of several datasets side by side, nested as the datasets are; it ends with the shortest.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.zip(infeed.Dataset.range(2), infeed.Dataset.range(5, 9))
            >>> [(int(a), int(b)) for a, b in ds]
            [(0, 5), (1, 6)]
        """
        if (datasets is None) == (not args):
            raise InvalidArgumentError("zip: give datasets, once")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        structure, leaves = Structure.of(given)
        found = [v for _, v in leaves]
        for (path, v) in leaves:
            if not isinstance(v, Transformations):
                raise InvalidArgumentError(f"zip: datasets{path} is {v!r:.100}; a Dataset is needed")
        if not found:
            raise InvalidArgumentError("zip: there is no dataset; give at least one")
        inner = iter([d._node.structure for d in found])
        return found[0]._apply("zip", {"structure": structure.document()}, structure.replaced(inner), found[1:])

    def concatenate(self, dataset, name=None):
        """The elements of this dataset and then those of another, which have the same structure and dtypes.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(2).concatenate(infeed.Dataset.range(2))]
            [0, 1, 0, 1]
        """
        return self._apply("concatenate", inputs=[_dataset("concatenate", "dataset", dataset)])

    def unbatch(self, name=None):
        """The rows of each element's components, as elements.

        Example:
            >>> import infeed
            >>> len(infeed.Dataset.range(4).batch(2, drop_remainder=True).unbatch())
            4
        """
        return self._apply("unbatch")

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Batches of another size, or of sizes that repeat, of the rows of batches.

        Example:
            >>> import infeed
            >>> [len(b) for b in infeed.Dataset.range(6).batch(2).rebatch([1, 2])]
            [1, 2, 1, 2]
        """
        sizes = [_at_least("rebatch", "batch_size", v, 1) for v in np.ravel(np.asarray(batch_size, object))]
        return self._apply("rebatch", {"batch_size": sizes, "drop_remainder": bool(drop_remainder)})

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
        size = _at_least("padded_batch", "batch_size", batch_size, 1)
        return self._apply("padded_batch", {"batch_size": size, "drop_remainder": bool(drop_remainder), **args})

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype="int64", name=None):
        """Stacks elements of differing shapes as object arrays, one array an element.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_generator(lambda: ([1] * n for n in (1, 3)), output_signature=infeed.TensorSpec((None,), "int32"))
            >>> [x.tolist() for x in next(iter(ds.ragged_batch(2)))]
            [[1], [1, 1, 1]]
        """
        size = _at_least("ragged_batch", "batch_size", batch_size, 1)
        leaf = Structure("leaf")
        parts = iter([Structure("ragged", items=(leaf, leaf), example=s) if None in s.shape else leaf for s in self._node.specs])
        return self._apply("ragged_batch", {"batch_size": size, "drop_remainder": bool(drop_remainder),
                                            "row_splits_dtype": np.dtype(row_splits_dtype).str}, self._node.structure.replaced(parts))

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of size consecutive elements each, one for each component of elements.

        shift: how many elements after the start of a window the next one starts; None:
        size. stride: how far the elements of a window are from one another.

        Example:
            >>> import infeed
            >>> [[int(x) for x in w] for w in infeed.Dataset.range(5).window(3, shift=2)]
            [[0, 1, 2], [2, 3, 4], [4]]
        """
        size = _at_least("window", "size", size, 1)
        args = {"size": size, "shift": size if shift is None else _at_least("window", "shift", shift, 1),
                "stride": _at_least("window", "stride", stride, 1), "drop_remainder": bool(drop_remainder)}
        datasets = iter([Structure("dataset", items=(Structure("leaf"),), example=s) for s in self._node.specs])
        return self._apply("window", args, self._node.structure.replaced(datasets))

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None):
        """Elements of datasets, which are drawn by chance.

        weights: how likely each dataset is, or a Dataset of such; None: all alike.
        stop_on_empty_dataset: end with the first dataset that ends; otherwise its
        elements are drawn from the others. rerandomize_each_iteration: None or True
        draws anew in each pass.

        Example:
            >>> import infeed
            >>> D = infeed.Dataset
            >>> len(list(D.sample_from_datasets([D.range(3), D.range(5)], weights=[0.5, 0.5], seed=1)))
            8
        """
        found = _datasets("sample_from_datasets", datasets)
        drawn, seed = _sources.seed_of("sample_from_datasets", seed)
        args = {"weights": None, "weights_dataset": isinstance(weights, Transformations), "stop_on_empty_dataset": bool(stop_on_empty_dataset),
                "seed": seed, "drawn": drawn, "rerandomize_each_iteration": rerandomize_each_iteration is None or bool(rerandomize_each_iteration)}
        more = [weights] if args["weights_dataset"] else []
        if weights is not None and not more:
            args["weights"] = _reals("sample_from_datasets", "weights", weights)
        return found[0]._apply("sample_from_datasets", args, inputs=[*found[1:], *more])

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """The next element of the dataset whose number choice_dataset, of int64 scalars, gives.

        Example:
            >>> import infeed
            >>> D = infeed.Dataset
            >>> [int(x) for x in D.choose_from_datasets([D.range(3), D.range(10, 13)], D.from_tensor_slices([0, 1, 1]).map(lambda x: x.astype("int64")))]
            [0, 10, 11]
        """
        found = _datasets("choose_from_datasets", datasets)
        choice = _dataset("choose_from_datasets", "choice_dataset", choice_dataset)
        return found[0]._apply("choose_from_datasets", {"stop_on_empty_dataset": bool(stop_on_empty_dataset)}, inputs=[*found[1:], choice])

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """Pairs of a class and an element, some left out so that classes come as often as target_dist says.

        class_func: a function as map's, of elements to int32 classes. initial_dist: how
        often classes come in this dataset; None: it is estimated on the way.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.range(100).rejection_resample(lambda x: (x % 2).astype("int32"), [0.0, 1.0], [0.5, 0.5], seed=1)
            >>> {int(c) for c, x in ds}
            {1}
        """
        drawn, seed = _sources.seed_of("rejection_resample", seed)
        args = {"target_dist": _reals("rejection_resample", "target_dist", target_dist), "seed": seed, "drawn": drawn,
                "initial_dist": None if initial_dist is None else _reals("rejection_resample", "initial_dist", initial_dist)}
        return self._with(_function.ClassNode(self._node, class_func, args))

    def unique(self, name=None):
        """The elements without those that came before.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.from_tensor_slices([1, 2, 1]).unique()]
            [1, 2]
        """
        return self._apply("unique")

    def ignore_errors(self, log_warning=False, name=None):
        """The elements that can be made; those that fail are left out and counted.

        log_warning: log at the end of a pass how many, and the first places; they are in
        `stats()` of the iterator in any case.

        Example:
            >>> import infeed
            >>> def some(x):
            ...     if x == 1: raise ValueError("no")
            ...     return x
            >>> [int(x) for x in infeed.Dataset.range(3).map(some).ignore_errors()]
            [0, 2]
        """
        out = self._apply("ignore_errors")
        out._node.log_warning = bool(log_warning)
        return out

    def cache(self, filename="", name=None):
        """The elements as the first whole pass made them, kept for the passes after it.

        filename: "" keeps them in memory; a path keeps them there, as an uncompressed
        `snapshot`, also for other runs.

        Example:
            >>> import infeed
            >>> len(infeed.Dataset.range(3).cache())
            3
        """
        if filename:
            folder = os.path.dirname(os.path.abspath(filename))
            if not os.path.isdir(folder):
                raise _errors.NotFoundError(f"cache: the folder {folder} is not there; make it, or give another filename")
            return self.snapshot(filename, compression=None)
        return self._apply("cache")

    def assert_cardinality(self, expected_cardinality, name=None):
        """The same elements, with a known cardinality; another number of elements is an error.

        Example:
            >>> import infeed
            >>> len(infeed.Dataset.range(6).filter(lambda x: x < 3).assert_cardinality(3))
            3
        """
        n = _arguments.integer("assert_cardinality", "expected_cardinality", expected_cardinality)
        return self._apply("assert_cardinality", {"expected_cardinality": n})

    def apply(self, transformation_func, name=None):
        """`transformation_func(self)`, which must be a Dataset.

        Example:
            >>> import infeed
            >>> len(infeed.Dataset.range(6).apply(lambda ds: ds.take(2)))
            2
        """
        return _dataset("apply", "the result of transformation_func", transformation_func(self))

    def get_single_element(self, name=None):
        """The one element of the dataset; InvalidArgumentError where there are none or more.

        Example:
            >>> import infeed
            >>> int(infeed.Dataset.from_tensors(5).get_single_element())
            5
        """
        it = self.iterator(epoch=0)
        try:
            try:
                found = next(it)
            except StopIteration:
                raise InvalidArgumentError("get_single_element: the dataset is empty; one element is needed") from None
            try:
                next(it)
            except StopIteration:
                return found
            raise InvalidArgumentError("get_single_element: the dataset has more than one element")
        finally:
            it.close()

    def _with(self, node):
        return type(self)._of(node, self._options)


_CYCLE = 8  # datasets that interleave has open, unless the user says how many


def _calls(op, value):
    n = _arguments.integer(op, "num_parallel_calls", value)
    if n < 1 and n != -1:
        raise InvalidArgumentError(f"{op}: num_parallel_calls is {n}; it must be at least 1, AUTOTUNE or None")
    return n


def _at_least(op, name, value, least):
    n = _arguments.integer(op, name, value)
    if n < least:
        raise InvalidArgumentError(f"{op}: {name} is {n}; it must be at least {least}")
    return n


def _dataset(op, name, value):
    if not isinstance(value, Transformations):
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; a Dataset is needed")
    return value


def _datasets(op, value):
    found = [_dataset(op, f"datasets[{i}]", d) for i, d in enumerate(value)]
    if not found:
        raise InvalidArgumentError(f"{op}: there is no dataset; give at least one")
    return found


def _reals(op, name, value):
    try:
        found = [float(v) for v in np.ravel(np.asarray(value, np.float64))]
    except (TypeError, ValueError) as e:
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; numbers are needed") from e
    if not all(0 <= v < np.inf for v in found):
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; each must be a finite number that is not negative")
    return found


def _padding(op, node, padded_shapes, padding_values):
    """padded_shapes and padding_values as lists, one for each component."""
    structure, specs = node.structure, node.specs
    shapes = None
    if padded_shapes is not None:
        found = list(_parts(structure, padded_shapes))
        shapes = [[-1 if d is None or d == -1 else int(d) for d in (s if hasattr(s, "__iter__") else (s,))] for s in found]
    if padding_values is None:
        values = [None] * len(specs)
    elif structure.kind == "leaf" or isinstance(padding_values, (tuple, dict)):
        values = list(_parts(structure, padding_values))
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


def _parts(structure, value):
    """The parts of a value nested as a structure, one for each component."""
    if structure.kind == "leaf":
        yield value
    elif structure.kind == "dict":
        for key, item in zip(structure.order, structure.items):
            yield from _parts(item, value[key])
    else:
        for part, item in zip(value, structure.items):
            yield from _parts(item, part)
