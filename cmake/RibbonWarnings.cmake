# SPDX-License-Identifier: BSD-2-Clause
# Target ribbon_warnings: compiler flags of Ribbon's code. Never exported.
add_library(ribbon_warnings INTERFACE)
set(_flags -Wall -Wextra)
if(NOT Kokkos_DEVICES MATCHES "CUDA")
  list(APPEND _flags -Wconversion -Wshadow)
  if(RIBBON_WERROR AND NOT RIBBON_SANITIZE) # GCC's flow analysis gives wrong warnings for instrumented code
    list(APPEND _flags -Werror)
  endif()
endif()
target_compile_options(ribbon_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_flags}>")
# GCC 12 with -O2 moves values through MMX registers, which changes the state of the x87 registers of long
# double: later factorizations are not a number.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT Kokkos_DEVICES MATCHES "CUDA")
  target_compile_options(ribbon_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-mno-mmx>")
endif()
if(Kokkos_DEVICES MATCHES "CUDA") # nvcc only warns of a kernel that calls a host function
  foreach(_number IN ITEMS 20011 20013 20014)
    target_compile_options(ribbon_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xcudafe --diag_error=${_number}>")
  endforeach()
endif()
if(RIBBON_SANITIZE)
  # The address sanitizer detects accesses through null pointers, and the processor those of vectors that
  # are not aligned. The checks that are off would take half of the compile time.
  set(_sanitize -fsanitize=address,undefined -fno-sanitize=null,object-size,alignment,pointer-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${_sanitize})
  add_link_options(${_sanitize})
endif()
