"""What is stored is what docs/format/snapshot.md says, read by a reader that knows the page only."""

import numpy as np
import pytest

from infeed import Dataset, TensorSpec

from . import by_the_page

N = 400


def elements():
    """Of every kind of piece: fixed rows, shapes that differ, and text, also of shapes that differ."""
    r = np.random.default_rng(1)

    def gen():
        for i in range(N):
            yield i, r.integers(0, 9, (i % 4, 2)).astype("float64"), f"text {i}" * (i % 3), ["ab", "", "c"][:i % 4]

    return Dataset.from_generator(gen, output_signature=(TensorSpec((), "int64"), TensorSpec((None, 2), "float64"), TensorSpec((), "string"),
                                                         TensorSpec((None,), "string")))


def assert_same(stored, wanted):
    assert len(stored) == len(wanted) == N
    for (number, values, text, texts), (a, b, c, d) in zip(stored, wanted):
        assert int(number) == int(a) and values.shape == b.shape and (values == b).all() and text == [c] and texts == d.tolist()


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_elements_and_every_checksum(tmp_path, compression):
    wanted = list(elements())
    elements().save(tmp_path / "s", compression)
    manifest, chunks = by_the_page.read(tmp_path / "s")
    assert manifest["compression"] == (compression or "NONE")
    assert_same([e for _, those in chunks for e in those], wanted)


def test_streams_and_their_order(tmp_path):
    elements().save(tmp_path / "s", None, lambda number, *_: number % 3)
    _, chunks = by_the_page.read(tmp_path / "s")
    assert [{int(e[0]) % 3 for e in those} for stream, those in chunks if stream != "order"] == [{0}, {1}, {2}]
    assert_same(list(by_the_page.in_order(chunks)), list(elements()))


def test_pieces_of_several_pages_and_blocks(tmp_path):
    x = np.arange(700_000, dtype="uint8").reshape(700, 1000) % 251
    Dataset.from_tensor_slices(x).repeat(2).save(tmp_path / "s", None)
    _, chunks = by_the_page.read(tmp_path / "s")
    assert (np.concatenate([e[None] for _, those in chunks for (e,) in those]) == np.concatenate([x, x])).all()


def test_a_journal(tmp_path):
    """What a pass that was broken off leaves: a head, and a line for each chunk."""
    ds = elements().snapshot(tmp_path / "s", None, fingerprint="1")
    ds._node.args["chunk_bytes"] = 4000
    it = iter(ds)
    for _ in range(N // 2):
        next(it)
    it.close()
    (folder,) = (tmp_path / "s").iterdir()
    (journal,) = folder.glob("journal-*")
    head, *lines = map(by_the_page.unsealed, journal.read_bytes().splitlines(keepends=True))
    assert (head["format"], head["version"], head["compression"]) == ("infeed.journal", 1, "NONE") and "ordered" not in head
    assert lines and not (folder / "manifest.json").exists()
    stored = [e for line in lines for e in by_the_page.Chunk(folder / "chunks" / line["file"], line["footer"]).elements()]
    assert [int(e[0]) for e in stored] == list(range(len(stored))) and all("token" in line for line in lines)
