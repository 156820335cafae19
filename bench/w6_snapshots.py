"""W6: snapshots of 40,000 pictures of 30,000 bytes, in files that the page cache holds.

"infeed" is Dataset.save and Dataset.load. "infeed, snapshot" is a pass over snapshot: where
it writes, it hashes the array that the pictures are of first, to know them again, and
gives them to Python. tf.data's goals were set by its snapshot; its save and load are
beside it.

What infeed writes is synced and committed when it ends, and so is the raw write beside
it; tf.data syncs nothing. In memory (/dev/shm) syncing costs nobody anything. The disk
bounds what is synced, whoever writes it: so the goal of the raw write is one on the disk,
and that of tf.data's is one in memory.

All contenders that read are checked as they go; infeed's check every checksum in each
run, except where it says that they did before.
"""

from bench import pictures
from bench.figure import Contender, Figure, at_least, at_most, times


def ours(name, make, **options):
    return Contender(name, "infeed_snapshots:" + make, options, limit=120)


def tf(name, make, **options):
    return Contender(name, "tf_snapshots:" + make, options, "tensorflow", limit=120)


def figures(scale):
    """scale: fraction of the pictures."""
    n = int(pictures.N * scale)
    part = n // 4  # what tf.data writes
    yield from _written(n, part)
    yield from _read(n)
    yield from _random(n)
    yield Figure("W6 read what tf.data saved, NONE", "MB/s", (
        ours("infeed", "read_tf", n=n), tf("tf.data", "read", n=n, compression="NONE")), (times(3, "tf.data"),))


def _written(n, part):
    def figure(name, goals, n=n, raw=False, **options):
        others = (Contender("raw write", "raw_files:written", {"n": n, "place": options.get("place", "disk")}),) if raw else ()
        if options["compression"] != "ZSTD":
            others += (tf("tf.data", "passed", n=part, **options), tf("tf.data, save", "saved", n=part, **options))
        return Figure(name, "MB/s", (
            ours("infeed", "saved", n=n, **options), ours("infeed, snapshot", "passed", n=n, **options), *others), goals)

    yield figure("W6 write NONE, synced", (times(0.8, "raw write"),), raw=True, compression="NONE")
    yield figure("W6 write NONE, in memory", (times(10, "tf.data"),), raw=True, compression="NONE", place="memory")
    yield figure("W6 write SNAPPY, synced", (at_least(1000), times(8, "tf.data")), compression="SNAPPY")
    yield figure("W6 write ZSTD, synced", (at_least(600),), compression="ZSTD")
    yield figure("W6 write GZIP, synced", (), n=part, compression="GZIP")


def _read(n):
    def figure(name, compression, goals, *others):
        some = {"compression": compression, "n": n}
        theirs = () if compression == "ZSTD" else (tf("tf.data", "through", **some), tf("tf.data, load", "read", **some))
        return Figure(name, "MB/s", (
            ours("infeed", "read", **some), ours("infeed, snapshot", "through", **some), *others, *theirs), goals)

    none = {"compression": "NONE", "n": n}
    yield figure("W6 read NONE", "NONE", (
        times(0.7, "raw read"), times(12, "tf.data")), ours("infeed, checked before", "read_again", **none),
        Contender("raw read", "raw_files:read", none))
    yield figure("W6 read SNAPPY", "SNAPPY", (at_least(3000), times(10, "tf.data")))
    yield figure("W6 read ZSTD", "ZSTD", (at_least(2000),))
    yield figure("W6 read GZIP", "GZIP", ())


def _random(n):
    none = {"compression": "NONE", "n": n}
    yield Figure("W6 random batches of 64", "MB/s", (
        ours("infeed", "shuffled", **none), ours("infeed, in order", "read", **none)), (times(0.6, "infeed, in order"),))
    yield Figure("W6 one random element", "us", (
        ours("infeed", "one", count=2000, **none),), (at_most(20),), less=True)
    yield Figure("W6 one random element, compressed", "us", tuple(
        ours(name, "one", compression=c, n=n, count=300) for name, c in (("infeed", "ZSTD"), ("infeed, SNAPPY", "SNAPPY"), ("infeed, GZIP", "GZIP"))),
        (at_most(2000), at_most(2000, "infeed, SNAPPY")), less=True)
