"""The exceptions of infeed, one for each kind of error of the engine.

The numbers are those of core/errs in Go; a test compares them.
"""

import builtins

__all__ = ["Error"]


class Error(Exception):
    """Base of all errors of infeed.

    Example:
        >>> import infeed
        >>> issubclass(infeed.InvalidArgumentError, infeed.Error)
        True
    """

    kind = 0


class InvalidArgumentError(Error, ValueError):
    """An argument or a batch is not what it has to be."""

    kind = 1


class NotFoundError(Error, FileNotFoundError):
    """A file or a directory is not there."""

    kind = 2


class AlreadyExistsError(Error, FileExistsError):
    """A file or a directory is there already."""

    kind = 3


class DataLossError(Error):
    """A file is damaged; `path` and `offset` (bytes) say where."""

    kind = 4
    path = None
    offset = None


class StateMismatchError(Error, ValueError):
    """A state belongs to another dataset."""

    kind = 5


class ResourceExhaustedError(Error, MemoryError):
    """Memory, descriptors or another resource ran out."""

    kind = 6


class WorkerError(Error, RuntimeError):
    """A worker failed; `index` is the batch, `exitcode` the process's status (a signal negated) or None."""

    kind = 7
    index = None
    exitcode = None


class TimeoutError(Error, builtins.TimeoutError):
    """A batch took longer than `timeout` seconds."""

    kind = 8


class ForkedProcessError(Error, RuntimeError):
    """The engine was used in a process forked from one that used it before."""

    kind = 9


class CancelledError(Error):
    """A dataset or iterator was closed while it was in use."""

    kind = 10


class UnimplementedError(Error, NotImplementedError):
    """This cannot be done yet."""

    kind = 11


class InternalError(Error):
    """A fault of infeed; please report it."""

    kind = 12


BY_KIND = {c.kind: c for c in list(globals().values()) if isinstance(c, type) and issubclass(c, Error) and c.kind}
__all__ += [c.__name__ for c in BY_KIND.values()]


def from_status(status, text):
    """The exception for a negative status of the library."""
    return BY_KIND.get(-status, InternalError)(text)
