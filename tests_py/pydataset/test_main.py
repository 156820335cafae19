"""Datasets of __main__: scripts without a main guard, python -c, notebooks. They go by value; nothing is run again."""

import os
import sys
import textwrap

import pytest

BODY = """
import sys
import numpy as np
import infeed

runs = globals().get("runs", 0) + 1
print("run", flush=True)
SCALE = 10

def scaled(i):
    return i * SCALE

class Base(infeed.PyDataset):
    def __len__(self):
        return 4

class Mine(Base):
    unit = np.arange(3)
    def __getitem__(self, index):
        return np.array([scaled(index), self.unit.sum(), len(sys.argv)])

ds = Mine(workers=2, use_multiprocessing=True)
print([b.tolist() for b in ds])
"""
EXPECTED = "run\n[[0, 3, {argc}], [10, 3, {argc}], [20, 3, {argc}], [30, 3, {argc}]]\n"


def expect(start, command, argc, code=None, **options):
    s = start("", command=command, **options)
    assert s.wait(60) == 0, s.err
    assert s.err == "" and s.out == EXPECTED.format(argc=argc) and s.gone()


def test_a_script_without_main_guard(start, tmp_path):
    (tmp_path / "train.py").write_text(BODY)
    expect(start, [sys.executable, "train.py", "--epochs", "3"], 3)


