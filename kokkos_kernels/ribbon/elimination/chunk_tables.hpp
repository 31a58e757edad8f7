// SPDX-License-Identifier: BSD-2-Clause
/// @file chunk_tables.hpp  Coefficients of an eliminated chunk, on the host and in extended precision.
#pragma once

#include <ribbon/elimination/small_dense.hpp>

#include <vector>

namespace ribbon {

/// A chunk after elimination: the coefficients of a scheme (its Forward, Backward and Edge in the order of
/// their members) and the contributions of the chunk to the reduced system. S separators on either side: zl
/// left of the chunk, zr in it.
template <class Wide>
struct ChunkTables {
  int               forward_words = 0, backward_words = 0; ///< per row
  std::vector<Wide> forward, backward, edge;
  Dense<Wide>       own_left, own_self; ///< coefficients of zl and zr in the equations of the chunk
  /// coefficients of zl and zr in the equations of the left neighbour
  Dense<Wide> left_self, left_right;
};

} // namespace ribbon
