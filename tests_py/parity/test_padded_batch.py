"""Dataset.padded_batch."""

import numpy as np
from cases import case, expect

FITS = "padding_values take the dtype of their component"
RANK = "Specs have the rank that the first element has"


def rows(lib, *lengths, dtype="int32"):
    """Rows [n, n, ...] of n numbers."""
    signature = lib.TensorSpec((None,), getattr(lib, dtype))
    return lib.Dataset.from_generator(lambda: ([n] * n for n in lengths), output_signature=signature)


@case([[[1, 0], [2, 2]], [[3, 3, 3]]], cardinality=-2)
def test_to_the_longest(lib):
    return rows(lib, 1, 2, 3).padded_batch(2)


@case([[[1, 0], [2, 2]]])
def test_drop_remainder(lib):
    return rows(lib, 1, 2, 3).padded_batch(2, drop_remainder=True)


@case([[[1, 0, 0, 0], [2, 2, 0, 0]]])
def test_padded_shapes(lib):
    return rows(lib, 1, 2).padded_batch(2, padded_shapes=(4,))


@case([[[1, 0], [2, 2]]])
def test_padded_shapes_none(lib):
    return rows(lib, 1, 2).padded_batch(2, padded_shapes=(None,))


@case([[[1, 0], [2, 2]]])
def test_padded_shapes_minus_one(lib):
    return rows(lib, 1, 2).padded_batch(2, padded_shapes=[-1])


@case([[[1, -1], [2, 2]]])
def test_padding_values(lib):
    return rows(lib, 1, 2).padded_batch(2, padding_values=-1)


@case([[[1.0, 0.5], [2.0, 2.0]]])
def test_padding_values_of_floats(lib):
    return rows(lib, 1, 2, dtype="float32").padded_batch(2, padding_values=0.5)


@case([[[b"a", b""], [b"b", b"c"]]])
def test_text(lib):
    ds = lib.Dataset.from_generator(lambda: [["a"], ["b", "c"]], output_signature=lib.TensorSpec((None,), lib.string))
    return ds.padded_batch(2)


@case([[[b"a", b"-"], [b"b", b"c"]]])
def test_padding_text(lib):
    ds = lib.Dataset.from_generator(lambda: [["a"], ["b", "c"]], output_signature=lib.TensorSpec((None,), lib.string))
    return ds.padded_batch(2, padding_values="-")


def pairs(lib):
    signature = (lib.TensorSpec((None,), lib.int32), lib.TensorSpec((), lib.int32))
    return lib.Dataset.from_generator(lambda: [([1], 5), ([2, 3], 6)], output_signature=signature)


@case([([[1, 0], [2, 3]], [5, 6])])
def test_tuple(lib):
    return pairs(lib).padded_batch(2)


@case([([[1, 0, 0], [2, 3, 0]], [5, 6])])
def test_tuple_of_shapes(lib):
    return pairs(lib).padded_batch(2, padded_shapes=((3,), ()))


@case([([[1, 9], [2, 3]], [5, 6])])
def test_tuple_of_values(lib):
    return pairs(lib).padded_batch(2, padding_values=(9, 0))


@case([([[1, 0], [2, 3]], [5, 6])])
def test_no_padding_value_is_zero(lib):
    return pairs(lib).padded_batch(2, padding_values=(None, None))


@case([{"a": [[1, 0], [2, 3]]}])
def test_dict(lib):
    return pairs(lib).map(lambda x, y: {"a": x}).padded_batch(2, padded_shapes={"a": (None,)})


@case([[[[1, 0], [0, 0]], [[1, 2], [3, 4]]]])
def test_two_dimensions(lib):
    ds = lib.Dataset.from_generator(lambda: [[[1]], [[1, 2], [3, 4]]], output_signature=lib.TensorSpec((None, None), lib.int32))
    return ds.padded_batch(2)


@case([[[0, 0], [1, 1]]])
def test_rows_of_known_length(lib):
    return lib.Dataset.from_tensor_slices([[0, 0], [1, 1]]).padded_batch(2)


@case([[[0, 0, 7], [1, 1, 7]]])
def test_rows_of_known_length_made_longer(lib):
    return lib.Dataset.from_tensor_slices([[0, 0], [1, 1]]).padded_batch(2, padded_shapes=(3,), padding_values=7)


@case([[[], []]])
def test_rows_without_values(lib):
    return rows(lib, 0, 0).padded_batch(2)


@case([])
def test_empty(lib):
    return rows(lib).padded_batch(2)


@case([], raises="DataLoss")
def test_longer_than_the_padded_shape(lib):
    return rows(lib, 3, 1).padded_batch(2, padded_shapes=(2,))


@case([], raises="Value")
def test_padded_shape_of_another_rank(lib):
    return rows(lib, 1, 2).padded_batch(2, padded_shapes=(2, 2))


@case([], raises="Type")
def test_padding_value_of_another_dtype(lib):
    return rows(lib, 1, 2).padded_batch(2, padding_values="x")


@case([], raises="InvalidArgument")
def test_size_zero(lib):
    return rows(lib, 1, 2).padded_batch(0)


@case([], raises="Value", infeed=expect([[[1, 0], [2, 3]]], raises=None), differs=RANK)
def test_unknown_rank(lib):
    return lib.Dataset.from_generator(lambda: [[1], [2, 3]], output_types=lib.int32).padded_batch(2)


@case([], raises="Type", infeed=expect([[[1.0, 9.0], [2.0, 2.0]]], raises=None), differs=FITS)
def test_padding_value_of_an_int_for_floats(lib):
    return rows(lib, 1, 2, dtype="float32").padded_batch(2, padding_values=9)


@case([], raises="Type", infeed=expect([[[1, 9], [2, 2]]], raises=None), differs=FITS)
def test_padding_value_of_a_python_int_for_int64(lib):
    return rows(lib, 1, 2, dtype="int64").padded_batch(2, padding_values=9)


@case([[[1, 0, 0], [2, 2, 0]]])
def test_padded_shape_of_one_number(lib):
    return rows(lib, 1, 2).padded_batch(2, padded_shapes=np.array(3))
