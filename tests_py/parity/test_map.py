"""Dataset.map."""

import collections

from cases import case, expect
from outcomes import Spec

RANK = "Specs have the rank that the first element has"
NUMPY = "Dtypes in map are NumPy's"
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


# -- operators and functions ---------------------------------------------------


@case([(3, -1, 2, 0, 1), (5, 1, 6, 1, 1)])
def test_integer_arithmetic(lib):
    ds = lib.Dataset.from_tensor_slices(([1, 3], [2, 2]))
    return ds.map(lambda a, b: (a + b, a - b, a * b, a // b, a % b))


@case([(0.5, 1.0, 0.25), (1.5, 9.0, 2.25)])
def test_float_arithmetic(lib):
    return lib.Dataset.from_tensor_slices([1.0, 3.0]).map(lambda a: (a / 2.0, a ** 2.0, a * a / 4.0))


@case([(-1, 1, 9), (2, 2, 12)])
def test_unary_and_reflected(lib):
    return lib.Dataset.from_tensor_slices([1, -2]).map(lambda x: (-x, abs(x), 10 - x))


@case([(-1, 1), (1, 3), (-2, -1)])
def test_floor_division_of_negatives(lib):
    return lib.Dataset.from_tensor_slices(([-1, 7, 7], [2, 4, -4])).map(lambda a, b: (a // b, a % b))


@case([(True, False, False, True), (False, True, True, False)])
def test_comparisons(lib):
    return lib.Dataset.from_tensor_slices([1, 5]).map(lambda x: (x < 3, x >= 3, x == 5, x != 5))


@case([(False, True, False), (True, True, False)])
def test_logical(lib):
    ds = lib.Dataset.from_tensor_slices(([True, True], [False, True]))
    return ds.map(lambda a, b: (a & b, a | b, ~a))


@case([1.0, 0.0])
def test_cast(lib):
    return lib.Dataset.from_tensor_slices([True, False]).map(lambda x: lib.cast(x, lib.float32))


@case([1, -2])
def test_cast_to_int_truncates(lib):
    return lib.Dataset.from_tensor_slices([1.75, -2.75]).map(lambda x: lib.cast(x, lib.int32))


@case([0, 10, 2, 30])
def test_where(lib):
    return numbers(lib).map(lambda x: lib.np.where(x % 2 == 0, x, x * 10))


@case([1, 1, 2, 2])
def test_clip(lib):
    return numbers(lib).map(lambda x: lib.np.clip(x, 1, 2))


def grid(lib):
    return lib.Dataset.from_tensor_slices([[[1.0, 2.0], [3.0, 4.0]]])


@case([(10.0, [4.0, 6.0], [3.0, 7.0])])
def test_sum(lib):
    return grid(lib).map(lambda x: (lib.np.sum(x), lib.np.sum(x, axis=0), lib.np.sum(x, axis=1)))


@case([(2.5, [2.0, 3.0], 1.0, 4.0)])
def test_mean_min_max(lib):
    return grid(lib).map(lambda x: (lib.np.mean(x), lib.np.mean(x, axis=0), lib.np.min(x), lib.np.max(x)))


@case([(3, [1, 1])])
def test_argmax(lib):
    return grid(lib).map(lambda x: (lib.np.argmax(x), lib.np.argmax(x, axis=1)))


@case([(True, False)])
def test_any_and_all(lib):
    return grid(lib).map(lambda x: (lib.np.any(x > 3.0), lib.np.all(x > 3.0)))


@case([([1.0, 2.0, 3.0, 4.0], [[1.0, 3.0], [2.0, 4.0]], [[[1.0, 2.0], [3.0, 4.0]]])])
def test_reshape_transpose_expand_dims(lib):
    return grid(lib).map(lambda x: (lib.np.reshape(x, (4,)), lib.np.transpose(x), lib.np.expand_dims(x, 0)))


@case([[1.0, 2.0]])
def test_squeeze(lib):
    return lib.Dataset.from_tensor_slices([[[1.0, 2.0]]]).map(lambda x: lib.np.squeeze(x, 0))


@case([([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [2.0, 2.0]])])
def test_concatenate_and_stack(lib):
    return grid(lib).map(lambda x: (lib.np.concatenate([x, x], axis=0), lib.np.stack([x[0], x[0]], axis=1)))


@case([[[7.0, 10.0], [15.0, 22.0]]])
def test_matmul(lib):
    return grid(lib).map(lambda x: lib.np.matmul(x, x))


@case([(1.0, [3.0, 4.0], [2.0, 4.0], [[2.0, 1.0], [4.0, 3.0]], [[[1.0], [2.0]], [[3.0], [4.0]]])])
def test_indexing(lib):
    return grid(lib).map(lambda x: (x[0, 0], x[-1], x[:, 1], x[:, ::-1], x[..., None]))


@case([([2.0, 4.0], [1.0, 2.0])])
def test_unary_functions(lib):
    ds = lib.Dataset.from_tensor_slices([[4.0, 16.0]])
    return ds.map(lambda x: (lib.np.sqrt(x), lib.np.floor(lib.np.log(x))))


@case(passes="equal")
def test_exp_and_tanh(lib):
    return grid(lib).map(lambda x: (lib.np.exp(x), lib.np.tanh(x), lib.np.sin(x)))


@case([[11, 22], [13, 24]])
def test_constant_array(lib):
    offset = lib.array([10, 20])
    return lib.Dataset.from_tensor_slices([[1, 2], [3, 4]]).map(lambda x: x + offset)


@case([[-128, 1], [127, 0]])
def test_integers_wrap(lib):
    return lib.Dataset.from_tensor_slices(lib.array([[127, 0], [126, -1]], lib.int8)).map(lambda x: x + lib.array(1, lib.int8))


# -- where NumPy's rules differ, and errors ---------------------------------------


FLOAT64 = Spec("Tensor", (), "float64")


@case([], raises="Type", infeed=expect([0.5, 1.0], raises=None, spec=FLOAT64), differs=NUMPY)
def test_ints_and_floats_mix(lib):
    return lib.Dataset.from_tensor_slices([1, 2]).map(lambda x: x * lib.array(0.5))


@case([0.0, 1.0], spec=Spec("Tensor", (), "float32"), infeed=expect([0.0, 1.0], spec=FLOAT64), differs=NUMPY)
def test_true_division_of_uint8(lib):
    return lib.Dataset.from_tensor_slices(lib.array([0, 255], lib.uint8)).map(lambda x: x / 255)


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
