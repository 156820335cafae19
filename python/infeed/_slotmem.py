"""Slots as a worker process sees them, and large NumPy arrays that lie in them from the start.

capi/slotmem/slotmem.c has the allocator. Where it or a NumPy that takes it is
missing, arrays lie elsewhere and are copied into the slot when the batch is done.
"""

import ctypes
import functools
import mmap
import os

import numpy as np

from infeed import _batch

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libslotmem.so")

# Numbers of functions in NumPy's table, the same in all of its versions 1.22 to 2.
C_VERSION, FEATURE_VERSION, SET_HANDLER, GET_HANDLER = 0, 211, 304, 305
HAS_HANDLERS = 15  # the feature version of NumPy 1.22
HANDLER_NAME = b"mem_handler"  # of the capsule, which refers to it

# After a job that left arrays in its slot, or whose arrays stood in the way, some jobs
# do without: each time twice as many up to this limit, and one less after each that went well.
MOST_RESTED = 1 << 16


@functools.cache
def library():
    """The allocator, which NumPy asks from now on; None where that cannot be."""
    try:
        lib = ctypes.PyDLL(PATH)
        capsule = (np.core if np.__version__.startswith("1.") else np._core).multiarray._ARRAY_API
    except (OSError, AttributeError):
        return None
    for name, result, arguments in (
            ("handler", ctypes.c_void_p, (ctypes.c_void_p,)),
            ("map", ctypes.c_void_p, (ctypes.c_int, ctypes.c_long, ctypes.c_size_t)),
            ("address", ctypes.c_size_t, (ctypes.c_void_p,)),
            ("drop", None, (ctypes.c_void_p,)),
            ("begin", None, (ctypes.c_void_p, ctypes.c_int)),
            ("place", ctypes.c_long, (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)),
            ("end", ctypes.c_int, (ctypes.c_void_p,))):
        function = getattr(lib, f"infeed_slot_{name}")
        function.restype, function.argtypes = result, arguments
    return lib if _take_over(lib, capsule) else None


def _take_over(lib, capsule):
    """Puts the library's handler in front of NumPy's, for this thread; False where there is none."""
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    wrapped = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi))
    table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    number = ctypes.PYFUNCTYPE(ctypes.c_uint)
    if number(table[C_VERSION])() >> 24 not in (1, 2) or number(table[FEATURE_VERSION])() < HAS_HANDLERS:
        return False
    before = ctypes.PYFUNCTYPE(ctypes.py_object)(table[GET_HANDLER])()
    handler = lib.infeed_slot_handler(pointer(before, HANDLER_NAME))
    if handler is None:
        return False
    lib.before = before  # what it passes on to lives as long
    ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[SET_HANDLER])(wrapped(handler, HANDLER_NAME, None))
    return True


def map_segment(fd, slots, nbytes):
    """Every slot of a segment; takes the descriptor."""
    if library() is not None:
        file = _File(fd)
        return [Slot(file, i * nbytes, nbytes) for i in range(slots)]
    try:
        whole = np.frombuffer(mmap.mmap(fd, slots * nbytes), np.uint8)
    finally:
        os.close(fd)
    return [PlainSlot(whole[i * nbytes:(i + 1) * nbytes]) for i in range(slots)]


class PlainSlot:
    """A slot that arrays are copied to."""

    def __init__(self, memory):
        self.memory, self.address = memory, memory.__array_interface__["data"][0]

    def begin(self):
        """The allocator for one job."""
        return _batch.Allocator(self.memory, self.address)

    def end(self, crowded=False):
        """To be called before the slot is others'. crowded: it did not hold the batch."""


class _File:
    """A descriptor, closed with the last slot that needs it."""

    def __init__(self, fd):
        self.fd = fd

    def __del__(self):
        os.close(self.fd)


class _Region:
    """A mapping of a slot; arrays over it refer to it."""

    def __init__(self, slot):
        self.handle = None
        self.drop = library().infeed_slot_drop
        self.handle = library().infeed_slot_map(slot.file.fd, slot.offset, slot.nbytes)
        if self.handle is None:
            raise MemoryError("a slot cannot be mapped")
        address = library().infeed_slot_address(self.handle)
        self.__array_interface__ = {"version": 3, "shape": (slot.nbytes,), "typestr": "|u1", "data": (address, False)}

    def __del__(self):
        if self.handle is not None:
            self.drop(self.handle)


class Slot(PlainSlot):
    """A slot in which large arrays of the job lie from the start.

    Whatever outlives the job keeps its memory, which is then private to this process,
    and the slot is mapped anew.
    """

    rest, rested = 0, 1  # of all slots: jobs to do without, and how many the next time
    placing = False

    def __init__(self, file, offset, nbytes):
        self.file, self.offset, self.nbytes = file, offset, nbytes
        self._map()

    def _map(self):
        region = _Region(self)
        self.handle = region.handle
        super().__init__(np.asarray(region))

    def begin(self):
        self.placing = Slot.rest == 0
        Slot.rest = max(0, Slot.rest - 1)
        library().infeed_slot_begin(self.handle, self.placing)
        return _Placing(self)

    def end(self, crowded=False):
        left = library().infeed_slot_end(self.handle)
        if left:
            self._map()
        if self.placing and (left or crowded):
            Slot.rest = Slot.rested
            Slot.rested = min(2 * Slot.rested, MOST_RESTED)
        elif self.placing:
            Slot.rested = max(1, Slot.rested - 1)


class _Placing(_batch.Allocator):
    """Finds its parts between the arrays that lie in the slot."""

    def __init__(self, slot):
        super().__init__(slot.memory, slot.address)
        self.handle = slot.handle

    def place(self, nbytes, start=0):
        at = library().infeed_slot_place(self.handle, nbytes, start)
        return None if at < 0 else at
