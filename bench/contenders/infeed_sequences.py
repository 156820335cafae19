"""infeed on sequences whose lengths differ."""

from contextlib import contextmanager

import numpy as np

import infeed
from bench import sequences

FEATURES = {"tokens": infeed.io.FixedLenSequenceFeature([], "int64", allow_missing=True), "label": infeed.io.FixedLenFeature([], "int64")}


def cut(record):
    example = infeed.io.parse_single_example(record, FEATURES)
    return example["tokens"][:sequences.LONGEST].astype(np.int32), example["label"]


def cut_batch(records):
    examples = infeed.io.parse_example(records, FEATURES)
    return examples["tokens"][:, :sequences.LONGEST].astype(np.int32), examples["label"]


def dataset(form):
    ds = infeed.TFRecordDataset(sequences.path())
    if form == "batches parsed":
        return ds.batch(sequences.BATCH).map(cut_batch)
    ds = ds.map(cut)
    if form == "buckets":
        return ds.bucket_by_sequence_length(lambda tokens, label: tokens.shape[0], [16, 32, 48], [sequences.BATCH] * 4)
    return ds.padded_batch(sequences.BATCH)


@contextmanager
def read(form):
    """Examples a second, in padded batches."""
    ds = dataset(form)
    yield lambda: sequences.rate(ds)


@contextmanager
def held():
    """Examples a second of a Python object, shuffled, in padded batches."""
    ds = infeed.Dataset.from_indexable(sequences.Held()).shuffle(seed=1).padded_batch(sequences.BATCH)
    yield lambda: sequences.rate(ds)
