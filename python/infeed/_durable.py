"""Files that are there whole or not at all, whatever happens while they are written.

A file is written under another name, forced to the disk and renamed; then its folder
is forced to the disk. A crash between any two of these steps leaves the file as it
was. What a crash leaves of the other name is removed by `sweep`.
"""

import errno
import os

from infeed._errors import ResourceExhaustedError

SUFFIX = ".tmp"


def replace(path, write):
    """Puts a file in place: write(file), which gets a binary file, says what is in it."""
    temporary = f"{path}{SUFFIX}"
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as e:
        remove(temporary)
        if isinstance(e, OSError) and e.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ResourceExhaustedError(f"{path} cannot be written, and what was there before is left as it was: {e.strerror}; "
                                         "make room") from e
        raise
    sync_folder(os.path.dirname(path))


def remove(path):
    """Removes a file that may be there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def sync_folder(folder):
    """Has what was renamed or removed in a folder outlive a crash of the machine."""
    handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def numbered(folder, prefix, suffix):
    """Paths of the files `<prefix><number><suffix>` in a folder, by number, in order; none where there is no folder."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return {}
    found = {}
    for name in names:
        number = name[len(prefix):len(name) - len(suffix)]
        if name == f"{prefix}{number}{suffix}" and number.isascii() and number.isdigit():
            found[int(number)] = os.path.join(folder, name)
    return dict(sorted(found.items()))


def sweep(folder, prefix, suffix):
    """Removes what interrupted writes of such files left."""
    for path in numbered(folder, prefix, suffix + SUFFIX).values():
        remove(path)
