"""What tf.data's methods, functions and options are called with: infeed takes it by the same names, in the same order.

A test of its own beside the cases, since what a case does not use it does not see.
"""

import inspect

import pytest

import infeed

# What infeed does not take, and why.
LEFT_OUT = {
    "Dataset.load": {"wait"},  # for what tf.data's service is still writing
    "Dataset.save": {"checkpoint_args"},  # of TensorFlow's Checkpoint
    "experimental.make_saveable_from_iterator": {"external_state_policy"},  # of TensorFlow's ops
}
# Defaults that are none in tf.data.
OPTIONAL = {("Dataset.prefetch", "buffer_size"), ("Dataset.shuffle", "buffer_size")}
NOT_THERE = {"fingerprint"}  # see docs/porting-from-tf-data.md
EXPERIMENTAL = ("CsvDataset", "make_csv_dataset", "make_saveable_from_iterator", "snapshot")


@pytest.fixture(scope="module")
def tf():
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed")


def parameters(function):
    """Names and defaults of what can be given by position, and of all."""
    if inspect.isclass(function):
        function = function.__new__ if issubclass(function, tuple) else function.__init__
    found = [p for n, p in inspect.signature(function).parameters.items() if n not in ("self", "_cls")]
    given = {p.name: getattr(p.default, "name", p.default) for p in found}  # dtypes by name
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)], given


def differences(name, theirs, ours):
    """In what a function cannot be called as tf.data's."""
    first, wanted = parameters(theirs)
    second, given = parameters(ours)
    out = LEFT_OUT.get(name, set())
    first = [n for n in first if n not in out]
    if second[:len(first)] != first:
        yield f"{name}{tuple(first)}: infeed takes {tuple(second)} by position"
    for n, default in wanted.items():
        if n not in out and n not in given:
            yield f"{name}: {n}= is not taken"
        elif n in given and given[n] != default and (name, n) not in OPTIONAL:
            yield f"{name}: {n} is {given[n]!r} by default, in tf.data {default!r}"
    needed = [n for n, default in given.items() if default is inspect.Parameter.empty and n not in wanted]
    if needed:
        yield f"{name}: {needed} must be given"


def test_methods_take_what_tf_datas_take(tf):
    names = {n for n in dir(tf.data.Dataset) if not n.startswith("_")}
    assert {n for n in names if not hasattr(infeed.Dataset, n)} == NOT_THERE
    functions = [n for n in names - NOT_THERE - {"range"} if callable(getattr(tf.data.Dataset, n))]  # range(*args, **kwargs) says nothing
    assert len(functions) > 40
    assert [d for n in sorted(functions)
            for d in differences(f"Dataset.{n}", getattr(tf.data.Dataset, n), getattr(infeed.Dataset, n))] == []


@pytest.mark.parametrize("where, names", [
    ("data", ("FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")), ("experimental", EXPERIMENTAL), ("io", infeed.io.__all__), ("", ("TensorSpec",)),
], ids=["sources", "experimental", "io", "spec"])
def test_functions_take_what_tensorflows_take(tf, where, names):
    theirs = {"data": tf.data, "experimental": tf.data.experimental, "io": tf.io, "": tf}[where]
    ours = infeed.io if where == "io" else infeed
    assert [d for n in names for d in differences(f"{where}.{n}", getattr(theirs, n, None) or getattr(tf, n), getattr(ours, n))] == []


def test_options_have_tf_datas_fields(tf):
    theirs, ours = tf.data.Options(), infeed.Options()
    for name in [n for n in dir(theirs) if not n.startswith("_")]:
        assert hasattr(ours, name), name
        assert [n for n in dir(getattr(theirs, name)) if not n.startswith("_") and "Options" in type(getattr(theirs, name)).__name__
                and not hasattr(getattr(ours, name), n)] == [], name


def test_old_names_of_options_are_the_new_ones(tf):
    for lib in (tf.data, infeed):
        options = lib.Options()
        options.experimental_deterministic = False
        options.experimental_threading.private_threadpool_size = 3
        assert (options.deterministic, options.threading.private_threadpool_size) == (False, 3), lib
        assert options.experimental_deterministic is False
