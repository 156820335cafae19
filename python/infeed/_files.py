"""Datasets of files: TFRecordDataset, TextLineDataset, FixedLengthRecordDataset, CsvDataset."""

import base64

import numpy as np

from infeed import _arguments, _arrays, _definition, _template
from infeed._dataset import Dataset
from infeed._errors import InvalidArgumentError
from infeed._sources import paths_of
from infeed._spec import Structure, dtype_of

_LEAF = Structure("leaf")
_ERRORS = ("raise", "skip", "truncate")


def policy(op, errors):
    """InvalidArgumentError for what is no way to treat what is damaged."""
    if errors not in _ERRORS:
        raise InvalidArgumentError(f'{op}: errors is {errors!r}; it must be "raise", "skip" or "truncate"')


class _Files(Dataset):
    """A dataset of what is in files."""

    def __init__(self, op, filenames, compression_type, buffer_size, num_parallel_reads, errors, args=None, structure=_LEAF):
        policy(op, errors)
        super().__init__(_definition.Node(op, {
            "filenames": paths_of(filenames, f"{op}: filenames"), "compression_type": _text(op, "compression_type", compression_type or ""),
            "buffer_size": None if buffer_size is None else _arguments.integer(op, "buffer_size", buffer_size),
            "num_parallel_reads": None if num_parallel_reads is None else _arguments.integer(op, "num_parallel_reads", num_parallel_reads),
            "errors": errors, **(args or {})}, structure=structure))


class _Records(_Files):
    def indexed(self):
        """The same records with random access: the files are looked through once, when the dataset is first used.

        Raises InvalidArgumentError for compressed files, which have no places to go to.

        Example:
            >>> import infeed, tempfile, pathlib
            >>> f = pathlib.Path(tempfile.mkdtemp()) / "lines"
            >>> _ = f.write_text("a\\nb\\nc\\n")
            >>> infeed.TextLineDataset(f).indexed()[2]
            b'c'
        """
        return self._apply("indexed")


class TFRecordDataset(_Records):
    """The records of TFRecord files, as bytes.

    filenames: a path, or paths. compression_type: None, "", "NONE", "GZIP", "ZLIB",
    "ZSTD", or "AUTO", which recognises these by content. buffer_size: bytes to read at
    a time. num_parallel_reads: how many files are read in turn, a record of each.
    errors: "raise" (DataLossError at damage), "skip" (damaged records are left out
    and counted) or "truncate" (a torn tail is the end).

    Example:
        >>> import infeed, tempfile, pathlib
        >>> path = str(pathlib.Path(tempfile.mkdtemp()) / "x.tfrecord")
        >>> with infeed.io.TFRecordWriter(path) as w:
        ...     w.write(b"one"); w.write(b"two")
        >>> list(infeed.TFRecordDataset(path))
        [b'one', b'two']
    """

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None, *, errors="raise"):
        super().__init__("TFRecordDataset", filenames, compression_type, buffer_size, num_parallel_reads, errors)


class TextLineDataset(_Records):
    """The lines of text files, as bytes without their ends. Arguments are TFRecordDataset's.

    Example:
        >>> import infeed, tempfile, pathlib
        >>> f = pathlib.Path(tempfile.mkdtemp()) / "lines"
        >>> _ = f.write_text("one\\ntwo")
        >>> list(infeed.TextLineDataset(f))
        [b'one', b'two']
    """

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None, *, errors="raise"):
        super().__init__("TextLineDataset", filenames, compression_type, buffer_size, num_parallel_reads, errors)


class FixedLengthRecordDataset(_Records):
    """What files hold, record_bytes at a time, as bytes. Other arguments are TFRecordDataset's.

    header_bytes and footer_bytes of each file are left out. Raises DataLossError at
    its place for a file whose size does not fit.

    Example:
        >>> import infeed, tempfile, pathlib
        >>> f = pathlib.Path(tempfile.mkdtemp()) / "data"
        >>> _ = f.write_bytes(b"HEADabcdef")
        >>> list(infeed.FixedLengthRecordDataset(f, 3, header_bytes=4))
        [b'abc', b'def']
    """

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None, compression_type=None,
                 num_parallel_reads=None, name=None, *, errors="raise"):
        op = "FixedLengthRecordDataset"
        sizes = {n: _arguments.integer(op, n, 0 if v is None else v) for n, v in
                 (("record_bytes", record_bytes), ("header_bytes", header_bytes), ("footer_bytes", footer_bytes))}
        super().__init__(op, filenames, compression_type, buffer_size, num_parallel_reads, errors, sizes)


