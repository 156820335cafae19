"""Random numbers for use inside `map`: a function of seed, pass and element.

In a function that `map` traces, each element has numbers of its own, the same in
every run with the same pass, whatever the number of workers and wherever reading
begins. `seed` tells apart operations that should differ although they stand at the
same place in their function; with None the place alone does. Outside of a traced
function the same generator draws: with a seed, the k-th call with it gives the k-th
numbers of the seed in this process; without one, numbers begin anywhere.
"""

import operator
import os
import threading

import numpy as np

from infeed import _program, _trace
from infeed._errors import InvalidArgumentError
from infeed._spec import TensorSpec, dtype_of
from infeed._stand_in import shape_of

__all__ = ["uniform", "normal", "integers", "shuffle"]

_U64 = (1 << 64) - 1


def uniform(shape=(), minval=0, maxval=None, dtype=np.float32, seed=None):
    """Numbers from minval (included) to maxval (excluded), each as likely.

    maxval: 1 where it is None and dtype is one of floats; ints need it. shape: of
    the result. Raises InvalidArgumentError for no range or another dtype.

    Example:
        >>> import infeed
        >>> x = infeed.random.uniform((2, 3), 5, 6, seed=1)
        >>> x.shape, x.dtype, bool((x >= 5).all())
        ((2, 3), dtype('float32'), True)
    """
    dtype = dtype_of(dtype, "uniform: dtype")
    if dtype.kind in "iu":
        if maxval is None:
            raise InvalidArgumentError(f"uniform: maxval is needed for {dtype}")
        return integers(minval, maxval, shape, dtype, seed)
    x = _floats("uniform", shape, dtype, seed)
    if maxval is None:
        maxval = 1
    if _plain(minval, 0) and _plain(maxval, 1):
        return x
    return _cast(x * _scale(maxval - minval, dtype) + _scale(minval, dtype), dtype)


def normal(shape=(), mean=0.0, stddev=1.0, dtype=np.float32, seed=None):
    """Numbers of a normal distribution.

    shape: of the result. Raises InvalidArgumentError for a dtype that is none of
    floats.

    Example:
        >>> import infeed
        >>> infeed.random.normal((1000,), mean=7, seed=1).mean().round()
        np.float32(7.0)
    """
    dtype = dtype_of(dtype, "normal: dtype")
    x = _floats("normal", shape, dtype, seed)
    if _plain(mean, 0) and _plain(stddev, 1):
        return x
    return _cast(x * _scale(stddev, dtype) + _scale(mean, dtype), dtype)


def integers(low, high=None, shape=(), dtype=np.int64, seed=None):
    """Ints from low (included) to high (excluded), each as likely; from 0 to low where high is None.

    shape: of the result. Raises InvalidArgumentError where there is no such int, or
    dtype cannot hold them all.

    Example:
        >>> import infeed
        >>> x = infeed.random.integers(6, shape=(100,), seed=1)
        >>> int(x.min()), int(x.max())
        (0, 5)
    """
    low, high = (0, low) if high is None else (low, high)
    dtype = dtype_of(dtype, "integers: dtype")
    try:
        low, high = operator.index(low), operator.index(high)
    except TypeError:
        raise InvalidArgumentError(f"integers: low and high are {low!r} and {high!r}; ints are needed") from None
    if dtype.kind not in "iu":
        raise InvalidArgumentError(f"integers: dtype is {dtype}; one of ints is needed")
    info = np.iinfo(dtype)
    if not info.min <= low < high <= info.max + 1:
        raise InvalidArgumentError(f"integers: there is no {dtype} from {low} to below {high}, or not all of them are; "
                                   f"low < high is needed, and at least {info.min}, at most {info.max + 1}")
    attrs = {"kind": "integers", "low": low if low < 1 << 63 else low - (1 << 64), "span": (high - low) & _U64}
    return _draw("random", (), {**attrs, "dtype": dtype.str}, shape, dtype, seed)


def shuffle(x, seed=None):
    """The values along the first axis of an array in a random order; x stays as it is.

    Raises InvalidArgumentError for a single value.

    Example:
        >>> import infeed
        >>> sorted(infeed.random.shuffle([1, 2, 3], seed=1).tolist())
        [1, 2, 3]
    """
    if type(x) is not _trace.Tensor:
        x = _trace.result_array(x, "shuffle: x")
    if x.ndim == 0:
        raise InvalidArgumentError("shuffle: x is a single value; at least one dimension is needed")
    return _draw("random_shuffle", (x,), {}, shape_of(x), x.dtype, seed)


def _plain(value, number):
    return isinstance(value, (int, float)) and value == number


def _scale(value, dtype):
    """A bound as it is computed with: Python's numbers, and others cast to dtype."""
    return value if isinstance(value, (int, float)) and not isinstance(value, np.generic) else _cast(value, dtype)


def _cast(x, dtype):
    return x.astype(dtype) if hasattr(x, "astype") else np.asarray(x, dtype)


def _floats(kind, shape, dtype, seed):
    if dtype.kind != "f" or dtype.itemsize > 8:
        raise InvalidArgumentError(f"{kind}: dtype is {dtype}; float16, float32 or float64 is needed")
    drawn = np.dtype(np.float32) if dtype == np.float16 else dtype
    x = _draw("random", (), {"kind": kind, "dtype": drawn.str}, shape, drawn, seed)
    return x if drawn == dtype else _cast(x, dtype)


def _draw(op, operands, attrs, shape, dtype, seed):
    trace = _trace.active()
    shape = _shape(trace, shape) if op == "random" else tuple(shape)
    attrs = {**attrs, "seed": _seed(seed)}
    if op == "random":
        attrs["shape"] = shape
    if trace is not None:
        trace.randoms += 1
        attrs["node"] = trace.randoms
        return trace.add(op, [trace.tensor(x) for x in operands], attrs, [(shape, dtype)])[0]
    spec = TensorSpec(shape, dtype)
    document = {"nodes": [{"op": op, "in": list(range(len(operands))), "attrs": {**attrs, "node": 0}}],
                "outputs": [len(operands)], "structure": None}
    where = _start if seed is None else (0,)
    return _program.results(document, [spec], operands, seed=where, first=_count(attrs["seed"]))[0]


def _shape(trace, shape):
    dims = tuple(shape) if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
    if trace is not None and None in dims:
        trace.end("it draws random numbers of a shape that differs between elements")
    try:
        dims = tuple(operator.index(d) for d in dims)
    except TypeError:
        dims = (-1,)
    if min(dims, default=0) < 0:
        raise InvalidArgumentError(f"random: shape is {shape!r}; ints of at least 0 are needed")
    return dims


def _seed(seed):
    if seed is None:
        return None
    try:
        return operator.index(seed) & _U64
    except TypeError:
        raise InvalidArgumentError(f"random: seed is {seed!r}; an int or None is needed") from None


_start = (int.from_bytes(os.urandom(8), "little"),)
_counts = {}
_lock = threading.Lock()


def _count(seed):
    """How often numbers were drawn with a seed in this process."""
    with _lock:
        n = _counts[seed] = _counts.get(seed, -1) + 1
        return n


def _after_fork():
    global _start, _lock
    _start, _lock = (int.from_bytes(os.urandom(8), "little"),), threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
