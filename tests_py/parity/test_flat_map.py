"""Dataset.flat_map."""

from cases import case
from outcomes import Spec


@case([0, 1, 0, 1])
def test_a_dataset_for_each(lib):
    return lib.Dataset.range(2).flat_map(lambda x: lib.Dataset.range(2))


@case([0, 0, 1, 0, 1, 2])
def test_length_depends_on_the_element(lib):
    return lib.Dataset.range(4).flat_map(lambda x: lib.Dataset.range(x))


@case([1, 2, 3, 4])
def test_from_tensor_slices_of_the_element(lib):
    return lib.Dataset.from_tensor_slices([[1, 2], [3, 4]]).flat_map(lambda x: lib.Dataset.from_tensor_slices(x))


@case([1, 2, 3, 4])
def test_a_method_itself(lib):
    return lib.Dataset.from_tensor_slices([[1, 2], [3, 4]]).flat_map(lib.Dataset.from_tensor_slices)


@case([(0, b"x"), (1, b"x"), (0, b"y"), (1, b"y")])
def test_tuple_is_unpacked(lib):
    ds = lib.Dataset.from_tensor_slices(([2, 2], ["x", "y"]))
    return ds.flat_map(lambda n, s: lib.Dataset.range(2).map(lambda i: (i, s)))


@case([[0, 1], [2], [0, 1], [2]])
def test_batches_inside(lib):
    return lib.Dataset.range(2).flat_map(lambda x: lib.Dataset.range(3).batch(2))


@case([b"one", b"two", b"", b"four", b"five"])
def test_of_files(lib):
    return lib.Dataset.from_tensor_slices([lib.path("lines.txt"), lib.path("more.txt")]).flat_map(lib.TextLineDataset)


@case([])
def test_of_nothing(lib):
    return lib.Dataset.range(0).flat_map(lambda x: lib.Dataset.range(2))


@case([])
def test_to_nothing(lib):
    return lib.Dataset.range(3).flat_map(lambda x: lib.Dataset.range(0))


@case([[0, 1], [2], [3, 4], [5]])
def test_of_windows(lib):
    return lib.Dataset.range(6).window(3).flat_map(lambda w: w.batch(2))


@case([0, 0, 0], limit=3)
def test_a_dataset_without_end(lib):
    return lib.Dataset.range(2).flat_map(lambda x: lib.Dataset.from_tensors(x).repeat())


@case([], raises="Attribute")
def test_result_is_no_dataset(lib):
    return lib.Dataset.range(3).flat_map(lambda x: x)


@case([[0], [1], [2], [0, 1]], spec=Spec("Tensor", (None,), "int64"))
def test_full_batches_of_a_size_that_differs(lib):
    return lib.Dataset.range(1, 3).flat_map(lambda n: lib.Dataset.range(3).batch(n, drop_remainder=True))


@case([[2.0, 4.0], [6.0], []], spec=Spec("Tensor", (None,), "float32"))
def test_a_map_of_elements_that_differ_in_length(lib):
    ds = lib.Dataset.from_generator(lambda: [[1, 2], [3], []], output_signature=lib.TensorSpec((None,), lib.int64))
    return ds.flat_map(lambda x: lib.Dataset.range(1).map(lambda i: lib.cast(x, lib.float32) * 2.0))
