"""infeed inspect, verify and prune of snapshots."""

import json
import os

import pytest

import infeed
from infeed import _cli


@pytest.fixture
def ask(capsys):
    """ask(*arguments): (exit status, what was printed)."""
    def ask(*arguments):
        status = _cli.main([str(a) for a in arguments])
        return status, capsys.readouterr()
    return ask


def keep(path, k):
    assert len(list(infeed.Dataset.range(10).map(lambda x: x + k).snapshot(path))) == 10


def keep_a_part(path):
    def bad(x):
        if int(x) == 4:
            raise KeyError("four")
        return x

    with pytest.raises(KeyError):
        list(infeed.Dataset.range(10).map(bad).snapshot(path, fingerprint="1"))


def test_inspect_says_what_is_stored_and_why_it_differs(tmp_path, ask):
    keep(tmp_path, 1)
    keep(tmp_path, 2)
    keep_a_part(tmp_path)
    status, out = ask("inspect", tmp_path)
    assert status == 0
    assert "3 snapshots" in out.out and "10 elements of <i8[]" in out.out and "made of 2. map: program" in out.out
    assert "differs from the newest: 2. map: program changed" in out.out
    assert "4 elements in 1 chunks are committed" in out.out
    status, out = ask("inspect", tmp_path, "--json")
    found = json.loads(out.out)["snapshots"]
    assert sorted(s["what"] for s in found) == ["snapshot", "snapshot", "unfinished snapshot"]
    infeed.Dataset.range(5).save(tmp_path / "one")
    assert json.loads(ask("inspect", tmp_path / "one", "--json")[1].out)["elements"] == 5
    (tmp_path / "none").mkdir()
    status, out = ask("inspect", tmp_path / "none")
    assert status == 1 and "is a directory" in out.err
    status, out = ask("prune", tmp_path / "none")
    assert status == 1 and "holds no snapshot" in out.err


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
