"""Operations whose functions return datasets: flat_map, interleave, group_by_window.

Such a function is traced to a template (see `_template`), which the engine fills in
for each element. A function that needs the values themselves is called in Python for
each element, and the dataset that it returns goes to the engine as a definition, with
the arrays in it.
"""

import base64
import collections
import functools
import itertools
import json

import numpy as np

from infeed import _definition, _errors, _function, _nodes, _ragged, _template, _trace
from infeed._decoder import Decoder
from infeed._spec import Structure, TensorSpec


class DatasetFunction(_function.Function):
    """A user's function that returns a dataset.

    takes: as for `Function`, of the components it is given. samples: a function that
    gives a few of the elements it is given. inputs: the nodes whose elements the
    datasets that it is given have. pack: a function that makes (structure, argument)
    of components and datasets.
    """

    def __init__(self, fn, op, takes, samples, inputs=(), pack=None, calls=None, others=tuple):
        super().__init__(fn, op, takes, lambda: next(iter(samples()), None), calls, others=others)
        self._samples, self._inputs, self._pack = samples, inputs, pack
        self._template = None
        self._seed = int.from_bytes(np.random.SeedSequence().generate_state(2).tobytes()[:7], "little")

    def _given(self, components):
        """The structure of what the function is given, and the argument."""
        from infeed._dataset import Dataset

        structure = self._takes()[0]
        datasets = [Dataset(_template.InputNode("input", {"index": i}, n.structure, n.specs, n)) for i, n in enumerate(self._inputs)]
        if self._pack:
            return self._pack(components, datasets)
        return structure, structure.pack(components)

    # -- which kind ----------------------------------------------------------------

    @property
    def decided(self):
        return self._template is not None or self.reason is not None

    def decide(self):
        """Traces the function at the first call. TypeError where it does not return a dataset."""
        if not self.decided:
            self._decide()

    @_function.tries
    def _decide(self):
        first = self._once()
        second = first if isinstance(first, str) else self._once()
        if not isinstance(second, str) and _without_seeds(first.key()) != _without_seeds(second.key()):
            second = "it does something else, or uses another number, each time it is called"
        if isinstance(second, str):
            self.reason = second
        else:
            self._template = first

    def _once(self):
        t = _template.Trace(_trace.active(), self._components)
        _, specs = self._takes()
        leaves = [t.value(s.shape, s.dtype) for s in specs]
        with _trace.entered(t):
            try:
                dataset = checked(self, _trace.call(self.fn, *self._given(leaves)))
                for f in functions_of(dataset):
                    decided(t, f)
                dataset.element_spec
                return t.reason or Template(dataset, t.program())
            except _trace.EndOfTrace as e:
                return t.reason or str(e)
            except TypeError as e:
                if getattr(e, "infeed", False):
                    raise
                return t.reason or f"it raised {type(e).__name__}: {e}"
            except Exception as e:
                return t.reason or f"it raised {type(e).__name__}: {e}"
            finally:
                t.reason = t.reason or "its argument was used after the call in which it was given"

    def _components(self):
        """The components of a few elements that the function is tried on."""
        return (_components_of(self._takes(), e) for e in self._samples())

    def compare(self):
        """Compares what is inside with Python's results."""
        for f in self.inside():
            f.compare()

    def calls_python(self):
        self.decide()
        return self._template is None or any(f.calls_python() for f in self.inside())

    def inside(self):
        """The functions in the dataset that it returns."""
        self.decide()
        return functions_of(self._template) if self._template else []

    # -- what it makes ---------------------------------------------------------------

    @property
    def structure(self):
        return self._made()[0]

    @property
    def specs(self):
        return self._made()[1]

    def _made(self):
        self.decide()
        return self._results() if self._template is None else (self._template._node.structure, self._template._node.specs)

    def _seen(self):
        made = None
        for components in self._components():
            made = checked(self, self.call(components))
            if not any(map(unknown, functions_of(made))):
                break
        return self.unseen if made is None else self._like(made)

    def _of(self, element):
        return self._like(checked(self, self.call(_components_of(self._takes(), element))))

    def _like(self, made):
        self._own = made._node.structure, [TensorSpec((None,) * len(s.shape), s.dtype) for s in made._node.specs]
        return self._own

    def document(self):
        """The function as the engine reads it (core/pipeline/builder.go)."""
        structure, specs = self._made()
        spec = _template.spec_document(structure, specs)
        if self._template is None:
            return {"name": self.name, "call": self.number, "spec": spec, "seed": self._seed}
        return {"name": self.name, "template": self._template._node.document(), "program": self._template.program, "spec": spec}

    # -- calls -------------------------------------------------------------------------

    def call(self, components):
        return _trace.call(self.fn, *self._given(components))

    def decoder(self):
        structure, specs = self._takes()
        return Decoder(Structure("tuple", items=(Structure("leaf"),) * structure.leaves()), specs)

    def _as_promised(self, made):
        """A dataset, as one of those that all have equal elements: one without any may not tell what they would be."""
        if not any(map(unknown, functions_of(made))):
            return made
        out = _nodes.MapNode(made._node, _unforeseen, None, None)
        out.function.reason, out.function._own = "it is not to be called", self._results()
        return made._of(out, made._options)

    def answer(self, elements, job):
        """Definitions for elements, each with the arrays that it refers to."""
        out, kept = [], job.kept.setdefault(self.number, collections.deque(maxlen=_KEPT))
        for components in elements:
            try:
                made = self._as_promised(checked(self, self.call(list(components))))
                kept.append(made)  # its functions may be called as long as it is open
                out.append(inline(made))
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as e:
                return out, e, False
        return out, None, False


