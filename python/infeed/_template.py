"""Templates of datasets: what a function that returns a dataset is traced to.

The function is called with stand-ins (see `_trace`). What it does with them before it
gives them to a dataset becomes a program; where a stand-in is an argument of a
dataset, the definition has {"$value": k}, and the engine puts the k-th result of the
program there for each element (see core/pipeline/builder.go). In place of datasets,
such as windows, the function gets datasets whose source is "input".
"""

import base64
import copy
import json

import numpy as np

from infeed import _definition, _stand_in, _trace, _traced_sizes
from infeed._errors import Error, InvalidArgumentError
from infeed._spec import TensorSpec


class Value(dict):
    """An argument that differs between elements. The engine checks it; here it is as good as any number."""

    key = "$value"

    def __init__(self, trace, number, t):
        super().__init__({self.key: number})
        self.trace = trace
        self.sample = self.of_sample(t)  # as good as any, where the engine is asked what elements are like

    @property
    def number(self):
        return self[self.key]

    @staticmethod
    def of_sample(t):
        one = "" if t.dtype.hasobject else 1
        return [one] if t.ndim else one

    @staticmethod
    def of_value(value):
        """What stands in its place for a value."""
        made = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(made, list):
            return [Value.of_value(v) for v in made]
        return made.decode("utf-8", "surrogateescape") if isinstance(made, bytes) else made

    def _yes(self, other):
        return True

    def _no(self, other):
        return False

    __gt__ = __ge__ = __ne__ = _yes
    __lt__ = __le__ = __eq__ = _no
    __hash__ = None

    def _needed(self, *args):
        self.trace.end("it needs the value of an argument of a dataset, which differs between elements")

    __int__ = __float__ = __index__ = __bool__ = __add__ = __radd__ = __sub__ = __mul__ = __neg__ = _needed

    def __reduce_ex__(self, protocol):
        return _unpickled, (type(self), dict(self), self.sample)


class Constant(Value):
    """The attributes of a constant of a program inside, which differ between elements."""

    key = "$const"

    @staticmethod
    def of_sample(t):
        like = {"dtype": _definition.code(t.dtype), "shape": [-1 if d is None else d for d in t._shape]}
        if None in t._shape:
            return like  # which has no values
        n = int(np.prod(t._shape))
        return {**like, "texts": [""] * n} if t.dtype.hasobject else {**like, "data": _base64(bytes(n * t.dtype.itemsize))}


class Bytes(Value):
    """A string of bytes as an argument."""

    key = "$bytes"

    @staticmethod
    def of_sample(t):
        return ""

    @staticmethod
    def of_value(value):
        return _base64(value)


def _base64(data):
    return base64.b64encode(data).decode()


def _unpickled(cls, value, sample):
    out = cls.__new__(cls)
    out.update(value)
    out.trace, out.sample = None, sample
    return out


class Trace(_trace.Trace):
    """The trace of a function that returns a dataset: with the values that the dataset refers to."""

    def __init__(self, parent, samples=None):
        super().__init__(parent)
        self.outputs = []  # the values, as stand-ins
        self._done = {}
        self._samples = samples  # a function that gives the components of a few elements

    def add(self, op, operands, attrs, results):
        """Adds a node, but one that is there already: functions inside, which are traced twice, share values."""
        if op.startswith("random"):
            self.end("it draws random numbers")
        operands = [self.tensor(t) for t in operands]
        key = json.dumps([op, [t._value for t in operands], attrs])
        if key not in self._done or self.reason:
            self._done[key] = super().add(op, operands, attrs, results)
        return self._done[key]

    def number(self, t):
        """The number that a value has in the template."""
        known = [o._value for o in self.outputs]
        if t._value not in known:
            self.outputs.append(t)
        return known.index(t._value) if t._value in known else len(known)

    def captured(self, t):
        """The attributes of the constant that stands for a value in a function inside."""
        return Constant(self, self.number(t), t)

    def program(self):
        """The program that makes the values; None where there are none."""
        if not self.outputs:
            return None
        return {"nodes": self.nodes, "outputs": [o._value for o in self.outputs],
                "structure": {"tuple": [None] * len(self.outputs)}}

    def sample_values(self):
        """The values for a few elements that functions are tried on, as arrays."""
        from infeed import _program

        for components in self._samples() if self._samples else ():
            try:
                yield _program.results(self.program(), [TensorSpec(o._shape, o.dtype) for o in self.outputs], components)
            except Error:
                continue


def current():
    """The trace that this thread is in, of a function that returns a dataset; None where it is in none."""
    trace = _trace.active()
    return trace if type(trace) is Trace else None


def argument(value, kind=Value):
    """A stand-in as an argument of a dataset, or None for what is no stand-in."""
    if isinstance(value, Value):
        return value
    trace = current()
    if trace is None or type(value) is not _trace.Tensor and type(value) not in _stand_in.SIZES:
        return None
    if type(value) is not _trace.Tensor:
        value = _traced_sizes.stand_in(value)
    t = trace.tensor(value)
    return kind(trace, trace.number(t), t)


def paths(value):
    """Paths for a dataset: stand-ins in a list, or one that stands for all; None where there is no stand-in."""
    if type(value) in (list, tuple) and any(type(v) is _trace.Tensor for v in value):
        if current() is not None and any(type(v) is _trace.Tensor and v.ndim for v in value):
            current().end("it gives a dataset a list of lists")
        return [v if (found := argument(v)) is None else found for v in value]
    found = argument(value)
    return found if found is None or isinstance(value, Value) or value.ndim else [found]


