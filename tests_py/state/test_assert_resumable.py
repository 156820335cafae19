"""assert_resumable finds what does not resume, and says where."""

import cloudpickle
import numpy as np
import pytest

import infeed
from infeed.testing import assert_resumable

from . import golden


@pytest.fixture(scope="module", autouse=True)
def by_value(request):
    cloudpickle.register_pickle_by_value(request.module)
    cloudpickle.register_pickle_by_value(golden)
    yield
    cloudpickle.unregister_pickle_by_value(request.module)
    cloudpickle.unregister_pickle_by_value(golden)


class Batches(infeed.PyDataset):
    def __init__(self, length=5, **options):
        super().__init__(**options)
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return {"a": self.rng.normal(size=2), "b": (np.array([self.epoch, index]), "text", [b"bytes"])}


class Counting(Batches):
    """Depends on how many batches it made."""

    made = 0

    def __getitem__(self, index):
        Counting.made += 1
        return np.array([Counting.made])


class Shorter(Batches):
    """After a load, one batch less comes."""

    def __iter__(self):
        it = super().__iter__()
        load = it.load_state_dict
        it.load_state_dict = lambda state: load({**state, "position": min(state["position"] + 1, 5)})
        return it


class Lying(Batches):
    """In other processes it makes other batches."""

    import os
    home = os.getpid()

    def __getitem__(self, index):
        import os
        return np.array([index + (os.getpid() != self.home)])


class SecondSave(Batches):
    """A state that is taken after a load is that of the load."""

    def __iter__(self):
        it = super().__iter__()
        load = it.load_state_dict

        def loading(state):
            load(state)
            it.state_dict = lambda at=None: state
        it.load_state_dict = loading
        return it


class NoJson(Batches):
    def state_dict(self):
        return {"x": np.zeros(2)}

    def load_state_dict(self, state):
        pass


@pytest.mark.parametrize("shuffle", [True, False])
def test_what_resumes(shuffle):
    assert_resumable(lambda workers: Batches(shuffle=shuffle, workers=workers))


def test_a_dataset():
    def make(workers):
        options = infeed.Options()
        options.threading.private_threadpool_size = workers
        return infeed.Dataset.range(50).filter(lambda x: x % 3 > 0).shuffle(10, seed=7).batch(4).with_options(options)

    assert_resumable(make, every=3)


def test_without_an_end():
    assert_resumable(lambda workers: golden.Endless(seed=3), every=40, processes=False)


@pytest.mark.parametrize("cls, text", [
    (Counting, r"the state before element 0, saved with workers=0 and loaded with workers=0: element 0 differs: it is array\(\[6\]\), and was array\(\[1\]\)"),
    (Shorter, r"the state before element 0, .*: element 0 differs: it\['a'\] is array"),
    (Lying, r"the state before element 0, saved with workers=0 and loaded with workers=2 in another process: element 0 differs"),
    (SecondSave, "the state before element 0, saved with workers=0, and a second one an element later: element 1 differs"),
    (NoJson, "JSON cannot hold the state")])
def test_what_does_not(cls, text):
    Counting.made = 0
    with pytest.raises(AssertionError, match=text):
        assert_resumable(lambda workers: cls(workers=workers))


def test_wrong_arguments():
    for every in (0, 1.5, True):
        with pytest.raises(infeed.InvalidArgumentError, match="every is"):
            assert_resumable(lambda workers: Batches(), every=every)
    with pytest.raises(infeed.InvalidArgumentError, match="workers is empty"):
        assert_resumable(lambda workers: Batches(), workers=())
    with pytest.raises(infeed.InvalidArgumentError, match="a list, whose iterators have no states"):
        assert_resumable(lambda workers: [1, 2])
