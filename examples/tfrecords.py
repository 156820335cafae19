"""TFRecord files: writes some, then reads, parses, shuffles and batches them, in the same order every time.

    python examples/tfrecords.py [folder]
"""

import pathlib
import struct
import sys
import tempfile

import numpy as np

import infeed


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, payload):
    """A length-delimited field of a protocol buffer."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def example(x, label):
    """A tf.train.Example with a float32 vector and an int64, as TensorFlow serialises it."""
    floats = field(2, field(1, struct.pack(f"<{len(x)}f", *x)))
    ints = field(3, field(1, varint(label)))
    entries = [field(1, field(1, key) + field(2, value)) for key, value in ((b"x", floats), (b"label", ints))]
    return field(1, b"".join(entries))


def write(folder):
    paths = []
    for part in range(2):
        paths.append(str(folder / f"train-{part}.tfrecord.gz"))
        with infeed.io.TFRecordWriter(paths[-1], infeed.io.TFRecordOptions(compression_type="GZIP")) as writer:
            for i in range(500):
                n = 500 * part + i
                writer.write(example([n, n / 2, -n], n % 10))
    return paths


FEATURES = {"x": infeed.io.FixedLenFeature([3], "float32"), "label": infeed.io.FixedLenFeature([], "int64")}


def parse(record):
    row = infeed.io.parse_single_example(record, FEATURES)
    return row["x"] / np.float32(1000), row["label"]


def main(folder):
    paths = write(folder)
    dataset = infeed.TFRecordDataset(paths, compression_type="AUTO").map(parse).shuffle(200, seed=1).batch(64)
    print(dataset.explain())
    seen = 0
    for x, label in dataset:
        seen += len(label)
    print(f"{seen} examples, batches of {x.dtype}{list(x.shape)} at the end")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(pathlib.Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(pathlib.Path(made))
