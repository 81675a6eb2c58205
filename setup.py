# SPDX-License-Identifier: BSD-3-Clause
"""Builds the extension aerocast._native with CMake and adds the bundled networks; everything else
is in pyproject.toml.

The environment variable CMAKE_ARGS is passed on.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


def version() -> str:
    """Stated once, in CMakeLists.txt."""
    found = re.search(r"project\(aerocast VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    if found is None:
        raise SystemExit("setup.py: CMakeLists.txt does not state the version")
    return found.group(1)


class CMakeBuild(build_ext):
    def build_extension(self, ext: Extension) -> None:
        output = Path(self.get_ext_fullpath(ext.name)).resolve().parent
        build = Path(self.build_temp).resolve()
        others = ["LAB", "TRAIN", "TESTS", "BENCH", "EXAMPLES", "INSTALL", "WERROR"]
        configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release",
                     "-DAEROCAST_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}",
                     f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={output}"]
        configure += [f"-DAEROCAST_{other}=OFF" for other in others]
        configure += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        jobs = str(self.parallel or os.cpu_count() or 1)
        subprocess.run(configure, check=True)
        subprocess.run(["cmake", "--build", str(build), "--target", "aerocast_native", "-j", jobs],
                       check=True)
        models = output / "models"
        models.mkdir(exist_ok=True)
        for file in (ROOT / "models").glob("aerocast-*"):
            shutil.copy2(file, models)


setup(version=version(), ext_modules=[Extension("aerocast._native", sources=[])],
      cmdclass={"build_ext": CMakeBuild})
