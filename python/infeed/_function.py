"""Functions of elements: traced to programs, or called in Python when the engine asks.

A `Function` decides which of the two it is when the engine first needs it. `Jobs`
answers the engine's calls: in the thread that waits for elements, or in threads of
its own.
"""

import hashlib
import inspect
import itertools
import json
import sys
import threading
import time
import warnings
import weakref

import numpy as np

from infeed import _arrays, _definition, _errors, _native, _text, _trace
from infeed._errors import InvalidArgumentError
from infeed._spec import Structure, TensorSpec, settled

_numbers = itertools.count(1)
_by_number = weakref.WeakValueDictionary()
_exceptions = itertools.count(1)


class Function:
    """A user's function of the elements that some nodes make.

    takes: a function without arguments that gives (structure, specs) of what the
    function is given. sample: the same for an element as the function will be given, or
    None where there is none.
    """

    def __init__(self, fn, op, takes, sample, calls=None, processes=None):
        if not callable(fn):
            raise InvalidArgumentError(f"{op}: {fn!r:.100} is no function; a callable is needed")
        self.fn, self.op, self._takes, self._sample = fn, op, takes, sample
        self.calls, self.processes = calls if processes is None else processes, processes
        self._mappers, self._starting = None, threading.Lock()
        self.decision = 0  # grows when the function turns out to be another kind
        self._traced = self.reason = self._own = None
        self._compared = False
        self.sampled = None  # what the function made of the first element, once it was compared
        self._number()

    def _number(self):
        self.number = next(_numbers)
        _by_number[self.number] = self

    def __getstate__(self):
        return {**self.__dict__, "number": None, "_mappers": None, "_starting": None}

    def __setstate__(self, state):
        self.__dict__.update(state, _starting=threading.Lock())
        self._number()

    @property
    def name(self):
        return getattr(self.fn, "__name__", type(self.fn).__name__)

    # -- which kind -------------------------------------------------------------

    def decide(self):
        """Traces the function at the first call."""
        if self._traced is not None or self.reason is not None:
            return
        structure, specs = self._takes()
        traced = _trace.trace(self.fn, structure, specs)
        if isinstance(traced, str):
            self.reason = traced
        else:
            self._traced = traced

    def compare(self):
        """Compares the program with the function on an element; where they differ, the function is called."""
        self.decide()
        if self._traced is None or self._compared:
            return
        self._compared = True
        try:
            element = self._sample()
        except Exception:  # it comes at its place
            return
        if element is None:
            return
        from infeed import _program

        try:
            native = _program.of_traced(self._traced, self._takes()[0], element)
        except _errors.Error as e:
            native = e
        try:
            with np.errstate(all="ignore"):  # native results come without NumPy's warnings
                own = self.call(_copied(element))
        except Exception as e:
            own, difference = None, f"it raised {type(e).__name__} on the first element: {e}"
        else:
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

    def _results(self):
        """Structure and specs of what the function returns, from the first element."""
        if self._own is None:
            try:
                element = self._sample()
            except _errors.Error as e:
                raise InvalidArgumentError(f"{self.op}: what {self.name} returns is found with the first element, which fails "
                                           f"({e}); it runs as Python, since {self.reason}") from e
            if element is None:  # nobody will call it
                return Structure("leaf"), [TensorSpec((), object)]
            structure, leaves = Structure.of(self.call(_copied(element)))
            arrays = [_trace.result_array(v, f"{self.op}: the result{path} of {self.name}") for path, v in leaves]
            self._own = structure, [TensorSpec((None,) * a.ndim, a.dtype) for a in arrays]
        return self._own

    def document(self):
        """The function as the engine reads it (core/pipeline/function.go)."""
        self.decide()
        if self._traced is not None:
            text = json.dumps(self._traced.document, sort_keys=True)
            return {"name": self.name, "program": self._traced.document, "hash": hashlib.sha256(text.encode()).hexdigest()[:12]}
        structure, specs = self._results()
        components = [{"dtype": _definition.code(s.dtype), "shape": [-1 if d is None else d for d in s.shape]} for s in specs]
        return {"name": self.name, "call": self.number, "calls": self.calls or 0,
                "spec": {"structure": structure.document(), "components": components}}

    # -- calls ----------------------------------------------------------------------

    def call(self, element):
        return _trace.call(self.fn, self._takes()[0], element)

    def decoder(self):
        from infeed._iterator import Decoder

        return Decoder(*self._takes())

    def answer(self, elements, job):
        """Results of the function for elements: (leaves of each result, exception or None, whether it is the end)."""
        structure, _ = self._results()
        flat = _flattener(structure)
        if self.processes is not None:
            return self._elsewhere(elements, flat)
        out = []
        for element in elements:
            try:
                out.append(_settled(flat(self.call(element))) if len(elements) > 1 else flat(self.call(element)))
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

                self._mappers = _mapper.Mappers(self.fn, self.processes, self.name)
        spread = self._takes()[0].kind == "tuple"
        results, error = self._mappers.call([e if spread else (e,) for e in elements])
        try:
            return [flat(r) for r in results], error, False
        except InvalidArgumentError as e:
            return [], e, False


