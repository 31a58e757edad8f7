// SPDX-License-Identifier: BSD-2-Clause
/// @file make_table.hpp  Measures the table by which `auto` chooses, for every system, layout and kind of
///   matrix that has a choice.
#pragma once

#include "bench.hpp"

namespace bench {

struct TableSettings {
  /// the header to be written
  std::string      file;
  std::vector<int> rows{64, 128, 192, 256, 512, 1024, 2048, 4096, 16384};             ///< unknowns per line
  double           unknowns = ribbon::is_device_space<Exec> ? 67108864.0 : 1048576.0; ///< of a batch
  /// samples of four solves; the median counts
  int repeat = 3;
};

/// Times every candidate on the default execution space, prints the times and writes the header. Candidates
/// that do not take a case, or whose report is not ok, are left out. One matrix for all lines is timed with
/// fast and with slow decay (sigma 0.4 and 5000); the geometric mean counts.
/// @throws std::runtime_error where the file cannot be written
void make_table(const TableSettings &settings);

} // namespace bench
