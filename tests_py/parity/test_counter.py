"""Dataset.counter."""

from cases import case


@case([0, 1, 2, 3], cardinality=-1, limit=4)
def test_defaults(lib):
    return lib.Dataset.counter()


@case([10, 11, 12], limit=3)
def test_start(lib):
    return lib.Dataset.counter(start=10)


@case([2, 7, 12], limit=3)
def test_step(lib):
    return lib.Dataset.counter(2, 5)


@case([10, 8, 6], limit=3)
def test_step_down(lib):
    return lib.Dataset.counter(10, -2)


@case([1, 1, 1], limit=3)
def test_step_zero(lib):
    return lib.Dataset.counter(1, 0)


@case([0, 1, 2], limit=3)
def test_dtype(lib):
    return lib.Dataset.counter(dtype=lib.int32)


@case([0.5, 1.0, 1.5], limit=3)
def test_float_steps(lib):
    return lib.Dataset.counter(0.5, 0.5, dtype=lib.float32)


@case([(0, b"a"), (1, b"b")], cardinality=2)
def test_zipped(lib):
    return lib.Dataset.zip(lib.Dataset.counter(), lib.Dataset.from_tensor_slices(["a", "b"]))
