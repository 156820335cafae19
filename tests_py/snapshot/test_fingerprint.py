"""What a snapshot is used for: exactly what it was made of, in any process; a message says what changed."""

import functools
import itertools
import logging
import os
import re

import numpy as np
import pytest

import infeed
from infeed import _content, _fingerprint, _snapshot

SCRIPT = """
import json, re, sys, functools, numpy as np, infeed, helpers
from infeed import _fingerprint

SCALE, WORDS, PATTERN = 3, {"b", "a", "c"}, re.compile("x+")

def inner(x):
    return x * SCALE

class Adder:
    def __init__(self, n):
        self.n = n
    def __call__(self, x):
        return self.deep(inner(x))
    def deep(self, x):
        if int(x) < 0:
            return self.deep(x)
        return x + self.n + len(WORDS) + helpers.number(x)

def looks(x, adder=Adder(2), *, p=functools.partial(max, 2)):
    if PATTERN.match(str(int(x))):
        return looks(x)
    return adder(x) + p(x)

ds = infeed.Dataset.from_tensor_slices((np.arange(5), [b"a", b"b", b"c", b"d", b"e"]))
ds = ds.map(lambda x, t: looks(x)).shuffle(5).interleave(lambda x: infeed.Dataset.range(3).map(lambda y: y + x)).batch(2)
print(json.dumps(_fingerprint.parts_of(ds._node)))
"""

HELPERS = "def number(x):\n    return 4\n"


def test_it_is_the_same_in_every_process(run, tmp_path):
    (tmp_path / "helpers.py").write_text(HELPERS)
    first = run(SCRIPT)
    assert len(first) > 8
    assert run(SCRIPT) == first


@pytest.mark.parametrize("old,new", [
    ("SCALE, WORDS, PATTERN = 3", "SCALE, WORDS, PATTERN = 4"), ('{"b", "a", "c"}', '{"b", "a", "d"}'), ('"x+"', '"y+"'),
    ("return x * SCALE", "return SCALE * x"), ("self.deep(inner(x))", "self.deep(inner(inner(x)))"), ("x + self.n", "x - self.n"), ("Adder(2)", "Adder(3)"),
    ("partial(max, 2)", "partial(max, 3)"), ("np.arange(5)", "np.arange(1, 6)"), ('b"e"]', 'b"f"]'), ("lambda x, t: looks(x)", "lambda x, t: looks(x) + 1"),
    ("shuffle(5)", "shuffle(6)"), ("range(3)", "range(4)"), ("lambda y: y + x", "lambda y: y - x"), ("batch(2)", "batch(3)"),
])
def test_each_change_changes_it(run, tmp_path, old, new):
    (tmp_path / "helpers.py").write_text(HELPERS)
    first = run(SCRIPT)
    assert old in SCRIPT
    changed = run(SCRIPT.replace(old, new))
    assert _fingerprint.digest_of(changed) != _fingerprint.digest_of(first)
    assert _fingerprint.difference(first, changed)


def test_a_module_of_the_users_is_known_by_its_text(run, tmp_path):
    (tmp_path / "helpers.py").write_text(HELPERS)
    first = run(SCRIPT)
    (tmp_path / "helpers.py").write_text(HELPERS.replace("4", "5"))
    assert _fingerprint.difference(first, run(SCRIPT)) != []


def test_nothing_else_changes_it(run, tmp_path):
    (tmp_path / "helpers.py").write_text(HELPERS)
    first = run(SCRIPT)
    for old, new in [("ds = ds.map", "\n\n# a comment\nds = ds.map"), (".batch(2)", ".batch(2).prefetch(3)"), ("SCALE, WORDS", "UNUSED = 9; SCALE, WORDS")]:
        assert old in SCRIPT
        assert run(SCRIPT.replace(old, new)) == first


def plus(x):
    return int(x) + 1


