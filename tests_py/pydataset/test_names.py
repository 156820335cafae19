"""The names that infeed gives a dataset step aside for the user's own; the engine keeps its values elsewhere."""

import warnings

import numpy as np
import pytest
from samples import KINDS, Items, firsts

NAMES = ("epoch", "rng", "seed", "shuffle", "timeout", "parallelism", "empty")
SETTINGS = dict(shuffle=True, seed=7, timeout=30)
GOLDEN = [[0, 6, 2, 1, 4, 9, 8, 5, 7, 3], [5, 3, 2, 4, 8, 9, 7, 1, 0, 6]]


def all_are_mine(ds, value):
    return [getattr(ds, n) for n in NAMES] == [value] * len(NAMES)


class Assigned(Items):
    """Assigns every name in __init__, as code that never heard of infeed does."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        for name in NAMES:
            setattr(self, name, "mine")
        self.epoch = self.rng = self.seed = self.shuffle = self.timeout = self.parallelism = self.empty = "mine"

    def __getitem__(self, index):
        assert all_are_mine(self, "mine"), "the name was taken away"
        return super().__getitem__(index)


class AssignedBefore(Items):
    """Assigns some before super().__init__()."""

    def __init__(self, *args, **options):
        self.epoch, self.rng, self.seed, self.shuffle = "mine", "mine", "mine", "mine"
        super().__init__(*args, **options)

    def __getitem__(self, index):
        assert [self.epoch, self.rng, self.seed, self.shuffle] == ["mine"] * 4
        return super().__getitem__(index)


class Defined(Items):
    """Defines every name in the class."""

    epoch = seed = "mine"
    timeout = parallelism = "mine"

    @property
    def rng(self):
        return "mine"

    def shuffle(self):
        return "mine"

    def empty(self):
        return "mine"

    def __getitem__(self, index):
        assert [self.epoch, self.seed, self.timeout, self.parallelism, self.rng] == ["mine"] * 5
        assert self.shuffle() == self.empty() == "mine"
        return super().__getitem__(index)


@pytest.mark.parametrize("cls", [Assigned, AssignedBefore, Defined])
def test_names_step_aside(kind, cls):
    """Order, seed, passes and workers are what they would be without."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with cls(10, **SETTINGS, **kind) as ds:
            assert [firsts(ds), firsts(ds)] == GOLDEN


def test_a_counter_of_the_users_own(kind):
    """The classic `self.epoch += 1` in a hook counts as the user's, and reaches the workers."""
    class Counting(Items):
        def __init__(self, **options):
            super().__init__(**options)
            self.epoch = 0

        def on_epoch_end(self):
            self.epoch += 1

        def __getitem__(self, index):
            return np.array([self.epoch])

    with Counting(**kind) as ds:
        assert [set(firsts(ds)) for _ in range(3)] == [{0}, {1}, {2}]
        it = iter(ds)
        next(it)
        assert it.state_dict()["pass"] == 3


def test_a_seeded_generator_of_the_users_own(kind):
    class Seeded(Items):
        def __init__(self, seed, **options):
            super().__init__(**options)
            self.seed = seed
            self.rng = np.random.RandomState(seed)

        def __getitem__(self, index):
            return np.array([self.seed, self.rng.randint(1000)])

    with Seeded(11, **kind) as ds:
        assert {int(b[0]) for b in ds} == {11}


def test_assignments_from_outside_are_infeeds():
    ds = Items(10, workers=0)
    ds.shuffle, ds.seed, ds.epoch, ds.timeout = True, 7, 1, 5.0
    assert firsts(ds) == GOLDEN[1]
    assert (ds.shuffle, ds.seed, ds.epoch, ds.timeout) == (True, 7, 2, 5.0)


def test_values_as_they_were_given():
    ds = Items(workers=3, max_queue_size=4, shuffle=True, seed=9, timeout=2.5)
    assert (ds.workers, ds.use_multiprocessing, ds.max_queue_size) == (3, False, 4)
    assert (ds.shuffle, ds.seed, ds.timeout, ds.epoch, ds.parallelism) == (True, 9, 2.5, 0, 3)
    ds = Items()
    assert (ds.workers, ds.use_multiprocessing, ds.max_queue_size) == (1, False, 10)
    assert (ds.shuffle, ds.timeout, ds.epoch) == (None, None, 0)


@pytest.mark.parametrize("name", KINDS)
def test_slots_and_properties_of_subclasses(name):
    """A dataset with __slots__ beside its __dict__, and with a workers property of its own."""
    class Slotted(Items):
        __slots__ = ("mine",)

        def __init__(self, **options):
            super().__init__(**options)
            self.mine = 5

        def __getitem__(self, index):
            return np.array([self.mine])

    with Slotted(**KINDS[name]) as ds:
        assert firsts(ds) == [5] * 8


def test_assignments_by_helper_functions_are_infeeds():
    """Also where the dataset is their first argument."""
    def configure(ds):
        ds.shuffle, ds.seed, ds.epoch = True, 7, 1

    ds = Items(10, workers=0)
    configure(ds)
    assert firsts(ds) == GOLDEN[1]
