"""The parts into which shard_func divides what is stored, as a dataset of datasets for a reader_func."""

import numpy as np

from infeed import _arguments, _definition, _template
from infeed._errors import InvalidArgumentError
from infeed._spec import Structure


class PartsNode(_definition.Node):
    """The numbers of the parts of what is stored in a folder.

    like: a node with such elements, for what is stored only when the dataset is read.
    """

    def __init__(self, folder, like=None):
        super().__init__("parts", {}, structure=Structure("leaf"))
        self.folder, self.like = folder, like

    def arguments(self):
        return {"path": self.folder()}

    def opened(self):
        return super().opened() if self.like is None else _placeholder(self.like)


class PartNode(_definition.Node):
    """A part of what is stored in a folder; number may be one that differs between elements."""

    def __init__(self, folder, number, structure, like=None):
        super().__init__("load", {"stream": number}, structure=structure)
        self.folder, self.like = folder, like

    def arguments(self):
        return {**self.args, "path": self.folder()}

    def opened(self):
        return super().opened() if self.like is None else _placeholder(self.like)


def _placeholder(like):
    return "placeholder", {"spec": _template.spec_document(like.structure, like.specs)}


class Folder:
    """A folder that is there."""

    def __init__(self, path):
        self.path = path

    def __call__(self):
        return self.path


def of_kept(cls, kept):
    """The parts of a snapshot that may not be there yet."""
    numbers = _definition.Slices("from_tensor_slices", Structure("leaf"), [np.zeros(1, "int64")], [np.dtype("int64")])
    return Parts(cls, cls._of(PartsNode(kept.folder, numbers)), lambda n: PartNode(kept.folder, n, kept.node.structure, kept.node))


def of_stored(cls, node):
    """The parts of what `load`, a node, reads."""
    if node.op == "load_tf":
        return Parts(cls, cls.from_tensor_slices(node.parts()), node.part)
    folder = Folder(node.args["path"])
    return Parts(cls, cls._of(PartsNode(folder)), lambda n: PartNode(folder, n, node.structure))


def read(op, cls, reader_func, parts):
    """The dataset that a reader_func makes of parts; None where there is no function."""
    if reader_func is None:
        return None
    if not callable(reader_func):
        raise InvalidArgumentError(f"{op}: reader_func is {reader_func!r:.80}; a function of a dataset of datasets, or None, is needed")
    found = reader_func(parts)
    if not isinstance(getattr(found, "_node", None), _definition.Node):
        raise InvalidArgumentError(f"{op}: reader_func returned {found!r:.80}; a dataset of elements is needed, as datasets.interleave(lambda x: x) is")
    return found


class Parts:
    """The dataset whose elements are the parts, each a dataset.

    numbers: the dataset of their numbers. node: a function from a number to the node of
    a part. made: what became of a part in `map`.
    """

    def __init__(self, cls, numbers, node, made=lambda part: part):
        self._cls, self._numbers, self._node, self._made = cls, numbers, node, made

    def _reordered(self, name, *args, **kwargs):
        return Parts(self._cls, getattr(self._numbers, name)(*args, **kwargs), self._node, self._made)

    def _of(self, map_func):
        """map_func as a function of the number of a part."""
        return lambda n: map_func(self._made(self._cls._of(self._node(_arguments.integer("reader_func", "part", n)))))

    def cardinality(self):
        """How many parts there are; -2 (unknown) for a snapshot, which may not be there yet."""
        return self._numbers.cardinality()

    def map(self, map_func, num_parallel_calls=None, deterministic=None, name=None):
        """The datasets that map_func makes of the parts."""
        made = self._made
        return Parts(self._cls, self._numbers, self._node, lambda part: map_func(made(part)))

    def interleave(self, map_func, *args, **kwargs):
        """As Dataset.interleave."""
        return self._numbers.interleave(self._of(map_func), *args, **kwargs)

    def flat_map(self, map_func, name=None):
        """As Dataset.flat_map."""
        return self._numbers.flat_map(self._of(map_func))


def _reordering(name):
    def method(self, *args, **kwargs):
        return self._reordered(name, *args, **kwargs)

    method.__name__ = name
    return method


for _name in ("shuffle", "shard", "take", "skip", "repeat", "prefetch", "with_options"):
    setattr(Parts, _name, _reordering(_name))
