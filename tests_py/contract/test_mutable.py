"""Hooks that change the dataset: every worker serves what they left."""

import pytest

pytestmark = pytest.mark.usefixtures("ours")
KINDS = [(0, False), (1, False), (4, False), (2, True)]
IDS = ["0", "1thread", "4threads", "2processes"]
kinds = pytest.mark.parametrize("workers, processes", KINDS, ids=IDS)
LIMIT = 60


def source(workers, processes, length=8, **more):
    return dict(length=length, workers=workers, use_multiprocessing=processes, max_queue_size=10, **more)


@pytest.mark.tensorflow
@kinds
def test_reshuffled_indexes_reach_the_workers(run, workers, processes):
    got = run("reindexed", LIMIT, train=source(workers, processes), epochs=3)
    assert got["train"] == got["begun"]
    assert len({tuple(e) for e in got["begun"]}) == 3


@pytest.mark.tensorflow
@kinds
def test_batches_made_ahead_of_a_change_are_made_again(run, workers, processes):
    """With steps_per_epoch the hook runs in the middle of a pass, with the queue full."""
    got = run("reindexed", LIMIT, train=source(workers, processes, length=9), epochs=3, steps_per_epoch=3)
    assert got["train"] == [order[3 * k:3 * k + 3] for k, order in enumerate(got["begun"])]


@pytest.mark.tensorflow
@kinds
def test_an_attribute_set_by_a_slow_hook(run, workers, processes):
    """Field case: eight batches, the begin hook is slow and sets what they serve."""
    got = run("hooks", LIMIT, train=source(workers, processes, hook_delay=0.3), epochs=3, shuffle=False)
    numbers = [{b // 100 for b in epoch} for epoch in got["train"]]
    assert all(len(n) == 1 for n in numbers) and len(set.union(*numbers)) == 3, got["train"]
    assert [[b % 100 for b in epoch] for epoch in got["train"]] == [list(range(8))] * 3


@pytest.mark.parametrize("workers, processes", [(0, False), (2, False), (1, True)], ids=["0", "2threads", "1process"])
def test_accelerate(run, workers, processes):
    """A stock dataset, hooks and all, keeps what infeed promises."""
    got = run("accelerated", LIMIT, workers=workers, processes=processes)
    assert got["train"] + [got["loop"]] == got["begun"]
    assert len({tuple(e) for e in got["begun"]}) == 4
    assert got["parallelism"] == workers


def test_accelerate_and_audit_refuse_what_is_no_dataset(run):
    got = run("refused", LIMIT)
    assert len(got) == 2 and all("list" in text and "PyDataset" in text for text in got)


@pytest.mark.tensorflow
@pytest.mark.parametrize("workers, processes", [(0, False), (4, False), (2, True)], ids=["0", "4threads", "2processes"])
def test_audit_of_a_good_dataset(run, workers, processes):
    got = run("audited", LIMIT, stock=False, workers=workers, use_multiprocessing=processes, shuffle=False)
    assert got["epochs"] == [list(range(6))] * 2
    assert got["duplicated"] == got["missing"] == got["out_of_order"] == [[], []]
    assert got["leftover_threads"] == got["leftover_processes"] == 0
    assert got["seconds_per_batch"] > 0 and got["seconds_per_epoch_end"] > 0
    assert got["text"].count("each once") == 2


@pytest.mark.parametrize("workers", [1, 4])
def test_audit_of_a_stock_dataset(run, workers):
    """Whatever Keras does with it, the report agrees with itself."""
    got = run("audited", LIMIT, stock=True, workers=workers, shuffle=False)
    for k, epoch in enumerate(got["epochs"]):
        assert got["duplicated"][k] == sorted({i for i in epoch if epoch.count(i) > 1})
        assert got["missing"][k] == sorted(set(range(6)) - set(epoch))
        assert got["out_of_order"][k] == [b for a, b in zip(epoch, epoch[1:]) if b < a]
    if workers == 1:
        assert got["epochs"] == [list(range(6))] * 2


def test_audit_under_steps_per_epoch(run):
    got = run("audited", LIMIT, stock=False, workers=2, shuffle=False, steps_per_epoch=3)
    assert got["epochs"] == [[0, 1, 2], [3, 4, 5]]
    assert got["duplicated"] == [[], []] and got["out_of_order"] == [[], []]


def test_workers_do_without_keras(run):
    """A class that goes by value has infeed's own base there: nothing of Keras is imported."""
    assert run("imported", LIMIT) == [False, False, False, True]


def test_bases_of_classes_that_go_by_value(run):
    assert run("inherited", LIMIT, workers=1) == {"Both": 6, "Ported": 6, "Mixed": 6}
