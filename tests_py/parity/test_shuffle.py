"""Dataset.shuffle: the orders are each library's own; the elements and the law are the same."""

from cases import case, expect

TEN = list(range(10))
WHOLE = "Shuffling data with random access takes in the whole dataset"


@case(TEN, order="multiset", passes="differ", cardinality=10)
def test_buffer_and_seed(lib):
    return lib.Dataset.range(10).shuffle(10, seed=1)


@case(TEN, order="multiset", passes="equal")
def test_same_order_each_pass(lib):
    return lib.Dataset.range(10).shuffle(10, seed=1, reshuffle_each_iteration=False)


@case(TEN, order="multiset", passes="differ")
def test_reshuffled_each_pass(lib):
    return lib.Dataset.range(10).shuffle(10, seed=1, reshuffle_each_iteration=True)


@case(TEN)
def test_buffer_of_one(lib):
    return lib.Dataset.range(10).shuffle(1)


def near(got):
    """Whether each element came at most two places early."""
    return all(x <= place + 2 for place, x in enumerate(got))


@case(order="multiset", passes="differ", law=near, limit=30, differs=WHOLE, infeed=expect(law=lambda got: not near(got)))
def test_small_buffer(lib):
    return lib.Dataset.range(30).shuffle(3, seed=1)


@case(order="multiset", passes="differ", law=near, limit=30)
def test_small_buffer_of_a_stream(lib):
    return lib.Dataset.range(30).filter(lambda x: x >= 0).shuffle(3, seed=1)


@case(TEN, order="multiset", passes="differ")
def test_buffer_larger_than_the_dataset(lib):
    return lib.Dataset.range(10).shuffle(1000, seed=1)


@case(TEN, order="multiset", passes="differ")
def test_unknown_cardinality_as_the_buffer(lib):
    return lib.Dataset.range(10).shuffle(lib.UNKNOWN_CARDINALITY, seed=1)


@case(TEN, order="multiset", passes=None, drawn=True)
def test_no_seed(lib):
    return lib.Dataset.range(10).shuffle(10)


@case(order="multiset", passes="differ")
def test_of_a_stream(lib):
    return lib.Dataset.range(20).filter(lambda x: x % 2 == 0).shuffle(10, seed=1)


@case(order="multiset", passes="equal")
def test_of_a_stream_same_order(lib):
    return lib.Dataset.range(20).filter(lambda x: x % 2 == 0).shuffle(4, seed=1, reshuffle_each_iteration=False)


def halves(got):
    return sorted(got[:6]) == sorted(got[6:]) == list(range(6)) and got[:6] != got[6:]


@case(order="law", law=halves, passes="differ", cardinality=12)
def test_repeated_after(lib):
    return lib.Dataset.range(6).shuffle(6, seed=5).repeat(2)


@case(order="law", law=lambda got: got[:6] == got[6:] and sorted(got[:6]) == list(range(6)), passes="equal")
def test_repeated_after_in_the_same_order(lib):
    return lib.Dataset.range(6).shuffle(6, seed=5, reshuffle_each_iteration=False).repeat(2)


@case(order="multiset", passes="differ", limit=20)
def test_repeated_before(lib):
    return lib.Dataset.range(10).repeat(2).shuffle(20, seed=5)


def pairs_kept(got):
    return all(b == a * 10 for a, b in got)


@case(order="multiset", law=pairs_kept, passes="differ")
def test_tuple(lib):
    return lib.Dataset.from_tensor_slices((TEN, [10 * x for x in TEN])).shuffle(10, seed=2)


@case([b"a", b"b", b"c"], order="multiset", passes=None)
def test_text(lib):
    return lib.Dataset.from_tensor_slices(["a", "b", "c"]).shuffle(3, seed=2)


@case(order="law", law=lambda got: sorted(x for b in got for x in b) == TEN, passes="differ")
def test_batched(lib):
    return lib.Dataset.range(10).shuffle(10, seed=2).batch(4)


@case(order="law", law=lambda got: sorted(map(sorted, got)) == [[0, 1], [2, 3], [4, 5], [6, 7]], passes="differ")
def test_of_batches(lib):
    return lib.Dataset.range(8).batch(2).shuffle(4, seed=2)


@case([], cardinality=0)
def test_empty(lib):
    return lib.Dataset.range(0).shuffle(3, seed=1)


@case(order="law", law=lambda got: set(got) <= {0, 1, 2}, passes="differ", cardinality=-1)
def test_without_end(lib):
    return lib.Dataset.range(3).repeat().shuffle(9, seed=1)


@case([], raises="InvalidArgument")
def test_buffer_zero(lib):
    return lib.Dataset.range(3).shuffle(0)


@case([], raises="InvalidArgument")
def test_buffer_below_minus_two(lib):
    return lib.Dataset.range(3).shuffle(-3)


@case([], raises="Type")
def test_buffer_is_no_int(lib):
    return lib.Dataset.range(3).shuffle("3")


@case([], raises="Type", infeed=expect(TEN, raises=None), differs="shuffle without a buffer size takes in the whole dataset",
      order="multiset", passes="differ")
def test_no_buffer(lib):
    return lib.Dataset.range(10).shuffle(seed=1)
