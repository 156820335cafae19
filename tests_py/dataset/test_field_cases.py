"""Faults that users of other libraries reported, each as a test of its kind.

The links name where: TF tensorflow/tensorflow, HFD huggingface/datasets.
"""

import struct

import numpy as np
import pytest

import infeed
from infeed import Dataset

from .conftest import with_workers


def write(path, records):
    with infeed.io.TFRecordWriter(str(path)) as w:
        for r in records:
            w.write(r)
    return str(path)


def flip(path, at):
    data = bytearray(open(path, "rb").read())
    data[at] ^= 1
    open(path, "wb").write(data)


class TestReshuffleAndSplit:
    """TF27680, TF59279: each epoch has the same order; parts of a shuffle overlap."""

    def test_epochs_differ(self):
        ds = Dataset.range(10).shuffle(10, seed=1)
        one, two = list(ds), list(ds)
        assert sorted(one) == sorted(two) == list(range(10)) and one != two

    def test_unless_asked_not_to(self):
        ds = Dataset.range(10).shuffle(10, seed=1, reshuffle_each_iteration=False)
        assert list(ds) == list(ds)

    @pytest.mark.parametrize("stream", [False, True])
    def test_parts_are_disjoint_over_epochs(self, stream):
        source = Dataset.range(10).filter(lambda x: x >= 0) if stream else Dataset.range(10)
        ds = source.shuffle(10, seed=1, reshuffle_each_iteration=False)
        train, rest = ds.take(7), ds.skip(7)
        for _ in range(2):
            assert sorted(map(int, [*train, *rest])) == list(range(10))
        assert {int(x) for x in train} == {int(x) for x in train}

    def test_the_documentation_says_when_parts_overlap(self):
        assert "disjoint over passes" in Dataset.shuffle.__doc__


class TestSpecialCharactersInPaths:
    """TF55756: what is under such a path loads as empty."""

    NAMES = ["train[m]_data*{1}", "glob [table].csv", "a?b", "~user", "$HOME", "a,b", "-x", " lead", "ünï", "new\nline", "%41"]

    @pytest.mark.parametrize("name", NAMES)
    def test_a_path_is_no_pattern(self, tmp_path, name):
        folder = tmp_path / name
        folder.mkdir()
        path = folder / name
        write(path, [b"%d" % i for i in range(5)])
        (tmp_path / "other").write_text("x")
        assert list(infeed.TFRecordDataset(str(path))) == [b"%d" % i for i in range(5)]
        path.write_text("id,v\n1,2\n")
        assert list(infeed.TextLineDataset(path)) == [b"id,v", b"1,2"]
        assert list(infeed.CsvDataset(path, [0, 0], header=True)) == [(1, 2)]
        assert len(list(infeed.FixedLengthRecordDataset(path, 3))) == 3
        assert list(Dataset.from_tensor_slices([str(path)]).flat_map(infeed.TextLineDataset)) == [b"id,v", b"1,2"]

    def test_a_pattern_where_one_is_asked_for(self, tmp_path):
        for name in ("a1", "a2", "b[1]"):
            (tmp_path / name).write_text("x")
        found = [p.rpartition(b"/")[2] for p in Dataset.list_files(f"{tmp_path}/a[12]", shuffle=False)]
        assert found == [b"a1", b"a2"]
        assert [p.rpartition(b"/")[2] for p in Dataset.list_files(f"{tmp_path}/b[[]1]", shuffle=False)] == [b"b[1]"]


