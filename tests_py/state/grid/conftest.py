"""The files that the pipelines of the grid read."""

import gzip

import pytest

import infeed


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """path(name): what was written once a session."""
    folder = tmp_path_factory.mktemp("files")
    write(folder)
    return lambda name: str(folder / name)


def write(folder):
    for part in range(3):
        with infeed.io.TFRecordWriter(str(folder / f"part-{part}")) as w:
            for i in range(7 + part):
                w.write(b"%d" % (100 * part + i) * (i % 4 + 1))
    whole = (folder / "part-0").read_bytes()
    (folder / "records.gz").write_bytes(gzip.compress(whole) + gzip.compress((folder / "part-1").read_bytes()))
    second = 16 + len("0") + 4  # where the payload of the second record begins, but for its header
    damaged = bytearray(whole)
    damaged[second + 12] ^= 1
    (folder / "damaged").write_bytes(damaged)
    (folder / "torn").write_bytes(whole[:-3])
    lines = b"".join(b"line %d%s\n" % (i, b"x" * (i % 5)) for i in range(17))
    (folder / "lines").write_bytes(lines)
    (folder / "lines.gz").write_bytes(gzip.compress(lines))
    (folder / "fixed").write_bytes(b"H" + bytes(range(60)) + b"F")
    (folder / "csv").write_bytes(b"id,name,score\n" + b"".join(b"%d,n%d,%d.5\n" % (i, i, i) for i in range(13)))
    (folder / "bad.csv").write_bytes(b"1,a,0.5\n2,b\n3,c,x\n" + b"".join(b"%d,n,1.5\n" % i for i in range(9)))
