"""infeed for JAX: datasets as device arrays, one batch ahead. Needs jax."""

import collections

import jax
import numpy as np

from infeed._errors import InvalidArgumentError
from infeed._function import flattener
from infeed._spec import Structure


class DeviceIterator:
    """Device arrays of the elements of a dataset, one ahead. Made by `Dataset.to_jax`.

    `get_state` and `set_state` are those of Grain's iterators: the state before the
    element that comes next.
    """

    def __init__(self, dataset, sharding=None):
        self._it, self._send = iter(dataset), Sender(sharding)
        self._restart()

    def _restart(self):
        self._begun = False
        self._ahead = None  # (element, None) or (None, what failed in its place); None: the end
        self._sent = 0  # elements
        self._taken = []  # the element that is being sent

    def __iter__(self):
        return self

    def __next__(self):
        if not self._begun:
            self._fetch()
        if self._ahead is None:
            raise StopIteration
        element, error = self._ahead
        if error is None:
            self._fetch()
            return element
        self._begun, self._ahead = False, None  # and the next call tries again
        try:
            raise error
        finally:
            del error  # which would keep this iterator, in its traceback

    def _fetch(self):
        """Sends the next element to the device; transfers go on by themselves."""
        try:
            if not self._taken:
                self._taken.append(next(self._it))
            self._ahead, self._sent = (self._send(self._taken[0]), None), self._sent + 1
            self._taken.clear()
        except StopIteration:
            self._ahead = None
        except Exception as e:  # its turn is after the element before it
            self._ahead = None, e.with_traceback(e.__traceback__.tb_next)
        except BaseException:  # an interrupt: what was taken and not sent comes again
            self.set_state(self.get_state())
            raise
        self._begun = True

    def get_state(self):
        """The state before the element that comes next, as a dict for JSON."""
        held = self._ahead is not None and self._ahead[1] is None
        return self._it.state_dict(at=self._sent - held)

    def set_state(self, state):
        """Goes to where a state was saved."""
        self._it.load_state_dict(state)
        self._restart()

    def close(self):
        """Ends the iterator; arrays that it gave stay valid."""
        self._it.close()
        self._restart()
        self._begun = True


@jax.jit
def _arrays(*leaves):
    return leaves


class Sender:
    """Sends elements to devices, as copies: the engine uses the memory of a batch again once its arrays are gone."""

    # What jax.device_put does in Python for each array takes longer than to copy a small batch. A compiled
    # function that returns its arguments does the same in a fifth of the time, but has to be compiled for
    # their shapes: so it is for those that come often.
    OFTEN = 200
    MOST = 4  # shapes for which it is compiled

    def __init__(self, sharding=None):
        self._sharding = sharding
        self._paths = self._flat = self._pack = None  # of elements, which are all nested alike
        self._came = collections.Counter()  # elements by shapes
        self._often = set()

    def __call__(self, element):
        """An element with its arrays on the device. Raises InvalidArgumentError for what devices do not hold."""
        if self._paths is None:
            structure, leaves = Structure.of(element)
            self._paths, self._flat, self._pack = [path for path, _ in leaves], flattener(structure), structure.packer()
        wide = jax.config.jax_enable_x64
        values = [_held(path, v, wide) for path, v in zip(self._paths, self._flat(element))]
        shapes = tuple([v.shape for v in values])
        if self._sharding is None and not jax.config.jax_disable_jit and (shapes in self._often or self._comes_often(shapes)):
            with jax.transfer_guard_host_to_device("allow"):  # this is meant to be one
                return self._pack(_arrays(*values))
        return self._pack(tuple(jax.device_put(values, self._sharding, may_alias=False)))

    def _comes_often(self, shapes):
        if len(self._often) == self.MOST:
            return False
        if len(self._came) > 1000:  # they differ from batch to batch
            self._came.clear()
        self._came[shapes] += 1
        if self._came[shapes] < self.OFTEN:
            return False
        self._often.add(shapes)
        return True


def _held(path, v, wide):
    """A component as JAX holds it: without x64, ints have 32 bits."""
    if isinstance(v, bytes) or v.dtype.hasobject:
        raise InvalidArgumentError(f"to_jax: component{path} has dtype object, as text and ragged batches have, and devices hold numbers only; "
                                   "leave it out with map, or use padded_batch")
    if wide or v.dtype.itemsize != 8 or v.dtype.kind not in "iu":
        return v
    narrow = v.astype(np.int32 if v.dtype.kind == "i" else np.uint32)
    if (narrow == v).all():
        return narrow
    raise InvalidArgumentError(f"to_jax: component{path} is {v.dtype} and has values beyond {narrow.dtype}, which is what JAX makes of it; "
                               'set jax.config.update("jax_enable_x64", True), or make others of them with map')
