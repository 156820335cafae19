"""The pipelines of the grid: every operation by itself, and composed ones. Each is a function of (infeed.Dataset, files)."""

import itertools

import numpy as np

import infeed

from .golden import Counting

ENOUGH = 24  # elements that are read of one without end


def third(x):
    """A function that cannot be traced."""
    return int(str(x)) % 3 != 0


def text(x):
    return np.int64(int(str(x)) + 1)


def lengths(D):
    """Arrays of different lengths, a stream."""
    return D.range(17).map(lambda x: np.arange(int(str(x)) % 5 + 1)).filter(lambda a: a.sum() >= 0)


def yielding(n):
    yield from range(n)


def stream(D, n=23):
    return D.range(n).filter(lambda x: x >= 0)


NUMBER = infeed.TensorSpec((), "int64")

SOURCES = {
    "from_tensor_slices": lambda D, f: D.from_tensor_slices((np.arange(9), [b"text %d" % i for i in range(9)])),
    "from_tensors": lambda D, f: D.from_tensors({"a": [1, 2]}),
    "range": lambda D, f: D.range(3, 40, 4),
    "counter": lambda D, f: D.counter(7, 3),
    "random": lambda D, f: D.random(seed=4, rerandomize_each_iteration=True),
    "random, drawn": lambda D, f: D.random(),
    "list_files": lambda D, f: D.list_files(f("part-*"), seed=2),
    "from_indexable": lambda D, f: D.from_indexable(list(range(9)), num_parallel_calls=2),
    "from_generator": lambda D, f: D.from_generator(yielding, output_signature=NUMBER, args=(11,)),
    "from_generator with state": lambda D, f: D.from_generator(Counting, output_signature=NUMBER, args=(11,)),
    "TFRecordDataset": lambda D, f: infeed.TFRecordDataset([f("part-0"), f("part-1")]),
    "TFRecordDataset, several at once": lambda D, f: infeed.TFRecordDataset([f(f"part-{i}") for i in range(3)], num_parallel_reads=2),
    "TFRecordDataset, compressed": lambda D, f: infeed.TFRecordDataset(f("records.gz"), compression_type="AUTO"),
    "TFRecordDataset, skip": lambda D, f: infeed.TFRecordDataset([f("damaged"), f("torn"), f("part-1")], errors="skip"),
    "TFRecordDataset, truncate": lambda D, f: infeed.TFRecordDataset([f("part-1"), f("torn")], errors="truncate"),
    "TFRecordDataset, indexed": lambda D, f: infeed.TFRecordDataset([f("part-0"), f("part-1")]).indexed(),
    "TextLineDataset": lambda D, f: infeed.TextLineDataset(f("lines")),
    "TextLineDataset, compressed": lambda D, f: infeed.TextLineDataset(f("lines.gz"), compression_type="GZIP"),
    "FixedLengthRecordDataset": lambda D, f: infeed.FixedLengthRecordDataset(f("fixed"), 5, header_bytes=1, footer_bytes=1),
    "CsvDataset": lambda D, f: infeed.CsvDataset(f("csv"), [0, "", 0.0], header=True),
    "CsvDataset, skip": lambda D, f: infeed.CsvDataset(f("bad.csv"), [0, "", 0.0], errors="skip"),
}

