"""What tf.data stored: folders that TensorFlow wrote give what they say."""

import base64
import json
import pathlib
import shutil

import numpy as np
import pytest

import infeed
from infeed import _cli
from infeed.io import SparseTensor

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "tf"
FIXTURES = json.loads((FOLDER / "folders.json").read_text())["folders"]
SAVED = [f for f in FIXTURES if f["kind"] == "save"]
KINDS = {"no_metadata": infeed.NotFoundError}


def named(name):
    return next(f for f in FIXTURES if f["name"] == name)


def spec_of(form):
    """The spec that a fixture's description says."""
    if "tuple" in form:
        return tuple(map(spec_of, form["tuple"]))
    if "dict" in form:
        return {k: spec_of(v) for k, v in form["dict"].items()}
    t = form["tensor"]
    return infeed.TensorSpec(t["shape"], object if t["dtype"] == "string" else t["dtype"])


def load(fixture, **more):
    """What a fixture says that load is to be given, which snapshots do not say themselves."""
    if fixture["kind"] == "snapshot":
        more.setdefault("element_spec", spec_of(fixture["spec"]))
    return infeed.Dataset.load(FOLDER / fixture["path"], **more)


def leaves(element):
    if isinstance(element, dict):
        return [x for k in sorted(element) for x in leaves(element[k])]
    if isinstance(element, tuple):
        return [x for e in element for x in leaves(e)]
    return [element]


def expected(fixture):
    """The components of each element, in order, as bytes; of text, lists of them."""
    path = FOLDER / fixture["expected"]
    if path.suffix == ".json":
        return [[x for c in element for x in component(c)] for element in json.loads(path.read_text())["elements"]]
    columns = np.load(path, allow_pickle=False)
    n, names = fixture["num_elements"], {k.split("_")[0] for k in columns}
    return [[stored(columns[str(k)][i] if str(k) in columns else columns[f"{k}_{i}"]) for k in range(len(names))] for i in range(n)]


def component(c):
    """What is compared of a component: of a ragged one its rows, of a sparse one its parts."""
    if "b64" in c:
        return [[base64.b64decode(b) for b in c["b64"]]]
    if "ragged" in c:
        return [[np.array(row, c["flat_values"]["dtype"]).tobytes() for row in c["ragged"]]]
    if "indices" in c:
        return [np.array(c["indices"], "int64").tobytes(), *component(c["values"]), np.array(c["dense_shape"], "int64").tobytes()]
    return [np.array(c["values"], c["dtype"]).reshape(c["shape"]).tobytes()]


def stored(x):
    if isinstance(x, bytes):
        return [x]
    x = np.asarray(x)
    if not x.dtype.hasobject:
        return x.tobytes()
    return [v.tobytes() if isinstance(v, np.ndarray) else v for v in x.ravel()]


@pytest.mark.parametrize("fixture", [pytest.param(f, id=f["name"]) for f in FIXTURES if f["outcome"] == "ok"])
def test_folders_give_what_they_say(fixture):
    ds = load(fixture)
    elements = list(ds)
    got, want = [[stored(x) for x in leaves(e)] for e in elements], expected(fixture)
    assert len(got) == fixture["num_elements"]
    assert ds.cardinality() == (infeed.UNKNOWN_CARDINALITY if fixture["kind"] == "snapshot" else len(got))
    if fixture["order"] != "total" and not fixture.get("extra_index_column"):  # those with numbers come in their order
        got, want = sorted(got), sorted(want)
    assert got == want
    structured = fixture["spec"]
    assert isinstance(ds.element_spec, tuple) == bool({"tuple", "namedtuple", "sparse"} & set(structured))
    assert isinstance(ds.element_spec, dict) == ("dict" in structured)


@pytest.mark.parametrize("fixture", [pytest.param(f, id=f["name"]) for f in FIXTURES if f["outcome"] != "ok"])
def test_damaged_folders_say_what_is_wrong(fixture):
    with pytest.raises(KINDS.get(fixture["outcome"], infeed.DataLossError)) as e:
        list(load(fixture, compression="NONE" if "open_with" in fixture else None))
    assert str(FOLDER / fixture["path"]) in str(e.value)


