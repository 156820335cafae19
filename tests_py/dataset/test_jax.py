"""to_jax: elements as arrays on a device."""

import collections

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")

import infeed  # noqa: E402
from infeed import Dataset  # noqa: E402
from infeed.jax import Sender  # noqa: E402

Pair = collections.namedtuple("Pair", "a b")


@pytest.fixture(params=[1, 3, 10**9], ids=["compiled", "compiled soon", "put"])
def often(request, monkeypatch):
    monkeypatch.setattr(Sender, "OFTEN", request.param)


ELEMENTS = {
    "one": lambda n: np.arange(n * 6, dtype="float32").reshape(n, 6),
    "pair": lambda n: (np.arange(n, dtype="int32"), np.arange(n * 3, dtype="uint8").reshape(n, 3)),
    "dict": lambda n: {"b": np.arange(n) % 2 == 1, "a": np.arange(n, dtype="complex64")},
    "nested": lambda n: ({"x": Pair(np.arange(n, dtype="float16"), np.arange(n, dtype="int8"))}, (np.arange(n, dtype="uint32"),)),
    "many dtypes": lambda n: tuple(np.arange(n).astype(d) for d in ("int16", "uint16", "int64", "uint64", "float64", "bool")),
}


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("batch", [0, 4])
def test_elements(name, batch, often):
    ds = Dataset.from_tensor_slices(ELEMENTS[name](23)).shuffle(seed=1)
    ds = ds.batch(batch) if batch else ds
    got = list(ds.to_jax())
    want = list(ds.iterator(epoch=0))
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert jax.tree_util.tree_structure(a) == jax.tree_util.tree_structure(b)
        for x, y in zip(jax.tree_util.tree_leaves(a), jax.tree_util.tree_leaves(b)):
            assert isinstance(x, jax.Array) and x.shape == y.shape and not x.weak_type
            assert x.dtype == jax.dtypes.canonicalize_dtype(y.dtype)
            np.testing.assert_array_equal(np.asarray(x), y)


def test_arrays_stay_as_they_are(often):
    """The engine makes later batches in the memory of earlier ones."""
    x = np.arange(60_000, dtype="float32").reshape(-1, 60)
    for ds in (Dataset.from_tensor_slices(x), Dataset.from_tensor_slices(x).filter(lambda r: r[0] >= 0)):
        for made in (list(ds.batch(16).to_jax()), [b for b in ds.batch(16).to_jax() for _ in range(1)]):
            np.testing.assert_array_equal(np.concatenate([np.asarray(b) for b in made]), x)


def test_shapes_that_differ_are_compiled_for_a_few(monkeypatch):
    monkeypatch.setattr(Sender, "OFTEN", 2)
    ds = Dataset.range(60).map(lambda n: np.arange(int(n) % 9, dtype="int32"))
    it = ds.to_jax()
    for n, x in enumerate(it):
        assert np.asarray(x).tolist() == list(range(n % 9))
    assert len(it._send._often) == Sender.MOST


def test_ints_of_64_bits(often):
    ds = Dataset.from_tensor_slices((np.float32([1, 2, 3, 4]), np.int64([5, -1 << 31, (1 << 31) - 1, 1 << 31]))).batch(1)
    it = ds.to_jax()
    assert [int(next(it)[1][0]) for _ in range(3)] == [5, -1 << 31, (1 << 31) - 1]
    state = it.get_state()
    for _ in range(2):
        with pytest.raises(infeed.InvalidArgumentError, match=r"component\[1\] is int64 and has values beyond int32.*jax_enable_x64"):
            next(it)
    assert it.get_state() == state and state["position"] == 3
    other = Dataset.from_tensors(np.uint64([1 << 40])).to_jax()
    with pytest.raises(infeed.InvalidArgumentError, match="uint64 and has values beyond uint32"):
        next(other)
    it.close(), other.close()
    with jax.enable_x64(True):
        assert [(int(b[1][0]), str(b[1].dtype)) for b in ds.to_jax()][3] == (1 << 31, "int64")


@pytest.mark.parametrize("make", [lambda: Dataset.from_tensor_slices({"a": [1, 2], "b": [b"x", b"y"]}),
                                  lambda: Dataset.from_tensor_slices(["x", "y"]).batch(2),
                                  lambda: Dataset.range(1, 3).map(lambda n: np.ones(int(n))).ragged_batch(2)],
                         ids=["a text", "texts", "ragged"])
def test_what_devices_do_not_hold(make):
    it = make().to_jax()
    for _ in range(2):
        with pytest.raises(infeed.InvalidArgumentError, match="to_jax: component.*dtype object.*map"):
            next(it)
    it.close()


def test_an_error_comes_after_the_elements_before_it():
    def function(x):
        if x == 3:
            raise KeyError("three")
        return np.int32(int(x))
    it = Dataset.range(5).map(function).to_jax()
    assert [int(next(it)) for _ in range(3)] == [0, 1, 2]
    for _ in range(2):
        with pytest.raises(KeyError):
            next(it)
    assert it.get_state()["position"] == 3


def test_an_interrupt_loses_no_element(monkeypatch):
    it, send = Dataset.range(5).to_jax(), Sender.__call__
    got = [int(next(it))]

    def interrupted(self, element):
        if element == 3 and not interrupts:
            interrupts.append(1)
            raise KeyboardInterrupt
        return send(self, element)
    interrupts = []
    monkeypatch.setattr(Sender, "__call__", interrupted)
    while True:
        try:
            got.append(int(next(it)))
        except StopIteration:
            break
        except KeyboardInterrupt:
            assert it.get_state()["position"] == 2
    assert got == [0, 1, 2, 3, 4] and interrupts


def test_what_surrounds_the_loop(often):
    ds = Dataset.range(8).batch(2)
    with jax.transfer_guard("disallow"):
        assert len(list(ds.to_jax())) == 4
    with jax.disable_jit():
        assert all(isinstance(b, jax.Array) for b in ds.to_jax())


def test_a_device_or_sharding_may_be_given(often):
    device = jax.devices()[0]
    for sharding in (device, jax.sharding.SingleDeviceSharding(device)):
        got = list(Dataset.range(6).batch(2).to_jax(sharding))
        assert all(b.devices() == {device} and b.committed for b in got)
        assert np.concatenate(got).tolist() == list(range(6))
