"""The examples in the docstrings are true."""

import builtins
import doctest

import pytest

from infeed import _dataset, _iterator, _options, _spec


@pytest.mark.parametrize("module", [_dataset, _iterator, _options, _spec], ids=lambda m: m.__name__)
def test_examples(module):
    if module is _dataset:
        pytest.importorskip("keras", reason="Keras is not installed, which the example of to_keras trains with")
    failed, tried = doctest.testmod(module)
    vars(builtins).pop("_", None)  # the last value shown, which would keep its memory
    assert failed == 0 and tried > 0


def test_everything_public_has_an_example():
    for owner in (_dataset.Dataset, _iterator.Iterator, _options.Options, _spec.TensorSpec):
        assert ">>>" in owner.__doc__, owner
    for name in dir(_dataset.Dataset):
        if not name.startswith("_"):
            assert getattr(_dataset.Dataset, name).__doc__, name