def _settled(leaves):
    """Results as they are now: arrays that others hold too may be written before they are taken."""
    for v in leaves:
        if isinstance(v, (np.ndarray, list)):
            break
    else:
        return leaves
    return tuple([settled(v) if not isinstance(v, np.ndarray) or v.base is not None or sys.getrefcount(v) > _FRESH else v for v in leaves])


_FRESH = [sys.getrefcount(v) for v in (np.empty(0),)][0]  # references to an array that only a tuple holds


def _copied(element):
    """A copy for a function to do with as it likes."""
    structure, leaves = Structure.of(element)
    return structure.pack([v.copy() if isinstance(v, np.ndarray) else v for _, v in leaves])


def _flattener(structure):
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
            if type(result) is not tuple or len(result) != n or any(isinstance(v, (tuple, dict)) for v in result):
                raise _other(structure, result)
            return result
        return flat
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


def columns(results, what):
    """Results, as tuples of components, in parts of equal dtypes and shapes: [(rows, [array, ...]), ...]."""
    if not results:
        return []
    whole = [_column([r[i] for r in results], what) for i in range(len(results[0]))]
    if all(c is not None for c in whole):
        return [(len(results), whole)]
    parts, arrays = [], [[_trace.result_array(v, what) for v in r] for r in results]
    kinds = [[(a.dtype, a.shape) for a in r] for r in arrays]
    for key, group in itertools.groupby(range(len(results)), lambda k: kinds[k]):
        rows = [arrays[k] for k in group]
        parts.append((len(rows), [np.stack([r[i] for r in rows]) for i in range(len(key))]))
    return parts


def _column(values, what):
    """Values of one plain kind as an array; None for others."""
    kind = type(values[0])
    if kind in _PLAIN or issubclass(kind, np.generic):
        if all(type(v) is kind for v in values):
            if kind in _PLAIN:
                return _arrays.as_array(values, what)[0] if kind not in (str, bytes) else _text.objects(values)
            return np.array(values)
    elif kind is np.ndarray and not values[0].dtype.hasobject and values[0].dtype.kind not in "SU":
        dtype, shape = values[0].dtype, values[0].shape
        if all(type(v) is np.ndarray and v.dtype == dtype and v.shape == shape for v in values):
            return np.stack(values)
    return None


_PLAIN = (bool, int, float, str, bytes)


_thread = threading.local()


def answering(iterator):
    """Whether this thread is in a function of an iterator, known by an object of its own."""
    if getattr(_thread, "iterator", None) is not iterator:
        return False
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code is Jobs.run.__code__:
            return True
        frame = frame.f_back
    _thread.iterator = None  # an interrupt kept it from being taken back
    return False


