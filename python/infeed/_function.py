"""Functions of elements: traced to programs, or called in Python when the engine asks.

A `Function` decides which of the two it is when the engine first needs it. `_jobs`
answers the engine's calls.
"""

import functools
import itertools
import sys
import threading
import warnings
import weakref

import numpy as np

from infeed import _definition, _errors, _ragged, _trace
from infeed._decoder import Decoder
from infeed._errors import InvalidArgumentError
from infeed._spec import Structure, TensorSpec, settled

_numbers = itertools.count(1)
by_number = weakref.WeakValueDictionary()


_MOST_NESTED = 16  # functions that are tried in one another
_trying = threading.local()


def trying():
    """Whether this thread tries functions."""
    return getattr(_trying, "depth", 0) > 0


class Endless(BaseException):
    """A function makes datasets with itself in them. Derives from BaseException to pass by `except Exception`."""


def tries(method):
    """A method of a function in which it is called: functions in it may be tried too, but not without end."""

    @functools.wraps(method)
    def guarded(self):
        depth = getattr(_trying, "depth", 0)
        if depth == _MOST_NESTED:
            raise Endless(f"{self.op}: {self.name} is called in itself without end: the dataset that it makes or reads has {self.name} in it again")
        _trying.depth = depth + 1
        try:
            return method(self)
        except Endless as e:
            if depth:
                raise
            raise InvalidArgumentError(str(e)) from None
        finally:
            _trying.depth = depth

    return guarded


class Function:
    """A user's function of the elements that some nodes make.

    takes: a function without arguments that gives (structure, specs) of what the
    function is given. sample: the same for an element as the function will be given, or
    None where there is none. others: the same for a few more elements, which are asked
    for where the function fails for the first one and may.
    """

    args = ()  # what it is called with besides
    integers = False  # whether its result is an integer of any dtype

    def __init__(self, fn, op, takes, sample, calls=None, processes=None, others=tuple):
        if not callable(fn):
            raise InvalidArgumentError(f"{op}: {fn!r:.100} is no function; a callable is needed")
        self.fn, self.op, self._takes, self._sample = fn, op, takes, sample
        self.calls, self.processes = calls if processes is None else processes, processes
        self._others, self.may_fail = others, False  # whether what it fails for is left out
        self._mappers, self._starting = None, threading.Lock()
        self.decision = 0  # grows when the function turns out to be another kind
        self._traced = self.reason = self._own = None
        self._compared = False
        self.captures = False  # whether it uses what another function was given, see _subdataset.decided
        self.sampled = None  # what the function made of the first element, once it was compared
        self._number()

    def _number(self):
        self.number = next(_numbers)
        by_number[self.number] = self

    def __getstate__(self):
        return {**self.__dict__, "number": None, "_mappers": None, "_starting": None}

    def __setstate__(self, state):
        self.__dict__.update(state, _starting=threading.Lock())
        self._number()

    @property
    def name(self):
        return getattr(self.fn, "__name__", type(self.fn).__name__)

    # -- which kind -------------------------------------------------------------

    @property
    def decided(self):
        return self._traced is not None or self.reason is not None

    @property
    def known(self):
        """Whether what `document` says is known already."""
        return self._traced is not None or self.reason is not None and self._own is not None

    def decide(self):
        """Traces the function at the first call."""
        if not self.decided:
            self._decide()

    @tries
    def _decide(self):
        structure, specs = self._takes()
        traced = _trace.trace(self.fn, structure, specs, self.integers)
        if isinstance(traced, str):
            self.reason = traced
        else:
            self._traced = traced

    def compare(self):
        """Compares the program with the function on an element; where they differ, the function is called."""
        self.decide()
        if self._traced is not None and not self._compared:
            self._compare()

    @tries
    def _compare(self):
        self._compared = True
        try:
            element = self._sample()
        except Exception:  # it comes at its place
            return
        if element is None:
            return
        from infeed import _program

        try:
            native = _program.of_traced(self._traced, self._takes(), element)
        except _errors.Error as e:
            native = e
        try:
            with np.errstate(all="ignore"):  # native results come without NumPy's warnings
                own = self.call(copied(element))
        except Exception as e:
            own, difference = None, f"it raised {type(e).__name__} on the first element: {e}"
        else:
            if self.integers and type(own) is int and isinstance(native, np.integer):
                own = type(native)(own)
            difference = str(native) if isinstance(native, Exception) else _trace.agree(native, own, self._traced.exact)
        if isinstance(native, Exception) and own is None:
            return  # both fail: the error comes at its place
        self.sampled = own
        if difference:
            self.reason, self._traced = difference, None
            self.decision += 1
            _definition.decisions.count += 1
            warnings.warn(f"{self.op}: {self.name} runs as Python, since {difference}", stacklevel=2)

    def calls_python(self):
        self.decide()
        return self._traced is None

    # -- what it makes ------------------------------------------------------------

    @property
    def structure(self):
        self.decide()
        return self._traced.structure if self._traced else self._results()[0]

    @property
    def specs(self):
        self.decide()
        return self._traced.specs if self._traced else self._results()[1]

    # What it returns, as far as anybody can tell where there is no element that it would be called for.
    unseen = Structure("leaf"), [TensorSpec((), object)]

    def _results(self):
        """Structure and specs of what the function returns, from the first element."""
        if self._own is None:
            return self._try()
        return self._own

    @tries
    def _try(self):
        try:
            return self._seen()
        except Exception:
            for element in self._others() if self.may_fail else ():
                try:
                    return self._of(element)
                except Exception:  # as for the first one
                    pass
            raise

    def _seen(self):
        try:
            element = self._sample()
        except _errors.Error as e:
            raise InvalidArgumentError(f"{self.op}: what {self.name} returns is found with the first element, which fails "
                                       f"({e}); it runs as Python, since {self.reason}") from e
        if element is None:
            return self.unseen
        return self._of(element)

    def _of(self, element):
        structure, leaves = _ragged.split(self.call(copied(element)), f"{self.op}: the result")
        arrays = [_trace.result_array(v, f"{self.op}: the result{path} of {self.name}") for path, v in leaves]
        self._own = structure, structure.of_parts([TensorSpec((None,) * a.ndim, a.dtype) for a in arrays])
        return self._own

    def document(self):
        """The function as the engine reads it (core/pipeline/function.go)."""
        self.decide()
        if self._traced is not None:
            return {"name": self.name, "program": self._traced.document, "hash": self._traced.hash}
        structure, specs = self._results()
        components = [{"dtype": _definition.code(s.dtype), "shape": [-1 if d is None else d for d in s.shape]} for s in specs]
        return {"name": self.name, "call": self.number, "calls": self.calls or 0,
                "spec": {"structure": structure.document(), "components": components}}

    # -- calls ----------------------------------------------------------------------

    def call(self, element):
        result = _trace.call(self.fn, self._takes()[0], element)
        return tuple(result) if result.__class__ is list else result  # `as_result`, in its place: this runs for each element

    def decoder(self):
        return Decoder(*self._takes())

    def answer(self, elements, job):
        """Results of the function for elements: (leaves of each result, exception or None, whether it is the end)."""
        structure, _ = self._results()
        flat = flattener(structure)
        if self.processes is not None:
            return self._elsewhere(elements, flat)
        out = []
        for element in elements:
            try:
                out.append(settled_leaves(flat(self.call(element))) if len(elements) > 1 else flat(self.call(element)))
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as e:
                return out, e, False
        return out, None, False

    def _elsewhere(self, elements, flat):
        """What `answer` gives, made by worker processes."""
        with self._starting:
            if self._mappers is None:
                from infeed import _mapper

                self._mappers = _mapper.Mappers(self.fn, self.processes, self.name, self._takes()[0])
        spread = self._takes()[0].kind == "tuple"
        results, error = self._mappers.call([e if spread else (e,) for e in elements])
        out = []
        for r in results:
            try:
                out.append(flat(_trace.as_result(r)))
            except InvalidArgumentError as e:
                return out, e, False
        return out, error, False


