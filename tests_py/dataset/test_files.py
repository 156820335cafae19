"""Files that change, are many, or are named oddly."""

import ctypes
import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

import infeed
from infeed import Dataset

from .conftest import with_workers


def write(path, records):
    with infeed.io.TFRecordWriter(str(path)) as w:
        for r in records:
            w.write(r)


N = 120_000  # more than is read ahead
ALL = [b"%08d" % i * 10 for i in range(N)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "whole"
    write(path, ALL)
    return path.read_bytes()


@pytest.fixture
def path(whole, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(whole)
    return path


CHANGES = {  # what is done to the file while it is read, and how many records come from it
    "cut": (lambda p: os.truncate(p, 96 * 100_000 + 5), 100_000), "emptied": (lambda p: os.truncate(p, 0), None),
    "removed": (os.unlink, N), "replaced": (lambda p: (os.unlink(p), p.write_bytes(b"other" * 9)), N),
    "appended to": (lambda p: open(p, "ab").write(b"abc"), N),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("errors", ["raise", "skip", "truncate"])
@pytest.mark.parametrize("workers", [0, 2])
def test_files_that_change_while_they_are_read(path, change, errors, workers):
    do, n = CHANGES[change]
    it = iter(with_workers(infeed.TFRecordDataset(path, errors=errors), workers))
    got, error = [next(it) for _ in range(5)], None
    do(path)
    try:
        got += it
    except infeed.DataLossError as e:
        error = e
    assert got == ALL[:len(got)] and (n is None and len(got) < N or len(got) == n)
    damaged = change in ("cut", "emptied", "appended to")
    assert (error is not None) == (damaged and errors == "raise")
    if error:
        assert error.path == str(path) and (change == "appended to" or "read it again once nobody writes it" in str(error))
    elif damaged and change != "emptied":
        assert it.stats().lost == 1


@pytest.mark.parametrize("size", [0, 40, 100_000])
def test_streams_that_are_cut_while_they_are_read(tmp_path, size):
    path, lines = tmp_path / "x", [b"%07d,abc" % i for i in range(300_000)]
    path.write_bytes(gzip.compress(b"\n".join(lines), 1))
    it, got = iter(infeed.TextLineDataset(path, "GZIP")), []
    got.append(next(it))
    os.truncate(path, size)
    with pytest.raises(infeed.DataLossError, match="was cut") as e:
        for line in it:
            got.append(line)
    assert e.value.path == str(path) and got == lines[:len(got)]


@pytest.mark.parametrize("make", [
    lambda p: infeed.TFRecordDataset(p).indexed(), lambda p: infeed.FixedLengthRecordDataset(p, 96).indexed(),
])
def test_indexed_files_that_change(path, make):
    ds = make(path)
    assert len(ds) == N and ds[N - 1].count(ALL[-1][:8])
    os.truncate(path, 96 * 10)
    assert ds[3].count(ALL[3][:8])
    for use in (lambda: ds[N - 1], lambda: list(ds), lambda: list(ds.shuffle(seed=1))):
        with pytest.raises(infeed.DataLossError, match="changed after it was indexed|cut short|ends within"):
            use()


@pytest.mark.parametrize("make", [
    infeed.TFRecordDataset, infeed.TextLineDataset, lambda f: infeed.FixedLengthRecordDataset(f, 3), lambda f: infeed.CsvDataset(f, [0]),
    lambda f: infeed.TextLineDataset(f).indexed(), lambda f: infeed.TextLineDataset(f, num_parallel_reads=4),
    lambda f: Dataset.from_tensor_slices(f).flat_map(infeed.TextLineDataset), lambda f: infeed.TextLineDataset(f, "AUTO"),
])
def test_files_that_are_not_there(tmp_path, make):
    for name, error in (("nowhere", infeed.NotFoundError), (".", infeed.InvalidArgumentError), ("a\0b", infeed.InvalidArgumentError)):
        with pytest.raises(error) as e:
            list(make([f"{tmp_path}/{name}"]))
        assert str(tmp_path) in str(e.value)
        assert error is not infeed.NotFoundError or "look at the folder and the name" in str(e.value)


def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "x"
    path.write_text("a\n")
    path.chmod(0)
    ds = with_workers(infeed.TextLineDataset(path), 0)  # without workers this thread reads the file
    as_nobody = 65534
    mine = ctypes.CDLL(None).setfsuid(as_nobody)  # root, who may read all, is not: of this thread alone
    try:
        with pytest.raises(infeed.InvalidArgumentError, match=f"{path}.*look at who may read"):
            list(ds)
    finally:
        ctypes.CDLL(None).setfsuid(mine)
    path.chmod(0o600)
    assert list(ds) == [b"a"]


def test_paths_that_are_not_utf_8(tmp_path):
    name = os.fsencode(tmp_path) + b"/a\xff"
    with open(name, "w") as f:
        f.write("x\n")
    for given in (name, os.fsdecode(name), [name], list(Dataset.list_files(f"{tmp_path}/*"))):
        with pytest.raises(infeed.InvalidArgumentError, match=r"a\\xff' is not UTF-8"):
            infeed.TextLineDataset(given)
    with pytest.raises(infeed.InvalidArgumentError, match="not UTF-8"):
        list(Dataset.list_files(f"{tmp_path}/*").flat_map(infeed.TextLineDataset))


MANY = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
import infeed
folder = sys.argv[1]
paths = [f"{folder}/{i:05d}" for i in range(10_000)]
for i, path in enumerate(paths):
    with open(path, "w") as f:
        f.write(f"{i}\\n")
want = [b"%d" % i for i in range(10_000)]
assert list(infeed.TextLineDataset(paths)) == want
assert sorted(infeed.TextLineDataset(paths[:2000], num_parallel_reads=1000)) == sorted(want[:2000])
assert sorted(infeed.Dataset.from_tensor_slices(paths).interleave(infeed.TextLineDataset, cycle_length=1000)) == sorted(want)
indexed = infeed.TextLineDataset(paths).indexed()
assert len(indexed) == 10_000 and indexed[9_999] == b"9999"
assert list(infeed.Dataset.list_files(folder + "/*", shuffle=False).flat_map(infeed.TextLineDataset)) == want
many = [iter(infeed.TextLineDataset(paths)) for _ in range(300)]
try:
    first = [next(it) for it in many]
except infeed.ResourceExhaustedError as e:
    assert "ulimit -n" in str(e) and folder in str(e)
del many
assert next(iter(infeed.TextLineDataset(paths))) == b"0"
print("fine")
"""


def test_10_000_files_with_256_descriptors(tmp_path):
    out = subprocess.run([sys.executable, "-c", MANY, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert out.stdout == "fine\n", out.stderr


@pytest.mark.parametrize("files", [[7, 0, 3, 5], [1, 1, 1], [12], []])
@pytest.mark.parametrize("layout", [(4, 0, 0), (4, 3, 2)])
@pytest.mark.parametrize("parallel", [None, 2])
def test_skip_jumps_to_where_reading_comes_to(tmp_path, files, layout, parallel):
    length, header, footer = layout
    paths, n = [], 0
    for k, count in enumerate(files):
        body = b"".join(b"%04d" % (n + i) for i in range(count))
        n += count
        paths.append(tmp_path / str(k))
        paths[-1].write_bytes(b"H" * header + body + b"F" * footer)
    ds = infeed.FixedLengthRecordDataset([str(p) for p in paths], length, header, footer, num_parallel_reads=parallel)
    want = list(ds)
    for k in range(n + 3):
        skipped = ds.skip(k)
        assert list(skipped) == want[k:]
        it = iter(skipped)
        part = [next(it) for _ in range(min(2, max(n - k, 0)))]
        again = iter(skipped)
        again.load_state_dict(it.state_dict())
        assert part + list(again) == want[k:]
        assert list(skipped.skip(1).take(2)) == want[k + 1:k + 3]


def test_skip_does_not_jump_over_what_is_wrong(tmp_path):
    for name, content in (("a", b"11112222"), ("bad", b"3333x"), ("c", b"4444")):
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in ("a", "bad", "c")]
    it = iter(infeed.FixedLengthRecordDataset(paths, 4, errors="skip").skip(3))
    assert list(it) == [b"4444"] and it.stats().lost == 1
    with pytest.raises(infeed.DataLossError, match="bad at byte 4"):
        list(infeed.FixedLengthRecordDataset(paths, 4).skip(2))
    with pytest.raises(infeed.NotFoundError):
        list(infeed.FixedLengthRecordDataset([paths[0], str(tmp_path / "no")], 4).skip(2))


def test_a_disk_that_is_full():
    writer = infeed.io.TFRecordWriter("/dev/full")
    with pytest.raises(infeed.ResourceExhaustedError, match="/dev/full"):
        for _ in range(10):
            writer.write(bytes(1 << 20))
    with pytest.raises(infeed.Error):
        writer.close()


def test_numbers_of_files_as_arrays(tmp_path):
    paths = np.array([str(tmp_path / "a"), str(tmp_path / "b")])
    for p in paths:
        with open(p, "w") as f:
            f.write("x\n")
    assert list(infeed.TextLineDataset(paths)) == [b"x", b"x"]
