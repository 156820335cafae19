"""from_generator: elements that a generator of Python yields, and the place in it."""

import inspect
import itertools
import json
import time
import weakref

import numpy as np

from infeed import _arrays, _definition, _text, _trace
from infeed._errors import InvalidArgumentError, StateMismatchError
from infeed._function import Function, flattener, settled_leaves, tries
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


def _nothing():
    return None


_NOBODY = _nothing, _nothing
_REQUEST = Structure("tuple", items=(Structure("leaf"), Structure("leaf")))


class _Generating(Function):
    """The function that asks a generator for its next elements (core/source/generator.go)."""

    def __init__(self, generator, args, structure, specs):
        super().__init__(generator, "from_generator", lambda: (_REQUEST, [TensorSpec((3,), "int64"), TensorSpec((), object)]),
                         lambda: None)
        self.reason = "it is a generator of Python"
        self.args, self.elements, self.promised = args, structure, specs
        self._stateful = False if inspect.isgeneratorfunction(generator) else None
        self._drawn = None  # by the last trial
        self._walked = _NOBODY  # references to the iterator of the last walk, and to the Jobs that it was in
        if all(isinstance(s, TensorSpec) for s in specs):
            self._own = structure, specs

    def __getstate__(self):
        return {**super().__getstate__(), "_drawn": None, "_walked": _NOBODY}

    @property
    def known(self):
        """Whether the specs are known: by output_signature, or since the first element was looked at."""
        return self._own is not None

    @property
    def stateful(self):
        if self._stateful is None:
            made = self.fn(*self.args)
            self._stateful = hasattr(made, "state_dict") and hasattr(made, "load_state_dict")
        return self._stateful

    def _results(self):
        structure, specs = super()._results()
        if not self.stateful:
            return structure, specs
        return Structure("tuple", items=(structure, Structure("leaf"))), [*specs, TensorSpec((), object)]

    @tries
    def _try(self):
        """Structure and specs of elements, of which the first one says the ranks that were not promised."""
        try:
            leaves = self._walk(trial=True)()
        except Exception:  # it comes at its place; also the end
            leaves = (None,) * len(self.promised)
        self._own = self.elements, [s if isinstance(s, TensorSpec) else TensorSpec((None,) * np.ndim(v), s.dtype) for s, v in zip(self.promised, leaves)]
        return self._own

    def _walk(self, trial, state=None, job=None):
        """A function that gives the leaves of the next element of a new generator.

        Generators may be made of an iterator that there is only once. What a trial
        draws from one comes again, but an iterator over the dataset cannot go on when another, or itself before an error, drew from it.
        """
        made = self.fn(*self.args)
        if state:
            made.load_state_dict(json.loads(state))
        it = _iterated(made)

        def made_now():
            leaves = settled_leaves(self._cast(next(it)))
            return (*leaves, json.dumps(made.state_dict()).encode()) if self.stateful else leaves

        def next_leaves():
            drawn = self._drawn
            return made_now() if drawn is None or not drawn.kept or drawn.iterator() is not it else drawn.first()

        if self._drawn is not None and self._drawn.iterator() is not it:
            self._drawn = None
        if not trial:
            of, by = self._walked
            if job.resumed and not self.stateful and of() is it and by() is not job:
                raise StateMismatchError(f"from_generator: {self.name} gives an iterator that there is only once, and elements were drawn from it "
                                         "that cannot come again; have it give a new iterator each time. iter(dataset) gives what is left")
            self._walked = _reference(it), weakref.ref(job)
            return next_leaves
        if self._drawn is None:
            self._drawn = _Drawn(it)
        return self._drawn.drawer(made_now)

    def answer(self, elements, job):
        numbers, state = elements[0]
        walk, passed, limit = (int(n) for n in numbers)
        out = []
        try:
            walks = job.kept.setdefault(self.number, {})
            if walk not in walks:
                walks[walk] = self._walk(job.trial, state, job)
            draw = walks[walk]
            end = time.monotonic() + _GENERATE
            while len(out) < limit and (not out or time.monotonic() < end):
                try:
                    out.append(draw())
                except StopIteration:
                    del walks[walk]
                    if not isinstance(self._walked[0], weakref.ref):  # it would be kept
                        self._walked = _NOBODY
                    return out, None, True
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as e:
            return out, e, False
        return out, None, False

    def _cast(self, result):
        """The components of an element, with the dtypes that were promised."""
        result = tuple(result) if isinstance(result, list) and self.elements.kind == "tuple" else result
        flat = flattener(self.elements)
        try:
            leaves = flat(result)
        except InvalidArgumentError:  # also for tuples that are to be arrays
            leaves = flat(_with_arrays(self.elements, result))
        out = []
        for i, (v, promised, spec) in enumerate(zip(leaves, self.promised, self.promised if self._own is None else self._own[1])):
            if spec.dtype.hasobject:
                a = _trace.result_array(v, f"from_generator: component {i}")
                if a.size == 0 and not isinstance(v, np.ndarray):  # an empty list is one of text too
                    a = a.astype(object)
                good = a.dtype.hasobject
            elif isinstance(v, (str, bytes)) or (a := _array(v, f"from_generator: component {i}")).dtype.kind in "OSU":
                a, good = np.asarray(v, object), False
            else:
                good = a.dtype.kind in _NUMBERS and spec.dtype.kind in _NUMBERS or np.can_cast(a.dtype, spec.dtype, "same_kind") or not isinstance(v, (np.ndarray, np.generic))
                if good and a.dtype != spec.dtype:
                    if not _keeps(a, spec.dtype):
                        raise InvalidArgumentError(f"from_generator: component {i} is {v!r:.60}, which {spec.dtype} cannot hold; "
                                                   "promise another dtype in output_signature")
                    a = a.astype(spec.dtype)
            if not good or isinstance(promised, TensorSpec) and (len(spec.shape) != a.ndim or any(d not in (None, n) for d, n in zip(spec.shape, a.shape))):
                raise InvalidArgumentError(f"from_generator: component {i} is {a.dtype}{list(a.shape)}; output_signature says {promised}")
            if isinstance(spec, TensorSpec) and len(spec.shape) != a.ndim:
                raise InvalidArgumentError(f"from_generator: component {i} has shape {list(a.shape)}, where the first element has {len(spec.shape)} "
                                           "dimensions; all need as many: give them another shape, and say which in output_signature")
            out.append(a)
        return tuple(out)