OPERATIONS = {
    "map": lambda D, f: D.range(11).map(lambda x: x * 2),
    "map of a stream": lambda D, f: stream(D).map(lambda x: x * 2),
    "map, in Python": lambda D, f: D.range(11).map(text),
    "map, in threads": lambda D, f: stream(D).map(text, num_parallel_calls=2),
    "map, in processes": lambda D, f: D.range(3).map(text, processes=1),
    "map, by chance": lambda D, f: stream(D).map(lambda x: x + infeed.random.uniform((), 0, 100)),
    "filter": lambda D, f: D.range(29).filter(lambda x: x % 3 > 0),
    "filter, in Python": lambda D, f: D.range(29).filter(third),
    "batch": lambda D, f: D.range(23).batch(4),
    "batch of a stream": lambda D, f: stream(D).batch(4, drop_remainder=True),
    "padded_batch": lambda D, f: lengths(D).padded_batch(3),
    "ragged_batch": lambda D, f: lengths(D).ragged_batch(3),
    "unbatch": lambda D, f: stream(D).batch(5).unbatch(),
    "rebatch": lambda D, f: stream(D).batch(5).rebatch(3),
    "sparse_batch": lambda D, f: lengths(D).sparse_batch(3, [None]),
    "unbatch, ragged": lambda D, f: lengths(D).ragged_batch(3).unbatch(),
    "rebatch, ragged": lambda D, f: lengths(D).ragged_batch(3).rebatch([2, 5]),
    "shuffle": lambda D, f: D.range(23).shuffle(seed=5),
    "shuffle of a stream": lambda D, f: stream(D).shuffle(6, seed=5),
    "shuffle of a whole stream": lambda D, f: stream(D).shuffle(seed=5),
    "shuffle, drawn": lambda D, f: stream(D).shuffle(6),
    "repeat": lambda D, f: D.range(5).repeat(3),
    "repeat of a stream": lambda D, f: stream(D, 5).repeat(),
    "take": lambda D, f: stream(D).take(9),
    "skip": lambda D, f: stream(D).skip(9),
    "shard": lambda D, f: stream(D).shard(3, 1),
    "prefetch": lambda D, f: stream(D).prefetch(4),
    "cache": lambda D, f: stream(D).cache(),
    "cache of an indexed one": lambda D, f: D.range(9).map(lambda x: x + 1).cache(),
    "interleave": lambda D, f: D.range(7).interleave(lambda x: D.range(x), cycle_length=3, block_length=2, num_parallel_calls=2),
    "flat_map": lambda D, f: D.range(7).flat_map(lambda x: D.range(x)),
    "zip": lambda D, f: D.zip(D.range(9), stream(D)),
    "concatenate": lambda D, f: D.range(5).concatenate(stream(D, 6)),
    "enumerate": lambda D, f: stream(D).enumerate(5),
    "window": lambda D, f: stream(D).window(4, shift=2).flat_map(lambda w: w.batch(4)),
    "scan": lambda D, f: stream(D).scan(np.int64(1), lambda s, x: (s + x, s * x)),
    "reduced": lambda D, f: D.from_tensors(int(stream(D).reduce(np.int64(0), lambda s, x: s + x))),
    "take_while": lambda D, f: D.range(23).take_while(lambda x: x < 11),
    "unique": lambda D, f: D.range(40).map(lambda x: x * x % 17).unique(),
    "ignore_errors": lambda D, f: infeed.TFRecordDataset([f("damaged"), f("part-1")]).ignore_errors(),
    "assert_cardinality": lambda D, f: stream(D).assert_cardinality(23),
    "bucket_by_sequence_length": lambda D, f: lengths(D).bucket_by_sequence_length(lambda a: a.shape[0], [3, 5], [3, 2, 2]),
    "group_by_window": lambda D, f: D.range(31).group_by_window(lambda x: x % 3, lambda key, w: w.batch(4), window_size=4),
    "rejection_resample": lambda D, f: D.range(60).rejection_resample(lambda x: (x % 3 > 0).astype("int32"), [0.5, 0.5], seed=3),
    "sample_from_datasets": lambda D, f: D.sample_from_datasets([D.range(9), stream(D)], weights=[0.3, 0.7], seed=2),
    "choose_from_datasets": lambda D, f: D.choose_from_datasets([D.range(9), stream(D)], D.range(12).map(lambda x: x * x % 2)),
}