class TestCorruptRecordInOneOfManyFiles:
    """TF20835, TF26991, TF25700: no file name; with an ignore option the same record is tried for ever."""

    @pytest.fixture
    def files(self, tmp_path):
        paths = [write(tmp_path / f"{k}.tfrecord", [b"%d-%02d" % (k, i) for i in range(10)]) for k in range(3)]
        self.offset = 4 * (12 + 4 + 4)
        flip(paths[1], self.offset + 12 + 3)  # a byte of the payload of record 4
        return paths

    WANT = [b"%d-%02d" % (k, i) for k in range(3) for i in range(10)]

    @pytest.mark.parametrize("workers", [0, 2])
    def test_raise(self, files, workers):
        got = []
        with pytest.raises(infeed.DataLossError) as e:
            for r in with_workers(infeed.TFRecordDataset(files), workers):
                got.append(r)
        assert got == self.WANT[:14] and (e.value.path, e.value.offset) == (files[1], self.offset)
        assert f"{files[1]} at byte {self.offset}" in str(e.value)

    @pytest.mark.parametrize("how", ["skip", "ignore_errors"])
    @pytest.mark.parametrize("workers", [0, 2])
    def test_skip_the_record(self, files, how, workers):
        ds = infeed.TFRecordDataset(files, errors="skip") if how == "skip" else infeed.TFRecordDataset(files).ignore_errors()
        it = iter(with_workers(ds, workers))
        assert list(it) == self.WANT[:14] + self.WANT[15:]
        assert it.stats().lost == 1 and files[1] in it.stats().places[0]

    def test_skip_the_rest_of_the_file(self, files):
        it = iter(infeed.TFRecordDataset(files, errors="truncate"))
        assert list(it) == self.WANT[:14] + self.WANT[20:] and it.stats().lost == 1

    @pytest.mark.parametrize("how", ["skip", "truncate", "ignore_errors"])
    def test_states_are_exact(self, files, how):
        ds = infeed.TFRecordDataset(files).ignore_errors() if how == "ignore_errors" else infeed.TFRecordDataset(files, errors=how)
        want = list(ds)
        for k in range(len(want) + 1):
            it = iter(ds)
            assert [next(it) for _ in range(k)] == want[:k]
            again = iter(ds)
            again.load_state_dict(it.state_dict())
            assert list(again) == want[k:] and again.stats().lost == 1

    COUNTED = {
        "flat_map": (lambda ds, each: each.flat_map(lambda f: infeed.TFRecordDataset(f, errors="skip")), 1),
        "interleave": (lambda ds, each: each.interleave(lambda f: infeed.TFRecordDataset(f, errors="skip"), cycle_length=2, num_parallel_calls=2), 1),
        "indexed": (lambda ds, each: ds.indexed(), 1),
        "indexed, then a filter": (lambda ds, each: ds.indexed().shuffle(30).filter(lambda r: r != b""), 1),
        "concatenate": (lambda ds, each: ds.concatenate(ds), 2),
        "repeat": (lambda ds, each: ds.repeat(3), 3),
        "unique": (lambda ds, each: ds.unique(), 1),
        "below an interleave": (lambda ds, each: ds.interleave(lambda r: Dataset.range(2), cycle_length=100), 1),
    }

    @pytest.mark.parametrize("name", COUNTED)
    @pytest.mark.parametrize("workers", [0, 2])
    def test_each_place_is_counted_once(self, files, name, workers):
        make, count = self.COUNTED[name]
        ds = with_workers(make(infeed.TFRecordDataset(files, errors="skip"), Dataset.from_tensor_slices(files)), workers)
        it = iter(ds)
        counts, states = [it.stats().lost], [it.state_dict()]
        for _ in it:
            counts.append(it.stats().lost)
            states.append(it.state_dict())
        assert counts == sorted(counts) and it.stats().lost == count and f"{files[1]} at byte {self.offset}" in it.stats().places
        for state in states[::7]:
            again = iter(ds)
            again.load_state_dict(state)
            assert len(list(again)) == len(states) - 1 - state["position"] and again.stats().lost == count


