"""More functions that must run natively in map: those that pick, sort and search, and whose results differ in size.

As in `operations`, to whose cases these are added.
"""

import numpy as np

from operations import EVERY, FLOATS, INTS, NUMBERS, case

SIZED = "f4 u1 c16 ? O".split()  # one of each kind and size


def increasing(x):
    return np.cumsum(np.abs(np.where(np.isfinite(x), x, 1)))


# -- along an axis ---------------------------------------------------------------------------------

for d in ["?"] + NUMBERS:
    case(f"cumsum {d}", lambda x: (np.cumsum(x), x.cumsum(0), np.cumsum(x, axis=-1), np.add.accumulate(x, 1)), f"{d}[4,6]")
    case(f"cumprod {d}", lambda x: (np.cumprod(x), np.cumprod(x, 0), np.multiply.accumulate(x)), f"{d}[4,6]")
    case(f"sort {d}", lambda x: (np.sort(x), np.sort(x, 0), np.sort(x, axis=None), np.sort(x, 1)), f"{d}[3,9,2]")
    case(f"argsort {d}", lambda x: (np.argsort(x, kind="stable"), x.argsort(0, kind="stable")), f"{d}[7,5]")
    case(f"unique {d}", np.unique, f"{d}[40]")
    case(f"isin {d}", lambda x: (np.isin(x, [1, 2, 3]), np.isin(x, x[:2], invert=True)), f"{d}[20]")
for d in NUMBERS:
    case(f"searchsorted {d}", lambda x, y: (np.searchsorted(np.sort(x), y), np.searchsorted(np.sort(x), y, side="right")), f"{d}[9]", f"{d}[4,5]")
    case(f"digitize {d}", lambda x: (np.digitize(x, [0, 2, 5]), np.digitize(x, [0, 2, 5], right=True), np.digitize(x, [5.5, 2, -1])), f"{d}[20]")
case("cumsum with dtype", lambda x: (np.cumsum(x, dtype="f4"), x.cumsum(dtype="u1")), "i2[9]")
case("searchsorted of constants", lambda x: np.searchsorted(np.array([1.0, 2.0, 3.5]), x), "f4[9]")
case("isin of text", lambda t: np.isin(t, np.array([b"a", b"xyz"], object)), "O[6]")

# -- by truth, and by values --------------------------------------------------------------------------

for d in SIZED:
    a = f"{d}[6,3]"
    case(f"mask {d}", lambda x, m: (x[m], x[~m][:1]), a, "?[6]")
    case(f"mask of two dimensions {d}", lambda x, m: x[m], a, "?[6,3]")
    case(f"slice by values {d}", lambda x, i: (x[i:], x[:i], x[i:i + 2], x[:, -i:], x[i::2], x[i:2:-1]), a, "i4[]")
    case(f"crop {d}", lambda x, i, j: x[i:i + 3, j:j + 2], a, "i8[]", "u1[]")
    case(f"index and slice by values {d}", lambda x, i: (x[0, i % 3], x[i % 3, ::-1], x[..., i % 3], x[None, i % 3, 1:]), a, "i8[]")
    case(f"likes {d}", lambda x: (np.ones_like(x, dtype="i4"), np.zeros_like(x, bool), np.full_like(x, 3, "f8"), np.ones_like(x, "u1", shape=(2, 2))), a)
    case(f"append {d}", lambda x: (np.append(x, x[:1]), np.append(x, x, axis=0)), a)
for d in EVERY:
    case(f"nonzero {d}", lambda x: (np.nonzero(x), x.nonzero(), np.where(x), np.flatnonzero(x), np.argwhere(x)), f"{d}[4,5]")
for d in INTS:
    case(f"slice by {d}", lambda x, i: (x[i:], x[:i * 0 + np.iinfo(i.dtype).max], x[i * 0 + np.iinfo(i.dtype).min:]), "f4[9]", f"{d}[]")
case("extract", lambda x: np.extract(x > 0, x), "f4[9]")
case("values above the mean", lambda x: x[x > x.mean()], "f8[20]")
case("pad with a value", lambda x: np.pad(x, (2, 1), constant_values=9), "i4[5]")
case("ends added", lambda x: np.concatenate([[1], x, [2]]), "i8[5]")
case("attention mask", lambda x: (x, np.ones_like(x), np.zeros_like(x)), "i4[9]")
case("size in arithmetic", lambda x: (x / x.shape[0], x * x.size, np.multiply(x.shape[0], x), x.shape[0] - x, x < x.shape[0]), "f4[7]")
case("size of a component", lambda x: {"x": x, "length": x.shape[0], "size": x.size}, "f4[3,4]")
case("shape of another", lambda x: np.broadcast_to(x[:1], x.shape), "f4[3,4]")

# -- made of others ---------------------------------------------------------------------------------------

for d in NUMBERS:
    a = f"{d}[4,5]"
    case(f"isclose {d}", lambda x, y: (np.isclose(x, y), np.isclose(x, 1, atol=1, equal_nan=True), np.allclose(x, x)), a, f"{d}[5]")
    case(f"triangles {d}", lambda x: (np.tril(x), np.triu(x, 1), np.tril(x, -1)), a)
    case(f"turned {d}", lambda x: (np.rot90(x), np.rot90(x, 2), np.rot90(x, -1), np.fliplr(x), np.flipud(x)), a)
for d in FLOATS:
    case(f"without NaN {d}", lambda x: (np.nansum(x, 0), np.nanmax(x, 1), np.nanmin(x), np.nansum(x)), f"{d}[4,5]")
for d in ["f4", "f8"]:
    case(f"nanmean {d}", lambda x: (np.nanmean(x), np.nanmean(x, 0)), f"{d}[4,5]")
    case(f"average {d}", lambda x: (np.average(x), np.average(x, 1, weights=np.abs(x) + 1)), f"{d}[4,5]")
    case(f"norm {d}", lambda x: (np.linalg.norm(x, axis=-1), np.linalg.norm(x, 1, axis=0, keepdims=True), np.linalg.norm(x, np.inf, -1)), f"{d}[4,5]")
    case(f"polyval {d}", lambda x: np.polyval([1, 2.5, -1], x), f"{d}[9]")
case("select", lambda x: np.select([x > 2, x > 0], [x, -x], 7), "f4[9]")
case("select of ints", lambda x: np.select([x > 2], [x]), "i2[9]")
case("at least", lambda x, y: (np.atleast_1d(x), np.atleast_2d(y), np.atleast_3d(y)), "f4[]", "i4[5]")
case("dstack", lambda x: np.dstack([x, x]), "f4[3,2]")
case("broadcast_arrays and meshgrid", lambda x, y: (tuple(np.broadcast_arrays(x, y)), tuple(np.meshgrid(x, y))), "f4[3]", "f4[1]")
case("sections", lambda x: (*np.array_split(x, 4), *np.hsplit(x, 2), *np.vsplit(x, [1])), "f4[6,4]")
case("inner", lambda x, y: np.inner(x, y), "i4[5]", "i4[5]")
