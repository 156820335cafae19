"""Datasets in Keras: streams, whose length is not known, and how long what `to_keras` gives is."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

import infeed

PROGRAM = """
    import numpy as np, infeed, keras
    x, y = np.arange(100, dtype="float32")[:, None], np.zeros((100, 1), "float32")

    ds = infeed.Dataset.from_tensor_slices((x, y)).filter(lambda a, b: a[0] % 2 == 0).shuffle(20, seed=1).batch(8)
    assert ds.cardinality() == infeed.UNKNOWN_CARDINALITY
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", "mse")
    history = model.fit(ds.to_keras(), epochs=3, verbose=0)
    assert int(model.optimizer.iterations) == 3 * 7, model.optimizer.iterations
    assert model.predict(ds.to_keras(), verbose=0).shape == (50, 1)
    model.evaluate(ds.to_keras(), verbose=0)
    model.fit(ds.repeat().to_keras(), epochs=2, steps_per_epoch=5, validation_data=ds.to_keras(), verbose=0)
    assert int(model.optimizer.iterations) == 31
    print("done")
"""


@pytest.mark.parametrize("backend", ["jax", "tensorflow", "torch"])
def test_streams_train(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, timeout=180,
                          env={**os.environ, "KERAS_BACKEND": backend})
    assert done.stdout == "done\n", done.stderr


def test_epochs_have_a_length():
    ds = infeed.Dataset.range(10).batch(4)
    assert len(ds.to_keras()) == 3
    assert len(ds.to_keras(steps=7)) == 7
    assert len(ds.filter(lambda x: x[0] > 0).to_keras()) == 2
    assert not len(ds.take(0).to_keras()) and ds.take(0).to_keras()
    endless = ds.repeat().to_keras()
    assert endless  # Keras asks whether validation data was given
    with pytest.raises(TypeError, match=r"no end; give its epochs one with to_keras\(steps=\)"):
        len(endless)
