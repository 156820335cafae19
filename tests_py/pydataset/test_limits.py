"""Little room: few descriptors, little memory, no shared-memory filesystem."""

import shutil
import subprocess
import sys
import textwrap

import pytest
from samples import Items

NARROW = """
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
"""


def test_few_descriptors(script):
    """`ulimit -n 256`: a long pass with many batches held, of sizes that change; two pools at once."""
    assert script(NARROW + """
    import os
    import numpy as np
    from samples import Items, Made
    def make(ds, index):
        return np.full(50_000 + 7_000 * (index % 50), index)
    with Made(make, 400, workers=4, use_multiprocessing=True) as ds, Items(5, workers=2, use_multiprocessing=True) as val:
        held = []
        for index, batch in enumerate(ds):
            held.append(batch)
            if index % 50 == 0:
                list(val)
        assert all((b == i).all() for i, b in enumerate(held))
        print(len(os.listdir("/proc/self/fd")) < 100, resource.getrlimit(resource.RLIMIT_NOFILE))
    """) == "True (256, 256)\n"


def test_the_limit_on_descriptors_is_the_users(script):
    """The Go runtime raises it; infeed puts it back, for the program and for what it starts."""
    assert script("""
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        import numpy as np
        from samples import Made
        def make(ds, index):
            import resource
            return np.array(resource.getrlimit(resource.RLIMIT_NOFILE))
        with Made(make, 2, workers=1, use_multiprocessing=True) as ds:
            inside = {int(b[0]) for b in ds}
        print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], inside)
        """) == "300 {300}\n"


def test_no_descriptor_is_left(start):
    """An error that says so, not a hang or a crash; and once there are some again, all is well."""
    s = start(NARROW + """
    import os
    import infeed
    from samples import Items
    list(Items(3, workers=1))
    taken = []
    try:
        while True:
            taken.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    ds = Items(5, workers=2, use_multiprocessing=True)
    try:
        list(ds)
        print("worked")
    except (infeed.Error, OSError) as e:
        print(type(e).__name__, "open files" in str(e) or "descriptor" in str(e) or str(e))
    ds.close()
    for fd in taken:
        os.close(fd)
    print([int(b[0]) for b in ds])
    ds.close()
    """)
    assert s.wait(60) == 0, s.err
    first, second = s.out.splitlines()
    assert first.endswith("True"), first
    assert second == "[0, 1, 2, 3, 4]"
    assert s.gone()


def test_no_shared_memory_filesystem(start, tmp_path):
    """/dev/shm may be 64 MB, full or not there: nothing is made in it."""
    code = """
        import os, sys
        from samples import Items
        with Items(30, (5_000_000,), "u1", workers=2, use_multiprocessing=True) as ds:
            held = list(ds)
            assert all((b == i).all() for i, b in enumerate(held))
            assert os.path.ismount("/dev/shm") and os.statvfs("/dev/shm").f_blocks * 4096 <= 64 << 20
            assert os.listdir("/dev/shm") == []
        print("150 MB")
        """
    mount = 'mount -t tmpfs -o size=64m none /dev/shm && exec "$0" "$@"'
    unshare = ["unshare", "--mount", "--propagation", "private", "sh", "-c", mount]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("this user may not mount a small /dev/shm")
    s = start("", command=[*unshare, sys.executable, "-c", textwrap.dedent(code)])
    assert s.wait(60) == 0, s.err
    assert s.out == "150 MB\n" and s.err == ""


def test_no_room_for_a_batch(start):
    """A worker runs into its limit of memory: MemoryError comes out of the loop, later batches come."""
    s = start("""
        import numpy as np
        from samples import Made
        def make(ds, index):
            if index == 2:
                import resource
                limit = resource.getrlimit(resource.RLIMIT_AS)
                resource.setrlimit(resource.RLIMIT_AS, (2 << 30, limit[1]))
                try:
                    return np.ones(1 << 30)
                finally:
                    resource.setrlimit(resource.RLIMIT_AS, limit)
            return np.array([index])
        with Made(make, 5, workers=1, use_multiprocessing=True) as ds:
            it, got = iter(ds), []
            for _ in range(5):
                try:
                    got.append(int(next(it)[0]))
                except MemoryError:
                    got.append("MemoryError")
        print(got)
        """)
    assert s.wait(60) == 0, s.err
    assert s.out == "[0, 1, 'MemoryError', 3, 4]\n"


def test_many_datasets_are_opened_and_closed():
    """Nothing adds up: descriptors and mappings are those of before, which the leak check sees too."""
    for _ in range(30):
        with Items(4, (20_000,), workers=2, use_multiprocessing=False) as ds:
            list(ds)
    for _ in range(8):
        with Items(4, (100_000,), workers=1, use_multiprocessing=True) as ds:
            list(ds)


def test_memory_does_not_grow_with_passes(script):
    """Resident memory after 3 passes and after 30."""
    out = script("""
        import gc
        from samples import Items, KINDS
        def resident():
            gc.collect()
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * 4096
        for name, kind in KINDS.items():
            with Items(300, (4_000,), **kind) as ds:
                for k in range(30):
                    for batch in ds:
                        pass
                    if k == 2:
                        before = resident()
                print(name, (resident() - before) / 1e6)
        """)
    for line in out.splitlines():
        assert float(line.split()[1]) < 8, out
