"""Dataset.snapshot: the pass that stores, and those that read."""

from cases import case, expect

UNKNOWN = "What a reader_func makes has no known cardinality"
INTEGERS = "A shard_func may return any integers from 0 to 999"
EARLY = "A result of reader_func is looked at before anything is stored"


def kept(lib, **options):
    return lib.Dataset.range(7).snapshot(lib.scratch(), **options)


def thirds(x):
    return x % 3


def read(ds):
    """The dataset after its first pass, which stores."""
    assert len(list(ds)) == 7
    return ds


@case([0, 1, 2, 3, 4, 5, 6], cardinality=7)
def test_plain(lib):
    return kept(lib)


@case([(0, 0), (1, 10), (2, 20)])
def test_tuples(lib):
    return lib.Dataset.range(3).map(lambda x: (x, x * 10)).snapshot(lib.scratch(), compression=None, name="kept")


@case([{"a": 1, "b": b"x"}, {"a": 2, "b": b"yz"}])
def test_dicts(lib):
    return read_all(lib.Dataset.from_tensor_slices({"a": [1, 2], "b": [b"x", b"yz"]}).snapshot(lib.scratch(), "GZIP"))


def read_all(ds):
    list(ds)
    return ds


@case([0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4], limit=12)
def test_before_repeat(lib):
    return kept(lib).repeat(2)


@case([], cardinality=0)
def test_of_nothing(lib):
    return lib.Dataset.range(0).snapshot(lib.scratch())


@case([], raises="NotFound")
def test_of_what_fails(lib):
    return lib.TextLineDataset(lib.path("none.txt")).snapshot(lib.scratch())


@case([0, 1, 2, 3, 4, 5, 6], passes=None, cardinality=7)
def test_the_pass_that_stores_keeps_the_order(lib):
    return kept(lib, shard_func=thirds)


@case([0, 1, 2, 3, 4, 5, 6], order="multiset", passes=None)
def test_read_without_reader_func(lib):
    """TensorFlow interleaves as many parts as there are cores; infeed gives the order of the input."""
    return read(kept(lib, shard_func=thirds))


@case([0, 1, 2, 3, 4, 5, 6], cardinality=7, passes="differ", infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_the_pass_that_stores_is_not_the_reader_funcs(lib):
    return kept(lib, shard_func=thirds, reader_func=lambda parts: parts.flat_map(lambda p: p))


@case([0, 3, 6, 1, 4, 2, 5], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_one_part_after_the_other(lib):
    return read(kept(lib, shard_func=thirds, reader_func=lambda parts: parts.flat_map(lambda p: p)))


@case([0, 3, 1, 4, 6, 2, 5], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_parts_in_turn(lib):
    return read(kept(lib, shard_func=thirds, reader_func=lambda parts: parts.interleave(lambda p: p, cycle_length=2, block_length=2)))


@case([3, 6, 4], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_some_parts_and_elements(lib):
    return read(kept(lib, shard_func=thirds, reader_func=lambda parts: parts.take(2).flat_map(lambda p: p.skip(1))))


@case([1, 4], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_a_share_of_the_parts(lib):
    return read(kept(lib, shard_func=thirds, reader_func=lambda parts: parts.shard(2, 1).interleave(lambda p: p)))


@case([0, 30, 60, 10, 40, 20, 50], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_mapped_parts(lib):
    return read(kept(lib, shard_func=thirds, reader_func=lambda parts: parts.flat_map(lambda p: p.map(lambda x: x * 10))))


@case([0, 1, 2], infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_map_of_parts(lib):
    return read(kept(lib, shard_func=thirds, reader_func=lambda parts: parts.map(lambda p: p.take(1)).flat_map(lambda p: p)))


@case([0, 1, 2, 3, 4, 5, 6], order="multiset", passes=None, drawn=True, infeed=expect(cardinality=-2), differs=UNKNOWN)
def test_shuffled_parts(lib):
    return read(kept(lib, shard_func=thirds, reader_func=lambda parts: parts.shuffle(3).interleave(lambda p: p, num_parallel_calls=lib.AUTOTUNE)))


@case([(0, 5), (1, 6)])
def test_shard_func_is_given_the_components(lib):
    return lib.Dataset.from_tensor_slices(([0, 1], [5, 6])).snapshot(lib.scratch(), shard_func=lambda a, b: lib.cast(b - a - 5, lib.int64))


@case([], raises="InvalidArgument", infeed=expect([0, 1, 2, 3, 4, 5, 6], None), differs=INTEGERS)
def test_small_integers(lib):
    return kept(lib, shard_func=lambda x: lib.cast(x % 3, lib.int32))


@case([0, 1, 2, 3, 4, 5, 6], infeed=expect([], "InvalidArgument"), differs=INTEGERS, passes=None)
def test_negative_integers(lib):
    return kept(lib, shard_func=lambda x: x - 1)


@case([], raises="Type")
def test_text_is_no_part(lib):
    return kept(lib, shard_func=lambda x: lib.array("a"))


@case([0, 1, 2, 3, 4, 5, 6], passes=None, infeed=expect([], "InvalidArgument"), differs=EARLY)
def test_reader_func_without_a_dataset(lib):
    return kept(lib, shard_func=thirds, reader_func=lambda parts: 5)


@case([0, 1, 2, 3, 4, 5, 6], passes=None, infeed=expect([], "InvalidArgument"), differs=EARLY)
def test_reader_func_with_other_elements(lib):
    return kept(lib, shard_func=thirds, reader_func=lambda parts: parts.flat_map(lambda p: p.batch(2)))
