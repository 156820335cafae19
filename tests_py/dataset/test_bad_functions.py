"""Functions and generators of users that fail, lie, mutate, hang, fork or ask back."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import infeed
from infeed import Dataset, TensorSpec

KINDS = {"the waiting thread": {}, "threads": {"num_parallel_calls": 2}, "processes": {"processes": 1}}
N, BAD = 8, 5


def at(x, bad, good=None):
    """A function's result: good, or its argument, but for element BAD."""
    return bad() if int(x) == BAD else int(x) if good is None else good()


class Own(BaseException):
    pass


RAISED = {  # made anew each time, as their tracebacks keep iterators
    "ValueError": lambda: ValueError("x"), "KeyError": lambda: KeyError(3), "EOFError": EOFError, "OSError": lambda: OSError(2, "no", "f"),
    "RecursionError": lambda: RecursionError("deep"), "GeneratorExit": GeneratorExit, "StopAsyncIteration": StopAsyncIteration,
    "UnicodeDecodeError": lambda: UnicodeDecodeError("utf8", b"x", 0, 1, "why"), "DataLossError": lambda: infeed.DataLossError("theirs"),
    "SystemExit": lambda: SystemExit(3), "KeyboardInterrupt": KeyboardInterrupt, "Own": lambda: Own("own"),
}
TURN = {"the waiting thread": ("SystemExit", "KeyboardInterrupt")}  # these do not wait for their turn there


def raised(kind, name):
    """What a function's exception comes out as, at the first and the second try, and the elements before it."""
    make = RAISED[name]

    def fail():
        raise make()

    it, got, found = iter(Dataset.range(N).map(lambda x: at(x, fail), **KINDS[kind])), [], []
    for _ in range(2):
        try:
            for x in it:
                got.append(int(x))
        except BaseException as e:
            found.append((type(e), str(e)))
    return got, found


@pytest.mark.parametrize("kind", ["the waiting thread", "threads"])
@pytest.mark.parametrize("name", RAISED)
def test_every_exception_comes_out_as_it_is(kind, name):
    got, found = raised(kind, name)
    want = RAISED[name]()
    assert found == [(type(want), str(want))] * 2
    if name not in TURN.get(kind, ()):
        assert got == list(range(BAD))


@pytest.mark.parametrize("name", ["KeyError", "OSError", "SystemExit"])
def test_exceptions_of_processes_come_out_as_they_are(name):
    want = RAISED[name]()
    assert raised("processes", name) == (list(range(BAD)), [(type(want), str(want))] * 2)


ENDS = {
    "map": lambda f: Dataset.range(N).map(f), "map in threads": lambda f: Dataset.range(N).map(f, num_parallel_calls=2),
    "filter": lambda f: Dataset.range(N).filter(lambda x: f(x) > -1), "scan": lambda f: Dataset.range(N).scan(np.int64(0), lambda s, x: (s, f(x))),
    "take_while": lambda f: Dataset.range(N).take_while(lambda x: f(x) > -1), "before batch": lambda f: Dataset.range(N).map(f).batch(4),
    "__getitem__": lambda f: Dataset.from_indexable(type("Own", (), {"__len__": lambda s: N, "__getitem__": lambda s, i: f(i)})()),
}


@pytest.mark.parametrize("name", ENDS)
def test_stop_iteration_is_no_end(name):
    """A loop would take it for the end, and lose the rest in silence (PEP 479)."""
    got = []

    def f(x):
        if int(x) == BAD:
            raise StopIteration(4)
        return np.int64(x)

    with pytest.raises(RuntimeError, match="raised StopIteration") as e:
        for x in ENDS[name](f):
            got.append(x)
    assert isinstance(e.value.__cause__, StopIteration) and len(got) <= BAD


def test_a_generator_that_cannot_begin_is_no_empty_one():
    class Broken:
        def __iter__(self):
            raise StopIteration

    with pytest.raises(RuntimeError, match="raised StopIteration"):
        list(Dataset.from_generator(Broken, output_signature=TensorSpec((), "int32")))


