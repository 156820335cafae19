"""The arguments of decode_csv, as the engine reads them (core/op/io_csv.go)."""

import numpy as np

from infeed import _arguments, _arrays
from infeed._errors import InvalidArgumentError
from infeed._features import TEXT, encoded, text_of

_DTYPES = tuple(np.dtype(t) for t in ("int32", "int64", "float32", "float64")) + (TEXT,)


def of(record_defaults, field_delim, use_quote_delim, na_value, select_cols):
    """The dtypes of the columns, and the attributes of the operation."""
    defaults = _arguments.items("decode_csv", "record_defaults", record_defaults)
    delim = text_of(field_delim, "decode_csv: field_delim")
    if len(delim) != 1:
        raise InvalidArgumentError(f"decode_csv: field_delim is {field_delim!r:.60}; give one byte, such as ','")
    if not isinstance(use_quote_delim, (bool, np.bool_)):
        raise TypeError(f"decode_csv: use_quote_delim is {use_quote_delim!r:.60}; give True or False")
    select = None if select_cols is None else _selected(select_cols, len(defaults))
    if not defaults:
        raise InvalidArgumentError("decode_csv: record_defaults are empty; describe one column at least")
    dtypes, columns = [], []
    for i, value in enumerate(defaults):
        dtype, default = _default(i, value)
        dtypes.append(dtype)
        columns.append({"dtype": "|O8" if dtype == TEXT else dtype.str, "default": default})
    attrs = {"columns": columns, "delim": encoded(delim), "plain": not use_quote_delim, "select": select,
             "missing": encoded(text_of(na_value, "decode_csv: na_value"))}
    return dtypes, attrs


def _selected(select_cols, columns):
    select = [_arguments.integer("decode_csv", "select_cols", i) for i in _arguments.items("decode_csv", "select_cols", select_cols)]
    if len(select) != columns:
        raise InvalidArgumentError(f"decode_csv: select_cols has {len(select)} fields, and record_defaults {columns}; give each a "
                                   "default")
    if any(a >= b for a, b in zip(select, select[1:])):
        raise InvalidArgumentError(f"decode_csv: select_cols {select} have to rise")
    if select and select[0] < 0:
        raise InvalidArgumentError(f"decode_csv: select_cols {select} have to be 0 or more")
    return select


def _default(i, value):
    """The dtype of a column, and its default as JSON has it; None where values are required."""
    what = f"decode_csv: record_defaults[{i}]"
    if value is None:
        raise InvalidArgumentError(f"{what} is None; give a default, or [] where values are required")
    a, dtype = _arrays.as_array([value] if np.isscalar(value) else value, what)
    if a.ndim > 1 or a.size > 1:
        raise InvalidArgumentError(f"{what} has the shape {a.shape}; give one value, or none where values are required")
    if dtype not in _DTYPES:
        raise InvalidArgumentError(f"{what} is of {dtype}; columns are int32, int64, float32, float64 or text")
    if not a.size:
        return dtype, None
    if dtype == TEXT:
        return dtype, encoded(text_of(np.ravel(np.asarray(value, object))[0], what))
    return dtype, encoded(a.tobytes())
