"""What tf.data stored: saved datasets, snapshots, and those of its service, as `Dataset.load` reads them."""

import json
import os

import numpy as np

from infeed import _definition, _native, _snapshot
from infeed._errors import InvalidArgumentError
from infeed._features import SparseTensor
from infeed._spec import RaggedTensorSpec, Structure, TensorSpec, UnknownRankSpec, own_spec

_ENDINGS = (".shard", ".snapshot")


class LoadTFNode(_snapshot.LoadNode):
    """load, of what tf.data stored."""

    @property
    def structure(self):
        if self._loaded is None:
            self._loaded = self._found() if self.element_spec is None else described(self.element_spec)[0]
        return self._loaded

    def _found(self):
        spec = _definition.Node(*self.opened()).handle().spec
        return _snapshot.structure_of(spec["structure"], _definition.specs_of(spec))

    def parts(self):
        """The numbers of the shards or chunks."""
        return np.arange(len(describe(self.args["path"])["parts"]), dtype="int64")

    def part(self, number):
        """The node of a shard or chunk; number may be one that differs between elements."""
        return LoadTFNode(self.op, {**self.args, "stream": number}, self.element_spec)


def node(path, element_spec, compression, **more):
    """The node of Dataset.load; more: arguments of the engine's."""
    spec = None if element_spec is None else described(element_spec)[1]
    made = LoadTFNode("load_tf", {"path": path, "compression": compression, "spec": spec, "stream": None, **more}, element_spec)
    made.handle()
    return made


def folders(path):
    """The folders of what tf.data stored at a path: it itself, or those in it; none where it is something else."""
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return []
    if _snapshot.MANIFEST in names:
        return []
    if _snapshot.TF_METADATA in names or "dataset_spec.pb" in names or any(n.endswith(_ENDINGS) for n in names):
        return [path]
    return [os.path.join(path, n) for n in names if os.path.isfile(os.path.join(path, n, _snapshot.TF_METADATA))]


def describe(path):
    """What tf.data says of what it stored at a path, as a dict (core/snapshot TFFolder)."""
    call = _native.Call()
    call("tf_folder", {"path": os.path.abspath(path)})
    return json.loads(call.long())


def identity(path):
    """Bytes that tell what is stored apart: its metadata, and the names and sizes of its files."""
    found = describe(path)
    with open(os.path.join(found["path"], _snapshot.TF_METADATA), "rb") as f:
        return f.read() + json.dumps([found["run"], [(p["files"], p["bytes"]) for p in found["parts"]]]).encode()


# -- specs ---------------------------------------------------------------------------------


def described(element_spec):
    """The structure of an element spec, and the spec for the engine."""
    outer, leaves = Structure.of(element_spec)
    structures, components = [], []
    for path, leaf in leaves:
        structure, more = _component(path, leaf)
        structures.append(structure)
        components += [{"dtype": d, "shape": [-1 if n is None else n for n in shape]} for d, shape in more]
    structure = outer.replaced(iter(structures))
    return structure, {"structure": _form(structure), "components": components}


def _component(path, spec):
    """The structure of a component, and dtype and shape of each of the components that the engine has for it."""
    spec = own_spec(spec)
    if isinstance(spec, TensorSpec):
        return Structure("leaf"), [(_code(spec.dtype), spec.shape)]
    parts = (Structure("leaf"), Structure("leaf"))
    if isinstance(spec, UnknownRankSpec):
        return Structure("any", items=parts), [(_code(spec.dtype), (-1,)), ("<i8", (-1,))]
    if isinstance(spec, RaggedTensorSpec) and len(spec.shape) > 1:
        return (Structure("ragged", items=parts, example=TensorSpec((None,) * (len(spec.shape) - 1), spec.dtype)),
                [(_code(spec.dtype), (-1,)), ("<i8", (spec.shape[0], len(spec.shape) - 1))])
    raise InvalidArgumentError(f"load: element_spec{path} is {spec!r:.200}; an infeed.TensorSpec, RaggedTensorSpec or UnknownRankSpec is needed, or an io.SparseTensor of TensorSpecs")


def _code(dtype):
    return "|O" if dtype.kind in "SU" else _definition.code(dtype)  # TensorFlow has strings of any length


def _form(structure):
    """A structure as the engine reads it, in which sparse tensors are known from named tuples of that name."""
    inside = [_form(item) for item in structure.items]
    form = structure.document()
    if form is None:
        return None
    if "tuple" in form:
        return {"tuple": inside}
    sparse = structure.kind == "namedtuple" and structure.example is SparseTensor
    return {**form, "dict": [[k, f] for (k, _), f in zip(form["dict"], inside)], **({"name": ":sparse"} if sparse else {})}


# -- for infeed verify ---------------------------------------------------------------------


def dataset(path):
    """The dataset of all that is stored at a path; where nothing says what elements are like, of the messages of their tensors."""
    from infeed import _dataset

    return _dataset.Dataset._of(node(os.path.abspath(path), None, "AUTO", raw=not describe(path)["spec"]))
