"""Snapshots: elements kept in folders (docs/format/snapshot.md), and how Dataset saves and loads them."""

import collections
import json
import logging
import os

from infeed import _arguments, _definition, _fingerprint, _parts, _subdataset
from infeed._errors import InvalidArgumentError
from infeed._features import SparseTensor
from infeed._spec import Structure, TensorSpec, own_spec

_COMPRESSIONS = (None, "", "NONE", "AUTO", "GZIP", "SNAPPY", "ZSTD")
MANIFEST = "manifest.json"
FORMAT = 1  # the version of docs/format/snapshot.md in which snapshots are written
TF_METADATA = "snapshot.metadata"


class Kept:
    """Where the elements of a definition are kept: in a folder that is named after what they depend on."""

    def __init__(self, node, path, given, identity, shard=None):
        self.node, self.path, self.given, self.identity, self.shard = node, path, given, identity, shard
        self._parts = self._decided = None
        self._seen = []

    def parts(self):
        """What the elements depend on, looked at once; and again when files changed or a function turned out to be another kind."""
        functions = {} if self.shard is None else {"shard_func": self.shard}
        decided = [f.decision for n in self.node.nodes() for f in (*n.functions(), *functions.values())]
        if self._parts is None or self._decided != decided:
            self._decided, self._seen = decided, []
            self._parts = _fingerprint.parts_of(self.node, self.identity, self.given, functions, self._seen)
            structure = {"structure": self.node.structure.document(), "specs": [repr(s) for s in self.node.specs]}
            self._parts["element spec"] = _fingerprint.digest_of(structure)
            self._parts["format"] = _fingerprint.digest_of({"version": FORMAT})
            _say_why(self.path, _fingerprint.digest_of(self._parts), self._parts)
        return self._parts

    def forget(self):
        """Forgets what was looked at, and returns true, where files changed since."""
        if self._parts is None or all(look(what) == found for look, what, found in self._seen):
            return False
        self._parts = None
        return True

    def folder(self):
        return os.path.join(self.path, _fingerprint.digest_of(self.parts()))

    def about(self):
        """What the manifest says of them."""
        parts = self.parts()
        return {"structure": form_of(self.node.structure), "fingerprint": _fingerprint.digest_of(parts), "parts": parts}

    def __getstate__(self):
        return {**self.__dict__, "_parts": None, "_seen": []}


class StoringNode(_definition.Node):
    """An operation that writes elements, each to the part that a function names, if there is one."""

    def __init__(self, op, args, node, shard, structure=None):
        super().__init__(op, args, (node,), structure)
        self.shard = shard

    def functions(self):
        return () if self.shard is None else (self.shard,)

    def arguments(self):
        return {**self.args, "shard_func": None if self.shard is None else self.shard.document()}


class SnapshotNode(StoringNode):
    """snapshot. reader: the dataset that reads a complete one; None: it is read as it was written."""

    def __init__(self, kept, compression, reader=None):
        super().__init__("snapshot", {"compression": compression}, kept.node, kept.shard)
        self.kept, self.reader = kept, reader

    looks = True

    def look(self):
        if self.kept.forget():
            for node in self.nodes():
                node._handle = None
            _definition.decisions.count += 1

    def functions(self):
        return (*super().functions(), *(_subdataset.functions_of(self.reader) if self.reader else ()))

    def arguments(self):
        if self.reader:
            _same_elements(self.kept.node, self.reader._node)
        return {**super().arguments(), "path": self.kept.folder(), "about": self.kept.about(),
                "reader": self.reader._node.document() if self.reader else None}


class LoadNode(_definition.Node):
    """A source of what was saved: its structure is that of the element spec that was given, or found there."""

    def __init__(self, op, args, element_spec):
        super().__init__(op, args)
        self.element_spec = element_spec
        self._loaded = None

    @property
    def structure(self):
        if self._loaded is None:
            self._loaded = self._found() if self.element_spec is None else Structure.of(self.element_spec)[0]
        return self._loaded

    def _found(self):
        manifest = read_manifest(find(self.args["path"]))
        form = (manifest["about"] or {}).get("structure", manifest["spec"]["structure"])
        return structure_of(form, _definition.specs_of(manifest["spec"]))

    def __getstate__(self):
        return {**super().__getstate__(), "_loaded": None}


