"""Passes: every batch once in each, in an order that only seed and pass decide."""

import pytest

pytestmark = [pytest.mark.usefixtures("ours"), pytest.mark.tensorflow]
KINDS = [(0, False), (4, False), (2, True)]
IDS = ["0", "4threads", "2processes"]
kinds = pytest.mark.parametrize("workers, processes", KINDS, ids=IDS)
LIMIT = 60

# The orders of passes 0 and 1 over 10 batches with seed 7: frozen, version 1.
GOLDEN = [[0, 6, 2, 1, 4, 9, 8, 5, 7, 3], [5, 3, 2, 4, 8, 9, 7, 1, 0, 6]]


def source(workers, processes, dataset="Passing", length=8, **more):
    return dict(dataset=dataset, length=length, workers=workers, use_multiprocessing=processes,
                max_queue_size=4, **more)


def served(number, indices):
    return [number * 100 + i for i in indices]


@kinds
def test_order_is_that_of_seed_and_pass(run, workers, processes):
    """The same in fit on every backend, with any workers, and in a plain loop."""
    train = source(workers, processes, "Ids", length=10, seed=7)
    assert run("steps", LIMIT, train=train, fits=[{"epochs": 2}])["train"] == GOLDEN
    train["shuffle"] = True
    assert run("looped", LIMIT, dataset=train, passes=2)["batches"] == GOLDEN


@kinds
def test_the_datasets_own_shuffle_wins(run, workers, processes):
    train = source(workers, processes, "Ids", length=10, seed=7)
    got = run("steps", LIMIT, train={**train, "shuffle": False}, fits=[{"epochs": 1}])
    assert got["train"] == [list(range(10))]
    got = run("steps", LIMIT, train={**train, "shuffle": True}, fits=[{"epochs": 2, "shuffle": False}])
    assert got["train"] == GOLDEN


@pytest.mark.parametrize("shuffle, shuffled", [(1, True), ("batch", True), (0, False), (None, False)], ids=str)
def test_other_values_of_shuffle(run, shuffle, shuffled):
    """fit takes anything there that is true or false."""
    train = source(2, False, "Ids", length=10, seed=7)
    got = run("steps", LIMIT, train=train, fits=[{"epochs": 1, "shuffle": shuffle}])
    assert got["train"] == [GOLDEN[0] if shuffled else list(range(10))]


@kinds
def test_passes_are_counted(run, workers, processes):
    """From 0, over several fits, whatever Keras calls its epochs."""
    got = run("steps", LIMIT, train=source(workers, processes), shuffle=False,
              fits=[{"epochs": 2}, {"initial_epoch": 5, "epochs": 7}])
    assert got["train"] == [served(n, range(8)) for n in range(4)]
    assert got["after"] == [2, 4]


@kinds
def test_a_pass_can_be_chosen(run, workers, processes):
    train = source(workers, processes, "Ids", length=10, seed=7)
    got = run("steps", LIMIT, train=train, fits=[{"epochs": 1}], epoch=1)
    assert got["train"] == GOLDEN[1:]
    got = run("steps", LIMIT, train=source(workers, processes), fits=[{"epochs": 2}], epoch=3, shuffle=False)
    assert got["train"] == [served(n, range(8)) for n in (3, 4)]


@kinds
@pytest.mark.parametrize("how", ["stop_at", "raise_at"])
def test_an_abandoned_pass_is_over(run, workers, processes, how):
    got = run("steps", LIMIT, train=source(workers, processes), shuffle=False,
              fits=[{"epochs": 2, how: 2}, {"epochs": 2}])
    if how == "raise_at":  # Keras does not report the step whose callback raises
        got["train"][0] += [2] * (len(got["train"][0]) < 3)
    assert got["train"] == [served(0, range(3)), served(1, range(8)), served(2, range(8))]


@kinds
def test_a_pass_after_a_failed_one(run, workers, processes, tmp_path):
    train = dict(dataset="Bad", length=8, bad=4, workers=workers, use_multiprocessing=processes)
    got = run("recovered", LIMIT, train=train, flag=str(tmp_path / "failed"))
    assert got["failed"]
    assert got["train"] == [list(range(4)), list(range(8)), list(range(8))]


@kinds
def test_epochs_share_a_pass_under_steps_per_epoch(run, workers, processes):
    got = run("steps", LIMIT, train=source(workers, processes, length=6), shuffle=False, steps_per_epoch=3,
              fits=[{"epochs": 4}])
    assert sum(got["train"], []) == served(0, range(6)) + served(1, range(6))


@kinds
def test_shuffled_passes_under_steps_per_epoch(run, workers, processes):
    got = run("steps", LIMIT, train=source(workers, processes, "Ids", length=10, seed=7), steps_per_epoch=5,
              fits=[{"epochs": 4}])
    assert [got["train"][0] + got["train"][1], got["train"][2] + got["train"][3]] == GOLDEN


@kinds
def test_several_steps_in_one_execution(run, backend, workers, processes):
    if backend == "torch":
        pytest.skip("Keras has no steps_per_execution there")
    got = run("fit", LIMIT, train=source(workers, processes, "Ids", length=6), epochs=2, spe=3, shuffle=False)
    assert got["train"] == [list(range(6))] * 2


def test_run_eagerly(run):
    got = run("fit", LIMIT, train=source(2, False, "Ids"), epochs=2, eager=True, shuffle=False)
    assert got["train"] == [list(range(8))] * 2


@pytest.mark.parametrize("workers, processes, number", [(0, False, 0), (1, False, 1), (3, False, 3),
                                                        (0, True, 1), (2, True, 2)])
def test_what_keras_is_told(run, workers, processes, number):
    got = run("told", LIMIT, workers=workers, processes=processes)
    assert got == {"workers": 1, "parallelism": number, "kind": True}


def test_an_adapter_that_is_not_recognised(run):
    """Batches come all the same, and a warning says what to do."""
    got = run("unknown_reader", LIMIT)
    assert got["served"] == [0, 1, 2] and got["workers"] == 1
    assert any("shuffle" in w for w in got["warnings"]), got["warnings"]


@kinds
@pytest.mark.parametrize("lengths", [[6, 4, 4], [4, 6, 6], [4, 4, 4, 4, 4, 6]], ids=str)
def test_a_length_that_changes(run, workers, processes, lengths):
    """No hang, and no batch twice in an epoch."""
    train = dict(dataset="Lengths", lengths=lengths, workers=workers, use_multiprocessing=processes)
    got = run("fit", LIMIT, train=train, epochs=3, shuffle=False)
    assert all(e == list(range(len(e))) and 4 <= len(e) <= 6 for e in got["train"]), got["train"]


@kinds
def test_a_length_that_raises(fails, workers, processes):
    train = dict(dataset="Lengths", lengths=["raise"], workers=workers, use_multiprocessing=processes)
    assert "nobody knows the length" in fails("fit", LIMIT, train=train)["text"]


@kinds
def test_a_length_that_is_too_large(fails, workers, processes):
    train = dict(dataset="Lengths", lengths=[9], workers=workers, use_multiprocessing=processes)
    assert "there is no batch 6" in fails("fit", LIMIT, train=train, shuffle=False)["text"]
