"""Dataset.random: the numbers are each library's own; dtype, range and law are not."""

from cases import case


def uint32(got):
    return len(set(got)) == len(got) and all(0 <= x < 1 << 32 for x in got)


@case(order="law", law=uint32, cardinality=-1)
def test_seed(lib):
    return lib.Dataset.random(seed=4)


@case(order="law", law=uint32, passes="differ")
def test_rerandomized(lib):
    return lib.Dataset.random(seed=4, rerandomize_each_iteration=True)


@case(order="law", law=uint32)
def test_not_rerandomized(lib):
    return lib.Dataset.random(seed=4, rerandomize_each_iteration=False)


@case(order="law", law=lambda got: len(got) == 3 and uint32(got), cardinality=3)
def test_taken(lib):
    return lib.Dataset.random(seed=4).take(3)