OTHERS = {
    "dtype": (lambda: 1.5, None, "returned float32.*before, it returned int32"), "narrower": (lambda: np.int16(3), lambda: np.int64(1), "int16.*int64"),
    "wider": (lambda: 1 << 40, None, "returned int64"), "too large": (lambda: 1 << 70, None, "is not an int64"),
    "rank": (lambda: np.array([1], "i4"), None, r"int32\[1\].*int32\[\]"), "nested": (lambda: (1, 2), None, r"\(array, array\), where array"),
    "keys": (lambda: {"b": 1}, lambda: {"a": 1}, r"\{'b': array\}, where \{'a': array\}"), "None": (lambda: None, None, "a result of .* is None"),
    "a set": (lambda: {1}, None, "a result of .* is a set"), "ragged": (lambda: ([[1], [2, 3]],), lambda: ([[1]],), "inhomogeneous"),
    "text": (lambda: "a", None, "returned object"), "surrogate": (lambda: "\ud800", lambda: "a", "lone surrogate"),
    "mask": (lambda: np.ma.array([1], mask=[1]), lambda: np.array([1]), "has a mask"), "objects": (lambda: ([object()],), lambda: ([1],), "Python objects"),
    "dataset": (lambda: Dataset.range(3), lambda: np.arange(3), "is a dataset, which is no array"),
    "generator": (lambda: (i for i in range(3)), lambda: np.arange(3), "is a generator"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_results_that_are_unlike_those_before(kind):
    for name, (bad, good, want) in OTHERS.items():
        if kind == "processes" and name not in ("dtype", "keys", "None"):
            continue
        ds, got = Dataset.range(N).map(lambda x: at(x, bad, good), **KINDS[kind]), []
        with pytest.raises(infeed.InvalidArgumentError, match=want):
            for x in ds:
                got.append(x)
        assert len(got) == BAD, name
        it = iter(ds.ignore_errors())
        assert len(list(it)) == N - 1 and it.stats().lost == 1 and it.stats().places == [f"element {BAD}"], name


def test_other_lengths_are_no_error_but_for_batch():
    ds = Dataset.range(4).map(lambda x: np.zeros(int(x)))
    assert [len(a) for a in ds] == [0, 1, 2, 3] and ds.element_spec.shape == (None,)
    with pytest.raises(infeed.InvalidArgumentError, match="use padded_batch or ragged_batch"):
        list(ds.batch(2))


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_arguments_change_nothing_else(kind):
    def f(x):
        if x["a"].sum() < 0:
            raise AssertionError
        x["a"] += 100
        x["b"] = x.pop("a")
        return x

    a = np.arange(6).reshape(3, 2)
    ds = Dataset.from_tensor_slices({"a": a})
    cached = ds.cache()
    for source in (ds, cached, cached):
        mapped = source.map(f, **KINDS[kind])
        assert [e["b"].tolist() for e in mapped] == [[100, 101], [102, 103], [104, 105]]
    assert a.tolist() == [[0, 1], [2, 3], [4, 5]] and [e["a"].tolist() for e in cached] == a.tolist()
    pairs = Dataset.zip((cached.map(f, **KINDS[kind]), cached))
    assert [(int(m["b"][0]), int(e["a"][0])) for m, e in pairs] == [(100, 0), (102, 2), (104, 4)]


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_that_functions_write_again(kind):
    buffer = np.zeros((2, 3))

    def f(x):
        buffer[:] = int(x)
        return {"whole": buffer, "part": buffer[0], "twice": (buffer, buffer[:, 1:]), "list": [buffer[0], [1.0 * int(x)] * 3]}

    one = {"num_parallel_calls": 1} if kind == "threads" else KINDS[kind]  # two threads would write the buffer at once
    for k, e in enumerate(Dataset.range(100).map(f, **one)):
        for a in (e["whole"], e["part"], *e["twice"], e["list"]):
            assert (a == k).all()


ASKED = {"elements": next, "a state": lambda it: it.state_dict(), "another place": lambda it: it.load_state_dict({}), "stats": lambda it: it.stats()}


@pytest.mark.parametrize("kind", ["the waiting thread", "threads"])
@pytest.mark.parametrize("what", ASKED)
def test_a_function_that_asks_its_own_iterator(kind, what):
    it = None

    def f(x):
        return int(ASKED[what](it)) if int(x) == 4 else int(x)

    it = iter(Dataset.range(10).map(f, **KINDS[kind]))
    got, ended = [], threading.Event()

    def walk():
        with pytest.raises(RuntimeError, match="asks the iterator that runs it"):
            for x in it:
                got.append(int(x))
        ended.set()  # or it hangs, with a lock that f waits for

    threading.Thread(target=walk, daemon=True).start()
    assert ended.wait(30) and got == [0, 1, 2, 3]
    it.close()


def test_a_function_that_closes_its_own_iterator():
    def closing():
        yield 0
        it.close()
        yield from range(1, 9)

    def f(x):
        if int(x) == 2:
            it.close()
        return int(x)

    for ds in (Dataset.from_generator(closing, output_signature=TensorSpec((), "int64")), Dataset.range(9).map(f),
               Dataset.range(9).filter(lambda x: f(x) >= 0), Dataset.range(9).map(f, num_parallel_calls=2)):
        it, got = iter(ds), []
        try:
            for x in it:
                got.append(int(x))
        except infeed.CancelledError:
            pass
        assert got == list(range(len(got)))
        with pytest.raises((infeed.CancelledError, StopIteration)):
            next(it)


@pytest.mark.parametrize("kind", KINDS)
def test_functions_may_walk_datasets_start_processes_and_keep_state(kind):
    inner, calls = Dataset.range(5).map(lambda y: int(y) * 2), []

    def f(x):
        calls.append(1)
        if int(x) == 3:
            child = os.fork()
            if not child:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        return sum(int(v) for v in inner) + int(x)

    assert list(Dataset.range(6).map(f, **KINDS[kind])) == [20 + i for i in range(6)]


# -- generators -------------------------------------------------------------------

@pytest.mark.parametrize("values, spec, want", [
    ([1, 1 << 40], TensorSpec((), "int32"), "1099511627776, which int32 cannot hold"), ([1, -1], TensorSpec((), "uint8"), "-1, which uint8 cannot"),
    ([1, 300], TensorSpec((), "uint8"), "300, which uint8"), ([np.int64(1), np.int64(1 << 40)], TensorSpec((), "int32"), "which int32 cannot"),
    ([1, float("nan")], TensorSpec((), "int32"), "nan, which int32"), ([1, float("inf")], TensorSpec((), "int64"), "inf, which int64"),
    ([1, 1j], TensorSpec((), "float32"), "1j, which float32"), ([[1], [1, 300]], TensorSpec((None,), "int8"), "300"),
    ([1, "a"], TensorSpec((), "int32"), "output_signature says"), ([1, None], TensorSpec((), "int32"), "output_signature says"),
    ([1, [1, 2]], TensorSpec((), "int32"), r"int32\[2\]; output_signature says"), ([[1, 2], [1]], TensorSpec((2,), "int32"), "output_signature says"),
    ([[1], [[1]]], TensorSpec((None,), "int32"), "output_signature says"), ([[[1]], [[1], [2, 3]]], TensorSpec((None, None), "int32"), "inhomogeneous"),
    (["a", "\ud800"], TensorSpec((), object), "lone surrogate"), (["a", 3], TensorSpec((), object), "output_signature says"),
    ([1, (1, 2)], TensorSpec((), "int32"), r"int32\[2\]; output_signature says"), ([1, {"a": 2}], TensorSpec((), "int32"), "'a': array}, where array"), ([1, object()], TensorSpec((), "int32"), "output_signature says"),
], ids=repr)
def test_generators_that_give_what_they_did_not_promise(values, spec, want):
    got = []
    with pytest.raises(infeed.InvalidArgumentError, match=want):
        for x in Dataset.from_generator(lambda: iter(values), output_signature=spec):
            got.append(x)
    assert len(got) == 1


def test_generators_that_give_what_fits():
    ds = Dataset.from_generator(lambda: iter([2.5, np.float64(-3), True, np.int8(4)]), output_signature=TensorSpec((), "int32"))
    assert list(ds) == [2, -3, 1, 4]  # as tf.data
    wide = Dataset.from_generator(lambda: iter([(1 << 31) - 1, -1 << 31]), output_signature=TensorSpec((), "int32"))
    assert list(wide) == [(1 << 31) - 1, -1 << 31]
    assert list(Dataset.from_generator(lambda: iter([(1 << 64) - 1]), output_signature=TensorSpec((), "uint64"))) == [(1 << 64) - 1]


def test_a_generator_without_end_can_be_left():
    def count():
        while True:
            yield 1

    for i, _ in enumerate(Dataset.from_generator(count, output_signature=TensorSpec((), "int32"))):
        if i == 1000:
            break


def test_what_a_generator_changes_after_yielding_it():
    def same():
        a = np.zeros(2)
        for i in range(100):
            a[:] = i
            yield a

    got = list(Dataset.from_generator(same, output_signature=TensorSpec((2,), "float64")))
    assert [a[0] for a in got] == list(range(100))


# -- arguments --------------------------------------------------------------------

@pytest.mark.parametrize("make, want", [
    (lambda: Dataset.sample_from_datasets([Dataset.range(2)] * 2, weights=[-1, 2]), "weights is .*not negative"),
    (lambda: Dataset.sample_from_datasets([Dataset.range(2)] * 2, weights=[float("nan"), 1]), "weights is"),
    (lambda: Dataset.range(3).rejection_resample(lambda x: np.int32(0), [float("inf"), 0]), "target_dist is"),
    (lambda: Dataset.from_tensor_slices(Dataset.range(3)), "is a dataset"), (lambda: Dataset.from_tensors(Dataset.range(3)), "is a dataset"),
    (lambda: TensorSpec((-2,)), "shape is"), (lambda: TensorSpec((1 << 70,)), "shape is"),
])
def test_bad_arguments(make, want):
    with pytest.raises(infeed.InvalidArgumentError, match=want):
        list(make())


@pytest.mark.parametrize("shape", [5, "a"])
def test_what_is_no_shape(shape):
    with pytest.raises(TypeError, match="a tuple of dimensions is needed"):
        TensorSpec(shape)


def test_elements_of_no_components():
    for f in (lambda x: (), lambda x: () if int(x) >= 0 else x):
        ds = Dataset.range(5).map(f)
        assert ds.element_spec == () and list(ds) == [()] * 5 and list(ds.batch(2)) == [()] * 3
        assert list(ds.shuffle(3, seed=1).repeat(2).skip(1).cache()) == [()] * 9 and list(ds.enumerate())[4] == (4, ())


@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "bfloat16"])
def test_dtypes_of_other_packages(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name))
    a = np.array([1, 2, 4]).astype(dtype)
    ds = Dataset.from_tensor_slices(a)
    assert ds.element_spec.dtype == dtype and next(iter(ds.batch(3))).dtype == dtype
    assert [float(x) for x in ds.shuffle(seed=1).cache().unique()] == [float(x) for x in ds.shuffle(seed=1)]
    with np.errstate(all="ignore"):
        doubled = list(ds.map(lambda x: (x + x, x.astype("float32"), x.reshape(1))))
    assert [float(x) for x, _, _ in doubled] == [2, 4, 8] and doubled[0][0].dtype == dtype and doubled[0][1].dtype == "float32"
    cast = list(Dataset.range(3).map(lambda x: x.astype(dtype)))
    assert [float(x) for x in cast] == [0, 1, 2] and cast[0].dtype == dtype


