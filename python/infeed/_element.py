"""Elements by number: asking the engine for one after the other."""

from infeed import _native
from infeed._decoder import Decoder


class Asker:
    """Asks for elements of a handle, with a call that is used again. For one thread at a time, and not after it raised."""

    def __init__(self, handle, structure):
        self._call = _native.Call(handle.number)
        self._address, self._arg, self._entry = self._call.address, self._call.struct.arg, self._call.struct.entry
        self._ask, self._lent = _native.library().infeed_dataset_at, _native.Lent()
        self._decode = Decoder(structure, handle.specs).one

    def __call__(self, index, last=False):
        """Element index of pass 0; last: nothing is kept that would make another one cheaper."""
        entry, arg = self._entry, self._arg
        entry.slot = 0  # the last one's is its owner's
        arg[1], arg[2] = index, last
        try:
            status = self._ask(self._address)
            if status < 0:
                raise self._call.failure(status)
            return self._decode(_native.lease(entry, self._lent), entry.meta_offset)
        except BaseException:
            _native.library().release(entry.slot)  # an interrupt may have come before the lease
            raise
