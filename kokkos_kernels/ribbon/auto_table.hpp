// SPDX-License-Identifier: BSD-2-Clause
/// @file auto_table.hpp  What `auto` tries first on a device, and the shapes of one_pass. Made by ribbon-bench --make-table, not by hand.
///
///     machine  NVIDIA H200, thresholds of docs/performance.md
///     date     2026-11-21
///     command  none: entered from the rules that this table replaced, to be measured
#pragma once

#include <ribbon/choice.hpp>

namespace ribbon::choice {

// clang-format off
inline constexpr Entry auto_table[] = {
  // K  B                                             rows up to              algorithm  rows per thread
  {{1, 1, Layout::interleaved, Source::constant},      128, Algorithm::one_pass,  16},
  {{1, 1, Layout::interleaved, Source::constant},      255, Algorithm::one_pass,  32},
  {{1, 1, Layout::interleaved, Source::constant},    16384, Algorithm::one_pass,  64},
  {{1, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition, 64},
  {{1, 1, Layout::interleaved, Source::general},       255, Algorithm::one_pass,  32},
  {{1, 1, Layout::interleaved, Source::general},     16384, Algorithm::one_pass,  64},
  {{1, 1, Layout::interleaved, Source::general},  any_rows, Algorithm::partition, 64},
  {{1, 1, Layout::interleaved, Source::per_line},      256, Algorithm::one_pass,  16},
  {{1, 1, Layout::interleaved, Source::per_line}, any_rows, Algorithm::thomas,    16},
  {{1, 1, Layout::interleaved, Source::shifted},  any_rows, Algorithm::one_pass,  16},
  {{1, 1, Layout::contiguous,  Source::constant},       63, Algorithm::one_pass,  16},
  {{1, 1, Layout::contiguous,  Source::constant},      512, Algorithm::one_pass,  32},
  {{1, 1, Layout::contiguous,  Source::constant},     2048, Algorithm::one_pass,  31},
  {{1, 1, Layout::contiguous,  Source::constant},    16384, Algorithm::one_pass,  63},
  {{1, 1, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition, 63},
  {{1, 1, Layout::contiguous,  Source::general},        63, Algorithm::one_pass,  16},
  {{1, 1, Layout::contiguous,  Source::general},       512, Algorithm::one_pass,  32},
  {{1, 1, Layout::contiguous,  Source::general},      2048, Algorithm::one_pass,  31},
  {{1, 1, Layout::contiguous,  Source::general},     16384, Algorithm::one_pass,  63},
  {{1, 1, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition, 63},
  {{1, 1, Layout::contiguous,  Source::per_line},     1024, Algorithm::one_pass,  16},
  {{1, 1, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::thomas,    16},
  {{1, 1, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::one_pass,  16},

  {{2, 1, Layout::interleaved, Source::constant},      128, Algorithm::one_pass,  16},
  {{2, 1, Layout::interleaved, Source::constant},    16384, Algorithm::one_pass,  64},
  {{2, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition, 64},
  {{2, 1, Layout::interleaved, Source::general},       255, Algorithm::one_pass,  32},
  {{2, 1, Layout::interleaved, Source::general},     16384, Algorithm::one_pass,  64},
  {{2, 1, Layout::interleaved, Source::general},  any_rows, Algorithm::partition, 64},
  {{2, 1, Layout::interleaved, Source::per_line},      128, Algorithm::thomas,     8},
  {{2, 1, Layout::interleaved, Source::per_line}, any_rows, Algorithm::thomas,    16},
  {{2, 1, Layout::interleaved, Source::shifted},       128, Algorithm::one_pass,   8},
  {{2, 1, Layout::interleaved, Source::shifted},  any_rows, Algorithm::one_pass,  16},
  {{2, 1, Layout::contiguous,  Source::constant},       63, Algorithm::one_pass,  16},
  {{2, 1, Layout::contiguous,  Source::constant},      512, Algorithm::one_pass,  32},
  {{2, 1, Layout::contiguous,  Source::constant},     2048, Algorithm::one_pass,  31},
  {{2, 1, Layout::contiguous,  Source::constant},    16384, Algorithm::one_pass,  63},
  {{2, 1, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition, 63},
  {{2, 1, Layout::contiguous,  Source::general},        63, Algorithm::one_pass,  16},
  {{2, 1, Layout::contiguous,  Source::general},       512, Algorithm::one_pass,  32},
  {{2, 1, Layout::contiguous,  Source::general},      2048, Algorithm::one_pass,  31},
  {{2, 1, Layout::contiguous,  Source::general},     16384, Algorithm::one_pass,  63},
  {{2, 1, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition, 63},
  {{2, 1, Layout::contiguous,  Source::per_line},      128, Algorithm::one_pass,   8},
  {{2, 1, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::thomas,    16},
  {{2, 1, Layout::contiguous,  Source::shifted},       128, Algorithm::one_pass,   8},
  {{2, 1, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::one_pass,  16},

  {{3, 1, Layout::interleaved, Source::constant},    16384, Algorithm::one_pass,   0},
  {{3, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::interleaved, Source::general},     16384, Algorithm::one_pass,   0},
  {{3, 1, Layout::interleaved, Source::general},  any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::interleaved, Source::per_line}, any_rows, Algorithm::thomas,     0},
  {{3, 1, Layout::interleaved, Source::shifted},  any_rows, Algorithm::thomas,     0},
  {{3, 1, Layout::contiguous,  Source::constant},    16384, Algorithm::one_pass,   0},
  {{3, 1, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::contiguous,  Source::general},     16384, Algorithm::one_pass,   0},
  {{3, 1, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::thomas,     0},
  {{3, 1, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::thomas,     0},

  {{4, 1, Layout::interleaved, Source::constant},    16384, Algorithm::one_pass,   0},
  {{4, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::interleaved, Source::general},     16384, Algorithm::one_pass,   0},
  {{4, 1, Layout::interleaved, Source::general},  any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::interleaved, Source::per_line}, any_rows, Algorithm::thomas,     0},
  {{4, 1, Layout::interleaved, Source::shifted},  any_rows, Algorithm::thomas,     0},
  {{4, 1, Layout::contiguous,  Source::constant},    16384, Algorithm::one_pass,   0},
  {{4, 1, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::contiguous,  Source::general},     16384, Algorithm::one_pass,   0},
  {{4, 1, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::thomas,     0},
  {{4, 1, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::thomas,     0},

  {{1, 2, Layout::interleaved, Source::constant},    16384, Algorithm::one_pass,   0},
  {{1, 2, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::interleaved, Source::general},     16384, Algorithm::one_pass,   0},
  {{1, 2, Layout::interleaved, Source::general},  any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::interleaved, Source::per_line}, any_rows, Algorithm::thomas,     0},
  {{1, 2, Layout::interleaved, Source::shifted},  any_rows, Algorithm::thomas,     0},
  {{1, 2, Layout::contiguous,  Source::constant},    16384, Algorithm::one_pass,   0},
  {{1, 2, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::contiguous,  Source::general},     16384, Algorithm::one_pass,   0},
  {{1, 2, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::thomas,     0},
  {{1, 2, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::thomas,     0},

  {{1, 4, Layout::interleaved, Source::constant},    16384, Algorithm::one_pass,   0},
  {{1, 4, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::interleaved, Source::general},     16384, Algorithm::one_pass,   0},
  {{1, 4, Layout::interleaved, Source::general},  any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::interleaved, Source::per_line}, any_rows, Algorithm::thomas,     0},
  {{1, 4, Layout::interleaved, Source::shifted},  any_rows, Algorithm::thomas,     0},
  {{1, 4, Layout::contiguous,  Source::constant},    16384, Algorithm::one_pass,   0},
  {{1, 4, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::contiguous,  Source::general},     16384, Algorithm::one_pass,   0},
  {{1, 4, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::thomas,     0},
  {{1, 4, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::thomas,     0},
};
// clang-format on

} // namespace ribbon::choice
