"""Files of other projects, read where they lie, and what readers of them must give.

They are not copied into this project. Each has what other readers made of it; where
those differ, the manifest's policy says what is right, and POLICY what we do.
"""

import csv
import hashlib
import io
import json
import struct
from pathlib import Path

import numpy as np
import pytest

import infeed

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "fixtures" / "corpus"
MANIFEST = FOLDER / "MANIFEST.json"
FILES = json.loads(MANIFEST.read_text())["files"] if MANIFEST.exists() else []
if not FILES:
    pytest.skip(f"the files of other projects are not in {FOLDER}", allow_module_level=True)


def of(kind):
    return pytest.mark.parametrize("file", [f for f in FILES if f["kind"] == kind], ids=lambda f: f["file"])


def read(ds):
    """The elements before the first error, and the error."""
    out = []
    try:
        for element in ds:
            out.append(element)
    except infeed.Error as e:
        return out, e
    return out, None


def digest(texts):
    h = hashlib.sha256()
    for text in texts:
        h.update(struct.pack("<Q", len(text)) + text)
    return h.hexdigest()


def compression(file):
    return file["expected"]["reference"]["options"].get("compression") or ""


@of("tfrecord")
@pytest.mark.parametrize("auto", [False, True])
def test_tfrecord(file, auto):
    path = str(FOLDER / file["file"])
    records, error = read(infeed.TFRecordDataset(path, "AUTO" if auto else compression(file)))
    reference = file["expected"]["reference"]
    assert digest(records) == reference["tensorflow"]["sha256_len64_payload"]
    if file["expected"]["outcome"] == "ok":
        assert error is None
        return
    assert isinstance(error, infeed.DataLossError) and path in str(error)
    assert (error.path, error.offset) == (path, reference["own_reader"]["offset"])


@of("text")
@pytest.mark.parametrize("auto", [False, True])
def test_text(file, auto):
    path = str(FOLDER / file["file"])
    ds = infeed.TextLineDataset(path, "AUTO" if auto else compression(file))
    lines, reference = list(ds), file["expected"]["reference"]["reference"]
    assert len(lines) == reference["lines"] and digest(lines) == reference["sha256_len64_line"]
    if not compression(file):
        assert list(ds.indexed()) == lines


@of("fixed")
@pytest.mark.parametrize("auto", [False, True])
def test_fixed(file, auto):
    path = str(FOLDER / file["file"])
    options, reference = (file["expected"]["reference"][k] for k in ("options", "reference"))
    sizes = {k: options[k] for k in ("record_bytes", "header_bytes", "footer_bytes")}
    ds = infeed.FixedLengthRecordDataset(path, **sizes, compression_type="AUTO" if auto else compression(file))
    records, error = read(ds)
    if file["expected"]["outcome"] == "ok":
        assert error is None and len(records) == reference["whole_records"]
        assert hashlib.sha256(b"".join(records)).hexdigest() == reference["sha256_body"]
        return
    assert isinstance(error, infeed.DataLossError) and error.path == path
    for number in (file["bytes"], sizes["record_bytes"], reference["rest"]):
        assert f"{number} " in str(error) + " "


# What is done where readers differ: how many rows, or what the error says.
POLICY = {
    "csv/blank_rows_no_fields.csv": "the row \"\" has 0 fields|field 0 is required but missing|the row \"\" has 1 fields",
    "csv/empty.csv": "the file is empty",
    "csv/utf16_le.csv": "UTF-16",
    "csv/defective_rows.csv": "line 2: the row .* has 2 fields, and 3 are expected",
    "csv/ragged.csv": "line 2: the row .* has 4 fields, and 3 are expected",
    "csv/extra_header.csv": "line 2: the row .* has 3 fields, and 4 are expected",
    "csv/unterminated_quote.csv": "line 3: .* begins with a quote and has none at its end",
}


@of("csv")
def test_csv(file):
    path = str(FOLDER / file["file"])
    reference = file["expected"]["reference"]
    options = reference["options"]
    width = int(max(reference["python_csv"]["fields"], key=lambda k: reference["python_csv"]["fields"][k], default=1))
    if file["expected"].get("error_kind") == "wrong_field_count":
        width = len(python_rows(file)[0])
    ds = infeed.CsvDataset(path, [""] * width, options["compression"], header=options["header"], field_delim=options["delimiter"])
    rows, error = read(ds)
    if file["file"] in POLICY:
        assert isinstance(error, (infeed.InvalidArgumentError, infeed.DataLossError)) and path in str(error)
        with pytest.raises(type(error), match=POLICY[file["file"]]):
            raise error
        return
    assert error is None
    want = python_rows(file)[options["header"]:]
    got = [[field.decode(options["encoding"]) for field in row] for row in rows]
    assert got == want


def python_rows(file):
    """The rows of a CSV file as Python reads them."""
    options = file["expected"]["reference"]["options"]
    raw = (FOLDER / file["file"]).read_bytes()
    if options["compression"]:
        import gzip

        raw = gzip.decompress(raw)
    text = raw.decode(options["encoding"]).removeprefix("\ufeff")
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=options["delimiter"]) if row]


@pytest.mark.parametrize("file", [f for f in FILES if "first_example" in f["expected"].get("reference", {})], ids=lambda f: f["file"])
def test_examples(file):
    """The first record as a tf.train.Example, with its features given, and all of them in batches."""
    first = file["expected"]["reference"]["first_example"]
    dtypes = {"int64_list": "int64", "float_list": "float32", "bytes_list": object}
    features = {k: infeed.io.VarLenFeature(dtypes[kind]) for k, (kind, n, _) in first.items() if kind}
    ds = infeed.TFRecordDataset(str(FOLDER / file["file"]), "AUTO")
    got = next(iter(ds.map(lambda r: infeed.io.parse_single_example(r, features))))
    for key, (kind, n, values) in first.items():
        if kind:
            assert len(got[key]) == n
            want = [v.encode() for v in values] if kind == "bytes_list" else values
            assert got[key][:len(values)].tolist() == pytest.approx(want) if kind != "bytes_list" else got[key][:len(values)].tolist() == want
    batches = ds.batch(64).map(lambda r: infeed.io.parse_example(r, features))
    rows = sum(int(next(iter(b.values())).dense_shape[0]) for b in batches)
    assert rows == file["expected"]["reference"]["tensorflow"]["records"]


def test_mnist_labels():
    """Real labels, compressed and not, as numbers in the map."""
    for name, n in (("train-labels-idx1-ubyte.gz", 60000), ("t10k-labels-idx1-ubyte", 10000)):
        ds = infeed.FixedLengthRecordDataset(str(FOLDER / "fixed" / name), 1, header_bytes=8, compression_type="AUTO")
        labels = np.concatenate(list(ds.batch(4096).map(lambda r: infeed.io.decode_raw(r, "uint8")[:, 0])))
        assert len(labels) == n and set(labels.tolist()) == set(range(10))