# -- the end of the process -------------------------------------------------------

@pytest.mark.parametrize("how", ["num_parallel_calls=2", "processes=1"])
@pytest.mark.parametrize("what", ["exit", "interrupt", "leave"])
def test_functions_that_hang_hold_nobody(how, what):
    code = f"""
    import os, sys, signal, threading, time, infeed
    def f(x):
        if int(x) > 4:
            if {what!r} == "interrupt":
                os.kill(main, signal.SIGINT)
            time.sleep(1000)
        return int(x)
    main = os.getpid()
    it = iter(infeed.Dataset.range(100).map(f, {how}))
    if {what!r} == "interrupt":
        try:  # the function may be ahead of this thread
            list(it)
        except KeyboardInterrupt:
            print("interrupted")
        sys.exit()
    got = [int(next(it)) for _ in range(3)]
    if {what!r} == "leave":
        del it
        print("left")
    else:
        print("exits")
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert out.stdout in ("interrupted\n", "left\n", "exits\n") and out.returncode == 0, out.stderr


def test_a_worker_that_dies_is_told():
    with pytest.raises(infeed.WorkerError, match="exit status -9"):
        list(Dataset.range(N).map(lambda x: at(x, lambda: os.kill(os.getpid(), 9)), processes=1))


@pytest.mark.parametrize("options", [{}, {"num_parallel_calls": 2}], ids=str)
@pytest.mark.parametrize("indexed", [True, False])
def test_exceptions_that_are_left_out_are_not_kept(indexed, options):
    """Each holds the frames it came by, and the elements in them."""
    class Left(Exception):
        pass

    alive = weakref.WeakSet()

    def f(x):
        if int(x) % 2:
            alive.add(error := Left(int(x)))
            raise error
        return x

    ds = Dataset.range(4000) if indexed else Dataset.range(4000).filter(lambda x: x >= 0)
    it = iter(ds.map(f, **options).ignore_errors())
    assert [int(next(it)) for _ in range(1990)] == list(range(0, 3980, 2))
    gc.collect()
    assert len(alive) < 500


class Unloadable:
    def __reduce__(self):
        return divmod, (1, 0)


@pytest.mark.parametrize("bad", [lambda: (i for i in range(3)), Unloadable], ids=["cannot be pickled", "cannot be loaded"])
def test_a_result_that_does_not_come_out_of_a_worker_process_is_an_error_at_its_place(bad):
    ds = Dataset.range(N).map(lambda x: at(x, bad), processes=1)
    got = []
    with pytest.raises(infeed.InvalidArgumentError, match="a result of <lambda> cannot be sent from a worker process"):
        for x in ds:
            got.append(int(x))
    assert got == list(range(BAD))
    assert [int(x) for x in ds.ignore_errors()] == [x for x in range(N) if x != BAD]  # the one process still answers


def test_types_of_a_script_go_to_worker_processes_and_back():
    code = """
    import collections, infeed
    Pair = collections.namedtuple("Pair", "a b")
    class Own(Exception): pass
    def f(i, pair):
        if int(i) == 3:
            raise Own(3)
        return Pair(pair.b, pair.a + int(str(i)))
    it = iter(infeed.Dataset.range(5).map(lambda x: (x, Pair(x, -x))).map(f, processes=1))
    assert [next(it) for _ in range(3)] == [Pair(0, 0), Pair(-1, 2), Pair(-2, 4)]
    try:
        next(it)
    except Own as e:
        print(e)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert (out.stdout, out.stderr) == ("3\n", "")


ENDLESS = {
    "skip": "D.counter().filter(lambda x: x >= 0).skip(10**11)", "filter": "D.range(10**12).filter(lambda x: x < 0)",
    "filter in Python": "D.range(10**12).filter(lambda x: int(x) < 0)",
    "flat_map": "D.range(10**12).flat_map(lambda x: D.range(0))", "unique": "D.range(10**12).map(lambda x: x * 0).unique().skip(1)",
    "ignore_errors": "D.range(10**12).map(lambda x: int(x) // int(x == 0)).ignore_errors().skip(1)",
    "generator": "D.from_generator(lambda: iter(int, 1), output_signature=infeed.TensorSpec((), 'int32')).filter(lambda x: x > 0)",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_datasets_that_never_give_an_element_can_be_interrupted(name):
    code = f"""
    import os, signal, threading, infeed
    D = infeed.Dataset
    signal.signal(signal.SIGINT, signal.default_int_handler)
    it = iter({ENDLESS[name]})
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        next(it)
    except KeyboardInterrupt:
        it.close()
        print("interrupted")
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=30)
    assert out.stdout == "interrupted\n", out.stderr
