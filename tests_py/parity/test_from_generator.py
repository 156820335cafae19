"""Dataset.from_generator."""

import numpy as np
import tensorflow as tf
from cases import case, expect
from outcomes import Spec

RANK = "Specs have the rank that the first element has"


def count(n=3):
    yield from range(n)


@case([0, 1, 2], cardinality=-2)
def test_signature(lib):
    return lib.Dataset.from_generator(count, output_signature=lib.TensorSpec((), lib.int32))


@case([(0, b"x"), (1, b"x")])
def test_specs_of_tensorflow(lib):
    signature = (tf.TensorSpec((), tf.int32), tf.TensorSpec(tf.TensorShape([]), tf.string))
    return lib.Dataset.from_generator(lambda: ((i, "x") for i in range(2)), output_signature=signature)


@case([(0, b"x"), (1, b"x")])
def test_types_of_tensorflow(lib):
    return lib.Dataset.from_generator(lambda: ((i, "x") for i in range(2)), output_types=(tf.int32, tf.string), output_shapes=((), ()))


@case([0, 1, 2, 3, 4])
def test_args(lib):
    return lib.Dataset.from_generator(count, args=(5,), output_signature=lib.TensorSpec((), lib.int64))


@case([(0, [0.0, 0.0]), (1, [1.0, 1.0])])
def test_tuple(lib):
    def pairs():
        for i in range(2):
            yield i, np.full(2, i, np.float32)
    return lib.Dataset.from_generator(pairs, output_signature=(lib.TensorSpec((), lib.int32), lib.TensorSpec((2,), lib.float32)))


@case([{"a": 1, "b": b"x"}])
def test_dict(lib):
    signature = {"a": lib.TensorSpec((), lib.int32), "b": lib.TensorSpec((), lib.string)}
    return lib.Dataset.from_generator(lambda: [{"a": 1, "b": "x"}], output_signature=signature)


@case([[], [0], [0, 1]])
def test_unknown_dimension(lib):
    return lib.Dataset.from_generator(lambda: (np.arange(n) for n in range(3)), output_signature=lib.TensorSpec((None,), lib.int64))


@case([1, 2])
def test_list_is_an_iterable(lib):
    return lib.Dataset.from_generator(lambda: [1, 2], output_signature=lib.TensorSpec((), lib.int32))


@case([1.0, 2.5])
def test_ints_where_floats_are_promised(lib):
    return lib.Dataset.from_generator(lambda: [1, 2.5], output_signature=lib.TensorSpec((), lib.float32))


@case([0, 1, 2])
def test_output_types(lib):
    return lib.Dataset.from_generator(count, lib.int64, ())


@case([0, 1, 2], spec=Spec("Tensor", None, "int64"), infeed=expect(spec=Spec("Tensor", (), "int64")), differs=RANK)
def test_output_types_without_shapes(lib):
    return lib.Dataset.from_generator(count, output_types=lib.int64)


@case([([[0, 0]], b"x"), ([[1, 1], [1, 1]], b"x")], spec=(Spec("Tensor", None, "float32"), Spec("Tensor", None, "object")),
      infeed=expect(spec=(Spec("Tensor", (None, None), "float32"), Spec("Tensor", (), "object"))), differs=RANK)
def test_arrays_without_shapes(lib):
    return lib.Dataset.from_generator(lambda: ((np.full((n, 2), n - 1), "x") for n in (1, 2)), (lib.float32, lib.string))


@case([([1], 1), ([2, 2], 2)], spec=(Spec("Tensor", None, "int32"), Spec("Tensor", (), "int32")),
      infeed=expect(spec=(Spec("Tensor", (None,), "int32"), Spec("Tensor", (), "int32"))), differs=RANK)
def test_one_shape_of_two(lib):
    return lib.Dataset.from_generator(lambda: (([n] * n, n) for n in (1, 2)), (lib.int32, lib.int32), (None, ()))


@case([[1], [2, 2]], spec=Spec("Tensor", None, "int32"), infeed=expect(spec=Spec("Tensor", (None,), "int32")), differs=RANK)
def test_signature_without_shape(lib):
    return lib.Dataset.from_generator(lambda: ([n] * n for n in (1, 2)), output_signature=lib.TensorSpec(None, lib.int32))


@case([[[0, 1], [2, 0]]])
def test_arrays_without_shapes_padded(lib):
    return lib.Dataset.from_generator(lambda: [[0, 1], [2]], lib.int32).padded_batch(2, padded_shapes=[None])


