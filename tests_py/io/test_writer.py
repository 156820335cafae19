"""TFRecordWriter and TFRecordOptions."""

import gc
import gzip
import os
import pickle
import subprocess
import sys
import threading
import zlib

import numpy as np
import pytest

from infeed import ForkedProcessError, InvalidArgumentError, NotFoundError, ResourceExhaustedError, UnimplementedError
from infeed.io import TFRecordOptions, TFRecordWriter

RECORDS = [b"a", b"", b"\0" * 1000, bytes(range(256)) * 400]


def write(path, records=RECORDS, options=None, writer=TFRecordWriter):
    with writer(str(path), options) as w:
        for r in records:
            w.write(r)
    return path.read_bytes()


def records_of(data):
    """The records of a file, without a look at checksums."""
    found = []
    while data:
        n = int.from_bytes(data[:8], "little")
        found.append(data[12:12 + n])
        assert len(data) >= n + 16
        data = data[n + 16:]
    return found


@pytest.mark.parametrize("options", [None, "", "NONE"])
def test_the_bytes_are_those_of_tensorflow(tensorflow, tmp_path, options):
    theirs = write(tmp_path / "tf", writer=tensorflow.io.TFRecordWriter)
    assert write(tmp_path / "ours", options=options) == theirs


@pytest.mark.parametrize("kind, inflate", [("GZIP", gzip.decompress), ("ZLIB", zlib.decompress)])
@pytest.mark.parametrize("level", [None, 0, 9])
def test_compressed_files_hold_the_same(tmp_path, kind, inflate, level):
    data = write(tmp_path / "f", options=TFRecordOptions(kind, compression_level=level))
    assert inflate(data) == write(tmp_path / "plain")
    assert (len(data) > 100_000) == (level == 0)


def test_tensorflow_reads_compressed_files(tensorflow, tmp_path):
    import tensorflow as tf

    for kind in ("GZIP", "ZLIB"):
        write(tmp_path / kind, options=kind)
        assert list(tf.data.TFRecordDataset(str(tmp_path / kind), kind).as_numpy_iterator()) == RECORDS


def test_zstd_makes_a_smaller_file(tmp_path):
    data = write(tmp_path / "f", options=TFRecordOptions("ZSTD", compression_level=19))
    assert data[:4] == b"\x28\xb5\x2f\xfd" and len(data) < 2000


def test_options_are_those_of_tensorflow(tensorflow, infeed):
    for given in (None, "", "GZIP", "ZLIB", "gzip", "SNAPPY", 3):
        outcomes = []
        for lib in (tensorflow, infeed):
            try:
                options = lib.io.TFRecordOptions(given)
                outcomes.append((options.compression_type, lib.io.TFRecordOptions.get_compression_type_string(options)))
            except ValueError:
                outcomes.append(ValueError)
        assert outcomes[0] == outcomes[1], given
    assert TFRecordOptions.get_compression_type_string("ZLIB") == "ZLIB"
    assert TFRecordOptions(TFRecordOptions("ZLIB")).compression_type == "ZLIB"


def test_what_is_accepted_and_what_is_not(tmp_path):
    TFRecordOptions("GZIP", input_buffer_size=1, output_buffer_size=1, mem_level=1)
    for name in ("flush_mode", "window_bits", "compression_method", "compression_strategy"):
        with pytest.raises(UnimplementedError, match=name):
            TFRecordOptions("GZIP", **{name: 1})
    for options in (TFRecordOptions("GZIP", compression_level=10), TFRecordOptions("ZSTD", compression_level=0), "LZ4"):
        with pytest.raises(InvalidArgumentError):
            TFRecordWriter(tmp_path / "f", options)
    assert not (tmp_path / "f").exists()


def test_what_a_record_can_be(tmp_path):
    given = ["a\u00e9", bytearray(b"b"), np.bytes_(b"c"), b"d"]
    assert records_of(write(tmp_path / "f", given)) == ["a\u00e9".encode(), b"b", b"c", b"d"]
    with TFRecordWriter(tmp_path / "g") as w:
        for bad in (3, None, memoryview(b"x"), ["a"], np.array([1])):
            with pytest.raises(TypeError, match="a record is bytes or str"):
                w.write(bad)


def test_a_record_can_be_changed_after_it_was_written(tmp_path):
    record = bytearray(b"before")
    with TFRecordWriter(tmp_path / "f") as w:
        w.write(record)
        record[:] = b"behind"
    assert records_of((tmp_path / "f").read_bytes()) == [b"before"]


