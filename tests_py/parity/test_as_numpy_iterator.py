"""Dataset.as_numpy_iterator."""

from cases import case, expect


def walked(dataset):
    """The elements as a tuple."""
    return tuple(dataset.as_numpy_iterator())


@case([(0, 1, 2)])
def test_numbers(lib):
    return walked(lib.Dataset.range(3))


@case([(b"a", b"")])
def test_text(lib):
    return walked(lib.Dataset.from_tensor_slices(["a", ""]))


@case([([b"a", b"bc"],)])
def test_batch_of_text(lib):
    return walked(lib.Dataset.from_tensor_slices(["a", "bc"]).batch(2))


@case([({"x": [1, 2], "y": (0.5, b"t")},)])
def test_nested(lib):
    return walked(lib.Dataset.from_tensors({"x": [1, 2], "y": (0.5, "t")}))


@case([()])
def test_of_nothing(lib):
    return walked(lib.Dataset.range(0))


@case([(0, True)])
def test_is_an_iterator(lib):
    iterator = lib.Dataset.range(2).as_numpy_iterator()
    first = next(iterator)
    return first, iter(iterator) is iterator


@case([((0, 1), (0, 1))])
def test_two_at_once(lib):
    ds = lib.Dataset.range(2)
    one, two = ds.as_numpy_iterator(), ds.as_numpy_iterator()
    pairs = [(next(one), next(two)) for _ in (0, 1)]
    return tuple(a for a, _ in pairs), tuple(b for _, b in pairs)


@case([], raises="StopIteration")
def test_after_the_end(lib):
    iterator = lib.Dataset.range(1).as_numpy_iterator()
    next(iterator)
    return next(iterator)


@case([False], infeed=expect([True]), differs="Arrays may be written")
def test_elements_may_be_written(lib):
    return next(lib.Dataset.range(2).batch(2).as_numpy_iterator()).flags.writeable


@case([(0, 1, -1, 3)], infeed=expect([(0, 1, -1, -1, -1)]), differs="An error ends the iteration")
def test_after_an_error(lib):
    """Asked again after an error (-1 here): tf.data goes on behind it, an iterator of infeed stays where it is."""
    fallible = lib.Dataset.from_tensor_slices(["0", "1", "x", "3"]).map(lambda s: lib.io.decode_csv(s, [[0]])[0])
    iterator, got = fallible.as_numpy_iterator(), []
    for _ in range(5):
        try:
            got.append(int(next(iterator)))
        except StopIteration:
            break
        except Exception:
            got.append(-1)
    return tuple(got)
