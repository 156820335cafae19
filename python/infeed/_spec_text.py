"""What elements are like, as text for people: as `infeed inspect` prints it, and `infeed convert --spec` reads it."""

import ast
import collections
import re

from infeed import _definition, _spec
from infeed._errors import InvalidArgumentError
from infeed._spec import RaggedTensorSpec, TensorSpec

# Besides names in quotes, what Python does not read: no dimensions, ones that differ, and "ragged" before a dtype.
_OTHERS = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(\[\s*\])|(\?)|ragged +(\w+)""")


def text(spec):
    """A spec as in manifests, for a person: {'image': uint8[28, 28], 'label': int64[]}."""
    components = iter(spec["components"] or ())

    def nested(form):
        if form is None:
            c = next(components)
            return f"{_name(c)}[{', '.join('?' if d < 0 else str(d) for d in c['shape'])}]"
        if "tuple" in form:
            items = [nested(f) for f in form["tuple"]]
            return f"({', '.join(items)}{',' * (len(items) == 1)})"
        if form.get("name") == ":ragged":
            values = next(components)
            dims = len(values["shape"])
            if len(form["dict"]) == 2:
                *outer, dims = next(components)["shape"]
                dims += len(outer)
            return f"ragged {_name(values)}[{', '.join('?' * dims)}]"
        if form.get("name") == ":sparse":
            _, values, shape = next(components), next(components), next(components)
            return f"sparse {_name(values)}[{', '.join('?' * shape['shape'][0])}]"
        if form.get("name") == ":tensor":
            values, _ = next(components), next(components)
            return f"{_name(values)} of any rank"
        pairs = [(k, nested(f)) for k, f in form["dict"]]
        if "name" in form:
            return f"{form['name']}({', '.join(f'{k}={t}' for k, t in pairs)})"
        return "{" + ", ".join(f"{k!r}: {t}" for k, t in pairs) + "}"

    return nested(spec["structure"])


def _name(component):
    return "string" if component["dtype"] == "|O" else str(_definition.dtype_of(component["dtype"]))


def parse(text):
    """The element_spec that a text says, such as "{'image': uint8[28, 28], 'words': string[?]}".

    Tuples, dicts and named tuples, Point(x=int64[], y=int64[]), are nested as in
    Python; components are NumPy's names of dtypes, those of ml_dtypes or string, with
    dimensions, ? where elements differ, and ragged before the dtype of a ragged one.
    Raises InvalidArgumentError for another text.
    """
    def replaced(found):
        quoted, none, _, ragged = found.groups()
        return quoted or ("[()]" if none else f"ragged_{ragged}" if ragged else "None")

    try:
        return _value(ast.parse(_OTHERS.sub(replaced, text.strip()), mode="eval").body)
    except (SyntaxError, ValueError, TypeError, AttributeError, ImportError) as e:
        reason = e.msg if isinstance(e, SyntaxError) else e
        raise InvalidArgumentError(f"{text!r:.200} says no spec of elements ({reason}); one is written as (float32[28, ?], {{'label': int64[], 'text': string[]}})") from None


def _value(tree):
    if isinstance(tree, ast.Tuple):
        return tuple(map(_value, tree.elts))
    if isinstance(tree, ast.Dict):
        return {ast.literal_eval(k): _value(v) for k, v in zip(tree.keys, tree.values)}
    if isinstance(tree, ast.Call) and not tree.args:
        names = [k.arg for k in tree.keywords]
        return collections.namedtuple(tree.func.id, names)(*(_value(k.value) for k in tree.keywords))
    if isinstance(tree, ast.Subscript):
        dims = ast.literal_eval(tree.slice)
        shape = dims if isinstance(dims, tuple) else (dims,)
        name = tree.value.id
        if name.startswith("ragged_"):
            return RaggedTensorSpec(shape, _spec.dtype_of(name[len("ragged_"):], "a spec"))
        return TensorSpec(shape, _spec.dtype_of(name, "a spec"))
    raise ValueError(f"{ast.unparse(tree)} is no component: give its dimensions too, as in int64[]")
