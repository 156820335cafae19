"""from_generator: iterators that there are only once, ranks that the first element says, and types and shapes that do not fit."""

import pytest

import infeed
from infeed import Dataset

NUMBER = infeed.TensorSpec((), "int32")


class Counting:
    """An iterator with state."""

    def __init__(self, n):
        self.at, self.n = 0, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == self.n:
            raise StopIteration
        self.at += 1
        return self.at - 1

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


ONCE = {"iterator": lambda n: iter(range(n)), "generator": lambda n: (i for i in range(n)), "with state": Counting}


@pytest.fixture(params=ONCE, name="numbers")
def _numbers(request):
    """The dataset of the first n numbers, of an iterator that there is once."""

    def make(n):
        it = ONCE[request.param](n)
        return Dataset.from_generator(lambda: it, output_signature=NUMBER)

    return make


@pytest.mark.parametrize("use", [
    lambda ds: ds.map(lambda x: x + 1),
    lambda ds: ds.map(lambda x: int(x) + 1),
    lambda ds: ds.batch(4).map(lambda x: x.astype("int64")).map(lambda x: [int(v) + 1 for v in x] and x + 1).unbatch(),
    lambda ds: ds.filter(lambda x: int(x) >= 0).map(lambda x: x + 1),
    lambda ds: ds.flat_map(lambda x: Dataset.from_tensors(x + 1)),
], ids=["traced", "python", "batches", "two functions", "flat_map"])
def test_no_element_is_lost_to_functions(numbers, use):
    ds = use(numbers(11))
    ds.element_spec  # tries the functions
    assert [int(x) for x in ds] == list(range(1, 12))


def test_an_iterator_that_fails_at_first_fails_at_its_place():
    class Failing(Counting):
        def __next__(self):
            x = super().__next__()
            if not x:
                raise ValueError("the first")
            return x

    it = Failing(4)
    ds = Dataset.from_generator(lambda: it, output_signature=NUMBER).map(lambda x: x * 2)
    with pytest.raises(ValueError, match="the first"):
        ds.element_spec, list(ds)
    it = Failing(4)
    assert [int(x) for x in ds.ignore_errors()] == [2, 4, 6]


def test_ranks_come_from_the_first_element_which_is_not_lost():
    it = iter([[1, 2], [3], [[4]]])
    ds = Dataset.from_generator(lambda: it, output_types="int32")
    assert ds.element_spec == infeed.TensorSpec((None,), "int32")
    taken = iter(ds)
    assert [next(taken).tolist(), next(taken).tolist()] == [[1, 2], [3]]
    with pytest.raises(infeed.InvalidArgumentError, match=r"shape \[1, 1\], where the first element has 1 dimensions"):
        next(taken)


def test_a_generator_without_shapes_that_fails_or_is_empty():
    def failing():
        raise KeyError("no first")
        yield

    ds = Dataset.from_generator(failing, output_types="float32")
    assert ds.element_spec == infeed.TensorSpec((), "float32")
    with pytest.raises(KeyError, match="no first"):
        list(ds)
    assert list(Dataset.from_generator(lambda: [], output_types="float32")) == []


def test_a_spec_of_unknown_rank_is_one_of_its_own():
    assert infeed.TensorSpec(None, "float32") == infeed.UnknownRankSpec("float32")


def test_args_that_are_no_arrays_come_as_they_are():
    given = object(), {"a": "b"}, None, [[1], [2, 3]]
    got = []
    ds = Dataset.from_generator(lambda *args: iter([got.append(args) or 1]), output_signature=NUMBER, args=given)
    list(ds)
    assert got[-1] == given


@pytest.mark.parametrize("types, shapes, match", [
    (["int32", "int32"], None, "output_types has the list"),
    (("int32", "int32"), ([None],), "nested as output_types"),
    (("int32", "int32"), 5, "nested as output_types"),
    ({"a": "int32"}, {"b": []}, "nested as output_types"),
    ({"a": "int32"}, [[]], "nested as output_types"),
])
def test_types_and_shapes_that_are_nested_otherwise(types, shapes, match):
    with pytest.raises(infeed.InvalidArgumentError, match=match):
        Dataset.from_generator(lambda: iter([]), types, shapes)


class Now(Exception):
    pass


@pytest.mark.parametrize("makes", [iter, lambda numbers: (x for x in numbers)], ids=["one that no weak reference can be to", "a generator"])
@pytest.mark.parametrize("at", [0, 6])
def test_an_iterator_that_there_is_once_does_not_go_on_elsewhere(makes, at):
    """After an error, as from a state: the elements that were made ahead are gone."""
    once, fails = makes(range(40)), []

    def f(x):
        if int(str(int(x))) in fails:
            fails.clear()
            raise Now
        return x

    ds = Dataset.from_generator(lambda: once, output_signature=NUMBER).map(f)
    ds.element_spec  # for which f is called with the first element
    fails.append(at)
    it, got = iter(ds), []
    with pytest.raises(Now):
        for x in it:
            got.append(int(x))
    assert got == list(range(at))
    for _ in range(2):
        with pytest.raises(infeed.StateMismatchError, match="an iterator that there is only once"):
            next(it)
    left = [int(x) for x in ds]
    assert left == list(range(40 - len(left), 40))


def test_a_state_of_an_iterator_that_there_is_once_loads_where_nothing_was_drawn():
    def make():
        once = (x for x in range(5))
        return Dataset.from_generator(lambda: once, output_signature=NUMBER).repeat(2)

    it = iter(make())
    next(it), next(it)
    state, rest = it.state_dict(), [int(x) for x in it]
    again = iter(make())
    again.load_state_dict(state)
    assert [int(x) for x in again] == rest == [2, 3, 4]
