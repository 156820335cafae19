"""Dataset.sample_from_datasets: the draws are each library's own, the order within each input is not."""

from cases import case, expect


def inputs(lib, n=20):
    """0 .. n-1 and 100 .. 100+n-1."""
    return [lib.Dataset.range(n), lib.Dataset.range(100, 100 + n)]


def in_order(got):
    low, high = [x for x in got if x < 100], [x for x in got if x >= 100]
    return low == list(range(len(low))) and high == list(range(100, 100 + len(high)))


@case(order="multiset", law=in_order, passes=None, limit=99)
def test_equal_weights(lib):
    return lib.Dataset.sample_from_datasets(inputs(lib), seed=1)


@case(order="multiset", law=in_order, passes=None, limit=99)
def test_weights(lib):
    return lib.Dataset.sample_from_datasets(inputs(lib), weights=[0.9, 0.1], seed=1)


def heavy(got):
    return in_order(got) and sum(x < 100 for x in got[:20]) > 12


@case(order="law", law=heavy, passes=None, limit=99)
def test_stop_on_empty_dataset(lib):
    return lib.Dataset.sample_from_datasets(inputs(lib), [0.9, 0.1], seed=1, stop_on_empty_dataset=True)


@case(list(range(12)))
def test_all_weight_on_one(lib):
    return lib.Dataset.sample_from_datasets(inputs(lib), weights=[1.0, 0.0], stop_on_empty_dataset=True)


@case(order="multiset", law=in_order, passes="differ", limit=99)
def test_rerandomize_each_iteration(lib):
    return lib.Dataset.sample_from_datasets(inputs(lib), seed=1, rerandomize_each_iteration=True)


@case(order="multiset", law=in_order, passes="equal", limit=99)
def test_not_rerandomized(lib):
    return lib.Dataset.sample_from_datasets(inputs(lib), seed=1, rerandomize_each_iteration=False)


@case(order="multiset", law=in_order, passes=None, limit=99)
def test_dataset_of_weights(lib):
    weights = lib.Dataset.from_tensors([0.5, 0.5]).repeat()
    return lib.Dataset.sample_from_datasets(inputs(lib), weights, seed=1)


@case([0, 1, 2], cardinality=3)
def test_one_dataset(lib):
    return lib.Dataset.sample_from_datasets([lib.Dataset.range(3)])


@case(order="law", law=in_order, passes=None, cardinality=-1)
def test_without_end(lib):
    return lib.Dataset.sample_from_datasets([lib.Dataset.counter(), lib.Dataset.counter(100)], seed=1)


@case([100, 101], passes=None, limit=99)
def test_an_input_is_empty(lib):
    return lib.Dataset.sample_from_datasets([lib.Dataset.range(0), lib.Dataset.range(100, 102)], seed=1)


@case([], raises="Value")
def test_wrong_number_of_weights(lib):
    return lib.Dataset.sample_from_datasets(inputs(lib), weights=[1.0])


@case([], raises="Value")
def test_no_datasets(lib):
    return lib.Dataset.sample_from_datasets([])


@case([], raises="Type")
def test_other_dtypes(lib):
    return lib.Dataset.sample_from_datasets([lib.Dataset.range(2), lib.Dataset.from_tensors("a")])


@case([], infeed=expect([], raises="InvalidArgument"), differs="Weights that are all 0 are an error")
def test_weights_are_all_0(lib):
    return lib.Dataset.sample_from_datasets(inputs(lib), weights=[0.0, 0.0])


@case([], raises="Type")
def test_weights_are_text(lib):
    return lib.Dataset.sample_from_datasets([lib.Dataset.range(2)] * 2, ["1", "0"])
