// SPDX-License-Identifier: BSD-2-Clause
/// @file parts_file.hpp  The results of the parts of a study, on file as soon as they are computed. A program
///   that was stopped continues behind the last complete part.
#pragma once

#include <petscsys.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ch_lines {

/// A header of lines `name value`, an empty line, and binary records of numbers of one type.
class PartsFile {
public:
  /// Creates the file, or reads how many numbers it holds.
  /// @param name      empty: no file
  /// @param header    all parameters on which the numbers depend
  /// @param restart   continue an existing file, whose header must be the same
  /// @param size      bytes of a number
  PetscErrorCode open(MPI_Comm comm, const std::string &name, const std::string &header, bool restart,
                      std::size_t size);
  /// Complete numbers on file.
  std::int64_t numbers() const { return numbers_; }
  /// Reads `count` numbers from the beginning.
  PetscErrorCode read(void *to, std::int64_t count) const;
  /// Keeps the first `count` numbers and appends after them.
  PetscErrorCode truncate(std::int64_t count);
  PetscErrorCode append(const void *from, std::int64_t count);

private:
  MPI_Comm     comm_ = MPI_COMM_NULL;
  std::string  name_;
  std::size_t  header_ = 0, size_ = 1;
  std::int64_t numbers_ = 0;
};

} // namespace ch_lines
