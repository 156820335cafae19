"""What operations give natively is what NumPy gives, for all dtypes."""

import warnings

import numpy as np
import pytest

from infeed import _program, _trace
from infeed._spec import Structure, TensorSpec
from operations import operations, parse, value

# NumPy leaves to C what becomes of floats that no int of the dtype can hold; the
# engine does what x86 does, and so does NumPy where it converts one at a time.
UNDEFINED = {f"astype {a} to {b}" for a in ("f2", "f4", "f8", "c8", "c16") for b in "i1 i2 i4 i8 u1 u2 u4 u8".split()}
ROWS = 3


def traced(function, arguments):
    """The program of a function of arguments such as f4[3,4], and their structure."""
    specs = [TensorSpec(shape, dtype) for dtype, shape in map(parse, arguments)]
    structure, _ = Structure.of(tuple(specs))
    return _trace.trace(function, structure, specs), structure


@pytest.mark.parametrize("operation", operations())
def test_natively_as_numpy(operation):
    for case in operations()[operation]:
        check(*case)


def check(name, function, arguments):
    program, _ = traced(function, arguments)
    assert not isinstance(program, str), (name, program)
    special = name not in UNDEFINED
    elements = [tuple(value(a, 10 * i + k, special) for k, a in enumerate(arguments)) for i in range(ROWS)]
    columns = [np.stack([e[k] for e in elements]) if parse(a)[0] != object else _texts([e[k] for e in elements])
               for k, a in enumerate(arguments)]
    results = _program.results(program.document, program.specs, columns, rows=ROWS)
    for i, element in enumerate(elements):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            own = function(*element)
        native = program.structure.pack([r[i] for r in results])
        assert _trace.agree(native, own, program.exact) is None, name


def _texts(values):
    out = np.empty(len(values), object)
    out[:] = [np.asarray(v, object) for v in values]
    return np.stack(out) if np.ndim(values[0]) else np.array(values, object)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_sums_round_as_numpys(dtype):
    """Bit for bit: the order in which floats are added is NumPy's."""
    for shape in [(7,), (8,), (127,), (129,), (1000,), (5, 300), (300, 5), (3, 40, 17)]:
        x = np.random.default_rng(len(shape)).normal(size=shape).astype(dtype)
        program, _ = traced(lambda x: (x.sum(), x.sum(0), x.sum(-1)), [f"{dtype}[{','.join(map(str, shape))}]"])
        native = _program.results(program.document, program.specs, [x])
        for got, want in zip(native, (x.sum(), x.sum(0), x.sum(-1))):
            assert np.array_equal(got, want), shape
