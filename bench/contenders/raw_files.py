"""Files without any format (W6): what reading and writing the same bytes takes."""

import glob
import mmap
import os
import time
from contextlib import contextmanager
from pathlib import Path

from bench import pictures
from bench.contenders import infeed_snapshots

PIECE = 256 << 10
FILE = 64 << 20


@contextmanager
def written(n, place="disk"):
    """MB a second of writes of a mebibyte to files of 64; it ends when all of them are synced."""
    data = memoryview(pictures.array(n)).cast("B")

    def write(to):
        os.mkdir(to)
        for first in range(0, len(data), FILE):
            file = os.open(Path(to, str(first)), os.O_CREAT | os.O_WRONLY)
            for at in range(first, min(first + FILE, len(data)), 1 << 20):
                os.write(file, data[at:at + (1 << 20)])
            os.fsync(file)
            os.close(file)

    yield lambda: pictures.written(n, place, write)


@contextmanager
def read(compression, n):
    """MB a second of the files of a snapshot: pread of 256 KiB into memory at a page's start, one thread."""
    names = glob.glob(glob.escape(infeed_snapshots.path(compression, n)) + "/chunks/*")
    memory = mmap.mmap(-1, PIECE)

    def run():
        start, count = time.perf_counter(), 0
        for name in names:
            file, at = os.open(name, os.O_RDONLY), 0
            while got := os.preadv(file, [memory], at):
                at += got
            os.close(file)
            count += at
        return count / 1e6 / (time.perf_counter() - start)

    yield run
