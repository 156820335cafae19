"""Weights and the place in the data in one checkpoint of Orbax: a run that is broken off goes on at the very batch.

    python examples/orbax_resume.py

Needs jax and orbax-checkpoint.
"""

import json
import tempfile
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

import infeed

STEPS, EVERY, BROKEN_OFF = 40, 5, 23


class IteratorHandler(ocp.CheckpointHandler):
    """Saves anything with get_state and set_state, such as `Dataset.to_jax()`; each process its own."""

    @staticmethod
    def _file(directory):
        return directory / f"state-{jax.process_index()}-of-{jax.process_count()}.json"

    def save(self, directory, args):
        self._file(directory).write_text(json.dumps(args.item.get_state()))

    def restore(self, directory, args):
        args.item.set_state(json.loads(self._file(directory).read_text()))
        return args.item


@ocp.args.register_with_handler(IteratorHandler, for_save=True)
@dataclass
class SaveIterator(ocp.args.CheckpointArgs):
    item: Any


@ocp.args.register_with_handler(IteratorHandler, for_restore=True)
@dataclass
class RestoreIterator(ocp.args.CheckpointArgs):
    item: Any


@jax.jit
def step(weights, x, y):
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w["slopes"] - y) ** 2))(weights)
    return jax.tree.map(lambda w, g: w - 0.05 * g, weights, gradient), loss


def batches():
    x = np.random.default_rng(0).normal(size=(500, 8)).astype("float32")
    y = x @ np.arange(8, dtype="float32")
    return infeed.Dataset.from_tensor_slices((x, y)).shuffle(seed=3).repeat().batch(16, drop_remainder=True).to_jax()


def train(folder, until=STEPS):
    """Trains from the last checkpoint in the folder on; returns the weights and the losses of the steps it did."""
    data, weights, losses = batches(), {"slopes": jnp.zeros(8)}, []
    with ocp.CheckpointManager(folder) as checkpoints:
        first = 0
        if (last := checkpoints.latest_step()) is not None:
            found = checkpoints.restore(last, args=ocp.args.Composite(weights=ocp.args.StandardRestore(weights), data=RestoreIterator(data)))
            weights, first = found["weights"], last
        for number in range(first, until):
            weights, loss = step(weights, *next(data))
            losses.append(float(loss))
            if (number + 1) % EVERY == 0:
                checkpoints.save(number + 1, args=ocp.args.Composite(weights=ocp.args.StandardSave(weights), data=SaveIterator(data)))
    data.close()
    return np.asarray(weights["slopes"]), losses


def main():
    with tempfile.TemporaryDirectory() as unbroken, tempfile.TemporaryDirectory() as broken:
        weights, losses = train(unbroken)
        train(broken, BROKEN_OFF)
        again, rest = train(broken)
    assert rest == losses[-len(rest):] and np.array_equal(weights, again)
    print(f"broken off after step {BROKEN_OFF}, gone on after step {STEPS - len(rest)}: {len(rest)} losses and the weights are those of the unbroken run")


if __name__ == "__main__":
    main()
