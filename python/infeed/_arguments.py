"""Arguments of datasets: numbers as the engine takes them."""

import os

import operator

import numpy as np

from infeed import _template
from infeed._errors import InvalidArgumentError

U64 = (1 << 64) - 1


def integer(op, name, value, most=U64 >> 1):
    """An int argument; floats and bools are refused as they hide mistakes. What differs between elements stays as it is."""
    if (given := _template.argument(value)) is not None:
        return given
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:  # also for arrays that hold one int
        number = None
    if number is None:
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; an int is needed")
    if not -1 << 63 <= number <= most:
        limit = f"at most {most}" if number > most else f"at least {-1 << 63}"
        raise InvalidArgumentError(f"{op}: {name} is {shown(number)}; it must be {limit}")
    return number


def shown(number):
    """An int for a message; Python refuses to write out those of thousands of digits."""
    return str(number) if number.bit_length() < 512 else f"an int of {number.bit_length()} bits"


def shard(op, shard):
    try:
        n, i = shard
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{op} is {shard!r}; (how many readers, which of them) is needed") from None
    n, i = integer(op, "num_shards", n), integer(op, "index", i)
    if n < 1 or not 0 <= i < n:
        raise InvalidArgumentError(f"{op}: index {i} of num_shards {n}; 0 <= index < num_shards is needed")
    return n, i


def at_least(op, name, value, least):
    n = integer(op, name, value)
    if n < least:
        raise InvalidArgumentError(f"{op}: {name} is {n}; it must be at least {least}")
    return n


def calls(op, value):
    n = integer(op, "num_parallel_calls", value)
    if n < 1 and n != -1:
        raise InvalidArgumentError(f"{op}: num_parallel_calls is {n}; it must be at least 1, AUTOTUNE or None")
    return n


def items(op, name, value):
    """What is in a list, or in anything else that can be walked over."""
    try:
        return list(value)
    except TypeError:
        raise TypeError(f"{op}: {name} is {value!r:.100}; a list is needed") from None


def dataset(op, name, value):
    from infeed._dataset import Dataset

    if not isinstance(value, Dataset):
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; a Dataset is needed")
    return value


def utf8(what, path):
    """A path as it is; the engine takes those that are UTF-8."""
    if not path.isascii() and any("\ud800" <= c <= "\udfff" for c in path):
        raise InvalidArgumentError(f"{what}: {os.fsencode(path)!r} is not UTF-8, as paths have to be; rename it, or make a link to it")
    return path
