"""PyTorch's DataLoader on sequences whose lengths differ: the faster of no workers and 2."""

from contextlib import contextmanager

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from bench import sequences


def _batch(examples):
    tokens = pad_sequence([torch.from_numpy(x) for x, _ in examples], batch_first=True)
    return tokens, torch.tensor([y for _, y in examples])


@contextmanager
def held():
    """Examples a second of a Python object, shuffled, in padded batches."""
    data, speeds = sequences.Held(), {}

    def run():
        for workers in (0, 2):
            loader = DataLoader(data, batch_size=sequences.BATCH, shuffle=True, collate_fn=_batch, num_workers=workers)
            speeds[workers] = sequences.rate((x.numpy(), y.numpy()) for x, y in loader)
        fastest = max(speeds, key=lambda w: speeds[w][0])
        speed, note = speeds[fastest]
        return speed, "; ".join(filter(None, [f"fastest: {fastest} workers", note]))

    yield run
