"""tf.data on arrays in memory: the usual form and the fastest one known, read as NumPy arrays."""

from contextlib import contextmanager

import tensorflow as tf

from bench import rows


def usual(x, y, passes):
    """slices.shuffle(n).batch.prefetch, as tutorials have it."""
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y)).repeat(passes)
    return ds.batch(rows.BATCH, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def gathered(x, y, passes):
    """One permutation a pass, and a gather of whole batches: no cost per element."""
    n = len(y)

    def one_pass(_):
        order = tf.random.shuffle(tf.range(n))
        return tf.data.Dataset.range(0, n, rows.BATCH).map(lambda start: order[start:start + rows.BATCH])

    ds = tf.data.Dataset.range(passes).flat_map(one_pass)
    return ds.map(lambda i: (tf.gather(x, i), tf.gather(y, i)),
                  num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


FORMS = {"usual": usual, "gathered": gathered}


@contextmanager
def shuffled_rows(kind, form, passes=1, part=1):
    """Rows a second; over 1/part of the rows where all would take too long."""
    x, y = (a[:len(a) // part] for a in rows.arrays(kind))
    with tf.device("CPU"):
        ds = FORMS[form](tf.constant(x), tf.constant(y), passes)
    yield lambda: rows.rate(ds.as_numpy_iterator(), len(y), passes)
