"""What operations give natively is what NumPy gives, for all dtypes."""

import warnings

import numpy as np
import pytest

from infeed import _program, _trace
from infeed._spec import Structure, TensorSpec
import varying  # noqa: F401  it adds cases
from operations import operations, parse, value

# NumPy leaves to C what becomes of floats that no int of the dtype can hold; the
# engine does what x86 does, and so does NumPy where it converts one at a time.
UNDEFINED = {f"astype {a} to {b}" for a in ("f2", "f4", "f8", "c8", "c16") for b in "i1 i2 i4 i8 u1 u2 u4 u8".split()}

# What needs a size that is not known, and why.
NEEDS_A_SIZE = {
    "take": "indices of several axes are places of a known shape", "take O": "the same", "split": "how many parts", "split O": "the same",
    "squeeze": "which dimensions are 1", "loop over rows": "how many rows", "normal": "a shape", "triangles": "the triangle",
    "broadcast_arrays and meshgrid": "which dimensions are 1", "sections": "how many parts",
}


def traced(function, arguments, known=True):
    """The program of a function of arguments such as f4[3,4], and their structure."""
    specs = [TensorSpec(shape if known else (None,) * len(shape), dtype) for dtype, shape in map(parse, arguments)]
    structure, _ = Structure.of(tuple(specs))
    return _trace.trace(function, structure, specs), structure


@pytest.mark.parametrize("operation", operations())
def test_natively_as_numpy(operation):
    for name, function, arguments in operations()[operation]:
        program, _ = traced(function, arguments)
        assert not isinstance(program, str), (name, program)
        check(program, name, function, arguments, 3)


@pytest.mark.parametrize("operation", operations())
def test_natively_where_sizes_differ(operation):
    """The same operations on elements of which no dimension is known."""
    for name, function, arguments in operations()[operation]:
        program, _ = traced(function, arguments, known=False)
        if operation in NEEDS_A_SIZE:
            assert isinstance(program, str), name
            continue
        assert not isinstance(program, str), (name, program)
        check(program, name, function, arguments, 1)


def check(program, name, function, arguments, rows):
    """A program gives for rows of elements what the function gives for each."""
    special = name not in UNDEFINED
    elements = [tuple(value(a, 10 * i + k, special) for k, a in enumerate(arguments)) for i in range(rows)]
    for run in [elements] if all(None not in s.shape for s in program.specs) else [[e] for e in elements]:
        columns = [np.stack([e[k] for e in run]) if parse(a)[0] != object else _texts([e[k] for e in run])
                   for k, a in enumerate(arguments)]
        results = _program.results(program.document, program.specs, columns, rows=len(run))
        for i, element in enumerate(run):
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                own = function(*element)
            native = program.structure.pack([r[i] for r in results])
            assert _trace.agree(native, _trace.as_result(own), program.exact) is None, name


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
