"""States that were saved once load for ever, and give what came then."""

import json

import pytest

import infeed

from . import golden


def kept(name):
    return json.loads((golden.FOLDER / f"dataset_{name}.json").read_text())["places"]


@pytest.mark.parametrize("name", golden.PIPELINES)
def test_kept_states(name):
    places = kept(name)
    assert len(places) == len(golden.AFTER) and all(p["next"] for p in places)
    for place in places:
        it = iter(golden.PIPELINES[name]())
        it.load_state_dict(place["state"])
        assert golden.some(it, golden.NEXT) == place["next"]


def test_kept_states_of_readers():
    first, second = kept("readers")
    it = golden.reader(2, 1)
    it.load_state_dict(first["state"])
    assert golden.some(it, len(first["next"])) == first["next"]
    it = golden.reader(2, 1)
    it.load_state_dict(second["state"])
    assert golden.some(it, golden.NEXT) == second["next"]


def test_every_file_is_tested():
    assert {p.name for p in golden.FOLDER.glob("dataset_*.json")} == {f"dataset_{n}.json" for n in (*golden.PIPELINES, "readers")}


def test_a_state_of_another_version_is_refused():
    place = kept("training")[1]
    for change, match in (({"format": 2}, "format 2"), ({"order_version": 99}, "version 99 of the order")):
        with pytest.raises(infeed.StateMismatchError, match=match):
            iter(golden.PIPELINES["training"]()).load_state_dict({**place["state"], **change})
