// SPDX-License-Identifier: BSD-2-Clause
/// @file make_table.hpp  Measures the table of `auto`, for every system, layout and kind of matrix with
///   several candidates.
#pragma once

#include "bench.hpp"

namespace bench {

struct TableSettings {
  /// the header to write
  std::string      file;
  std::vector<int> rows{64, 128, 192, 256, 512, 1024, 2048, 4096, 16384};             ///< unknowns per line
  double           unknowns = ribbon::is_device_space<Exec> ? 67108864.0 : 1048576.0; ///< of a batch
  /// in a batch
  int repeat = 3;
};

/// Times every candidate on the default execution space, prints the times and writes the header. It omits
/// candidates that do not support a case, or whose report is not ok. One matrix for all lines is timed with
/// a rapidly and with a slowly decaying inverse (sigma 0.4 and 5000). The geometric mean counts.
/// @throws std::runtime_error if the file cannot be written
void make_table(const TableSettings &settings);

} // namespace bench