_NUMBERS = "biufc"  # which are converted to one another, as in tf.data


def _with_arrays(structure, value):
    """An element with lists, which become arrays, in place of the tuples where no tuples were promised."""
    if structure.kind == "leaf":
        return list(value) if isinstance(value, tuple) else value
    if structure.kind == "dict" and isinstance(value, dict) and value.keys() == set(structure.order):
        return {k: _with_arrays(item, value[k]) for k, item in zip(structure.order, structure.items)}
    if structure.kind not in ("tuple", "namedtuple") or not isinstance(value, tuple) or len(value) != len(structure.items):
        return value
    made = map(_with_arrays, structure.items, value)
    return type(value)(*made) if hasattr(value, "_fields") else tuple(made)


def arguments(args):
    """What a generator is called with: what TensorFlow has arrays of comes as arrays, text as bytes; anything else as it is."""
    out = []
    for i, value in enumerate(args if args is not None else ()):
        if type(value) in (bool, int, float, complex, str, bytes, list, tuple):
            try:
                value = _tensor(value, f"from_generator: args[{i}]")
            except InvalidArgumentError:  # such as lists of rows that differ in length
                pass
        out.append(value)
    return tuple(out)


def _tensor(value, what):
    a, dtype = _arrays.tensor(list(value) if isinstance(value, tuple) else value, what)
    if dtype.hasobject:
        a = _text.objects(a)
    return a[()] if not a.ndim else a


class _Drawn:
    """What trials drew from an iterator, as long as that lives."""

    def __init__(self, iterator):
        self.kept = []  # leaves, or what was raised in their place
        self.iterator = _reference(iterator, lambda _, kept=self.kept: kept.clear())

    def drawer(self, made_now):
        """A function that gives what was drawn, and then what `made_now` makes, which it keeps."""
        places = itertools.count()

        def next_leaves():
            n = next(places)
            if n == len(self.kept):
                try:
                    self.kept.append(made_now())
                except StopIteration:
                    raise
                except Exception as e:
                    self.kept.append(e)
            return _raised(self.kept[n])
        return next_leaves

    def first(self):
        """What was drawn first, which is not kept any longer."""
        return _raised(self.kept.pop(0))


def _reference(iterator, gone=None):
    """A function that gives an iterator as long as that lives, if such a one may be known."""
    try:
        return weakref.ref(iterator, gone)
    except TypeError:  # some of Python's own
        return lambda: iterator


def _raised(leaves):
    if isinstance(leaves, Exception):
        raise leaves
    return leaves


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
