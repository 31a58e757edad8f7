// SPDX-License-Identifier: BSD-2-Clause
/// @file auto_table.hpp  The first choice of `auto` on a device, and the shapes of one_pass. Made by
///   ribbon-bench --make-table, except for the entries named below.
///
///     machine  NVIDIA H200
///     date     2026-11-21
///     command  ribbon-bench --make-table auto_table.hpp --rows 64,128,192,256,512,1024,2048,4096,16384
///              --unknowns 67108864 --repeat 3
///
/// These entries were written by hand (docs/performance/index.md):
///
///     contiguous blocks of 4, except one stencil of up to 512 rows: as blocks of 2 (the run had ended)
///     contiguous lines, few matrices: one shape since then, 32 rows a thread
///     shifted lines: no thomas up to 1024 rows. one_pass has become twice as fast for shifted lines with one
///              stencil, and the run measured only those
///     one matrix per line: one_pass was measured again on 2026-11-22, and tile_products with it
///     K = 4, contiguous, one general matrix, above 512 rows: one_pass takes 0.22 of the time of thomas
///              (65536 lines of 1024 rows, H100)
#pragma once

#include <ribbon/algorithm/choice.hpp>

namespace ribbon::choice {

// clang-format off
inline constexpr Entry auto_table[] = {
  // K  B                                             rows up to              algorithm  rows per thread
  {{1, 1, Layout::interleaved, Source::constant},      256, Algorithm::one_pass,  32},
  {{1, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::one_pass,  64},
  {{1, 1, Layout::interleaved, Source::general},        64, Algorithm::one_pass,  32},
  {{1, 1, Layout::interleaved, Source::general},       256, Algorithm::one_pass,  64},
  {{1, 1, Layout::interleaved, Source::general},       512, Algorithm::one_pass,  32},
  {{1, 1, Layout::interleaved, Source::general},      4096, Algorithm::one_pass,  64},
  {{1, 1, Layout::interleaved, Source::general},  any_rows, Algorithm::partition, 64},
  {{1, 1, Layout::interleaved, Source::per_line},      256, Algorithm::one_pass,  16},
  {{1, 1, Layout::interleaved, Source::per_line},      512, Algorithm::thomas,    16},
  {{1, 1, Layout::interleaved, Source::per_line}, any_rows, Algorithm::partition, 16},
  {{1, 1, Layout::interleaved, Source::shifted},       128, Algorithm::one_pass,  16},
  {{1, 1, Layout::interleaved, Source::shifted},       192, Algorithm::one_pass,  32},
  {{1, 1, Layout::interleaved, Source::shifted},      2048, Algorithm::one_pass,  16},
  {{1, 1, Layout::interleaved, Source::shifted},  any_rows, Algorithm::partition, 32},
  {{1, 1, Layout::contiguous,  Source::constant},     4096, Algorithm::one_pass,  32},
  {{1, 1, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition, 32},
  {{1, 1, Layout::contiguous,  Source::general},      2048, Algorithm::one_pass,  32},
  {{1, 1, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition, 32},
  {{1, 1, Layout::contiguous,  Source::per_line},      128, Algorithm::one_pass,  16},
  {{1, 1, Layout::contiguous,  Source::per_line},      256, Algorithm::one_pass,   8},
  {{1, 1, Layout::contiguous,  Source::per_line},      512, Algorithm::one_pass,  16},
  {{1, 1, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::partition, 16},
  {{1, 1, Layout::contiguous,  Source::shifted},       256, Algorithm::one_pass,  16},
  {{1, 1, Layout::contiguous,  Source::shifted},      4096, Algorithm::one_pass,  32},
  {{1, 1, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::partition, 32},

  {{2, 1, Layout::interleaved, Source::constant},       64, Algorithm::one_pass,  16},
  {{2, 1, Layout::interleaved, Source::constant},      256, Algorithm::one_pass,  32},
  {{2, 1, Layout::interleaved, Source::constant},     4096, Algorithm::one_pass,  64},
  {{2, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition, 64},
  {{2, 1, Layout::interleaved, Source::general},       256, Algorithm::one_pass,  32},
  {{2, 1, Layout::interleaved, Source::general},      4096, Algorithm::one_pass,  64},
  {{2, 1, Layout::interleaved, Source::general},  any_rows, Algorithm::partition, 64},
  {{2, 1, Layout::interleaved, Source::per_line},      256, Algorithm::one_pass,  16},
  {{2, 1, Layout::interleaved, Source::per_line},     1024, Algorithm::thomas,    16},
  {{2, 1, Layout::interleaved, Source::per_line}, any_rows, Algorithm::partition,  8},
  {{2, 1, Layout::interleaved, Source::shifted},       128, Algorithm::one_pass,   8},
  {{2, 1, Layout::interleaved, Source::shifted},      1024, Algorithm::one_pass,  16},
  {{2, 1, Layout::interleaved, Source::shifted},  any_rows, Algorithm::partition, 16},
  {{2, 1, Layout::contiguous,  Source::constant},     4096, Algorithm::one_pass,  32},
  {{2, 1, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition, 32},
  {{2, 1, Layout::contiguous,  Source::general},      2048, Algorithm::one_pass,  32},
  {{2, 1, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition, 32},
  {{2, 1, Layout::contiguous,  Source::per_line},      128, Algorithm::one_pass,  16},
  {{2, 1, Layout::contiguous,  Source::per_line},      256, Algorithm::one_pass,   8},
  {{2, 1, Layout::contiguous,  Source::per_line},     1024, Algorithm::one_pass,  16},
  {{2, 1, Layout::contiguous,  Source::per_line},     4096, Algorithm::thomas,    16},
  {{2, 1, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::partition, 16},
  {{2, 1, Layout::contiguous,  Source::shifted},        64, Algorithm::one_pass,   8},
  {{2, 1, Layout::contiguous,  Source::shifted},       512, Algorithm::one_pass,  16},
  {{2, 1, Layout::contiguous,  Source::shifted},      2048, Algorithm::one_pass,  32},
  {{2, 1, Layout::contiguous,  Source::shifted},      4096, Algorithm::one_pass,   8},
  {{2, 1, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::partition,  8},

  {{3, 1, Layout::interleaved, Source::constant},     2048, Algorithm::one_pass,   0},
  {{3, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::interleaved, Source::general},       512, Algorithm::one_pass,   0},
  {{3, 1, Layout::interleaved, Source::general},  any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::interleaved, Source::per_line},      512, Algorithm::thomas,     0},
  {{3, 1, Layout::interleaved, Source::per_line}, any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::interleaved, Source::shifted},       512, Algorithm::thomas,     0},
  {{3, 1, Layout::interleaved, Source::shifted},  any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::contiguous,  Source::constant},     2048, Algorithm::one_pass,   0},
  {{3, 1, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::contiguous,  Source::general},       512, Algorithm::tile_products,  0},
  {{3, 1, Layout::contiguous,  Source::general},      2048, Algorithm::one_pass,   0},
  {{3, 1, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::contiguous,  Source::per_line},      512, Algorithm::thomas,     0},
  {{3, 1, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::partition,  0},
  {{3, 1, Layout::contiguous,  Source::shifted},       512, Algorithm::thomas,     0},
  {{3, 1, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::partition,  0},

  {{4, 1, Layout::interleaved, Source::constant},      128, Algorithm::one_pass,   0},
  {{4, 1, Layout::interleaved, Source::constant},      512, Algorithm::tile_products,  0},
  {{4, 1, Layout::interleaved, Source::constant},     2048, Algorithm::one_pass,   0},
  {{4, 1, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::interleaved, Source::general},        64, Algorithm::one_pass,   0},
  {{4, 1, Layout::interleaved, Source::general},       512, Algorithm::tile_products,  0},
  {{4, 1, Layout::interleaved, Source::general},  any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::interleaved, Source::per_line},      512, Algorithm::thomas,     0},
  {{4, 1, Layout::interleaved, Source::per_line}, any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::interleaved, Source::shifted},       512, Algorithm::thomas,     0},
  {{4, 1, Layout::interleaved, Source::shifted},  any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::contiguous,  Source::constant},      512, Algorithm::tile_products,  0},
  {{4, 1, Layout::contiguous,  Source::constant},     2048, Algorithm::one_pass,   0},
  {{4, 1, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::contiguous,  Source::general},       512, Algorithm::tile_products,  0},
  {{4, 1, Layout::contiguous,  Source::general},      2048, Algorithm::one_pass,   0},
  {{4, 1, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::contiguous,  Source::per_line},     2048, Algorithm::thomas,     0},
  {{4, 1, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::partition,  0},
  {{4, 1, Layout::contiguous,  Source::shifted},      2048, Algorithm::thomas,     0},
  {{4, 1, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::partition,  0},

  {{1, 2, Layout::interleaved, Source::constant},     1024, Algorithm::one_pass,   0},
  {{1, 2, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::interleaved, Source::general},      1024, Algorithm::one_pass,   0},
  {{1, 2, Layout::interleaved, Source::general},  any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::interleaved, Source::per_line},      256, Algorithm::thomas,     0},
  {{1, 2, Layout::interleaved, Source::per_line}, any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::interleaved, Source::shifted},       256, Algorithm::thomas,     0},
  {{1, 2, Layout::interleaved, Source::shifted},  any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::contiguous,  Source::constant},     1024, Algorithm::one_pass,   0},
  {{1, 2, Layout::contiguous,  Source::constant}, any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::contiguous,  Source::general},      1024, Algorithm::one_pass,   0},
  {{1, 2, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::contiguous,  Source::per_line},      256, Algorithm::thomas,     0},
  {{1, 2, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::partition,  0},
  {{1, 2, Layout::contiguous,  Source::shifted},       256, Algorithm::thomas,     0},
  {{1, 2, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::partition,  0},

  {{1, 4, Layout::interleaved, Source::constant},      128, Algorithm::tile_products,  0},
  {{1, 4, Layout::interleaved, Source::constant},      512, Algorithm::one_pass,   0},
  {{1, 4, Layout::interleaved, Source::constant}, any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::interleaved, Source::general},       128, Algorithm::tile_products,  0},
  {{1, 4, Layout::interleaved, Source::general},  any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::interleaved, Source::per_line},      128, Algorithm::thomas,     0},
  {{1, 4, Layout::interleaved, Source::per_line}, any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::interleaved, Source::shifted},       128, Algorithm::thomas,     0},
  {{1, 4, Layout::interleaved, Source::shifted},  any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::contiguous,  Source::constant},      128, Algorithm::tile_products,  0},
  {{1, 4, Layout::contiguous,  Source::constant}, any_rows, Algorithm::one_pass,   0},
  {{1, 4, Layout::contiguous,  Source::general},       128, Algorithm::tile_products,  0},
  {{1, 4, Layout::contiguous,  Source::general},       512, Algorithm::one_pass,   0},
  {{1, 4, Layout::contiguous,  Source::general},  any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::contiguous,  Source::per_line},      128, Algorithm::thomas,     0},
  {{1, 4, Layout::contiguous,  Source::per_line}, any_rows, Algorithm::partition,  0},
  {{1, 4, Layout::contiguous,  Source::shifted},       128, Algorithm::thomas,     0},
  {{1, 4, Layout::contiguous,  Source::shifted},  any_rows, Algorithm::partition,  0},
};
// clang-format on

} // namespace ribbon::choice
