"""self.rng and the global generators: what a batch draws depends on (seed, pass, index) only."""

import random
import threading

import numpy as np
import pytest
from infeed import _context, _engine
from samples import PROCESSES, KINDS, Items, Made, firsts

# What batches 0 to 3 of passes 0 and 1 draw with seed 1: frozen, version 1.
GOLDEN = [[13198684, 5032703, 8295182, 4719886], [7372271, 15412700, 10006102, 10399928]]


def draw(dataset, index):
    return dataset.rng.integers(1 << 24, size=3)


def test_golden(kind):
    with Made(draw, 4, seed=1, **kind) as ds:
        assert [firsts(ds), firsts(ds)] == GOLDEN
        ds.epoch = 1
        assert firsts(ds) == GOLDEN[1]


def test_field_case(kind):
    """Sixteen different numbers in two passes over eight batches; another seed gives others."""
    def numbers(seed):
        with Made(lambda ds, i: ds.rng.integers(2**62, size=1), seed=seed, **kind) as ds:
            return firsts(ds) + firsts(ds)

    one = numbers(1)
    assert len(set(one)) == 16
    assert numbers(1) == one
    assert not set(numbers(2)) & set(one)


def test_the_place_in_the_order_does_not_matter(kind):
    with Made(draw, shuffle=True, seed=4, **kind) as shuffled:
        a = sorted(firsts(shuffled))
    assert a == sorted(firsts(Made(draw, seed=4, workers=0)))


def test_draws_go_on_within_a_batch(kind):
    """Several draws are one stream, also through helpers of the dataset."""
    def make(ds, index):
        return np.array([ds.rng.random(), ds.rng.random(), ds.rng.random()])

    with Made(make, 3, seed=1, **kind) as ds:
        batches = np.stack(list(ds))
    assert len(set(batches.ravel().tolist())) == 9
    reference = Made(lambda ds, i: ds.rng.random(3), 3, seed=1, workers=0)
    assert (np.stack(list(reference)) == batches).all()


def test_it_is_a_numpy_generator():
    ds = Made(lambda ds, i: np.array([isinstance(ds.rng, np.random.Generator)]), workers=0)
    assert all(firsts(ds))
    assert isinstance(ds.rng, np.random.Generator)


def test_hooks_have_one_too():
    """One for each pass, that no batch has."""
    class Drawing(Made):
        def on_epoch_begin(self):
            self.drawn = getattr(self, "drawn", [])
            self.drawn.append(int(self.rng.integers(1 << 24)))

    def passes():
        ds = Drawing(draw, seed=1, workers=0)
        served = [n for _ in range(3) for n in firsts(ds)]
        return ds.drawn, served

    (one, served), (two, _) = passes(), passes()
    assert one == two and len(set(one)) == 3 and not set(one) & set(served)


def test_a_dataset_inside_another_has_its_own():
    """The inner one, used while a batch of the outer is made, is in no batch of its own."""
    inner = Made(draw, 4, seed=9, workers=0)

    def make(ds, index):
        before = ds.rng.integers(1 << 24)
        return np.array([before, *firsts(inner), ds.rng.integers(1 << 24)])

    ds = Made(make, 2, seed=1, workers=0)
    got = [b.tolist() for b in ds]
    assert [b[1:-1] for b in got][0] == firsts(Made(draw, 4, seed=9, workers=0))
    alone = Made(lambda ds, i: ds.rng.integers(1 << 24, size=2), 2, seed=1, workers=0)
    assert [b.tolist() for b in alone] == [[b[0], b[-1]] for b in got]


def global_draws(dataset, index):
    return np.array([np.random.random(), random.random()])


@pytest.mark.parametrize("name", PROCESSES)
def test_global_generators_in_processes(name):
    def passes(seed, **kind):
        with Made(global_draws, seed=seed, **kind) as ds:
            return [tuple(b.tolist()) for _ in range(2) for b in ds]

    got = passes(1, **KINDS[name])
    assert len(set(got)) == 16
    assert got == passes(1, workers=3, use_multiprocessing=True)
    assert not set(got) & set(passes(2, **KINDS[name]))


@pytest.mark.parametrize("name", ["inline", "thread", "threads"])
def test_global_generators_of_the_main_process_are_left_alone(name):
    np.random.seed(5)
    random.seed(5)
    expected = np.random.random(), random.random()
    np.random.seed(5)
    random.seed(5)
    with Items(**KINDS[name]) as ds:
        list(ds)
    assert (np.random.random(), random.random()) == expected


def test_torch_in_processes():
    pytest.importorskip("torch", reason="torch is not installed")

    def make(ds, index):
        import torch
        return torch.rand(2).numpy()

    def numbers(**kind):
        with Made(make, seed=1, **kind) as ds:
            list(ds)  # seeded once it is imported
            return [b.tolist() for b in ds]

    assert numbers(workers=1, use_multiprocessing=True) == numbers(workers=2, use_multiprocessing=True)


@pytest.mark.parametrize("name", ["inline", "thread", "process", "processes"])
def test_in_threads_that_getitem_starts(name):
    """Where one batch of the dataset is made at a time, its threads have its numbers and its epoch."""
    def make(ds, index):
        import concurrent.futures
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return np.array([pool.submit(lambda: ds.rng.integers(1 << 24)).result(),
                             pool.submit(lambda: ds.epoch).result()])

    with Made(make, 4, seed=1, **KINDS[name]) as ds:
        for number in range(2):
            assert [b.tolist() for b in ds] == [[n, number] for n in GOLDEN[number]]


def test_hooks_and_the_consumer_have_their_own_while_a_batch_is_made():
    """A thread is in the middle of batch 1; what the main thread draws then is none of that batch's."""
    inside, go_on = threading.Event(), threading.Event()

    class Waiting(Items):
        drawn = None

        def __getitem__(self, index):
            if index == 1:
                inside.set()
                go_on.wait(30)
            return np.array([self.rng.integers(1 << 40)])

        def on_epoch_end(self):
            self.drawn = self.rng.integers(1 << 40), self.epoch

    def in_a_thread(ds):
        t = threading.Thread(target=_engine.run_hook, args=(ds, "on_epoch_end"))
        t.start()
        t.join()

    for hook in (lambda ds: ds.on_epoch_end(), in_a_thread):
        inside.clear(), go_on.clear()
        with Waiting(3, workers=1, seed=8) as ds:
            it = iter(ds)
            next(it)
            assert inside.wait(30)
            hook(ds)
            assert ds.drawn == (_context.generator(8, 0, -1).integers(1 << 40), 0)
            go_on.set()
            assert [int(b[0]) for b in it] == [_context.generator(8, 0, i).integers(1 << 40) for i in (1, 2)]
