"""Elements out of the memory of the engine's groups."""

import ctypes
import struct

import numpy as np

from infeed import _text


_ALIGN = 64  # block.Align of the engine


class Decoder:
    """Makes elements of the memory of a group (see core/pipeline/group.go). For one thread at a time."""

    def __init__(self, structure, specs):
        plan, at = [], 1
        for spec in specs:
            end = at + 1 + len(spec.shape)
            plan.append((spec.dtype, at, end))  # where in the description offset and dimensions are
            at = end
        self._plan = plan
        self._meta_bytes = -(-8 * at // _ALIGN) * _ALIGN
        self._text = _text.Maker() if any(s.dtype.hasobject for s in specs) else None
        self._read = struct.Struct(f"<{at}q").unpack_from
        self._single = structure.kind == "leaf"
        self._single_text = self._single and specs[0].dtype.hasobject and not specs[0].shape
        self._pack = None if self._single or structure.is_flat_tuple() else structure.packer()

    def __call__(self, memory, meta_offset, private=False):
        """The elements in memory, as a list. private: each with memory of its own."""
        numbers = self._read(memory, meta_offset)
        count = numbers[0]
        if count == 1 and self._text is None and not private:
            return [self._first(memory, numbers)]
        if self._text is None:
            columns = [np.ndarray((count, *numbers[at + 1:end]), dtype, memory, numbers[at])
                       for dtype, at, end in self._plan]
        else:
            columns = self._with_text(memory, numbers, count)
        if private:  # single values are copies already, but for structured ones
            columns = [[v.copy() for v in c] if c.ndim > 1 or c.dtype.kind == "V" else c for c in columns]
        if self._single:
            return columns[0].tolist() if self._single_text else list(columns[0])
        elements = list(zip(*columns))
        if not columns:
            elements = [()] * count
        return elements if self._pack is None else list(map(self._pack, elements))

    def all(self, memory, meta_offset, meta_bytes):
        """The elements of all groups in memory, whose descriptions lie one after the other."""
        if meta_bytes == self._meta_bytes:
            return self(memory, meta_offset)
        return [e for at in range(meta_offset, meta_offset + meta_bytes, self._meta_bytes) for e in self(memory, at)]

    def one(self, memory, meta_offset):
        """The element of a group of one."""
        if self._text is not None:
            return self(memory, meta_offset)[0]
        return self._first(memory, self._read(memory, meta_offset))

    def _first(self, memory, numbers):
        """The first element of a group without text."""
        values = [np.ndarray(numbers[at + 1:end], dtype, memory, numbers[at]) if end > at + 1 else
                  np.ndarray((1,), dtype, memory, numbers[at])[0] for dtype, at, end in self._plan]
        if self._single:
            return values[0]
        return tuple(values) if self._pack is None else self._pack(tuple(values))

    def _with_text(self, memory, numbers, count):
        base = ctypes.addressof(memory)
        return [self._text(base + numbers[at], (count, *numbers[at + 1:end])) if dtype.hasobject else
                np.ndarray((count, *numbers[at + 1:end]), dtype, memory, numbers[at])
                for dtype, at, end in self._plan]
