"""Arguments that make no sense: an error that says which and what to do, when they are given or at the latest when they are used."""

import subprocess
import sys

import numpy as np
import pytest

import infeed
from infeed import Dataset, InvalidArgumentError, Options


def bucketed(boundaries, sizes):
    return Dataset.range(5).bucket_by_sequence_length(lambda x: x, boundaries, sizes)


def resampled(target, initial):
    return Dataset.from_tensor_slices(np.int32([0, 1, 5])).rejection_resample(lambda x: x, target, initial)


REFUSED = {
    "all weights are 0; one at least": lambda: Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(3)], weights=[0, 0]),
    "all classes are to have the probability 0": lambda: resampled([0.0, 0.0], None),
    "class_func returned 5; there are 2 classes": lambda: resampled([0.5, 0.5], [0.5, 0.5]),
    "bucket_boundaries has 2 behind 5": lambda: bucketed([5, 2], [1, 1, 1]),
    "bucket_boundaries has 3 behind 3": lambda: bucketed([3, 3], [1, 1, 1]),
    "more than can be counted; count=None repeats without end": lambda: Dataset.range(10).repeat(2**62),
    "256 is not one of the numbers of uint8; give a wider output_type": lambda: Dataset.range(257, output_type="uint8"),
    "-1 is not one of the numbers of uint64": lambda: Dataset.range(3, -2, -1, output_type="uint64"),
    r"numbers of 3 elements from \\d+ on are more than an int64 holds": lambda: Dataset.range(3).enumerate(2**63 - 2),
    r"batch_size is array\(\[3\]\); an int is needed": lambda: Dataset.range(4).batch(np.array([3])),
    "generator returned 5; it must return a generator": lambda: Dataset.from_generator(lambda: 5, output_types="int32"),
    "bucket_boundaries is 5; a list is needed": lambda: bucketed(5, [1]),
    "bucket_batch_sizes is None; a list is needed": lambda: bucketed([5], None),
    "choose_from_datasets: datasets is 3; a list is needed": lambda: Dataset.choose_from_datasets(3, Dataset.range(3)),
    "sample_from_datasets: datasets is None; a list is needed": lambda: Dataset.sample_from_datasets(None),
    "record_defaults is 1; a list is needed": lambda: infeed.io.decode_csv("1", 1),
    "decode_csv: select_cols is 0; a list is needed": lambda: infeed.io.decode_csv("1", [1], select_cols=0),
    "decode_csv: select_cols is 0.5; an int is needed": lambda: infeed.io.decode_csv("1", [1], select_cols=[0.5]),
    "CsvDataset: record_defaults is <class 'int'>; a list of dtypes": lambda: infeed.CsvDataset("f", int),
    "CsvDataset: exclude_cols is 1; a list is needed": lambda: infeed.CsvDataset("f", [1], exclude_cols=1),
    "transformation_func is 3; a function from a Dataset": lambda: Dataset.range(3).apply(3),
    "from_indexable: num_parallel_calls is 'a'; an int is needed": lambda: Dataset.from_indexable([1], num_parallel_calls="a"),
    "num_parallel_calls is 0; it must be at least 1": lambda: Dataset.from_indexable([1], num_parallel_calls=0),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    # What is no list is a TypeError, as in TensorFlow.
    with pytest.raises(TypeError if "a list is needed" in text else InvalidArgumentError, match=text.replace("\\\\", "\\")):
        list(REFUSED[text]())


# Of components (float64[2], {"b": float64[2]}).
NESTED_OTHERWISE = [5, "ab", [3], ([3],), ([3], [3]), ([3], {"c": [3]}), ([3], {"b": [3], "c": [3]}), ([3], {"b": [3]}, [3]), {"b": [3]}]


@pytest.mark.parametrize("given", NESTED_OTHERWISE, ids=str)
def test_padding_that_is_nested_otherwise(given):
    pairs = Dataset.from_tensor_slices((np.ones((3, 2)), {"b": np.ones((3, 2))}))
    with pytest.raises(InvalidArgumentError, match="padded_shapes is .* must be nested as elements are, with one for each of the 2 components"):
        pairs.padded_batch(2, given)
    if isinstance(given, (tuple, dict)):  # any other one is for all components
        with pytest.raises(InvalidArgumentError, match="padding_values is .* must be nested as elements are"):
            pairs.padded_batch(2, ([3], {"b": [3]}), given)
    with pytest.raises(InvalidArgumentError, match="padded_shapes is 2.5; an int is needed"):
        pairs.padded_batch(2, ([3], {"b": [2.5]}))


@pytest.mark.parametrize("many", [3000, 1 << 31, (1 << 63) - 1])
def test_as_many_threads_as_anybody_asks_for(many):
    options = Options()
    options.threading.private_threadpool_size = many
    for ds in (Dataset.range(3).map(int, num_parallel_calls=many), Dataset.from_indexable([0, 1, 2], num_parallel_calls=many),
               Dataset.range(3).filter(lambda x: True).map(lambda x: x, num_parallel_calls=many), Dataset.range(3).with_options(options)):
        assert [int(x) for x in ds] == [0, 1, 2]