class Jobs:
    """Answers the calls of one iterator of the engine."""

    def __init__(self, handle, jobs_handle, threads, iterator=None):
        self.handle, self._lent = handle, _native.Lent()
        self._iterator = iterator
        self.exceptions = {}
        self.kept = {}  # of functions that keep something for each walk
        self._local = threading.local()
        self._take = threading.Lock()
        for _ in range(threads if jobs_handle else 0):
            threading.Thread(target=self._work, args=(jobs_handle,), daemon=True, name="infeed-map").start()

    def _work(self, jobs_handle):
        call = _native.Call(jobs_handle)
        wait = _native.library().infeed_next
        while True:
            with self._take:  # one thread at a time takes from a queue
                status = wait(call.address)
                entry = _native.Entry.from_buffer_copy(call.struct.entry) if status == 0 else None
            if status < 0 or _native.exiting():
                return
            if entry is not None:
                self.run(entry)

    def run(self, entry):
        """Does the job of an entry."""
        memory = _native.lease(entry, self._lent)
        function = _by_number.get(entry.position)
        end, outer = None, getattr(_thread, "iterator", None)
        try:
            _thread.iterator = self._iterator
            if function is None:
                raise InvalidArgumentError("the function of a dataset is gone")
            elements = self._decoder(function)(memory, entry.meta_offset)
            results, error, end = function.answer(elements, self)
        except (KeyboardInterrupt, SystemExit) as e:
            if threading.current_thread() is threading.main_thread():
                raise
            results, error = [], e
        except BaseException as e:
            results, error = [], e
        finally:
            _thread.iterator = outer
        del memory
        self._answer(entry.job, results, error, end, "a result" if function is None else f"{function.op}: a result of {function.name}")

    def _decoder(self, function):
        decoders = self._local.__dict__.setdefault("decoders", {})
        if function.number not in decoders:
            decoders[function.number] = function.decoder()
        return decoders[function.number]

    def _answer(self, job, results, error, end, what):
        parts, keep = [], []
        try:
            parts = [{"rows": rows, "columns": [_described(a, keep) for a in arrays]} for rows, arrays in columns(results, what)]
        except Exception as e:
            parts, error = [], e
        answer = {"parts": parts, "end": bool(end)}
        if error is not None:
            number = next(_exceptions)
            self.exceptions[number] = error
            kind = error.kind if isinstance(error, _errors.Error) else _errors.WorkerError.kind
            answer["error"] = {"id": number, "kind": kind, "text": f"{type(error).__name__}: {error}"}
        try:
            _native.Call(self.handle)("dataset_answer", answer, (job,))
        except _errors.CancelledError:  # nobody waits for it any more
            pass


def _described(a, keep):
    a = np.ascontiguousarray(a)
    dtype = np.dtype(object) if a.dtype.kind in "SUO" else a.dtype
    packed = _text.pack(a) if dtype.hasobject else a
    keep.append(packed)
    return _definition.described(packed, a.shape[1:], dtype)


class FunctionNode(_definition.Node):
    """An operation with a function of elements, in the argument `key`."""

    def __init__(self, op, key, function, args, inputs, structure=None):
        super().__init__(op, args, inputs, structure)
        self.key, self.function = key, function

    def functions(self):
        return (self.function,)

    def arguments(self):
        return {**self.args, self.key: self.function.document()}


class MapNode(FunctionNode):
    """map."""

    def __init__(self, node, fn, calls, processes):
        function = Function(fn, "map", lambda: (node.structure, node.specs), node.first_element, calls, processes)
        super().__init__("map", "map_func", function, {}, (node,))
        self._first = None

    @property
    def structure(self):
        return self.function.structure

    @property
    def specs(self):
        return self.function.specs

    def first_element(self):
        """What the function makes of the first element."""
        if self._first is None:
            element = self.inputs[0].first_element()
            if element is None:
                return None
            try:
                result = self.function.sampled
                structure, leaves = Structure.of(self.function.call(_copied(element)) if result is None else result)
            except Exception:
                return super().first_element()
            self._first = structure.pack([_element(_trace.result_array(v, "the result")) for _, v in leaves])
        return self._first


def _element(a):
    """A component as elements have it: scalars of NumPy instead of arrays without dimensions."""
    return a[()] if a.ndim == 0 else a


class PredicateNode(FunctionNode):
    """filter and take_while."""

    def __init__(self, op, node, fn):
        function = Function(fn, op, lambda: (node.structure, node.specs), node.first_element)
        function._own = Structure("leaf"), [TensorSpec((), bool)]
        super().__init__(op, "predicate", function, {}, (node,))


