"""Dataset.save and load, each library with its own files."""

import tensorflow as tf
from cases import case, expect

UNKNOWN = "What a reader_func makes has no known cardinality"


def stored(lib, ds=None, load={}, **options):
    folder = lib.scratch()
    (lib.Dataset.range(7) if ds is None else ds).save(folder, **options)
    return lib.Dataset.load(folder, **load)


def thirds(x):
    return x % 3


@case([0, 1, 2, 3, 4, 5, 6], cardinality=7)
def test_plain(lib):
    return stored(lib)


@case([0, 1, 2, 3, 4, 5, 6])
def test_compressed(lib):
    return stored(lib, load={"compression": "GZIP"}, compression="GZIP")


@case([{"a": 1, "b": b"x"}, {"a": 2, "b": b"yz"}])
def test_dicts(lib):
    return stored(lib, lib.Dataset.from_tensor_slices({"a": [1, 2], "b": [b"x", b"yz"]}))


@case([[0.0, 1.0], [2.0, 3.0], [4.0]])
def test_shapes_that_differ(lib):
    return stored(lib, lib.Dataset.range(5).map(lambda x: lib.cast(x, lib.float32)).batch(2))


@case([], cardinality=0)
def test_of_nothing(lib):
    return stored(lib, lib.Dataset.range(0))


@case([0, 1, 2], cardinality=3)
def test_given_spec(lib):
    return stored(lib, lib.Dataset.range(3), load={"element_spec": lib.TensorSpec((), lib.int64)})


@case([0, 1, 2], cardinality=3)
def test_given_spec_of_tensorflow(lib):
    return stored(lib, lib.Dataset.range(3), load={"element_spec": tf.TensorSpec((), tf.int64)})


@case([0, 1, 2, 3, 4, 5, 6], order="multiset")
def test_shard_func(lib):
    """TensorFlow interleaves as many parts as there are cores; infeed gives the order in which they were stored."""
    return stored(lib, shard_func=thirds)


@case([0, 3, 6, 1, 4, 2, 5], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_one_part_after_the_other(lib):
    return stored(lib, load={"reader_func": lambda parts: parts.flat_map(lambda p: p)}, shard_func=thirds)


@case([0, 3, 1, 4, 6, 2, 5], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_parts_in_turn(lib):
    return stored(lib, load={"reader_func": lambda parts: parts.interleave(lambda p: p, cycle_length=2, block_length=2)}, shard_func=thirds)


@case([4, 5], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_some_parts_and_elements(lib):
    return stored(lib, load={"reader_func": lambda parts: parts.skip(1).flat_map(lambda p: p.skip(1))}, shard_func=thirds)


@case([], raises="NotFound")
def test_of_no_folder(lib):
    return lib.Dataset.load(lib.path("none"))
