"""Transformations of datasets, as methods of Dataset."""

import os

from infeed import _arguments, _errors, _nodes, _subdataset
from infeed._batching import Batching
from infeed._errors import InvalidArgumentError
from infeed._mixing import Mixing
from infeed._spec import Structure


class Transformations(Batching, Mixing):
    """The methods of Dataset that make datasets of it."""

    def shuffle(self, buffer_size=None, seed=None, reshuffle_each_iteration=True, name=None, *, page_size=None):
        """The elements in an order that is a function of seed and pass.

        buffer_size: 1 leaves the order as it is; any other, or None, shuffles the
        whole dataset in memory that does not grow with it. An infinite dataset is
        shuffled within windows of buffer_size elements. seed: an int; None draws
        one, which `state_dict` tells. reshuffle_each_iteration: False gives each
        pass, and each repetition, the same order; parts made by take and skip behind
        it are disjoint over passes only so. page_size: for data with random access
        that is larger than memory: pages of so many elements that follow one another are
        shuffled, and then the elements of buffer_size // page_size pages together. So a page
        is read as a whole, and once; twice buffer_size elements are held. Raises
        InvalidArgumentError for sizes below 1, and for page_size where there is no random
        access or no buffer_size.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.from_tensor_slices([1, 2, 3, 4]).shuffle(seed=7)
            >>> sorted(int(x) for x in ds)
            [1, 2, 3, 4]
            >>> paged = infeed.Dataset.range(10_000).shuffle(buffer_size=2000, page_size=100)
            >>> sorted(int(x) for x in paged) == list(range(10_000))
            True
        """
        if buffer_size is not None and not (size := _arguments.integer("shuffle", "buffer_size", buffer_size)) > 0:
            if size != -2:
                raise InvalidArgumentError(f"shuffle: buffer_size is {size}; it must be at least 1, or None for all")
            buffer_size = None
        args = {"buffer_size": None if buffer_size is None else int(buffer_size), "drawn": seed is None,
                "same_each_pass": reshuffle_each_iteration is not None and not reshuffle_each_iteration}
        args["seed"] = int.from_bytes(os.urandom(7), "little") if seed is None else _arguments.integer("shuffle", "seed", seed, _arguments.U64) & _arguments.U64
        if page_size is not None:
            args["page_size"] = _arguments.at_least("shuffle", "page_size", page_size, 1)
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
        arguments; text is bytes. A list that is returned is a tuple. num_parallel_calls: how many threads, up to 1024, call a
        function of Python; None: the one that waits for elements. processes: how many worker
        processes call it instead. deterministic is accepted; the order never changes.
        An exception in map_func is raised at its element.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(3).map(lambda x: x * 2 + 1)]
            [1, 3, 5]
        """
        calls = None if num_parallel_calls is None else _arguments.calls("map", num_parallel_calls)
        if processes is not None:
            _arguments.at_least("map", "processes", processes, 1)
        return self._with(_nodes.MapNode(self._node, map_func, calls, processes))

    def filter(self, predicate, name=None):
        """The elements for which predicate, a function as map's, is true.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(6).filter(lambda x: x % 2 == 1)]
            [1, 3, 5]
        """
        return self._with(_nodes.PredicateNode("filter", self._node, predicate))

    def take_while(self, predicate, name=None):
        """The elements before the first for which predicate is false.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(6).take_while(lambda x: x < 2)]
            [0, 1]
        """
        return self._with(_nodes.PredicateNode("take_while", self._node, predicate))

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
        calls = None if num_parallel_calls is None else _arguments.calls("interleave", num_parallel_calls)
        if cycle is None or cycle == -1:
            cycle = _CYCLE
            calls = calls and min(calls, cycle)
        _arguments.at_least("interleave", "cycle_length", cycle, 1)
        block = 1 if block_length is None else _arguments.at_least("interleave", "block_length", block_length, 1)
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

    def scan(self, initial_state, scan_func, name=None):
        """What scan_func makes of a state and each element: `state, output = scan_func(state, element)`.

        Example:
            >>> import infeed
            >>> import numpy as np
            >>> sums = infeed.Dataset.range(4).scan(np.int64(0), lambda s, x: (s + x, s + x))
            >>> [int(x) for x in sums]
            [0, 1, 3, 6]
        """
        return self._with(_nodes.FoldNode("scan", self._node, initial_state, scan_func))

    def reduce(self, initial_state, reduce_func, name=None):
        """The state after all elements: `state = reduce_func(state, element)` for each.

        Example:
            >>> import infeed
            >>> import numpy as np
            >>> int(infeed.Dataset.range(5).reduce(np.int64(0), lambda s, x: s + x))
            10
        """
        return self._with(_nodes.FoldNode("reduce", self._node, initial_state, reduce_func)).get_single_element()

    def enumerate(self, start=0, name=None):
        """Pairs of a number, counted from start, and an element.

        Example:
            >>> import infeed
            >>> list(infeed.Dataset.from_tensor_slices([b"a", b"b"]).enumerate())
            [(np.int64(0), b'a'), (np.int64(1), b'b')]
        """
        structure = Structure("tuple", items=(Structure("leaf"), self._node.structure))
        return self._apply("enumerate", {"start": _arguments.integer("enumerate", "start", start)}, structure)

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
        for node in self._node.nodes():
            if (function := getattr(node, "function", None)) is not None:
                function.may_fail = True
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
        if not callable(transformation_func):
            raise InvalidArgumentError(f"apply: transformation_func is {transformation_func!r:.100}; a function from a Dataset to another is needed")
        return _arguments.dataset("apply", "the result of transformation_func", transformation_func(self))

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
