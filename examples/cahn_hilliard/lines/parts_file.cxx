// SPDX-License-Identifier: BSD-2-Clause
#include "parts_file.hpp"

#include "../../petsc_space.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ch_lines {

/// The first line in which two headers differ, as "name a, not b".
static std::string difference(const std::string &found, const std::string &expected)
{
  std::istringstream a(found), b(expected);
  std::string        x, y;
  while (std::getline(b, y)) {
    if (!std::getline(a, x)) x = "nothing";
    if (x != y) return "'" + x + "', not '" + y + "'";
  }
  return "more lines";
}

PetscErrorCode PartsFile::open(MPI_Comm comm, const std::string &name, const std::string &header,
                               bool restart, std::size_t size)
{
  PetscFunctionBeginUser;
  comm_ = comm, name_ = name, header_ = header.size() + 1, size_ = size, numbers_ = 0;
  if (name.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  if (restart && std::filesystem::exists(name)) {
    std::ifstream file(name, std::ios::binary);
    std::string   found(header.size(), '\0');
    file.read(&found[0], static_cast<std::streamsize>(found.size()));
    found.resize(static_cast<std::size_t>(file.gcount()));
    PetscCheck(found == header && file.get() == '\n', comm, PETSC_ERR_FILE_UNEXPECTED,
               "-restart: the file %s belongs to another study: %s", name.c_str(),
               difference(found, header).c_str());
    numbers_ = static_cast<std::int64_t>((std::filesystem::file_size(name) - header_) / size);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::ofstream file(name, std::ios::binary);
  file << header << '\n';
  file.close();
  PetscCheck(file.good(), comm, PETSC_ERR_FILE_OPEN, "-file %s: cannot be written", name.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PartsFile::read(void *to, std::int64_t count) const
{
  std::ifstream file(name_, std::ios::binary);

  PetscFunctionBeginUser;
  file.seekg(static_cast<std::streamoff>(header_));
  file.read(static_cast<char *>(to), static_cast<std::streamsize>(static_cast<std::size_t>(count) * size_));
  PetscCheck(file.good(), comm_, PETSC_ERR_FILE_READ, "-file %s: cannot be read", name_.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PartsFile::truncate(std::int64_t count)
{
  std::error_code failed;

  PetscFunctionBeginUser;
  numbers_ = count;
  if (name_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::filesystem::resize_file(name_, header_ + static_cast<std::size_t>(count) * size_, failed);
  PetscCheck(!failed, comm_, PETSC_ERR_FILE_WRITE, "-file %s: cannot be written", name_.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PartsFile::append(const void *from, std::int64_t count)
{
  PetscFunctionBeginUser;
  numbers_ += count;
  if (name_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::ofstream file(name_, std::ios::binary | std::ios::app);
  file.write(static_cast<const char *>(from),
             static_cast<std::streamsize>(static_cast<std::size_t>(count) * size_));
  file.close();
  PetscCheck(file.good(), comm_, PETSC_ERR_FILE_WRITE, "-file %s: cannot be written", name_.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ch_lines
