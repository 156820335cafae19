"""What a batch may hold: every dtype, layout and structure comes as it was made, through threads and processes."""

import collections
import datetime
import fractions

import numpy as np
import pytest
from samples import Made

Pair = collections.namedtuple("Pair", "left right")

PLAIN = np.arange(24).reshape(4, 6)
RECORD = np.dtype([("id", "<i4"), ("xy", "<f8", (2,)), ("tag", "S3")])

ARRAYS = {
    **{f"dtype-{code}": (PLAIN % 7).astype(code) for code in
       ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16")},
    "big-endian": PLAIN.astype(">f4"),
    "bytes": np.array([b"a", b"bcd", b""]),
    "text": np.array(["a", "bcd", "h\u00e9"]),
    "datetimes": np.array(["2020-01-01", "NaT"], "M8[s]"),
    "timedeltas": np.arange(3).astype("m8[ms]"),
    "records": np.array([(1, (2, 3), b"x"), (4, (5, 6), b"yz")], RECORD),
    "void": np.zeros(3, "V5"),
    "objects": np.array([b"ab", "text", None, 3, {"k": [1]}], object),
    "objects-2d": np.array([[1, "a"], [None, 2.5]], object),
    "nans": np.array([np.nan, np.inf, -np.inf, -0.0]),
    "empty": np.empty(0),
    "empty-2d": np.empty((0, 5), "int16"),
    "empty-last": np.empty((3, 0, 2), "f4"),
    "empty-objects": np.empty((0, 2), object),
    "zero-dim": np.array(7.5),
    "zero-dim-bytes": np.array(b"abc"),
    "fortran": np.asfortranarray(PLAIN.astype("f4")),
    "fortran-3d": np.asfortranarray(np.arange(60.0).reshape(3, 4, 5)),
    "transposed": np.arange(60).reshape(3, 4, 5).transpose(2, 0, 1),
    "strided": np.arange(100)[5::7],
    "reversed": np.arange(10)[::-1],
    "broadcast": np.broadcast_to(np.arange(3), (4, 3)),
    "large": np.arange(300_000, dtype="f4"),
    "large-strided": np.arange(400_000, dtype="f4")[::2],
    "large-objects": np.array([str(i) for i in range(20_000)], object),
}


def same(a, b):
    """Equal in type, dtype, shape and values, NaN included."""
    if isinstance(a, np.ndarray):
        assert type(b) is type(a) and (b.dtype, b.shape) == (a.dtype, a.shape)
        if a.dtype.hasobject:
            assert a.tolist() == b.tolist()
        else:
            assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    elif isinstance(a, dict):
        assert type(b) is type(a) and list(a) == list(b)
        for k in a:
            same(a[k], b[k])
    elif isinstance(a, (tuple, list)):
        assert type(b) is type(a) and len(a) == len(b)
        for x, y in zip(a, b):
            same(x, y)
    else:
        assert type(b) is type(a) and (a == b or a != a)


def served(value, **kind):
    """What comes out of a dataset whose batches are all value."""
    with Made(lambda ds, i: ds.value, 3, **kind) as ds:
        ds.value = value
        return list(ds)


def test_every_array(kind):
    """All in one batch, so that each lies beside the others."""
    for got in served(ARRAYS, **kind):
        same(ARRAYS, got)


@pytest.mark.parametrize("name", ["objects", "empty", "zero-dim", "fortran", "strided", "broadcast", "large"])
def test_arrays_that_are_a_batch(processes, name):
    for got in served(ARRAYS[name], **processes):
        same(ARRAYS[name], got)


STRUCTURES = {
    "x": PLAIN,
    "(x,)": (PLAIN,),
    "(x, y)": (PLAIN, PLAIN[:, 0]),
    "(x, y, weight)": (PLAIN, PLAIN[:, 0], np.ones(4)),
    "dict": {"a": PLAIN, "b": {"c": PLAIN[:1], "d": ()}},
    "empty dict": {},
    "dicts in a tuple": ({"a": PLAIN, "b": PLAIN}, {"y": PLAIN[:, 0]}),
    "list": [PLAIN, PLAIN[0]],
    "nested": ((PLAIN, [PLAIN, (PLAIN,)]), PLAIN),
    "None inside": (PLAIN, None),
    "numbers inside": (1, 2.5, True),
    "text inside": ("abc", b"abc"),
    "numpy scalars": (np.float32(2.5), np.int64(3), np.str_("a")),
    "odd objects": ({"f": fractions.Fraction(1, 3), "d": datetime.date(2020, 1, 1), "s": {1, 2}}, range(3)),
    "ordered dict": collections.OrderedDict(b=PLAIN, a=PLAIN[0]),
    "integer keys": {1: PLAIN, (2, 3): PLAIN[0]},
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures(name):
    for kind in (dict(workers=1), dict(workers=1, use_multiprocessing=True)):
        for got in served(STRUCTURES[name], **kind):
            same(STRUCTURES[name], got)


def test_named_tuples(kind):
    (got, *_) = served(Pair(PLAIN, {"a": PLAIN}), **kind)
    assert type(got).__name__ == "Pair"
    same(PLAIN, got.left)
    same(PLAIN, got.right["a"])


def test_layouts_are_kept(processes):
    """Fortran order stays; what has gaps comes without them."""
    fortran, strided = ARRAYS["fortran"], ARRAYS["large-strided"]
    (a, b), *_ = served((fortran, strided), **processes)
    assert a.flags.f_contiguous and not a.flags.c_contiguous
    assert b.flags.c_contiguous


def test_arrays_from_processes_can_be_written(processes):
    """Also where the worker's own was read-only or a view of one element."""
    frozen = np.arange(5)
    frozen.flags.writeable = False
    for a, b, c in served((frozen, ARRAYS["broadcast"], ARRAYS["large"]), **processes):
        for array in (a, b, c):
            array += 1
        assert a.tolist() == [1, 2, 3, 4, 5]
        assert (b == np.arange(3) + 1).all() and c[-1] == 300_000


def test_the_same_array_twice(processes):
    a, b = served((PLAIN, PLAIN), **processes)[0]
    same(PLAIN, a)
    same(PLAIN, b)


def test_views_of_one_array(processes):
    """Overlapping parts come with their own values."""
    base = np.arange(100_000, dtype="f8")
    for a, b in served((base[:60_000], base[40_000:]), **processes):
        same(base[:60_000], a)
        same(base[40_000:], b)


def test_subclasses_of_array(processes):
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    (a, m), *_ = served((masked, np.asmatrix(PLAIN)), **processes)
    assert a.tolist() == [1.0, None, 3.0]
    assert type(m) is np.matrix and (m == PLAIN).all()


def test_memory_mapped_files(processes, tmp_path):
    """The values come, however the worker holds them."""
    stored = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", "f4", (1000, 50))
    stored[:] = np.arange(50_000).reshape(1000, 50)
    stored.flush()

    def make(ds, index):
        return np.load(ds.path, mmap_mode="r")[index * 10:index * 10 + 10]

    with Made(make, 4, **processes) as ds:
        ds.path = str(tmp_path / "x.npy")
        for i, got in enumerate(ds):
            assert (np.asarray(got) == stored[i * 10:i * 10 + 10]).all()
            got[:] = 0
    assert stored[0, 1] == 1
    del got


def test_sizes_that_change(kind):
    """Larger than any before, smaller again, much larger, empty."""
    sizes = [10, 100_000, 5, 0, 1_000_000, 70_000, 4_000_000, 1]

    def make(ds, index):
        return np.arange(sizes[index], dtype="i4") + index

    with Made(make, len(sizes), max_queue_size=3, **kind) as ds:
        for _ in range(2):
            for index, got in enumerate(ds):
                assert got.shape == (sizes[index],)
                assert (got == np.arange(sizes[index], dtype="i4") + index).all()
    del got


def test_many_leaves(processes):
    batch = {f"column {k}": np.full(k % 7, k) for k in range(3000)}
    for got in served(batch, **processes):
        same(batch, got)


def test_jax_arrays(kind, script):
    """In a process of its own: JAX starts threads and keeps them."""
    pytest.importorskip("jax", reason="jax is not installed")
    script(f"""
        import jax.numpy as jnp, numpy as np
        from samples import Made
        def make(ds, index):
            import jax.numpy as jnp
            return jnp.full((3, 2), index, "float32"), jnp.arange(4, dtype="bfloat16")
        with Made(make, 2, **{kind!r}) as ds:
            for index, (x, y) in enumerate(ds):
                assert type(x).__module__.startswith("jax") and type(x) is type(jnp.zeros(1)), type(x)
                assert (np.asarray(x) == index).all() and x.shape == (3, 2) and x.dtype == "float32"
                assert y.dtype == "bfloat16" and y.tolist() == [0, 1, 2, 3]
        """, JAX_PLATFORMS="cpu")


def test_torch_tensors(kind):
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def make(ds, index):
        import torch
        return torch.full((3, 2), float(index)), torch.arange(4, dtype=torch.bfloat16)

    with Made(make, 2, **kind) as ds:
        for index, (x, y) in enumerate(ds):
            assert isinstance(x, torch.Tensor) and (x == index).all()
            assert y.dtype == torch.bfloat16 and y.tolist() == [0, 1, 2, 3]
