"""Definitions: the operations of a dataset as data, and what the engine makes of them.

A `Node` is an operation with its arguments and inputs. It is immutable and can be
pickled. It is opened in the engine when something is asked of it that only the
engine knows: with all below it that are not open yet, in one call, in which those
that are open are known by handle.
"""

import array
import ast
import json

import numpy as np

from infeed import _element, _native, _spec, _text
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

    def besides(self):
        """What elements depend on besides `args`, inputs and functions, by name."""
        return {}

    def opened(self):
        """Operation and arguments for the engine to say what elements are like."""
        args = self.arguments()
        if self._whole:
            return self.op, args
        from infeed import _template

        return self.op, args if _template.whole(self) else _template.sampled(args)

    looks = False  # whether `look` has anything to do

    def look(self):
        """Looks, before a pass, whether what is outside of the definition is still what it was when it was opened."""

    def functions(self):
        """The functions of the operation that may have to be called in Python."""
        return ()

    def called(self):
        """Those that the operation itself calls, without the functions in the datasets that they return."""
        return self.functions()

    def document(self):
        """The whole definition as the engine reads it (core/pipeline/definition.go)."""
        places = {}
        return [self._listed(n, places, n.op, n.arguments()) for n in self.nodes()]

    @staticmethod
    def _listed(node, places, op, args):
        """A node for a list, where places has those before it."""
        inputs = [places[id(n)] for n in node.inputs]
        places[id(node)] = len(places)
        return {"op": op, "args": args, "inputs": inputs}

    def nodes(self, skipped=None):
        """The nodes of the definition, inputs first, each once; but for those that `skipped` is true for, and what is below."""
        found, stack, seen = [], [(self, False)], set()
        while stack:
            node, done = stack.pop()
            if done:
                found.append(node)
            elif id(node) not in seen and (skipped is None or not skipped(node)):
                seen.add(id(node))
                stack.append((node, True))
                stack += [(n, False) for n in reversed(node.inputs)]
        return found

    def handle(self):
        """What the engine made of the definition."""
        _native.check_fork()
        # Other threads may open it meanwhile too, or have it forgotten.
        while (found := self._handle) is None or found.seen != decisions.count:
            stale = self._stale()
            if unknown := [n for n in stale if not all([f.known for f in n.functions()])]:
                for node in unknown:
                    node.opened()  # for which something below may have to be opened
                stale = self._stale()
            if stale:
                _open(stale)
        return found

    def _current(self):
        handle = self._handle
        return handle is not None and handle.seen == decisions.count

    def _stale(self):
        """The nodes that have to be opened, inputs first."""
        out, found = [], set()
        for node in self.nodes(Node._current):
            handle, count = node._handle, decisions.count
            if handle is None or not found.isdisjoint(map(id, node.inputs)) or not handle.current():
                out.append(node)
                found.add(id(node))
            else:
                handle.seen = count
        return out

    @property
    def specs(self):
        """The specs of an element's components."""
        return self.handle().specs

    @property
    def expected(self):
        """`specs`, where that takes no opening: the engine may have to refuse the definition yet."""
        node = self
        while node.op in SAME_ELEMENTS and not node._current():
            node = node.inputs[0]
        return node.specs

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

    def good_elements(self):
        """Those of the first few elements that do not fail; none of what is made for elements of something else."""
        from infeed import _template
        from infeed._dataset import Dataset

        if _template.made_for_elements(self):
            return
        it = Dataset(self).take(FEW).ignore_errors().iterator(epoch=0)
        try:
            yield from it
        finally:
            it.close()

    def __getstate__(self):
        return {**self.__dict__, "_handle": None}


FEW = 16  # elements that functions are tried on at most
_ORDER_ONLY = {"shuffle", "repeat", "prefetch", "shard", "take", "cache", "assert_cardinality"}
SAME_ELEMENTS = _ORDER_ONLY | {"skip", "filter", "take_while", "unique", "ignore_errors", "snapshot"}


