"""What a fingerprint tells apart: every argument of every operation, and all that functions of Python take from outside."""

import collections
import dataclasses
import datetime
import decimal
import functools
import logging
import operator
import random
import sys
import threading

import numpy as np
import pytest

import infeed
from infeed import _fingerprint


def six():
    return infeed.Dataset.range(6)


def digest(dataset):
    return _fingerprint.digest_of(_fingerprint.parts_of(dataset._node))


def counted(n):
    yield from range(n)


def generated(args, dtype):
    return infeed.Dataset.from_generator(counted, args=args, output_signature=infeed.TensorSpec((), dtype))


def bucketed(bounds=(3,), sizes=(2, 2), **options):
    return six().map(lambda x: np.arange(int(x))).bucket_by_sequence_length(lambda x: len(x), list(bounds), list(sizes), **options)


def grouped(size, key):
    return six().group_by_window(lambda x: x % key, lambda k, d: d.batch(size), window_size=4)


ARRAY = np.arange(24)

# In each list, every dataset has other elements than the others, or the same in another order.
DIFFERENT = {
    "range": lambda: [infeed.Dataset.range(*a) for a in ((5,), (1, 5), (1, 5, 2), (6,))],
    "from_tensor_slices": lambda: [infeed.Dataset.from_tensor_slices(a) for a in (
        ARRAY, ARRAY[::2], ARRAY[1::2], ARRAY.reshape(6, 4), ARRAY.reshape(6, 4).T, ARRAY.view("f8"), ARRAY.view("M8[s]"), ARRAY.view("M8[ms]"), ["ab", "c"],
        ["a", "bc"], {"a": ARRAY}, {"b": ARRAY}, (ARRAY,))],
    "structured": lambda: [infeed.Dataset.from_tensor_slices(np.zeros(2, [(name, "i4")])) for name in "ab"],
    "from_tensors": lambda: [infeed.Dataset.from_tensors(a) for a in (ARRAY, ARRAY[:6], ARRAY.reshape(6, 4))],
    "from_generator": lambda: [generated(*a) for a in (((3,), "int64"), ((4,), "int64"), ((3,), "int32"))],
    "counter": lambda: [infeed.Dataset.counter(*a).take(3) for a in ((0,), (1,), (1, 2))],
    "random": lambda: [infeed.Dataset.random(seed=s).take(3) for s in (1, 2)],
    "shuffle": lambda: [six().shuffle(*a) for a in ((3, 1), (3, 2), (4, 1), (3, 1, False))] + [six().shuffle(4, 1, page_size=2)],
    "repeat": lambda: [six().repeat(n) for n in (2, 3)], "take": lambda: [six().take(n) for n in (2, 3)], "skip": lambda: [six().skip(n) for n in (2, 3)],
    "shard": lambda: [six().shard(*a) for a in ((2, 0), (2, 1), (3, 0))],
    "batch": lambda: [six().batch(*a) for a in ((4,), (5,), (4, True))], "rebatch": lambda: [six().batch(2).rebatch(n) for n in (3, 4)],
    "window": lambda: [six().window(*a).flat_map(lambda d: d) for a in ((3,), (2,), (3, 1), (3, 1, 2))],
    "padded_batch": lambda: [six().map(lambda x: np.arange(int(x))).padded_batch(3, **k) for k in (
        {}, {"padding_values": np.int64(1)}, {"padding_values": np.int64(2)}, {"padded_shapes": (7,)}, {"padded_shapes": (8,)})],
    "bucket": lambda: [bucketed(), bucketed(bounds=(4,)), bucketed(sizes=(3, 2)), bucketed(padding_values=np.int64(7)), bucketed(drop_remainder=True)],
    "group_by_window": lambda: [grouped(2, 2), grouped(3, 2), grouped(2, 3)],
    "interleave": lambda: [six().interleave(lambda x: infeed.Dataset.range(4), cycle_length=c, block_length=b) for c, b in ((1, 1), (2, 1), (2, 2))],
    "scan": lambda: [six().scan(s, lambda s, x: (s + x, s)) for s in (np.int64(0), np.int64(1))],
    "enumerate": lambda: [six().enumerate(n) for n in (0, 5)],
    "sample": lambda: [infeed.Dataset.sample_from_datasets([six(), six().skip(1)], **k) for k in (
        {"seed": 1}, {"seed": 2}, {"seed": 1, "weights": [0.1, 0.9]}, {"seed": 1, "stop_on_empty_dataset": True})],
    "choose": lambda: [infeed.Dataset.choose_from_datasets([six(), six().skip(1)], infeed.Dataset.from_tensor_slices(np.array(c)), s)
                       for c, s in (([0, 1], True), ([1, 0], True), ([1, 0], False))],
    "resample": lambda: [six().rejection_resample(lambda x: x % 2, t, i, seed=s) for t, i, s in (
        ([0.5, 0.5], [0.5, 0.5], 1), ([0.2, 0.8], [0.5, 0.5], 1), ([0.5, 0.5], [0.4, 0.6], 1), ([0.5, 0.5], [0.5, 0.5], 2))],
}