@pytest.mark.parametrize("make", [
    lambda d, n: d.map(lambda x: x + 1, num_parallel_calls=n), lambda d, n: d.map(plus, num_parallel_calls=n), lambda d, n: d.map(plus, processes=n),
    lambda d, n: d.batch(2, num_parallel_calls=n).unbatch(), lambda d, n: d.prefetch(n or 7),
    lambda d, n: d.interleave(lambda x: infeed.Dataset.range(x), 4, num_parallel_calls=n),
    lambda d, n: d.flat_map(lambda x: d.interleave(lambda y: infeed.Dataset.range(y), 4, num_parallel_calls=n)),
    lambda d, n: d.concatenate(infeed.Dataset.from_indexable([np.int64(4)], num_parallel_calls=n)),
])
def test_how_many_work_at_a_time_does_not_change_it(make, tmp_path):
    """And a pass that was broken off goes on with another number of them."""
    def kept(n):
        return make(infeed.Dataset.range(12), n).snapshot(tmp_path)

    it = iter(kept(None))
    begun = [int(next(it)) for _ in range(5)]
    it.close()
    assert kept(2)._node.kept.folder() == kept(3)._node.kept.folder() == kept(None)._node.kept.folder()
    expected = [int(x) for x in make(infeed.Dataset.range(12), None)]
    assert [int(x) for x in kept(2)] == expected and expected[:5] == begun
    assert len(list(tmp_path.iterdir())) == 1 and list(tmp_path.glob("*/manifest.json"))
    assert [int(x) for x in kept(3)] == expected


def test_files_by_size_and_time_or_content(tmp_path):
    file = tmp_path / "lines"
    file.write_text("a\nb\n")
    ds = infeed.TextLineDataset(str(file))

    def both():
        return [_fingerprint.digest_of(_fingerprint.parts_of(ds._node, identity)) for identity in ("stat", "content")]

    first = both()
    os.utime(file, ns=(1, 1))
    touched = both()
    assert touched[0] != first[0] and touched[1] == first[1]
    file.write_text("a\nc\n")
    os.utime(file, ns=(1, 1))
    assert both()[1] != first[1]


