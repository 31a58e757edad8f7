// SPDX-License-Identifier: BSD-2-Clause
/// @file format.hpp  printf into a std::string.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace ribbon::petsc {

inline std::string format(const char *what, ...)
{
  char    text[512];
  va_list arguments;
  va_start(arguments, what);
  std::vsnprintf(text, sizeof text, what, arguments);
  va_end(arguments);
  return text;
}

} // namespace ribbon::petsc
