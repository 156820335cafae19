"""What tf.data stored: folders that TensorFlow wrote give what they say.

The folders lie in ../shared/fixtures/tf beside the checkout, or where INFEED_SHARED says.
"""

import base64
import json
import os
import pathlib

import numpy as np
import pytest

import infeed

SHARED = pathlib.Path(os.environ.get("INFEED_SHARED") or pathlib.Path(__file__).resolve().parents[3] / "shared")
FIXTURES = SHARED / "fixtures" / "tf"
MANIFEST = json.loads((FIXTURES / "MANIFEST.json").read_text()) if FIXTURES.is_dir() else {"fixtures": []}
SAVED = [f for f in MANIFEST["fixtures"] if f["kind"] == "save"]
NOT_READ = {"ragged", "ragged2", "sparse", "unknown_rank"}  # components that are no plain tensors of a rank

pytestmark = pytest.mark.skipif(not SAVED, reason=f"needs TensorFlow's files, which are not in {FIXTURES} (INFEED_SHARED names another folder)")


def leaves(element):
    if isinstance(element, dict):
        return [x for k in sorted(element) for x in leaves(element[k])]
    if isinstance(element, tuple):
        return [x for e in element for x in leaves(e)]
    return [element]


def expected(fixture):
    """The components of each element, in order, as bytes; of text, lists of them."""
    path = FIXTURES / fixture["expected"]
    if path.suffix == ".json":
        return [[component(c) for c in element] for element in json.loads(path.read_text())["elements"]]
    columns = np.load(path, allow_pickle=False)
    return [[columns[str(k)][i].tobytes() for k in range(len(columns))] for i in range(fixture["num_elements"])]


def component(c):
    texts = [base64.b64decode(b) for b in c["b64"]] if "b64" in c else None
    return texts if texts is not None else np.array(c["values"], c["dtype"]).reshape(c["shape"]).tobytes()


def stored(x):
    if isinstance(x, bytes):
        return [x]
    x = np.asarray(x)
    return list(x.ravel()) if x.dtype.hasobject else x.tobytes()


@pytest.mark.parametrize("fixture", [pytest.param(f, id=f["name"]) for f in SAVED if f["outcome"] == "ok" and f["name"] not in NOT_READ])
def test_saved_folders_give_what_they_say(fixture):
    ds = infeed.Dataset.load(FIXTURES / fixture["path"])
    got = [[stored(x) for x in leaves(e)] for e in ds]
    assert len(got) == fixture["num_elements"] == ds.cardinality()
    want = expected(fixture)
    if fixture["order"] == "shards":
        got, want = sorted(got), sorted(want)
    assert got == want
    structured = fixture["spec"]
    assert isinstance(ds.element_spec, tuple) == ("tuple" in structured or "namedtuple" in structured)
    assert isinstance(ds.element_spec, dict) == ("dict" in structured)


@pytest.mark.parametrize("fixture", [pytest.param(f, id=f["name"]) for f in SAVED if f["outcome"] != "ok" or f["name"] in NOT_READ])
def test_others_say_why_they_do_not(fixture):
    kinds = {"no_metadata": infeed.NotFoundError, "ok": infeed.UnimplementedError}
    opened = "NONE" if fixture["name"] == "wrong_compression" else None
    with pytest.raises(kinds.get(fixture["outcome"], infeed.DataLossError)) as e:
        list(infeed.Dataset.load(FIXTURES / fixture["path"], compression=opened))
    assert str(FIXTURES / fixture["path"]) in str(e.value)


def test_a_state_in_the_middle(tmp_path):
    fixture = next(f for f in SAVED if f["name"] == "string_vector_gzip")
    whole = iter(infeed.Dataset.load(FIXTURES / fixture["path"]))
    for _ in range(4):
        next(whole)
    state = whole.state_dict()
    rest = iter(infeed.Dataset.load(FIXTURES / fixture["path"]))
    rest.load_state_dict(state)
    assert [[stored(x) for x in leaves(e)] for e in rest] == expected(fixture)[4:]


def test_what_tensorflow_saves_now(tmp_path):
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    rows = {"x": np.arange(3000, dtype="float32").reshape(1000, 3), "t": np.array([b"%d" % i for i in range(1000)])}
    for compression in (None, "GZIP", "SNAPPY"):
        path = str(tmp_path / f"s{compression}")
        tf.data.Dataset.from_tensor_slices(rows).save(path, compression=compression)
        for given in (None, compression):
            got = list(infeed.Dataset.load(path, compression=given))
            assert [e["t"] for e in got] == list(rows["t"]) and np.array_equal([e["x"] for e in got], rows["x"])
