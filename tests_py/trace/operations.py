"""Functions that must run natively in map: (name, function, arguments), each argument as dtype[shape].

Values are made by `value`: of both signs, with what is special for the dtype among them.
"""

import re

import numpy as np

import infeed

INTS = "i1 i2 i4 i8 u1 u2 u4 u8".split()
FLOATS = "f2 f4 f8".split()
COMPLEX = "c8 c16".split()
NUMBERS = INTS + FLOATS
EVERY = ["?"] + NUMBERS + COMPLEX

CASES = []


def case(name, function, *arguments):
    CASES.append((name, function, arguments))


def operations():
    """The cases by operation: {name without dtypes: [(name, function, arguments), ...]}."""
    out = {}
    for found in CASES:
        operation = " ".join(w for w in found[0].split() if w not in EVERY)
        out.setdefault(operation, []).append(found)
    return out


def parse(argument):
    """dtype and shape of an argument such as f4[3,4]."""
    dtype, shape = re.fullmatch(r"([^[]+)\[(.*)\]", argument).groups()
    return np.dtype(dtype), tuple(int(d) for d in shape.split(",") if d)


def value(argument, seed, special=True):
    """An array for an argument."""
    dtype, shape = parse(argument)
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    if dtype.kind == "b":
        out = rng.integers(0, 2, n).astype(bool)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        out = rng.integers(max(info.min, -9), 9, n).astype(dtype)
        edge = [info.min, info.max, 0, 1, info.max // 2]
    elif dtype.kind == "f":
        out = rng.normal(size=n).astype(dtype) * dtype.type(3)
        edge = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, np.finfo(dtype).max, np.finfo(dtype).tiny]
    elif dtype.kind == "c":
        out = (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dtype)
    else:
        out = np.array([b"a", b"", b"xyz", b"a\0b"], object)[rng.integers(0, 4, n)]
    if special and dtype.kind in "iuf" and n >= 5:
        at = rng.permutation(n)[:n // 2]
        out[at] = np.array(edge, dtype)[rng.integers(0, len(edge), len(at))]
    return out.reshape(shape)[()]


# -- arithmetic ------------------------------------------------------------------------

for d in NUMBERS + COMPLEX:
    a, b = f"{d}[4,5]", f"{d}[5]"
    case(f"add {d}", lambda x, y: x + y, a, b)
    case(f"subtract {d}", lambda x, y: x - y, a, b)
    case(f"multiply {d}", lambda x, y: x * y, a, b)
    case(f"divide {d}", lambda x, y: x / y, a, b)
    case(f"negative {d}", lambda x: -x, a)
    case(f"positive {d}", lambda x: +x, a)
    case(f"square {d}", np.square, a)
    case(f"power 2 {d}", lambda x: x ** 2, a)
    case(f"equal {d}", lambda x, y: x == y, a, b)
    case(f"not_equal {d}", lambda x, y: x != y, a, b)
    case(f"reflected {d}", lambda x: (2 + x, 2 - x, 2 * x, 1 / x), a)
    case(f"scalar {d}", lambda x: x * 2 + 1, a)
for d in NUMBERS:
    a, b = f"{d}[4,5]", f"{d}[4,1]"
    case(f"floor_divide {d}", lambda x, y: x // y, a, b)
    case(f"remainder {d}", lambda x, y: x % y, a, b)
    case(f"divmod {d}", lambda x, y: divmod(x, y), a, b)
    case(f"fmod {d}", np.fmod, a, b)
    case(f"absolute {d}", abs, a)
    case(f"sign {d}", np.sign, a)
    case(f"maximum {d}", np.maximum, a, b)
    case(f"minimum {d}", np.minimum, a, b)
    case(f"fmax {d}", np.fmax, a, b)
    case(f"fmin {d}", np.fmin, a, b)
    case(f"less {d}", lambda x, y: (x < y, x <= y, x > y, x >= y), a, b)
    case(f"clip {d}", lambda x: np.clip(x, 1, 5), a)
    case(f"clip method {d}", lambda x, y: x.clip(y), a, b)
    case(f"round {d}", np.round, a)
    case(f"reciprocal {d}", np.reciprocal, a)
for d in FLOATS:
    case(f"add float scalar {d}", lambda x: x + 0.5, f"{d}[7]")
    case(f"power {d}", lambda x, y: np.abs(x) ** y, f"{d}[40]", f"{d}[40]")
    case(f"power 3 {d}", lambda x: x ** 3.0, f"{d}[40]")
    case(f"float_power {d}", lambda x: np.float_power(np.abs(x), 1.5), f"{d}[40]")
    case(f"copysign {d}", np.copysign, f"{d}[9]", f"{d}[9]")
    case(f"heaviside {d}", np.heaviside, f"{d}[9]", f"{d}[9]")
    case(f"nan_to_num {d}", np.nan_to_num, f"{d}[9]")
for d in INTS:
    case(f"power 3 {d}", lambda x: x ** 3, f"{d}[20]")
    case(f"float_power {d}", lambda x: np.float_power(x, 2), f"{d}[20]")
    case(f"divide by scalar {d}", lambda x: x / 255, f"{d}[20]")
    case(f"add float scalar {d}", lambda x: x + 0.5, f"{d}[7]")
case("power of unsigned", lambda x, y: x ** y, "u4[20]", "u4[20]")
case("promotion", lambda x, y: x + y, "u1[4]", "i1[4]")
case("promotion to float", lambda x, y: x * y, "u8[4]", "i8[4]")
case("promotion with constant", lambda x: x + np.float64(1.5), "f4[4]")
case("promotion with array", lambda x: x + np.arange(4), "f4[4]")
case("bool arithmetic", lambda x, y: (x + y, x * y, x | y, x & y, x ^ y, ~x), "?[9]", "?[9]")
case("bool plus int", lambda x: x + 1, "?[9]")
case("comparison of signs", lambda x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y), "i8[30]", "u8[30]")
case("comparison beyond the dtype", lambda x: (x < 300, x > -1, x == 256, x != 256), "u1[9]")
case("mean and deviation by hand", lambda x: (x - np.float32(0.5)) / np.float32(0.25), "f4[6,6]")

# -- bits and logic -----------------------------------------------------------------------

for d in INTS:
    a = f"{d}[30]"
    case(f"bitwise {d}", lambda x, y: (x & y, x | y, x ^ y, ~x), a, a)
    case(f"shifts {d}", lambda x, y: (x << y, x >> y), a, a)
    case(f"shifts by scalar {d}", lambda x: (x << 2, x >> 1), a)
for d in NUMBERS + COMPLEX + ["?"]:
    a = f"{d}[12]"
    case(f"logical {d}", lambda x, y: (np.logical_and(x, y), np.logical_or(x, y), np.logical_xor(x, y), np.logical_not(x)), a, a)
    case(f"isnan {d}", lambda x: (np.isnan(x), np.isinf(x), np.isfinite(x)), a)

# -- functions of floats ----------------------------------------------------------------------

UNARY = ("sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
         "floor ceil trunc rint fabs deg2rad rad2deg radians degrees signbit").split()
for name in UNARY:
    for d in FLOATS + ["i4", "u1"]:
        case(f"{name} {d}", getattr(np, name), f"{d}[60]")
for name in "arctan2 hypot logaddexp logaddexp2 maximum minimum fmax fmin".split():
    for d in FLOATS:
        case(f"{name} {d} pairs", getattr(np, name), f"{d}[60]", f"{d}[60]")
for d in COMPLEX:
    case(f"parts {d}", lambda x: (x.real, x.imag, np.conj(x), x.conjugate(), abs(x), np.real(x), np.imag(x)), f"{d}[9]")

# -- dtypes ---------------------------------------------------------------------------------------

for d in EVERY:
    for to in EVERY:
        case(f"astype {d} to {to}", lambda x, to=to: x.astype(to), f"{d}[24]")
case("copy", lambda x: (x.copy(), np.copy(x)), "f4[3]")

# -- choices -----------------------------------------------------------------------------------------

for d in EVERY:
    case(f"where {d}", lambda c, x, y: np.where(c, x, y), "?[4,1]", f"{d}[4,3]", f"{d}[3]")
case("where with scalars", lambda x: np.where(x > 0, 1, -1), "f4[9]")
case("where with a scalar", lambda x: np.where(x > 0, x, 0), "f4[9]")
case("where of numbers", lambda x: np.where(x, 1.0, x), "i4[9]")
case("clip to arrays", lambda x: np.clip(x, np.zeros(3, "f4"), np.ones(3, "f4")), "f4[4,3]")
case("clip one side", lambda x: (np.clip(x, None, 3), np.clip(x, 3, None)), "i2[9]")

# -- shapes ----------------------------------------------------------------------------------------------

for d in ["f4", "u1", "c16", "?", "O"]:
    a = f"{d}[2,3,4]"
    case(f"reshape {d}", lambda x: (x.reshape(6, 4), x.reshape(-1, 2), np.reshape(x, (3, -1)), x.ravel(), x.flatten()), a)
    case(f"transpose {d}", lambda x: (x.T, x.transpose(1, 0, 2), np.transpose(x, (2, 0, 1)), np.swapaxes(x, 0, 2),
                                      np.moveaxis(x, 0, -1)), a)
    case(f"expand_dims {d}", lambda x: (np.expand_dims(x, 0), np.expand_dims(x, (1, -1)), x[..., None], x[None]), a)
    case(f"concatenate {d}", lambda x, y: (np.concatenate([x, y]), np.concatenate([x, x], axis=-1)), a, f"{d}[1,3,4]")
    case(f"stack {d}", lambda x, y: (np.stack([x, y]), np.stack((x, y), axis=-1)), a, a)
    case(f"slices {d}", lambda x: (x[0], x[1:], x[:, ::-1], x[-1, 1:, ::2], x[..., 1], x[:, 0:2, 1:3], x[0, 0, 0], x[1:1]), a)
    case(f"take {d}", lambda x: (x[[1, 0, 1]], x[:, [2, 0]], x[np.array([[0, 1], [1, 0]])], np.take(x, [1, 0], axis=2),
                                 x[[0, 1], [1, 2]], x[np.array([True, False])]), a)
    case(f"broadcast_to {d}", lambda x: np.broadcast_to(x, (5, 2, 3, 4)), a)
    case(f"flip, roll, repeat, tile {d}", lambda x: (np.flip(x), np.flip(x, 1), np.roll(x, 1), np.roll(x, -1, 1), np.repeat(x, 2, 1),
                                                     np.tile(x, 2)), a)
    case(f"split {d}", lambda x: tuple(np.split(x, 2)) + tuple(np.split(x, [1, 3], axis=2)), a)
case("squeeze", lambda x: (np.squeeze(x), x.squeeze(0), np.squeeze(x, (0, 2))), "f4[1,3,1]")
case("vstack and hstack", lambda x, y: (np.vstack([x, y]), np.hstack([x, y]), np.column_stack([x, y])), "f4[3]", "f4[3]")
case("concatenate with promotion", lambda x, y: np.concatenate([x, y]), "f4[3]", "i4[2]")
case("concatenate with a constant", lambda x: np.concatenate([x, np.zeros(2, "f4")]), "f4[3]")
case("concatenate flat", lambda x: np.concatenate([x, x], axis=None), "f4[2,2]")
case("pad", lambda x: (np.pad(x, 1), np.pad(x, ((0, 1), (2, 0)), constant_values=7)), "f4[2,3]")
case("diff", lambda x: (np.diff(x), np.diff(x, axis=0)), "f4[3,4]")
case("likes", lambda x: (np.zeros_like(x) + x, np.ones_like(x, dtype="i4"), np.full_like(x, 3)), "f4[3]")
case("gather", lambda x, i: (x[i], np.take(x, i, axis=0)), "f4[10,2]", "u1[1]")
case("unpacking", lambda x: ([x[1], x[0]],), "f4[2,3]")
case("loop over rows", lambda x: sum(row for row in x), "f8[3,4]")
case("shape in arithmetic", lambda x: x * x.shape[0] + x.ndim + x.size, "f4[3,4]")

# -- sums and the like ---------------------------------------------------------------------------------------

for d in ["?"] + NUMBERS:
    for name, axes in {"all axes": {}, "first": {"axis": 0}, "last": {"axis": -1}, "middle": {"axis": 1},
                       "two": {"axis": (0, 2)}, "kept": {"axis": 1, "keepdims": True}}.items():
        a = f"{d}[3,5,4]"
        case(f"sum {name} {d}", lambda x, k=axes: (x.sum(**k), np.sum(x, **k)), a)
        case(f"prod {name} {d}", lambda x, k=axes: np.prod(x, **k), a)
        case(f"mean {name} {d}", lambda x, k=axes: (x.mean(**k), np.mean(x, **k)), a)
        case(f"max and min {name} {d}", lambda x, k=axes: (x.max(**k), np.min(x, **k), np.amax(x, **k)), a)
        case(f"any and all {name} {d}", lambda x, k=axes: (x.any(**k), np.all(x, **k)), a)
    case(f"argmax {d}", lambda x: (x.argmax(), np.argmax(x, axis=0), np.argmin(x, axis=-1), x.argmin(1)), f"{d}[4,6]")
for d in FLOATS:
    case(f"long sum {d}", lambda x: x.sum(), f"{d}[1500]")
    case(f"long sums of rows {d}", lambda x: (x.sum(1), x.sum(0), x.mean()), f"{d}[40,300]")
    case(f"var and std {d}", lambda x: (x.var(), np.var(x, 0), x.std(1), np.std(x, ddof=1)), f"{d}[6,8]")
    case(f"standardize {d}", lambda x: (x - x.mean()) / (x.std() + 1), f"{d}[6,8]")
case("sum with dtype", lambda x: (x.sum(dtype="f8"), np.sum(x, dtype="i4"), x.mean(dtype="f8")), "u1[9]")
case("count_nonzero", np.count_nonzero, "i4[9]")
case("ptp", np.ptp, "f4[9]")
case("reduce of ufuncs", lambda x: (np.add.reduce(x), np.maximum.reduce(x, axis=1)), "f4[3,4]")
for d in NUMBERS:
    case(f"matmul {d}", lambda x, y: (x @ y, np.matmul(x, y[:, 0]), x[0] @ y, x[0] @ y[:, 0]), f"{d}[3,4]", f"{d}[4,5]")
case("matmul of stacks", lambda x, y: x @ y, "f4[2,3,4]", "f4[4,5]")
case("matmul with a constant", lambda x: x @ np.eye(4, dtype="f4"), "f4[3,4]")
case("dot and outer", lambda x, y: (np.dot(x, y), x.dot(y), np.outer(x, y)), "f8[4]", "f8[4]")

# -- nesting, text, constants ------------------------------------------------------------------------------------

case("tuples and dicts", lambda x, y: {"a": (x, y + 1), "b": {"c": x * 2}}, "f4[3]", "i4[]")
case("numbers", lambda x: (x, 1, 2.5, True, b"text", "word"), "f4[3]")
case("list of values", lambda x: ([x, x + 1],), "f4[]")
case("constants", lambda x: (x, np.arange(3), np.float16(2)), "f4[3]")
case("one-hot", lambda y: (np.arange(10) == y).astype("f4"), "i4[]")
case("one-hot of a batch", lambda y: (y[:, None] == np.arange(10)).astype(np.float32), "i4[6]")
case("text", lambda t: t, "O[3]")
case("text equality", lambda t: (t == b"xyz", t != b"a", b"" == t), "O[6]")
case("image to float", lambda x: x.astype("float32") / 255.0, "u1[8,8,3]")
case("nothing but the argument", lambda x: x, "f4[3,3]")

# -- random numbers: not compared, but native ---------------------------------------------------------------------

case("uniform", lambda x: x + infeed.random.uniform((3,), -1, 1), "f4[3]")
case("uniform ints", lambda x: infeed.random.uniform((), 0, 5, "i4", seed=3), "f4[3]")
case("normal", lambda x: infeed.random.normal(x.shape, 1, x), "f4[3]")
case("integers", lambda x: infeed.random.integers(5), "f4[3]")
case("shuffle", lambda x: infeed.random.shuffle(x, seed=2), "f4[6]")
