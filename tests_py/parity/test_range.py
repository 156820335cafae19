"""Dataset.range."""

from cases import case, expect


@case([0, 1, 2], cardinality=3)
def test_stop(lib):
    return lib.Dataset.range(3)


@case([2, 3, 4])
def test_start_and_stop(lib):
    return lib.Dataset.range(2, 5)


@case([1, 4, 7])
def test_step(lib):
    return lib.Dataset.range(1, 9, 3)


@case([5, 3, 1])
def test_step_down(lib):
    return lib.Dataset.range(5, 0, -2)


@case([], cardinality=0)
def test_empty(lib):
    return lib.Dataset.range(0)


@case([], cardinality=0)
def test_stop_before_start(lib):
    return lib.Dataset.range(5, 2)


@case([-3, -2])
def test_below_zero(lib):
    return lib.Dataset.range(-3, -1)


@case([0.0, 1.0])
def test_output_type_float32(lib):
    return lib.Dataset.range(2, output_type=lib.float32)


@case([1, 3])
def test_output_type_int32(lib):
    return lib.Dataset.range(1, 5, 2, output_type=lib.int32)


@case([], raises="InvalidArgument")
def test_step_zero(lib):
    return lib.Dataset.range(0, 3, 0)


@case([], raises="Type")
def test_stop_is_text(lib):
    return lib.Dataset.range("3")


@case([], raises="Value")
def test_no_arguments(lib):
    return lib.Dataset.range()


@case([254, 255, 0], infeed=expect([], raises="InvalidArgument"), differs="A number of range that its dtype does not have is an error")
def test_numbers_that_do_not_fit(lib):
    return lib.Dataset.range(254, 257, output_type=lib.uint8)
