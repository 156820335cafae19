"""Dataset.map."""

import collections

from cases import case, expect
from outcomes import Spec

RANK = "Specs have the rank that the first element has"
NUMPY = "Dtypes in map are NumPy's"
FLOAT64 = Spec("Tensor", (), "float64")
Pair = collections.namedtuple("Pair", "u v")


def numbers(lib):
    return lib.Dataset.range(4)


def pairs(lib):
    return lib.Dataset.from_tensor_slices(([1, 2, 3], [0.5, 1.5, 2.5]))


@case([0, 2, 4, 6], cardinality=4)
def test_one_component(lib):
    return numbers(lib).map(lambda x: x * 2)


@case([1.5, 3.5, 5.5])
def test_tuple_is_unpacked(lib):
    return pairs(lib).map(lambda x, y: lib.cast(x, lib.float32) + y)


@case([{"a": 2, "b": 0.5}, {"a": 3, "b": 1.5}, {"a": 4, "b": 2.5}])
def test_to_dict(lib):
    return pairs(lib).map(lambda x, y: {"a": x + 1, "b": y})


@case([3, 7])
def test_dict_comes_whole(lib):
    return lib.Dataset.from_tensor_slices({"a": [1, 3], "b": [2, 4]}).map(lambda e: e["a"] + e["b"])


@case([(6, {"z": 2}), (9, {"z": 3})])
def test_nested(lib):
    ds = lib.Dataset.from_tensor_slices(([2, 3], {"p": ([1, 2], [3, 4])}))
    return ds.map(lambda x, e: (x + e["p"][0] + e["p"][1], {"z": x}))


@case([Pair(0, 0), Pair(1, 10)])
def test_to_named_tuple(lib):
    return lib.Dataset.range(2).map(lambda x: Pair(x, x * 10))


@case([3, 5])
def test_named_tuple_comes_whole(lib):
    return lib.Dataset.from_tensor_slices(Pair([1, 2], [2, 3])).map(lambda pair: pair.u + pair.v)


@case([(0,), (1,)])
def test_to_tuple_of_one(lib):
    return lib.Dataset.range(2).map(lambda x: (x,))


@case([5, 5, 5, 5])
def test_to_a_constant(lib):
    return numbers(lib).map(lambda x: 5)


@case([0.5, 0.5])
def test_to_a_python_float(lib):
    return lib.Dataset.range(2).map(lambda x: 0.5)


@case([b"s", b"s"])
def test_to_text(lib):
    return lib.Dataset.range(2).map(lambda x: "s")


@case([([0, 1], 1), ([2, 3], 5)])
def test_after_batch(lib):
    return numbers(lib).batch(2).map(lambda x: (x, lib.np.sum(x)))


@case([1, 2, 3, 4])
def test_num_parallel_calls(lib):
    return numbers(lib).map(lambda x: x + 1, num_parallel_calls=2)


@case([1, 2, 3, 4])
def test_autotune(lib):
    return numbers(lib).map(lambda x: x + 1, num_parallel_calls=lib.AUTOTUNE)


@case([1, 2, 3, 4])
def test_deterministic(lib):
    return numbers(lib).map(lambda x: x + 1, num_parallel_calls=2, deterministic=True)


@case([1, 2, 3, 4], order="multiset", passes=None)
def test_not_deterministic(lib):
    return numbers(lib).map(lambda x: x + 1, num_parallel_calls=2, deterministic=False)


@case([1, 2, 3, 4])
def test_name(lib):
    return numbers(lib).map(lambda x: x + 1, name="next")


@case([], cardinality=0)
def test_empty(lib):
    return lib.Dataset.range(0).map(lambda x: x + 1)


@case([1, 2], cardinality=-1, limit=2)
def test_without_end(lib):
    return lib.Dataset.range(1).repeat().map(lambda x: x + 1).enumerate().map(lambda i, x: x + i)


@case([[0, 1], [2, 3]], infeed=expect(spec=Spec("Tensor", (None,), "int64")), differs=RANK)
def test_python_function(lib):
    return numbers(lib).batch(2).map(lambda x: lib.python(lambda v: v[::1] + 0, x, lib.int64), num_parallel_calls=2)


