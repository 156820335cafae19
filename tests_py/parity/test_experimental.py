"""infeed.experimental: tf.data.experimental's names, arguments and defaults, and what is said of those that are not there."""

import inspect

import numpy as np
import pytest
from test_arguments import differences
from test_porting_page import PAGE, first_cells

import infeed

tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
MODULES = {"tensorflow": (tf.data.Dataset, tf.data.experimental), "infeed": (infeed.Dataset, infeed.experimental)}

PIPELINES = {
    "assert_cardinality": lambda D, e: D.range(4).filter(lambda x: x > 1).apply(e.assert_cardinality(2)),
    "bucket_by_sequence_length": lambda D, e: D.range(6).batch(4).apply(e.bucket_by_sequence_length(lambda x: 3, [2], [1, 2], no_padding=False)),
    "dense_to_ragged_batch": lambda D, e: D.range(5).apply(e.dense_to_ragged_batch(batch_size=2, drop_remainder=True)),
    "dense_to_sparse_batch": lambda D, e: D.range(5).apply(e.dense_to_sparse_batch(2, [])).map(lambda t: t.values),
    "enumerate_dataset": lambda D, e: D.range(3).apply(e.enumerate_dataset(start=5)),
    "group_by_window": lambda D, e: D.range(6).apply(e.group_by_window(lambda x: x % 2, lambda key, ds: ds.batch(2), window_size=2)),
    "ignore_errors": lambda D, e: D.range(3).apply(e.ignore_errors()),
    "rejection_resample": lambda D, e: D.range(4).apply(e.rejection_resample(lambda x: 0, [1.0], [1.0], seed=1)).map(lambda kind, x: x),
    "scan": lambda D, e: D.range(4).apply(e.scan(np.int64(0), lambda state, x: (state + x, state + x))),
    "take_while": lambda D, e: D.range(4).apply(e.take_while(lambda x: x < 2)),
    "unbatch": lambda D, e: D.range(4).batch(2).apply(e.unbatch()),
    "unique": lambda D, e: D.from_tensor_slices([1, 2, 1]).apply(e.unique()),
    "Counter": lambda D, e: e.Counter(3, 2).take(2),
    "choose_from_datasets": lambda D, e: e.choose_from_datasets([D.range(1), D.range(5, 7)], D.range(4).map(lambda x: x // 2)),
    "sample_from_datasets": lambda D, e: e.sample_from_datasets([D.range(3), D.range(0)], weights=[1.0, 0.0]),
    "get_single_element": lambda D, e: D.from_tensors(e.get_single_element(D.range(3, 4))),
    "cardinality": lambda D, e: D.from_tensors(int(e.cardinality(D.range(3)))),
    "at": lambda D, e: D.from_tensors(e.at(D.range(3), 2)),
    "AutoShardPolicy": lambda D, e: D.from_tensors([v.value for v in e.AutoShardPolicy]),
    "AutotuneAlgorithm": lambda D, e: D.from_tensors([v.value for v in e.AutotuneAlgorithm]),
    "ExternalStatePolicy": lambda D, e: D.from_tensors([v.value for v in e.ExternalStatePolicy]),
    "constants": lambda D, e: D.from_tensors([e.AUTOTUNE, e.INFINITE_CARDINALITY, e.UNKNOWN_CARDINALITY, e.SHARD_HINT]),
}


def plain(value):
    if isinstance(value, (tuple, list)) or hasattr(value, "to_list"):
        return [plain(v) for v in (value.to_list() if hasattr(value, "to_list") else value)]
    return [plain(v) for v in value] if getattr(value, "ndim", 0) else np.asarray(value).item()


@pytest.mark.parametrize("name", PIPELINES)
def test_it_makes_what_tensorflows_makes(name):
    theirs, ours = ([plain(e) for e in PIPELINES[name](*MODULES[lib]).as_numpy_iterator()] for lib in MODULES)
    assert ours == theirs and ours


def test_save_and_load(tmp_path):
    infeed.experimental.save(infeed.Dataset.range(3), str(tmp_path / "ds"))
    assert [int(x) for x in infeed.experimental.load(str(tmp_path / "ds"))] == [0, 1, 2]


def test_it_takes_what_tensorflows_takes():
    functions = [n for n in infeed.experimental.__all__ if callable(getattr(infeed.experimental, n)) and not n.endswith(("Policy", "Algorithm"))]
    left_out = {"make_saveable_from_iterator": "external_state_policy", "save": "checkpoint_args", "RandomDataset": "rerandomize_each_iteration"}
    said = [d for n in functions for d in differences(n, getattr(tf.data.experimental, n), getattr(infeed.experimental, n)) if n not in left_out]
    assert said == [] and len(functions) > 20


def test_arguments_are_looked_at_where_they_are_given():
    for wrong in (lambda e: e.group_by_window(1), lambda e: e.unbatch(5), lambda e: e.enumerate_dataset(begin=1)):
        for _, e in MODULES.values():
            with pytest.raises(TypeError):
                wrong(e)


def test_fields_of_options_take_the_values():
    options = infeed.Options()
    options.experimental_distribute.auto_shard_policy = infeed.experimental.AutoShardPolicy.OFF
    options.experimental_external_state_policy = infeed.experimental.ExternalStatePolicy.WARN
    options.autotune.autotune_algorithm = infeed.experimental.AutotuneAlgorithm.MAX_PARALLELISM
    assert [int(x) for x in infeed.Dataset.range(2).with_options(options)] == [0, 1]


@pytest.mark.parametrize("module, owner", [(tf.data.experimental, infeed.experimental), (tf.data, infeed), (tf.data.Dataset, None),
                                           (tf.io, infeed.io)], ids=["experimental", "data", "Dataset", "io"])
def test_a_name_that_is_not_there_says_what_to_do(module, owner):
    owner = infeed.Dataset.range(1) if owner is None else owner
    names = [n for n in dir(module) if not n.startswith("_") and not hasattr(owner, n)]
    for name in names:
        with pytest.raises(AttributeError, match=name) as e:
            getattr(owner, name)
        assert "; " in str(e.value), name


def test_names_of_the_experimental_module_are_found_from_infeed():
    with pytest.raises(AttributeError, match="infeed.experimental.unbatch is there"):
        infeed.unbatch
    with pytest.raises(AttributeError, match="use Dataset.interleave"):
        infeed.parallel_interleave
    assert not hasattr(infeed, "__wrapped__") and not hasattr(infeed.Dataset.range(1), "__array__")


def test_each_name_of_tf_io_has_a_row():
    listed = [n for cell in first_cells("tf.io") for n in cell.replace("`", "").split(", ")]
    assert len(listed) == len(set(listed))
    assert set(listed) == {n for n in dir(tf.io) if not n.startswith("_")}
    assert "infeed.experimental" in PAGE.read_text() and inspect.ismodule(infeed.experimental)