COMPOSED = {
    "training on arrays": lambda D, f: D.from_tensor_slices((np.arange(46.).reshape(23, 2), np.arange(23))).shuffle(seed=1).repeat().batch(4),
    "training on records": lambda D, f: infeed.TFRecordDataset([f("part-0"), f("part-1")]).shuffle(5, seed=1).repeat(2).batch(3).prefetch(2),
    "interleaved files": lambda D, f: D.from_tensor_slices([f(f"part-{i}") for i in range(3)]).shuffle(seed=2)
    .interleave(infeed.TFRecordDataset, cycle_length=2, num_parallel_calls=2).shuffle(4, seed=3).batch(3),
    "compressed, shuffled, batched": lambda D, f: infeed.TFRecordDataset(f("records.gz"), "GZIP").shuffle(4, seed=1).batch(2),
    "damaged, shuffled": lambda D, f: infeed.TFRecordDataset([f("damaged"), f("part-2")], errors="skip").shuffle(4, seed=1).repeat(2),
    "Python after a shuffle": lambda D, f: stream(D).shuffle(5, seed=1).map(text, num_parallel_calls=2).batch(3),
    "Python before a shuffle": lambda D, f: D.range(29).filter(third).shuffle(5, seed=1).batch(3).repeat(2),
    "Python in Python": lambda D, f: D.range(29).filter(third).map(text).batch(3).map(lambda b: b + 1),
    "generator, shuffled": lambda D, f: D.from_generator(yielding, output_signature=NUMBER, args=(13,)).shuffle(4, seed=1).repeat(2).batch(3),
    "generator with state, mapped": lambda D, f: D.from_generator(Counting, output_signature=NUMBER, args=(13,)).map(lambda x: x * 3).batch(2),
    "batches of batches": lambda D, f: stream(D, 24).batch(2).batch(3).unbatch().unbatch().batch(5),
    "repeated shuffles": lambda D, f: stream(D, 9).shuffle(4, seed=1).repeat(2).shuffle(5, seed=2).repeat(2),
    "scan of windows": lambda D, f: D.range(20).window(3, shift=1).flat_map(lambda w: w.batch(3)).map(lambda b: b.sum()).scan(np.int64(0), lambda s, x: (s + x, s)),
    "unique of a shuffle": lambda D, f: D.range(40).map(lambda x: x % 13).shuffle(seed=3).unique().batch(2),
    "mixture of mixtures": lambda D, f: D.sample_from_datasets([D.sample_from_datasets([D.range(9), stream(D)], seed=1), D.range(50, 60).repeat()], seed=2),
    "zipped streams": lambda D, f: D.zip(stream(D).shuffle(5, seed=1), D.range(9).flat_map(lambda x: D.range(x))).batch(3),
    "nested flat_map": lambda D, f: D.range(5).flat_map(lambda x: D.range(x).flat_map(lambda y: D.range(y + 1))).batch(2),
    "interleave of Python": lambda D, f: D.range(6).interleave(lambda x: D.range(3).map(lambda y: y + x), cycle_length=2).filter(third),
    "buckets, shuffled": lambda D, f: lengths(D).shuffle(6, seed=1).bucket_by_sequence_length(lambda a: a.shape[0], [3, 5], [3, 2, 2]).prefetch(1),
    "text": lambda D, f: infeed.TextLineDataset(f("lines")).shuffle(6, seed=1).skip(2).take(11).batch(2).repeat(2),
    "rows of CSV": lambda D, f: infeed.CsvDataset(f("csv"), [0, "", 0.0], header=True).shard(2, 1).repeat(3).batch(4),
    "concatenated, enumerated": lambda D, f: stream(D, 7).concatenate(D.range(100, 107)).enumerate().shuffle(4, seed=2).batch(3),
    "cached and shuffled": lambda D, f: stream(D).map(lambda x: x + 1).cache().shuffle(5, seed=1).repeat(2),
    "errors ignored, repeated": lambda D, f: infeed.TFRecordDataset([f("damaged"), f("part-0")]).ignore_errors().repeat(2).batch(2),
    "resampled and batched": lambda D, f: D.range(60).rejection_resample(lambda x: (x % 3 > 0).astype("int32"), [0.5, 0.5], seed=3).batch(3),
    "groups, unbatched": lambda D, f: D.range(31).group_by_window(lambda x: x % 3, lambda k, w: w.batch(4), window_size=4).unbatch().batch(5),
}

ALL = {**SOURCES, **OPERATIONS, **COMPOSED}


def read(it, limit=ENOUGH):
    """Elements in a form that can be compared: dtypes, shapes and values."""
    return [plain(e) for e in itertools.islice(it, limit)]


def plain(element):
    if isinstance(element, dict):
        return {k: plain(v) for k, v in element.items()}
    if isinstance(element, tuple):
        return tuple(plain(v) for v in element)
    if isinstance(element, bytes):
        return element
    a = np.asarray(element)
    return str(a.dtype), a.shape, [plain(x) for x in a.flat] if a.dtype.hasobject else a.tolist()
