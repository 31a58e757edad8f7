# SPDX-License-Identifier: BSD-2-Clause
# docs/getting_started/packages.md: how to install Ribbon with Spack.
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Ribbon(CMakePackage, CudaPackage):
    """Batched banded line solvers, smoothers and time steppers for PETSc, with kernels in Kokkos."""

    license("BSD-2-Clause")

    version("1.0.0")  # builds a checkout: spack dev-build

    variant("complex", default=False, description="A PETSc with complex scalars")
    variant("int64", default=False, description="A PETSc with 64-bit indices")
    variant("tests", default=False, description="Build the tests, which spack install --test=root runs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:+shared+mpi+double")
    depends_on("kokkos@3.4:+shared")
    for name in ("complex", "int64", "cuda"):
        depends_on(f"petsc+{name}", when=f"+{name}")
        depends_on(f"petsc~{name}", when=f"~{name}")

    with when("+cuda"):
        depends_on("kokkos@4.6:+cuda+wrapper")
        for arch in CudaPackage.cuda_arch_values:
            depends_on(f"kokkos cuda_arch={arch}", when=f"cuda_arch={arch}")
            depends_on(f"petsc cuda_arch={arch}", when=f"cuda_arch={arch}")
        conflicts("cuda_arch=none", msg="Ribbon needs cuda_arch with +cuda")
    depends_on("kokkos~cuda", when="~cuda")
    conflicts("^kokkos cxxstd=14", msg="Ribbon needs C++17 or newer")

    with when("+tests"):
        depends_on("petsc+examples")
        depends_on("googletest+gmock")
        depends_on("lapack")
        depends_on("cli11")
        depends_on("nlohmann-json")
        depends_on("python@3:", type="build")

    def cmake_args(self):
        kokkos = self.spec["kokkos"]
        args = [
            self.define("PETSC_DIR", self.spec["petsc"].prefix),
            self.define("PETSC_ARCH", ""),
            self.define("Kokkos_ROOT", kokkos.prefix),
            self.define("CMAKE_CXX_STANDARD", kokkos.variants["cxxstd"].value),
            self.define_from_variant("RIBBON_TESTS", "tests"),
            self.define_from_variant("RIBBON_EXAMPLES", "tests"),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.append_flags("PETSC_OPTIONS", f"-dll_append {self.prefix.lib.join('libribbon.so')}")
