"""TextLineDataset."""

from cases import case, expect

LINES = [b"one", b"two", b"", b"four"]


@case(LINES, cardinality=-2)
def test_one_file(lib):
    return lib.TextLineDataset(lib.path("lines.txt"))


@case([*LINES, b"five"])
def test_list_of_files(lib):
    return lib.TextLineDataset([lib.path("lines.txt"), lib.path("more.txt")])


@case([b"five", b"one", b"two"])
def test_dataset_of_files(lib):
    names = lib.Dataset.from_tensor_slices([lib.path("more.txt"), lib.path("open.txt")])
    return lib.TextLineDataset(names)


@case([b"one", b"two"])
def test_no_newline_at_the_end(lib):
    return lib.TextLineDataset(lib.path("open.txt"))


@case([b"one", b"two", b"five"])
def test_no_newline_at_the_end_of_the_first_file(lib):
    return lib.TextLineDataset([lib.path("open.txt"), lib.path("more.txt")])


@case([b"one", b"two"])
def test_crlf(lib):
    return lib.TextLineDataset(lib.path("crlf.txt"))


@case([b"ab", b"c"], infeed=expect([b"a\rb", b"c"]), differs="Carriage returns inside a line are kept")
def test_carriage_return_inside(lib):
    return lib.TextLineDataset(lib.path("inner.txt"))


@case([b"", b""])
def test_empty_lines(lib):
    return lib.TextLineDataset(lib.path("newlines.txt"))


@case([])
def test_empty_file(lib):
    return lib.TextLineDataset(lib.path("empty.txt"))


@case(["h\u00e9".encode(), "\u65e5".encode()])
def test_utf8(lib):
    return lib.TextLineDataset(lib.path("utf8.txt"))


@case([b"a\0b", b"c"])
def test_nul(lib):
    return lib.TextLineDataset(lib.path("nul.txt"))


@case(LINES)
def test_gzip(lib):
    return lib.TextLineDataset(lib.path("lines.txt.gz"), compression_type="GZIP")


@case([*LINES, b"five"])
def test_gzip_of_two_members(lib):
    return lib.TextLineDataset(lib.path("members.txt.gz"), "GZIP")


@case(LINES)
def test_zlib(lib):
    return lib.TextLineDataset(lib.path("lines.txt.zlib"), compression_type="ZLIB")


@case(LINES)
def test_buffer_size(lib):
    return lib.TextLineDataset(lib.path("lines.txt"), buffer_size=2)


@case([b"one", b"five", b"two", b"", b"four"])
def test_parallel_reads(lib):
    return lib.TextLineDataset([lib.path("lines.txt"), lib.path("more.txt")], num_parallel_reads=2)


@case([b"two", b""])
def test_skip_and_take(lib):
    return lib.TextLineDataset(lib.path("lines.txt")).skip(1).take(2)


@case([], raises="NotFound")
def test_missing_file(lib):
    return lib.TextLineDataset(lib.path("none.txt"))


@case([], raises="DataLoss")
def test_plain_read_as_gzip(lib):
    return lib.TextLineDataset(lib.path("lines.txt"), "GZIP")


@case([], raises="InvalidArgument")
def test_unknown_compression(lib):
    return lib.TextLineDataset(lib.path("lines.txt"), "LZ4")
