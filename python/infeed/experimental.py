"""tf.data.experimental's names, arguments and defaults, for scripts in which only the import changes.

Nothing here does anything that `infeed` and the methods of `Dataset` do not do. What
is not here says, where it is looked up, what does the same.
"""

import enum
import inspect

from infeed import _advice
from infeed._dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset
from infeed._files import CsvDataset
from infeed._hook import make_saveable_from_iterator
from infeed._make_csv import make_csv_dataset
from infeed._snapshot import snapshot

# The transformations for `Dataset.apply`: tf.data.experimental's names, and those of the methods.
_FOR_APPLY = {"enumerate_dataset": "enumerate", "dense_to_ragged_batch": "ragged_batch", "dense_to_sparse_batch": "sparse_batch"}
_FOR_APPLY.update((n, n) for n in ("assert_cardinality", "bucket_by_sequence_length", "group_by_window", "ignore_errors",
                                   "rejection_resample", "scan", "take_while", "unbatch", "unique"))

__all__ = sorted(["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "SHARD_HINT", "AutoShardPolicy", "AutotuneAlgorithm",
                  "Counter", "CsvDataset", "ExternalStatePolicy", "RandomDataset", "at", "cardinality", "choose_from_datasets",
                  "get_single_element", "load", "make_csv_dataset", "make_saveable_from_iterator", "sample_from_datasets",
                  "save", "snapshot", *_FOR_APPLY])

SHARD_HINT = -1

# Values of options, which are accepted and change nothing.
AutoShardPolicy = enum.IntEnum("AutoShardPolicy", {"OFF": -1, "AUTO": 0, "FILE": 1, "DATA": 2, "HINT": 3}, module=__name__)
ExternalStatePolicy = enum.IntEnum("ExternalStatePolicy", "WARN IGNORE FAIL", start=0, module=__name__)
AutotuneAlgorithm = enum.IntEnum("AutotuneAlgorithm", "DEFAULT HILL_CLIMB GRADIENT_DESCENT MAX_PARALLELISM STAGE_BASED", start=0,
                                 module=__name__)

Counter = Dataset.counter
RandomDataset = Dataset.random
load = Dataset.load


def _for_apply(name, method):
    """The function `name` that gives what `Dataset.apply` takes, which calls a method."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    signature = inspect.Signature([p for p in parameters if p.name != "name"])

    def transformation(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        return lambda dataset: method(dataset, *given.args, **given.kwargs)

    transformation.__name__ = transformation.__qualname__ = name
    transformation.__signature__ = signature
    transformation.__doc__ = f"What `Dataset.apply` takes to do what the method `Dataset.{method.__name__}` does, with its arguments."
    return transformation


globals().update({name: _for_apply(name, getattr(Dataset, method)) for name, method in _FOR_APPLY.items()})


def at(dataset, index):
    """The element of a dataset with random access at a place, from 0.

    Example:
        >>> import infeed
        >>> int(infeed.experimental.at(infeed.Dataset.range(5), 3))
        3
    """
    return dataset[index]


def cardinality(dataset):
    """How many elements a dataset has; -1: without end, -2: nobody knows.

    Example:
        >>> import infeed
        >>> infeed.experimental.cardinality(infeed.Dataset.range(5))
        5
    """
    return dataset.cardinality()


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """`Dataset.choose_from_datasets`, which by default goes on where one of the datasets has ended.

    Example:
        >>> import infeed
        >>> ds = infeed.experimental.choose_from_datasets([infeed.Dataset.range(1), infeed.Dataset.range(5, 7)],
        ...                                               infeed.Dataset.from_tensor_slices([0, 0, 1, 1]).map(lambda x: x.astype("int64")))
        >>> [int(x) for x in ds]
        [0, 5, 6]
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """`Dataset.sample_from_datasets`.

    Example:
        >>> import infeed
        >>> ds = infeed.experimental.sample_from_datasets([infeed.Dataset.range(3), infeed.Dataset.range(5, 7)], [0.5, 0.5], seed=1)
        >>> sorted(int(x) for x in ds)
        [0, 1, 2, 5, 6]
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def get_single_element(dataset):
    """The element of a dataset that has one only. Raises InvalidArgumentError where there are others.

    Example:
        >>> import infeed
        >>> int(infeed.experimental.get_single_element(infeed.Dataset.range(4, 5)))
        4
    """
    return dataset.get_single_element()


def save(dataset, path, compression=None, shard_func=None):
    """`Dataset.save`.

    Example:
        >>> import tempfile, infeed
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     infeed.experimental.save(infeed.Dataset.range(3), folder + "/numbers")
        ...     [int(x) for x in infeed.experimental.load(folder + "/numbers")]
        [0, 1, 2]
    """
    dataset.save(path, compression, shard_func)


def __getattr__(name):
    raise AttributeError(_advice.missing("infeed.experimental", name))