class CsvDataset(_Files):
    """The rows of CSV files, as tuples of scalars.

    record_defaults: for each column a dtype ("float32", "int64", object or str, ...)
    where each row must have a value, or the value that an empty field stands for.
    header: leave out the first row of each file. use_quote_delim: fields may be in
    double quotes, and hold newlines and delimiters then. na_value: text that counts
    as an empty field. select_cols or exclude_cols: indices of the fields to take, or
    not to. Other arguments are TFRecordDataset's; errors="skip" leaves out bad rows.

    Example:
        >>> import infeed, tempfile, pathlib
        >>> f = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
        >>> _ = f.write_text('n,name\\n1,"a, b"\\n,c\\n')
        >>> [(int(n), name) for n, name in infeed.CsvDataset(f, [0, str], header=True)]
        [(1, b'a, b'), (0, b'c')]
    """

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False, field_delim=",",
                 use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None, name=None, *, errors="raise"):
        if isinstance(record_defaults, (str, bytes, type)) or not hasattr(record_defaults, "__iter__"):
            raise InvalidArgumentError(f"CsvDataset: record_defaults is {record_defaults!r:.100}; a list of dtypes or values, one for each column, is needed")
        columns = [_column(i, value) for i, value in enumerate(record_defaults)]
        args = {"record_defaults": columns, "header": bool(header), "field_delim": _text("CsvDataset", "field_delim", field_delim),
                "use_quote_delim": bool(use_quote_delim), "na_value": _text("CsvDataset", "na_value", na_value),
                "select_cols": _columns("select_cols", select_cols), "exclude_cols": _columns("exclude_cols", exclude_cols)}
        super().__init__("CsvDataset", filenames, compression_type, buffer_size, None, errors, args,
                         Structure("tuple", items=(_LEAF,) * len(columns)))


def _text(op, name, value):
    if _template.argument(value) is None and not isinstance(value, str):
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; a str is needed")
    return value


def _columns(name, value):
    return None if value is None else [_arguments.integer("CsvDataset", name, i) for i in _arguments.items("CsvDataset", name, value)]


def _column(i, value):
    """A column as the engine reads it: its dtype, and the default in base64, or None where values are required."""
    what = f"CsvDataset: record_defaults[{i}]"
    if isinstance(value, str) and value in _OTHER_DTYPES:
        raise InvalidArgumentError(f"{what} is {value!r}, of which columns cannot be; give int32, int64, float32, float64 or str, or "
                                   f"{value.encode()!r} for that text as a default")
    if isinstance(value, (type, np.dtype)) or hasattr(value, "as_numpy_dtype") or isinstance(value, str) and _names_dtype(value):
        return {"dtype": _definition.code(dtype_of(value, what)), "default": None}
    a, dtype = _arrays.tensor(value, what)
    if a.size > 1:
        raise InvalidArgumentError(f"{what} is {value!r:.100}; a dtype, or one value, is needed")
    if not a.size:
        return {"dtype": _definition.code(dtype), "default": None}
    raw = a.tobytes()
    if dtype.hasobject:
        one = np.ravel(np.asarray(value, object))[0]
        raw = one.encode() if isinstance(one, str) else bytes(one)
    return {"dtype": _definition.code(dtype), "default": base64.b64encode(raw).decode()}


_OTHER_DTYPES = frozenset("bool bytes complex128 complex64 complex double float float16 half int int16 int8 long str "
                          "uint16 uint32 uint64 uint8 bfloat16".split())


def _names_dtype(text):
    return text in ("float32", "float64", "int32", "int64", "object", "string")
