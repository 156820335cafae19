"""infeed: the input pipeline for training loops that never loses its place.

Importing this package starts no thread and no process and does not load the
engine; names are loaded when they are first used.
"""

__version__ = "0.1.0"

_PLACES = {
    "PyDataset": "_pydataset",
    "Error": "_errors",
    "InvalidArgumentError": "_errors",
    "NotFoundError": "_errors",
    "AlreadyExistsError": "_errors",
    "DataLossError": "_errors",
    "StateMismatchError": "_errors",
    "ResourceExhaustedError": "_errors",
    "WorkerError": "_errors",
    "TimeoutError": "_errors",
    "ForkedProcessError": "_errors",
    "CancelledError": "_errors",
    "UnimplementedError": "_errors",
    "InternalError": "_errors",
    "Dataset": "_dataset",
    "TensorSpec": "_spec",
    "DatasetSpec": "_spec",
    "RaggedTensorSpec": "_spec",
    "UnknownRankSpec": "_spec",
    "Options": "_options",
    "INFINITE_CARDINALITY": "_dataset",
    "UNKNOWN_CARDINALITY": "_dataset",
    "AUTOTUNE": "_dataset",
    "TFRecordDataset": "_files",
    "TextLineDataset": "_files",
    "FixedLengthRecordDataset": "_files",
    "CsvDataset": "_files",
    "CheckpointManager": "_checkpoint",
    "CheckpointInputPipelineHook": "_hook",
    "make_saveable_from_iterator": "_hook",
    "make_csv_dataset": "_make_csv",
    "snapshot": "_snapshot",
}

# Modules that come with infeed when they are asked for.
_MODULES = ("experimental", "io", "random", "testing")

__all__ = sorted([*_PLACES, *_MODULES])


def __getattr__(name):
    import importlib

    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name not in _PLACES:
        # A name that begins with "_" may be that of a module, which `from infeed import` loads after this.
        raise AttributeError(f"module 'infeed' has no attribute {name!r}" if name.startswith("_") else
                             importlib.import_module("._advice", __name__).missing("infeed", name))
    value = getattr(importlib.import_module("." + _PLACES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))
