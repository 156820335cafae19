"""fork by the user: what was used before says so in the child, at once; the parent goes on."""

import sys

import pytest

# Python 3.12 and later warn of every fork beside threads.
QUIET = dict(PYTHONWARNINGS="ignore:This process:DeprecationWarning")

USES = {
    "the dataset": "list(ds)",
    "an iterator": "next(it)",
    "a new dataset": "list(Items(3, {options}))",
    "closing": "ds.close(); raise infeed.ForkedProcessError('closed')",
    "collection": "del ds, it; gc.collect(); raise infeed.ForkedProcessError('collected')",
    "state_dict": "it.state_dict(); raise infeed.ForkedProcessError('saved')",
    "a held batch": "assert (held == 3).all(); del held; raise infeed.ForkedProcessError('read')",
}
OPTIONS = {"threads": "workers=2", "processes": "workers=2, use_multiprocessing=True"}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("use", USES)
def test_use_in_a_forked_child(script, use, options):
    """ForkedProcessError within a second, naming what to use instead; both end as they should."""
    out = script(f"""
        import gc, os, sys, time
        import infeed
        from samples import Items
        ds = Items(40, (100_000,), {OPTIONS[options]}, max_queue_size=2)
        it = iter(ds)
        next(it), next(it), next(it)
        held = next(it)
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            start = time.monotonic()
            try:
                {USES[use].format(options=OPTIONS[options])}
            except infeed.ForkedProcessError as e:
                print(time.monotonic() - start < 1, len(str(e)) < 20 or "spawn" in str(e) and "forkserver" in str(e))
                sys.stdout.flush()
                os._exit(0)
            except BaseException as e:
                print(repr(e), flush=True)
            os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
        assert (held == 3).all()
        print([int(b[0]) for b in it] == list(range(4, 40)), [int(b[0]) for b in ds] == list(range(40)))
        """, **QUIET)
    assert out.splitlines() == ["True True", "True True"], out


@pytest.mark.parametrize("options", OPTIONS)
def test_a_child_that_ends_by_itself(script, options):
    """Exit handlers and finalisers of the child leave the parent's workers alone."""
    assert script(f"""
        import os, sys
        from samples import Items
        ds = Items(40, (100_000,), {OPTIONS[options]}, max_queue_size=2)
        it = iter(ds)
        held = [next(it) for _ in range(3)]
        pid = os.fork()
        if not pid:
            sys.exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        print([int(b[0]) for b in it] == list(range(3, 40)))
        """, **QUIET) == "True\n"


@pytest.mark.parametrize("options", OPTIONS)
def test_pools_of_multiprocessing(script, options):
    """fork pools: the error comes back from the pool; spawn pools work."""
    out = script(f"""
        import multiprocessing
        import infeed
        from samples import Items
        ds = Items(5, {OPTIONS[options]})
        def total(n):
            return sum(int(b[0]) for b in ds)
        if __name__ == "__main__":
            list(ds)
            with multiprocessing.get_context("fork").Pool(2) as pool:
                try:
                    pool.map_async(total, range(4)).get(10)
                except infeed.ForkedProcessError as e:
                    print("fork", "spawn" in str(e))
            print("parent", total(0))
        """, **QUIET)
    assert out == "fork True\nparent 10\n"


def test_datasets_in_a_spawned_pool(start, tmp_path):
    (tmp_path / "pools.py").write_text("""
import multiprocessing
from samples import Items

def total(options):
    with Items(5, **options) as ds:
        return sum(int(b[0]) for b in ds)

if __name__ == "__main__":
    assert total(dict(workers=2)) == 10
    kinds = [dict(workers=2), dict(workers=1, use_multiprocessing=True)]
    for method in ("spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map_async(total, kinds).get(30))
""")
    s = start("", command=[sys.executable, "pools.py"])
    assert s.wait(60) == 0, s.err
    assert s.out == "spawn [10, 10]\nforkserver [10, 10]\n"
    assert s.gone()


def test_fork_before_the_first_use(script):
    """A child forked before anything was used is a process like any other."""
    assert script("""
        import os
        import infeed
        from samples import Items
        ds = Items(5, workers=2)
        pid = os.fork()
        total = sum(int(b[0]) for b in ds)
        ds.close()
        if not pid:
            os._exit(total)
        print(total, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """, **QUIET) == "10 10\n"


def test_without_workers_a_fork_is_harmless(script):
    """workers=0 uses the engine only to shuffle."""
    assert script("""
        import os
        from samples import Items
        ds = Items(5, workers=0)
        list(ds)
        pid = os.fork()
        total = sum(int(b[0]) for b in ds)
        if not pid:
            os._exit(total)
        print(total, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        """, **QUIET) == "10 10\n"


def test_subprocesses_inherit_nothing(script):
    """No descriptor of infeed's goes to programs that the user starts."""
    assert script("""
        import os, subprocess, sys
        from samples import Items
        ds = Items(40, (100_000,), workers=2, use_multiprocessing=True, max_queue_size=2)
        it = iter(ds)
        next(it)
        code = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, close_fds=False, text=True).stdout
        print(len(eval(out)) <= 5, out.strip())
        """).startswith("True")
