"""Operations with a function of elements, as nodes of definitions."""

from infeed import _arrays, _definition, _ragged, _trace
from infeed._function import Function, copied
from infeed._spec import Structure, TensorSpec


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
        function = Function(fn, "map", lambda: (node.structure, node.expected), node.first_element, calls, processes, node.good_elements)
        super().__init__("map", "map_func", function, {}, (node,))
        self._first = None

    @property
    def structure(self):
        self._decide()
        return self.function.structure

    @property
    def specs(self):
        self._decide()
        return self.function.specs

    def _decide(self):
        """Decides on the functions below first: each would else be called inside of the next one's tracing."""
        functions, node = [], self
        while isinstance(node, MapNode) and not node.function.decided or node.op in _definition.SAME_ELEMENTS:
            functions += node.functions()
            node = node.inputs[0]
        for f in reversed(functions):
            f.specs

    def first_element(self):
        """What the function makes of the first element."""
        if self._first is None:
            element = self.inputs[0].first_element()
            if element is None:
                return None
            try:
                result = self.function.sampled
                structure, leaves = Structure.of(self.function.call(copied(element)) if result is None else result)
            except Exception:
                return super().first_element()
            self._first = structure.pack([_ragged.copied(v) if _ragged.is_ragged(v) else _element(_trace.result_array(v, "the result")) for _, v in leaves])
        return self._first


def _element(a):
    """A component as elements have it: scalars of NumPy instead of arrays without dimensions."""
    return a[()] if a.ndim == 0 else a


class PredicateNode(FunctionNode):
    """filter and take_while."""

    def __init__(self, op, node, fn):
        function = Function(fn, op, lambda: (node.structure, node.expected), node.first_element)
        function._own = Structure("leaf"), [TensorSpec((), bool)]
        super().__init__(op, "predicate", function, {}, (node,))


class ClassNode(FunctionNode):
    """rejection_resample."""

    def __init__(self, node, fn, args):
        function = Function(fn, "rejection_resample", lambda: (node.structure, node.expected), node.first_element)
        function.unseen = Structure("leaf"), [TensorSpec((), "int64")]
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
            return Structure("tuple", items=(structure, node.structure)), specs + node.expected

        def with_state(element):
            return structure.pack([_element(_trace.result_array(a, op)) for a, _ in given]), element

        def sample():
            element = node.first_element()
            return None if element is None else with_state(element)

        function = Function(fn, op, takes, sample, others=lambda: map(with_state, node.good_elements()))
        output, of_output = function.unseen
        function.unseen = (structure, specs) if op == "reduce" else (Structure("tuple", items=(structure, output)), specs + of_output)
        super().__init__(op, op + "_func", function, {}, (node,))

    @property
    def structure(self):
        found = self.function.structure
        if self.op == "reduce":
            return found
        # Where it is no pair, opening the definition says so.
        return found.items[1] if found.kind == "tuple" and len(found.items) == 2 else found

    def arguments(self):
        return {**super().arguments(), "initial_state": self.state.arguments()}

    def besides(self):
        return {"initial_state": (self.state.structure.document(), self.state.arrays)}


class IndexableNode(_definition.Node):
    """from_indexable: a function of the numbers of elements."""

    def __init__(self, obj, calls):
        super().__init__("from_indexable")
        self.obj = obj
        self.function = Function(obj.__getitem__, "from_indexable", lambda: (Structure("leaf"), [TensorSpec((), "int64")]),
                                 lambda: 0 if len(obj) else None, calls, others=lambda: range(1, min(len(obj), _definition.FEW)))
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