def test_what_is_no_plain_tensor():
    ragged, plain = load(named("ragged")).element_spec
    assert ragged == infeed.TensorSpec((None,), "int64") and plain == infeed.TensorSpec((), "int64")
    assert load(named("ragged2")).element_spec == infeed.RaggedTensorSpec((None, None), "float32")
    first = next(iter(load(named("ragged2"))))
    assert [r.tolist() for r in first] == [[2, 6], [3]]
    sparse = next(iter(load(named("sparse"))))
    assert isinstance(sparse, SparseTensor) and isinstance(load(named("sparse")).element_spec, SparseTensor)
    assert sparse.indices.tolist() == [[0, 0], [2, 1]] and sparse.dense_shape.tolist() == [3, 4]
    whatever = load(named("unknown_rank"))
    assert whatever.element_spec == infeed.UnknownRankSpec("float32") != infeed.UnknownRankSpec("float64")
    assert [np.shape(x) for x in whatever] == [(), (2,), (2, 2)] * 3


def test_a_spec_that_is_given(tmp_path):
    folder = tmp_path / "s"
    for name in ("ragged2", "sparse", "unknown_rank", "nested_dict"):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(FOLDER / named(name)["path"], folder)
        spec, want = infeed.Dataset.load(folder).element_spec, expected(named(name))
        (folder / "dataset_spec.pb").unlink()
        with pytest.raises(infeed.NotFoundError, match="give element_spec. It stores "):
            infeed.Dataset.load(folder)
        ds = infeed.Dataset.load(folder, element_spec=spec)
        assert ds.element_spec == spec
        assert [[stored(x) for x in leaves(e)] for e in ds] == want
    with pytest.raises(infeed.InvalidArgumentError, match="stores 4 tensors of each element: float32, int32, int64, float32"):
        infeed.Dataset.load(folder, element_spec=infeed.TensorSpec((), "int64"))
    with pytest.raises(infeed.InvalidArgumentError, match=r"element_spec\[1\] is 'x'"):
        infeed.Dataset.load(folder, element_spec=(infeed.TensorSpec(()), "x"))
    with pytest.raises(infeed.InvalidArgumentError, match=r"element_spec is float32\[3 2\]; the elements stored in .* have float32\[2 2\]"):
        load(named("single"), element_spec=infeed.TensorSpec((3, 2)))
    assert load(named("single"), element_spec=infeed.TensorSpec((None, 2))).element_spec == infeed.TensorSpec((None, 2))


def test_snapshots_by_any_of_their_folders(tmp_path):
    fixture = named("default_none")
    run = next(p for p in (FOLDER / fixture["path"]).iterdir() if p.is_dir())
    want = expected(fixture)
    for path in (FOLDER / fixture["path"], (FOLDER / fixture["path"]).parent, run):
        ds = infeed.Dataset.load(path, element_spec=spec_of(fixture["spec"]))
        assert [[stored(x) for x in leaves(e)] for e in ds] == want
    with pytest.raises(infeed.InvalidArgumentError, match="the first is the number of the element"):
        infeed.Dataset.load(FOLDER / fixture["path"])
    both = tmp_path / "both"
    for name in ("default_none", "custom_none"):
        shutil.copytree(FOLDER / named(name)["path"], both / name)
    with pytest.raises(infeed.InvalidArgumentError, match="has 2 snapshots of tf.data's; give the path of one"):
        infeed.Dataset.load(both, element_spec=spec_of(fixture["spec"]))
    infeed.Dataset.range(3).save(both / "ours")
    with pytest.raises(infeed.InvalidArgumentError, match="of infeed's and of tf.data's"):
        infeed.Dataset.load(both)


def test_parts_for_a_reader_func():
    for fixture in map(named, ("shards3", "custom_snappy", "default_auto", "distributed_gzip")):
        want = sorted(map(str, expected(fixture)))
        seen = []

        def read(shards):
            seen.append(shards.cardinality())
            return shards.shuffle(10, seed=3).interleave(lambda shard: shard, cycle_length=2)

        ds = load(fixture, reader_func=read)
        got = [str([stored(x) for x in leaves(e)]) for e in ds]
        assert sorted(got) == want and seen == [len(fixture.get("shards", "12"))]
        assert fixture.get("extra_index_column") or got != [str([stored(x) for x in leaves(e)]) for e in load(fixture)]
    fixture = named("shards3")
    last = load(fixture, reader_func=lambda shards: shards.skip(2).flat_map(lambda shard: shard.map(lambda k, v: k)))
    assert sorted(int(x) for x in last) == sorted(int(np.load(FOLDER / fixture["expected"])["0"][i]) for i in fixture["shards"]["00000002.shard"])


