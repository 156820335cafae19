"""Batches: what __getitem__ may return, and how one travels through shared memory.

A packed batch is a run of bytes: the memory of its arrays, then its description,

    u32 number of arrays, u32 bytes of pickle, (u64 offset, u64 bytes) per array, pickle

where the pickle (protocol 5) has the structure and the arrays out of band. Arrays
begin at multiples of 64 bytes.
"""

import functools
import io
import math
import mmap
import operator
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


def _aligned(nbytes):
    return (nbytes + ALIGN - 1) // ALIGN * ALIGN


class Allocator:
    """Hands out aligned parts of a slot; `empty` is what the dataset's `empty` calls while a batch is made.

    memory: the slot as np.uint8 array; address: where it lies. Without, there is no room.
    """

    def __init__(self, memory=None, address=0):
        self.memory, self.address = memory, address
        self.size = 0 if memory is None else memory.nbytes
        self.top = 0
        self.given = []

    def place(self, nbytes, start=0):
        """The offset of a fresh part, at or after `start`; None where there is no room."""
        start = _aligned(max(self.top, start))
        if start + nbytes > self.size:
            return None
        self.top = start + nbytes
        return start

    def empty(self, shape, dtype):
        import weakref

        import numpy as np

        dtype = np.dtype(dtype)
        shape = tuple(map(operator.index, shape if np.iterable(shape) else (shape,)))
        nbytes = dtype.itemsize * math.prod(shape)
        if dtype.hasobject or nbytes <= 0 or min(shape, default=0) < 0 or (at := self.place(nbytes)) is None:
            return np.empty(shape, dtype)
        part = _Part(self.memory[at:at + nbytes])
        self.given.append(weakref.ref(part))
        return np.asarray(part).view(dtype).reshape(shape)

    def offset_of(self, address, nbytes):
        """Where in the slot memory at `address` lies; None if it is not in it."""
        at = address - self.address
        return at if 0 <= at and at + nbytes <= self.size else None

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

    def __init__(self, array, interface=None):
        self.array, self.__array_interface__ = array, interface or array.__array_interface__


def _writable(array):
    """An alias of a read-only array that does not say so."""
    import numpy as np

    interface = array.__array_interface__
    alias = np.asarray(_Part(array, {**interface, "data": (interface["data"][0], False)}))
    return alias.view(array.dtype)  # the interface knows NumPy's own dtypes only


def _reduce_array(obj, allocator):
    """How pickle is to take obj if it is an array, so that it goes out of band; else NotImplemented."""
    import numpy as np

    kind = type(obj)
    if kind is np.ndarray:
        if obj.dtype.hasobject:
            return NotImplemented
        if obj.flags.c_contiguous or obj.flags.f_contiguous:
            # A read-only one would come out read-only, but the copy is its user's own.
            return NotImplemented if obj.flags.writeable else _writable(obj).__reduce_ex__(5)
        copy = allocator.empty(obj.shape, obj.dtype)
        np.copyto(copy, obj)
        return copy.__reduce_ex__(5)
    module = kind.__module__
    if module.startswith("torch") and isinstance(obj, sys.modules["torch"].Tensor):
        return _reduce_torch(obj)
    if module.startswith("jax") and hasattr(obj, "addressable_data"):
        return _jax_array, (np.asarray(obj),)
    return NotImplemented


class _Pickler(pickle.Pickler):
    """Puts arrays out of band, also those that pickle alone would copy into its stream."""

    def __init__(self, file, buffers, allocator):
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self.allocator = allocator

    def reducer_override(self, obj):
        return _reduce_array(obj, self.allocator)


@functools.cache
def _value_pickler():
    """The same for batches with objects of classes that only exist in __main__."""
    import cloudpickle

    class ValuePickler(cloudpickle.Pickler):
        def __init__(self, file, buffers, allocator):
            super().__init__(file, protocol=5, buffer_callback=buffers.append)
            self.allocator = allocator

        def reducer_override(self, obj):
            reduced = _reduce_array(obj, self.allocator)
            return super().reducer_override(obj) if reduced is NotImplemented else reduced

    return ValuePickler


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


def _plain(batch):
    """The arrays of a flat tuple, list or dict of ordinary arrays, and a key for its structure; else None.

    All batches with the same key have the same pickle, since arrays are out of band.
    """
    kind = type(batch)
    if kind is dict:
        names, leaves = tuple(batch), list(batch.values())
    elif kind is tuple or kind is list:
        names, leaves = None, batch
    else:
        return None
    key = [kind, names]
    for a in leaves:
        # Small structured or object dtypes have no kind in "biufc": they take the long way.
        if type(a) is not _ndarray() or a.dtype.kind not in "biufc" or not a.flags.c_contiguous or not a.size:
            return None
        key.append(a.shape)
        key.append(a.dtype.str)
    return leaves, tuple(key)


