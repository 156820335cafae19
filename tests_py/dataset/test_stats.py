"""stats(): what each stage did, and which one the others wait for."""

import time

from infeed import Dataset


def slow(x):
    if x >= 0:  # which cannot be traced
        time.sleep(0.002)  # its work
    return x


def test_each_stage_is_counted_and_the_slowest_is_named():
    it = iter(Dataset.range(20).map(slow).filter(lambda x: x % 2 == 0).batch(5))
    assert len(list(it)) == 2
    stats = it.stats()
    assert [s["elements"] for s in stats.stages] == [20, 20, 10, 2]
    assert [s["bytes"] for s in stats.stages] == [160, 160, 80, 80]
    source, mapped, filtered, batched = stats.stages
    assert mapped["text"].startswith("map(slow") and mapped["seconds"] > 0.03
    assert stats.bottleneck == mapped["text"] and stats.consumer_wait > 0.03
    assert source["waited"] == 0 and filtered["waited"] > 0.03 < batched["waited"]
    assert stats.delivered == 2 and stats.lost == 0 and stats.places == [] == stats.notices
    table = str(stats).splitlines()
    assert len(table) == 7 and table[0].split() == ["elements", "MB", "seconds", "waited", "queue", "stage"]
    assert table[-1] == f"bottleneck: {mapped['text']}"


def test_it_can_be_asked_at_any_time():
    it = iter(Dataset.range(20).batch(5))
    assert it.stats().delivered == 0 and it.stats().bottleneck is None
    next(it)
    assert it.stats().delivered == 1
    it.close()
    assert it.stats().stages[0]["elements"] >= 5
