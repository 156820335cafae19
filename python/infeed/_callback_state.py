"""The state of callbacks that goes into a backup.

A callback with `state_dict` and `load_state_dict` says itself what it is. Keras's own
have none: the attributes that their methods change in training are listed here.
"""

from infeed._errors import InvalidArgumentError

# By class of keras.callbacks, in the order in which they are looked for.
ATTRIBUTES = {
    "EarlyStopping": ("wait", "stopped_epoch", "best", "best_epoch", "best_weights"),
    "ReduceLROnPlateau": ("wait", "cooldown_counter", "best"),
    "ModelCheckpoint": ("best", "_batches_seen_since_last_saving", "_last_batch_seen"),
    "OrbaxCheckpoint": ("best", "_batches_seen_since_last_saving", "_last_batch_seen", "_total_batches_seen"),
    "TensorBoard": ("_global_train_batch", "_global_test_batch", "_previous_epoch_iterations"),
    "SwapEMAWeights": ("_ema_weights_in_model",),
    "History": ("epoch", "history"),
}


def attributes_of(callback):
    """Names of a Keras callback's attributes that are its state; None where it is none of those."""
    import keras

    for name, attributes in ATTRIBUTES.items():
        if isinstance(callback, getattr(keras.callbacks, name, ())):
            return attributes
    return None


def has_state(callback):
    return has_own(callback) or attributes_of(callback) is not None


def has_own(callback):
    return hasattr(callback, "state_dict") and hasattr(callback, "load_state_dict")


def check(callback):
    """Refuses a callback that was given to have its state saved, and has none."""
    if not has_state(callback):
        raise InvalidArgumentError(f"callbacks: {type(callback).__name__} has no state_dict and load_state_dict, and is none of "
                                   f"Keras's {', '.join(ATTRIBUTES)}")


def state(callback):
    """The state of a callback: nested values with arrays in them."""
    if has_own(callback):
        return callback.state_dict()
    return {name: getattr(callback, name) for name in attributes_of(callback) if hasattr(callback, name)}


def load(callback, found):
    """Gives a callback the state that it had."""
    if has_own(callback):
        callback.load_state_dict(found)
    else:
        for name, value in found.items():
            setattr(callback, name, value)


def named(callbacks):
    """Callbacks that have a state, each under its class and its number among those of the class."""
    found, counts = {}, {}
    for c in callbacks:
        if has_state(c):
            name = type(c).__qualname__
            counts[name] = counts.get(name, 0) + 1
            found[f"{name} {counts[name]}"] = c
    return found
