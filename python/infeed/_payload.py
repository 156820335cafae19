"""The dataset on its way to worker processes: pickled, with its large arrays in shared memory.

A payload is a memfd: u64 bytes of pickle, u64 number of arrays, then for each array
u64 payload, u64 offset, u64 bytes, then the pickle, then arrays at multiples of
4,096 bytes. An array may lie in an earlier payload: what did not change is not sent
again. Workers map payloads privately, so that they share them until they write.
"""

import hashlib
import io
import os
import pickle
import struct
import types

from infeed._errors import InvalidArgumentError

# Arrays smaller than this go inside the pickle.
INLINE_BELOW = 16 << 10
PAGE = 4096
SEALS = 0x1 | 0x2 | 0x4 | 0x8  # F_SEAL_SEAL, SHRINK, GROW, WRITE
F_ADD_SEALS = 1033


def _stand_in(name):
    from infeed import _pydataset

    return getattr(_pydataset, name)


def _pickler():
    import cloudpickle

    # From version 3 on; older ones keep the name of the file themselves.
    reduce_code = getattr(cloudpickle.cloudpickle, "_code_reduce", None)

    class DatasetPickler(cloudpickle.Pickler):
        """Sends classes of __main__ by value, and stand-ins for their bases that need Keras."""

        def __init__(self, file, buffers=None):
            def put(buffer):
                view = buffer.raw()
                if view.nbytes < INLINE_BELOW:
                    return True
                buffers.append(view)
                return False

            super().__init__(file, protocol=5, buffer_callback=None if buffers is None else put)

        def reducer_override(self, obj):
            name = _STAND_INS.get((obj.__module__, obj.__name__)) if isinstance(obj, type) else None
            if name is not None:
                return _stand_in, (name,)
            if isinstance(obj, types.CodeType) and reduce_code is not None:
                return _with_filename(obj, reduce_code(obj))
            return super().reducer_override(obj)

    return DatasetPickler


def _with_filename(code, reduced):
    """cloudpickle leaves out where code was written; tracebacks from workers are to show it."""
    make, args = reduced
    return make, tuple(code.co_filename if a == "<dynamic-code>" else a for a in args)


# Classes that workers do without, by module and name: what stands in for them there.
_STAND_INS = {
    ("infeed.keras", "PyDataset"): "KerasDataset",
    ("keras.src.trainers.data_adapters.py_dataset_adapter", "PyDataset"): "KerasBase",
}


def dumps(obj):
    """Pickles as datasets are pickled, arrays included."""
    stream = io.BytesIO()
    _pickler()(stream).dump(obj)
    return stream.getvalue()


def pickle_dataset(dataset):
    """(pickle, list of memoryviews of large arrays); InvalidArgumentError names what cannot be pickled."""
    stream, buffers = io.BytesIO(), []
    try:
        _pickler()(stream, buffers).dump(dataset)
    except Exception as e:
        raise InvalidArgumentError(
            f"the dataset cannot be sent to worker processes: {_culprit(dataset, e)}; open such things in "
            "__getitem__ when they are first needed, leave them out in __getstate__, or use threads "
            "(use_multiprocessing=False)") from e
    return stream.getvalue(), buffers


def _culprit(obj, error, depth=3):
    """In words, which attribute of obj cannot be pickled."""
    path = type(obj).__name__
    while depth:
        depth -= 1
        for name, value in _parts(obj):
            try:
                dumps(value)
            except Exception as e:
                path, obj, error = f"{path}{name}", value, e
                break
        else:
            break
    return f"{path} cannot be pickled ({type(error).__name__}: {error})"


def _parts(obj):
    if isinstance(obj, dict):
        return [(f"[{k!r}]", v) for k, v in obj.items()]
    if isinstance(obj, (list, tuple)):
        return [(f"[{i}]", v) for i, v in enumerate(obj)]
    try:
        state = obj.__getstate__() if hasattr(type(obj), "__getstate__") else vars(obj)
    except Exception:
        return []
    return [(f".{k}", v) for k, v in state.items()] if isinstance(state, dict) else []


class Sender:
    """Knows what workers have, and makes payloads of what they lack."""

    def __init__(self):
        self.version = 0
        self.digest = None
        self.sums = []
        self.places = {}  # (checksum, bytes) -> (payload, offset)
        self.payloads = {}  # id -> bytes
        self.last = 0

    def update(self, dataset):
        """Looks at the dataset: None if workers have it as it is, else what infeed_feed_dataset
        needs, and the descriptor to close afterwards."""
        stream, buffers = pickle_dataset(dataset)
        digest = hashlib.blake2b(stream).digest()
        from infeed import _native

        sums = [(_native.checksum(b), b.nbytes) for b in buffers]
        if digest == self.digest and sums == self.sums:
            return None
        self.digest, self.sums = digest, sums
        return self._make(stream, buffers, sums)

    def _make(self, stream, buffers, sums):
        self.last += 1
        self.version += 1
        table, new = [], []
        end = 16 + 24 * len(buffers) + len(stream)
        for view, key in zip(buffers, sums):
            place = self.places.get(key)
            if place is None:
                end = (end + PAGE - 1) // PAGE * PAGE
                place = self.places[key] = self.last, end
                new.append((end, view))
                end += view.nbytes
            table.append((*place, view.nbytes))
        fd = os.memfd_create("infeed-dataset", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, end)
            head = struct.pack("<QQ", len(stream), len(buffers)) + b"".join(struct.pack("<QQQ", *t) for t in table)
            _write(fd, head + stream, 0)
            for at, view in new:
                _write(fd, view, at)
            import fcntl

            fcntl.fcntl(fd, F_ADD_SEALS, SEALS)
        except BaseException:
            os.close(fd)
            raise
        self.payloads[self.last] = end
        needed = {p for p, _, _ in table} | {self.last}
        self.payloads = {p: n for p, n in self.payloads.items() if p in needed}
        self.places = {k: v for k, v in self.places.items() if v[0] in needed}
        listing = [[p, fd if p == self.last else -1, n] for p, n in self.payloads.items()]
        return {"version": self.version, "payload": self.last, "payloads": listing}, fd


def _write(fd, data, at):
    view = memoryview(data).cast("B")
    while view.nbytes:
        n = os.pwrite(fd, view[:1 << 30], at)
        view, at = view[n:], at + n


def load(payload, payloads):
    """The dataset in a mapped payload; its large arrays are views of the mappings."""
    view = memoryview(payload)
    size, count = struct.unpack_from("<QQ", view, 0)
    buffers = []
    for i in range(count):
        where, at, nbytes = struct.unpack_from("<QQQ", view, 16 + 24 * i)
        buffers.append(memoryview(payloads[where])[at:at + nbytes])
    start = 16 + 24 * count
    return pickle.loads(view[start:start + size], buffers=buffers)
