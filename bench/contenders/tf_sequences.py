"""tf.data on sequences whose lengths differ, in the forms that its guides recommend: the fastest counts."""

from contextlib import contextmanager

import tensorflow as tf

from bench import sequences
from bench.contenders.tf_files import AUTO, best

FEATURES = {"tokens": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True), "label": tf.io.FixedLenFeature([], tf.int64)}


def _cut(record):
    example = tf.io.parse_single_example(record, FEATURES)
    return tf.cast(example["tokens"][:sequences.LONGEST], tf.int32), example["label"]


def _cut_batch(records):
    examples = tf.io.parse_example(records, FEATURES)
    return tf.cast(examples["tokens"][:, :sequences.LONGEST], tf.int32), examples["label"]


def _each(ds):
    return ds.map(_cut, num_parallel_calls=AUTO).padded_batch(sequences.BATCH).prefetch(AUTO)


def _batches(ds):
    return ds.batch(sequences.BATCH).map(_cut_batch, num_parallel_calls=AUTO).prefetch(AUTO)


def _buckets(ds):
    ds = ds.map(_cut, num_parallel_calls=AUTO)
    return ds.bucket_by_sequence_length(lambda tokens, label: tf.shape(tokens)[0], [16, 32, 48], [sequences.BATCH] * 4).prefetch(AUTO)


FORMS = {"padded": {"map.padded_batch": _each, "batch.map(parse_example)": _batches}, "buckets": {"bucket_by_sequence_length": _buckets}}


@contextmanager
def read(form):
    """Examples a second, in padded batches."""
    made = {name: make(tf.data.TFRecordDataset(sequences.path())) for name, make in FORMS[form].items()}
    yield lambda: best({name: sequences.rate(ds.as_numpy_iterator()) for name, ds in made.items()})