def _unforeseen(*element):
    raise _errors.InvalidArgumentError(f"a dataset that a function made had no element when its own functions were tried, and has {element!r:.100} now; "
                                       "its functions must do the same each time")


_KEPT = 1 << 14  # datasets that a function of Python returned lately


class Template:
    """What a function was traced to."""

    def __init__(self, dataset, program):
        self._node, self.program = dataset._node, program

    def key(self):
        """What tells it apart."""
        return [self._node.document(), self.program]


def _without_seeds(document):
    """A definition without what is another in each call: drawn seeds, numbers of functions, and where arrays lie."""
    if isinstance(document, dict):
        drawn = document.get("drawn") is True
        return {k: _without_seeds(v) for k, v in document.items() if k not in ("address", "offsets", "call") and not (drawn and k == "seed")}
    return [_without_seeds(v) for v in document] if isinstance(document, (list, tuple)) else document


def functions_of(dataset):
    """The functions of a dataset that may have to be called in Python."""
    return [f for n in dataset._node.nodes() for f in n.functions()]


def decided(trace, f):
    """Traces a function inside of one that is being traced, while it may use what is outside of it."""
    f.decide()
    made = f._template.program if isinstance(f, DatasetFunction) and f._template else f._traced and f._traced.document
    f.captures = made is not None and '"$const"' in json.dumps(made)
    if f.captures:  # Python cannot run it, nor keep what it uses
        f._compared, f.fn = True, _Gone(f.name)
    if f.calls_python() and _holds_standin(functools.partial(f.fn, *f.args)):
        trace.end(f"{f.name}, which uses its argument, runs as Python, since {f.reason}")
    if unknown(f):
        trace.end(f"{f.name} runs as Python, and no element was found that tells what it returns")


def unknown(f):
    """Whether what a function of Python returns is not known."""
    if f.known or not f.calls_python():
        return False
    f._results()
    return f._own is None


