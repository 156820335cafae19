"""tf.data on numbers (W10), in its usual forms; the fastest counts."""

from contextlib import contextmanager

import tensorflow as tf

from bench import functions, numbers
from bench.contenders.tf_files import AUTO, best


def add_one(x):
    return x + 1


def lean(ds):
    """What of the runtime's machinery costs short elements more than it gives is switched off."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    options.experimental_optimization.inject_prefetch = False
    return ds.with_options(options)


FORMS = {
    "map.batch": lambda ds, size: ds.map(add_one).batch(size),
    "map(synchronous).batch, one thread": lambda ds, size: lean(ds.map(add_one, synchronous=True).batch(size)),
    "batch.map": lambda ds, size: ds.batch(size).map(add_one),
    "batch.map(AUTOTUNE).prefetch": lambda ds, size: ds.batch(size).map(add_one, num_parallel_calls=AUTO).prefetch(AUTO),
}


@contextmanager
def mapped(size, count):
    """Elements a second of `count` batches of a size, read as NumPy arrays."""
    made = {form: make(tf.data.Dataset.range(size * count), size) for form, make in FORMS.items()}
    yield lambda: best({form: numbers.rate(ds.as_numpy_iterator(), size, count) for form, ds in made.items()})


@contextmanager
def untraced_lengths(n):
    """Microseconds an element of a numpy_function of elements whose shapes differ; they lie in memory."""
    signature = tf.TensorSpec((None,), tf.int64)
    ds = tf.data.Dataset.from_generator(lambda: functions.vectors(n), output_signature=signature).cache()
    for _ in ds:
        pass
    ds = ds.map(lambda x: tf.numpy_function(functions.length, [x], tf.int64))
    yield lambda: functions.microseconds_of_lengths(ds.as_numpy_iterator(), n)
