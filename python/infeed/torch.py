"""infeed for torch: datasets as torch's training loops take them. Needs torch."""

import copy
import threading

import numpy as np
import torch

from infeed._errors import InvalidArgumentError


class Loader(torch.utils.data.IterableDataset):
    """An `infeed.Dataset` for a training loop of torch. Made by `Dataset.to_torch`.

    It is iterated like a `torch.utils.data.DataLoader`: each `iter` is the next pass,
    elements come as tensors that share the batch's memory, and text as lists of bytes.
    `state_dict` and `load_state_dict` follow StatefulDataLoader: the state of the
    iterator in use; after a load, the next `iter` goes on there. Where a pass has ended,
    the state is the start of the next one.
    """

    def __init__(self, dataset):
        self.dataset = dataset
        self._iterator = None  # the one in use
        self._pending = None  # the state that the next one begins with
        self._following = None  # the state after the last pass; None: before the first
        self._lock = threading.Lock()

    def __len__(self):
        return len(self.dataset)

    def __iter__(self):
        if torch.utils.data.get_worker_info() is not None:
            raise InvalidArgumentError("to_torch: iterate it directly, or with DataLoader(..., batch_size=None, num_workers=0); infeed "
                                       "has workers of its own")
        with self._lock:
            it = iter(self.dataset)
            if self._pending is not None:
                it.load_state_dict(self._pending)
                self._pending = None
            self._iterator = it
        for element in it:
            yield tensors(element)
        with self._lock:
            if self._iterator is it:
                self._iterator, self._following = None, after(it.state_dict())

    def state_dict(self):
        """Where the loop is, as a dict for JSON: after the batch delivered last.

        Example:
            >>> import infeed
            >>> loader = infeed.Dataset.range(6).batch(2).to_torch()
            >>> for batch in loader:
            ...     break
            >>> again = infeed.Dataset.range(6).batch(2).to_torch()
            >>> again.load_state_dict(loader.state_dict())
            >>> [batch.tolist() for batch in again]
            [[2, 3], [4, 5]]
            >>> [batch.tolist() for batch in again]
            [[0, 1], [2, 3], [4, 5]]
        """
        with self._lock:
            if self._pending is not None:
                return copy.deepcopy(self._pending)
            if self._iterator is not None:
                return self._iterator.state_dict()
            if self._following is None:
                it = self.dataset.iterator(epoch=0)
                self._following = it.state_dict()
                it.close()
            return copy.deepcopy(self._following)

    def load_state_dict(self, state):
        """Makes the next `iter` go on where a state, or each in a list of states, was saved: see `Iterator.load_state_dict`.

        Raises StateMismatchError where the state is of another dataset, saying what differs.
        """
        it = self.dataset.iterator(epoch=0)
        try:
            it.load_state_dict(state)  # what is wrong with it is said here
            found = it.state_dict()
        finally:
            it.close()
        with self._lock:
            self._pending, self._iterator = found, None


def after(state):
    """The state at the start of the pass after a state's."""
    return {**{k: v for k, v in state.items() if k not in ("token", "rows", "rest")}, "pass": state["pass"] + 1, "position": 0}


def tensors(element):
    """An element with its arrays as tensors, which share their memory."""
    if isinstance(element, dict):
        return type(element)((k, tensors(v)) for k, v in element.items()) if type(element) is dict else {k: tensors(v) for k, v in element.items()}
    if isinstance(element, tuple):
        parts = [tensors(v) for v in element]
        return type(element)(*parts) if hasattr(element, "_fields") else tuple(parts)
    if isinstance(element, bytes):
        return element
    a = element if type(element) is np.ndarray else np.asarray(element)
    if a.dtype.hasobject:
        return a.tolist()
    if a.dtype.num >= 256:  # of no type of NumPy's own
        return _other(a)
    return torch.from_numpy(a) if a.ndim else torch.tensor(element)


def _other(a):
    dtype = getattr(torch, a.dtype.name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point or dtype.itemsize != a.itemsize:
        raise InvalidArgumentError(f"to_torch: torch has no {a.dtype}; make another of it with map, as by x.astype('float32')")
    bits = a.reshape(a.shape or 1).view(np.int16 if a.itemsize == 2 else np.uint8)
    return torch.from_numpy(bits).view(dtype).reshape(a.shape)
