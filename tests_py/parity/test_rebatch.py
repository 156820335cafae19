"""Dataset.rebatch."""

from cases import case, expect


@case([[0, 1, 2, 3], [4, 5]])
def test_larger(lib):
    return lib.Dataset.range(6).batch(2).rebatch(4)


@case([[0, 1], [2, 3], [4, 5]])
def test_smaller(lib):
    return lib.Dataset.range(6).batch(3).rebatch(2)


@case([[0, 1, 2, 3]])
def test_drop_remainder(lib):
    return lib.Dataset.range(6).batch(2).rebatch(4, drop_remainder=True)


@case([[0], [1, 2], [3], [4, 5]])
def test_cycle_of_sizes(lib):
    return lib.Dataset.range(6).batch(4).rebatch([1, 2])


@case([([0, 1, 2], [b"a", b"b", b"c"])])
def test_tuple(lib):
    ds = lib.Dataset.zip(lib.Dataset.range(3), lib.Dataset.from_tensor_slices(["a", "b", "c"]))
    return ds.batch(2).rebatch(3)


@case([])
def test_empty(lib):
    return lib.Dataset.range(0).batch(2).rebatch(3)


@case([[0, 1, 2], [3]])
def test_uneven_batches(lib):
    return lib.Dataset.range(4).batch(3).rebatch(2).rebatch(3)


@case([[], []], limit=2, infeed=expect([], raises="InvalidArgument"),
      differs="rebatch to 0 rows is an error")
def test_size_zero(lib):
    return lib.Dataset.range(4).batch(2).rebatch(0)


@case([], raises="Value")
def test_scalars(lib):
    return lib.Dataset.range(4).rebatch(2)
