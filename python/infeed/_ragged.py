"""Ragged components as functions have them: object arrays of arrays, and the parts that the engine has of those.

The parts are all values of all arrays, one after the other, and the shape of each array.
"""

import numpy as np

from infeed import _trace
from infeed._errors import InvalidArgumentError
from infeed._spec import Structure, TensorSpec

_LEAF = Structure("leaf")


def is_ragged(value):
    """Whether a value is an object array of arrays."""
    return type(value) is np.ndarray and value.dtype.hasobject and value.size > 0 and isinstance(value.flat[0], np.ndarray)


def parts(value, what, like=None):
    """All values of an object array of arrays, and their shapes; like: the TensorSpec of the arrays, where it is known."""
    arrays = [_trace.result_array(a, what) for a in value.flat] if isinstance(value, np.ndarray) and value.dtype.hasobject else None
    if arrays is None or not (arrays or like):
        raise InvalidArgumentError(f"{what} is {value!r:.100}, where a ragged component is expected; give an object array of arrays")
    rank, dtype = (len(like.shape), like.dtype) if like else (arrays[0].ndim, arrays[0].dtype)
    if odd := [a for a in arrays if (a.ndim, a.dtype) != (rank, dtype)]:
        raise InvalidArgumentError(f"{what} has arrays of {rank} dimensions and dtype {dtype}, and one of {odd[0].ndim} and {odd[0].dtype}; "
                                   "those of a ragged component must have as many and one dtype")
    flat = np.concatenate([a.ravel() for a in arrays]) if arrays else np.empty(0, dtype)
    return flat, np.array([a.shape for a in arrays], np.int64).reshape(*value.shape, rank)


def split(result, what):
    """Structure and leaves of a result, as `Structure.of`, with the parts of those that are ragged."""
    outer, leaves = Structure.of(result)
    if not any(is_ragged(v) for _, v in leaves):
        return outer, leaves
    structures, out = [], []
    for path, v in leaves:
        if not is_ragged(v):
            structures.append(_LEAF)
            out.append((path, v))
            continue
        found = parts(v, f"{what}{path}")
        like = TensorSpec((None,) * found[1].shape[-1], found[0].dtype)
        structures.append(Structure("ragged", items=(_LEAF, _LEAF), example=like))
        out += [(path, part) for part in found]
    return outer.replaced(iter(structures)), out


def flattener(structure, other):
    """A function from results nested so, ragged ones among them, to the tuples of their components; other(structure, result) is the error for others."""
    found = []
    outer = structure.rebuilt(lambda part, _: found.append(part) or _LEAF, [None] * structure.leaves())
    document = outer.document()

    def flat(result):
        given, leaves = Structure.of(result)
        if given.document() != document:
            raise other(outer, result)
        return tuple([x for part, (path, v) in zip(found, leaves)
                      for x in (parts(v, f"a result{path}", part.example) if part.kind == "ragged" and len(part.items) == 2 else (v,))])

    return flat


def components(structure, specs, element):
    """The components of an element, as the engine has them: what `structure.pack` makes it of; specs are theirs."""
    out, leaves = [], iter(Structure.of(element)[1])

    def visit(part, specs):
        value = next(leaves)[1]
        if part.kind == "any":
            a = np.asarray(value, object if isinstance(value, bytes) else None)
            out.extend((a.reshape(-1), np.array(a.shape, np.int64)))
        elif part.kind == "ragged" and len(part.items) == 2:
            flat, shapes = parts(value, "an element", TensorSpec(part.example.shape, specs[0].dtype))
            out.extend((flat, shapes.astype(specs[1].dtype)))
        else:
            out.append(value)
        return part

    structure.rebuilt(visit, specs)
    return out


def copied(value):
    """A copy of an object array of arrays, and of these."""
    out = value.copy()
    for i, a in enumerate(value.flat):
        out.flat[i] = a.copy()
    return out
