"""The benchmark's own rules: what consumers check, what goals mean, how a round goes wrong."""

import numpy as np
import pytest

from bench import (batches, csv_rows, examples, functions, interpreters, numbers, permutation, pictures, rows, table, w1_pydataset,
                   w2_arrays, w3_records, w4_csv, w6_snapshots, w9_start, w10_numbers)
from bench.figure import Contender, Figure, at_least, at_most, times
from bench.runner import Runner


def given(*indices):
    return [(np.full(batches.SMALL, i % 250, "uint8"), np.array([i, 0])) for i in indices]


@pytest.mark.parametrize("indices, note", [
    ([0, 1, 2, 3], ""), ([0, 2, 1, 3], "out of order"), ([0, 1, 1, 3], "1 missing, 1 twice"),
    ([0, 1], "2 missing, 0 twice")])
def test_checker_tells_what_was_delivered_wrong(indices, note):
    assert batches.rate(given(*indices), 4)[1] == note


@pytest.mark.parametrize("place", [0, 102, -1])  # the first, one of the sample, the last
def test_checker_refuses_other_content(place):
    x, y = given(3)[0]
    x.reshape(-1)[place] = 9
    with pytest.raises(AssertionError, match="batch 3"):
        batches.Checker(4)((x, y))


def shuffled(x, y, order):
    return [(x[order[i:i + rows.BATCH]], y[order[i:i + rows.BATCH]]) for i in range(0, len(order), rows.BATCH)]


@pytest.mark.parametrize("change, note", [
    (lambda o: o, ""), (lambda o: np.r_[o[:-1], o[0]], "2 rows not once a pass"), (lambda o: o[:512], "")])
def test_ledger_proves_that_each_row_came_once(change, note):
    n = 1000
    x, y = (a[:n] for a in rows.arrays("image"))
    order = change(np.random.default_rng(0).permutation(n))
    assert rows.rate(shuffled(x, y, order), n, 1)[1] == note


def test_ledger_refuses_rows_that_do_not_belong_to_their_labels():
    x, y = (a[:512] for a in rows.arrays("image"))
    with pytest.raises(AssertionError):
        rows.rate([(x[:256], y[256:])], 512, 1)


def of_examples(x, y, labels=None):
    names = np.array([examples.name(n) + b"abc" for n in (y if labels is None else labels)], object)
    return {"x": x, "y": y, "name": names}


def test_ledger_of_examples_looks_at_names():
    x, y = (a[:256] for a in rows.arrays("narrow"))
    ledger = examples.Ledger(256, 1)
    ledger(of_examples(x, y))
    assert ledger.note() == ""
    with pytest.raises(AssertionError, match="another example"):
        examples.Ledger(256, 1)(of_examples(x, y, labels=y[::-1]))


def columns(first, count):
    """A batch of the CSV file, of rows whose floats are 0."""
    n = np.arange(first, first + count)
    return [*np.zeros((6, count), "f4"), n % 100, n, [csv_rows.WORDS[i % 10].encode() for i in n], [csv_rows._second(i) for i in n]]


@pytest.mark.parametrize("damage", [lambda c: c[7].__iadd__(1), lambda c: c[0].__iadd__(1), lambda c: c[8].reverse(), lambda c: c[9].reverse(),
                                    lambda c: c[6].__iadd__(1)])
def test_ledger_of_csv_rows(damage):
    known = np.zeros((20, 6), "f4")
    assert csv_rows.rate([columns(0, 8), columns(8, 4)], known)[1] == f"12 of {csv_rows.N} rows came"
    wrong = columns(0, 8)
    damage(wrong)
    with pytest.raises(AssertionError, match="row"):
        csv_rows.rate([wrong], known)


def test_numbers_are_checked():
    assert numbers.rate([np.arange(1, 5), np.arange(5, 9)], 4, 2)[1] == ""
    assert numbers.rate([np.arange(1, 5)], 4, 2)[1] == "4 of 8 elements"
    for wrong in ([1, 2, 4, 4], [2, 3, 4, 5], [1, 2, 3, 5]):
        with pytest.raises(AssertionError, match="batch 0"):
            numbers.rate([np.array(wrong)], 4, 1)