class ValuesNode(_definition.Node):
    """The source of stand-ins: their rows ("slices"), or themselves as one element ("tensors")."""

    def __init__(self, kind, structure, trace, numbers, specs):
        super().__init__(f"{kind}_of_values", {"structure": structure.document(), "values": numbers}, structure=structure)
        self.trace, self.elements = trace, specs

    def __getstate__(self):
        return {**super().__getstate__(), "trace": None}

    def opened(self):
        return "placeholder", {"spec": spec_document(self._structure, self.elements)}


def source(kind, structure, leaves):
    """The source `kind` of leaves, [(path, value), ...] as of `Structure.of`; None where there is no stand-in among them."""
    trace = current()
    if trace is None or _trace.trace_of([v for _, v in leaves]) is None:
        return None
    tensors = [_trace._result(trace, path, v) for path, v in leaves]
    shapes = [t._shape for t in tensors]
    if kind == "slices":
        for (path, _), shape in zip(leaves, shapes):
            if not shape:
                raise InvalidArgumentError(f"from_tensor_slices: component{path} is a single value and cannot be sliced; "
                                           "give arrays of at least one dimension")
        shapes = [shape[1:] for shape in shapes]
    specs = [TensorSpec(shape, t.dtype) for shape, t in zip(shapes, tensors)]
    return ValuesNode(kind, structure, trace, [trace.number(t) for t in tensors], specs)


class InputNode(_definition.Node):
    """A dataset that an element has: the index-th of its inputs, or the one that a text of it stands for."""

    def __init__(self, op, args, structure, specs, like=None):
        super().__init__(op, args, structure=structure)
        self.elements = specs
        self.like = like  # a node with such elements

    def opened(self):
        return "placeholder", {"spec": spec_document(self._structure, self.elements)}


def spec_document(structure, specs):
    """Elements as core/spec describes them."""
    components = [{"dtype": _definition.code(s.dtype), "shape": [-1 if n is None else n for n in s.shape]} for s in specs]
    return {"structure": structure.document(), "components": components}


def _stands_in(node):
    """Whether a node stands for a dataset that is not there yet; `like` is one with such elements."""
    return getattr(node, "like", None) is not None


def whole(node):
    """Whether a definition needs nothing from outside it; each node is looked at once."""
    stack = [node]
    while stack:
        n = stack[-1]
        if waiting := [i for i in n.inputs if i._whole is None]:
            stack += waiting
            continue
        stack.pop()
        n._whole = (not _stands_in(n) and not isinstance(n, ValuesNode) and not _traces(n.args) and
                    not any([f.captures for f in n.called()]) and all([i._whole for i in n.inputs]))
    return node._whole


def made_for_elements(node):
    """Whether a definition is one for each element of another."""
    return any(_stands_in(n) or isinstance(n, ValuesNode) or _traces(n.args) for n in node.nodes())


def first_element(node, first_of):
    """`first_of` a definition, for the first of the elements it is made for where there is one; None: there is none."""
    if whole(node):
        return first_of(node)
    traces, inputs = [], False
    for n in node.nodes():
        if any([f.captures for f in n.called()]):
            return None
        inputs = inputs or _stands_in(n)
        traces += [n.trace] if isinstance(n, ValuesNode) else _traces(n.args)
    if not traces:
        return first_of(_filled(node, None) if inputs else node)
    for values in traces[0].sample_values() if traces[0] is not None else ():
        if (found := first_of(_filled(node, values))) is not None:
            return found
    return None


def _filled(node, values):
    """A definition with values, and the datasets of an element that it is made for."""
    made = {}
    for n in node.nodes():
        made[id(n)] = _filled_node(n, values, [made[id(i)] for i in n.inputs])
    return made[id(node)]


def _filled_node(node, values, inputs):
    if isinstance(node, ValuesNode):
        arrays = [values[k] for k in node.args["values"]]
        op = {"slices_of_values": "from_tensor_slices", "tensors_of_values": "from_tensors"}[node.op]
        return _definition.Slices(op, node.structure, arrays, [s.dtype for s in node.elements])
    if _stands_in(node):
        return node.like
    out = _definition.Node(node.op, {}, structure=node.structure) if isinstance(node, InputNode) else copy.copy(node)
    out.args = _replaced(node.args, lambda v: v.of_value(values[v.number]))
    out.inputs, out._handle, out._whole = tuple(inputs), None, None
    return out


def _traces(args):
    """The traces of the values in arguments."""
    if isinstance(args, dict):
        return [args.trace] if isinstance(args, Value) else [t for k, v in args.items() if k != "template" for t in _traces(v)]
    return [t for v in args for t in _traces(v)] if isinstance(args, (list, tuple)) else []


def _replaced(args, f):
    if isinstance(args, Value):
        return f(args)
    if isinstance(args, dict):  # a template has values of its own
        return {k: v if k == "template" else _replaced(v, f) for k, v in args.items()}
    return [_replaced(v, f) for v in args] if isinstance(args, (list, tuple)) else args


def sampled(args):
    """Arguments with any value in place of those that differ between elements, and shapes open that depend on them."""
    if not _traces(args):
        return args
    out = _replaced(args, lambda v: v.sample)
    if _traces(args.get("batch_size", ())):
        out["drop_remainder"] = False
    if _traces(args.get("padded_shapes", ())):
        out["padded_shapes"] = _replaced(args["padded_shapes"], lambda v: -1)
    return out
