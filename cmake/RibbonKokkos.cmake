# SPDX-License-Identifier: BSD-2-Clause
# Target ribbon_kokkos: headers, libraries and flags of Kokkos. This file is installed as well, because
# RibbonConfig.cmake includes it.
#
# Searches Kokkos_ROOT, Kokkos_DIR and CMAKE_PREFIX_PATH. If Kokkos_ROOT and Kokkos_DIR are not set, the
# Kokkos with which PETSc was configured (RIBBON_PETSC_KOKKOS) is the first choice.
if(RIBBON_PETSC_KOKKOS AND NOT Kokkos_ROOT AND NOT Kokkos_DIR)
  set(Kokkos_ROOT ${RIBBON_PETSC_KOKKOS})
endif()
find_package(Kokkos QUIET)
if(NOT Kokkos_FOUND)
  message(FATAL_ERROR "Ribbon needs Kokkos 3.4 or newer: install libtrilinos-kokkos-dev (Debian, Ubuntu), or point Kokkos_ROOT at an installed Kokkos.")
endif()
if(NOT TARGET ribbon_kokkos)
  add_library(ribbon_kokkos INTERFACE IMPORTED GLOBAL)
  # The targets of Debian's Trilinos have an include folder that does not exist. Its variables are correct.
  if(Kokkos_INCLUDE_DIRS AND Kokkos_LIBRARIES AND NOT Kokkos_DEVICES MATCHES "CUDA|HIP")
    set_target_properties(ribbon_kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}"
      INTERFACE_LINK_DIRECTORIES "${Kokkos_LIBRARY_DIRS}" INTERFACE_LINK_LIBRARIES "${Kokkos_LIBRARIES}")
  else()
    set_target_properties(ribbon_kokkos PROPERTIES INTERFACE_LINK_LIBRARIES Kokkos::kokkos)
  endif()
endif()
