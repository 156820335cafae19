"""Dataset.list_files."""

from cases import case


def relative(*names):
    """A law: the elements are the paths of these files."""
    return lambda got: [p.decode().rpartition("/names/")[2] for p in got] == list(names)


@case(law=relative("a.txt", "b.txt"), cardinality=2)
def test_pattern(lib):
    return lib.Dataset.list_files(lib.path("names", "*.txt"), shuffle=False)


@case(law=relative("a.txt", "b.txt", "c.dat"))
def test_list_of_patterns(lib):
    return lib.Dataset.list_files([lib.path("names", "c.*"), lib.path("names", "*.txt")], shuffle=False)


@case(law=relative("a.txt", "b.txt"))
def test_question_mark(lib):
    return lib.Dataset.list_files(lib.path("names", "?.txt"), shuffle=False)


@case(law=relative("b.txt", "c.dat"))
def test_class_of_characters(lib):
    return lib.Dataset.list_files(lib.path("names", "[bc].*"), shuffle=False)


@case(law=relative("deep/e.txt"))
def test_star_for_a_folder(lib):
    return lib.Dataset.list_files(lib.path("names", "*", "*.txt"), shuffle=False)


@case(law=relative("a.txt"))
def test_plain_name(lib):
    return lib.Dataset.list_files(lib.path("names", "a.txt"), shuffle=False)


@case(order="multiset", passes=None, cardinality=2)
def test_shuffled_by_default(lib):
    return lib.Dataset.list_files(lib.path("names", "*.txt"), seed=1)


@case(order="multiset", passes=None)
def test_shuffle_and_seed(lib):
    return lib.Dataset.list_files([lib.path("names", "*.txt"), lib.path("names", "c.dat")], shuffle=True, seed=3)


@case([], raises="InvalidArgument")
def test_no_match(lib):
    return lib.Dataset.list_files(lib.path("names", "*.none"))


@case([b"one", b"two", b"", b"four"])
def test_read_by_interleave(lib):
    return lib.Dataset.list_files(lib.path("lines.tx?"), shuffle=False).interleave(lib.TextLineDataset)
