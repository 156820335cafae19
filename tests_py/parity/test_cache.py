"""Dataset.cache."""

import os
import uuid

from cases import case


@case([0, 1, 2], cardinality=3)
def test_in_memory(lib):
    return lib.Dataset.range(3).cache()


@case([0, 1, 0, 1])
def test_repeated(lib):
    return lib.Dataset.range(2).cache().repeat(2)


@case([0, 2, 4])
def test_after_map(lib):
    return lib.Dataset.range(3).map(lambda x: x * 2).cache()


@case([(1, b"a"), (2, b"")])
def test_tuple_with_text(lib):
    return lib.Dataset.from_tensor_slices(([1, 2], ["a", ""])).cache()


@case([[0, 1], [2]])
def test_of_batches(lib):
    return lib.Dataset.range(3).batch(2).cache()


@case([], cardinality=0)
def test_of_nothing(lib):
    return lib.Dataset.range(0).cache()


@case([0, 2], cardinality=-2)
def test_of_unknown_cardinality(lib):
    return lib.Dataset.range(3).filter(lambda x: x != 1).cache()


@case(order="law", law=lambda got: got[:6] == got[6:] and sorted(got[:6]) == list(range(6)), passes="equal")
def test_of_a_shuffle_keeps_its_first_order(lib):
    return lib.Dataset.range(6).shuffle(6, seed=3).cache().repeat(2)


@case(order="multiset", passes="differ")
def test_shuffled_after(lib):
    return lib.Dataset.range(10).cache().shuffle(10, seed=3)


@case([0, 1])
def test_taken(lib):
    return lib.Dataset.range(5).cache().take(2)


def file(lib):
    """A name that no cache had before."""
    return os.path.join(lib.folder, f"cache-{uuid.uuid4()}")


@case([0, 1, 2], cardinality=3)
def test_in_a_file(lib):
    return lib.Dataset.range(3).cache(file(lib))


@case([(1, b"a"), (2, b"b"), (1, b"a"), (2, b"b")])
def test_in_a_file_repeated(lib):
    return lib.Dataset.from_tensor_slices(([1, 2], ["a", "b"])).cache(file(lib)).repeat(2)


@case([0, 1, 2])
def test_name(lib):
    return lib.Dataset.range(3).cache(filename="", name="kept")


@case([], raises="NotFound")
def test_in_a_folder_that_is_not_there(lib):
    return lib.Dataset.range(3).cache(lib.path("no", "such", "folder"))