class ClassNode(FunctionNode):
    """rejection_resample."""

    def __init__(self, node, fn, args):
        function = Function(fn, "rejection_resample", lambda: (node.structure, node.specs), node.first_element)
        super().__init__("rejection_resample", "class_func", function, args, (node,))

    @property
    def structure(self):
        return Structure("tuple", items=(Structure("leaf"), self.inputs[0].structure))


class FoldNode(FunctionNode):
    """scan and reduce, whose functions are given a state and an element."""

    def __init__(self, op, node, state, fn):
        structure, leaves = Structure.of(state)
        given = [_arrays.tensor(v, f"{op}: initial_state{path}") for path, v in leaves]
        self.state = _definition.Slices("from_tensors", structure, [a for a, _ in given], [d for _, d in given])
        specs = [TensorSpec(a.shape, d) for a, d in given]

        def takes():
            return Structure("tuple", items=(structure, node.structure)), specs + node.specs

        def sample():
            element = node.first_element()
            return None if element is None else (structure.pack([_element(_trace.result_array(a, op)) for a, _ in given]), element)

        super().__init__(op, op + "_func", Function(fn, op, takes, sample), {}, (node,))

    @property
    def structure(self):
        found = self.function.structure
        return found.items[1] if self.op == "scan" else found

    def arguments(self):
        return {**super().arguments(), "initial_state": self.state.arguments()}


class IndexableNode(_definition.Node):
    """from_indexable: a function of the numbers of elements."""

    def __init__(self, obj, calls):
        super().__init__("from_indexable")
        self.obj = obj
        self.function = Function(obj.__getitem__, "from_indexable", lambda: (Structure("leaf"), [TensorSpec((), "int64")]),
                                 lambda: 0 if len(obj) else None, calls)
        self.function.reason = "it reads an object of Python"
        self.function.call = _Indexing(obj)

    @property
    def structure(self):
        return self.function.structure

    def functions(self):
        return (self.function,)

    def arguments(self):
        return {**self.function.document(), "length": len(self.obj)}


class _Indexing:
    """What obj has at a number, as a plain int."""

    def __init__(self, obj):
        self.obj = obj

    def __call__(self, number):
        return self.obj[int(number)]


class GeneratorNode(_definition.Node):
    """from_generator."""

    def __init__(self, generator, args, structure, specs):
        super().__init__("from_generator", structure=structure)
        self.function = _Generating(generator, args, structure, specs)

    def functions(self):
        return (self.function,)

    def arguments(self):
        return {**self.function.document(), "stateful": self.function.stateful}


_REQUEST = Structure("tuple", items=(Structure("leaf"), Structure("leaf")))


class _Generating(Function):
    """The function that asks a generator for its next elements (core/source/generator.go)."""

    def __init__(self, generator, args, structure, specs):
        super().__init__(generator, "from_generator", lambda: (_REQUEST, [TensorSpec((3,), "int64"), TensorSpec((), object)]),
                         lambda: None)
        self.reason = "it is a generator of Python"
        self.args, self.elements, self.promised = args, structure, specs
        self._stateful = False if inspect.isgeneratorfunction(generator) else None

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
                walks[walk] = made, iter(made)
            made, it = walks[walk]
            end = time.monotonic() + _GENERATE
            while len(out) < limit and (not out or time.monotonic() < end):
                try:
                    result = next(it)
                except StopIteration:
                    del walks[walk]
                    return out, None, True
                leaves = _settled(self._cast(result))
                if self.stateful:
                    leaves += (json.dumps(made.state_dict()).encode() if self.stateful else b"",)
                out.append(leaves)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as e:
            return out, e, False
        return out, None, False

    def _cast(self, result):
        """The components of an element, with the dtypes that were promised."""
        leaves = _flattener(self.elements)(tuple(result) if isinstance(result, list) and self.elements.kind == "tuple" else result)
        out = []
        for i, (v, spec) in enumerate(zip(leaves, self.promised)):
            if spec.dtype.hasobject:
                a = _trace.result_array(v, f"from_generator: component {i}")
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


_GENERATE = 0.005  # seconds of elements in one answer


def _array(value, what):
    try:
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
