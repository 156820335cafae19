"""docs/porting-from-tf-data.md: every difference that a case has, and every name of tf.data."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "porting-from-tf-data.md"
HERE = Path(__file__).resolve().parent


def first_cells(heading):
    """The first cells of the table under a heading."""
    text = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S).group(1)
    cells = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]
    return cells[2:]  # without the header


def names(heading):
    return [n for cell in first_cells(heading) for n in re.findall(r"`(\w+)`", cell)]


def reasons():
    """What the cases in this folder give as reasons, as they are written."""
    text = "\n".join(p.read_text() for p in HERE.glob("test_*.py") if p != Path(__file__))
    constants = dict(re.findall(r'^([A-Z]+) = "(.*)"$', text, re.M))
    return {quoted or constants[name] for quoted, name in re.findall(r'"?differs"?[=:] ?(?:"(.*?)"|([A-Z]+))[,)}]', text)}


def test_each_difference_has_a_row_and_each_row_a_case():
    rows = first_cells("What infeed does otherwise on purpose")
    assert len(rows) == len(set(rows)) > 10
    assert reasons() == set(rows)


@pytest.mark.parametrize("heading, module", [("tf.data.Dataset", "Dataset"), ("tf.data", ""), ("tf.data.experimental", "experimental")])
def test_each_name_of_tf_data_has_a_row(heading, module):
    tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    public = {n for n in dir(getattr(tf.data, module) if module else tf.data) if not n.startswith("_")} - {"experimental"}
    listed = names(heading)
    assert len(listed) == len(set(listed))
    assert set(listed) == public


def test_the_example_runs(capsys):
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.S).group(1)
    exec(compile(code, str(PAGE), "exec"), {})
    assert capsys.readouterr().out == "(2, 2) int32\n(1, 2) int32\n"
