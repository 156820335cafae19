"""Dataset.map: what functions are made of, with NumPy's names."""

from cases import case


def numbers(lib):
    return lib.Dataset.range(4)


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


@case([(6, 2.0, 1)])
def test_reductions_of_ints(lib):
    return lib.Dataset.from_tensor_slices([[1, 2, 3]]).map(lambda x: (lib.np.sum(x), lib.np.mean(x), lib.np.min(x)))


@case([([-1.0, 0.0, 1.0], [2.0, 0.0, 3.0], [False, False, False])])
def test_sign_abs_isnan(lib):
    ds = lib.Dataset.from_tensor_slices([[-2.0, 0.0, 3.0]])
    return ds.map(lambda x: (lib.np.sign(x), lib.np.abs(x), lib.np.isnan(x)))


@case([([1, 2, 2], [1, 1, 2])])
def test_maximum_and_minimum(lib):
    return lib.Dataset.from_tensor_slices([[1, 1, 2]]).map(lambda x: (lib.np.maximum(x, lib.array([1, 2, 2])), lib.np.minimum(x, 5)))


@case([[[1, 1], [2, 2]]])
def test_repeat_by_broadcast(lib):
    return lib.Dataset.from_tensor_slices([[1, 2]]).map(lambda x: x[:, None] * lib.array([[1, 1]]))