class _Gone:
    """In place of a function that used what another was given."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *args):
        raise _errors.InvalidArgumentError(f"{self.__name__} uses what another function was given")


def _holds_standin(fn):
    """Whether a function brings a stand-in along."""
    if isinstance(fn, functools.partial):
        return _trace.trace_of([*fn.args, fn.keywords]) is not None or _holds_standin(fn.func)
    values = list(getattr(fn, "__defaults__", None) or ()) + [getattr(fn, "__self__", None)]
    for cell in getattr(fn, "__closure__", None) or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # it is empty
            pass
    return _trace.trace_of(values) is not None or any(callable(v) and hasattr(v, "__closure__") and v is not fn and _holds_standin(v) for v in values)


def checked(function, result):
    """What a function returned, which is to be a dataset, or nested ones, which are zipped."""
    from infeed._dataset import Dataset

    if isinstance(result, Dataset):
        return result
    found = [] if result is None else [d for _, d in Structure.of(result)[1]]
    if isinstance(result, (tuple, dict)) and found and all(isinstance(d, Dataset) for d in found):
        return Dataset.zip(result)
    e = TypeError(f"{function.op}: {function.name} must return a Dataset; it returned {type(result).__name__}")
    e.infeed = True
    raise e


def inline(dataset):
    """A dataset as a function of Python answers with: its definition as bytes, and the arrays it refers to."""
    arrays, places, document = [], {}, []
    for n in dataset._node.nodes():
        op, args = n.op, None
        if isinstance(n, _definition.Slices):
            numbers = list(range(len(arrays), len(arrays) + len(n.arrays)))
            arrays += [np.asarray(a, object) if d.hasobject else a for a, d in zip(n.arrays, n.dtypes)]
            op = "slices_of_values" if n.op == "from_tensor_slices" else "tensors_of_values"
            args = {"structure": n.structure.document(), "values": numbers}
        document.append(n._listed(n, places, op, n.arguments() if args is None else args))
    return (json.dumps(document).encode(), *arrays)


class DatasetsNode(_definition.Node):
    """An operation with a function that returns datasets, in the argument `key`, and perhaps others."""

    def __init__(self, op, key, function, args, inputs, others=None):
        super().__init__(op, args, inputs)
        self.key, self.function, self.others = key, function, others or {}

    @property
    def structure(self):
        return self.function.structure

    def functions(self):
        return (self.function, *self.function.inside(), *self.others.values())

    def called(self):
        # What those inside use of the element, the function itself is given.
        return (self.function, *self.others.values())

    def arguments(self):
        return {**self.args, self.key: self.function.document(), **{k: f.document() for k, f in self.others.items()}}


def _components_of(takes, element):
    from infeed._dataset import Dataset

    leaves = _ragged.components(*takes, element)
    return [base64.b64decode(v._node.args["data"]) if isinstance(v, Dataset) else v for v in leaves]


def few(node):
    """The first elements of a definition, for functions to be tried on: one, and more where that is not enough."""
    first = node.first_element()
    if first is not None:
        yield first
        yield from itertools.islice(node.good_elements(), 1, None)


def flat_map(node, fn):
    """The node of flat_map."""
    function = DatasetFunction(fn, "flat_map", lambda: (node.structure, node.expected), lambda: few(node), others=node.good_elements)
    return DatasetsNode("flat_map", "map_func", function, {}, (node,))


def interleave(node, fn, cycle_length, block_length, calls):
    """The node of interleave."""
    function = DatasetFunction(fn, "interleave", lambda: (node.structure, node.expected), lambda: few(node), calls=calls,
                               others=node.good_elements)
    args = {"cycle_length": cycle_length, "block_length": block_length, "num_parallel_calls": calls or 0}
    return DatasetsNode("interleave", "map_func", function, args, (node,))


_KEYS = Structure("leaf"), [TensorSpec((), "int64")]


def group_by_window(node, key_func, reduce_func, window_size, window_size_func):
    """The node of group_by_window."""
    op = "group_by_window"
    key = Integer(key_func, op, lambda: (node.structure, node.expected), node.first_element)

    def samples():
        return [np.int64(key.call(e)) for e in few(node)]

    def pack(components, datasets):
        return Structure("tuple", items=(Structure("leaf"),) * 2), (components[0], datasets[0])

    reduce = DatasetFunction(reduce_func, op, lambda: _KEYS, samples, [node], pack)
    others = {"key_func": key}
    if window_size_func is not None:
        others["window_size_func"] = Integer(window_size_func, op, lambda: _KEYS, lambda: next(iter(samples()), None))
    args = {"window_size": window_size} if window_size_func is None else {}
    return DatasetsNode(op, "reduce_func", reduce, args, (node,), others)


class Integer(_function.Function):
    """A function to integers."""

    unseen, integers = _KEYS, True


def bucket_by_sequence_length(node, element_length_func, args, structure):
    """The node of bucket_by_sequence_length."""
    length = Integer(element_length_func, "bucket_by_sequence_length", lambda: (node.structure, node.expected), node.first_element,
                     others=node.good_elements)
    return _nodes.FunctionNode("bucket_by_sequence_length", "element_length_func", length, args, (node,), structure)
