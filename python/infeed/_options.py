"""Options: how a dataset is run. None of them changes what comes out."""

import operator

import numpy as np

from infeed._errors import InvalidArgumentError

_FIELDS = {
    "autotune": ("enabled", "cpu_budget", "ram_budget", "autotune_algorithm", "initial_parallelism", "min_parallelism"),
    "threading": ("max_intra_op_parallelism", "private_threadpool_size"),
    "experimental_distribute": ("auto_shard_policy", "num_devices"),
    "experimental_optimization": ("apply_default_optimizations", "filter_fusion", "filter_parallelization",
                                  "inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion",
                                  "map_parallelization", "noop_elimination", "parallel_batch", "seq_interleave_prefetch",
                                  "shuffle_and_repeat_fusion"),
    "experimental_service": ("pinned",),
    "": ("dataset_name", "deterministic", "experimental_external_state_policy", "experimental_slack",
         "experimental_symbolic_checkpoint", "experimental_warm_start", "framework_type", "ram_budget"),
}

# Names that tf.data still takes for others.
_OLD = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}


def _natural(name, value):
    try:
        good = not isinstance(value, bool) and 0 <= operator.index(value) < 1 << 63
    except TypeError:
        good = False
    if not good:
        raise InvalidArgumentError(f"option {name} is {value!r:.200}; it must be an int from 0 to {(1 << 63) - 1}")


def _truth(name, value):
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidArgumentError(f"option {name} is {value!r:.200}; it must be True or False")


def _text(name, value):
    if not isinstance(value, str):
        raise InvalidArgumentError(f"option {name} is {value!r:.200}; it must be a str")


# What is checked of options when they are set; the others are enumerations of TensorFlow's, and lists.
_KINDS = {
    **dict.fromkeys(("cpu_budget", "ram_budget", "initial_parallelism", "min_parallelism", "max_intra_op_parallelism",
                     "private_threadpool_size", "num_devices"), _natural),
    **dict.fromkeys(("enabled", "deterministic", "experimental_slack", "experimental_symbolic_checkpoint", "experimental_warm_start",
                     *_FIELDS["experimental_optimization"]), _truth),
    "dataset_name": _text,
}


class _Group:
    """A group of options; those that are None were not set."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)
        for field in _FIELDS[name]:
            object.__setattr__(self, field, None)

    def __setattr__(self, field, value):
        if field not in _FIELDS[self._name]:
            where = f"Options().{self._name}" if self._name else "Options()"
            raise AttributeError(f"{where} has no option {field!r}; it has {', '.join(_FIELDS[self._name])}")
        check = _KINDS.get(field)
        if check is not None and value is not None:
            check(f"{self._name}.{field}" if self._name else field, value)
        object.__setattr__(self, field, value)

    def _values(self):
        return {(self._name, f): getattr(self, f) for f in _FIELDS[self._name] if getattr(self, f) is not None}


class Options(_Group):
    """How a dataset is run: tf.data's fields, and `ram_budget` in bytes.

    What counts is `threading.private_threadpool_size` (workers; 0: the calling
    thread does the work), and `ram_budget` (or `autotune.ram_budget`; 256 MiB), which
    bounds the memory of what is made ahead: of batches that are ready or lent, and in
    prefetch, interleave and parallel functions, where each has one element at a time,
    however large. Buffers of shuffle, windows and cache are as large as they are asked
    to be. The others are accepted and change nothing: order never depends on how a
    dataset is run.

    Raises AttributeError for an option that does not exist, and InvalidArgumentError for a value that it cannot have.

    Example:
        >>> import infeed
        >>> options = infeed.Options()
        >>> options.threading.private_threadpool_size = 1
        >>> ds = infeed.Dataset.from_tensor_slices([1, 2, 3]).with_options(options)
        >>> ds.options().threading.private_threadpool_size
        1
    """

    def __init__(self):
        super().__init__("")
        for name in _FIELDS:
            if name:
                object.__setattr__(self, name, _Group(name))

    def __getattr__(self, name):  # of what is not there
        if name in _OLD:
            return getattr(self, _OLD[name])
        raise AttributeError(f"Options() has no option {name!r}")

    def __setattr__(self, field, value):
        super().__setattr__(_OLD.get(field, field), value)

    def merge(self, options):
        """These options with those set in `options` instead."""
        out = Options()
        for (name, field), value in {**self._all(), **options._all()}.items():
            setattr(getattr(out, name) if name else out, field, value)
        return out

    def _all(self):
        values = self._values()
        for name in _FIELDS:
            if name:
                values.update(getattr(self, name)._values())
        return values

    def __eq__(self, other):
        return isinstance(other, Options) and self._all() == other._all()

    __hash__ = None

    def __repr__(self):
        set_ = ", ".join(f"{name + '.' if name else ''}{field}={value!r}" for (name, field), value in self._all().items())
        return f"Options({set_})"


def workers(options, default):
    """How many workers options ask for."""
    value = options.threading.private_threadpool_size
    return default if value is None else int(value)


def ram_budget(options):
    """How many bytes batches may take; 0: the engine's default."""
    value = options.ram_budget if options.ram_budget is not None else options.autotune.ram_budget
    return 0 if value is None else int(value)