class Slices(Node):
    """The sources of arrays: their rows (which are used in place), or themselves as one element."""

    def __init__(self, op, structure, arrays, dtypes):
        super().__init__(op, structure=structure)
        self.arrays, self.dtypes = arrays, dtypes

    def _packed(self):
        """The arrays as they lie in memory for the engine; of threads that pack them at once the first one's stay."""
        found = vars(self).get("_kept")
        return vars(self).setdefault("_kept", [_text.pack(a) if d.hasobject else a for a, d in zip(self.arrays, self.dtypes)]) if found is None else found

    def arguments(self):
        rows = self.op == "from_tensor_slices"
        arrays = [described(p, a.shape[1:] if rows else a.shape, d) for p, a, d in zip(self._packed(), self.arrays, self.dtypes)]
        args = {"structure": self._structure.document(), "arrays": arrays}
        if rows:
            args["rows"] = len(self.arrays[0])
        return args

    def __getstate__(self):
        return {k: v for k, v in super().__getstate__().items() if k != "_kept"}


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
            found = _spec.dtype_of(label[:-1], "what was stored")
        _dtypes[name] = found
    return found


class _Decisions:
    """How often a function turned out to be another kind than was thought: what was opened before may be stale then."""

    count = 0


decisions = _Decisions()


def _open(nodes):
    """Opens nodes, inputs first, in one call."""
    places, before, made = {}, [], dict.fromkeys(map(id, nodes))
    for n in (n for node in nodes for n in node.inputs):
        if id(n) not in made:
            places[id(n)] = len(places)
            made[id(n)] = n.handle()  # another thread may replace it
            before.append({"handle": made[id(n)].number})
    seen, decided = decisions.count, [[f.decision for f in n.functions()] for n in nodes]
    documents = [Node._listed(n, places, *n.opened()) for n in nodes]
    numbers = array.array("Q", bytes(8 * len(places)))  # ctypes would make a type for each length
    try:
        call = _native.Call()
        call("dataset_open", before + documents, (numbers.buffer_info()[0],))
        for node, kinds, number, found in zip(nodes, decided, numbers[len(before):], json.loads(call.long())):
            made[id(node)] = node._handle = Handle(node, [made[id(n)] for n in node.inputs], seen, kinds, number, *found)
    except BaseException:
        known = {h.number for h in made.values() if h is not None}
        for number in numbers:  # an interrupt may have come before anybody knew of them
            if number and number not in known:
                _native.Call(number)("close")
        raise


class Handle:
    """A definition that the engine has opened. It keeps the arrays and functions that the engine uses."""

    def __init__(self, node, inputs, seen, decided, number, cardinality, indexed, spec, text):
        self.number, self.cardinality, self.indexed, self.text = number, cardinality, indexed, text
        self.spec, self._specs = spec, None
        self.inputs, self._nodes = inputs, node.inputs
        self._kept = {**vars(node), "_handle": None}  # not the node: it would go with the next collection only
        self.seen = seen  # how many decisions there were when it was found to be current
        self.functions, self.decided = node.functions(), decided
        self.calls = any([h.calls for h in self.inputs]) or any([f.calls_python() for f in self.functions])
        # Whether there is no function in all of it, which may turn out to be another kind, and nothing outside of it.
        self.settled = not self.functions and not node.looks and all([h.settled for h in self.inputs])
        self._askers = []  # that nobody uses

    @property
    def specs(self):
        if self._specs is None:
            self._specs = specs_of(self.spec)
        return self._specs

    def current(self):
        """False once a function of it, or what is below it, is another than it was."""
        return self.decided == [f.decision for f in self.functions] and self.inputs == [n._handle for n in self._nodes]

    def element(self, node, index):
        """Element index of pass 0 of the node that this is the handle of."""
        try:
            ask = self._askers.pop()
        except IndexError:
            ask = _element.Asker(self, node.structure)
        found = ask(index)
        self._askers.append(ask)
        return found

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
