"""TFRecordWriter: files of records, written by the engine."""

import ctypes
import os
import struct
import threading

from infeed import _native
from infeed._errors import Error, ForkedProcessError, InvalidArgumentError, UnimplementedError

_KINDS = {"": 0, "NONE": 0, "GZIP": 1, "ZLIB": 2, "ZSTD": 3}  # as core/codec numbers them
_USUAL = -1
_GROUP_BYTES, _GROUP = 1 << 16, 1024  # records go to the engine in groups: a call costs more than a small record
_UNDONE = ("flush_mode", "window_bits", "compression_method", "compression_strategy")


class TFRecordOptions:
    """How a TFRecord file is compressed: tf.io.TFRecordOptions, and "ZSTD" with levels 1 to 22.

    `compression_type` is None, "", "NONE", "GZIP", "ZLIB" or "ZSTD"; `compression_level` 0 to 9 for gzip and zlib.
    Sizes of buffers and `mem_level` are accepted and change nothing. Raises InvalidArgumentError for another type or
    level, UnimplementedError for zlib's other options.

    Example:
        >>> from infeed.io import TFRecordOptions
        >>> TFRecordOptions("GZIP", compression_level=9).compression_type
        'GZIP'
    """

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        given = dict(locals())
        if isinstance(compression_type, TFRecordOptions):
            compression_type = compression_type.compression_type
        self.get_compression_type_string(compression_type)
        for name in _UNDONE:
            if given[name] is not None:
                raise UnimplementedError(f"TFRecordOptions: {name}={given[name]!r} cannot be chosen; leave it out")
        self.compression_type, self.compression_level = compression_type, compression_level

    @staticmethod
    def get_compression_type_string(options):
        """The name of the compression of options: "", "GZIP", "ZLIB" or "ZSTD"."""
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        name = "" if not options or options == "NONE" else options
        if not isinstance(name, str) or name not in _KINDS:
            raise InvalidArgumentError(f"TFRecordOptions: {options!r} is no compression_type; give one of None, \"\", "
                                       '"GZIP", "ZLIB", "ZSTD"')
        return name


class TFRecordWriter:
    """Writes records to a TFRecord file, which is new or replaced: tf.io.TFRecordWriter.

    `path` is a str, bytes or path; `options` a compression_type or `TFRecordOptions`. Records of several threads are
    never mixed. The file is whole when `close` has returned, as at the end of `with`. Raises InvalidArgumentError for
    what is no compression, NotFoundError where the folder is missing.

    Example:
        >>> import os, tempfile, infeed
        >>> path = os.path.join(tempfile.mkdtemp(), "two.tfrecord")
        >>> with infeed.io.TFRecordWriter(path) as writer:
        ...     writer.write(b"one")
        ...     writer.write(b"two")
        >>> os.path.getsize(path)
        38
    """

    def __init__(self, path, options=None):
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._path, self._lock, self._closed, self._failed = path, threading.Lock(), True, False
        self._waiting, self._bytes = [], 0
        _native.check_fork()
        self._call = _native.Call()
        level = _USUAL if options.compression_level is None else options.compression_level
        kind = _KINDS[TFRecordOptions.get_compression_type_string(options)]
        self._do("open", os.fsencode(path), (kind, level))
        self._closed = False
        _native.close_at_exit(self)

    def write(self, record):
        """Appends a record: bytes, a bytearray, or a str as UTF-8.

        Raises TypeError for another type, InvalidArgumentError after `close`. A disk that is full may show in a later
        `write`, `flush` or `close`.
        """
        if isinstance(record, str):
            record = record.encode()
        elif isinstance(record, bytearray):
            record = bytes(record)
        elif not isinstance(record, bytes):
            raise TypeError(f"a record is bytes or str; {record!r:.60} is of type {type(record).__name__}")
        with self._lock:
            self._refuse_closed()
            self._waiting.append(record)
            self._bytes += len(record)
            if self._bytes >= _GROUP_BYTES or len(self._waiting) >= _GROUP:
                self._pass_on()

    def flush(self):
        """Hands on what was written, so that readers of the file see it. Raises InvalidArgumentError after `close`."""
        with self._lock:
            self._refuse_closed()
            self._pass_on()
            self._do("flush")

    def close(self):
        """Ends the file, and returns when it would survive a loss of power. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                self._pass_on()
            finally:
                self._do("close")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def __del__(self):
        if not getattr(self, "_closed", True):
            try:
                _native.check_fork()
                self.close()
            except ForkedProcessError:
                pass  # the file is the parent's
            except Error:
                if not self._failed:  # else a call told of it
                    raise

    def __reduce__(self):
        raise TypeError("a TFRecordWriter is an open file, and cannot be pickled; open one where it is used")

    def _refuse_closed(self):
        if self._closed:
            raise InvalidArgumentError(f"TFRecordWriter: {os.fspath(self._path)!r} was closed; it cannot be written any more")

    def _pass_on(self):
        records, self._waiting, self._bytes = self._waiting, [], 0
        if records:
            sizes = struct.pack(f"={len(records)}Q", *map(len, records))
            self._do("write", b"".join([sizes, *records]), (len(records),))

    def _do(self, name, data=b"", args=()):
        s = self._call.struct
        s.data, s.data_bytes = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, len(data)
        try:
            self._call("writer_" + name, args=args)
        except Error:
            self._failed = self._failed or not self._closed
            raise
        finally:
            s.data, s.data_bytes = 0, 0
