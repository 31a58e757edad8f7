# SPDX-License-Identifier: BSD-2-Clause
"""Build backend: scikit-build-core, with the sources of Ribbon in the sdist (folder source/)."""
import shutil
from pathlib import Path

from scikit_build_core.build import *  # noqa: F403
from scikit_build_core.build import build_sdist as _build_sdist

_HERE = Path(__file__).resolve().parent
_SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "cmake", "kokkos_kernels", "petsc_interface", "plugin", "plugin/packaging/modules", "examples/fortran")


def build_sdist(sdist_directory, config_settings=None):
    """Copies the sources of a checkout into the archive. An unpacked sdist has them already."""
    source, root = _HERE / "source", _HERE.parents[2]
    is_checkout = not source.exists() and (root / "kokkos_kernels").is_dir()
    try:
        if is_checkout:
            for name in _SOURCES:
                target = source / name
                target.parent.mkdir(parents=True, exist_ok=True)
                if (root / name).is_dir():
                    shutil.copytree(root / name, target, ignore=shutil.ignore_patterns("packaging", "__pycache__"))
                else:
                    shutil.copy2(root / name, target)
            shutil.copy2(root / "LICENSE", _HERE)
        return _build_sdist(sdist_directory, config_settings)
    finally:
        if is_checkout:
            shutil.rmtree(source, ignore_errors=True)
            (_HERE / "LICENSE").unlink(missing_ok=True)