def snapshot_node(cls, node, path, compression, reader_func, shard_func, fingerprint, identity):
    """The node of Dataset.snapshot."""
    if fingerprint is not None and not isinstance(fingerprint, str):
        raise InvalidArgumentError(f"snapshot: fingerprint is {fingerprint!r:.80}; a str is needed")
    if identity not in ("stat", "content"):
        raise InvalidArgumentError(f'snapshot: identity is {identity!r:.80}; it must be "stat" or "content"')
    _storable("snapshot", node)
    kept = Kept(node, _path("snapshot", path), fingerprint, identity, _shard("snapshot", node, shard_func))
    return SnapshotNode(kept, _compression("snapshot", compression), _parts.read("snapshot", cls, reader_func, _parts.of_kept(cls, kept)))


def _shard(op, node, shard_func):
    """The function that names the parts of the elements of a node; None where there is none."""
    if shard_func is None:
        return None
    return _subdataset.Integer(shard_func, f"{op}: shard_func", lambda: (node.structure, node.specs), node.first_element)


def _same_elements(node, read):
    """Raises InvalidArgumentError where what a reader_func returned has other elements than are stored."""
    ours, theirs = ((n.structure.document(), n.specs) for n in (node, read))
    if ours != theirs:
        raise InvalidArgumentError(f"snapshot: reader_func returned a dataset of {read.structure.pack(read.specs)}; its elements must be as those stored, "
                                   f"{node.structure.pack(node.specs)}: put map and batch behind snapshot")


def saving(dataset, path, compression, shard_func, format):
    """The dataset whose only element, how many there are, is made by saving those of another."""
    if format not in ("infeed", "tf"):
        raise InvalidArgumentError(f'save: format is {format!r:.80}; it must be "infeed" or "tf"')
    _storable("save", dataset._node)
    if format == "tf":
        _with_names(dataset._node.structure)
    args = {"path": _path("save", path), "compression": _compression("save", compression),
            "about": {"structure": form_of(dataset._node.structure)}, "tf": format == "tf"}
    node = StoringNode("save", args, dataset._node, _shard("save", dataset._node, shard_func), Structure("leaf"))
    return type(dataset)._of(node, dataset._options)


def load_node(path, element_spec, compression):
    """The node of Dataset.load."""
    from infeed import _load_tf

    path = _path("load", path)
    given = "AUTO" if compression is None else _compression("load", compression)
    theirs, ours = _load_tf.folders(path), folders(path)
    if theirs and ours:
        raise InvalidArgumentError(f"load: {path} has snapshots of infeed's and of tf.data's; give the path of one, such as {ours[0]} or {theirs[0]}")
    if theirs:
        return _load_tf.node(path, element_spec, given)
    node = LoadNode("load", {"path": path, "stream": None}, element_spec)
    specs = node.handle().specs
    if element_spec is not None:
        _check(element_spec, specs)
    return node


def _check(element_spec, specs):
    """Raises InvalidArgumentError where stored elements are not as a spec says."""
    wanted = [own_spec(v) for _, v in Structure.of(element_spec)[1]]
    fits = len(wanted) == len(specs) and all(
        isinstance(w, TensorSpec) and w.dtype == s.dtype and len(w.shape) == len(s.shape)
        and all(a is None or a == b for a, b in zip(w.shape, s.shape)) for w, s in zip(wanted, specs))
    if not fits:
        raise InvalidArgumentError(f"load: element_spec is {element_spec}; the elements stored have {specs}")


def _path(op, path):
    try:
        if not os.fspath(path):
            raise InvalidArgumentError(f"{op}: path is {path!r}, which would be the current folder; give a path, or '.' for that")
        return _arguments.utf8(f"{op}: path", os.path.abspath(os.fsdecode(os.fspath(path))))
    except TypeError:
        raise InvalidArgumentError(f"{op}: path is {path!r:.80}; a path is needed") from None


def _compression(op, compression):
    if compression not in _COMPRESSIONS:
        raise InvalidArgumentError(f"{op}: compression is {compression!r:.80}; it must be None, NONE, AUTO, GZIP, SNAPPY or ZSTD")
    return compression or "NONE"


def _storable(op, node):
    def kinds(s):
        return {s.kind}.union(*map(kinds, s.items))

    if "dataset" in kinds(node.structure):
        raise InvalidArgumentError(f"{op}: elements that are datasets, as window's, cannot be stored; flat_map makes elements of them")


def _with_names(structure):
    """Raises InvalidArgumentError where a dict has keys that TensorFlow does not store."""
    bad = [k for k in structure.keys if not isinstance(k, str)] if structure.kind == "dict" else []
    if bad:
        raise InvalidArgumentError(f'save: TensorFlow stores dicts with str keys only, and this one has {bad[0]!r:.80}; map it to str, or save with format="infeed"')
    for item in structure.items:
        _with_names(item)


