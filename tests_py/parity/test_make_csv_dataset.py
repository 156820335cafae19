"""make_csv_dataset. It shuffles unless told otherwise, and has no end unless num_epochs is given."""

from cases import case


def plain(lib, *names, size=2, **more):
    """Files in order, once."""
    names = [lib.path(n) for n in names]
    return lib.make_csv_dataset(names, size, **{"shuffle": False, "num_epochs": 1, **more})


@case([{"id": [1, 2], "name": [b"a", b"b"], "score": [0.5, 1.5]}, {"id": [3], "name": [b"c"], "score": [2.5]}])
def test_one_file(lib):
    return plain(lib, "header.csv")


@case([{"id": [1, 2]}, {"id": [3, 1]}, {"id": [2, 3]}], cardinality=-1, limit=3)
def test_no_end_by_default(lib):
    return lib.make_csv_dataset(lib.path("header.csv"), 2, select_columns=["id"], shuffle=False)


@case([{"id": [1, 2, 3, 1, 2]}, {"id": [3]}])
def test_num_epochs(lib):
    return plain(lib, "header.csv", size=5, num_epochs=2, select_columns=["id"])


@case([({"id": [1, 2], "name": [b"a", b"b"]}, [0.5, 1.5]), ({"id": [3], "name": [b"c"]}, [2.5])])
def test_label_name(lib):
    return plain(lib, "header.csv", label_name="score")


@case([{"id": [1, 2], "score": [0.5, 1.5]}, {"id": [3], "score": [2.5]}])
def test_select_columns(lib):
    return plain(lib, "header.csv", select_columns=["id", "score"])


@case([{"name": [b"a", b"b", b"c"]}])
def test_select_columns_by_number(lib):
    return plain(lib, "header.csv", size=3, select_columns=[1])


@case([{"x": [1, 2, 3], "y": [b"a", b"b", b"c"], "z": [0.5, 1.5, 2.5]}])
def test_column_names(lib):
    return plain(lib, "rows.csv", size=3, column_names=["x", "y", "z"], header=False)


@case([{"x": [1, 2, 3], "y": [b"a", b"b", b"c"], "z": [0.5, 1.5, 2.5]}])
def test_column_names_instead_of_the_header(lib):
    return plain(lib, "header.csv", size=3, column_names=["x", "y", "z"])


@case([{"id": [1.0, 2.0, 3.0], "name": [b"a", b"b", b"c"], "score": [0.5, 1.5, 2.5]}])
def test_column_defaults(lib):
    return plain(lib, "header.csv", size=3, column_defaults=[lib.float32, lib.string, lib.float64])


@case([{"x": [1, 7, 3], "y": [b"a", b"b", b"none"], "z": [-1.0, 1.5, 2.5]}])
def test_column_defaults_for_gaps(lib):
    return plain(lib, "gaps.csv", size=3, column_names=["x", "y", "z"], header=False, column_defaults=[[7], ["none"], [-1.0]])


@case([{"x": [1, 0, 3], "y": [b"a", b"b", b""], "z": [0.0, 1.5, 2.5]}])
def test_gaps_of_inferred_columns(lib):
    return plain(lib, "gaps.csv", size=3, column_names=["x", "y", "z"], header=False)


@case([{"a": [1, 2], "b": [1.5, 2.0], "c": [b"x", b"y"], "d": [3000000000, 4]}])
def test_inferred_types(lib):
    return plain(lib, "mixed.csv")


@case([{"a": [1, 2], "b": [1.5, 2.0], "c": [b"x", b"y"], "d": [3000000000, 4]}])
def test_rows_for_inference(lib):
    return plain(lib, "mixed.csv", num_rows_for_inference=1)


@case([{"x": [1, 2], "y": [b"", b"b"], "z": [0.5, 0.0]}])
def test_na_value(lib):
    return plain(lib, "na.csv", column_names=["x", "y", "z"], header=False, na_value="NA")


@case([{"x": [1, 2, 3], "y": [b"a", b"b", b"c"], "z": [0.5, 1.5, 2.5]}])
def test_field_delim(lib):
    return plain(lib, "semicolon.csv", size=3, column_names=["x", "y", "z"], header=False, field_delim=";")


@case([{"x": [1, 2], "y": [b"a,b", b'say "hi"'], "z": [0.5, 1.5]}], limit=1)
def test_quotes(lib):
    return plain(lib, "quoted.csv", column_names=["x", "y", "z"], header=False)


@case([{"id": [1, 2, 3], "name": [b"a", b"b", b"c"], "score": [0.5, 1.5, 2.5]}])
def test_compression_type(lib):
    return plain(lib, "header.csv.zlib", size=3, compression_type="ZLIB", column_names=["id", "name", "score"],
                 column_defaults=[lib.int32, lib.string, lib.float32])


@case([{"id": [1, 2, 3, 4]}])
def test_two_files(lib):
    return plain(lib, "header.csv", "second.csv", size=4, select_columns=["id"])


@case([{"id": [1, 4, 2, 3]}])
def test_num_parallel_reads(lib):
    return plain(lib, "header.csv", "second.csv", size=4, select_columns=["id"], num_parallel_reads=2)


@case([{"id": [1, 2, 3]}])
def test_pattern(lib):
    return plain(lib, "heade?.csv", size=3, select_columns=["id"])


@case([{"id": [1, 2]}, {"id": [3]}])
def test_sloppy_and_prefetch(lib):
    return plain(lib, "header.csv", select_columns=["id"], sloppy=True, prefetch_buffer_size=2)


@case([{"id": [1, 2, 3]}, {"id": [1, 2, 3]}])
def test_batches_of_a_multiple(lib):
    return plain(lib, "header.csv", size=3, num_epochs=2, select_columns=["id"])


def each_once(got):
    return sorted(x for batch in got for x in batch["id"]) == [1, 2, 3]


@case(order="law", law=each_once, passes=None)
def test_shuffled(lib):
    return plain(lib, "header.csv", shuffle=True, shuffle_buffer_size=10, shuffle_seed=1, select_columns=["id"])


@case([{"x": [1, 2], "y": [b"a", b"b"]}])
def test_bad_value_in_a_column_that_is_not_selected(lib):
    return plain(lib, "bad_float.csv", column_names=["x", "y", "z"], header=False, select_columns=["x", "y"],
                 column_defaults=[lib.int32, lib.string])


@case([{"x": [1], "y": [b"a"]}])
def test_ignore_errors(lib):
    return plain(lib, "bad_int.csv", column_names=["x", "y", "z"], header=False, ignore_errors=True, select_columns=["x", "y"],
                 column_defaults=[lib.int32, lib.string])


@case([], raises="InvalidArgument")
def test_bad_value(lib):
    return plain(lib, "bad_float.csv", column_names=["x", "y", "z"], header=False, column_defaults=[lib.int32, lib.string, lib.float32])


@case([], raises="Value")
def test_headers_differ(lib):
    return plain(lib, "header.csv", "other_header.csv")


@case([], raises="Value")
def test_no_file_matches(lib):
    return plain(lib, "none*.csv")


@case([], raises="Value")
def test_label_is_no_column(lib):
    return plain(lib, "header.csv", label_name="price")


@case([], raises="Value")
def test_selected_is_no_column(lib):
    return plain(lib, "header.csv", select_columns=["price"])


@case([], raises="Value")
def test_column_named_twice(lib):
    return plain(lib, "rows.csv", column_names=["x", "x", "z"], header=False)


@case([], raises="InvalidArgument")
def test_wrong_number_of_defaults(lib):
    return plain(lib, "header.csv", column_defaults=[lib.int32])
