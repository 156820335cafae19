"""from_generator: elements that a generator of Python yields, and the place in it."""

import inspect
import json
import time

import numpy as np

from infeed import _arrays, _definition, _trace
from infeed._errors import InvalidArgumentError
from infeed._function import Function, flattener, settled_leaves
from infeed._spec import Structure, TensorSpec


class GeneratorNode(_definition.Node):
    """from_generator."""

    def __init__(self, generator, args, structure, specs):
        super().__init__("from_generator", structure=structure)
        self.function = _Generating(generator, args, structure, specs)

    def functions(self):
        return (self.function,)

    def arguments(self):
        return {**self.function.document(), "stateful": self.function.stateful}

    def besides(self):
        return {"args": self.function.args, "output_signature": (self._structure.document(), [repr(s) for s in self.function.promised])}


_REQUEST = Structure("tuple", items=(Structure("leaf"), Structure("leaf")))


class _Generating(Function):
    """The function that asks a generator for its next elements (core/source/generator.go)."""

    def __init__(self, generator, args, structure, specs):
        super().__init__(generator, "from_generator", lambda: (_REQUEST, [TensorSpec((3,), "int64"), TensorSpec((), object)]),
                         lambda: None)
        self.reason = "it is a generator of Python"
        self.args, self.elements, self.promised = args, structure, specs
        self._stateful = False if inspect.isgeneratorfunction(generator) else None

    known = True  # by output_signature, without a call

    @property
    def stateful(self):
        if self._stateful is None:
            made = self.fn(*self.args)
            self._stateful = hasattr(made, "state_dict") and hasattr(made, "load_state_dict")
        return self._stateful

    def _results(self):
        if not self.stateful:
            return self.elements, self.promised
        return Structure("tuple", items=(self.elements, Structure("leaf"))), [*self.promised, TensorSpec((), object)]

    def answer(self, elements, job):
        numbers, state = elements[0]
        walk, passed, limit = (int(n) for n in numbers)
        out = []
        try:
            walks = job.kept.setdefault(self.number, {})
            if walk not in walks:
                made = self.fn(*self.args)
                if state:
                    made.load_state_dict(json.loads(state))
                walks[walk] = made, _iterated(made)
            made, it = walks[walk]
            end = time.monotonic() + _GENERATE
            while len(out) < limit and (not out or time.monotonic() < end):
                try:
                    result = next(it)
                except StopIteration:
                    del walks[walk]
                    return out, None, True
                leaves = settled_leaves(self._cast(result))
                if self.stateful:
                    leaves += (json.dumps(made.state_dict()).encode(),)
                out.append(leaves)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as e:
            return out, e, False
        return out, None, False

    def _cast(self, result):
        """The components of an element, with the dtypes that were promised."""
        leaves = flattener(self.elements)(tuple(result) if isinstance(result, list) and self.elements.kind == "tuple" else result)
        out = []
        for i, (v, spec) in enumerate(zip(leaves, self.promised)):
            if spec.dtype.hasobject:
                a = _trace.result_array(v, f"from_generator: component {i}")
                if a.size == 0 and not isinstance(v, np.ndarray):  # an empty list is one of text too
                    a = a.astype(object)
                good = a.dtype.hasobject
            elif isinstance(v, (str, bytes)) or (a := _array(v, f"from_generator: component {i}")).dtype.kind in "OSU":
                a, good = np.asarray(v, object), False
            else:
                good = a.dtype.kind in "biufcVmM" and np.can_cast(a.dtype, spec.dtype, "same_kind") or not isinstance(v, (np.ndarray, np.generic))
                if good and a.dtype != spec.dtype:
                    if not _keeps(a, spec.dtype):
                        raise InvalidArgumentError(f"from_generator: component {i} is {v!r:.60}, which {spec.dtype} cannot hold; "
                                                   "promise another dtype in output_signature")
                    a = a.astype(spec.dtype)
            if not good or len(spec.shape) != a.ndim or any(d not in (None, n) for d, n in zip(spec.shape, a.shape)):
                raise InvalidArgumentError(f"from_generator: component {i} is {a.dtype}{list(a.shape)}; output_signature says {spec}")
            out.append(a)
        return tuple(out)


def _iterated(made):
    try:
        return iter(made)
    except TypeError as e:
        if hasattr(type(made), "__iter__"):  # it raised that
            raise
        raise InvalidArgumentError(f"from_generator: generator returned {made!r:.100}; it must return a generator, or anything else that "
                                   "can be iterated") from e


_GENERATE = 0.005  # seconds of elements in one answer


def _array(value, what):
    try:
        _arrays.refuse_masks(value)
        return np.asarray(value)
    except ValueError as e:
        raise InvalidArgumentError(f"{what} cannot be made an array: {e}") from e


def _keeps(a, dtype):
    """Whether another dtype has room for the values of an array; fractions of numbers may be lost, as in tf.data."""
    if a.dtype.kind == "c" or dtype.kind not in "iu":
        return a.dtype.kind != "c" or dtype.kind == "c"
    if not a.size or a.dtype.kind not in "iuf":
        return True
    info, least, most = np.iinfo(dtype), a.min().item(), a.max().item()
    return info.min <= least and most <= info.max  # not so for NaN
