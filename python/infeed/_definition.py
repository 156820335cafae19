"""Definitions: the operations of a dataset as data, and what the engine makes of them.

A `Node` is an operation with its arguments and inputs. It is immutable and can be
pickled. It is opened in the engine when something is asked of it that only the
engine knows; a node on top of others is then one call, as the engine knows the
others by handle.
"""

import ast
import json

import numpy as np

from infeed import _native, _text
from infeed._errors import ForkedProcessError
from infeed._spec import TensorSpec


class Node:
    """One operation: its name and arguments as core/pipeline knows them."""

    def __init__(self, op, args=None, inputs=(), structure=None):
        self.op, self.args, self.inputs = op, args or {}, tuple(inputs)
        self._structure = structure
        self._handle = None
        self._whole = None  # see _template.whole

    @property
    def structure(self):
        """How the components of an element are nested: by default as the first input's."""
        node = self
        while node._structure is None and type(node).structure is Node.structure:
            node = node.inputs[0]
        return node._structure if type(node).structure is Node.structure else node.structure

    def arguments(self):
        """The arguments as the engine reads them."""
        return self.args

    def opened(self):
        """Operation and arguments for the engine to say what elements are like."""
        from infeed import _template

        return self.op, _template.sampled(self.arguments())

    def functions(self):
        """The functions of the operation that may have to be called in Python."""
        return ()

    def document(self):
        """The whole definition as the engine reads it."""
        return {"op": self.op, "args": self.arguments(), "inputs": [n.document() for n in self.inputs]}

    def nodes(self):
        """The nodes of the definition, inputs first, each once."""
        found, stack, seen = [], [(self, False)], set()
        while stack:
            node, done = stack.pop()
            if done:
                found.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack += [(n, False) for n in reversed(node.inputs)]
        return found

    def handle(self):
        """What the engine made of the definition."""
        _native.check_fork()
        handle = self._handle
        if handle is not None and handle.seen == decisions.count:
            return handle
        stack = [self]
        while stack:
            node = stack[-1]
            waiting = [n for n in node.inputs if n._handle is None or n._handle.seen != decisions.count]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if node._handle is None or not node._handle.current():
                node._handle = Handle(node)
            node._handle.seen = decisions.count
        return self._handle

    @property
    def specs(self):
        """The specs of an element's components."""
        return self.handle().specs

    def first_element(self):
        """An element as those that the definition makes, for functions to be tried on; None: there is none.

        It is the first one below operations that only change the order.
        """
        from infeed import _template
        from infeed._running import first_of

        node = self
        while node.op in _ORDER_ONLY:
            node = node.inputs[0]
        if node is not self:
            return node.first_element()
        return _template.first_element(node, first_of)

    def __getstate__(self):
        return {**self.__dict__, "_handle": None}


_ORDER_ONLY = {"shuffle", "repeat", "prefetch", "shard", "take", "cache", "with_options", "assert_cardinality"}


class Slices(Node):
    """The sources of arrays: their rows (which are used in place), or themselves as one element."""

    def __init__(self, op, structure, arrays, dtypes):
        super().__init__(op, structure=structure)
        self.arrays, self.dtypes = arrays, dtypes
        self._packed = None

    def arguments(self):
        rows = self.op == "from_tensor_slices"
        if self._packed is None:
            self._packed = [_text.pack(a) if d.hasobject else a for a, d in zip(self.arrays, self.dtypes)]
        arrays = [described(p, a.shape[1:] if rows else a.shape, d) for p, a, d in zip(self._packed, self.arrays, self.dtypes)]
        args = {"structure": self._structure.document(), "arrays": arrays}
        if rows:
            args["rows"] = len(self.arrays[0])
        return args

    def __getstate__(self):
        return {**super().__getstate__(), "_packed": None}


