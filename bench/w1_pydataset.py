"""W1: a PyDataset that makes whole batches, and how long it makes its user wait.

Two workers, batches of (32, 224, 224, 3), read by the same code as Keras's fit uses
(`as fit`) or by a plain loop. "Work" is 20 ms of CPU time a batch: two cores can make
100 batches a second of it; `unmoved` says what they make at the moment, for nobody.
"""

from bench.figure import Contender, Figure, at_least, at_most, times

FLOAT = {"dtype": "float32"}


def figures(scale):
    """scale: fraction of the batches of a full run."""
    def some(n):
        return max(24, int(n * scale))

    return [*_moved(some), *_worked(some), *_waited(some), *_held()]


def _moved(some):
    for name, n, stock, peers, data, goals in (
            ("4.8 MB uint8", 1500, 60, True, {}, (at_least(3000), times(30, "keras"))),
            ("19.3 MB float32", 300, 24, True, FLOAT, (at_least(300), times(15, "keras"))),
            ("19.3 MB float32, in self.empty", 400, 24, False, {**FLOAT, "place": "empty"},
             (at_least(600), times(15, "keras")))):
        full = {k: v for k, v in data.items() if k != "place"}
        n, stock = some(n), some(stock)
        contenders = [
            Contender("infeed", "infeed_keras:loop", {"n": n, "processes": True, **data}),
            Contender("infeed, plain loop", "infeed_alone:loop", {"n": n, "processes": True, **data}),
            Contender("keras", "stock_keras:loop", {"n": stock, "processes": True, **full}, "keras+jax")]
        if peers:
            contenders += [
                Contender("torch", "torch_loader:loop", {"n": some(80), **full}, "torch"),
                Contender("grain", "grain_loader:loop", {"n": some(60), "processes": 2, **full}, "grain"),
                Contender("spdl, arena", "spdl_pipeline:arena", {"n": some(120), **full}, "spdl")]
        yield Figure(f"W1 processes, {name}", "batches/s", tuple(contenders), goals)


def _worked(some):
    n = some(100)
    python, sort = {"n": n, "work": "python"}, {"n": n, "work": "numpy"}
    yield Figure("W1 processes, 20 ms of Python", "batches/s", (
        Contender("infeed", "infeed_keras:loop", {**python, "processes": True}),
        Contender("unmoved", "plain:unmoved", {**python, "processes": True}),
        Contender("keras", "stock_keras:loop", {**python, "processes": True}, "keras+jax"),
        Contender("torch", "torch_loader:loop", python, "torch"),
        Contender("grain", "grain_loader:loop", {**python, "processes": 2}, "grain")),
        (at_least(92), times(0.92, "unmoved")))
    yield Figure("W1 threads, 20 ms of NumPy", "batches/s", (
        Contender("infeed", "infeed_keras:loop", sort),
        Contender("unmoved", "plain:unmoved", sort),
        Contender("keras", "stock_keras:loop", sort, "keras+jax"),
        Contender("grain", "grain_loader:loop", {**sort, "threads": 2}, "grain"),
        Contender("spdl", "spdl_pipeline:threads", sort, "spdl")),
        (at_least(98), times(0.98, "unmoved")))


def _waited(some):
    n = some(8000)
    yield Figure("W1 threads, small batches", "us/batch", (
        Contender("infeed", "infeed_alone:batch_microseconds", {"n": n}),
        Contender("infeed, 1 thread", "infeed_alone:batch_microseconds", {"n": n, "workers": 1}),
        Contender("infeed, 2 processes", "infeed_alone:batch_microseconds", {"n": n, "processes": True}),
        Contender("bare loop", "plain:batch_microseconds", {"n": n}),
        Contender("keras", "stock_keras:batch_microseconds", {"n": n}, "keras+jax")),
        (at_most(30, "bare loop", "difference"),), less=True)
    yield Figure("W1 end of an epoch in fit", "ms", (
        Contender("infeed", "infeed_keras:epoch_end", {"workers": 2}),
        Contender("infeed, workers=0", "infeed_keras:epoch_end", {"workers": 0}),
        Contender("keras, workers=0", "stock_keras:epoch_end", {"workers": 0}, "keras+jax"),
        Contender("keras", "stock_keras:epoch_end", {"workers": 2}, "keras+jax")),
        (at_most(2, "keras, workers=0", "difference"),), less=True)
    yield Figure("W1 end of an epoch in fit, processes", "ms", (
        Contender("infeed", "infeed_keras:epoch_end", {"workers": 2, "processes": True}),
        Contender("keras, workers=0", "stock_keras:epoch_end", {"workers": 0}, "keras+jax"),
        Contender("keras", "stock_keras:epoch_end", {"workers": 2, "processes": True}, "keras+jax")),
        (at_most(2, "keras, workers=0", "difference"),), less=True)
    for mode, bound, options in (("threads", 50, {}), ("processes", 250, {"processes": True})):
        keras = Contender("keras", "stock_keras:first_wait", options, "keras+jax")
        yield Figure(f"W1 first batch, {mode}", "ms", (
            Contender("infeed", "infeed_alone:first_batch", options, fresh=True), keras), (at_most(bound),), less=True)
        yield Figure(f"W1 first batch of a later pass, {mode}", "ms", (
            Contender("infeed", "infeed_alone:later_pass", options), keras), (at_most(5),), less=True)


def _held():
    yield Figure("W1 longest wait, a worker killed", "s", (
        Contender("infeed", "infeed_alone:killed", {"n": 90, "kill": True}),
        Contender("infeed, none killed", "infeed_alone:killed", {"n": 90, "kill": False}),
        Contender("keras", "stock_keras:killed", {"n": 90}, "keras+jax", limit=8)),
        (at_most(1, "infeed, none killed", "difference"),), less=True)
    yield Figure("W1 memory, 8 workers, 1 GB array", "GB", (
        Contender("infeed", "infeed_alone:memory", {"nbytes": 10**9, "workers": 8}, fresh=True),),
        (at_most(2.3),), less=True, rounds=1, warm=False)
