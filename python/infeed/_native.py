"""libinfeed.so by ctypes: loading it, calling it, and lending its memory.

The contract of every call is in capi/infeed.h. Nothing here runs at import but
definitions; `library()` loads the engine.
"""

import atexit
import ctypes
import functools
import json
import operator
import os
import resource
import threading
import time
import weakref

from infeed import _context, _errors

ABI_VERSION = 0x00010000

OK = 0
TIMEOUT = 1
INTERRUPTED = 2
END = 3
RAISED = 4
JOB = 5

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libinfeed.so")

# How long one wait lasts before Python's signal handlers get their turn, should a
# signal have gone to another thread. A signal to the waiting one ends it at once.
SLICE_MS = 100


class Entry(ctypes.Structure):
    """infeed_entry: one finished batch."""

    _fields_ = [
        ("position", ctypes.c_int64), ("index", ctypes.c_int64), ("job", ctypes.c_uint64),
        ("slot", ctypes.c_uint64), ("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64),
        ("meta_offset", ctypes.c_uint64), ("meta_bytes", ctypes.c_uint32), ("status", ctypes.c_int32),
    ]


class CallStruct(ctypes.Structure):
    """infeed_call."""

    _fields_ = [
        ("size", ctypes.c_uint32), ("version", ctypes.c_uint32), ("handle", ctypes.c_uint64),
        ("arg", ctypes.c_int64 * 8), ("data", ctypes.c_uint64), ("data_bytes", ctypes.c_uint64),
        ("out", ctypes.c_int64 * 8), ("entry", Entry), ("timeout_ms", ctypes.c_int32),
        ("text_bytes", ctypes.c_uint32), ("text", ctypes.c_char * 8192),
    ]


_encoded = json.JSONEncoder(check_circular=False).encode  # half of the time of json.dumps


class Call:
    """One infeed_call, to be used by one thread at a time."""

    def __init__(self, handle=0):
        self.struct = CallStruct(size=ctypes.sizeof(CallStruct), version=ABI_VERSION, handle=handle)
        self.address = ctypes.addressof(self.struct)
        self.struct.timeout_ms = SLICE_MS

    def __call__(self, name, data=None, args=()):
        """Makes a call that does not wait for batches; raises what it fails with."""
        s = self.struct
        keep = None
        if data is not None:
            keep = _encoded(data).encode()
            s.data, s.data_bytes = ctypes.cast(keep, ctypes.c_void_p).value, len(keep)
        for i, a in enumerate(args):
            s.arg[i] = a
        status = getattr(library(), "infeed_" + name)(self.address)
        if data is not None:
            s.data, s.data_bytes = 0, 0
        if status < 0:
            raise self.failure(status)
        return status

    def failure(self, status):
        """The error of a call that did not wait for batches."""
        if -status == _errors.CancelledError.kind:
            stay_at_exit()
        return self.error(status)

    def text(self):
        return ctypes.string_at(self.address + CallStruct.text.offset, self.struct.text_bytes).decode(errors="replace")

    def long(self):
        """The long result of a call: its text, or what is in the slot that it lent."""
        entry = self.struct.entry
        if not entry.slot:
            return self.text()
        try:
            return ctypes.string_at(entry.address, entry.bytes).decode()
        finally:
            library().release(entry.slot)

    def error(self, status):
        error = _errors.from_status(status, self.text())
        if isinstance(error, _errors.DataLossError) and (path_bytes := self.struct.out[7]):
            behind = self.address + CallStruct.text.offset + self.struct.text_bytes + 1
            error.path, error.offset = os.fsdecode(ctypes.string_at(behind, path_bytes)), self.struct.out[6]
        return error


class _Library:
    """The loaded library: functions that release the GIL, and `quick` ones that do not block and keep it."""

    def __init__(self):
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        try:
            slow = ctypes.CDLL(PATH)
        except OSError as e:
            raise ImportError(_load_hint(e)) from e
        quick = ctypes.PyDLL(PATH)
        self.slow, self.quick = slow, quick
        if slow.infeed_abi_version() >> 16 != ABI_VERSION >> 16:
            raise ImportError(f"{PATH} has another ABI than this package; reinstall infeed")
        self.release = quick.infeed_release
        self.release.argtypes, self.release.restype = [ctypes.c_uint64], None
        self._set_up()
        # The Go runtime raises the limit on open files for the whole process.
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    def __getattr__(self, name):
        """`infeed_x`: that call, without the GIL. `quick_x`: the same with it, for calls that never block."""
        if name.startswith("quick_"):
            function = getattr(self.quick, "infeed_" + name[len("quick_"):])
        elif name.startswith("infeed_"):
            function = getattr(self.slow, name)
        else:
            raise AttributeError(name)
        function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_int32
        setattr(self, name, function)
        return function

    def _set_up(self):
        call = Call()
        # No more than there are: what stages hand on would wander between the processors' caches.
        config = json.dumps({"max_procs": max(2, len(os.sched_getaffinity(0))), "gc_percent": 200}).encode()
        call.struct.data, call.struct.data_bytes = ctypes.cast(config, ctypes.c_void_p).value, len(config)
        status = self.infeed_setup(call.address)
        if status < 0:
            raise call.error(status)


def _load_hint(error):
    text = str(error)
    if not os.path.exists(PATH):
        return f"{PATH} is missing: infeed was not built; install it with 'pip install .' in its source folder"
    if "static TLS" in text:
        return f"{text}; import infeed before other libraries, or set GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8192"
    if "initial-exec" in text or "musl" in text:
        return f"{text}; infeed needs glibc, musl systems such as Alpine cannot load it"
    return text


_lock = threading.Lock()
_library = None
_exiting = False
_forked = False
_open = weakref.WeakSet()


def library():
    """The library, loaded and set up at the first call."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                loaded = _Library()
                atexit.register(_at_exit)
                _library = loaded
    return _library


def loaded():
    return _library is not None


def close_at_exit(thing):
    """Has thing.close() called when the interpreter ends, unless thing is gone by then."""
    _open.add(thing)


def exiting():
    """True once the interpreter has begun to end, as its main thread and all that it waits for have: waits must give up.

    The main thread does not ask whether it is alive: where an exception of a signal handler comes meanwhile, Python before
    3.13 takes it for ended from then on. It believes what another thread found.
    """
    global _exiting
    main = threading.main_thread()
    if not _exiting and not _context.in_main_thread() and not main.is_alive():
        _exiting = all(t.daemon or t is main for t in threading.enumerate())
    return _exiting


def stay_at_exit():
    """Once the interpreter ends, only daemon threads and the main one are left: a daemon stays here until it is ended."""
    while exiting() and not _context.in_main_thread():
        time.sleep(3600)


def _at_exit():
    global _exiting
    _exiting = True
    for thing in list(_open):
        thing.close()


def _after_fork():
    global _open, _lock, _forked
    _open, _lock = weakref.WeakSet(), threading.Lock()
    _forked = _library is not None


def check_fork():
    """Raises ForkedProcessError where the engine was loaded before this process was forked.

    For use before a lock is taken, which another thread may have held at the fork.
    """
    if _forked:
        call = Call()
        raise call.error(library().infeed_about(call.address))


os.register_at_fork(after_in_child=_after_fork)


def about():
    """What the library says about itself, as a dict."""
    call = Call()
    call("about")
    return json.loads(call.text())


def alive():
    """Counts of what is alive in the engine: goroutines, mapped bytes, objects, handles."""
    call = Call()
    call("alive")
    return json.loads(call.text())


def checksum(view):
    """A 64-bit checksum of the bytes of a contiguous memoryview."""
    import numpy as np

    flat = np.frombuffer(view, np.uint8)
    call = Call()
    call.struct.data, call.struct.data_bytes = flat.ctypes.data, flat.nbytes
    status = library().infeed_checksum(call.address)
    if status < 0:
        raise call.error(status)
    return call.struct.out[0]


def order(length, seed, pass_, start, count):
    """Places [start, start+count) of the order of a pass over `length` batches, as int64[count]."""
    import numpy as np

    out = np.empty(count, np.int64)
    call = Call()
    s = call.struct
    s.data, s.data_bytes = out.ctypes.data, out.nbytes
    s.arg[0], s.arg[1], s.arg[2], s.arg[3] = length, pass_, start, count
    s.out[0] = signed(seed)
    status = library().infeed_order(call.address)
    if status < 0:
        raise call.error(status)
    return out


def signed(value):
    """The int64 with the bits of a uint64."""
    return value - (1 << 64) if value >= 1 << 63 else value


class Lent:
    """What leases that hold a slot refer to: its length is how many there are."""

    def __len__(self):
        return weakref.getweakrefcount(self)


class _Loan(weakref.ref):
    """Counts for a Lent as long as it lives; plain references to one object are one object."""


class Lease(ctypes.Array):
    """Memory of a slot. It owns no loan until `hold`; then the slot is given back when nothing refers to it.

    Its end runs no bytecode, where an exception of a signal handler's could come and leave the slot taken.
    """

    _type_ = ctypes.c_char
    _length_ = 0
    give_back = int  # does nothing
    __del__ = property(operator.attrgetter("give_back"))

    def hold(self, slot, lent):
        """lent: the Lent that counts it."""
        self.loan = _Loan(lent)
        self.give_back = functools.partial(library().release, slot)


_lease_types = {}


def memory_of(entry):
    """The memory of an entry's slot, as a writable buffer: a Lease that is yet to hold it."""
    kind = _lease_types.get(entry.bytes)
    if kind is None:
        kind = type("Lease", (Lease,), {"_length_": entry.bytes})
        if len(_lease_types) > 1000:
            _lease_types.clear()
        _lease_types[entry.bytes] = kind
    return kind.from_address(entry.address)


def lease(entry, lent):
    """The memory of an entry's slot, as a writable buffer that owns the loan."""
    owner = memory_of(entry)
    owner.hold(entry.slot, lent)
    return owner