class TestNewlineInsideQuotes:
    """TF3851: a quoted line break splits the row."""

    def test_rows(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text('id,title\n11,"fine"\n13,"this is \nnot fine!"\n')
        assert list(infeed.CsvDataset(path, [0, ""], header=True)) == [(11, b"fine"), (13, b"this is \nnot fine!")]

    @pytest.mark.parametrize("workers", [0, 2])
    @pytest.mark.parametrize("buffer", [None, 4096])
    def test_where_pieces_of_the_file_end(self, tmp_path, workers, buffer):
        path = tmp_path / "x.csv"
        rows = [(i, "line\n" * (i % 5) + '"' * (i % 3) + "\r\n" * (i % 2)) for i in range(20_000)]
        path.write_text("".join('%d,"%s"\n' % (i, t.replace('"', '""')) for i, t in rows), newline="")
        got = list(with_workers(infeed.CsvDataset(path, [0, ""], buffer_size=buffer).batch(256), workers))
        assert [(int(i), t) for a, b in got for i, t in zip(a, b)] == [(i, t.encode()) for i, t in rows]


class TestRaggedRow:
    """A value from the wrong column, or a crash somewhere else."""

    ROWS = "id,name,age\n1,a,3\n2,b\n3,c,4,5\n"

    def test_raise(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text(self.ROWS)
        it = iter(infeed.CsvDataset(path, ["int64", str, "int64"], header=True))
        assert next(it) == (1, b"a", 3)
        with pytest.raises(infeed.InvalidArgumentError, match=f"{path} at byte 18: line 3: .*2 fields, and 3 are expected"):
            next(it)

    def test_skip(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text(self.ROWS)
        it = iter(infeed.CsvDataset(path, ["int64", str, "int64"], header=True, errors="skip"))
        assert list(it) == [(1, b"a", 3)] and it.stats().lost == 2
        assert it.stats().places == [f"{path} at byte 18", f"{path} at byte 22"]

    @pytest.mark.parametrize("rows, line", [("1\r\n2\r\nx\r\n", 3), ('1\n"2\n"\nx', 4), ("1\n" * 100_000 + "x\n", 100_001)])
    def test_lines(self, tmp_path, rows, line):
        path = tmp_path / "x.csv"
        path.write_text(rows, newline="")
        with pytest.raises(infeed.InvalidArgumentError, match=f"line {line}: .*not a valid int64: \"x"):
            list(infeed.CsvDataset(path, ["int64"]).filter(lambda x: x > 5))

    def test_lone_carriage_returns_are_no_lines(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("1\r2\rx\n", newline="")
        with pytest.raises(infeed.InvalidArgumentError, match="at byte 4: field"):
            list(infeed.CsvDataset(path, ["int64"]))


class TestSizeIsNoMultipleOfTheRecord:
    """The rest is dropped in silence, or the error has no sizes."""

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "short.bin"
        path.write_bytes(bytes(i % 251 for i in range(20 * 3073 + 100)))
        return path

    @pytest.mark.parametrize("indexed", [False, True])
    def test_raise(self, path, indexed):
        ds = infeed.FixedLengthRecordDataset(path, 3073)
        with pytest.raises(infeed.DataLossError, match="61560 bytes.*3073 bytes.*rest of 100") as e:
            list(ds.indexed() if indexed else ds)
        assert (e.value.path, e.value.offset) == (str(path), 61460)

    @pytest.mark.parametrize("errors", ["skip", "truncate"])
    def test_take_the_whole_records(self, path, errors):
        it = iter(infeed.FixedLengthRecordDataset(path, 3073, errors=errors))
        assert len(list(it)) == 20 and it.stats().lost == 1

    def test_say_it_is_a_footer(self, path):
        assert len(list(infeed.FixedLengthRecordDataset(path, 3073, footer_bytes=100))) == 20


class TestSkipAndResumeFarIntoTheData:
    """TF44008, HFD5454: skip and resume read everything before. Here by how much is read, not by time."""

    N, SIZE, AT = 1_000_000, 64, 900_000

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "fixed.bin"
        records = np.zeros((self.N, self.SIZE), np.uint8)
        records[:, :8] = np.arange(self.N, dtype="<i8")[:, None].view(np.uint8).reshape(self.N, 8)
        records.tofile(path)
        return path

    def number(self, record):
        return struct.unpack("<q", record[:8])[0]

    def read_bytes(self):
        with open("/proc/self/io") as f:
            return int(f.readline().split()[1])

    def first(self, make):
        """The first element's number, and the bytes that were read for it."""
        before = self.read_bytes()
        it = make()
        element = next(it)
        number = self.number(element if isinstance(element, bytes) else element[0])
        it.close()
        return number, self.read_bytes() - before

    @pytest.mark.parametrize("indexed", [False, True])
    def test_skip(self, path, indexed):
        ds = infeed.FixedLengthRecordDataset(path, self.SIZE)
        ds = ds.indexed() if indexed else ds
        number, read = self.first(lambda: iter(ds.skip(self.AT)))
        assert number == self.AT and read < 0.05 * self.N * self.SIZE

    @pytest.mark.parametrize("size", [1, 1000])
    def test_resume(self, path, size):
        ds = infeed.FixedLengthRecordDataset(path, self.SIZE).batch(size)
        it = iter(ds)
        for _ in range(self.AT // size):
            next(it)
        state = it.state_dict()
        it.close()

        def resumed():
            again = iter(ds)
            again.load_state_dict(state)
            return again

        number, read = self.first(resumed)
        assert number == self.AT and read < 0.05 * self.N * self.SIZE

    def test_indexed_records(self, tmp_path):
        path = write(tmp_path / "x.tfrecord", (b"%064d" % i for i in range(50_000)))
        ds = infeed.TFRecordDataset(path).indexed()
        assert len(ds) == 50_000
        before = self.read_bytes()
        it = iter(ds.skip(45_000))
        assert int(next(it)) == 45_000
        it.close()
        assert self.read_bytes() - before < 0.5 * 50_000 * 80
