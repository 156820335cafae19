"""infeed for torch: datasets as torch's training loops take them. Needs torch."""

import threading

import numpy as np
import torch

from infeed._errors import InvalidArgumentError


class Loader(torch.utils.data.IterableDataset):
    """An `infeed.Dataset` for a training loop of torch. Made by `Dataset.to_torch`.

    It is iterated like a `torch.utils.data.DataLoader`: each `iter` is the next pass,
    elements come as tensors that share the batch's memory, and text as lists of bytes.
    `state_dict` and `load_state_dict` follow StatefulDataLoader: the state of the
    iterator in use; after a load, the next `iter` goes on there.
    """

    def __init__(self, dataset):
        self.dataset = dataset
        self._iterator = None
        self._pending = None
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

    def state_dict(self):
        """Where the loop is: after the batch delivered last."""
        with self._lock:
            if self._pending is not None:
                return self._pending
            it = self._iterator if self._iterator is not None else self.dataset.iterator(epoch=0)
            return it.state_dict()

    def load_state_dict(self, state):
        """Makes the next `iter` go on where a state was saved."""
        with self._lock:
            self._pending, self._iterator = state, None


def tensors(element):
    """An element with its arrays as tensors, which share their memory."""
    if isinstance(element, dict):
        return type(element)((k, tensors(v)) for k, v in element.items()) if type(element) is dict else {k: tensors(v) for k, v in element.items()}
    if isinstance(element, tuple):
        parts = [tensors(v) for v in element]
        return type(element)(*parts) if hasattr(element, "_fields") else tuple(parts)
    if isinstance(element, bytes):
        return element
    a = np.asarray(element)
    if a.dtype.hasobject:
        return a.tolist()
    if a.dtype.name == "bfloat16":
        return torch.from_numpy(a.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(a) if a.ndim else torch.tensor(element)
