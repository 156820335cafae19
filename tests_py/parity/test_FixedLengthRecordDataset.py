"""FixedLengthRecordDataset."""

from cases import case, expect

REST = "A file that is no multiple of the record is damage"


@case([b"aa", b"bb", b"cc"], cardinality=-2)
def test_record_bytes(lib):
    return lib.FixedLengthRecordDataset(lib.path("fixed.bin"), 2)


@case([b"aab", b"bcc"])
def test_other_record_bytes(lib):
    return lib.FixedLengthRecordDataset(lib.path("fixed.bin"), record_bytes=3)


@case([b"HHa", b"abb", b"ccF"])
def test_no_header(lib):
    return lib.FixedLengthRecordDataset(lib.path("framed.bin"), 3)


@case([b"aa", b"bb", b"cc"])
def test_header_and_footer(lib):
    return lib.FixedLengthRecordDataset(lib.path("framed.bin"), 2, header_bytes=2, footer_bytes=1)


@case([b"aa", b"bb", b"cc"])
def test_footer_of_an_odd_tail(lib):
    return lib.FixedLengthRecordDataset(lib.path("tail.bin"), 2, footer_bytes=1)


@case([b"aa", b"bb", b"cc", b"aa", b"bb", b"cc"])
def test_list_of_files(lib):
    return lib.FixedLengthRecordDataset([lib.path("fixed.bin")] * 2, 2)


@case([b"aa", b"bb", b"cc"])
def test_dataset_of_files(lib):
    return lib.FixedLengthRecordDataset(lib.Dataset.from_tensors(lib.path("fixed.bin")), 2)


@case([b"aa", b"bb", b"cc"])
def test_buffer_size(lib):
    return lib.FixedLengthRecordDataset(lib.path("fixed.bin"), 2, buffer_size=1)


@case([b"aa", b"bb", b"cc"])
def test_gzip(lib):
    return lib.FixedLengthRecordDataset(lib.path("fixed.bin.gz"), 2, compression_type="GZIP")


@case([b"aa", b"bb", b"cc"])
def test_zlib_with_header_and_footer(lib):
    return lib.FixedLengthRecordDataset(lib.path("framed.bin.zlib"), 2, 2, 1, compression_type="ZLIB")


@case([b"aa", b"aa", b"bb", b"bb", b"cc", b"cc"])
def test_parallel_reads(lib):
    return lib.FixedLengthRecordDataset([lib.path("fixed.bin")] * 2, 2, num_parallel_reads=2)


@case([])
def test_empty_file(lib):
    return lib.FixedLengthRecordDataset(lib.path("empty.bin"), 2)


@case([[b"aa", b"bb"], [b"cc"]])
def test_batched(lib):
    return lib.FixedLengthRecordDataset(lib.path("fixed.bin"), 2).batch(2)


@case([], raises="InvalidArgument", infeed=expect(raises="DataLoss"), differs=REST)
def test_size_is_no_multiple(lib):
    return lib.FixedLengthRecordDataset(lib.path("tail.bin"), 2)


@case([], raises="InvalidArgument", infeed=expect(raises="DataLoss"), differs=REST)
def test_shorter_than_the_header(lib):
    return lib.FixedLengthRecordDataset(lib.path("short.bin"), 2, header_bytes=2)


@case([b"aa", b"bb", b"cc"], raises="DataLoss")
def test_gzip_of_an_odd_tail(lib):
    return lib.FixedLengthRecordDataset(lib.path("tail.bin.gz"), 2, compression_type="GZIP")


@case([], raises="InvalidArgument")
def test_record_bytes_zero(lib):
    return lib.FixedLengthRecordDataset(lib.path("fixed.bin"), 0)


@case([], raises="InvalidArgument")
def test_negative_header(lib):
    return lib.FixedLengthRecordDataset(lib.path("fixed.bin"), 2, header_bytes=-1)


@case([], raises="InvalidArgument")
def test_negative_footer(lib):
    return lib.FixedLengthRecordDataset(lib.path("fixed.bin"), 2, footer_bytes=-1)


@case([], raises="NotFound")
def test_missing_file(lib):
    return lib.FixedLengthRecordDataset(lib.path("none.bin"), 2)
