"""Fingerprints of definitions: what the elements of a dataset depend on, as a hash for each part.

A fingerprint is a dict from a part, in words, to a hash, so that two can be compared
and what differs can be said. Order does not matter but for the numbers of operations.
"""

import hashlib
import os
import sys
import types

import numpy as np

from infeed import _definition, _template
from infeed._content import Contents, Unhashable, captured, digest
from infeed._errors import InvalidArgumentError

# Operations on which the elements do not depend.
_SAME = {"prefetch", "snapshot"}
# Arguments on which they do not depend, or that are looked at otherwise.
_APART = {"drawn", "address", "bytes", "offsets", "buffer_size_of_files", "call", "calls", "num_parallel_calls", "hash", "name", "about"}


def parts_of(node, identity="stat", given=None, functions=None, seen=None):
    """The parts of the fingerprint of a definition, and of functions of its elements by name.

    identity: "stat" tells files apart by where they are, size and modification time,
    "content" by what they hold. given: stands for what cannot be hashed. seen: gets what
    was seen of files, (function, argument, result), to see whether it is still so.
    Raises InvalidArgumentError where something cannot be hashed and nothing is given.
    """
    parts = {} if given is None else {"fingerprint": digest(given.encode())}
    all_ = _Parts(parts, identity, given is not None, [] if seen is None else seen)
    all_.add_definition(node, "")
    for name, function in (functions or {}).items():
        all_.add_function(function, name)
    return parts


def digest_of(parts):
    """The fingerprint as text."""
    return digest("\n".join(f"{k}={v}" for k, v in sorted(parts.items())).encode())


def difference(theirs, ours):
    """What differs between the parts of two fingerprints, as sentences."""
    out = [f"{k} is new" for k in ours if k not in theirs] + [f"{k} is gone" for k in theirs if k not in ours]
    return out + [f"{k} changed" for k in ours if k in theirs and theirs[k] != ours[k]]


def _same(node):
    """Whether an operation changes no element, nor their order."""
    return node.op in _SAME and not getattr(node, "reader", None)


def _below(node):
    """The first node, from one on down, that is not the same as its input."""
    while _same(node):
        node = node.inputs[0]
    return node


