"""make_csv_dataset: batches of the columns of CSV files, by name."""

import codecs
import collections
import csv
import functools
import glob
import io
import itertools

import numpy as np

from infeed import _arguments
from infeed._dataset import Dataset
from infeed._errors import InvalidArgumentError
from infeed._files import CsvDataset, TextLineDataset, policy
from infeed._options import Options
from infeed._sources import paths_of

_OP = "make_csv_dataset"
_TYPES = (np.dtype("int32"), np.dtype("int64"), np.dtype("float32"), np.dtype("float64"), np.dtype(object))


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None, select_columns=None,
                     field_delim=",", use_quote_delim=True, na_value="", header=True, num_epochs=None, shuffle=True,
                     shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False,
                     num_rows_for_inference=100, compression_type=None, ignore_errors=False, encoding="utf-8", *,
                     errors="raise"):
    """Batches of CSV files as dicts of columns, in each epoch in another order.

    file_pattern: a path or pattern, or a list of them. column_names: None takes them
    from the header of the first file, and without a header they are needed.
    column_defaults: a dtype (a value is required) or default value for each column
    taken; None infers dtypes from the first num_rows_for_inference rows. label_name:
    the column that comes apart: (columns, label). select_columns: names or indices.
    num_epochs: how many times; None: without end, and then all batches are full.
    num_parallel_reads: how many files are read in turn, a row of each. ignore_errors:
    leave out bad rows, as errors="skip". Other arguments are CsvDataset's; sloppy and
    prefetch_buffer_size change nothing. Raises InvalidArgumentError where no file
    matches, and for columns that do not exist.

    Example:
        >>> import infeed, tempfile, pathlib
        >>> f = pathlib.Path(tempfile.mkdtemp()) / "x.csv"
        >>> _ = f.write_text("a,b\\n1,x\\n2,y\\n")
        >>> ds = infeed.make_csv_dataset(str(f), 2, label_name="b", num_epochs=1, shuffle=False)
        >>> columns, label = next(iter(ds))
        >>> columns["a"].tolist(), label.tolist()
        ([1, 2], [b'x', b'y'])
    """
    size = _arguments.integer(_OP, "batch_size", batch_size)
    files = _files(file_pattern)
    if not isinstance(field_delim, str) or len(field_delim) != 1 or field_delim in '"\r\n':
        raise InvalidArgumentError(f"{_OP}: field_delim is {field_delim!r:.60}; give one character, such as a comma or a tab")
    if not _known(encoding):
        raise InvalidArgumentError(f"{_OP}: encoding is {encoding!r:.60}; give one that Python knows, such as utf-8")
    dialect = {"delimiter": field_delim, "quoting": csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE}
    policy(_OP, errors)
    strict = errors == "raise"  # tf.data's ignore_errors is not for the rows that dtypes are found in
    if ignore_errors and strict:
        errors = "skip"
    read = functools.partial(_rows, dialect=dialect, compression_type=compression_type, encoding=encoding, errors=errors)
    names = _names(files, column_names, header, read)
    chosen = _chosen(names, select_columns)
    if column_defaults is None:
        wanted = _inferred(files, names, chosen, header, read, na_value, num_rows_for_inference, strict)
    else:
        wanted = list(column_defaults)
        if len(wanted) == len(names) != len(chosen):
            wanted = [wanted[i] for i in chosen]
        if len(wanted) != len(chosen):
            raise InvalidArgumentError(f"{_OP}: column_defaults has {len(wanted)} values for {len(chosen)} columns; give each one")
    kept = [names[i] for i in chosen]
    if label_name is not None and label_name not in kept:
        raise InvalidArgumentError(f"{_OP}: label_name {label_name!r} is none of the columns {kept}")

    def rows(paths):
        return CsvDataset(paths, wanted, compression_type, header=header, field_delim=field_delim, use_quote_delim=use_quote_delim,
                          na_value=na_value, select_cols=chosen, errors=errors)

    reads = 1 if num_parallel_reads is None else _arguments.integer(_OP, "num_parallel_reads", num_parallel_reads)
    if reads > 1:
        ds = Dataset.from_tensor_slices(files).interleave(rows, cycle_length=reads)
    else:
        ds = rows(files)
    if shuffle:
        ds = ds.shuffle(shuffle_buffer_size, shuffle_seed)
    ds = ds.repeat(num_epochs).batch(size, drop_remainder=num_epochs is None)
    return ds.map(_named(kept, label_name))