def test_files_that_other_elements_name(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(name)
    for names in (infeed.Dataset.list_files(str(tmp_path / "*"), shuffle=False), infeed.Dataset.from_tensor_slices([str(tmp_path / n) for n in "ab"])):
        ds = names.interleave(infeed.TextLineDataset, cycle_length=2)
        first = _fingerprint.parts_of(ds._node)
        (tmp_path / "b").write_text("longer")
        assert any("/b changed" in d for d in _fingerprint.difference(first, _fingerprint.parts_of(ds._node)))
        (tmp_path / "b").write_text("b")


def test_what_is_loaded_is_known_by_what_is_stored(tmp_path):
    infeed.Dataset.range(3).save(tmp_path)
    first = _fingerprint.parts_of(infeed.Dataset.load(tmp_path)._node)
    os.rename(tmp_path / "manifest.json", tmp_path / "other")
    os.rename(tmp_path / "other", tmp_path / "manifest.json")
    assert _fingerprint.parts_of(infeed.Dataset.load(tmp_path)._node) == first
    infeed.Dataset.range(3, 6).save(tmp_path)
    assert _fingerprint.difference(first, _fingerprint.parts_of(infeed.Dataset.load(tmp_path)._node)) == ["1. load: what is stored changed"]


def test_what_cannot_be_hashed_needs_a_text(tmp_path):
    stream = itertools.count()

    def numbered(x):
        next(stream)
        return int(x)

    ds = infeed.Dataset.range(3).map(numbered)
    with pytest.raises(infeed.InvalidArgumentError, match=r"2\. map: closure stream cannot be hashed.*itertools.count.*fingerprint="):
        list(ds.snapshot(tmp_path))
    assert [int(x) for x in ds.snapshot(tmp_path, fingerprint="v1")] == [0, 1, 2]
    assert len(os.listdir(tmp_path)) == 1
    list(ds.snapshot(tmp_path, fingerprint="v2"))
    assert len(os.listdir(tmp_path)) == 2


def test_a_message_says_why_a_snapshot_is_not_used(tmp_path, caplog):
    def make(k):
        return infeed.Dataset.range(3).map(lambda x: int(x) + k).snapshot(tmp_path)

    with caplog.at_level(logging.WARNING, "infeed"):
        assert [int(x) for x in make(1)] == [1, 2, 3]
        assert [int(x) for x in make(1)] == [1, 2, 3]
        assert not caplog.records
        assert [int(x) for x in make(2)] == [2, 3, 4]
    assert re.search(r"none of the 1 in .* is reused: 2\. map: closure k changed", caplog.text)


def test_another_version_of_the_format(tmp_path, caplog, monkeypatch):
    """What a newer infeed stores, in another format, is another snapshot."""
    def make():
        return infeed.Dataset.range(3).snapshot(tmp_path)

    list(make())
    monkeypatch.setattr(_snapshot, "FORMAT", 2)
    with caplog.at_level(logging.WARNING, "infeed"):
        list(make())
    assert "is reused: format changed" in caplog.text and len(os.listdir(tmp_path)) == 2


def test_a_changed_file_is_never_served_stale(tmp_path, caplog):
    """The elements follow the source: another size or time, another name, another order of files."""
    def make(*names):
        return infeed.TextLineDataset([str(tmp_path / n) for n in names]).map(lambda s: s).snapshot(tmp_path / "kept")

    (tmp_path / "a").write_text("1\n2\n")
    (tmp_path / "b").write_text("3\n")
    assert list(make("a", "b")) == list(make("a", "b")) == [b"1", b"2", b"3"]
    (tmp_path / "b").write_text("4\n")  # of the same size
    os.utime(tmp_path / "b", ns=(5, 5))
    with caplog.at_level(logging.WARNING, "infeed"):
        assert list(make("a", "b")) == [b"1", b"2", b"4"]
    assert f"file {tmp_path / 'b'} changed" in caplog.text
    assert list(make("b", "a")) == [b"4", b"1", b"2"]
    assert list(make("a")) == [b"1", b"2"]
    (tmp_path / "a").write_text("1\n2\n9\n")
    os.utime(tmp_path / "a", ns=(5, 5))
    assert list(make("a")) == [b"1", b"2", b"9"]
    ds = make("a")
    assert list(ds) == [b"1", b"2", b"9"]
    (tmp_path / "a").write_text("7\n")
    assert list(make("a")) == [b"7"]


def test_how_operations_hang_together():
    """The same operations on other inputs are another dataset."""
    x, y = infeed.Dataset.range(4), infeed.Dataset.range(10, 14)
    choice = infeed.Dataset.from_tensor_slices(np.array([0, 1, 2], "int64"))

    def plus(x):
        return x + 1

    def times(x):
        return x * 2

    mapped = x.map(plus)
    a = x.prefetch(1)
    different = [
        infeed.Dataset.choose_from_datasets([x, y, x], choice), infeed.Dataset.choose_from_datasets([x, y, y], choice),
        infeed.Dataset.zip((mapped, x.map(times))), infeed.Dataset.zip((mapped, mapped.map(times))), infeed.Dataset.zip((mapped.map(times), mapped)),
        infeed.Dataset.zip((x, y)), infeed.Dataset.zip((y, x)), x.concatenate(y), y.concatenate(x), x.concatenate(x),
    ]
    digests = [_fingerprint.digest_of(_fingerprint.parts_of(ds._node)) for ds in different]
    assert len(set(digests)) == len(digests)
    assert _fingerprint.parts_of(infeed.Dataset.zip((a, y.prefetch(2)))._node) == _fingerprint.parts_of(different[5]._node)


def test_values_of_python():
    """Equal values have one hash, others another."""
    def digest(v):
        return _fingerprint._Parts({}, "stat", False, []).value(v)

    loop = [1]
    loop.append(loop)
    other = [2]
    other.append(other)
    values = [None, True, 1, 1.0, "1", b"1", (1,), [1], {1}, {1: 2}, {2: 1}, np.int64(1), np.ones(1), np.ones(2), np.dtype("i4"), range(3), range(4), loop, other,
              functools.partial(max, 1), functools.partial(max, 2), np.sin, np.cos, len, os.path.join, re.compile("a"), re.compile("a", re.I), np, os, dict, list]
    assert len({digest(v) for v in values}) == len(values)
    assert digest({"b", "a"}) == digest({"a", "b"})
    assert digest([np.zeros(2)] * 2) == digest([np.zeros(2), np.zeros(2)])


def test_every_byte_of_a_large_array_counts(monkeypatch):
    monkeypatch.setattr(_content, "_PART", 1000)  # threads hash parts
    a = np.arange(2600, dtype=np.uint8)

    def of(a):
        return _fingerprint.digest_of(_fingerprint.parts_of(infeed.Dataset.from_tensor_slices(a)._node, "stat", None))

    seen = {of(a), of(a[:2000]), of(a[:1000]), of(a[:999])}
    assert of(a.copy()) in seen and len(seen) == 4
    for at in (0, 999, 1000, 1999, 2000, 2599):
        other = a.copy()
        other[at] += 1
        seen.add(of(other))
    seen.add(of(np.roll(a[:2000], 1000)))
    assert len(seen) == 11


CHANGES = {
    "written again": lambda folder: (folder / "a.txt").write_text("other\n"),
    "as long, at another time": lambda folder: (folder / "a.txt").write_text("tow\n") and os.utime(folder / "a.txt", ns=(1, 1)),
    "gone, and another": lambda folder: (folder / "a.txt").write_text("2\n") and os.remove(folder / "b.txt") or (folder / "b.txt").write_text("3\n"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("identity", ["stat", "content"])
@pytest.mark.parametrize("listed", [False, True])
def test_the_same_dataset_sees_files_that_change(tmp_path, change, identity, listed):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, text in (("a", "one\n"), ("b", "two\n")):
        (folder / f"{name}.txt").write_text(text)
    if listed:
        lines = infeed.Dataset.list_files(str(folder / "*.txt"), shuffle=False).flat_map(infeed.TextLineDataset)
    else:
        lines = infeed.TextLineDataset([str(folder / f"{n}.txt") for n in "ab"]).map(lambda x: x)
    ds = lines.snapshot(tmp_path / "out", identity=identity).batch(5)
    assert [list(b) for b in ds] == [list(b) for b in ds] == [[b"one", b"two"]]
    CHANGES[change](folder)
    now = [line for n in "ab" for line in (folder / f"{n}.txt").read_bytes().split()]
    assert [list(b) for b in ds] == [list(b) for b in ds] == [now]
    assert len(_snapshot.folders(tmp_path / "out")) == 2


def test_the_same_dataset_sees_what_is_saved_again(tmp_path):
    infeed.Dataset.range(3).save(tmp_path / "saved")
    loaded = infeed.Dataset.load(tmp_path / "saved").snapshot(tmp_path / "numbers")
    assert [int(x) for x in loaded] == [0, 1, 2]
    infeed.Dataset.range(5, 7).save(tmp_path / "saved")
    assert [int(x) for x in loaded] == [int(x) for x in loaded] == [5, 6]


def test_a_new_file_of_a_pattern_is_listed_by_a_new_dataset(tmp_path):
    def lines():
        return infeed.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False).flat_map(infeed.TextLineDataset).snapshot(tmp_path / "lines")

    (tmp_path / "a.txt").write_text("one\n")
    before = lines()
    assert list(before) == [b"one"]
    (tmp_path / "b.txt").write_text("two\n")
    assert list(before) == [b"one"]  # the names of a list_files are those of its first use, as in tf.data
    assert list(lines()) == list(lines()) == [b"one", b"two"]


def test_a_name_that_leads_elsewhere_is_another_file(tmp_path, monkeypatch):
    for name, text in (("x", "one\n"), ("y", "two\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.txt").write_text(text)
        os.utime(tmp_path / name / "f.txt", ns=(5, 5))
    link = tmp_path / "link"
    found = []
    for name in "xy":
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        found += [list(infeed.TextLineDataset(p).snapshot(tmp_path / "out")) for p in (str(link / "f.txt"), "f.txt")]
    assert found == [[b"one"], [b"one"], [b"two"], [b"two"]]
