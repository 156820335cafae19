"""infeed inspect, verify and prune of snapshots, of what tf.data saved, and of TFRecord files."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import infeed
from infeed import _progress

from .keeping import keep, keep_a_part


def test_inspect_says_what_is_stored_and_why_it_differs(tmp_path, ask):
    keep(tmp_path, 1)
    keep(tmp_path, 2)
    keep_a_part(tmp_path)
    status, out = ask("inspect", tmp_path)
    assert status == 0
    assert "3 snapshots" in out.out and "10 elements of int64[]" in out.out and "made of 1. range (arguments), 2. map (program), element spec" in out.out
    assert "the newest one is of another definition, in which 2. map: program changed" in out.out
    assert "4 elements in 1 chunk committed" in out.out
    status, out = ask("inspect", tmp_path, "--json")
    found = json.loads(out.out)["snapshots"]
    assert sorted(s["what"] for s in found) == ["snapshot", "snapshot", "unfinished snapshot"]
    infeed.Dataset.range(5).save(tmp_path / "one")
    assert json.loads(ask("inspect", tmp_path / "one", "--json")[1].out)["elements"] == 5
    (tmp_path / "none").mkdir()
    status, out = ask("inspect", tmp_path / "none")
    assert status == 1 and "directory without a snapshot or saved dataset; it is empty" in out.err
    status, out = ask("prune", tmp_path / "none")
    assert status == 1 and "directory without a snapshot or saved dataset; it is empty" in out.err


def test_verify_names_the_place_of_damage(tmp_path, ask):
    infeed.Dataset.range(1000).save(tmp_path / "s", "ZSTD")
    status, out = ask("verify", tmp_path / "s")
    assert status == 0 and "whole, 1000 elements" in out.out
    chunk = next((tmp_path / "s" / "chunks").iterdir())
    text = bytearray(chunk.read_bytes())
    text[100] ^= 4
    chunk.write_bytes(text)
    status, out = ask("verify", tmp_path / "s")
    assert status == 1 and f"{chunk} at byte 64" in out.err
    status, out = ask("verify", tmp_path / "s", "--json")
    found = json.loads(out.out)
    assert status == 1 and found["file"] == str(chunk) and found["offset"] == 64 and not found["whole"]
    status, out = ask("verify", tmp_path / "nothing")
    assert status == 1 and "is not there" in out.err
    with infeed.io.TFRecordWriter(str(tmp_path / "r")) as w:
        w.write(b"one")
    assert ask("verify", tmp_path / "r")[0] == 0
    (tmp_path / "r").write_bytes((tmp_path / "r").read_bytes()[:-1])
    assert ask("verify", tmp_path / "r")[0] == 1


def test_prune_asks_and_removes_what_is_of_no_use(tmp_path, ask, monkeypatch):
    keep(tmp_path, 1)
    keep(tmp_path, 2)
    keep_a_part(tmp_path)
    before = sorted(os.listdir(tmp_path))
    for name in before:
        if (tmp_path / name / "manifest.json").exists():
            os.utime(tmp_path / name / "manifest.json", (1, 1))
    keep(tmp_path, 4)
    (newest,) = set(os.listdir(tmp_path)) - set(before)
    (tmp_path / newest / "0123456789abcdef.tmp").write_text("")
    assert len(json.loads(ask("prune", tmp_path, "--json")[1].out)["can go"]) == 3  # what was just written may be in the making
    os.utime(tmp_path / newest / "0123456789abcdef.tmp", (1, 1))
    monkeypatch.setattr("builtins.input", lambda text: "n")
    status, out = ask("prune", tmp_path)
    assert status == 0 and "4 can go" in out.out and "it is not finished: 4 elements" in out.out and "did not commit" in out.out
    assert len(os.listdir(tmp_path)) == 4
    assert len(json.loads(ask("prune", tmp_path, "--json")[1].out)["can go"]) == 4
    monkeypatch.setattr("builtins.input", lambda text: "y")
    assert ask("prune", tmp_path)[0] == 0
    assert os.listdir(tmp_path) == [newest]
    assert [int(x) for x in infeed.Dataset.load(tmp_path)] == list(range(4, 14))
    assert "nothing can go" in ask("prune", tmp_path)[1].out


# -- what tf.data saved -------------------------------------------------------------------


def test_what_is_saved_for_tensorflow(tmp_path, ask):
    ds = infeed.Dataset.from_tensor_slices({"image": np.zeros((9, 28, 28), "uint8"), "name": [b"a"] * 9})
    ds.save(tmp_path, "GZIP", shard_func=lambda e: e["image"][0, 0] + np.uint8(2), format="tf")
    status, out = ask("inspect", tmp_path)
    assert status == 0 and f"{tmp_path}: dataset saved by tf.data" in out.out
    assert "9 elements of {'image': uint8[28, 28], 'name': string[]}" in out.out and "in 1 shard, GZIP" in out.out
    found = json.loads(ask("inspect", tmp_path, "--json")[1].out)
    assert (found["elements"], found["shards"], found["compression"], found["finished"]) == (9, 1, "GZIP", True)
    status, out = ask("verify", tmp_path)
    assert status == 0 and "whole, 9 elements" in out.out
    ds.save(tmp_path, format="tf")
    (file,) = tmp_path.glob("*/*/*.snapshot")
    text = bytearray(file.read_bytes())
    text[5000] ^= 1
    file.write_bytes(text)
    status, out = ask("verify", tmp_path, "--json")
    found = json.loads(out.out)
    assert status == 1 and not found["whole"] and found["file"] == str(file) and found["kind"] == "DataLossError" and found["offset"] <= 5000
    status, out = ask("verify", tmp_path)
    assert status == 1 and str(file) in out.err and out.out == ""


def test_runs_of_no_use_go(tmp_path, ask, monkeypatch):
    infeed.Dataset.range(5).save(tmp_path, format="tf")
    dead = tmp_path / "123" / "00000000.shard"
    dead.mkdir(parents=True)
    (dead / "00000000.snapshot").write_bytes(b"x" * 50)
    (tmp_path / "123" / "notes.txt").write_text("mine")
    (tmp_path / "snapshot.metadata-tmp-123").write_text("")
    monkeypatch.setattr("builtins.input", lambda text: pytest.fail("there is nothing to ask"))
    assert "nothing can go" in ask("prune", tmp_path)[1].out  # they may be in the making
    for path in [*tmp_path.rglob("*"), tmp_path]:
        os.utime(path, (1, 1))
    assert "besides, 1 run of no use" in ask("inspect", tmp_path)[1].out
    assert [i["bytes"] for i in json.loads(ask("prune", tmp_path, "--json")[1].out)["can go"]] == [50, 0]
    assert dead.exists()
    assert ask("prune", tmp_path, "--yes")[0] == 0
    assert [p.name for p in (tmp_path / "123").rglob("*")] == ["notes.txt"]  # which infeed does not know
    assert [int(x) for x in infeed.Dataset.load(tmp_path)] == list(range(5))
    (tmp_path / "snapshot.metadata").unlink()
    status, out = ask("inspect", tmp_path)
    assert status == 0 and "unfinished dataset of tf.data: 1 run" in out.out
    status, out = ask("verify", tmp_path)
    assert status == 1 and "it has no snapshot.metadata" in out.err


def test_runs_of_snapshots_in_a_folder(tmp_path, ask):
    for name in ("1", "2"):
        infeed.Dataset.range(3).save(tmp_path / name, format="tf")
    (tmp_path / "2" / "5" / "00000000.shard").mkdir(parents=True)
    for path in [*tmp_path.rglob("*"), tmp_path]:
        os.utime(path, (1, 1))
    found = json.loads(ask("prune", tmp_path, "--json", "--yes")[1].out)
    assert [i["path"] for i in found["removed"]] == [str(tmp_path / "2" / "5")] and not (tmp_path / "2" / "5").exists()
    assert all(len(infeed.Dataset.load(tmp_path / n).take(9).batch(9).get_single_element()) == 3 for n in ("1", "2"))


def test_nobody_elses_files_go(tmp_path, ask):
    for name in ("work/chunks/report.txt", "chunks/a.txt", "123/shard.txt"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("mine")
    assert ask("prune", tmp_path, "--yes")[0] == 1
    infeed.Dataset.range(3).save(tmp_path)
    keep(tmp_path / "more", 1)
    keep(tmp_path / "more", 2)
    (folder,) = [f for f in (tmp_path / "more").iterdir() if "x" not in f.name][:1]
    (folder / "notes.txt").write_text("mine")
    for path in tmp_path.rglob("*"):
        os.utime(path, (1, 1))
    assert ask("prune", tmp_path, "--yes")[0] == ask("prune", tmp_path / "more", "--yes")[0] == 0
    assert len(list(tmp_path.rglob("*.txt"))) == 4 and len(infeed.Dataset.load(tmp_path)) == 3
    status, out = ask("prune", tmp_path / "chunks" / "a.txt")
    assert status == 1 and "is a file" in out.err


def test_prune_asks_on_the_terminal(tmp_path):
    keep(tmp_path, 1)
    keep(tmp_path, 2)
    prune = [sys.executable, "-m", "infeed", "prune", str(tmp_path)]
    for answer, left in [("", 2), ("n\n", 2), ("yes\n", 1)]:
        done = subprocess.run(prune, input=answer, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "1 can go\nremove them? [y/N] " in done.stdout and done.stderr == ""
        assert len(os.listdir(tmp_path)) == left


# -- TFRecord files -----------------------------------------------------------------------


def write(path, records, compression=None):
    with infeed.io.TFRecordWriter(path, compression) as w:
        for r in records:
            w.write(r)
    return path


EXAMPLE = bytes.fromhex("0a0c0a0a0a017912051a030a0103")  # y: int64 [3]


@pytest.mark.parametrize("compression", ["NONE", "GZIP", "ZLIB", "ZSTD"])
def test_what_records_are(compression, tmp_path, ask):
    for name, records, text in [
        ("examples", [EXAMPLE] * 3, "they are tf.train.Example\n    feature 'y': 1 int64"),
        ("tensors", [infeed.io.serialize_tensor(np.ones(2, "float32"))], "they are TensorProto"),
        ("text", [b"hello", b"{}"], "they are text, such as 'hello'"), ("bytes", [b"\xff\x00"] * 200, "they are bytes (the first 100 were looked at)"),
        ("none", [], "0 records"),
    ]:
        path = write(tmp_path / name, records, compression)
        status, out = ask("inspect", path)
        assert status == 0 and f"  {len(records)} records" in out.out and text in out.out
        assert ("not compressed" if compression == "NONE" else compression) in out.out
        assert json.loads(ask("inspect", path, "--json")[1].out)["compression"] == compression
        status, out = ask("verify", path)
        assert status == 0 and f"whole, {len(records)} records" in out.out
        path.write_bytes(path.read_bytes()[:-1] if records else b"not records at all")
        assert ask("verify", path)[0] == ask("inspect", path)[0] == 1


def test_where_records_are_damaged(tmp_path, ask):
    path = write(tmp_path / "r", [b"one", b"two", b"three"])
    text = bytearray(path.read_bytes())
    text[40] ^= 1
    path.write_bytes(text)
    status, out = ask("inspect", path)
    assert status == 1 and "2 records of 3 to 3 bytes before the damage" in out.out and f"{path} at byte 38" in out.err
    status, out = ask("inspect", path, "--json")
    assert status == 1 and json.loads(out.out)["damage"]["offset"] == 38
    status, out = ask("verify", path, "--json")
    assert status == 1 and json.loads(out.out)["offset"] == 38


def test_sequence_examples(tmp_path, ask):
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data

    def feature(*values):
        return field(3, field(1, bytes(values)))

    def entry(name, value):
        return field(1, field(1, name) + field(2, value))

    lists = entry(b"words", b"".join(field(1, feature(7)) for _ in range(3)))
    path = write(tmp_path / "s", [field(1, entry(b"id", feature(1, 2))) + field(2, lists)] * 2)
    out = ask("inspect", path)[1].out
    assert "they are tf.train.SequenceExample" in out and "context 'id': 2 int64" in out and "feature list 'words': 3 int64" in out


def test_checkpoints_and_backups_are_verified(tmp_path, ask):
    it = iter(infeed.Dataset.range(5))
    path = infeed.CheckpointManager(tmp_path).save(it, 3)
    status, out = ask("verify", path)
    assert status == 0 and "whole, a checkpoint" in out.out
    with open(path, "r+") as file:
        text = file.read().replace('"position": 0', '"position": 1')
        file.seek(0)
        file.write(text)
    status, out = ask("verify", path)
    assert status == 1 and "damaged or was edited" in out.err


# -- progress -----------------------------------------------------------------------------


def test_progress_is_for_terminals(tmp_path, terminal):
    write(tmp_path / "r", [b"x" * 100] * 5000)
    infeed.Dataset.range(5000).save(tmp_path / "s")
    for command, text in [(("verify", tmp_path / "r"), "verify ["), (("inspect", tmp_path / "r"), "inspect ["), (("verify", tmp_path / "s"), "verify [")]:
        t = terminal(*command)
        status, out = t.end()
        assert status == 0 and "5000" in out and "\x1b" not in out
        assert text in t.drawn and " left" in t.drawn and t.drawn.endswith("\r\x1b[K")
        t = terminal(*command, "--json")
        status, out = t.end()
        assert status == 0 and json.loads(out) and t.drawn == ""
        done = subprocess.run([sys.executable, "-m", "infeed", *map(str, command)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr == ""


def test_an_interrupt_ends_it(tmp_path, terminal):
    path = write(tmp_path / "r", [b"x" * 100] * 10_000)
    path.write_bytes(path.read_bytes() * 100)
    for command in ("verify", "inspect"):
        status = 0
        for _ in range(9):  # on a busy machine, it may be through before
            if status == 0:
                t = terminal(command, path)
                t.wait_for(f"{command} [")
                t.process.send_signal(signal.SIGINT)
                status, out = t.end()
        assert status == 130 and out == "" and t.drawn.endswith("\r\x1b[Kinfeed: interrupted\r\n") and "Traceback" not in t.drawn


def test_the_line_of_progress():
    p = _progress.Progress("verify", 4000, shown=False)
    assert p.line(1000, 2, 200) == "verify [######------------------]  25% 1000 of 4000 elements, 500/s, 6 s left"
    assert p.line(0, 0, 200).endswith("0% 0 of 4000 elements, 0/s, - left")
    assert p.line(4000, 2, 60) == "verify 100% 4000 of 4000 elements, 2000/s, 0 s left"
    assert len(p.line(1000, 2, 20)) == 19
    assert p.line(1, 40, 200).endswith("44.4 h left") and p.line(1, 2, 200).endswith("2.2 h left") and p.line(1000, 60, 200).endswith("3 min left")
    assert _progress.Progress("inspect", None, "bytes").line(12_300_000, 2, 80) == "inspect 12.3 M bytes, 6150.0 k/s"