class _Parts(Contents):
    def __init__(self, parts, identity, given, seen):
        super().__init__()
        self.parts, self.identity, self.given, self.seen = parts, identity, given, seen
        self.texts = []  # strings in memory, which may be paths

    def dataset(self, node):
        return repr(sorted(parts_of(node, self.identity, seen=self.seen).items())).encode()

    def inside(self, v):
        if isinstance(v, _template.Value):  # by its number in the program that makes it
            return self.all((v.key, v.number))
        return super().inside(v)

    # -- definitions ------------------------------------------------------------------

    def add_definition(self, node, where):
        nodes = [n for n in node.nodes() if not _same(n)]
        numbers = {id(n): i + 1 for i, n in enumerate(nodes)}
        for i, n in enumerate(nodes):
            name = f"{where}{i + 1}. {n.op}"
            self.add_node(n, name)
            inputs = [numbers[id(_below(x))] for x in n.inputs]
            if inputs and inputs != [i]:  # not simply what the one before makes
                self.put(f"{name}: inputs", lambda: self.value(inputs))

    def put(self, name, make):
        try:
            self.parts[name] = digest(make())
        except Unhashable as e:
            if not self.given:
                raise InvalidArgumentError(f'snapshot: {name} cannot be hashed, since {e}; give fingerprint="v1", and another text whenever '
                                           "it makes other elements") from None

    def add_node(self, node, name):
        if isinstance(node, _definition.Slices):
            self.put(f"{name}: structure", lambda: self.value(node.structure.document()))
            for k, (array, dtype) in enumerate(zip(node.arrays, node.dtypes)):
                self.put(f"{name}: array {k}", lambda a=array: self.array(np.asarray(a)))
                if dtype.hasobject:
                    self.texts += [t for t in np.ravel(np.asarray(array, object))[:100_000] if isinstance(t, (bytes, str))]
            return
        if node.op == "snapshot":
            if node.shard:
                self.add_function(node.shard, f"{name}: shard_func")
            self.add_definition(node.reader._node, f"{name}, reader_func: ")
            return
        self.add_arguments(name, node.args)
        if node.op in ("load", "load_tf", "parts") and getattr(node, "like", None) is None:
            self.add_loaded(name, node.arguments()["path"])
        if node.op == "list_files":
            self.add_listed(node, name)
        for what, value in node.besides().items():
            self.put(f"{name}: {what}", lambda v=value: self.value(v))
        if hasattr(node, "obj") and not self.given:
            self.put(f"{name}: object", lambda: self.value(node.obj))
        for f in node.functions():
            self.add_function(f, name)

    def add_arguments(self, name, args):
        args = dict(args)
        if "filenames" in args:
            self.add_files(name, args.pop("filenames"))
            args.pop("buffer_size", None)
        if args.get("drawn") is True:
            args.pop("seed", None)
        if name.endswith((". load", ". load_tf")):
            args = {k: v for k, v in args.items() if v is not None and k != "path"}
        args = {k: v for k, v in args.items() if k not in _APART}
        if args:
            self.put(f"{name}: arguments", lambda: self.value(args))

    def add_listed(self, node, name):
        from infeed import _dataset

        plain = _definition.Node("list_files", {**node.args, "shuffle": False}, structure=node.structure)
        self.add_files(name, sorted(os.fsdecode(f) for f in _dataset.Dataset(plain)))

    def look(self, at, what):
        """What is seen of files by a function."""
        found = at(what)
        self.seen.append((at, what, found))
        return found

    def add_files(self, name, files):
        """Files that are read; a name that differs between elements is that of one seen elsewhere."""
        if not isinstance(files, list) or any(isinstance(f, _template.Value) for f in files):
            known = [t for t in self.texts if os.path.isfile(t)]
            if not known and not any(": file " in p for p in self.parts):
                self.put(f"{name}: filenames", lambda: _unhashable("which files are read is known only when they are read"))
            files = [os.fsdecode(t) for t in known]
        elif len(files) > 1:
            self.put(f"{name}: order of files", lambda: self.value([os.fsdecode(f) for f in files]))
        for file in files:
            self.put(f"{name}: file {file}", lambda f=file: self.file(f))

    def file(self, path):
        found = self.look(_stat, path)
        if self.identity == "content" and len(found) > 1:
            return _content_of(path)
        return repr(found).encode()

    def add_loaded(self, name, path):
        from infeed import _snapshot

        self.put(f"{name}: what is stored", lambda: self.look(_snapshot.manifest_bytes, path))

    def add_function(self, function, name):
        function.decide()
        template = getattr(function, "_template", None)
        if template is not None:
            self.put(f"{name}: program", lambda: self.value(_plain(template.program)))
            self.add_definition(template._node, f"{name}, inside: ")
        elif getattr(function, "_traced", None) is not None:
            self.put(f"{name}: program", lambda: self.value(_plain(function._traced.document)))
        elif not self.given and function.op != "from_indexable":
            self.add_python(name, function.fn)

    def add_python(self, name, fn):
        """A function of Python, its parts by themselves, to be able to say which one changed."""
        self.put(f"{name}: Python", lambda: f"{sys.version_info[:2]} {np.__version__}".encode())
        if not isinstance(fn, types.FunctionType):
            self.put(f"{name}: object", lambda: self.value(fn))
            return
        self.inside_of[id(fn)] = 0
        self.put(f"{name}: code", lambda: self.code(fn.__code__))
        if fn.__defaults__ or fn.__kwdefaults__:
            self.put(f"{name}: defaults", lambda: self.value((fn.__defaults__, fn.__kwdefaults__)))
        for what, value in captured(fn):
            self.put(f"{name}: {what}", lambda v=value: self.value(v))


def _stat(path):
    """What tells a file apart without reading it; one word where it cannot be looked at."""
    try:
        found = os.stat(path)
        return os.path.realpath(path), found.st_size, found.st_mtime_ns
    except OSError as e:
        return (type(e).__name__,)


def _content_of(path):
    """A hash of what a file holds."""
    h = hashlib.sha256()
    try:
        with open(path, "rb") as f:
            while part := f.read(1 << 20):
                h.update(part)
    except OSError as e:
        return type(e).__name__.encode()
    return h.digest()


def _unhashable(why):
    raise Unhashable(why)


def _plain(document):
    """A program without what differs from run to run."""
    from infeed import _subdataset

    return _subdataset._without_seeds(document)