def settled_leaves(leaves):
    """Results as they are now: arrays that others hold too may be written before they are taken."""
    for v in leaves:
        if isinstance(v, (np.ndarray, list)):
            break
    else:
        return leaves  # most functions that run as Python give single values
    out = []
    for v in leaves:
        if type(v) is np.ndarray:
            if v.base is not None or sys.getrefcount(v) > _FRESH:
                v = v.copy()
        elif isinstance(v, (np.ndarray, list)):
            v = settled(v)
        out.append(v)
    return out


_FRESH = [sys.getrefcount(v) for v in (np.empty(0),)][0]  # references to an array that only a tuple holds


def copied(element):
    """A copy for a function to do with as it likes."""
    structure, leaves = Structure.of(element)
    return structure.pack([_ragged.copied(v) if _ragged.is_ragged(v) else v.copy() if isinstance(v, np.ndarray) else v for _, v in leaves])


def flattener(structure):
    """A function from results nested so to the tuples of their components."""
    if structure.kind == "leaf":
        def leaf(result):
            if isinstance(result, (tuple, dict)):
                raise _other(structure, result)
            return (result,)
        return leaf
    if structure.is_flat_tuple():
        n = structure.leaves()

        def flat(result):
            if type(result) is not tuple or len(result) != n:
                raise _other(structure, result)
            for v in result:
                if isinstance(v, (tuple, dict)):
                    raise _other(structure, result)
            return result
        return flat
    if structure.has("ragged"):
        return _ragged.flattener(structure, _other)
    document = structure.document()

    def nested(result):
        found, leaves = Structure.of(result)
        if found.document() != document:
            raise _other(structure, result)
        return tuple([v for _, v in leaves])
    return nested


def _other(structure, result):
    given = Structure.of(result)[0]
    return InvalidArgumentError(f"a function or generator gave {_outline(given)}, where {_outline(structure)} was promised or came before; "
                                "give elements that are nested alike")


class _Array:
    def __repr__(self):
        return "array"


def _outline(structure):
    """How a result is nested, in words."""
    return repr(structure.pack([_Array()] * structure.leaves()))
