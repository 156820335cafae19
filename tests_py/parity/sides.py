"""The two libraries under one set of names, so that a case is written once.

`lib.Dataset`, `lib.TFRecordDataset`, `lib.CsvDataset`, `lib.io`, `lib.TensorSpec`,
`lib.float32` and so on are the library's own. `lib.np` holds NumPy's functions,
for TensorFlow those of tf.experimental.numpy. Where the libraries have no common
spelling (dtype conversion, a message's text) there is a function here for both.
"""

import contextlib
import importlib
import os
import tempfile

import numpy as np

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
          "float64", "complex64", "complex128")


class Side:
    """What both sides share: the folder of test files, and room for files that a case writes."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, *names):
        """The path of a test file."""
        return os.path.join(self.folder, *names)

    def scratch(self):
        """A folder of its own, which is empty."""
        return tempfile.mkdtemp(dir=self.folder)


class TensorFlow(Side):
    name = "tensorflow"

    def __init__(self, folder):
        super().__init__(folder)
        import tensorflow as tf

        data, more = tf.data, tf.data.experimental
        self.tf, self.io, self.np = tf, tf.io, tf.experimental.numpy
        self.Dataset, self.Options, self.TensorSpec = data.Dataset, data.Options, tf.TensorSpec
        self.TFRecordDataset, self.TextLineDataset = data.TFRecordDataset, data.TextLineDataset
        self.FixedLengthRecordDataset = data.FixedLengthRecordDataset
        self.CsvDataset, self.make_csv_dataset = more.CsvDataset, more.make_csv_dataset
        self.assert_cardinality = more.assert_cardinality
        self.AUTOTUNE, self.INFINITE_CARDINALITY = data.AUTOTUNE, data.INFINITE_CARDINALITY
        self.UNKNOWN_CARDINALITY = data.UNKNOWN_CARDINALITY
        self.string, self.bfloat16 = tf.string, tf.bfloat16
        for d in DTYPES:
            setattr(self, d, getattr(tf, d))

    def define(self, make):
        """What a case makes; its functions have no Python `if` or loop on tensors that AutoGraph would be needed for."""
        return self.tf.autograph.experimental.do_not_convert(make)(self)

    def walk(self, dataset):
        """An iterator that is not tuned first, which takes most of the time of a short walk."""
        options = self.tf.data.Options()
        options.autotune.enabled = options.experimental_optimization.apply_default_optimizations = False
        return iter(dataset.with_options(options))

    def cast(self, x, dtype):
        return self.tf.cast(x, dtype)

    def array(self, values, dtype=None):
        """A constant inside a function."""
        return self.tf.constant(values, dtype)

    def python(self, function, x, dtype):
        """The result of a Python function that cannot be traced."""
        return self.tf.numpy_function(function, [x], dtype)

    def length(self, x):
        """How many rows x has."""
        return self.tf.shape(x)[0]

    def is_dataset(self, value):
        return isinstance(value, self.tf.data.Dataset)


class Infeed(Side):
    name = "infeed"
    np = np
    string = np.dtype(object)

    def __init__(self, folder):
        super().__init__(folder)
        self.infeed = importlib.import_module("infeed")
        for d in DTYPES:
            setattr(self, d, np.dtype(d))

    def __getattr__(self, name):  # what __init__ did not set: infeed's own
        if name == "io":
            return importlib.import_module("infeed.io")
        return getattr(self.__dict__["infeed"], name)

    def define(self, make):
        return make(self)

    def walk(self, dataset):
        return iter(dataset)

    def cast(self, x, dtype):
        return x.astype(dtype)

    def array(self, values, dtype=None):
        if dtype is None:  # as TensorFlow: Python numbers are int32 and float32
            dtype = {"f": np.float32, "i": np.int32}.get(np.asarray(values).dtype.kind)
        return np.asarray(values, dtype)

    def python(self, function, x, dtype):
        return np.asarray(function(x), dtype)

    def length(self, x):
        return np.int32(np.shape(x)[0])

    def assert_cardinality(self, n):
        return lambda ds: ds.assert_cardinality(n)

    def is_dataset(self, value):
        return isinstance(value, self.infeed.Dataset)

    def with_workers(self, ds, n):
        """The dataset run by n workers."""
        options = self.infeed.Options()
        options.threading.private_threadpool_size = n
        return ds.with_options(options)

    @contextlib.contextmanager
    def blocks_of(self, size):
        """Iterators that are opened inside ask for blocks of so many bytes at most, and of one element at least."""
        native = importlib.import_module("infeed._native")
        call = native.Call.__call__

        def smaller(self, name, data=None, *rest, **more):
            if name == "dataset_iterate":
                data = {**data, "group_bytes": size}
            return call(self, name, data, *rest, **more)

        native.Call.__call__ = smaller
        try:
            yield
        finally:
            native.Call.__call__ = call