def _named(names, label_name):
    """The function that makes dicts of columns."""
    def columns(*values):
        found = collections.OrderedDict(zip(names, values))
        if label_name is None:
            return found
        label = found.pop(label_name)
        return found, label

    return columns


def _files(pattern):
    found = []
    for p in paths_of(pattern, f"{_OP}: file_pattern"):
        matches = sorted(glob.glob(p))
        if not matches:
            raise InvalidArgumentError(f"{_OP}: no file matches {p!r}; look at the folder and the pattern")
        found += matches
    if not found:
        raise InvalidArgumentError(f"{_OP}: file_pattern is an empty list; a path, or a list of paths, is needed")
    return found


def _known(encoding):
    try:
        return bool(codecs.lookup(encoding))
    except (LookupError, TypeError):
        return False


def _rows(path, dialect, compression_type, encoding, errors):
    """The rows of a file as lists of text."""
    try:
        yield from csv.reader(_lines(path, compression_type, encoding, errors), **dialect)
    except csv.Error as e:
        raise InvalidArgumentError(f"{_OP}: the first rows of {path} cannot be read ({e}); give column_names and column_defaults") from e


def _lines(path, compression_type, encoding, errors):
    """The lines of a file, without a mark of the order of bytes before the first one, as CsvDataset reads it."""
    options = Options()
    options.threading.private_threadpool_size = 0
    lines = iter(TextLineDataset(path, compression_type, errors=errors).with_options(options))
    for number, line in enumerate(lines):
        text = line.removeprefix(codecs.BOM_UTF8 if number == 0 else b"").decode(encoding, "surrogateescape")
        yield from io.StringIO(text + "\n", newline="")  # rows may also end with a carriage return alone


def _names(files, column_names, header, read):
    if column_names is not None:
        names = list(column_names)
    elif not header:
        raise InvalidArgumentError(f"{_OP}: without a header, column_names are needed")
    else:
        names = None
        for path in files:
            first = next(read(path), None)
            if first is None:
                raise InvalidArgumentError(f"{_OP}: {path} is empty; a header was expected")
            if not first:
                raise InvalidArgumentError(f"{_OP}: the first row of {path} is empty; a header was expected")
            if names is not None and first != names:
                raise InvalidArgumentError(f"{_OP}: {path} has the columns {first}; {files[0]} has {names}")
            names = first
    if len(set(names)) != len(names):
        raise InvalidArgumentError(f"{_OP}: a column name comes twice in {names}")
    return names


def _chosen(names, select_columns):
    if select_columns is None:
        return list(range(len(names)))
    found = []
    for c in select_columns:
        if isinstance(c, str):
            if c not in names:
                raise InvalidArgumentError(f"{_OP}: select_columns has {c!r}, which is none of the columns {names}")
            found.append(names.index(c))
        elif 0 <= int(c) < len(names):
            found.append(int(c))
        else:
            raise InvalidArgumentError(f"{_OP}: select_columns has {c}; there are {len(names)} columns")
    if len(set(found)) != len(found):
        raise InvalidArgumentError(f"{_OP}: select_columns {list(select_columns)} names a column twice")
    return sorted(found)


def _inferred(files, names, chosen, header, read, na_value, rows, strict):
    """Defaults of the narrowest dtypes that hold what the first rows have."""
    kinds, seen = [0] * len(chosen), 0
    for path in files:
        for number, row in itertools.islice(enumerate(read(path), 1), 1 if header else 0, None):
            if rows is not None and seen == rows:
                break
            seen += 1
            if len(row) != len(names):
                if not strict:
                    continue
                raise InvalidArgumentError(f"{_OP}: row {number} of {path} has {len(row)} fields, and there are {len(names)} columns; "
                                           'correct it, or leave such rows out with errors="skip"')
            for k, i in enumerate(chosen):
                while row[i] not in ("", na_value) and not _holds(_TYPES[kinds[k]], row[i]):
                    kinds[k] += 1
    return [b"" if _TYPES[k].hasobject else _TYPES[k].type(0) for k in kinds]


def _holds(dtype, text):
    if dtype.hasobject:
        return True
    try:
        if dtype.kind == "i":
            return np.iinfo(dtype).min <= int(text) <= np.iinfo(dtype).max and "_" not in text
        return (abs(float(text)) <= float(np.finfo(dtype).max) or not np.isfinite(float(text))) and "_" not in text
    except ValueError:
        return False