def test_what_is_just_possible():
    assert [int(x) for x in Dataset.range(254, 256, output_type="uint8")] == [254, 255]
    assert [int(i) for i, _ in Dataset.range(3).enumerate(2**63 - 3)] == [2**63 - 3, 2**63 - 2, 2**63 - 1]
    assert len(Dataset.range(2).repeat(2**62 - 1)) == 2**63 - 2
    assert [int(x) for x in Dataset.counter(126, dtype="int8").take(3)] == [126, 127, -128]
    assert len(next(iter(Dataset.range(4).batch(np.array(3))))) == 3


def test_an_iterable_that_fails_keeps_its_error():
    class Bad:
        def __iter__(self):
            raise TypeError("not today")
    with pytest.raises(TypeError, match="not today"):
        list(Dataset.from_generator(Bad, output_types="int32"))


BAD_OPTIONS = [("", "ram_budget", -1), ("", "ram_budget", "a"), ("", "ram_budget", 1.5), ("", "ram_budget", True), ("", "ram_budget", 2**63),
               ("autotune", "ram_budget", -1), ("autotune", "enabled", 1), ("autotune", "cpu_budget", "2"), ("", "deterministic", "yes"),
               ("threading", "private_threadpool_size", np.array([3])), ("threading", "max_intra_op_parallelism", None.__class__),
               ("experimental_optimization", "map_fusion", 0), ("experimental_distribute", "num_devices", [1]), ("", "dataset_name", 3)]


@pytest.mark.parametrize("group, field, value", BAD_OPTIONS, ids=str)
def test_options_are_looked_at_when_they_are_set(group, field, value):
    options = Options()
    with pytest.raises(InvalidArgumentError, match=f"option {group + '.' if group else ''}{field} is .*; it must be"):
        setattr(getattr(options, group) if group else options, field, value)
    assert options == Options()


def test_options_that_are_good():
    options = Options()
    for group, field, value in [("", "ram_budget", np.int64(1 << 20)), ("", "deterministic", np.True_), ("autotune", "enabled", False),
                                ("threading", "private_threadpool_size", 0), ("", "framework_type", ["infeed"]), ("", "dataset_name", "mine")]:
        setattr(getattr(options, group) if group else options, field, value)
    options.ram_budget = None  # as it was
    assert len(list(Dataset.range(3).with_options(options))) == 3


def test_names_of_dtypes_need_no_import():
    pytest.importorskip("ml_dtypes")
    code = """
    import sys, infeed
    assert "ml_dtypes" not in sys.modules
    for name in ("bfloat16", "float8_e5m2", "float8_e4m3fn", "int4"):
        assert str(infeed.TensorSpec((), name).dtype) == name
    assert str(infeed.io.decode_raw(b"abcd", "bfloat16").dtype) == "bfloat16"
    ds = infeed.Dataset.from_generator(lambda: iter([[1.5, 2]]), output_signature=infeed.TensorSpec((2,), "bfloat16"))
    print([x.tolist() for x in ds])
    """
    code = "\n".join(line.strip() if not line.startswith("        ") else line[4:] for line in code.splitlines())
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert out.stdout == "[[1.5, 2.0]]\n", out.stderr


@pytest.mark.parametrize("use", [lambda: infeed.TensorSpec((), "floaty"), lambda: infeed.io.decode_raw(b"ab", "floaty"),
                                 lambda: Dataset.range(3, output_type="floaty"), lambda: Dataset.counter(dtype="floaty"),
                                 lambda: infeed.random.uniform((), dtype="floaty"), lambda: Dataset.range(3).ragged_batch(2, row_splits_dtype="floaty")],
                         ids=["TensorSpec", "decode_raw", "range", "counter", "uniform", "ragged_batch"])
def test_what_names_no_dtype(use):
    with pytest.raises(TypeError, match="^(TensorSpec|.*type): 'floaty' is no dtype"):
        use()


@pytest.mark.parametrize("kind", ["flat_map", "map", "Python", "filter"])
def test_a_function_with_itself_in_it(kind, capfd):
    def function(x):
        if kind == "flat_map":
            return Dataset.range(3).flat_map(function)
        if kind == "filter":
            return len(list(Dataset.range(2).filter(function))) > 1
        return next(iter(Dataset.range(2).map(function))) + (int(x) if kind == "Python" else 0)
    ds = Dataset.range(3)
    ds = ds.flat_map(function) if kind == "flat_map" else ds.filter(function) if kind == "filter" else ds.map(function)
    for use in (lambda: ds.element_spec, lambda: list(ds)):
        with pytest.raises(InvalidArgumentError, match="function is called in itself without end"):
            use() if kind != "filter" else list(ds)
    assert capfd.readouterr().err == ""


def test_functions_in_one_another_have_an_end():
    def nested(depth):
        if not depth:
            return lambda x: Dataset.from_tensors(x)
        return lambda x: Dataset.from_tensors(x).flat_map(nested(depth - 1))
    assert [int(x) for x in Dataset.range(3).flat_map(nested(6))] == [0, 1, 2]