def test_a_module(start, tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(BODY)
    expect(start, [sys.executable, "-m", "package"], 1)


def test_dash_c(start):
    expect(start, [sys.executable, "-c", BODY], 1)


def test_a_script_from_another_folder(start, tmp_path):
    """Its own folder, from which it imports, is on the path of the workers too."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "beside.py").write_text("SCALE = 10\n")
    (tmp_path / "scripts" / "train.py").write_text(BODY.replace("SCALE = 10", "from beside import SCALE"))
    expect(start, [sys.executable, str(tmp_path / "scripts" / "train.py")], 1)


def test_a_guarded_script(start, tmp_path):
    lines = BODY.split("ds = Mine")
    guarded = lines[0] + "if __name__ == '__main__':\n" + textwrap.indent("ds = Mine" + lines[1], "    ")
    (tmp_path / "train.py").write_text(guarded)
    expect(start, [sys.executable, "train.py"], 1)


def test_standard_input(start, tmp_path):
    """The program comes through a pipe: there is no file to go back to."""
    (tmp_path / "program").write_text(BODY)
    expect(start, ["/bin/sh", "-c", f"{sys.executable} - < program"], 1)


NOTEBOOK = """
import sys, types
main = types.ModuleType("__main__")  # as a notebook's: no __file__, cells are run one by one
sys.modules["__main__"] = main
sys.argv = ["ipykernel_launcher.py", "-f", "kernel.json"]
def cell(text):
    exec(compile(text, "<cell>", "exec"), main.__dict__)
"""


def test_a_notebook(start):
    """Cells define, redefine, and use; the workers have what was defined last."""
    code = NOTEBOOK + textwrap.dedent('''
        cell("import numpy as np, infeed")
        cell("""
        class Mine(infeed.PyDataset):
            def __len__(self): return 3
            def __getitem__(self, index): return np.array([index * factor()])
        """)
        cell("def factor(): return 10")
        cell("ds = Mine(workers=1, use_multiprocessing=True); print([b.tolist() for b in ds])")
        cell("def factor(): return 100")
        cell("print([b.tolist() for b in ds])")
        cell("""
        class Mine(infeed.PyDataset):
            def __len__(self): return 2
            def __getitem__(self, index): return np.array([-index])
        """)
        cell("ds = Mine(workers=1, use_multiprocessing=True); print([b.tolist() for b in ds])")
        cell("ds.close()")
        ''')
    s = start("", command=[sys.executable, "-c", code])
    assert s.wait(60) == 0, s.err
    assert s.err == "" and s.gone()
    assert s.out == "[[0], [10], [20]]\n[[0], [100], [200]]\n[[0], [-1]]\n"


def test_classes_inside_functions(script):
    assert script("""
        import infeed, numpy as np
        def build(scale):
            class Local(infeed.PyDataset):
                def __len__(self): return 3
                def __getitem__(self, index): return np.array([super().parallelism, index * scale])
            return Local(workers=1, use_multiprocessing=True)
        print([b.tolist() for b in build(7)])
        """) == "[[1, 0], [1, 7], [1, 14]]\n"


def test_more_of_what_main_defines(script):
    """Exceptions, named tuples, dataclasses and enumerations of __main__ go both ways."""
    assert script("""
        import collections, dataclasses, enum, infeed, numpy as np
        Pair = collections.namedtuple("Pair", "x y")
        class Colour(enum.Enum):
            RED = 1
        @dataclasses.dataclass
        class Config:
            scale: int = 3
            colour: Colour = Colour.RED
        class Broken(Exception):
            pass
        class Mine(infeed.PyDataset):
            def __init__(self, config, **options):
                super().__init__(**options)
                self.config = config
            def __len__(self): return 3
            def __getitem__(self, index):
                if index == 2:
                    raise Broken(self.config.colour.name)
                return Pair(np.array([index * self.config.scale]), np.array([0]))
        it = iter(Mine(Config(), workers=1, use_multiprocessing=True))
        a, b = next(it), next(it)
        print(type(b) is Pair, b.x.tolist())
        try:
            next(it)
        except Broken as e:
            print(e)
        """) == "True [3]\nRED\n"


def test_the_working_directory_may_change(script):
    """Relative paths mean what they meant when the first batch was made."""
    assert script("""
        import os, infeed, numpy as np
        os.mkdir("data")
        with open("data/0", "w") as f:
            f.write("content")
        class Files(infeed.PyDataset):
            def __len__(self): return 2
            def __getitem__(self, index):
                with open("data/0") as f:
                    return np.array([len(f.read())])
        ds = Files(workers=1, use_multiprocessing=True)
        print([b.tolist() for b in ds])
        """) == "[[7], [7]]\n"


def test_a_read_only_working_directory(start, tmp_path):
    folder = tmp_path / "readonly"
    folder.mkdir()
    folder.chmod(0o555)
    try:
        expect(start, [sys.executable, "-c", BODY], 1, cwd=folder)
    finally:
        folder.chmod(0o755)
    assert list(folder.iterdir()) == []


def test_a_working_directory_that_is_gone(start, tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    leave = f"import os, numpy; os.rmdir({str(folder)!r})\n"
    probe = start("", command=[sys.executable, "-c", leave + "os.execv({0!r}, [{0!r}, '-c', 'import socket'])".format(
        sys.executable)], cwd=folder)
    if probe.wait(60):
        pytest.skip("this Python cannot import there: 3.13.0 has that fault")
    folder.mkdir()
    code = leave + BODY
    s = start("", command=[sys.executable, "-c", code], cwd=folder)
    assert s.wait(60) == 0, s.err
    assert s.out == EXPECTED.format(argc=1) and s.err == "" and s.gone()


@pytest.mark.parametrize("flags", [["-O"], ["-B", "-W", "error"], ["-X", "utf8"], ["-s"]], ids=str)
def test_flags_of_the_interpreter(start, flags):
    """Workers run under the same ones; and warnings as errors meet none of infeed's."""
    expect(start, [sys.executable, *flags, "-c", BODY], 1)


def test_the_environment_of_workers(script):
    """What the program changed in os.environ before the first batch is there."""
    assert script("""
        import os, infeed, numpy as np
        os.environ["MARK"] = "seven"
        class Env(infeed.PyDataset):
            def __len__(self): return 1
            def __getitem__(self, index):
                return {"mark": np.array(os.environ["MARK"])}
        print(next(iter(Env(workers=1, use_multiprocessing=True)))["mark"])
        """) == "seven\n"


def test_modules_of_the_user_that_shadow_others(start, tmp_path):
    """A json.py or socket.py beside the script is the script's affair."""
    for name in ("json", "socket", "mmap", "struct"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadowed')\n")
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "train.py").write_text(BODY)
    expect(start, [sys.executable, "scripts/train.py"], 1)


def test_bytes_in_the_environment_and_in_paths(start, tmp_path):
    """Not everything is UTF-8."""
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    code = textwrap.dedent("""
        import os, infeed, numpy as np
        os.environb[b"MARK"] = b"caf\\xe9"
        class Env(infeed.PyDataset):
            def __len__(self): return 1
            def __getitem__(self, index):
                return np.array([os.environb[b"MARK"], os.getcwdb()], object)
        mark, cwd = next(iter(Env(workers=1, use_multiprocessing=True)))
        print(mark == b"caf\\xe9", cwd == os.getcwdb())
        """)
    s = start("", command=[sys.executable, "-c", code], cwd=os.fsdecode(folder))
    assert s.wait(60) == 0, s.err
    assert s.out == "True True\n"


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&-", "0<&- 1>&- 2>&-"])
def test_standard_descriptors_that_are_closed(start, tmp_path, closed):
    """As under some schedulers: workers neither fail nor write into something else."""
    (tmp_path / "train.py").write_text(BODY.replace("print(", "print_(").replace("import sys", """import sys
def print_(*args, **options):
    with open("out", "a") as f:
        print(*args, file=f)
""", 1))
    s = start("", command=["/bin/sh", "-c", f"{sys.executable} train.py {closed}"])
    assert s.wait(60) == 0, s.err
    assert (tmp_path / "out").read_text() == EXPECTED.format(argc=1) and s.err == "" and s.gone()


def test_a_worker_whose_output_was_closed(script):
    """By the user's code: it ends in silence all the same."""
    script("""
        import sys
        import numpy as np
        from samples import Made
        def make(ds, index):
            import sys
            sys.stdout.close()
            return np.array([index])
        with Made(make, 2, workers=1, use_multiprocessing=True) as ds:
            list(ds)
        """)
