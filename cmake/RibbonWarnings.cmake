# Target ribbon_warnings: warning flags of Ribbon's code. Never exported.
add_library(ribbon_warnings INTERFACE)
set(_flags -Wall -Wextra)
if(NOT Kokkos_DEVICES MATCHES "CUDA")
  list(APPEND _flags -Wconversion -Wshadow)
  if(RIBBON_WERROR AND NOT RIBBON_SANITIZE) # GCC's flow analysis gives wrong warnings for instrumented code
    list(APPEND _flags -Werror)
  endif()
endif()
target_compile_options(ribbon_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${_flags}>")
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
