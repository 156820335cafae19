"""Running programs of element operations without a dataset.

So do the operations of infeed run where they are called outside of a function that
is being traced, and so are traced functions checked against themselves.
"""

import struct

import numpy as np

from infeed import _definition, _native, _ragged, _text

_U64 = (1 << 64) - 1


def run(document, arrays, rows=None, seed=(0,), first=0):
    """The results of a program (see core/op/doc.go) for arrays, as a list of arrays.

    arrays: the components of an element, text as objects of bytes or as any of
    NumPy's; with rows, of so many elements, which are their first dimension, and so
    have the results. seed: numbers that random results depend on, as they do on the
    number of the element, which is first for the first one. Raises what the
    operations fail with.
    """
    kept, given = [], []
    for a in arrays:
        a = np.asarray(a, object) if isinstance(a, (bytes, str)) else np.asarray(a)
        a = np.ascontiguousarray(a).reshape(a.shape)
        shape = a.shape if rows is None else a.shape[1:]
        dtype = np.dtype(object) if a.dtype.kind in "SUO" else a.dtype
        kept.append(_text.pack(a) if dtype.hasobject else a)
        given.append(_definition.described(kept[-1], shape, dtype))
    call = _native.Call()
    call("program_run", {"program": document, "rows": 1 if rows is None else rows, "arrays": given,
                         "seed": [int(s) & _U64 for s in seed], "first": first})
    return call.struct.entry


def results(document, specs, arrays, rows=None, seed=(0,), first=0):
    """`run`, with the results decoded: specs are theirs."""
    entry = run(document, arrays, rows, seed, first)
    try:
        memory = _native.memory_of(entry)
        numbers = struct.unpack_from(f"<{entry.meta_bytes // 8}q", memory, entry.meta_offset)
        out, at = [], 1
        for spec in specs:
            offset, shape = numbers[at], numbers[at + 1:at + 1 + len(spec.shape)]
            at += 1 + len(shape)
            column = _column(memory, offset, (numbers[0], *shape), spec.dtype)
            out.append(column[0] if rows is None else column)
        return out
    finally:
        _native.library().release(entry.slot)


def _column(memory, offset, shape, dtype):
    if not dtype.hasobject:
        return np.ndarray(shape, dtype, memory, offset).copy()
    n = int(np.prod(shape))
    ends = np.ndarray(n + 1, np.int64, memory, offset).tolist()
    data = bytes(memoryview(memory)[offset + 8 * (n + 1):offset + 8 * (n + 1) + ends[-1]])
    out = np.empty(n, object)
    out[:] = [data[a:b] for a, b in zip(ends, ends[1:])]
    return out.reshape(shape)


def of_traced(traced, takes, element, seed=(0,), first=0):
    """What a traced function gives for an element, run by the engine, nested as its results; takes: structure and specs of elements."""
    leaves = _ragged.components(*takes, element) if takes[0].kind != "leaf" else [element]
    return traced.structure.pack(results(traced.document, traced.specs, leaves, seed=seed, first=first))
