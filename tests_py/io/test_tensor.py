"""serialize_tensor and parse_tensor, and read_file."""

import base64
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from both import DTYPES, Case, can_be_traced, differences, eager, of_tensorflow, traced

from infeed import InvalidArgumentError, NotFoundError

TENSORS = Path(__file__).resolve().parents[2] / "testdata" / "tf" / "tensors.json"
VALUES = {
    "int": 1, "float": 0.5, "bool": True, "str": "\u00e9", "bytes": b"a\0", "list": [1, 2], "nested": [[1.5], [2]], "tuple": (1, 2),
    "texts": [b"a", b""], "empty": [], "no rows": np.zeros((0, 2)), "a scalar of NumPy's": np.float16(1), "an int64": np.int64(3),
    "objects": np.array([b"a", b"b\0"], object), "None": None, "ragged": [[1], [2, 3]], "Python's objects": np.array([object()]),
    **{d: np.arange(6).reshape(2, 3).astype(d) for d in DTYPES},
    "not contiguous": np.arange(6).reshape(2, 3).T, "other byte order": np.array([1, 2], ">i4"),
}
DTYPE_OF = {name: getattr(ml_dtypes, name) for name in dir(ml_dtypes) if name.startswith(("bfloat16", "float8"))}
SERIALIZED = b"\x08\x01\x12\x04\x12\x02\x08\x02\"\x08\x00\x00\x80?\x00\x00\x00@"  # [1.0, 2.0]
CASES = [
    *(Case(f"serialize {name}", None, lambda t, v, value=value: t.io.serialize_tensor(value)) for name, value in VALUES.items()
      if name != "other byte order"),
    Case("serialize, named", 1, lambda t, v: t.io.serialize_tensor(v, "op")),
    Case("parse", SERIALIZED, lambda t, v: t.io.parse_tensor(v, t.float32)),
    Case("parse, named", SERIALIZED, lambda t, v: t.io.parse_tensor(v, t.float32, "op")),
    Case("parse another dtype", SERIALIZED, lambda t, v: t.io.parse_tensor(v, t.int32)),
    Case("parse NumPy's dtype", SERIALIZED, lambda t, v: t.io.parse_tensor(v, np.float32)),
    Case("parse a name", SERIALIZED, lambda t, v: t.io.parse_tensor(v, "float32")),
    Case("parse what is no dtype", SERIALIZED, lambda t, v: t.io.parse_tensor(v, "what")),
    Case("parse text as numbers", SERIALIZED, lambda t, v: t.io.parse_tensor(v, t.string)),
    Case("parse cut", SERIALIZED[:-1], lambda t, v: t.io.parse_tensor(v, t.float32)),
    Case("parse no bytes", b"", lambda t, v: t.io.parse_tensor(v, t.float32)),
    Case("parse a vector", [SERIALIZED], lambda t, v: t.io.parse_tensor(v, t.float32)),
    Case("parse a number", 3, lambda t, v: t.io.parse_tensor(v, t.float32)),
    Case("parse half the values", SERIALIZED.replace(b"\x08\x02\"", b"\x08\x03\""), lambda t, v: t.io.parse_tensor(v, t.float32)),
    Case("parse one value for many", b"\x08\x01\x12\x04\x12\x02\x08\x03*\x04\x00\x00\x80?", lambda t, v: t.io.parse_tensor(v, t.float32)),
    Case("parse a shape of 2^62", b"\x08\x01\x12\x0c\x12\x0a\x08" + b"\x80" * 8 + b"\x40*\x00",
         lambda t, v: t.io.parse_tensor(v, t.float32)),
    Case("read no file", b"/nonexistent/file", lambda t, v: t.io.read_file(v)),
    Case("read no name", b"", lambda t, v: t.io.read_file(v)),
    Case("read a folder", b"/", lambda t, v: t.io.read_file(v)),
    Case("read this file", __file__.encode(), lambda t, v: t.io.read_file(v)),
    Case("read, named", __file__.encode(), lambda t, v: t.io.read_file(v, "op")),
    Case("read a str", __file__, lambda t, v: t.io.read_file(v)),
    Case("read a vector", [__file__.encode()], lambda t, v: t.io.read_file(v)),
    Case("read a number", 3, lambda t, v: t.io.read_file(v)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_tensorflow(case, tensorflow, infeed):
    ours, theirs = eager(infeed, case), of_tensorflow(tensorflow, case)
    assert not differences(ours, theirs)


@pytest.mark.parametrize("case", [c for c in CASES if can_be_traced(c) and not c.name.startswith("parse")], ids=str)
def test_traced(case, infeed):
    ours, now = traced(infeed, case), eager(infeed, case)
    if isinstance(now, Exception):
        assert isinstance(ours, str) and str(now) in ours or isinstance(ours, Exception) and str(ours) == str(now)
    else:
        assert not differences(ours, now)


@pytest.mark.parametrize("shape", [[None], [2], [3], [], None])
def test_parse_tensor_traced(infeed, shape):
    case = Case("parse", SERIALIZED, lambda t, v: t.io.parse_tensor(v, t.float32, shape=shape))
    ours, now = traced(infeed, case), eager(infeed, case)
    if shape is None:
        assert "give it shape=" in ours
    elif isinstance(now, Exception):
        assert str(ours) == str(now)
    else:
        assert not differences(ours, now)


@pytest.mark.parametrize("value", [np.arange(6.0).reshape(2, 3), np.array([b"a", b"b\0"], object), np.array([True, False])])
def test_serialize_tensor_traced(infeed, value):
    from infeed import _program, _trace
    from infeed._spec import Structure, TensorSpec

    found = _trace.trace(infeed.io.serialize_tensor, Structure("leaf"), [TensorSpec(value.shape, value.dtype)])
    assert _program.of_traced(found, (Structure("leaf"), None), value) == infeed.io.serialize_tensor(value)


@pytest.mark.parametrize("tensor", json.loads(TENSORS.read_text())["tensors"], ids=lambda t: t["name"])
def test_tensors_of_tensorflow(tensor, infeed):
    for form in {"serialized", "make_tensor_proto", "typed"} & set(tensor):
        got = infeed.io.parse_tensor(bytes.fromhex(tensor[form]), DTYPE_OF.get(tensor["dtype"], tensor["dtype"]))
        assert list(np.shape(got)) == tensor["shape"]
        if "strings" in tensor:
            assert [v for v in np.asarray(got, object).flat] == [base64.b64decode(v) for v in tensor["strings"]]
        else:
            assert np.asarray(got).tobytes().hex() == tensor["data"]
        if "serialized" in tensor:
            assert infeed.io.serialize_tensor(got).hex() == tensor["serialized"]


@pytest.mark.parametrize("shape, fits", [([None], True), ([2], True), ((None,), True), ([3], False), ([], False), ([None, None], False)])
def test_the_shape_that_is_asked_for(infeed, shape, fits):
    if fits:
        assert infeed.io.parse_tensor(SERIALIZED, "float32", shape=shape).tolist() == [1, 2]
    else:
        with pytest.raises(InvalidArgumentError, match=r"has the shape \[2\]"):
            infeed.io.parse_tensor(SERIALIZED, "float32", shape=shape)


def test_another_byte_order_is_turned(infeed):
    assert infeed.io.serialize_tensor(VALUES["other byte order"]) == infeed.io.serialize_tensor(np.array([1, 2], np.int32))


def test_read_file_of_a_path_and_of_a_name_that_is_no_utf8(infeed, tmp_path):
    import os

    path = os.fsencode(tmp_path) + b"/\xff\xfe"
    with open(path, "wb") as f:
        f.write(b"a\0b")
    assert infeed.io.read_file(path) == infeed.io.read_file(Path(os.fsdecode(path))) == b"a\0b"
    (tmp_path / "p").write_bytes(b"")
    assert infeed.io.read_file(tmp_path / "p") == b""
    with pytest.raises(NotFoundError, match="nothing"):
        infeed.io.read_file(tmp_path / "nothing")
