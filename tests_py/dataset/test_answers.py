"""What Python functions give, of shapes that differ or not, is what comes, whoever calls them."""

import numpy as np
import pytest

import infeed

LENGTHS = [3, 3, 3, 0, 5, 5, 1, 0, 0, 7, 2, 2, 9]


def made(n):
    """An element of each kind of column: arrays whose shapes differ, some of them in a row not, and others."""
    return (np.arange(n), np.full((n % 3, 2), n, np.float32), b"t" * n, n, np.float16(n), np.full((2, 2), n, np.uint8),
            np.full(n % 2, n, ">i4"))


def with_texts(n):
    """A vector of text too."""
    return *made(n), np.array([b"x"] * (n % 2), object)


SPEC = tuple(infeed.TensorSpec(s, d) for s, d in [
    ((None,), "i8"), ((None, 2), "f4"), ((), object), ((), "i4"), ((), "f2"), ((2, 2), "u1"), ((None,), "i4")])


class Numbered:
    def __len__(self):
        return len(LENGTHS)

    def __getitem__(self, index):
        return made(LENGTHS[index])


def called(n):
    return made(int(n) if n >= 0 else 0)


def numbers():
    return infeed.Dataset.from_tensor_slices(LENGTHS)


def texts(n):
    return with_texts(int(n) if n >= 0 else 0)


KINDS = {
    "from_indexable": lambda: infeed.Dataset.from_indexable(Numbered()),
    "from_generator": lambda: infeed.Dataset.from_generator(lambda: map(made, LENGTHS), output_signature=SPEC),
    "map": lambda: numbers().map(called),
    "threads": lambda: numbers().map(called, num_parallel_calls=2),
    "processes": lambda: numbers().map(called, processes=1),
    "stream": lambda: numbers().filter(lambda n: n >= 0).map(called),
}


def test_vectors_of_text_among_them():
    for element, n in zip(numbers().map(texts), LENGTHS, strict=True):
        for own, given in zip(element, with_texts(n), strict=True):
            assert np.array_equal(own, np.asarray(given, object if isinstance(given, bytes) else None))


@pytest.mark.parametrize("kind", KINDS)
def test_elements_are_what_functions_gave(kind):
    for ds in (KINDS[kind](), KINDS[kind]().take(1), KINDS[kind]().skip(3)):
        found = list(ds)
        assert found
        for element, n in zip(found, LENGTHS[-len(found):] if len(found) > 1 else LENGTHS, strict=len(found) > 1):
            for own, given in zip(element, made(n), strict=True):
                given = np.asarray(given, object if isinstance(given, bytes) else None)
                assert np.shape(own) == given.shape and np.array_equal(own, given)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_padded_batches_of_them(kind, size):
    """Batches of several are read at once where the input has random access."""
    rows = [made(n)[:2] for n in LENGTHS]
    batches = [rows[k:k + size] for k in range(0, len(rows), size)]
    ds = KINDS[kind]().map(lambda a, b, *_: (a, b)).padded_batch(size)
    for _ in range(2):
        for (x, y), batch in zip(ds, batches, strict=True):
            assert x.shape == (len(batch), max(len(a) for a, _ in batch)) and y.shape[:2] == (len(batch), max(len(b) for _, b in batch))
            for own, other, (a, b) in zip(x, y, batch, strict=True):
                assert np.array_equal(own[:len(a)], a) and not own[len(a):].any()
                assert np.array_equal(other[:len(b)], b) and not other[len(b):].any()


def test_a_batch_that_fails_is_at_its_place():
    """Where several are read at once, those before it come."""
    class Bad(Numbered):
        def __getitem__(self, index):
            if index == 8:
                raise ValueError("eight")
            return made(LENGTHS[index])[:1]

    it = iter(infeed.Dataset.from_indexable(Bad()).padded_batch(2))
    assert [len(next(it)[0]) for _ in range(4)] == [2] * 4
    with pytest.raises(ValueError, match="eight"):
        next(it)
