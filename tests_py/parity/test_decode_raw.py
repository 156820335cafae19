"""io.decode_raw."""

from cases import case


def texts(lib, *values):
    return lib.Dataset.from_tensor_slices(list(values))


@case([[1, 2], [3, 4]])
def test_uint8(lib):
    return texts(lib, b"\1\2", b"\3\4").map(lambda s: lib.io.decode_raw(s, lib.uint8))


@case([[513, 1027]])
def test_int16(lib):
    return texts(lib, b"\1\2\3\4").map(lambda s: lib.io.decode_raw(s, lib.int16))


@case([[258]])
def test_big_endian(lib):
    return texts(lib, b"\1\2").map(lambda s: lib.io.decode_raw(s, lib.int16, little_endian=False))


@case([[1.0]])
def test_float32(lib):
    return texts(lib, b"\0\0\x80\x3f").map(lambda s: lib.io.decode_raw(s, lib.float32))


@case([[[1, 2], [3, 4]]])
def test_batch(lib):
    return texts(lib, b"\1\2", b"\3\4").batch(2).map(lambda s: lib.io.decode_raw(s, lib.uint8))


@case([[1, 2, 0, 0], [3, 4, 5, 6]])
def test_fixed_length(lib):
    return texts(lib, b"\1\2", b"\3\4\5\6\7").map(lambda s: lib.io.decode_raw(s, lib.uint8, fixed_length=4))


@case([[[1, 0], [2, 3]]])
def test_fixed_length_of_a_batch(lib):
    return texts(lib, b"\1", b"\2\3").batch(2).map(lambda s: lib.io.decode_raw(s, lib.uint8, fixed_length=2))


@case([[True, False]])
def test_bool(lib):
    return texts(lib, b"\1\0").map(lambda s: lib.io.decode_raw(s, lib.bool))


@case([[]])
def test_no_bytes(lib):
    return texts(lib, b"").map(lambda s: lib.io.decode_raw(s, lib.int32))


@case([[[1, 2], [3, 4]]])
def test_of_records(lib):
    ds = lib.FixedLengthRecordDataset(lib.path("fixed.bin"), 2).batch(2, drop_remainder=True)
    return ds.map(lambda s: lib.io.decode_raw(s, lib.uint8) - lib.array([[96, 95], [95, 94]], lib.uint8))


@case([], raises="InvalidArgument")
def test_bytes_that_fill_no_value(lib):
    return texts(lib, b"\1\2\3").map(lambda s: lib.io.decode_raw(s, lib.int16))


@case([], raises="InvalidArgument")
def test_batch_of_unequal_length(lib):
    return texts(lib, b"\1", b"\1\2").batch(2).map(lambda s: lib.io.decode_raw(s, lib.uint8))


@case([], raises="Type")
def test_text_as_the_dtype(lib):
    return texts(lib, b"\1").map(lambda s: lib.io.decode_raw(s, lib.string))


@case([], raises="Type")
def test_of_numbers(lib):
    return lib.Dataset.range(2).map(lambda x: lib.io.decode_raw(x, lib.uint8))
