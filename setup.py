"""The parts of the build that pyproject.toml cannot say: the library and the vendored modules."""

import os
import shutil
import sys

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(ROOT, "build_backend"))

from infeed_build import library  # noqa: E402


class BuildLibraries(build_ext):
    """Builds what setuptools takes for extensions; they are loaded with ctypes, so they are no extension modules."""

    def get_ext_filename(self, fullname):
        return os.path.join(*fullname.split(".")) + ".so"

    def get_export_symbols(self, ext):
        return []

    def build_extension(self, ext):
        target = self.get_ext_fullpath(ext.name)
        if os.path.basename(target) == library.NAME:
            library.build(ROOT, target, self.build_temp)
        else:
            library.build_slotmem(ROOT, target)


class LibraryWheel(bdist_wheel):
    """Tags the wheel: any Python 3, because ctypes binds to no Python; one platform, because of the library."""

    def run(self):
        # Modules that were deleted since the last build would come along.
        shutil.rmtree(self.get_finalized_command("build").build_lib, ignore_errors=True)
        super().run()

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class VendoringSdist(sdist):
    """Puts the Go modules into the archive, so that it builds without a network."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        target = os.path.join(base_dir, "vendor")
        if os.path.isdir(os.path.join(ROOT, "vendor")):
            shutil.copytree(os.path.join(ROOT, "vendor"), target)
        else:
            library.vendor(ROOT, target, os.path.join(ROOT, "build"))


setup(
    ext_modules=[Extension("infeed.libinfeed", sources=[]), Extension("infeed.libslotmem", sources=[])],
    cmdclass={"build_ext": BuildLibraries, "bdist_wheel": LibraryWheel, "sdist": VendoringSdist},
)