# -- what is on disk -----------------------------------------------------------------------


def find(path):
    """The folder of the snapshot at a path: it itself, or the only one in it. The engine says what is wrong otherwise."""
    if os.path.isfile(os.path.join(path, MANIFEST)):
        return path
    found = folders(path)
    return found[0] if len(found) == 1 else path


def folders(path):
    """The folders of the complete snapshots in a folder."""
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return []
    return [os.path.join(path, n) for n in names if os.path.isfile(os.path.join(path, n, MANIFEST))]


def read_manifest(folder):
    """The manifest of a snapshot, which the engine has found or will find to be whole."""
    with open(os.path.join(folder, MANIFEST), encoding="utf-8") as f:
        return json.load(f)


def about(folder):
    """What a manifest says that a snapshot is of; nothing where it is damaged, which is for who reads it to say."""
    try:
        found = read_manifest(folder)["about"]
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    return found if isinstance(found, dict) else {}


def manifest_bytes(path):
    """What tells a stored dataset apart: its manifest, which names its chunks; of tf.data's, its metadata and files."""
    manifest = os.path.join(find(path), MANIFEST)
    if not os.path.exists(manifest):
        from infeed import _load_tf

        return _load_tf.identity(path)
    with open(manifest, "rb") as f:
        return f.read()


def form_of(structure):
    """A structure as JSON: the engine's form, but with the keys of dicts as they were given."""
    if structure.kind != "dict":
        form, items = structure.document(), structure.items
        if structure.kind == "tuple":
            return {"tuple": [form_of(item) for item in items]}
        if structure.kind == "namedtuple":
            return {**form, "dict": [[k, form_of(item)] for k, item in zip(structure.keys, items)]}
        return form
    plain = all(type(k) in (str, int) for k in structure.keys)
    inside = dict(zip(structure.order, structure.items))
    return {"dict": [[k if plain else str(k), form_of(inside[k])] for k in structure.keys]}


def structure_of(form, specs):
    """The structure that `form_of` or the engine describes; specs are those of its components."""
    specs = iter(specs)

    def read(form):
        if form is None:
            next(specs)
            return Structure("leaf")
        if "tuple" in form:
            return Structure("tuple", items=tuple(map(read, form["tuple"])))
        keys = tuple(k for k, _ in form["dict"])
        if form.get("name") == ":ragged" and len(keys) == 1:
            return Structure("ragged", keys, items=(Structure("leaf"),), example=next(specs))
        if form.get("name") == ":ragged":
            values, shapes = next(specs), next(specs)
            return Structure("ragged", items=(Structure("leaf"), Structure("leaf")),
                             example=TensorSpec((None,) * (shapes.shape[-1] or 0), values.dtype))
        if form.get("name") == ":tensor":
            next(specs), next(specs)
            return Structure("any", items=(Structure("leaf"), Structure("leaf")))
        if "name" in form:
            items = tuple(read(item) for _, item in form["dict"])
            kind = SparseTensor if (form["name"], keys) == ("SparseTensor", SparseTensor._fields) else collections.namedtuple(form["name"], keys)
            return Structure("namedtuple", keys, items=items, example=kind)
        order, inside = tuple(sorted(keys)), dict(form["dict"])
        return Structure("dict", keys, order, tuple(read(inside[k]) for k in order), {})

    return read(form)


def _say_why(path, digest, parts):
    """Logs why none of the snapshots in a folder is used, where there are some."""
    if os.path.isdir(os.path.join(path, digest)):
        return
    known = (about(folder).get("parts") for folder in folders(path))
    found = [_fingerprint.difference(k, parts) for k in known if isinstance(k, dict)]
    if found:
        closest = min(found, key=len)
        logging.getLogger("infeed").warning("snapshot: none of the %d in %s is reused: %s", len(found), path, "; ".join(closest[:5]))


