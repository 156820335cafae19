"""Dataset.scan."""

import numpy as np
from cases import case

ZERO = np.int64(0)


def add(state, x):
    return state + x, state + x


@case([0, 1, 3, 6], cardinality=4)
def test_running_sum(lib):
    return lib.Dataset.range(4).scan(initial_state=ZERO, scan_func=add)


@case([(0, 0), (1, 0), (2, 1)])
def test_output_is_a_tuple(lib):
    return lib.Dataset.range(3).scan(ZERO, lambda s, x: (s + x, (x, s)))


@case([1, 1, 2, 3])
def test_state_is_a_tuple(lib):
    return lib.Dataset.range(4).scan((ZERO, np.int64(1)), lambda s, x: ((s[1], s[0] + s[1]), s[1]))


@case([1, 4])
def test_state_is_a_dict(lib):
    def step(state, x):
        return {"n": state["n"] + 1, "sum": state["sum"] + x}, state["sum"] + x + state["n"]
    return lib.Dataset.range(1, 3).scan({"n": ZERO, "sum": ZERO}, step)


@case([3, 10])
def test_elements_are_tuples(lib):
    ds = lib.Dataset.from_tensor_slices((np.array([1, 3]), np.array([2, 4])))
    return ds.scan(ZERO, lambda s, e: (s + e[0] + e[1], s + e[0] + e[1]))


@case([[1.0, 1.0], [2.0, 3.0]])
def test_state_is_an_array(lib):
    ds = lib.Dataset.from_tensor_slices(np.array([[1, 1], [1, 2]], np.float32))
    return ds.scan(np.zeros(2, np.float32), lambda s, x: (s + x, s + x))


@case([[0, 1], [2]])
def test_of_batches(lib):
    return lib.Dataset.range(3).batch(2).scan(ZERO, lambda s, x: (s + 1, x))


@case([], cardinality=0)
def test_of_nothing(lib):
    return lib.Dataset.range(0).scan(ZERO, add)


@case([1, 2, 3], cardinality=-1, limit=3)
def test_without_end(lib):
    return lib.Dataset.range(1, 2).repeat().scan(ZERO, add)


@case([0, 1, 0, 1])
def test_repeated_begins_anew(lib):
    return lib.Dataset.range(2).scan(ZERO, add, name="sum").repeat(2)


@case([], raises="Type")
def test_state_changes_its_dtype(lib):
    return lib.Dataset.range(3).scan(ZERO, lambda s, x: (lib.cast(s + x, lib.float32), x))


@case([], raises="Type")
def test_result_is_no_pair(lib):
    return lib.Dataset.range(3).scan(ZERO, lambda s, x: s + x)