@pytest.mark.parametrize("name", ["string_vector_gzip", "default_snappy", "checkpointed", "custom_gzip", "distributed_none", "ragged2"])
def test_states(name):
    """From the state before any element the rest follows."""
    fixture = named(name)
    whole = iter(load(fixture))
    states, elements = [whole.state_dict()], []
    for e in whole:
        elements.append([stored(x) for x in leaves(e)])
        states.append(whole.state_dict())
    assert len(json.dumps(states[5])) < 1024
    for k in range(0, len(states), 3):
        rest = iter(load(fixture))
        rest.load_state_dict(json.loads(json.dumps(states[k])))
        assert [[stored(x) for x in leaves(e)] for e in rest] == elements[k:]


def test_what_tensorflow_stores_now(tmp_path):
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    rows = {"x": np.arange(3000, dtype="float32").reshape(1000, 3), "t": np.array([b"%d" % i for i in range(1000)])}
    spec = {"x": infeed.TensorSpec((3,)), "t": infeed.TensorSpec((), object)}
    ds = tf.data.Dataset.from_tensor_slices(rows)
    for compression in (None, "GZIP", "SNAPPY"):
        saved, kept = str(tmp_path / f"s{compression}"), str(tmp_path / f"k{compression}")
        ds.save(saved, compression=compression)
        assert sum(1 for _ in ds.snapshot(kept, compression=compression)) == 1000
        for given in (None, compression):
            for got in (list(infeed.Dataset.load(saved, compression=given)), list(infeed.Dataset.load(kept, spec, given))):
                assert [e["t"] for e in got] == list(rows["t"]) and np.array_equal([e["x"] for e in got], rows["x"])


def test_ragged_and_sparse_tensors_that_tensorflow_stores_now(tmp_path):
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    rows = [[[b"a", b""], []], [[b"bc"]], []]
    ragged, deep = tf.ragged.constant(rows, ragged_rank=2), tf.ragged.constant([[[[1]], []], [[[2, 3], [4]]]], ragged_rank=3)
    tf.data.Dataset.from_tensor_slices(ragged).save(str(tmp_path / "ragged"))
    got = list(infeed.Dataset.load(tmp_path / "ragged"))
    assert [[list(r) for r in e] for e in got] == rows
    tf.data.Dataset.from_tensor_slices({"a": deep}).save(str(tmp_path / "deep"))
    with pytest.raises(infeed.UnimplementedError, match=r"component\[\"a\"\] is ragged in 2 dimensions; one is read"):
        infeed.Dataset.load(tmp_path / "deep")
    inner = tf.RaggedTensor.from_row_lengths(tf.reshape(tf.range(12), (6, 2)), [1, 2, 0, 3])
    tf.data.Dataset.from_tensors(inner).save(str(tmp_path / "inner"))
    loaded = infeed.Dataset.load(tmp_path / "inner")
    assert loaded.element_spec == infeed.RaggedTensorSpec((4, None, None), "int32")
    assert [r.tolist() for r in next(iter(loaded))] == inner.to_list()
    tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])).batch(2).save(str(tmp_path / "batched"))
    loaded = infeed.Dataset.load(tmp_path / "batched")
    assert [[r.tolist() for r in e] for e in loaded] == [[[1, 2], []], [[3]]]
    sparse = tf.sparse.from_dense([[0, 0, 5], [0, 6, 0]])
    tf.data.Dataset.from_tensors(sparse).repeat(3).batch(2).save(str(tmp_path / "sparse"))
    two, one = infeed.Dataset.load(tmp_path / "sparse")
    assert one.indices.tolist() == [[0, 0, 2], [0, 1, 1]] and one.values.tolist() == [5, 6] and one.dense_shape.tolist() == [1, 2, 3]
    assert two.indices.tolist() == [[0, 0, 2], [0, 1, 1], [1, 0, 2], [1, 1, 1]] and two.dense_shape.tolist() == [2, 2, 3]
    tf.data.Dataset.from_tensors((tf.sparse.from_dense([b"", b"x"]), tf.sparse.from_dense([0, 0]))).save(str(tmp_path / "words"))
    ((words, none),) = infeed.Dataset.load(tmp_path / "words")
    assert words.values.tolist() == [b"x"] and words.indices.tolist() == [[1]] and none.values.tolist() == [] == none.indices.tolist()


