"""Batches: what __getitem__ may return, and how one travels through shared memory.

A packed batch is a run of bytes: the memory of its arrays, then its description,

    u32 number of arrays, u32 bytes of pickle, (u64 offset, u64 bytes) per array, pickle

where the pickle (protocol 5) has the structure and the arrays out of band. Arrays
begin at multiples of 64 bytes.
"""

import mmap
import os
import pickle
import struct
import sys

from infeed._errors import InvalidArgumentError

ALIGN = 64

# Batches smaller than this are copied out of shared memory: cheaper than a loan.
COPY_BELOW = 256 << 10


def check(batch, index):
    """Raises InvalidArgumentError unless batch is x, (x,), (x, y), (x, y, sample_weight) or a dict."""
    if isinstance(batch, dict):
        return
    if isinstance(batch, (tuple, list)):
        if 1 <= len(batch) <= 3:
            return
        what = f"a {type(batch).__name__} of {len(batch)}"
    elif hasattr(batch, "shape") and hasattr(batch, "dtype"):
        return
    elif batch is None:
        what = "None"
    else:
        what = f"{str(batch)[:100]!r} of type {type(batch).__name__}"
    raise InvalidArgumentError(
        f"__getitem__({index}) returned {what}; a batch must be an array, a dict, or a tuple: "
        "(x,), (x, y) or (x, y, sample_weight)")


class Allocator:
    """Hands out aligned parts of a slot; `empty` is what the dataset's `empty` calls while a batch is made."""

    def __init__(self, memory):
        import numpy as np

        self.memory = np.frombuffer(memory, np.uint8) if memory is not None else np.empty(0, np.uint8)
        self.address = self.memory.__array_interface__["data"][0]
        self.top = 0
        self.given = []

    def place(self, nbytes):
        """The offset of a fresh part, or None where there is no room."""
        start = (self.top + ALIGN - 1) // ALIGN * ALIGN
        if start + nbytes > self.memory.nbytes:
            return None
        self.top = start + nbytes
        return start

    def empty(self, shape, dtype):
        import weakref

        import numpy as np

        dtype = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        nbytes = dtype.itemsize
        for n in shape:
            nbytes *= n
        at = None if dtype.hasobject else self.place(nbytes)
        if at is None or not nbytes:
            return np.empty(shape, dtype)
        part = _Part(self.memory[at:at + nbytes])
        self.given.append(weakref.ref(part))
        return np.asarray(part).view(dtype).reshape(shape)

    def offset_of(self, address, nbytes):
        """Where in the slot memory at `address` lies; None if it is not in it."""
        at = address - self.address
        return at if 0 <= at and at + nbytes <= self.memory.nbytes else None

    def kept(self):
        """True if an array from `empty` is still referred to."""
        if all(part() is None for part in self.given):
            return False
        import gc

        gc.collect()
        return any(part() is not None for part in self.given)


class _Part:
    """Owner of a part of a slot, so that one sees whether the user kept an array over it."""

    __slots__ = ("array", "__array_interface__", "__weakref__")

    def __init__(self, array):
        self.array, self.__array_interface__ = array, array.__array_interface__


class _Pickler(pickle.Pickler):
    """Puts arrays out of band, also those that pickle alone would copy into its stream."""

    def __init__(self, file, buffers, allocator):
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self.allocator = allocator

    def reducer_override(self, obj):
        import numpy as np

        kind = type(obj)
        if kind is np.ndarray:
            if obj.dtype.hasobject or obj.flags.c_contiguous or obj.flags.f_contiguous:
                return NotImplemented
            copy = self.allocator.empty(obj.shape, obj.dtype)
            np.copyto(copy, obj)
            return copy.__reduce_ex__(5)
        module = kind.__module__
        if module.startswith("torch") and isinstance(obj, sys.modules["torch"].Tensor):
            return _reduce_torch(obj)
        if module.startswith("jax") and hasattr(obj, "addressable_data"):
            return _jax_array, (np.asarray(obj),)
        return NotImplemented


def _reduce_torch(tensor):
    try:
        return _torch_tensor, (tensor.detach().cpu().numpy(),)
    except (TypeError, RuntimeError):  # a dtype or layout that NumPy lacks
        return NotImplemented


def _torch_tensor(array):
    import torch

    return torch.from_numpy(array)


def _jax_array(array):
    import jax.numpy

    return jax.numpy.asarray(array)


def pack(batch, allocator):
    """Writes batch into the allocator's slot.

    Returns (offset of the description, its bytes, bytes in all, None), or, where
    the slot is too small, the same with the descriptor of a memfd that has it all.
    """
    import io

    import numpy as np

    stream, buffers = io.BytesIO(), []
    _Pickler(stream, buffers, allocator).dump(batch)
    pickled = stream.getbuffer()
    arrays = [np.frombuffer(b.raw(), np.uint8) if b.raw().nbytes else np.empty(0, np.uint8) for b in buffers]
    table, copies, end = [], [], allocator.top
    for a in arrays:
        at = allocator.offset_of(a.__array_interface__["data"][0], a.nbytes) if a.nbytes else 0
        if at is None:
            at = (end + ALIGN - 1) // ALIGN * ALIGN
            end = at + a.nbytes
            copies.append((at, a))
        table.append((at, a.nbytes))
    meta = (end + 7) // 8 * 8
    head = struct.pack(f"<II{2 * len(table)}Q", len(table), len(pickled), *(v for row in table for v in row))
    total = meta + len(head) + len(pickled)
    memory, fd = allocator.memory, None
    if total > memory.nbytes:
        fd, memory = _own_memory(total)
        copies = list(zip((at for at, _ in table), arrays))
    for at, a in copies:
        memory[at:at + a.nbytes] = a
    memory[meta:meta + len(head)] = np.frombuffer(head, np.uint8)
    memory[meta + len(head):total] = np.frombuffer(pickled, np.uint8)
    return meta, total - meta, total, fd


def _own_memory(nbytes):
    import numpy as np

    fd = os.memfd_create("infeed-batch", os.MFD_CLOEXEC)
    os.ftruncate(fd, nbytes)
    return fd, np.frombuffer(mmap.mmap(fd, nbytes), np.uint8)


def unpack(memory, meta):
    """The batch whose description begins at `meta` of a writable buffer; its arrays are views of it."""
    view = memoryview(memory).cast("B")
    count, size = struct.unpack_from("<II", view, meta)
    table = struct.unpack_from(f"<{2 * count}Q", view, meta + 8)
    at = meta + 8 + 16 * count
    buffers = [view[table[i]:table[i] + table[i + 1]] for i in range(0, 2 * count, 2)]
    return pickle.loads(view[at:at + size], buffers=buffers)


def private_copy(memory, nbytes):
    """The first bytes of a buffer, copied into aligned memory that belongs to the caller."""
    import numpy as np

    spare = np.empty(nbytes + ALIGN, np.uint8)
    skip = -spare.__array_interface__["data"][0] % ALIGN
    out = spare[skip:skip + nbytes]
    out[:] = np.frombuffer(memory, np.uint8, nbytes)
    return out