@case([(b"ab", [b"x", b"yy"], 7, [0.5])])
def test_args_are_arrays(lib):
    def given(text, texts, number, numbers):
        yield text, texts, number.astype("int32"), numbers[:].astype("float32")
    shapes = ((), (2,), (), (1,))
    return lib.Dataset.from_generator(given, (lib.string, lib.string, lib.int32, lib.float32), shapes, args=("ab", ["x", "yy"], 7, [0.5]))


@case([(1, [2, 3])])
def test_output_types_and_shapes(lib):
    return lib.Dataset.from_generator(lambda: [(1, [2, 3])], output_types=(lib.int32, lib.int64), output_shapes=((), (None,)))


@case([], cardinality=-2)
def test_empty(lib):
    return lib.Dataset.from_generator(lambda: [], output_signature=lib.TensorSpec((), lib.int32))


@case([[0, 1], [2]])
def test_batched(lib):
    return lib.Dataset.from_generator(count, output_signature=lib.TensorSpec((), lib.int32)).batch(2)


@case([0, 1, 2, 0, 1])
def test_repeated_calls_the_function_again(lib):
    return lib.Dataset.from_generator(count, output_signature=lib.TensorSpec((), lib.int32)).repeat(2).take(5)


@case([], raises="InvalidArgument")
def test_wrong_shape(lib):
    return lib.Dataset.from_generator(lambda: [[1, 2, 3]], output_signature=lib.TensorSpec((2,), lib.int32))


@case([], raises="InvalidArgument")
def test_wrong_type(lib):
    return lib.Dataset.from_generator(lambda: ["x"], output_signature=lib.TensorSpec((), lib.int32))


@case([], raises="InvalidArgument")
def test_wrong_structure(lib):
    signature = (lib.TensorSpec((), lib.int32), lib.TensorSpec((), lib.int32))
    return lib.Dataset.from_generator(lambda: [(1, 2, 3)], output_signature=signature)


@case([1], raises="Unknown", infeed=expect(raises="KeyError"), differs="An exception of the user's function keeps its type")
def test_the_generator_raises(lib):
    def broken():
        yield 1
        raise KeyError("boom")
    return lib.Dataset.from_generator(broken, output_signature=lib.TensorSpec((), lib.int32))


@case([], raises="Type")
def test_not_callable(lib):
    return lib.Dataset.from_generator([1, 2], output_signature=lib.TensorSpec((), lib.int32))


@case([], raises="Type")
def test_no_signature(lib):
    return lib.Dataset.from_generator(count)


@case([], raises="Type")
def test_signature_and_types(lib):
    return lib.Dataset.from_generator(count, output_types=lib.int64, output_signature=lib.TensorSpec((), lib.int64))


@case([1, 0], infeed=expect([1], raises="InvalidArgument"), differs="A generator's number that its dtype cannot hold is an error")
def test_number_that_does_not_fit(lib):
    return lib.Dataset.from_generator(lambda: iter([1, 1 << 40]), output_signature=lib.TensorSpec((), lib.int32))


@case([1, 44], infeed=expect([1], raises="InvalidArgument"), differs="A generator's number that its dtype cannot hold is an error")
def test_array_that_does_not_fit(lib):
    return lib.Dataset.from_generator(lambda: iter([np.int64(1), np.int64(300)]), output_signature=lib.TensorSpec((), lib.int8))


@case([[1, 2], [3, 4]])
def test_tuples_are_rows(lib):
    return lib.Dataset.from_generator(lambda: zip([1, 3], [2, 4]), output_signature=lib.TensorSpec((2,), lib.int32))


@case([({"a": [[1, 2], [3, 4]]}, [b"x", b"y"])])
def test_tuples_are_rows_where_no_tuple_was_promised(lib):
    signature = ({"a": lib.TensorSpec((2, 2), lib.int64)}, lib.TensorSpec((2,), lib.string))
    return lib.Dataset.from_generator(lambda: [({"a": ((1, 2), (3, 4))}, ("x", "y"))], output_signature=signature)


@case([[1, -2], [3, 0]])
def test_arrays_of_floats_where_ints_are_promised(lib):
    values = np.array([[1.5, -2.5], [3.0, 0.0]])
    return lib.Dataset.from_generator(lambda: values, output_signature=lib.TensorSpec((2,), lib.int32))


@case([2, 3])
def test_numbers_of_float32_where_ints_are_promised(lib):
    return lib.Dataset.from_generator(lambda: [np.float32(2.5), np.float32(3)], output_signature=lib.TensorSpec((), lib.uint8))
