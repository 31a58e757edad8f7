// SPDX-License-Identifier: BSD-2-Clause
/// @file warnings.hpp  Captures PETSc's output on stderr.
#pragma once

#include <petscsys.h>

#include <cstdarg>
#include <cstdio>
#include <string>

namespace test {

inline std::string &kept_warnings()
{
  static std::string text;
  return text;
}
inline PetscErrorCode (*&print_elsewhere())(FILE *, const char *, va_list)
{
  static PetscErrorCode (*print)(FILE *, const char *, va_list) = nullptr;
  return print;
}
inline PetscErrorCode keep_warnings(FILE *file, const char *format, va_list arguments)
{
  char        text[4096];
  std::size_t length = 0;
  if (file != PETSC_STDERR) return print_elsewhere()(file, format, arguments);
  PetscVSNPrintf(text, sizeof text, format, &length, arguments);
  kept_warnings() += text;
  return PetscErrorCode(0);
}

/// Keeps PETSc's output on stderr for the lifetime of the object, on the rank that prints it.
class Warnings {
public:
  Warnings()
  {
    kept_warnings().clear();
    print_elsewhere() = PetscVFPrintf, PetscVFPrintf = keep_warnings;
  }
  ~Warnings() { PetscVFPrintf = print_elsewhere(); }
  Warnings(const Warnings &)            = delete;
  Warnings &operator=(const Warnings &) = delete;
  /// The output since the last call.
  std::string take()
  {
    std::string text;
    text.swap(kept_warnings());
    return text;
  }
};

} // namespace test
