"""One file that holds a JSON document and arrays: what `BackupAndRestore` saves.

It is a zip file without compression, so that other tools read it: `state.json`, then
`00000.npy`, `00001.npy` and so on, each under zip's CRC-32. Values of callbacks and
histories are nested Python values with arrays in them; `pack` puts their arrays aside.
"""

import errno
import io
import json
import struct
import zipfile
import zlib

import numpy as np

from infeed import _checkpoint, _durable
from infeed._errors import InvalidArgumentError, StateMismatchError

DOCUMENT = "state.json"
KIND = "backup"
FORMAT = 1


def write(path, document, arrays):
    """Puts an archive in place whole."""
    def fill(file):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(DOCUMENT, json.dumps({"infeed": KIND, "format": FORMAT, **document, "arrays": len(arrays)}, indent=1) + "\n")
            for number, array in enumerate(arrays):
                with archive.open(f"{number:05}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asanyarray(array, order="C"), allow_pickle=False)

    _durable.replace(path, fill)


def read(path, arrays=True):
    """(document, arrays) of an archive, checked; without the arrays, where only the document is wanted."""
    with open(path, "rb") as file:
        return _checked(path, file, arrays)


def _checked(path, file, arrays):
    try:
        with zipfile.ZipFile(file) as archive:
            document = json.loads(archive.read(DOCUMENT).decode())
            if not isinstance(document, dict) or document.get("infeed") != KIND:
                raise _checkpoint.lost(path, f"{path} is no backup of infeed's")
            _checkpoint.check_format(path, document, FORMAT)
            names = [f"{n:05}.npy" for n in range(document["arrays"] if arrays else 0)]
            return document, [np.lib.format.read_array(io.BytesIO(archive.read(n)), allow_pickle=False) for n in names]
    except (zipfile.BadZipFile, zlib.error, struct.error, KeyError, TypeError, ValueError, EOFError, OverflowError,
            NotImplementedError, RuntimeError, OSError) as e:  # what zipfile and NumPy make of damage
        if isinstance(e, StateMismatchError) or isinstance(e, OSError) and e.errno != errno.EINVAL:  # a place before the file
            raise
        raise _checkpoint.lost(path, f"{path} is cut off or damaged ({e})") from None


def pack(value, arrays, where="a state"):
    """A nested Python value as JSON has it; its arrays are appended to a list, and stand in it by number."""
    if value is None or isinstance(value, (bool, int, float, str)) and not isinstance(value, np.generic):
        return value
    if isinstance(value, dict):
        if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {k: pack(v, arrays, where) for k, v in value.items()}
        return {"$dict": [[pack(k, arrays, where), pack(v, arrays, where)] for k, v in value.items()]}
    if isinstance(value, list):
        return [pack(v, arrays, where) for v in value]
    if isinstance(value, tuple):
        return {"$tuple": [pack(v, arrays, where) for v in value]}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    array = _array(value, where)
    arrays.append(array)
    return {"$scalar" if isinstance(value, np.generic) else "$array": len(arrays) - 1}


def _array(value, where):
    if not isinstance(value, (np.ndarray, np.generic)):
        if not hasattr(value, "__array__"):
            raise InvalidArgumentError(f"{where} holds a {type(value).__name__}, which a backup cannot; it may hold numbers, text, "
                                       "lists, dicts and arrays")
        import keras

        value = keras.ops.convert_to_numpy(value)
    if np.asarray(value).dtype.hasobject:
        raise InvalidArgumentError(f"{where} holds an array of Python objects, which a backup cannot")
    return np.asarray(value)


def unpack(value, arrays):
    """What `pack` was given."""
    if isinstance(value, list):
        return [unpack(v, arrays) for v in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and (name := next(iter(value))).startswith("$"):
        content = value[name]
        return {"$dict": lambda: {unpack(k, arrays): unpack(v, arrays) for k, v in content},
                "$tuple": lambda: tuple(unpack(v, arrays) for v in content),
                "$bytes": lambda: bytes.fromhex(content),
                "$scalar": lambda: arrays[content][()],
                "$array": lambda: arrays[content]}[name]()
    return {k: unpack(v, arrays) for k, v in value.items()}
