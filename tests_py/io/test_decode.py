"""decode_raw and decode_csv."""

import numpy as np
import pytest
from both import DTYPES, Case, can_be_traced, differences, eager, of_tensorflow, traced

SIXTEEN = bytes(range(1, 17))


def raw(name, x, dtype, **more):
    arguments = {k: more.pop(k) for k in ("little_endian", "fixed_length") if k in more}
    return Case(f"raw: {name}", x, lambda lib, v: lib.io.decode_raw(v, getattr(lib, dtype), **arguments), **more)


def csv(name, x, defaults, **more):
    names = ("field_delim", "use_quote_delim", "na_value", "select_cols")
    arguments = {k: more.pop(k) for k in names if k in more}
    return Case(f"csv: {name}", x, lambda lib, v: lib.io.decode_csv(v, defaults, **arguments), **more)


MORE = "dtypes that TensorFlow leaves out"
ONLY_HERE = {"uint32", "uint64"}  # of decode_raw
NOT_PADDED = ONLY_HERE | {"bool", "float16", "complex64", "complex128"}  # with fixed_length
RAW = [
    *(raw(d, SIXTEEN, d, **({"why": MORE, "gives": np.frombuffer(SIXTEEN, d)} if d in ONLY_HERE else {})) for d in DTYPES),
    *(raw(f"{d}, big", SIXTEEN, d, little_endian=False) for d in ("int16", "int32", "int64", "float16", "float64", "complex64", "uint8")),
    *(raw(f"{d}, fixed", SIXTEEN, d, fixed_length=16, **(
        {"why": MORE, "gives": np.frombuffer(SIXTEEN, d) if d != "bool" else np.ones(16, bool)} if d in NOT_PADDED else {}))
      for d in DTYPES),
    raw("bfloat16", SIXTEEN, "bfloat16"),
    raw("bfloat16, fixed", SIXTEEN, "bfloat16", fixed_length=8),
    raw("bool", bytes([0, 1, 2, 255]), "bool"),
    raw("string", SIXTEEN, "string"),
    raw("vector", [b"\1\0\2\0", b"\0\0\3\0"], "int16"),
    raw("matrix", [[b"\1\0"], [b"\2\0"]], "int16"),
    raw("different sizes", [b"\1\0\2\0", b"\0\0"], "int16"),
    raw("odd size", b"\1\0\2", "int16"),
    raw("no bytes", b"", "int16"),
    raw("no bytes twice", [b"", b""], "int16"),
    raw("empty", [], "int16"),
    raw("fixed, filled up", b"\1\0\2\0", "int16", fixed_length=6),
    raw("fixed, cut", b"\1\0\2\0", "int16", fixed_length=2),
    raw("fixed, odd", b"\1\0\2\0", "int16", fixed_length=3),
    raw("fixed 0", b"\1\0\2\0", "int16", fixed_length=0),
    raw("fixed -2", b"\1\0\2\0", "int16", fixed_length=-2),
    raw("fixed, vector", [b"\1\0\2\0", b"\3"], "int16", fixed_length=4),
    raw("fixed, big", [b"\1\0\2\0", b"\3"], "int16", fixed_length=4, little_endian=False),
    raw("fixed, as text", b"ab", "int16", fixed_length="4"),
    raw("fixed, as float", b"ab", "int16", fixed_length=4.5),
    raw("fixed, as NumPy's", b"ab", "int16", fixed_length=np.int64(4)),
    raw("a number", 3, "int16"),
    raw("None", None, "int16", why="what is no text is a TypeError", gives=TypeError()),
    raw("str", "ab", "int16"),
    raw("an array", np.array([b"ab"]), "int16"),
    Case("raw: named", b"ab", lambda t, v: t.io.decode_raw(v, t.int16, True, None, "op")),
    Case("raw: NumPy's dtype", b"ab", lambda t, v: t.io.decode_raw(v, np.int16)),
    Case("raw: a name", b"ab", lambda t, v: t.io.decode_raw(v, "int16")),
    Case("raw: no dtype", b"ab", lambda t, v: t.io.decode_raw(v, "what")),
]
REQUIRED = np.array([], np.int32)
CSV = [
    csv("three columns", b"1,2.5,x", [[0], [0.0], [""]]),
    csv("vector", [b"1,2.5,x", b"4,5,y"], [[0], [0.0], [""]]),
    csv("matrix", [[b"1,2", b"4,5"]], [[0], [0.0]]),
    csv("defaults used", b",,", [[7], [8.5], ["d"]]),
    csv("scalar defaults", b"3,", [1, 2.5]),
    csv("arrays as defaults", b"3,,,", [np.array([1]), np.array([1.5]), np.float32(2), np.array([b"q"])]),
    csv("wide defaults", b",", [np.int64([1 << 40]), np.float64(0.1)]),
    csv("required", b",1", [REQUIRED, [1]]),
    csv("required, given", b"3,1", [REQUIRED, [1]]),
    csv("an empty list is a required float", b"3,1", [[], [1]]),
    csv("two defaults", b"3,1", [[1, 2], [2.0]]),
    csv("a matrix of defaults", b"3,1", [[[1]], [2.0]]),
    csv("uint8", b"3", [np.array([1], np.uint8)]),
    csv("bool", b"3", [[True]]),
    csv("float16", b"3", [np.array([1], np.float16)]),
    csv("None as default", b"3", [None]),
    csv("no columns", b"3", []),
    csv("a number as defaults", b"3", 3),
    csv("a float for an int", b"3.5", [[1]]),
    csv("text for an int in the second", [b"1", b"x"], [[1]]),
    csv("int32 overflows", b"2147483648", [[1]]),
    csv("int32 just fits", b"-2147483648", [[1]]),
    csv("text for a float", b"abc", [[1.0]]),
    csv("too few fields", b"1", [[1], [1]]),
    csv("too many fields", b"1,2,3", [[1], [1]]),
    csv("no bytes", b"", [[1]]),
    csv("empty", [], [[1], [2.0], [""]]),
    csv("quotes", b'"a,b","c""d"', [[""], [""]]),
    csv("quotes off", b'"a,b"', [[""], [""]], use_quote_delim=False),
    csv("a quote inside", b'a"b,c', [[""], [""]]),
    csv("a quote that does not end", b'"ab,c', [[""]]),
    csv("a line end inside", b"a\nb,c", [[""], [""]]),
    csv("a line end behind", b"a,b\r\n", [[""], [""]]),
    csv("a quoted line end", b'"a\nb",c', [[""], [""]]),
    csv("another delimiter", b"a|b", [[""], [""]], field_delim="|"),
    csv("a delimiter of bytes", b"a|b", [[""], [""]], field_delim=b"|"),
    csv("two delimiters", b"a|b", [[""], [""]], field_delim="||"),
    csv("no delimiter", b"a|b", [[""], [""]], field_delim=""),
    csv("a quote as delimiter", b'a"b', [[""], [""]], field_delim='"', why="a quote is no delimiter while it quotes", gives=ValueError()),
    csv("a quote as delimiter, quotes off", b'a"b', [[""], [""]], field_delim='"', use_quote_delim=False),
    csv("na_value", b"NA,1,NA", [[5], [2], ["q"]], na_value="NA"),
    csv("select_cols", b"1,2,3", [[5], [""]], select_cols=[0, 2]),
    csv("select_cols in a short row", b"1,2", [[5]], select_cols=[2]),
    csv("select_cols that fall", b"1,2,3", [[5], [""]], select_cols=[2, 0]),
    csv("select_cols twice the same", b"1,2,3", [[5], [""]], select_cols=[2, 2]),
    csv("select_cols below 0", b"1,2,3", [[5]], select_cols=[-1]),
    csv("more select_cols than defaults", b"1,2,3", [[5]], select_cols=[1, 2]),
    csv("no select_cols", b"1,2,3", [[5]], select_cols=[], why="an empty list is said so", gives=ValueError()),
    csv("spaces", b" 1 , 2.5 , x ", [[5], [1.0], [""]]),
    csv("inf and nan", b"inf,nan,1e400", [[5.0], [1.0], [1.0]]),
    csv("use_quote_delim as a number", b"1", [[5]], use_quote_delim=1),
    csv("a number", 3, [[5]]),
    csv("str", "1,2", [[5], [6]]),
]


@pytest.mark.parametrize("case", RAW + CSV, ids=str)
def test_as_tensorflow(case, tensorflow, infeed):
    ours, theirs = eager(infeed, case), of_tensorflow(tensorflow, case)
    if case.why:
        assert differences(ours, theirs), "TensorFlow gives the same by now"
        theirs = case.gives
    assert not differences(ours, theirs)


@pytest.mark.parametrize("case", [c for c in RAW + CSV if can_be_traced(c)], ids=str)
def test_traced(case, infeed):
    ours, now = traced(infeed, case), eager(infeed, case)
    if isinstance(now, Exception):
        assert isinstance(ours, str) and str(now) in ours or isinstance(ours, Exception) and str(ours) == str(now)
    else:
        assert not differences(ours, now)


def test_decode_csv_gives_a_list(infeed):
    assert type(infeed.io.decode_csv("1,2", [[0], [0]])) is list
