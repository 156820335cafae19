"""Dataset.unique."""

from cases import case, expect

ANY = "unique takes elements of every kind"


@case([1, 37, 2], cardinality=-2)
def test_numbers(lib):
    return lib.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()


@case([b"a", b"b"])
def test_text(lib):
    return lib.Dataset.from_tensor_slices(["a", "b", "a"]).unique()


@case([0, 1, 2])
def test_int64(lib):
    return lib.Dataset.range(3).repeat(2).unique(name="once")


@case([0, 1, 0, 1])
def test_repeated_begins_anew(lib):
    return lib.Dataset.range(2).unique().repeat(2)


@case([])
def test_of_nothing(lib):
    return lib.Dataset.range(0).unique()


@case([], raises="Type", infeed=expect([0.5], raises=None), differs=ANY)
def test_floats(lib):
    return lib.Dataset.from_tensor_slices([0.5, 0.5]).unique()


@case([], raises="InvalidArgument", infeed=expect([(1, 2)], raises=None), differs=ANY)
def test_tuples(lib):
    return lib.Dataset.from_tensor_slices(([1, 1], [2, 2])).unique()


@case([[1, 2], [3, 4]])
def test_rows(lib):
    return lib.Dataset.from_tensor_slices([[1, 2], [3, 4], [1, 2]]).unique()
