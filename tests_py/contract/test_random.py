"""self.rng: a function of (seed, pass, index), and of nothing else."""

import pytest

pytestmark = [pytest.mark.usefixtures("ours"), pytest.mark.tensorflow]
KINDS = [(0, False), (4, False), (2, True)]
IDS = ["0", "4threads", "2processes"]
kinds = pytest.mark.parametrize("workers, processes", KINDS, ids=IDS)
LIMIT = 60

# What batches 0 to 3 of passes 0 and 1 draw with seed 1: frozen, version 1.
GOLDEN = [[13198684, 5032703, 8295182, 4719886], [7372271, 15412700, 10006102, 10399928]]


def source(workers, processes, length=4, **more):
    return dict(length=length, workers=workers, use_multiprocessing=processes, max_queue_size=4, **more)


@kinds
def test_draws_are_those_of_seed_pass_and_index(run, workers, processes):
    """The same on every backend, with any workers, and in a plain loop."""
    train = source(workers, processes, dataset="Drawing", seed=1)
    got = run("steps", LIMIT, train=train, fits=[{"epochs": 2}], shuffle=False)
    assert got["first"] == GOLDEN
    assert run("looped", LIMIT, dataset=train, passes=2)["first"] == GOLDEN
    assert run("looped", LIMIT, dataset=train, passes=1, epoch=1)["first"] == GOLDEN[1:]


@kinds
def test_draws_go_with_the_batch_not_with_its_place(run, workers, processes):
    train = source(workers, processes, dataset="Drawing", length=8, seed=1)
    straight = run("steps", LIMIT, train=train, fits=[{"epochs": 2}], shuffle=False)
    shuffled = run("steps", LIMIT, train=train, fits=[{"epochs": 2}], shuffle=True)
    assert straight["train"] != shuffled["train"]
    for k in range(2):
        assert dict(zip(straight["train"][k], straight["first"][k])) == \
            dict(zip(shuffled["train"][k], shuffled["first"][k]))


@kinds
def test_every_draw_is_another(run, workers, processes):
    train = source(workers, processes, dataset="Drawing", length=16)
    one = run("steps", LIMIT, train=dict(train, seed=1), fits=[{"epochs": 2}])
    two = run("steps", LIMIT, train=dict(train, seed=2), fits=[{"epochs": 2}])
    assert len(set(sum(one["first"] + two["first"], []))) == 64


@kinds
def test_keras_seed_is_taken(run, workers, processes):
    """keras.utils.set_random_seed seeds a dataset that has no seed of its own."""
    train = source(workers, processes, dataset="Drawing", seed=5)
    own = run("steps", LIMIT, train=train, fits=[{"epochs": 1}], shuffle=False)
    assert own["seed"] == 5
    one, two = run("fit", LIMIT, train=source(workers, processes, dataset="Drawing"), epochs=1, seed=5, runs=2,
                   shuffle=False)
    assert one["rows"] == two["rows"]
    assert [int(r[3]) for r in one["rows"][0]] == own["first"][0]


@kinds
def test_evaluations_draw_the_same_each_time(run, workers, processes):
    """In index order, whatever was trained on in between; training is not disturbed."""
    got = run("looks", LIMIT, dataset=source(workers, processes, length=6, seed=1))
    assert got["order"] == [list(range(6))] * 4
    assert len(got["test"]) == 4 and all(t == got["test"][0] for t in got["test"])
    assert got["predict"] == [got["test"][0]] * 2
    undisturbed = run("steps", LIMIT, train=source(workers, processes, length=6, dataset="Drawing", seed=1),
                      fits=[{"epochs": 2}], shuffle=True)
    assert got["train_order"] == undisturbed["train"]
    assert got["train"] == undisturbed["first"]
    assert not set(got["test"][0]) & set(sum(got["train"], []))


def test_global_generators_of_processes_are_seeded_by_the_batch(run):
    one = run("noise", LIMIT, workers=1, seed=3, delay=0)[0]["draws"]
    four = run("noise", LIMIT, workers=4, seed=3, delay=0)[0]["draws"]
    assert one == four and len(set(one)) == 32


@kinds
def test_keras_seed_is_taken_by_loops(run, workers, processes):
    """Not only by fit."""
    dataset = source(workers, processes, length=10)
    one, two = (run("seeded_loops", LIMIT, dataset=dataset, seed=7) for _ in range(2))
    assert one == two and one["seed"] == 7
    assert one["batches"] == [[0, 6, 2, 1, 4, 9, 8, 5, 7, 3], [5, 3, 2, 4, 8, 9, 7, 1, 0, 6]]
