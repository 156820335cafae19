"""CsvDataset."""

import tensorflow as tf
from cases import case

ROWS = [(1, b"a", 0.5), (2, b"b", 1.5), (3, b"c", 2.5)]


def types(lib):
    """One dtype a column: all are required."""
    return [lib.int32, lib.string, lib.float32]


@case(ROWS, cardinality=-2)
def test_dtypes(lib):
    return lib.CsvDataset(lib.path("rows.csv"), types(lib))


@case(ROWS, cardinality=-2)
def test_dtypes_of_tensorflow(lib):
    return lib.CsvDataset(lib.path("rows.csv"), [tf.int32, tf.string, tf.float32])


@case(ROWS)
def test_header(lib):
    return lib.CsvDataset(lib.path("header.csv"), types(lib), header=True)


@case([(1, b"a", -1.0), (7, b"b", 1.5), (3, b"", 2.5)])
def test_defaults(lib):
    return lib.CsvDataset(lib.path("gaps.csv"), [[7], [""], [-1.0]])


@case([(1, b"none", 0.5), (2, b"b", -1.0)])
def test_na_value(lib):
    return lib.CsvDataset(lib.path("na.csv"), [[0], ["none"], [-1.0]], na_value="NA")


@case([(1, b"a,b", 0.5), (2, b'say "hi"', 1.5), (3, b"two\nlines", 2.5), (4, b"", 3.5)])
def test_quotes(lib):
    return lib.CsvDataset(lib.path("quoted.csv"), [lib.int32, [""], lib.float32])


@case([(1, b"a,b", 0.5), (2, b'say "hi"', 1.5), (3, b"two\nlines", 2.5)], raises="InvalidArgument")
def test_required_field_is_two_quotes(lib):
    return lib.CsvDataset(lib.path("quoted.csv"), types(lib))


@case([(1, b'"a', b'b"', b"0.5")], raises="InvalidArgument")
def test_no_quotes(lib):
    return lib.CsvDataset(lib.path("quoted.csv"), [lib.int32, lib.string, lib.string, lib.string], use_quote_delim=False)


@case(ROWS)
def test_delimiter(lib):
    return lib.CsvDataset(lib.path("semicolon.csv"), types(lib), field_delim=";")


@case(ROWS)
def test_crlf(lib):
    return lib.CsvDataset(lib.path("crlf.csv"), types(lib))


@case(ROWS)
def test_no_newline_at_the_end(lib):
    return lib.CsvDataset(lib.path("open.csv"), types(lib))


@case([(b"a", 0.5), (b"b", 1.5), (b"c", 2.5)])
def test_select_cols(lib):
    return lib.CsvDataset(lib.path("rows.csv"), [lib.string, lib.float32], select_cols=[1, 2])


@case([(1, 0.5), (2, 1.5), (3, 2.5)])
def test_exclude_cols(lib):
    return lib.CsvDataset(lib.path("rows.csv"), [lib.int32, lib.float32], exclude_cols=[1])


@case([*ROWS, (4, b"d", 3.5)])
def test_list_of_files(lib):
    return lib.CsvDataset([lib.path("rows.csv"), lib.path("more.csv")], types(lib))


@case([*ROWS, (4, b"d", 3.5)])
def test_header_of_each_file(lib):
    return lib.CsvDataset([lib.path("header.csv"), lib.path("second.csv")], types(lib), header=True)


@case(ROWS)
def test_gzip(lib):
    return lib.CsvDataset(lib.path("rows.csv.gz"), types(lib), compression_type="GZIP")


@case(ROWS)
def test_zlib_with_header(lib):
    return lib.CsvDataset(lib.path("header.csv.zlib"), types(lib), compression_type="ZLIB", header=True)


@case(ROWS)
def test_buffer_size(lib):
    return lib.CsvDataset(lib.path("rows.csv"), types(lib), buffer_size=3)


