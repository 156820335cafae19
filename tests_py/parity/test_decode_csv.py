"""io.decode_csv."""

from cases import case


def decoded(lib, lines, defaults, **more):
    return lib.Dataset.from_tensor_slices(lines).map(lambda s: tuple(lib.io.decode_csv(s, defaults, **more)))


@case([(1, b"a", 0.5), (2, b"b", 1.5)])
def test_defaults(lib):
    return decoded(lib, ["1,a,0.5", "2,b,1.5"], [[0], [""], [0.0]])


@case([(1, 9), (9, 2)])
def test_empty_fields(lib):
    return decoded(lib, ["1,", ",2"], [[9], [9]])


@case([([1, 2], [0.5, 1.5])])
def test_batch(lib):
    ds = lib.Dataset.from_tensor_slices(["1,0.5", "2,1.5"]).batch(2)
    return ds.map(lambda s: tuple(lib.io.decode_csv(s, [[0], [0.0]])))


@case([(1, 2)])
def test_field_delim(lib):
    return decoded(lib, ["1;2"], [[0], [0]], field_delim=";")


@case([(b"a,b", b'say "hi"')])
def test_quotes(lib):
    return decoded(lib, ['"a,b","say ""hi"""'], [[""], [""]])


@case([(b'"a', b'b"')])
def test_no_quotes(lib):
    return decoded(lib, ['"a,b"'], [[""], [""]], use_quote_delim=False)


@case([(1, -1), (-1, 2)])
def test_na_value(lib):
    return decoded(lib, ["1,NA", "NA,2"], [[-1], [-1]], na_value="NA")


@case([(b"b", 2)])
def test_select_cols(lib):
    return decoded(lib, ["1,b,2"], [[""], [0]], select_cols=[1, 2])


@case([(b" a ", 1.5)])
def test_spaces(lib):
    return decoded(lib, [" a , 1.5 "], [[""], [0.0]])


@case([(3000000000, 0.1)])
def test_dtypes(lib):
    return decoded(lib, ["3000000000,0.1"], [lib.array([0], lib.int64), lib.array([0.0], lib.float64)])


@case([(1,), (2,)])
def test_one_column(lib):
    return decoded(lib, ["1", "2"], [[0]])


@case([(b"two\nlines", 1)])
def test_newline_in_quotes(lib):
    return decoded(lib, ['"two\nlines",1'], [[""], [0]])


@case([(1, 2)], raises="InvalidArgument")
def test_required_field_is_empty(lib):
    return decoded(lib, ["1,2", "1,"], [lib.array([], lib.int32), lib.array([], lib.int32)])


@case([], raises="InvalidArgument")
def test_bad_int(lib):
    return decoded(lib, ["x"], [[0]])


@case([], raises="InvalidArgument")
def test_bad_float(lib):
    return decoded(lib, ["1.5x"], [[0.0]])


@case([], raises="InvalidArgument")
def test_int32_overflow(lib):
    return decoded(lib, ["3000000000"], [[0]])


@case([], raises="InvalidArgument")
def test_too_few_fields(lib):
    return decoded(lib, ["1"], [[0], [0]])


@case([], raises="InvalidArgument")
def test_too_many_fields(lib):
    return decoded(lib, ["1,2,3"], [[0], [0]])


@case([], raises="InvalidArgument")
def test_quote_that_never_ends(lib):
    return decoded(lib, ['"a,1'], [[""], [0]])


@case([], raises="InvalidArgument")
def test_quote_inside_a_field(lib):
    return decoded(lib, ['a"b,1'], [[""], [0]])


@case([], raises="InvalidArgument")
def test_delimiter_of_two_characters(lib):
    return decoded(lib, ["1,,2"], [[0], [0]], field_delim=",,")


@case([], raises="Value")
def test_unsorted_select_cols(lib):
    return decoded(lib, ["1,2"], [[0], [0]], select_cols=[1, 0])