class Snapshots:
    """The methods of Dataset that store elements and read them."""

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None, *, fingerprint=None, identity="stat"):
        """The elements, stored in a folder by the first whole pass and read from there by all others, in any process.

        path: a folder, for snapshots of any definitions. A snapshot is used only for
        what it was made of: the operations and their arguments, functions by their code
        and what they use, arrays by their content, files by name, size and time
        (identity="content": by what they hold). fingerprint: a text that stands for the
        functions and objects of Python, for those that cannot be told apart; change it
        when they make other elements. A log line says why a snapshot that is there is not
        used. compression: None, "NONE", "AUTO", "GZIP", "SNAPPY" or "ZSTD". A pass that is
        broken off keeps what it has stored, and the next one goes on from there. The order
        is that of the first pass, in every pass. shard_func: a function of an element that
        returns the number, from 0 to 999, of the part in which it is stored. reader_func: a
        function of the dataset of the parts, each a dataset, which returns the dataset of
        elements for passes that begin when the snapshot is complete, as for `load`; the
        pass that stores gives the order of the input, and the cardinality is unknown.
        Raises InvalidArgumentError where something cannot be hashed, and for an endless
        dataset; DataLossError, with file and place, where a stored file is damaged.

        Example:
            >>> import infeed, tempfile
            >>> folder = tempfile.mkdtemp()
            >>> ds = infeed.Dataset.range(4).map(lambda x: x * x).snapshot(folder)
            >>> [[int(x) for x in ds] for _ in range(2)]  # made, and then read
            [[0, 1, 4, 9], [0, 1, 4, 9]]
        """
        node = snapshot_node(type(self), self._node, path, compression, reader_func, shard_func, fingerprint, identity)
        return type(self)._of(node, self._options)

    def save(self, path, compression=None, shard_func=None, *, format="infeed"):
        """Stores the elements of a pass in a folder, for `Dataset.load`; what was saved there before is replaced.

        compression: as for `snapshot`. shard_func: a function of an element that returns
        the number, from 0 to 999, of the part to which it goes; `load` gives the elements
        in the order in which they were stored, but for a reader_func. format: "infeed", or
        "tf" for what tf.data.Dataset.load reads (as `Dataset.load` here does): compression
        is None, "NONE", "GZIP" or "SNAPPY" ("AUTO" is SNAPPY), which TensorFlow must be
        told when it loads, and parts are its shards, one after the other; what TensorFlow
        does not have (times, float128, elements without components) is UnimplementedError.
        Raises InvalidArgumentError for an endless dataset, and the errors of the elements;
        what was saved before then stays.

        Example:
            >>> import infeed, tempfile
            >>> folder = tempfile.mkdtemp()
            >>> infeed.Dataset.from_tensor_slices({"x": [1, 2, 3]}).save(folder)
            >>> infeed.Dataset.load(folder)[1]
            {'x': np.int32(2)}
        """
        for _ in saving(self, path, compression, shard_func, format):
            pass

    @classmethod
    def load(cls, path, element_spec=None, compression=None, reader_func=None):
        """The elements that `save` stored, or a snapshot's: a random-access dataset. Also what tf.data stored.

        path: the folder, or one with a single snapshot in it. element_spec: what elements
        are to be like; by default as they are stored. compression: not needed, files show
        how they are stored. reader_func: a function of the dataset of parts that shard_func
        made, each a dataset, which returns the dataset of elements; the parts can be
        reordered (shuffle, shard, take, skip, repeat) and put together (interleave,
        flat_map). By default elements come in the order in which they were stored. What
        tf.data stored with `save`, `snapshot` or `distributed_save` comes one element after
        the other, shard after shard where the order is not stored; snapshots of tf.data do
        not say what elements are like, and need element_spec. Raises
        NotFoundError where there is no snapshot, DataLossError where one is unfinished or
        damaged, InvalidArgumentError for another element_spec, and UnimplementedError, with
        the component, for what is ragged in more than one dimension.

        Example:
            >>> import infeed, tempfile
            >>> folder = tempfile.mkdtemp()
            >>> infeed.Dataset.range(5).save(folder, compression="ZSTD")
            >>> ds = infeed.Dataset.load(folder)
            >>> len(ds), int(ds[-1]), sorted(int(x) for x in ds.shuffle(seed=1))
            (5, 4, [0, 1, 2, 3, 4])
        """
        node = load_node(path, element_spec, compression)
        if reader_func is None:
            return cls._of(node)
        return _parts.read("load", cls, reader_func, _parts.of_stored(cls, node))


def snapshot(path, compression="AUTO", reader_func=None, shard_func=None, name=None, *, fingerprint=None, identity="stat"):
    """`Dataset.snapshot` as a function for `Dataset.apply`.

    Example:
        >>> import infeed, tempfile
        >>> ds = infeed.Dataset.range(3).apply(infeed.snapshot(tempfile.mkdtemp()))
        >>> [int(x) for x in ds]
        [0, 1, 2]
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func, name, fingerprint=fingerprint, identity=identity)
