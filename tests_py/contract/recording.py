"""The model that records, and what it recorded.

A layer writes what it is given into a non-trainable weight, inside the compiled
step, so "seen" below means seen by the training step itself, not merely asked of
the dataset (Keras asks for batches it never trains on).
"""

import keras

CAP = 640


class Log(keras.layers.Layer):
    """Passes its input on and writes (batch, rows, id sum, first id, last id)."""

    def build(self, shape):
        zero = dict(initializer="zeros", trainable=False, dtype="float32")
        self.logs = [self.add_weight(shape=(CAP, 5), name=f"log{k}", **zero) for k in (0, 1)]
        self.tops = [self.add_weight(shape=(), name=f"top{k}", **zero) for k in (0, 1)]

    def call(self, x, training=False):
        ops = keras.ops
        log, top = self.logs[bool(training)], self.tops[bool(training)]
        row = ops.stack([x[0, 1], ops.sum(ops.ones_like(x[:, 0])), ops.sum(x[:, 0]),
                         x[0, 0], x[-1, 0]])
        here = ops.cast(ops.equal(ops.arange(CAP, dtype="float32"), top), "float32")
        log.assign(log + here[:, None] * row[None, :])
        # Depends on the data on purpose: in TensorFlow a step that finds no data still
        # runs what does not need any.
        top.assign(top + ops.cast(x[0, 1] > -1.0, "float32"))
        return x

    def read(self, training):
        n = int(keras.ops.convert_to_numpy(self.tops[training]))
        return keras.ops.convert_to_numpy(self.logs[training])[:n].tolist()


class Net(keras.Model):
    def __init__(self, bias=0.0):
        super().__init__()
        self.log = Log()
        self.out = keras.layers.Dense(1, kernel_initializer="zeros",
                                      bias_initializer=keras.initializers.Constant(bias))

    def call(self, x, training=False):
        if isinstance(x, dict):
            x = x["a"] + 0.0 * x["b"]
        x = self.log(x, training=training)
        return self.out(x[:, :2] * 0.0)


class Echo(keras.Model):
    """Outputs the first two columns and the mean of the rest (or zero)."""

    def __init__(self, rest):
        super().__init__()
        self.rest = rest
        self.log = Log()

    def call(self, x, training=False):
        x = self.log(x, training=training)
        mean = keras.ops.mean(x[:, 2:], axis=1, keepdims=True) if self.rest else x[:, :1] * 0
        return keras.ops.concatenate([x[:, :2], mean], axis=1)


def net(spe=1, eager=False):
    model = Net()
    model.compile(optimizer=keras.optimizers.SGD(0.0), loss="mse", steps_per_execution=spe,
                  run_eagerly=eager)
    return model


class Watch(keras.callbacks.Callback):
    """Counts steps per epoch and per validation round; can stop or raise."""

    def __init__(self, events=None, stop_at=None, raise_at=None):
        super().__init__()
        self.events = events if events is not None else []
        self.train, self.test = [], []
        self.stop_at, self.raise_at = stop_at, raise_at

    def on_epoch_begin(self, epoch, logs=None):
        self.events.append(f"epoch {epoch}")
        self.train.append(0)

    def on_epoch_end(self, epoch, logs=None):
        self.events.append(f"done {epoch}")

    def on_train_batch_end(self, batch, logs=None):
        self.train[-1] = batch + 1
        if len(self.events) and self.events[-1] != "step":
            self.events.append("step")
        if self.stop_at == batch:
            self.model.stop_training = True
        if self.raise_at == batch:
            raise RuntimeError("callback stopped it")

    def on_test_begin(self, logs=None):
        self.events.append("test")
        self.test.append(0)

    def on_test_batch_end(self, batch, logs=None):
        self.test[-1] = batch + 1


def split(rows, counts):
    out, at = [], 0
    for n in counts:
        out.append(rows[at:at + n])
        at += n
    return out, rows[at:]


def seen(model, watch):
    """What the steps were given, epoch by epoch."""
    train, rest = split(model.log.read(1), watch.train)
    test, rest_test = split(model.log.read(0), watch.test)
    pick = lambda part: [[int(r[0]) for r in epoch] for epoch in part]
    return {"train": pick(train), "test": pick(test), "rows": train, "test_rows": test,
            "extra": len(rest) + len(rest_test)}
