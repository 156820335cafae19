"""infeed inspect, verify and prune where snapshots are damaged, unfinished, or being written."""

import json
import os

import pytest

import infeed

from .keeping import keep, keep_a_part


@pytest.mark.parametrize("text", [b"", b"junk", b"\xff\xfe", b"[1, 2]\n", b'{"about": 3}\n', b'{"about": {"parts": []}}\n'])
def test_a_damaged_snapshot_is_no_matter_to_the_others(text, tmp_path, ask):
    keep(tmp_path, 1)
    (damaged,) = tmp_path.iterdir()
    (damaged / "manifest.json").write_bytes(text)
    keep(tmp_path, 2)
    status, out = ask("inspect", tmp_path)
    assert status == 1 and f"{damaged}: a snapshot that cannot be read" in out.out and "10 elements of int64[]" in out.out and str(damaged) in out.err
    found = json.loads(ask("inspect", tmp_path, "--json")[1].out)
    assert len(found["snapshots"]) == 2 and str(damaged) in found["error"]
    assert ask("verify", tmp_path)[0] == 1
    assert "nothing can go" in ask("prune", tmp_path, "--yes")[1].out and len(os.listdir(tmp_path)) == 2
    with pytest.raises(infeed.DataLossError, match="restore it from a copy, or remove .*: the next pass makes it anew"):
        keep(tmp_path, 1)


@pytest.mark.parametrize("tail", [b"3\n", b"[1]\n", b"null\n", b'{"file": 1}\n', b"\xff\n", b'{"file": "a", "elements": "b"}\n', b"{"])
def test_what_a_journal_ends_with(tail, tmp_path, ask):
    keep_a_part(tmp_path)
    (journal,) = tmp_path.glob("*/journal-*")
    for text, committed in ((journal.read_bytes() + tail, "4 elements in 1 chunk committed"), (tail, "nothing is committed")):
        journal.write_bytes(text)
        status, out = ask("inspect", tmp_path)
        assert status == 0 and committed in out.out
        assert ask("prune", tmp_path, "--json")[0] == 0


def test_what_is_not_whole_is_not_verified(tmp_path, ask):
    keep_a_part(tmp_path)
    status, out = ask("verify", tmp_path)
    assert status == 1 and "was not finished" in out.err
    infeed.Dataset.range(9).save(tmp_path / "s")
    (chunk,) = (tmp_path / "s" / "chunks").iterdir()
    chunk.write_bytes(chunk.read_bytes()[:-1])
    assert f"it cannot be read: {chunk} has" in ask("inspect", tmp_path / "s")[1].out
    chunk.unlink()
    assert f"it cannot be read: {chunk}: No such file" in ask("inspect", tmp_path / "s")[1].out
    status, out = ask("verify", tmp_path / "s")
    assert status == 1 and f"{chunk} at byte 0: it is not there" in out.err


@pytest.mark.parametrize("writer", ["alive", "dead", "elsewhere", "unknown"])
def test_what_is_being_written_stays(writer, tmp_path, ask):
    keep_a_part(tmp_path)
    (folder,) = tmp_path.iterdir()
    with open("/proc/self/stat") as file:
        began = file.read().rpartition(")")[2].split()[19]
    host = "elsewhere" if writer == "elsewhere" else os.uname().nodename
    (folder / "lease").write_text(json.dumps({"host": host, "process": os.getpid(), "started": began if writer != "dead" else "1"}) + "\n")
    if writer == "unknown":
        (folder / "lease").write_text("junk")
    if writer == "alive":
        os.utime(folder / "lease", (1, 1))  # it waits for an element
    assert ask("inspect", tmp_path)[1].out.count("somebody writes it now") == (writer != "dead")
    found = json.loads(ask("prune", tmp_path, "--yes", "--json")[1].out)["removed"]
    assert (len(found), len(os.listdir(tmp_path))) == ((1, 0) if writer == "dead" else (0, 1))


def test_a_save_that_takes_long_stays(tmp_path, ask):
    infeed.Dataset.range(5).save(tmp_path)
    done, now = (tmp_path / "chunks" / f"0123456789abcdef-0000-00000{i}.chunk{'.tmp' * i}" for i in range(2))
    done.write_text("")
    now.write_text("")
    os.utime(done, (1, 1))
    assert "nothing can go" in ask("prune", tmp_path)[1].out  # its writer has written lately
    os.utime(now, (1, 1))
    assert len(json.loads(ask("prune", tmp_path, "--yes", "--json")[1].out)["removed"]) == 2
    assert len(infeed.Dataset.load(tmp_path)) == 5


def test_files_that_go_meanwhile(tmp_path, ask):
    """Links that lead nowhere are as files that are listed and gone when they are looked at."""
    keep_a_part(tmp_path)
    (folder,) = tmp_path.iterdir()
    for name in ("chunks/0123456789abcdef-0000-000000.chunk.tmp", "journal-0123456789abcdef", "lease"):
        (folder / name).symlink_to("nowhere")
    assert "4 elements in 1 chunk committed" in ask("inspect", tmp_path)[1].out
    assert ask("prune", tmp_path, "--yes")[0] == 0 and not os.listdir(tmp_path)