def test_paths(tmp_path):
    raw = os.fsencode(tmp_path) + b"/\xff\xfe"
    for path in (tmp_path / "p", str(tmp_path / "s"), raw):
        with TFRecordWriter(path) as w:
            w.write(b"x")
        assert os.path.getsize(path) == 17
    with pytest.raises(NotFoundError, match="nowhere"):
        TFRecordWriter(tmp_path / "nowhere" / "f")
    with pytest.raises(InvalidArgumentError, match="folder"):
        TFRecordWriter(tmp_path)
    with pytest.raises(TypeError):
        TFRecordWriter(3)


def test_a_file_that_is_there_is_replaced(tmp_path):
    write(tmp_path / "f")
    assert records_of(write(tmp_path / "f", [b"x"])) == [b"x"]


def test_flush_shows_what_was_written(tmp_path):
    path = tmp_path / "f"
    with TFRecordWriter(path) as w:
        w.write(b"a")
        w.flush()
        assert records_of(path.read_bytes()) == [b"a"]
        w.write(b"b")
    assert records_of(path.read_bytes()) == [b"a", b"b"]


def test_a_closed_writer(tmp_path):
    w = TFRecordWriter(tmp_path / "f")
    w.close()
    w.close()
    for use in (lambda: w.write(b"x"), w.flush):
        with pytest.raises(InvalidArgumentError, match="f' was closed"):
            use()
    assert w.__enter__() is w


def test_an_exception_inside_with_closes(tmp_path):
    with pytest.raises(KeyError), TFRecordWriter(tmp_path / "f") as w:
        w.write(b"x")
        raise KeyError
    assert records_of((tmp_path / "f").read_bytes()) == [b"x"]
    with pytest.raises(InvalidArgumentError):
        w.write(b"y")


def test_a_writer_that_is_forgotten_closes(tmp_path):
    w = TFRecordWriter(tmp_path / "f")
    w.write(b"x")
    del w
    gc.collect()
    assert records_of((tmp_path / "f").read_bytes()) == [b"x"]


def test_the_end_of_the_interpreter_closes(tmp_path):
    script = """
import sys, threading, infeed.io

def hold(w, begun):  # a thread that is never ended keeps the writer from being collected
    begun.set()
    threading.Event().wait()

w = infeed.io.TFRecordWriter(sys.argv[1], "GZIP")
w.write(b"x")
begun = threading.Event()
threading.Thread(target=hold, args=(w, begun), daemon=True).start()
begun.wait()
"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "f"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert records_of(gzip.decompress((tmp_path / "f").read_bytes())) == [b"x"]


def test_records_of_several_threads_are_whole(tmp_path):
    with TFRecordWriter(tmp_path / "f") as w:
        def work(letter):
            for n in range(500):
                w.write(letter * (n % 97))

        threads = [threading.Thread(target=work, args=(letter,)) for letter in (b"a", b"b", b"c", b"d")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    found = records_of((tmp_path / "f").read_bytes())
    assert sorted(found) == sorted(letter * (n % 97) for letter in (b"a", b"b", b"c", b"d") for n in range(500))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_said_and_the_writer_closes(tmp_path):
    (tmp_path / "full").symlink_to("/dev/full")
    w = TFRecordWriter(tmp_path / "full")
    with pytest.raises(ResourceExhaustedError, match="no space left"):
        w.write(b"x")
        w.flush()
    with pytest.raises(ResourceExhaustedError, match="no space left"):
        w.close()
    w.close()


def test_a_writer_cannot_be_pickled(tmp_path):
    with TFRecordWriter(tmp_path / "f") as w, pytest.raises(TypeError, match="open file"):
        pickle.dumps(w)


def test_after_a_fork_the_file_is_the_parents(tmp_path):
    with TFRecordWriter(tmp_path / "f") as w:
        w.write(b"x")
        pid = os.fork()
        if pid == 0:
            try:
                w.write(b"y" * (1 << 17))
                os._exit(1)
            except ForkedProcessError:
                w.__del__()
                os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        w.write(b"z")
    assert records_of((tmp_path / "f").read_bytes()) == [b"x", b"z"]


def test_a_full_disk_is_told_once():
    """By the call that met it; by the end of a writer that was never closed, where no call did."""
    told, untold = TFRecordWriter("/dev/full"), TFRecordWriter("/dev/full")
    told.write(b"record")
    with pytest.raises(ResourceExhaustedError):
        told.flush()
    told.__del__()
    untold.write(b"record")
    with pytest.raises(ResourceExhaustedError):
        untold.__del__()
