"""An exception from a signal handler may come anywhere in a loop: the state is true, and no memory stays taken.

A batch that was just leaving next() when the signal came is gone with the exception,
as with any iterator of Python's; the state then counts it.
"""

import pytest
from samples import KINDS, Hooked, Items

# Draws all batches of several passes while a timer's handler raises every few milliseconds.
PROGRAM = """
    import itertools, random, signal
    import numpy as np
    from infeed import _native
    from samples import Made

    class Ring(BaseException):
        pass

    def ring(*_):
        raise Ring

    def make(ds, index):
        import time
        time.sleep(0.001)
        return np.full({size}, ds.epoch * 1000 + index)

    def draw(it):
        # The alarm is set as late as possible and taken back at once, so that it comes inside next().
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.003))
        try:
            return next(it, None)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def attempt(it):
        while True:
            try:
                return draw(it)
            except Ring:
                position = it.state_dict()["position"]
                assert position in (len(got), len(got) + 1), (position, len(got))
                rings.append(position - len(got))
                got.extend(range(len(got), position))

    random.seed(7)
    signal.signal(signal.SIGALRM, ring)
    rings, batch = [], None
    with Made(make, 150, max_queue_size=3, **{kind}) as ds:
        for number in itertools.count():
            if number >= {passes} and len(rings) > 20:
                break
            it = iter(ds)
            got = [int(next(it)[0]) - 1000 * number]
            while (batch := attempt(it)) is not None:
                got.append(int(batch[0]) - 1000 * number)
            assert got == list(range(150)), got
    print(sum(rings) < len(rings) / 2, _native.loaded() and _native.alive()["mapped"])
"""


def rings(s, limit=60):
    """The program ends well; Python itself reports a handler that raised in the midst of a finaliser."""
    assert s.wait(limit) == 0, s.err
    assert s.out in ("True 0\n", "True False\n"), s.out
    assert s.err.count("Ring") == s.err.count("Exception ignored in"), s.err


@pytest.mark.parametrize("name, size", [("inline", 2), ("thread", 2), ("threads", 2), ("processes", 2),
                                        ("processes", 50_000)])
def test_handlers_that_raise(start, name, size):
    rings(start(PROGRAM.format(size=size, kind=KINDS[name], passes=2)))


@pytest.mark.soak
@pytest.mark.parametrize("name", KINDS)
def test_handlers_that_raise_for_long(start, name):
    rings(start(PROGRAM.format(size=50_000, kind=KINDS[name], passes=40)), 110)


@pytest.mark.parametrize("shape", [(2,), (50_000,)])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("goes_on", [True, False])
def test_an_exception_at_any_line_of_next(kind, goes_on, shape, interrupt):
    """No batch is lost but one that was leaving next(), and no memory, also when nothing more is taken."""
    with Items(4, shape=shape, **kind) as ds:
        for n in range(1, 1000):
            it = iter(ds)
            first, raised = next(it), False
            try:
                with interrupt(n):
                    second = next(it)
            except interrupt.Exception:
                raised = True
            if goes_on:
                rest = [int(b[0]) for b in it]
                assert rest in ([[2, 3], [1, 2, 3]] if raised else [[2, 3]]), n
            if not raised:
                break
        assert (int(first[0]), int(second[0])) == (0, 1)
    assert n > 10


def test_after_an_interrupt_the_dataset_may_change(parallel, interrupt):
    """What was taken and not delivered is delivered then, though all that is ahead is made again."""
    with Hooked(6, max_queue_size=2, **parallel) as ds:
        for n in range(1, 1000):
            it = iter(ds)
            got = [int(next(it)[1])]
            try:
                with interrupt(n):
                    got.append(int(next(it)[1]))
                break
            except interrupt.Exception:
                pass
            assert [int(b[1]) for b in ds] == list(range(6))  # at its begin and end, hooks run
            got += [int(b[1]) for b in it]
            assert got in ([0, 1, 2, 3, 4, 5], [0, 2, 3, 4, 5]), n
    assert n > 10


@pytest.mark.parametrize("name", KINDS)
def test_ctrl_c_saves_a_state_that_loses_nothing(script, name):
    """The usual program: on Ctrl-C it saves, and the next run goes on."""
    assert script(f"""
        import os, signal, threading
        import numpy as np
        from samples import Made
        def make(ds, index):
            import time
            time.sleep(0.03)
            return np.array([index])
        trained, state, stops = [], None, 0
        while len(trained) < 60:
            with Made(make, 60, seed=1, **{KINDS[name]!r}) as ds:
                it = iter(ds)
                if state:
                    it.load_state_dict(state)
                trained.append(int(next(it)[0]))  # by now the workers are there
                timer = threading.Timer(0.25, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                try:
                    while True:
                        batch = next(it, None)
                        if batch is None:
                            break
                        trained.append(int(batch[0]))
                except KeyboardInterrupt:
                    stops += 1
                timer.cancel()
                state = it.state_dict()
        print(trained == list(range(60)), stops > 0)
        """) == "True True\n"
