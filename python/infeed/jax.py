"""infeed for JAX: datasets as device arrays, one batch ahead. Needs jax."""

import jax

from infeed._errors import InvalidArgumentError
from infeed._spec import Structure


class DeviceIterator:
    """Device arrays of the elements of a dataset, one ahead. Made by `Dataset.to_jax`.

    `get_state` and `set_state` are those of Grain's iterators: the state before the
    element that comes next.
    """

    def __init__(self, dataset, sharding=None):
        self._dataset, self._sharding = dataset, sharding
        self._it = iter(dataset)
        self._ahead = self._state = None
        self._begun = False

    def __iter__(self):
        return self

    def __next__(self):
        if not self._begun:
            self._fetch()
        if self._ahead is None:
            raise StopIteration
        element, self._state = self._ahead, None
        self._fetch()
        return element

    def _fetch(self):
        """Sends the next element to the device; transfers go on by themselves."""
        self._begun = True
        self._state = self._it.state_dict()
        try:
            element = next(self._it)
        except StopIteration:
            self._ahead = None
            return
        self._ahead = put(element, self._sharding)

    def get_state(self):
        """The state before the element that comes next, as a dict for JSON."""
        return self._state if self._begun else self._it.state_dict()

    def set_state(self, state):
        """Goes to where a state was saved."""
        self._it.load_state_dict(state)
        self._begun, self._ahead = False, None

    def close(self):
        """Ends the iterator; arrays that it gave stay valid."""
        self._it.close()
        self._begun, self._ahead = True, None


def put(element, sharding=None):
    """An element with its arrays on the device. Text cannot go there: InvalidArgumentError."""
    structure, leaves = Structure.of(element)
    for path, v in leaves:
        if isinstance(v, (bytes, str)) or getattr(getattr(v, "dtype", None), "hasobject", False):
            raise InvalidArgumentError(f"to_jax: component{path} is text, which devices do not hold; leave it out with map")
    # The engine uses the memory of a batch again once its arrays are gone; a copy on
    # the device must not be a view of it.
    moved = [jax.device_put(v, sharding, may_alias=False) for _, v in leaves]
    return structure.pack(moved)