@functools.cache
def _ndarray():
    import numpy as np

    return np.ndarray


_pickles = {}


def _pickle(batch, allocator):
    """(pickle of the structure, arrays as flat np.uint8 views, in its order)."""
    import numpy as np

    plain = _plain(batch)
    if plain is not None:
        known = _pickles.get(plain[1])
        if known is not None:
            return known, [a.reshape(-1).view(np.uint8) for a in plain[0]]
    try:
        pickled, buffers = _dump(_Pickler, batch, allocator)
    except (pickle.PicklingError, AttributeError, TypeError):
        pickled, buffers = _dump(_value_pickler(), batch, allocator)
    if plain is not None and len(buffers) == len(plain[0]):
        if len(_pickles) >= 256:
            _pickles.clear()
        _pickles[plain[1]] = pickled
    return pickled, [np.frombuffer(b.raw(), np.uint8) if b.raw().nbytes else np.empty(0, np.uint8) for b in buffers]


def _dump(pickler, batch, allocator):
    stream, buffers = io.BytesIO(), []
    pickler(stream, buffers, allocator).dump(batch)
    return stream.getvalue(), buffers


def pack(batch, allocator):
    """Writes batch into the allocator's slot.

    Returns (offset of the description, its bytes, bytes in all, None), or, where
    the slot is too small, the same with the descriptor of a memfd that has it all.
    """
    import numpy as np

    pickled, arrays = _pickle(batch, allocator)
    size = 8 + 16 * len(arrays) + len(pickled)
    needed = sum(_aligned(a.nbytes) for a in arrays) + size
    fd, places = None, _arrange(arrays, size, allocator)
    if places is None:
        fd, memory = _own_memory(needed)
        allocator = Allocator(memory, memory.__array_interface__["data"][0])
        places = _arrange(arrays, size, allocator)
    table, copies, meta = places
    memory, total = allocator.memory, meta + size
    for at, a in copies:
        memory[at:at + a.nbytes] = a
    description = struct.pack(f"<II{len(table)}Q", len(arrays), len(pickled), *table) + pickled
    memory[meta:total] = np.frombuffer(description, np.uint8)
    return meta, size, total, fd


def _arrange(arrays, size, allocator):
    """Where arrays and, after them all, a description of `size` bytes go: (offsets and bytes of arrays,
    those to copy there, offset of the description); None if there is no room."""
    table, copies, stay, end = [], [], [], 0
    for a in arrays:
        at = allocator.offset_of(a.__array_interface__["data"][0], a.nbytes) if a.nbytes else None
        # Where two share memory, only one of them may stay: who gets them may write to one.
        if at is None or any(at < e and s < at + a.nbytes for s, e in stay):
            at = allocator.place(a.nbytes)
            if at is None:
                return None
            copies.append((at, a))
        else:
            stay.append((at, at + a.nbytes))
        table += at, a.nbytes
        end = max(end, at + a.nbytes)
    meta = allocator.place(size, end)
    return None if meta is None else (table, copies, meta)


def _own_memory(nbytes):
    import numpy as np

    fd = os.memfd_create("infeed-batch", os.MFD_CLOEXEC)
    os.ftruncate(fd, nbytes)
    return fd, np.frombuffer(mmap.mmap(fd, nbytes), np.uint8)


_recipes = {}


def unpack(memory, meta):
    """The batch whose description begins at `meta` of a writable buffer; its arrays are views of it."""
    view = memoryview(memory).cast("B")
    count, size = struct.unpack_from("<II", view, meta)
    table = struct.unpack_from(f"<{2 * count}Q", view, meta + 8)
    at = meta + 8 + 16 * count
    pickled = bytes(view[at:at + size])
    recipe = _recipes.get(pickled)
    if recipe is not None:
        kind, names, arrays = recipe
        made = [_ndarray()(shape, dtype, memory, table[2 * i]) for i, (shape, dtype) in enumerate(arrays)]
        return dict(zip(names, made)) if kind is dict else kind(made)
    batch = pickle.loads(pickled, buffers=[view[table[i]:table[i] + table[i + 1]] for i in range(0, 2 * count, 2)])
    plain = _plain(batch)
    if plain is not None and len(plain[0]) == count:
        if len(_recipes) >= 256:
            _recipes.clear()
        _recipes[pickled] = type(batch), plain[1][1], [(a.shape, a.dtype) for a in plain[0]]
    return batch
