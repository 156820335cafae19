"""Dataset.rejection_resample: which elements stay is each library's own draw."""

from cases import case, expect


def skewed(lib, n=400):
    """Nine of ten are of class 0."""
    return lib.Dataset.range(n).map(lambda x: lib.cast(x % 10 == 9, lib.int32))


def balanced(got):
    """(class, element) with about half of each class."""
    share = sum(c for c, _ in got) / len(got)
    return all(c == x for c, x in got) and 0.3 < share < 0.7 and len(got) < 200


@case(order="law", law=balanced, passes=None, cardinality=-2, limit=1000)
def test_initial_dist(lib):
    return skewed(lib).rejection_resample(lambda x: x, target_dist=[0.5, 0.5], initial_dist=[0.9, 0.1], seed=1)


@case(order="law", law=lambda got: len(got) == 40 and all(c == 0 for c, _ in got), passes=None, limit=1000)
def test_nothing_to_reject(lib):
    ds = lib.Dataset.range(40).map(lambda x: lib.cast(x * 0, lib.int32))
    return ds.rejection_resample(lambda x: x, target_dist=[1.0], initial_dist=[1.0], seed=1)


@case(order="law", law=lambda got: all(c == 0 for c, _ in got) and len(got) > 30, passes=None, limit=1000)
def test_a_class_is_not_wanted(lib):
    return skewed(lib, 100).rejection_resample(lambda x: x, [1.0, 0.0], initial_dist=[0.9, 0.1], seed=1)


@case(order="law", law=lambda got: all(c in (0, 1) and c == x for c, x in got) and got, passes=None, limit=1000)
def test_estimated_initial_dist(lib):
    return skewed(lib).rejection_resample(lambda x: x, target_dist=[0.5, 0.5], seed=1, name="half")


@case(order="law", law=lambda got: all(c == e[1] for c, e in got) and got, passes=None, limit=1000)
def test_tuple_is_unpacked(lib):
    ds = lib.Dataset.range(100).map(lambda x: (x, lib.cast(x % 2, lib.int32)))
    return ds.rejection_resample(lambda x, y: y, [0.5, 0.5], [0.5, 0.5], seed=1)


@case([])
def test_of_nothing(lib):
    return skewed(lib, 0).rejection_resample(lambda x: x, [0.5, 0.5], [0.9, 0.1], seed=1)


@case([(0, 0), (1, 1), (5, 5)], infeed=expect([(0, 0), (1, 1)], raises="InvalidArgument"),
      differs="A class that target_dist does not have is an error")
def test_a_class_that_there_is_not(lib):
    return lib.Dataset.from_tensor_slices([0, 1, 5]).rejection_resample(lambda x: x, [0.5, 0.5], [0.5, 0.5])
