"""The kinds of errors: one table in Go, C and Python."""

import builtins
import re
from pathlib import Path

import infeed
import pytest
from infeed import _errors, _native

ROOT = Path(__file__).resolve().parents[2]

BASES = {
    "InvalidArgumentError": ValueError,
    "NotFoundError": FileNotFoundError,
    "AlreadyExistsError": FileExistsError,
    "DataLossError": Exception,
    "StateMismatchError": ValueError,
    "ResourceExhaustedError": MemoryError,
    "WorkerError": RuntimeError,
    "TimeoutError": builtins.TimeoutError,
    "ForkedProcessError": RuntimeError,
    "CancelledError": Exception,
    "UnimplementedError": NotImplementedError,
    "InternalError": Exception,
}
NUMBERS = {name: number for number, name in enumerate(BASES, 1)}  # frozen


def test_python():
    assert {c.__name__: n for n, c in _errors.BY_KIND.items()} == NUMBERS
    assert {c.kind for c in _errors.BY_KIND.values()} == set(NUMBERS.values())


def test_go():
    text = (ROOT / "core" / "errs" / "errs.go").read_text()
    found = {name: int(number) for name, number in re.findall(r"^\t(\w+)\s+Kind = (\d+)$", text, re.M)}
    assert {name + "Error": number for name, number in found.items()} == NUMBERS


def test_c():
    """The header names those that the shim itself reports; its other statuses are no kinds."""
    text = (ROOT / "capi" / "infeed.h").read_text()
    found = {name: int(number) for name, number in re.findall(r"^#define INFEED_(\w+) (\d+)\b", text, re.M)}
    kinds = {"INVALID_ARGUMENT": "InvalidArgumentError", "FORKED": "ForkedProcessError",
             "CANCELLED": "CancelledError", "INTERNAL": "InternalError"}
    for name, error in kinds.items():
        assert found[name] == NUMBERS[error], name
    for name in ("OK", "TIMEOUT", "INTERRUPTED", "END", "RAISED"):
        assert found[name] == getattr(_native, name), name


@pytest.mark.parametrize("name", BASES)
def test_classes(name):
    error = getattr(infeed, name)
    assert issubclass(error, infeed.Error) and issubclass(error, BASES[name])
    assert error.__doc__ and name in infeed.__all__
    assert type(_errors.from_status(-NUMBERS[name], "text")) is error
    assert str(_errors.from_status(-NUMBERS[name], "the text")) == "the text"


def test_attributes():
    assert (infeed.WorkerError("x").index, infeed.WorkerError("x").exitcode) == (None, None)
    assert (infeed.DataLossError("x").path, infeed.DataLossError("x").offset) == (None, None)


def test_an_unknown_status_is_ours_to_explain():
    assert type(_errors.from_status(-99, "x")) is infeed.InternalError


def test_what_the_library_refuses():
    """Calls of the boundary with nonsense come back as errors of the right kind."""
    with pytest.raises(infeed.CancelledError, match="closed"):
        _native.Call(12345 << 32 | 1)("walk_open", {"length": 1})
    with pytest.raises(infeed.InvalidArgumentError):
        _native.Call()("feed_open", {"workers": 0, "queue": 1})
    with pytest.raises(infeed.InvalidArgumentError):
        _native.order(10, 1, 0, 5, 6)
    wrong = _native.Call()
    wrong.struct.version = 0x00990000
    with pytest.raises(infeed.InvalidArgumentError):
        wrong("about")
