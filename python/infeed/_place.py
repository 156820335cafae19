"""Where fit's training stands among the batches of a dataset: taken from a session, and given to one.

A place is (pass, position): that of the batch that is trained on next. It comes from
what was trained on; the session itself may have been asked for batches beyond.
"""

import warnings

from infeed import _archive, _context
from infeed._engine import engine, hooks_overridden, length_of
from infeed._errors import InvalidArgumentError, StateMismatchError
from infeed._pass import ORDER_VERSION, check_numbers

KIND = "fit"
FORMAT = 1


class Resume:
    """What a session has to know of a training that it goes on with."""

    def __init__(self, batch, after_hook):
        self.batch = batch  # of the epoch, that comes first
        self.after_hook = after_hook  # on_epoch_begin has done its work: what it did is in the dataset's own state


def state(session, pass_, position, arrays):
    """The state before a batch of a pass, for JSON; arrays of the dataset's own state are appended to a list."""
    ds = session.dataset
    e, owner = engine(ds), ds._infeed_hooks()
    found = {"kind": KIND, "format": FORMAT, "order": ORDER_VERSION, "class": name_of(ds), "seed": e.seed,
             "shuffle": bool(session.shuffle), "pass": pass_, "position": position, "length": length_of(ds)}
    if hasattr(type(owner), "state_dict"):
        found["dataset"] = _archive.pack(owner.state_dict(), arrays, f"state_dict() of {type(owner).__name__}")
    if e._outside is not None:
        key, rng = e._outside
        found["rng"] = {"key": list(key), "state": _archive.pack(rng.bit_generator.state, arrays)}
    found.update(ds._infeed_state(session.walk, pass_, position))
    return found


def name_of(dataset):
    """The dataset's class, in words; with that of the one that it wraps."""
    owner = dataset._infeed_hooks()
    name = type(dataset).__qualname__
    return name if owner is dataset else f"{name}({type(owner).__qualname__})"


def check(found, session):
    """Refuses a state of another dataset, or one that is none. Changes nothing."""
    ds = session.dataset
    e, length = engine(ds), length_of(session.dataset)
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise InvalidArgumentError("this is no state of a training's dataset")
    if found.get("format") != FORMAT or found.get("order") != ORDER_VERSION:
        raise StateMismatchError(f"the state of the dataset has format {found.get('format')} and order {found.get('order')}; this "
                                 f"version of infeed reads format {FORMAT} and order {ORDER_VERSION}")
    check_numbers(found, length)
    have = {"class": name_of(ds), "shuffle": bool(session.shuffle), "length": length}
    if e._seed is not None and not e.drawn:
        have["seed"] = e._seed
    differs = [f"{k} was {found.get(k)!r} and is {v!r}" for k, v in have.items() if found.get(k) != v]
    if differs:
        raise StateMismatchError("the backup is of a training on another dataset: " + ", ".join(differs))
    ds._infeed_check(found)


def arm(found, session, batch, arrays):
    """Has the walk of a session that begins next begin at a state; the epoch goes on with a batch."""
    ds = session.dataset
    e, owner = engine(ds), ds._infeed_hooks()
    own = hasattr(type(owner), "load_state_dict")
    if own:
        owner.load_state_dict(_archive.unpack(found.get("dataset"), arrays))
    elif hooks_overridden(ds) and (found["pass"] or found["position"]):
        warnings.warn(f"{type(owner).__name__} has hooks but no state_dict/load_state_dict: what its hooks changed in earlier "
                      "epochs is not restored, and the training may differ from an unbroken one", stacklevel=2)
    drawn, e.seed = e.drawn or e._seed is None, found["seed"]
    e.drawn = drawn
    e.set_epoch(found["pass"])
    session.armed, session.restored = found["position"], ds._infeed_resume(found)
    session.resume = Resume(batch, own and batch > 0)
    # Where on_epoch_begin runs again, it draws again what it drew.
    if "rng" in found and (own or not batch):
        key = tuple(found["rng"]["key"])
        rng = _context.generator(*key, -1)
        rng.bit_generator.state = _archive.unpack(found["rng"]["state"], arrays)
        e._outside = key, rng
