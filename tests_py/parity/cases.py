"""How a case is written, and what is checked of it.

    @case([0, 2, 4])
    def test_one_argument(lib):
        return lib.Dataset.range(3).map(lambda x: x * 2)

makes three tests. `tensorflow`: TensorFlow gives what the case says (its elements in
plain Python, `raises=` the kind of error that ends it). `infeed`: infeed gives the
same elements, dtypes, shapes, structure, specs, cardinality and kind of error.
`workers`: the number of workers, the size of blocks, read-ahead and a second walk
change nothing.

`differs="reason"` marks what infeed does otherwise on purpose: `infeed=expect(...)`
says what it gives there, and the rest must be as in TensorFlow. Each reason is the
first cell of a row in docs/porting-from-tf-data.md.

`order` says what is the same where chance is at work: "multiset" the elements, "law"
only what the function `law` says of them. `passes`: "differ" or "equal", the second
walk over one object beside the first. `drawn`: each dataset draws a seed of its own.
"""

import dataclasses

import pytest
from outcomes import LIMIT, Outcome, in_any_order, literal, observe, sequence

ANY = object()
CHECKS = ("tensorflow", "infeed", "workers")
WORKERS = (0, 1, 2, 8)
CASES = []

# infeed's class for each kind of TensorFlow's; other kinds are classes of Python's own.
ERRORS = {
    "InvalidArgument": ("InvalidArgumentError",), "Value": ("ValueError",), "Type": ("TypeError", "InvalidArgumentError"),
    "FailedPrecondition": ("InvalidArgumentError",), "NotFound": ("NotFoundError",), "DataLoss": ("DataLossError",),
    "AlreadyExists": ("AlreadyExistsError",), "Unimplemented": ("UnimplementedError",),
    # TensorFlow does not look at the type of some arguments, and fails where it first uses them.
    "Attribute": ("AttributeError", "TypeError", "InvalidArgumentError"),
}


@dataclasses.dataclass(frozen=True)
class Expected:
    """What one library gives; ANY where the case does not say."""

    elements: object = ANY
    raises: object = ANY
    cardinality: object = ANY
    spec: object = ANY
    law: object = ANY


def expect(elements=ANY, raises=ANY, cardinality=ANY, spec=ANY, law=ANY):
    return Expected(elements, raises, cardinality, spec, law)


@dataclasses.dataclass(frozen=True)
class Case:
    make: object
    expected: Expected
    infeed: Expected
    differs: str
    order: str
    passes: str
    drawn: bool
    limit: int


def case(gives=ANY, *, raises=None, cardinality=ANY, spec=ANY, infeed=None, differs=None, order="sequence",
         passes="equal", law=ANY, drawn=False, limit=LIMIT):
    """Makes the tests of a function from a library to a pipeline, or to a value."""
    assert (infeed is None) == (differs is None), "a difference has a reason, and says what infeed gives"
    assert order in ("sequence", "multiset", "law") and passes in ("equal", "differ", None)

    def decorate(make):
        said = Expected(gives, raises, cardinality, spec, law)
        one = Case(make, said, infeed or Expected(law=law), differs, order, passes, drawn, limit)
        CASES.append(one)

        @pytest.mark.parametrize("check", CHECKS)
        def test(sides, check):
            {"tensorflow": _on_tensorflow, "infeed": _on_infeed, "workers": _with_any_workers}[check](sides, one)

        test.__name__, test.__module__, test.__doc__, test.case = make.__name__, make.__module__, make.__doc__, one
        return test

    return decorate


# -- the checks ---------------------------------------------------------------


def _on_tensorflow(sides, one):
    outcome, again = sides.theirs(one)
    _as_said(one, outcome, one.expected)
    _passes(one, outcome, again)