# -- where NumPy's rules differ, and errors -------------------------------------


@case([], raises="Type", infeed=expect([0.5, 1.0], raises=None, spec=FLOAT64), differs=NUMPY)
def test_ints_and_floats_mix(lib):
    return lib.Dataset.from_tensor_slices([1, 2]).map(lambda x: x * lib.array(0.5))


@case([0.0, 1.0], spec=Spec("Tensor", (), "float32"), infeed=expect([0.0, 1.0], spec=FLOAT64), differs=NUMPY)
def test_true_division_of_uint8(lib):
    return lib.Dataset.from_tensor_slices(lib.array([0, 255], lib.uint8)).map(lambda x: x / 255)


@case([], raises="Type", infeed=expect([0.5, 1.0], raises=None, spec=FLOAT64), differs=NUMPY)
def test_ints_and_a_python_float(lib):
    return lib.Dataset.from_tensor_slices([1, 2]).map(lambda x: x * 0.5)


@case([], raises="Type", infeed=expect([2, 3], raises=None, spec=Spec("Tensor", (), "int64")), differs=NUMPY)
def test_int32_and_int64(lib):
    return lib.Dataset.from_tensor_slices([1, 2]).map(lambda x: x + lib.array(1, lib.int64))


@case([], raises="InvalidArgument", infeed=expect([0, 0], raises=None), differs="An integer divided by 0 is 0")
def test_integer_division_by_zero(lib):
    return lib.Dataset.range(2).map(lambda x: x // (x * 0))


@case([0.0, 1.0])
def test_true_division_of_int32(lib):
    return lib.Dataset.from_tensor_slices([0, 255]).map(lambda x: x / 255)


@case([], raises="InvalidArgument")
def test_shape_does_not_fit_at_run_time(lib):
    ds = lib.Dataset.range(3).batch(2)
    return ds.map(lambda x: lib.np.reshape(x, (3,)))


@case([], raises="Value")
def test_shapes_do_not_fit(lib):
    ds = lib.Dataset.from_tensor_slices(([[1, 2]], [[1, 2, 3]]))
    return ds.map(lambda x, y: x + y)


@case([], raises="Type")
def test_wrong_number_of_arguments(lib):
    return pairs(lib).map(lambda x: x)


@case([], raises="Key")
def test_missing_key(lib):
    return lib.Dataset.from_tensor_slices({"a": [1]}).map(lambda e: e["b"])


@case([], raises="Value")
def test_not_a_function(lib):
    return numbers(lib).map(3)


@case([], raises="InvalidArgument")
def test_num_parallel_calls_zero(lib):
    return numbers(lib).map(lambda x: x, num_parallel_calls=0)


@case([0, 1, 1, 2, 2, 3], infeed=expect([2, 3, 2, 3, 2, 3]), differs="A function's variables are read when its dataset is first used")
def test_variable_of_a_loop(lib):
    parts = [lib.Dataset.range(2).map(lambda x: x + k) for k in range(3)]
    return parts[0].concatenate(parts[1]).concatenate(parts[2])


@case([0, 1, 1, 2, 2, 3])
def test_variable_of_a_loop_as_a_default(lib):
    parts = [lib.Dataset.range(2).map(lambda x, k=k: x + k) for k in range(3)]
    return parts[0].concatenate(parts[1]).concatenate(parts[2])


@case([(0, 1), (1, 2)])
def test_list_is_a_tuple(lib):
    return lib.Dataset.range(2).map(lambda x: [x, x + 1])


@case([(1, 0.5, b"a"), (2, 0.0, b"b")])
def test_list_of_decode_csv(lib):
    return lib.Dataset.from_tensor_slices(["1,0.5,a", "2,,b"]).map(lambda s: lib.io.decode_csv(s, [0, 0.0, ""]))


@case([(0, [0, 1]), (1, [1, 2])])
def test_list_in_a_tuple_is_an_array(lib):
    return lib.Dataset.range(2).map(lambda x: (x, [x, x + 1]))


@case([[[0, 1], [2, 3]]])
def test_rows_in_a_list(lib):
    return lib.Dataset.from_tensors([lib.np.arange(2), lib.np.arange(2, 4)])