def test_inspect_and_verify(tmp_path, capsys):
    """Every folder is described, and read as a whole or found to be damaged."""
    for fixture in FIXTURES:
        path = FOLDER / fixture["path"]
        status = _cli.main(["inspect", str(path), "--json"])
        found = json.loads(capsys.readouterr().out)
        if fixture["name"] == "no_metadata":
            assert found["what"] == "unfinished dataset of tf.data"
        else:
            what = {"save": "dataset saved by tf.data", "snapshot": "snapshot of tf.data", "distributed": "snapshot of tf.data's service"}
            assert status == 0 and found["what"] == what[fixture["kind"]] and found["finished"] == (fixture["outcome"] != "unfinalized")
            unread = {"killed": "not finished", "partial": "not finished", "no_run": "cannot be read"}.get(fixture["name"])
            assert unread in found["problem"] if unread else "problem" not in found
            if found["shards"]:
                assert found["compression"] == (fixture["compression"] or "NONE")
            assert (found["spec"] is None) == (fixture["kind"] == "snapshot" or fixture["name"] == "no_spec")
        whole = fixture["outcome"] == "ok" or fixture["name"] in ("no_spec", "wrong_compression")  # these need to be told what they are
        status = _cli.main(["verify", str(path)])
        out = capsys.readouterr()
        assert status == (0 if whole else 1), fixture["name"]
        assert f": whole, {fixture['num_elements']} elements" in out.out or not whole or fixture["outcome"] != "ok"
    _cli.main(["inspect", str(FOLDER / named("default_none")["path"])])
    text = capsys.readouterr().out
    assert "an unknown number of elements\n  each stored as tensors of int64, float32, int64; load needs element_spec\n" in text and "in 2 shards, NONE" in text
    for name, said in (("ragged2", "9 elements of ragged float32[?, ?]"), ("sparse", "9 elements of sparse float32[?, ?]"),
                       ("unknown_rank", "9 elements of float32 of any rank"), ("distributed_none", "in 2 chunks")):
        _cli.main(["inspect", str(FOLDER / named(name)["path"])])
        assert said in capsys.readouterr().out
    for name in ("default_none", "custom_gzip"):
        shutil.copytree(FOLDER / named(name)["path"], tmp_path / name)
    assert _cli.main(["inspect", str(tmp_path)]) == 0 and "2 snapshots" in capsys.readouterr().out
    assert _cli.main(["verify", str(tmp_path)]) == 0 and "whole, 22 elements in 2 snapshots" in capsys.readouterr().out
    assert _cli.main(["prune", str(tmp_path), "--yes"]) == 0 and "nothing can go" in capsys.readouterr().out


def test_components_that_are_no_arrays_are_not_stacked():
    """That says so instead of making nonsense."""
    unknown, ragged = load(named("unknown_rank")), load(named("ragged2"))
    for stacked in (unknown.batch(1), unknown.padded_batch(1), unknown.ragged_batch(1), unknown.unbatch(), ragged.padded_batch(1)):
        with pytest.raises(infeed.UnimplementedError, match="map them to arrays"):
            list(stacked)
    for ds in (unknown, ragged):
        assert len(list(ds.shuffle(9, seed=1).repeat(2).take(11))) == 11
    assert [[row.tolist() for row in e.flat] for e in ragged.batch(1)] == [[row.tolist() for row in e] for e in ragged]


def test_damaged_elements_can_be_left_out(tmp_path):
    shutil.copytree(FOLDER / named("tuple_none")["path"], tmp_path / "s")
    (file,) = tmp_path.rglob("*.snapshot")
    data = bytearray(file.read_bytes())
    data[12 + 20] ^= 1  # a value of the first tensor
    file.write_bytes(data)
    it = iter(infeed.Dataset.load(tmp_path / "s").ignore_errors())
    assert [[stored(x) for x in leaves(e)] for e in it] == expected(named("tuple_none"))[1:]
    assert "1 left out" in str(it.stats())