def _on_infeed(sides, one):
    theirs, ours = sides.theirs(one)[0], observe(sides.infeed, one.make, one.limit)
    said = one.infeed
    found = []
    if said.elements is ANY and one.order != "law":
        same = sequence if one.order == "sequence" else in_any_order
        found += same(ours.elements, theirs.elements)
    if said.raises is ANY:
        found += _error(ours.failure, theirs.failure and theirs.failure.kind)
    # What fails before the first element may fail when it is defined, or when it is walked.
    both = theirs.cardinality is not None and (ours.cardinality is not None or not ours.failure)
    if both and said.cardinality is ANY and ours.cardinality != theirs.cardinality:
        found.append(f"cardinality {ours.cardinality} and not {theirs.cardinality}")
    if both and said.spec is ANY and ours.spec != theirs.spec:
        found.append(f"element_spec {ours.spec} and not {theirs.spec}")
    assert not found, _report(found, ours)
    _as_said(one, ours, said, error=_error)


def _with_any_workers(sides, one):
    lib = sides.infeed
    first, again = observe(lib, one.make, one.limit, walks=2)
    _passes(one, first, again)
    for n in WORKERS:
        got = observe(lib, _changed(one, lambda ds, n=n: lib.with_workers(ds, n)), one.limit)
        _unchanged(one, first, got, f"{n} workers")
    for n in (1, 3):
        got = observe(lib, _changed(one, lambda ds, n=n: ds.prefetch(n)), one.limit)
        _unchanged(one, first, got, f"prefetch({n})")
    for size in (1, 64):
        with lib.blocks_of(size):
            got = observe(lib, one.make, one.limit)
        _unchanged(one, first, got, f"blocks of {size} bytes")


def _changed(one, change):
    """The case, with the dataset it makes changed."""
    def make(lib):
        made = one.make(lib)
        return change(made) if lib.is_dataset(made) else made
    return make


def _unchanged(one, first, got, name):
    found = (in_any_order if one.drawn else sequence)(got.elements, first.elements)
    found += [] if _kind(got) == _kind(first) else [f"error {_kind(got)} and not {_kind(first)}"]
    found += [] if got.cardinality == first.cardinality else ["another cardinality"]
    found += [] if got.spec == first.spec else ["other specs"]
    assert not found, f"with {name}: " + _report(found, got)


def _passes(one, first, again):
    if one.passes is None or first.failure:
        return
    changed = bool(sequence(again.elements, first.elements))
    assert changed == (one.passes == "differ"), f"the passes should {'differ' if one.passes == 'differ' else 'be equal'}"
    if changed:
        assert one.order == "law" or not in_any_order(again.elements, first.elements)


def _as_said(one, outcome, said, error=None):
    """Whether an outcome is what the case says."""
    found, got = [], [literal(e) for e in outcome.elements]
    if said.elements is not ANY:
        if one.order == "multiset":
            got, wanted = sorted(got, key=repr), sorted(said.elements, key=repr)
        else:
            wanted = said.elements
        found += [] if got == list(wanted) else [f"{got} and not {list(wanted)}"]
    if said.raises is not ANY:
        kind = outcome.failure and outcome.failure.kind
        found += error(outcome.failure, said.raises) if error else [] if kind == said.raises else [f"{kind} and not {said.raises}"]
    if said.cardinality is not ANY and outcome.cardinality != said.cardinality:
        found.append(f"cardinality {outcome.cardinality} and not {said.cardinality}")
    if said.spec is not ANY and outcome.spec != said.spec:
        found.append(f"element_spec {outcome.spec} and not {said.spec}")
    if said.law is not ANY and not said.law(got):
        found.append(f"the law does not hold for {got}")
    assert not found, _report(found, outcome)


def _error(failure, kind):
    """Whether infeed's error is of the class that stands for a kind of TensorFlow's."""
    if failure is None or kind is None:
        return [] if failure is kind else [f"{failure and failure.kind} and not {kind}: {failure and failure.text}"]
    classes = {c.__name__ for c in failure.classes}
    wanted = ERRORS.get(kind, (kind, kind + "Error"))
    return [] if classes & set(wanted) else [f"{failure.kind} ({failure.text}) and not {kind}"]


def _kind(outcome: Outcome):
    return outcome.failure and outcome.failure.kind


def _report(found, outcome):
    failed = f"\nfailed with {outcome.failure.kind}: {outcome.failure.text}" if outcome.failure else ""
    return "\n".join(found) + failed