@case([(1, b" a ", 0.5)])
def test_spaces_are_kept(lib):
    return lib.CsvDataset(lib.path("spaces.csv"), types(lib))


@case([(1,), (2,)])
def test_one_column(lib):
    return lib.CsvDataset(lib.path("one.csv"), [lib.int64])


@case([(0.5, -2.0, 1000.0)], limit=1)
def test_float64(lib):
    return lib.CsvDataset(lib.path("floats.csv"), [lib.float64] * 3)


@case([(float("inf"), -0.0125)])
def test_infinity(lib):
    return lib.CsvDataset(lib.path("floats.csv"), [lib.float64] * 2, select_cols=[0, 2]).skip(1)


@case([(3000000000, b"a", 0.5)])
def test_int64(lib):
    return lib.CsvDataset(lib.path("big.csv"), [lib.int64, lib.string, lib.float32])


@case([])
def test_empty_file(lib):
    return lib.CsvDataset(lib.path("empty.csv"), types(lib))


@case([])
def test_only_a_header(lib):
    return lib.CsvDataset(lib.path("only_header.csv"), types(lib), header=True)


@case([([1, 2], [b"a", b"b"]), ([3], [b"c"])])
def test_batched(lib):
    return lib.CsvDataset(lib.path("rows.csv"), [lib.int32, lib.string], select_cols=[0, 1]).batch(2)


@case([], raises="InvalidArgument")
def test_int32_overflow(lib):
    return lib.CsvDataset(lib.path("big.csv"), types(lib))


@case([(1, b"a", 0.5)], raises="InvalidArgument")
def test_bad_int(lib):
    return lib.CsvDataset(lib.path("bad_int.csv"), types(lib))


@case([(1, b"a", 0.5)], raises="InvalidArgument")
def test_bad_float(lib):
    return lib.CsvDataset(lib.path("bad_float.csv"), types(lib))


@case([(1, b"a", 0.5)], raises="InvalidArgument")
def test_short_row(lib):
    return lib.CsvDataset(lib.path("short_row.csv"), types(lib))


@case([(1, b"a", 0.5)], raises="InvalidArgument")
def test_long_row(lib):
    return lib.CsvDataset(lib.path("long_row.csv"), types(lib))


@case([], raises="InvalidArgument")
def test_required_field_is_empty(lib):
    return lib.CsvDataset(lib.path("gaps.csv"), types(lib))


@case([(1, b"a", 0.5)], raises="InvalidArgument")
def test_blank_line(lib):
    return lib.CsvDataset(lib.path("blank_line.csv"), types(lib))


@case([], raises="InvalidArgument")
def test_quote_that_never_ends(lib):
    return lib.CsvDataset(lib.path("open_quote.csv"), types(lib))


@case([], raises="InvalidArgument")
def test_quote_inside_a_field(lib):
    return lib.CsvDataset(lib.path("stray_quote.csv"), types(lib))


@case([], raises="NotFound")
def test_missing_file(lib):
    return lib.CsvDataset(lib.path("none.csv"), types(lib))


@case([], raises="InvalidArgument")
def test_more_defaults_than_selected(lib):
    return lib.CsvDataset(lib.path("rows.csv"), types(lib), select_cols=[0])


@case([], raises="InvalidArgument")
def test_unsorted_select_cols(lib):
    return lib.CsvDataset(lib.path("rows.csv"), [lib.float32, lib.string], select_cols=[2, 1])


@case([], raises="InvalidArgument")
def test_select_and_exclude(lib):
    return lib.CsvDataset(lib.path("rows.csv"), [lib.int32], select_cols=[0], exclude_cols=[1, 2])


@case([], raises="InvalidArgument")
def test_delimiter_of_two_characters(lib):
    return lib.CsvDataset(lib.path("rows.csv"), types(lib), field_delim=",,")


@case([], raises="Value")
def test_int8_column(lib):
    return lib.CsvDataset(lib.path("rows.csv"), [lib.int8, lib.string, lib.float32])
