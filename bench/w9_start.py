"""W9: from nothing to the first batch, in whole processes, and what is installed for it."""

from bench.figure import Contender, Figure, at_most

PACKAGES = {"keras+jax": ("keras", ["keras", "jax"]), "tensorflow": ("tensorflow", ["tensorflow-cpu"]),
            "torch": ("torch", ["torch"]), "grain": ("grain", ["grain"]), "spdl": ("spdl", ["spdl-core", "numpy"])}


def process(name, program, needs=""):
    return Contender(name, "start:process", {"program": program}, needs)


def figures(scale):
    yield Figure("W9 import, whole process", "ms", (
        process("infeed", "import infeed"), process("numpy", "import numpy"),
        process("grain", "import grain", "grain"), process("spdl", "import spdl", "spdl"),
        process("keras", "import keras", "keras+jax")),
        (at_most(60, "numpy", "difference"),), less=True)
    yield Figure("W9 process start to first batch", "ms", (
        process("infeed", "infeed"), process("infeed, PyDataset", "infeed PyDataset"),
        *(process(p, p, needs) for needs, (p, _) in PACKAGES.items())), less=True)
    if scale == 1:
        yield Figure("W9 wheel", "MB", (Contender("infeed", "start:wheel"),), (at_most(8),), less=True, rounds=1,
                     warm=False)
        yield Figure("W9 installed, with requirements", "MB", (
            Contender("infeed", "start:unpacked"),
            *(Contender(p, "start:installed", {"names": names}, needs) for needs, (p, names) in PACKAGES.items())),
            less=True, rounds=1, warm=False)
