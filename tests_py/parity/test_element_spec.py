"""Dataset.element_spec."""

from cases import case
from outcomes import Spec


def tensor(shape, dtype):
    return Spec("Tensor", shape, dtype)


@case(spec=(tensor((2,), "int32"), {"a": tensor((), "object")}))
def test_nested(lib):
    return lib.Dataset.from_tensors(([1, 2], {"a": "x"}))


@case(spec=tensor((None,), "int64"))
def test_batch(lib):
    return lib.Dataset.range(4).batch(2)


@case(spec=tensor((2,), "int64"))
def test_batch_without_remainder(lib):
    return lib.Dataset.range(4).batch(2, drop_remainder=True)


@case(spec=tensor((None, None, 3), "float32"))
def test_batches_of_batches(lib):
    return lib.Dataset.from_tensor_slices([[1.0, 2.0, 3.0]] * 4).batch(2).batch(2)


@case(spec={"x": tensor((None,), "float32"), "y": tensor((), "bool")})
def test_map(lib):
    return lib.Dataset.range(4).batch(2).map(lambda x: {"x": lib.cast(x, lib.float32), "y": lib.np.all(x > 1)})


@case(spec=tensor((None, 4), "int32"))
def test_padded_batch(lib):
    return lib.Dataset.from_tensor_slices([[1, 2]]).padded_batch(2, padded_shapes=(4,))


@case(spec=(tensor((), "int64"), tensor((None,), "object")))
def test_enumerate(lib):
    return lib.Dataset.from_tensor_slices(["a"]).batch(2).enumerate()


@case(spec=Spec("Dataset", (), tensor((), "int64")))
def test_window(lib):
    return lib.Dataset.range(4).window(2)


@case(spec=tensor((None,), "int64"))
def test_concatenated_shapes(lib):
    return lib.Dataset.from_tensors(lib.array([1], lib.int64)).concatenate(lib.Dataset.from_tensors(lib.array([1, 2], lib.int64)))


@case(spec=tensor((None, None), "int64"))
def test_unbatch_of_batches(lib):
    return lib.Dataset.range(8).batch(2).batch(2).batch(2).unbatch()


@case([(True, False, False)])
def test_tensor_spec_is_comparable(lib):
    spec = lib.TensorSpec((None, 3), lib.float32)
    return spec == lib.TensorSpec([None, 3], lib.float32), spec == lib.TensorSpec((2, 3), lib.float32), spec == lib.TensorSpec((None, 3), lib.int32)


@case([True])
def test_is_that_of_tensor_spec(lib):
    return lib.Dataset.range(4).batch(2).element_spec == lib.TensorSpec((None,), lib.int64)
