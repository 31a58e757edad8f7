# SPDX-License-Identifier: BSD-2-Clause
# Target Ribbon::fortran of an installed Ribbon, for projects with the language Fortran: a target that links it compiles
# the module ribbon. Targets of the same folder that link it need different Fortran_MODULE_DIRECTORY.
if(CMAKE_Fortran_COMPILER_LOADED AND NOT TARGET Ribbon::fortran)
  find_package(MPI QUIET COMPONENTS Fortran)
  get_target_property(_ribbon_include Ribbon::ribbon INTERFACE_INCLUDE_DIRECTORIES)
  find_file(_ribbon_module ribbon_petsc/ribbon.F90 HINTS ${_ribbon_include} NO_DEFAULT_PATH NO_CACHE)
  pkg_get_variable(_petsc_include PETSc includedir)
  if(MPI_Fortran_FOUND AND _ribbon_module AND EXISTS ${_petsc_include}/petscts.mod)
    add_library(Ribbon::fortran INTERFACE IMPORTED)
    set_target_properties(Ribbon::fortran PROPERTIES INTERFACE_SOURCES ${_ribbon_module}
      INTERFACE_INCLUDE_DIRECTORIES ${_petsc_include} INTERFACE_LINK_LIBRARIES "Ribbon::ribbon;MPI::MPI_Fortran"
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-ffree-line-length-none>") # PETSc's macros make long lines
  endif()
endif()
