"""Iterators of the engine: what comes out of them, why they ended, and closing them."""

from infeed import _jobs, _native
from infeed._arguments import U64
from infeed._decoder import Decoder
from infeed._element import Asker
from infeed._errors import ForkedProcessError


def cause_of(call, jobs):
    """What ended the iterator of a call: an exception of a function, or the engine's."""
    cause = _native.Call(call.struct.handle)
    status = _native.library().infeed_dataset_error(cause.address)
    raised = jobs.exceptions.get(cause.struct.out[0]) if jobs is not None else None
    return cause.error(status) if raised is None else raised


def close(handle):
    try:
        _native.Call(handle)("close")
    except ForkedProcessError:  # there is nothing to close in a fork
        pass


def entries(call, jobs):
    """The groups of an iterator, as the entries in call; functions are called in this thread."""
    while (status := _native.library().infeed_next(call.address)) != _native.END:
        if status < 0:
            raise cause_of(call, jobs)
        if status == 0 and call.struct.entry.status == _native.JOB:
            jobs.run(_native.Entry.from_buffer_copy(call.struct.entry))
        elif status == 0:
            yield call.struct.entry


def first_of(node):
    """The first element that a definition makes; None: there is none. Raises what it fails with."""
    handle = node.handle()
    decode = Decoder(node.structure, handle.specs)
    if handle.indexed and not handle.calls:
        return Asker(handle, node.structure)(0, last=True) if handle.cardinality else None
    call, jobs = _native.Call(handle.number), None
    try:
        call("dataset_iterate", {"pass": 0, "workers": int(handle.calls), "functions": handle.calls})
        call.struct.handle = call.struct.out[0] & U64
        if handle.calls:
            jobs = _jobs.Jobs(call.struct.handle, 0, 0)
        else:
            call("dataset_produce")  # and nothing beyond the first element
        for entry in entries(call, jobs):
            return decode(_native.lease(entry, _native.Lent()), entry.meta_offset, True)[0]
        return None
    finally:
        close(call.struct.out[0] & U64)
