"""States of iterators over datasets, on their way out and in."""

import copy

from infeed._arguments import U64
from infeed._errors import InvalidArgumentError


def copied(state):
    """A state that shares nothing with those that come later. Its token is its own already."""
    copied = {k: v.copy() if type(v) is list else v for k, v in state.items()}
    if "rest" in copied:
        copied["rest"] = copy.deepcopy(copied["rest"])
    return copied


def check_types(state):
    """Refuses a damaged state; whether it is of this dataset is for the engine to say."""
    def whole(v, least=-1 << 63, most=U64 >> 1):
        return isinstance(v, int) and not isinstance(v, bool) and least <= v <= most

    def each(good):
        return lambda v: isinstance(v, (list, tuple)) and all(map(good, v))

    def of(**fields):
        return lambda v: isinstance(v, dict) and all(k in fields and fields[k](x) for k, x in v.items())

    def token(v):
        return v is None or of(**{"at": each(whole), "in": each(token), "data": lambda d: isinstance(d, str),
                                  "lost": of(count=whole, places=each(lambda p: isinstance(p, str)))})(v)

    needed = {"pass": whole, "position": whole} if state.get("kind") == "dataset" else {}
    checks = {"format": whole, "order_version": whole, **needed, "kind": lambda v: isinstance(v, str),
              "fingerprint": lambda v: isinstance(v, str),
              "structure": lambda v: isinstance(v, list) and all(isinstance(s, str) for s in v),
              "seeds": lambda v: isinstance(v, list) and all(whole(s, 0, U64) for s in v),
              "shard": lambda v: isinstance(v, (list, tuple)) and len(v) == 2 and all(map(whole, v)),
              "reader": lambda v: isinstance(v, (list, tuple)) and len(v) == 2 and all(map(whole, v)),
              "rows": whole, "token": token, "rest": of(layers=each(of(readers=whole, taken=each(whole))),
                                                        begun=each(of(layer=whole, reader=whole, token=token)))}
    for field, good in checks.items():
        if field in needed and field not in state:
            raise InvalidArgumentError(f"load_state_dict: the state has no {field!r}; give one from state_dict() as it was")
        if field in state and not good(state[field]):
            raise InvalidArgumentError(f"load_state_dict: the state's {field!r} is {state[field]!r:.80}, which state_dict() "
                                       "never gives; give one as it was")
