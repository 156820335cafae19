"""Dataset.group_by_window."""

from cases import case


def parity(x):
    return x % 2


def batched(key, window):
    return window.batch(10)


@case([[0, 2], [1, 3], [4], [5]], cardinality=-2)
def test_window_size(lib):
    return lib.Dataset.range(6).group_by_window(key_func=parity, reduce_func=batched, window_size=2)


@case([[0, 2, 4, 6], [1, 3, 5]])
def test_window_larger_than_the_groups(lib):
    return lib.Dataset.range(7).group_by_window(parity, batched, window_size=99)


@case([[0], [2], [4], [1, 3, 5]])
def test_window_size_func(lib):
    return lib.Dataset.range(6).group_by_window(parity, batched, window_size_func=lambda key: key * 2 + 1)


@case([0, 2, 1, 3])
def test_reduce_to_elements(lib):
    return lib.Dataset.range(4).group_by_window(parity, lambda key, window: window, window_size=2)


@case([(0, 0), (0, 2), (1, 1), (1, 3)])
def test_key_in_the_result(lib):
    return lib.Dataset.range(4).group_by_window(parity, lambda key, window: window.map(lambda x: (key, x)), window_size=2)


@case([[0, 2], [1, 3]])
def test_two_batches_of_a_window(lib):
    return lib.Dataset.range(4).group_by_window(parity, lambda key, window: window.batch(2), window_size=4, name="groups")


@case([([1, 3], [b"a", b"c"]), ([2], [b"b"])])
def test_tuple_is_unpacked(lib):
    ds = lib.Dataset.from_tensor_slices((lib.array([1, 2, 3], lib.int64), ["a", "b", "c"]))
    return ds.group_by_window(lambda n, s: n % 2, batched, window_size=2)


@case([[-1], [5]])
def test_keys_below_zero(lib):
    ds = lib.Dataset.from_tensor_slices(lib.array([-1, 5], lib.int64))
    return ds.group_by_window(lambda x: x, batched, window_size=2)


@case([])
def test_of_nothing(lib):
    return lib.Dataset.range(0).group_by_window(parity, batched, window_size=2)


@case([[0, 0], [0, 0]], limit=2)
def test_without_end(lib):
    return lib.Dataset.range(1).repeat().group_by_window(parity, batched, window_size=2)


@case([], raises="Value")
def test_no_window_size(lib):
    return lib.Dataset.range(4).group_by_window(parity, batched)


@case([], raises="Value")
def test_both_window_sizes(lib):
    return lib.Dataset.range(4).group_by_window(parity, batched, window_size=2, window_size_func=lambda key: 2)


@case([], raises="Value")
def test_key_is_no_int64(lib):
    return lib.Dataset.range(4).group_by_window(lambda x: lib.cast(x, lib.float32), batched, window_size=2)


@case([], raises="InvalidArgument")
def test_window_size_zero(lib):
    return lib.Dataset.range(4).group_by_window(parity, batched, window_size=0)


@case([], raises="Type")
def test_result_is_no_dataset(lib):
    return lib.Dataset.range(4).group_by_window(parity, lambda key, window: key, window_size=2)