@pytest.mark.parametrize("op", DIFFERENT)
def test_every_argument_of_an_operation(op):
    digests = [digest(ds) for ds in DIFFERENT[op]()]
    assert len(set(digests)) == len(digests)
    assert [digest(ds) for ds in DIFFERENT[op]()] == digests


@dataclasses.dataclass(frozen=True)
class Settings:
    size: int
    names: list = dataclasses.field(default_factory=list)


class Slotted:
    __slots__ = ("size",)

    def __init__(self, size):
        self.size = size


class Tagged(np.ndarray):
    pass


class Words(dict):
    pass


def tagged(kind, made, size):
    value = made.view(kind) if kind is Tagged else kind(made)
    value.size_of = size
    return value


def with_attribute(size):
    def function(x):
        return x

    function.size = size
    return function


def cached(size):
    @functools.lru_cache
    def function(x):
        return x + size
    return function


class Classy:
    size = 1

    @classmethod
    def of(cls, x):
        return x + cls.size


OTHER = {
    "dataclass": lambda: [Settings(1), Settings(2), Settings(1, ["a"])], "slots": lambda: [Slotted(1), Slotted(2)],
    "array with attributes": lambda: [tagged(Tagged, np.zeros(2), n) for n in (1, 2)], "dict with attributes": lambda: [tagged(Words, {}, n) for n in (1, 2)],
    "function's attributes": lambda: [with_attribute(n) for n in (1, 2)], "lru_cache": lambda: [cached(n) for n in (1, 2)],
    "method of a builtin": lambda: [{0: n}.get for n in (1, 2)], "itemgetter": lambda: [operator.itemgetter(n) for n in (0, 1)],
    "class with a classmethod": lambda: [Classy, type("Classy", (Classy,), {"size": 2})], "date": lambda: [datetime.date(2020, 1, n) for n in (1, 2)],
    "decimal": lambda: [decimal.Decimal(n) for n in ("1.0", "1.00")], "bytearray": lambda: [bytearray(b"a"), bytearray(b"b")],
    "defaultdict": lambda: [collections.defaultdict(f, {0: n}) for f, n in ((int, 1), (int, 2), (list, 1))],
    "deque": lambda: [collections.deque([n]) for n in (1, 2)], "zeros": lambda: [0, 0.0, -0.0, False, 0j, "0", b"0", [0], (0,), {0}],
    "names of a dtype": lambda: [np.zeros(1, [(n, "i4")]) for n in "ab"],
}


@pytest.mark.parametrize("kind", OTHER)
def test_every_kind_of_value_that_a_function_uses(kind):
    def all_():
        return [digest(six().map(lambda x, value=v: np.int64(hash((int(x), str(value)))))) for v in OTHER[kind]()]

    digests = all_()
    assert len(set(digests)) == len(digests) and all_() == digests


@pytest.mark.parametrize("value", [threading.Lock(), threading.RLock(), logging.getLogger("some")], ids=lambda v: type(v).__name__)
def test_what_no_element_depends_on(value):
    digest(six().map(lambda x, value=value: np.int64(int(x))))


@pytest.mark.parametrize("value", [iter([1]), random.Random(1), np.random.default_rng(1), object()], ids=lambda v: type(v).__name__)
def test_what_cannot_be_told_apart(value):
    with pytest.raises(infeed.InvalidArgumentError, match="cannot be hashed.*fingerprint="):
        digest(six().map(lambda x, value=value: np.int64(int(x))))


MODULES = """
import json, infeed, outer, settings
from infeed import _fingerprint
"CHANGE"

def uses(x):
    import lazy
    from inside.deep import number
    return outer.number(int(x)) + settings.SIZE + lazy.number(x) + number(x)

ds = infeed.Dataset.range(3).map(uses)
print(json.dumps(_fingerprint.parts_of(ds._node)))
"""


def test_modules_of_the_users_by_what_is_used_of_them(run, tmp_path):
    (tmp_path / "inside").mkdir()
    files = {"outer.py": "import inner\ndef number(x):\n    return inner.number(x)\n", "inner.py": "def number(x):\n    return 1\n", "settings.py": "SIZE = 1\n",
             "lazy.py": "def number(x):\n    return 1\n", "inside/__init__.py": "", "inside/deep.py": "from . import deeper\ndef number(x):\n    return deeper.N\n",
             "inside/deeper.py": "N = 1\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    first = run(MODULES)
    assert run(MODULES) == first
    assert run(MODULES.replace('"CHANGE"', '__import__("lazy"), __import__("inside.deep")')) == first
    assert run(MODULES.replace('"CHANGE"', "settings.SIZE = 2")) != first
    for name in ("inner.py", "settings.py", "lazy.py", "inside/deeper.py"):
        (tmp_path / name).write_text(files[name].replace("1", "22"))  # of another size, so that no stale bytecode is used
        assert run(MODULES) != first, name
        (tmp_path / name).write_text(files[name])


def test_a_module_without_a_file_cannot_be_told_apart(monkeypatch):
    monkeypatch.setitem(sys.modules, "of_no_file", type(sys)("of_no_file"))

    def uses(x):
        import of_no_file
        return of_no_file.SIZE + int(x)

    sys.modules["of_no_file"].SIZE = 1
    with pytest.raises(infeed.InvalidArgumentError, match="import of_no_file cannot be hashed"):
        digest(six().map(uses))
