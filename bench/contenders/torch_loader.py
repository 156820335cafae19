"""torch.utils.data.DataLoader, as those use it who know it: persistent workers, whole batches."""

import warnings
from contextlib import contextmanager

import torch
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

from bench import batches, rows

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class Data(batches.Batches, batches.Alone, Dataset):
    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return torch.from_numpy(x), torch.from_numpy(y)


class Rows(Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.from_numpy(x), torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def as_numpy(loader):
    for x, y in loader:
        yield x.numpy(), y.numpy()


@contextmanager
def loop(n, workers=2, **options):
    """Batches a second with worker processes."""
    loader = DataLoader(Data(n, **options), batch_size=None, num_workers=workers, prefetch_factor=4,
                        persistent_workers=True)
    yield lambda: batches.rate(as_numpy(loader), n)


@contextmanager
def shuffled_rows(kind, passes):
    """Rows a second, a whole batch gathered at once, in the caller's thread (its fastest form here)."""
    x, y = rows.arrays(kind)
    ds = Rows(x, y)
    loader = DataLoader(ds, batch_size=None, sampler=BatchSampler(RandomSampler(ds), rows.BATCH, False))
    yield lambda: rows.rate((b for _ in range(passes) for b in as_numpy(loader)), len(y), passes)
