"""Functions of Python on elements whose shapes differ: they are called for many at once, and each gets what is its own."""

import json
import warnings

import infeed
import numpy as np
import pytest
from infeed import _jobs

N = 400


def rows():
    """Elements of (numbers, texts, a text, a number), of 0 to 6 numbers and texts each."""
    random = np.random.default_rng(5)
    for i in range(N):
        n, m = random.integers(0, 7, 2)
        yield np.arange(i, i + n), np.array([b"t" * (i % 5)] * m + [None], object)[:-1], b"x" * (i % 40), i


SIGNATURE = (infeed.TensorSpec((None,), "int64"), infeed.TensorSpec((None,), "string"), infeed.TensorSpec((), "string"), infeed.TensorSpec((), "int64"))


def dataset():
    return infeed.Dataset.from_generator(rows, output_signature=SIGNATURE)


def told(numbers, texts, text, i):
    """Something that only Python can tell of an element."""
    return json.dumps([numbers.tolist(), [t.decode() for t in texts], text.decode(), int(i)])


def cut(numbers, texts, text, i):
    return (numbers[:2] if i % 3 else numbers), json.dumps(texts.tolist() == [b"t" * (int(i) % 5)] * len(texts))


def odd(numbers, texts, text, i):
    return json.dumps(int(i))[-1] in "13579"


def refused(numbers, texts, text, i):
    if int(json.dumps(int(i))) % 7 == 3:
        raise ValueError(f"no {i}")
    return told(numbers, texts, text, i)


WANTED = [told(*r).encode() for r in rows()]
OPTIONS = [{}, {"num_parallel_calls": 2}, {"processes": 2}]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the functions run as Python
        yield


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_map(options):
    assert list(dataset().map(told, **options)) == WANTED


@pytest.mark.parametrize("indexed", [False, True])
def test_results_whose_shapes_differ(indexed):
    given = list(rows())
    ds = infeed.Dataset.from_indexable(given) if indexed else dataset()
    got = list(ds.map(cut))
    assert [x.tolist() for x, _ in got] == [(n[:2] if i % 3 else n).tolist() for n, _, _, i in given]
    assert {text for _, text in got} == {b"true"}


@pytest.mark.parametrize("options", OPTIONS[:2], ids=str)
def test_filter(options):
    ds = dataset() if not options else dataset().map(lambda *x: (*x[:3], int(json.dumps(int(x[3])))), **options)
    assert [told(*x).encode() for x in ds.filter(odd)] == WANTED[1::2]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_errors_are_at_their_place(options):
    ds = dataset().map(refused, **options)
    got, it = [], iter(ds)
    with pytest.raises(Exception, match="no 3"):
        for x in it:
            got.append(x)
    assert got == WANTED[:3]
    assert list(ds.ignore_errors()) == [w for i, w in enumerate(WANTED) if i % 7 != 3]


@pytest.mark.parametrize("at", [1, 57, 399])
def test_state(at):
    ds = dataset().map(told).filter(lambda text: len(json.loads(text)[0]) != 2)
    wanted = list(ds)
    it = iter(ds)
    head = [next(it) for _ in range(min(at, len(wanted) - 1))]
    resumed = iter(ds)
    resumed.load_state_dict(json.loads(json.dumps(it.state_dict())))
    assert head + list(resumed) == wanted


@pytest.mark.parametrize("use", [lambda ds: ds.map(told), lambda ds: ds.filter(odd)], ids=["map", "filter"])
def test_python_is_called_for_many_at_once(use, monkeypatch):
    ds, jobs, run = use(dataset().cache()), [], _jobs.Jobs.run
    list(ds)
    monkeypatch.setattr(_jobs.Jobs, "run", lambda self, entry: (jobs.append(entry.index), run(self, entry)))
    list(ds)
    assert sum(jobs) == N and len(jobs) < N / 4


def lone(kind):
    """A function that gives what no column has, or another one than before, for the elements 57, 58 and 300."""
    results = {"none": (np.arange(2), None), "objects": (np.arange(2), np.array([{}], object)), "int64": (1, 1 << 40), "int32": (1 << 40, 1),
               "large": (1, 1 << 70), "surrogate": ("a", "\ud800"), "units": (np.datetime64("2020-01-01"), np.datetime64("2020", "Y")),
               "nested": ((1, 2), (1, (2, 3)))}[kind]
    return lambda numbers, texts, text, i: results[int(json.dumps(int(i))) in (57, 58, 300)]


KINDS = ["none", "objects", "int64", "int32", "large", "surrogate", "units", "nested"]


@pytest.mark.parametrize("kind, options", [*((kind, {}) for kind in KINDS), ("none", OPTIONS[1]), ("nested", OPTIONS[2])], ids=str)
def test_a_result_that_no_element_can_be_is_an_error_at_its_place(kind, options):
    ds, got = dataset().map(lone(kind), **options), []
    with pytest.raises(infeed.InvalidArgumentError):
        for x in ds:
            got.append(x)
    assert len(got) == 57
    assert len(list(ds.ignore_errors())) == N - 3
