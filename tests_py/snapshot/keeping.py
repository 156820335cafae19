"""Snapshots for tests of the commands: whole ones and one that is not finished."""

import pytest

import infeed


def keep(path, k):
    assert len(list(infeed.Dataset.range(10).map(lambda x: x + k).snapshot(path))) == 10


def keep_a_part(path):
    def bad(x):
        if int(x) == 4:
            raise KeyError("four")
        return x

    with pytest.raises(KeyError):
        list(infeed.Dataset.range(10).map(bad).snapshot(path, fingerprint="1"))
