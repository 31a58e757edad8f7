# SPDX-License-Identifier: BSD-2-Clause
# Target ribbon::kernels from RIBBON_KERNELS_ROOT, and target ribbon_kokkos: the Kokkos with which they were
# built.
find_package(Ribbon ${PROJECT_VERSION} EXACT QUIET COMPONENTS kernels PATHS ${RIBBON_KERNELS_ROOT} NO_DEFAULT_PATH)
if(NOT Ribbon_FOUND)
  message(FATAL_ERROR "RIBBON_KERNELS_ROOT='${RIBBON_KERNELS_ROOT}' holds no kernels of Ribbon ${PROJECT_VERSION}. Install them there with cmake --install <build folder> --component kernels --prefix ${RIBBON_KERNELS_ROOT}")
endif()
add_library(ribbon::kernels ALIAS Ribbon::kernels)
add_library(ribbon::kernels_of_petsc ALIAS Ribbon::kernels)