def described(array, shape, dtype):
    """An array for the engine: where it lies, what it is. Text is (bytes, offsets)."""
    out = {"dtype": code(dtype), "shape": shape}
    if dtype.hasobject:
        array, offsets = array
        out["offsets"] = offsets.ctypes.data
    return {**out, "address": array.ctypes.data if array.nbytes else 0, "bytes": array.nbytes}


def code(dtype):
    """The engine's name of a dtype (core/spec ParseDType)."""
    if dtype.hasobject:
        return "|O"
    if _numpys(dtype):
        return dtype.str
    if dtype.names:
        return f"|V{dtype.itemsize}[{dtype.descr!r}]"
    return f"|V{dtype.itemsize}" + (f"[{dtype.name}]" if not dtype.name.startswith("void") else "")


def plain(dtype):
    """A dtype of NumPy's own with values as large: engines know no others, such as bfloat16."""
    return dtype if _numpys(dtype) else np.dtype(f"V{dtype.itemsize}")


def _numpys(dtype):
    """Whether a dtype is one of numbers of NumPy's own: those of other packages have numbers from 256, and any kind."""
    return dtype.kind != "V" and dtype.num < 256


_dtypes = {}


def dtype_of(name):
    """The dtype that `code` named."""
    found = _dtypes.get(name)
    if found is None:
        kind, _, label = name.partition("[")
        if name == "|O":
            found = np.dtype(object)
        elif name[1] != "V" or not label:
            found = np.dtype(name)
        elif label.startswith("["):
            found = np.dtype(ast.literal_eval(label[:-1]))
        else:
            import ml_dtypes

            found = np.dtype(getattr(ml_dtypes, label[:-1]))
        _dtypes[name] = found
    return found


class _Decisions:
    """How often a function turned out to be another kind than was thought: what was opened before may be stale then."""

    count = 0


decisions = _Decisions()


class Handle:
    """A definition that the engine has opened. It keeps the arrays and functions that the engine uses."""

    def __init__(self, node):
        self.node = node
        self.inputs = [n._handle for n in node.inputs]
        self.seen = decisions.count  # when it was found to be current
        self.functions = node.functions()
        self.decided = [f.decision for f in self.functions]
        call = _native.Call()
        try:
            self._open(call, *node.opened())
        except BaseException:
            _native.Call(call.struct.handle)("close")  # an interrupt may have come before anybody knew of it
            raise
        self.calls = any(h.calls for h in self.inputs) or any(f.calls_python() for f in self.functions)

    def _open(self, call, op, args):
        call("dataset_open", {"op": op, "args": args, "inputs": [h.number for h in self.inputs]})
        self.number = call.struct.handle
        self.cardinality, self.indexed = call.struct.out[0], bool(call.struct.out[1])
        opened = json.loads(call.long())
        self.specs, self.text = specs_of(opened["spec"]), opened["text"]

    def current(self):
        """False once a function of it, or what is below it, is another than it was."""
        return self.decided == [f.decision for f in self.functions] and all(
            h is n._handle for h, n in zip(self.inputs, self.node.inputs))

    def element(self, pass_, index, decode, last=False):
        """Element index of a pass; last: nothing is kept that would make another one cheaper."""
        call = _native.Call(self.number)
        try:
            call("dataset_at", args=(pass_, index, int(last)))
            memory = _native.lease(call.struct.entry, _native.Lent())
            return decode(memory, call.struct.entry.meta_offset)[0]
        except BaseException:
            _native.library().release(call.struct.entry.slot)  # an interrupt may have come before the lease
            raise

    def __del__(self):
        number, self.number = getattr(self, "number", 0), 0
        if number:
            try:
                _native.Call(number)("close")
            except ForkedProcessError:  # there is nothing to close in a fork
                pass


def specs_of(element):
    """TensorSpecs of the engine's description of elements."""
    return [TensorSpec([None if d < 0 else d for d in c["shape"]], dtype_of(c["dtype"])) for c in element["components"] or ()]
