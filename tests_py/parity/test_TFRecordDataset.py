"""TFRecordDataset."""

from cases import case, expect

TORN = "A file cut inside a record's header is an error"


@case([b"a", b"bb", b""], cardinality=-2)
def test_one_file(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord"))


@case([b"a", b"bb", b"", b"c", b"dd"])
def test_list_of_files(lib):
    return lib.TFRecordDataset([lib.path("three.tfrecord"), lib.path("more.tfrecord")])


@case([b"c", b"dd", b"c", b"dd"])
def test_dataset_of_files(lib):
    return lib.TFRecordDataset(lib.Dataset.from_tensors(lib.path("more.tfrecord")).repeat(2))


@case([b"a", b"bb", b""])
def test_gzip(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord.gz"), compression_type="GZIP")


@case([b"a", b"bb", b"", b"c"])
def test_gzip_of_two_members(lib):
    return lib.TFRecordDataset(lib.path("members.tfrecord.gz"), "GZIP")


@case([b"a", b"bb", b""])
def test_zlib(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord.zlib"), compression_type="ZLIB")


@case([b"a", b"bb", b""])
def test_no_compression_by_name(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord"), compression_type="")


@case([b"a", b"bb", b""])
def test_buffer_size(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord"), buffer_size=1)


@case([b"a", b"c", b"bb", b"dd", b""])
def test_parallel_reads(lib):
    return lib.TFRecordDataset([lib.path("three.tfrecord"), lib.path("more.tfrecord")], num_parallel_reads=2)


@case([b"a", b"bb", b"", b"c", b"dd"])
def test_one_parallel_read(lib):
    return lib.TFRecordDataset([lib.path("three.tfrecord"), lib.path("more.tfrecord")], num_parallel_reads=1)


@case([b"c", b"c", b"dd", b"dd"])
def test_the_same_file_twice(lib):
    return lib.TFRecordDataset([lib.path("more.tfrecord")] * 2, num_parallel_reads=2)


@case([], cardinality=-2)
def test_empty_file(lib):
    return lib.TFRecordDataset(lib.path("empty.tfrecord"))


@case([b"c", b"dd"])
def test_empty_file_among_others(lib):
    return lib.TFRecordDataset([lib.path("empty.tfrecord"), lib.path("more.tfrecord"), lib.path("empty.tfrecord")])


@case([])
def test_no_files(lib):
    return lib.TFRecordDataset(lib.Dataset.from_tensor_slices([lib.path("more.tfrecord")]).take(0))


@case([[b"a", b"bb"], [b""]])
def test_batched(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord")).batch(2)


@case([], raises="NotFound")
def test_missing_file(lib):
    return lib.TFRecordDataset(lib.path("none.tfrecord"))


@case([b"c", b"dd"], raises="NotFound")
def test_missing_file_after_another(lib):
    return lib.TFRecordDataset([lib.path("more.tfrecord"), lib.path("none.tfrecord")])


@case([b"a"], raises="DataLoss")
def test_flipped_payload(lib):
    return lib.TFRecordDataset(lib.path("payload.tfrecord"))


@case([b"a"], raises="DataLoss")
def test_flipped_payload_checksum(lib):
    return lib.TFRecordDataset(lib.path("payload_crc.tfrecord"))


@case([b"a"], raises="DataLoss")
def test_flipped_length(lib):
    return lib.TFRecordDataset(lib.path("length.tfrecord"))


@case([b"a"], raises="DataLoss")
def test_flipped_length_checksum(lib):
    return lib.TFRecordDataset(lib.path("length_crc.tfrecord"))


@case([b"a"], raises="DataLoss")
def test_cut_in_the_payload(lib):
    return lib.TFRecordDataset(lib.path("cut_payload.tfrecord"))


@case([b"a"], raises="DataLoss")
def test_cut_in_the_checksum(lib):
    return lib.TFRecordDataset(lib.path("cut.tfrecord"))


@case([b"a", b"bb"], infeed=expect(raises="DataLoss"), differs=TORN)
def test_cut_in_the_header(lib):
    return lib.TFRecordDataset(lib.path("torn_header.tfrecord"))


@case([], raises="DataLoss")
def test_not_a_record_file(lib):
    return lib.TFRecordDataset(lib.path("header.csv"))


@case([], infeed=expect(raises="DataLoss"), differs=TORN)
def test_too_short_for_a_header(lib):
    return lib.TFRecordDataset(lib.path("framed.bin"))


@case([], raises="InvalidArgument", infeed=expect(raises="DataLoss"), differs="A record longer than any file is damage")
def test_length_of_2_to_the_63(lib):
    return lib.TFRecordDataset(lib.path("huge.tfrecord"))


@case([], raises="DataLoss")
def test_compressed_read_as_plain(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord.gz"))


@case([], raises="DataLoss")
def test_plain_read_as_gzip(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord"), "GZIP")


@case([], raises="DataLoss")
def test_zlib_read_as_gzip(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord.zlib"), "GZIP")


@case([b"a", b"bb"], raises="DataLoss")
def test_cut_gzip(lib):
    return lib.TFRecordDataset(lib.path("cut.tfrecord.gz"), "GZIP")


@case([b"a", b"bb", b""], infeed=expect([], raises="InvalidArgument"),
      differs="An unknown compression type is an error")
def test_unknown_compression(lib):
    return lib.TFRecordDataset(lib.path("three.tfrecord"), compression_type="LZ4")


@case([], raises="Type")
def test_filenames_are_numbers(lib):
    return lib.TFRecordDataset([1, 2])


@case([], raises="Type")
def test_dataset_of_numbers(lib):
    return lib.TFRecordDataset(lib.Dataset.range(2))