def test_results_of_functions_are_checked():
    assert functions.rate([0, 4, 1], 3)[1] == "" and functions.microseconds([0], 3)[1] == "1 of 3 elements"
    with pytest.raises(AssertionError, match="element 1"):
        functions.rate([0, 5], 2)


def of_pictures(order):
    x = pictures.array(300)
    return [x[order[i:i + 64]] for i in range(0, len(order), 64)]


@pytest.mark.parametrize("change, shuffled, note", [
    (lambda o: o, False, ""), (lambda o: o[:256], False, "256 of 300 pictures"), (lambda o: o[::-1], True, ""),
    (lambda o: np.r_[o[:-1], o[0]], True, "2 pictures not once")])
def test_pictures_come_once(change, shuffled, note):
    assert pictures.rate(of_pictures(change(np.arange(300))), 300, shuffled)[1] == note


def test_other_pictures_are_refused():
    with pytest.raises(AssertionError, match="came where"):
        pictures.rate(of_pictures(np.roll(np.arange(300), 1)), 300)
    wrong = of_pictures(np.arange(300))
    wrong[0][7, 30, 30, 1] += 1
    with pytest.raises(AssertionError, match="has others"):
        pictures.rate(wrong, 300)


def measured(**values):
    names = list(values)
    ours = values[names[0]]
    return {"figure": "f", "unit": "u", "other_cores": 0.0, "contenders": [
        {"name": n.replace("_", " "), "value": v, "note": "", "skipped": v is None and n != names[0],
         **({"ratio": ours / v, "difference": ours - v} if v and ours and n != names[0] else {})}
        for n, v in values.items()]}


@pytest.mark.parametrize("goal, values, met", [
    (at_least(10), {"infeed": 11}, [True]), (at_least(10), {"infeed": 9}, [False]),
    (at_least(10), {"infeed": None}, [False]),
    (times(3, "keras"), {"infeed": 9, "keras": 3}, [True]), (times(3, "keras"), {"infeed": 9, "keras": 4}, [False]),
    (times(3, "keras"), {"infeed": 9, "keras": None}, []),
    (at_most(2, "keras", "difference"), {"infeed": 9, "keras": 8}, [True]),
    (at_most(2, "keras", "difference"), {"infeed": 9, "keras": 6}, [False])])
def test_goals(goal, values, met):
    figure = Figure("f", "u", tuple(Contender(n, "") for n in values), (goal,))
    assert [m for _, _, m in table.verdicts(figure, measured(**values))] == met


def test_every_contender_exists_and_every_goal_names_one():
    for workload in (w1_pydataset, w2_arrays, w3_records, w4_csv, w6_snapshots, w9_start, w10_numbers, permutation):
        for figure in workload.figures(1):
            names = [c.name for c in figure.contenders]
            assert len(set(names)) == len(names)
            assert {g.to for g in figure.goals} <= {"", *names}
            for c in figure.contenders:
                module, function = c.make.split(":")
                source = interpreters.ROOT / "bench" / "contenders" / f"{module}.py"
                assert f"def {function}(" in source.read_text()


def test_a_figure_is_measured_though_a_contender_hangs_and_another_is_missing():
    small = {"n": 300}
    figure = Figure("small", "us/batch", (
        Contender("infeed", "infeed_alone:batch_microseconds", small),
        Contender("bare loop", "plain:batch_microseconds", small),
        Contender("hung", "plain:loop", {"n": 100, "work": "python", "seconds": 60}, limit=0.5),
        Contender("absent", "plain:loop", small, needs="no_such_package")))
    runner = Runner(2)
    try:
        result = runner.measure(figure)
    finally:
        runner.end()
    infeed, bare, hung, absent = result["contenders"]
    assert len(infeed["runs"]) == len(bare["runs"]) == 2 and not infeed["note"]
    assert bare["ratio"] > 0
    assert hung["value"] is None and "nothing within" in hung["note"]
    assert absent["skipped"] and "not installed" in absent["note"]
    assert "not installed" in table.render([(figure, result)])
