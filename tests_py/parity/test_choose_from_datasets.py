"""Dataset.choose_from_datasets."""

from cases import case


def inputs(lib):
    return [lib.Dataset.from_tensors(x).repeat(2) for x in ("a", "b", "c")]


def choices(lib, *numbers):
    return lib.Dataset.from_tensor_slices(lib.array(list(numbers), lib.int64))


@case([b"a", b"b", b"c", b"a"])
def test_choices(lib):
    return lib.Dataset.choose_from_datasets(inputs(lib), choices(lib, 0, 1, 2, 0))


@case([b"a", b"a"])
def test_stops_where_one_ends(lib):
    return lib.Dataset.choose_from_datasets(inputs(lib), choices(lib, 0, 0, 0, 1))


@case([b"a", b"a", b"b"])
def test_goes_on_where_one_ends(lib):
    return lib.Dataset.choose_from_datasets(inputs(lib), choices(lib, 0, 0, 0, 1), stop_on_empty_dataset=False)


@case([b"a", b"b", b"c", b"a", b"b", b"c"])
def test_range_as_choices(lib):
    return lib.Dataset.choose_from_datasets(inputs(lib), lib.Dataset.range(3).repeat())


@case([(0, b"x"), (5, b"y")])
def test_of_tuples(lib):
    pairs = [lib.Dataset.from_tensors((0, "x")), lib.Dataset.from_tensors((5, "y"))]
    return lib.Dataset.choose_from_datasets(pairs, choices(lib, 0, 1))


@case([[0, 1], [0, 1, 2]])
def test_shapes_are_merged(lib):
    rows = [lib.Dataset.range(n).batch(n, drop_remainder=True) for n in (2, 3)]
    return lib.Dataset.choose_from_datasets(rows, choices(lib, 0, 1))


@case([])
def test_no_choices(lib):
    return lib.Dataset.choose_from_datasets(inputs(lib), lib.Dataset.range(0))


@case([b"a"], raises="InvalidArgument")
def test_choice_of_none(lib):
    return lib.Dataset.choose_from_datasets(inputs(lib), choices(lib, 0, 3))


@case([], raises="Type")
def test_choices_are_no_int64(lib):
    return lib.Dataset.choose_from_datasets(inputs(lib), lib.Dataset.from_tensor_slices([0, 1]))


@case([], raises="Value")
def test_no_datasets(lib):
    return lib.Dataset.choose_from_datasets([], lib.Dataset.range(2))


@case([], raises="Type")
def test_other_dtypes(lib):
    return lib.Dataset.choose_from_datasets([lib.Dataset.range(2), lib.Dataset.from_tensors("a")], lib.Dataset.range(2))
