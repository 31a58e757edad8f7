// SPDX-License-Identifier: BSD-2-Clause
/// @file write_json.hpp  Writes the table of a benchmark to a file.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <string>

namespace bench {

/// Writes the table unless `path` is empty. If this fails, prints the path and returns false.
inline bool write_json(const char *program, const std::string &path, const nlohmann::json &table)
{
  if (path.empty()) return true;
  std::ofstream file(path);
  file << table.dump(1) << std::endl;
  if (!file) std::fprintf(stderr, "%s: cannot write %s\n", program, path.c_str());
  return static_cast<bool>(file);
}

} // namespace bench
