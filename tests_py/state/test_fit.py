"""What infeed knows of Keras beyond its public names: a new version that differs is found here, with the name."""

import pytest

from .conftest import Failure


@pytest.mark.tensorflow
def test_names_of_fit_and_its_iterator(run):
    """Taken from a callback's on_train_begin, as `_fit.Fit` does."""
    found = run("private_names")
    assert found["locals"] == ["callbacks", "epoch_iterator", "epochs", "initial_epoch"]
    assert found["iterator"] == ["_current_iterator", "_enumerate_iterator", "_get_iterator", "_num_batches", "_steps_seen", "data_adapter",
                                 "steps_per_epoch", "steps_per_execution"]
    assert found["list"] == ["callbacks"] and found["model"] == ["_initial_epoch", "stop_training"]
    assert found["steps"] == [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5]]
    assert found["seen"] == [1, 2, 3, 4, 5, 6], "_steps_seen counts the step that was given"


def test_state_of_keras_callbacks(run):
    """Every attribute that a training changes in one is in the list of its state, or on that of what is no state."""
    found = run("changed_attributes")
    for name, changed in found.items():
        assert changed["not listed"] == [], f"{name} changes these attributes in training"
        assert changed["missing"] == [], f"{name} has no such attributes any more"


def test_a_version_that_is_not_known(run):
    with pytest.raises(Failure) as e:
        run("unknown_keras")
    assert e.value.error["type"] == "InternalError"
    assert "does not know this version of Keras" in e.value.error["message"] and "_steps_seen" in e.value.error["message"]


@pytest.mark.tensorflow
def test_the_global_generator_of_random_numbers(run):
    assert run("unseeded") == {"same": True, "made": True}
