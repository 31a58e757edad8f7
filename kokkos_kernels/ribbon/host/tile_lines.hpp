// SPDX-License-Identifier: BSD-2-Clause
/// @file tile_lines.hpp  Moves lines between memory and a tile, in which the same rows of all lines are
///   contiguous.
#pragma once

#include <ribbon/host/vectors.hpp>
#include <ribbon/line_set.hpp>

#include <cstdint>

namespace ribbon::host {

/// The places of the lines of one tile. Row i of lane l is tile[i * Lanes + l].
template <class Scalar, int Lanes>
class TileLines {
public:
  /// Lines first, first + 1, ... of `set`, at most `most` of them and none beyond the last line.
  KOKKOS_FUNCTION TileLines(const LineSet &set, std::int64_t first, int most)
      : row_stride_(set.row_stride), rows_(set.rows),
        lanes_(first >= set.lines()         ? 0
               : set.lines() - first < most ? static_cast<int>(set.lines() - first)
                                            : most)
  {
    for (int l = 0; l < lanes_; ++l) {
      at_[l]      = set.begin(first + l);
      neighbours_ = neighbours_ && at_[l] == at_[0] + l;
    }
    neighbours_ = neighbours_ && (Lanes > 1 || row_stride_ != 1);
    // the largest power of two that divides the stride
    const std::int64_t stride = row_stride_ * static_cast<std::int64_t>(sizeof(Scalar)),
                       lowest = stride & -stride;
    crowded_ = neighbours_ && (lowest >= way || rows_ > 2 * (way / (lowest > 0 ? lowest : 1)));
  }

  KOKKOS_FUNCTION int lanes() const { return lanes_; }
  /// The place of row i of lane l in memory.
  KOKKOS_FUNCTION std::int64_t place(int l, std::int64_t i) const { return at_[l] + i * row_stride_; }

  /// Whether too many rows map to the same sets of the L2 cache.
  KOKKOS_FUNCTION bool is_crowded() const { return crowded_; }

  /// Whether store() fills whole cache lines.
  KOKKOS_FUNCTION bool fills_cache_lines(const Scalar *x) const
  {
    bool all = neighbours_ ? row_stride_ % line == 0 && lanes_ % line == 0 : row_stride_ == 1;
    for (int l = 0; l < (neighbours_ ? 1 : lanes_); ++l)
      all = all && reinterpret_cast<std::uintptr_t>(x + at_[l]) % 64 == 0;
    return all;
  }

  /// Whether the same row of all lanes is one run in memory, so that it does not need the tile.
  KOKKOS_FUNCTION bool is_run() const { return neighbours_ && lanes_ == Lanes; }

  /// Rows of all lanes, in memory or in the tile.
  template <class Word>
  struct Rows {
    Word                 *first;
    std::int64_t          stride;
    KOKKOS_FUNCTION Word *at(std::int64_t k) const { return first + k * stride; }
  };
  /// Rows [i0, i1) for reading, in the tile unless they are runs.
  KOKKOS_FUNCTION Rows<const Scalar> fetch(const Scalar *b, std::int64_t i0, std::int64_t i1,
                                           Scalar *tile) const
  {
    if (!is_run()) {
      load(b, i0, i1, tile);
      return {tile + i0 * Lanes, Lanes};
    }
    prefetch_crowded(b, i0, i1);
    return {b + at_[0] + i0 * row_stride_, row_stride_};
  }
  /// Prefetches rows that follow rows [i0, i1) at a distance, if lines are crowded.
  KOKKOS_FUNCTION void prefetch_crowded(const Scalar *b, std::int64_t i0, std::int64_t i1) const
  {
    for (std::int64_t i = i0; crowded_ && i < i1 && i + near < rows_; ++i)
      for (int l = 0; l < Lanes; l += line) prefetch(b + at_[0] + (i + near) * row_stride_ + l);
  }
  /// Rows from i0 on for writing: runs, or rows of the tile for store().
  KOKKOS_FUNCTION Rows<Scalar> room(Scalar *x, std::int64_t i0, Scalar *tile) const
  {
    if (!is_run()) return {tile + i0 * Lanes, Lanes};
    return {x + at_[0] + i0 * row_stride_, row_stride_};
  }

  /// Copies rows [i0, i1) to the tile.
  KOKKOS_FUNCTION void load(const Scalar *b, std::int64_t i0, std::int64_t i1, Scalar *tile) const
  {
    if (neighbours_) {
      for (std::int64_t i = i0; i < i1; ++i)
        if (lanes_ == Lanes) copy_row(b + at_[0] + i * row_stride_, tile + i * Lanes);
        else copy_out(b + at_[0] + i * row_stride_, tile + i * Lanes, lanes_, false);
      return;
    }
    const auto [rows, lanes] = squares(i0, i1);
    for (int l = 0; l < lanes; l += side)
      for (std::int64_t i = i0; i < rows; i += side) {
        Scalar *const t = tile + i * Lanes + l;
        transpose_square<Scalar>({b + at_[l] + i, b + at_[l + 1] + i, b + at_[l + 2] + i, b + at_[l + 3] + i},
                                 {t, t + Lanes, t + 2 * Lanes, t + 3 * Lanes});
      }
    others(i0, i1, rows, lanes,
           [&](int l, std::int64_t i) { tile[i * Lanes + l] = b[at_[l] + i * row_stride_]; });
  }

  /// Copies rows [i0, i1), at most `block`, from the tile.
  KOKKOS_FUNCTION void store(const Scalar *tile, std::int64_t i0, std::int64_t i1, Scalar *x,
                             bool past_caches) const
  {
    if (neighbours_) {
      for (std::int64_t i = i0; i < i1; ++i)
        copy_out(tile + i * Lanes, x + at_[0] + i * row_stride_, lanes_, past_caches);
      return;
    }
    const auto [rows, lanes] = squares(i0, i1);
    for (int l = 0; l < lanes; l += side) {
      if (past_caches && rows - i0 == block &&
          stream_lines(tile + i0 * Lanes + l, Lanes,
                       {x + at_[l] + i0, x + at_[l + 1] + i0, x + at_[l + 2] + i0, x + at_[l + 3] + i0}))
        continue;
      alignas(64) Scalar run[side][block]; // non-temporal stores need whole cache lines
      for (std::int64_t i = i0; i < rows; i += side) {
        const Scalar *const t  = tile + i * Lanes + l;
        const auto          to = [&](int e) { return past_caches ? &run[e][i - i0] : x + at_[l + e] + i; };
        transpose_square<Scalar>({t, t + Lanes, t + 2 * Lanes, t + 3 * Lanes}, {to(0), to(1), to(2), to(3)});
      }
      for (int e = 0; past_caches && e < side; ++e)
        copy_out(run[e], x + at_[l + e] + i0, static_cast<int>(rows - i0), true);
    }
    others(i0, i1, rows, lanes,
           [&](int l, std::int64_t i) { x[at_[l] + i * row_stride_] = tile[i * Lanes + l]; });
  }

  /// Prefetches the lines of the next tile to the L2 cache in small steps, so that the number of reads in
  /// flight suits the processor. Of crowded lines only the first rows are prefetched. Lines that are
  /// neither neighbours nor contiguous are not.
  class Ahead {
  public:
    /// All lines are prefetched after `steps` steps.
    KOKKOS_FUNCTION Ahead(const TileLines &lines, const Scalar *b, std::int64_t steps) : lines_(lines), b_(b)
    {
      if (steps < 1 || lines.lanes_ == 0 || (!lines.neighbours_ && lines.row_stride_ != 1)) return;
      pieces_ = !lines.neighbours_ ? lines.lanes_ : lines.crowded_ && lines.rows_ > near ? near : lines.rows_;
      bytes_  = (lines.neighbours_ ? lines.lanes_ : lines.rows_) * static_cast<std::int64_t>(sizeof(Scalar));
      const auto of_row =
        bytes_ / 64 +
        (bytes_ % 64 != 0 || reinterpret_cast<std::uintptr_t>(b + lines.at_[0]) % 64 != 0 ? 1 : 0);
      each_ = static_cast<int>((pieces_ * of_row + steps - 1) / steps);
      begin(0);
    }
    KOKKOS_FUNCTION void step()
    {
      for (int k = 0; k < each_ && piece_ < pieces_; ++k) {
        prefetch(reinterpret_cast<const void *>(at_));
        at_ += 64;
        if (at_ >= end_) begin(piece_ + 1);
      }
    }

  private:
    KOKKOS_FUNCTION void begin(std::int64_t piece)
    {
      piece_ = piece;
      if (piece >= pieces_) return;
      at_ =
        reinterpret_cast<std::uintptr_t>(b_ + (lines_.neighbours_ ? lines_.at_[0] + piece * lines_.row_stride_
                                                                  : lines_.at_[Lanes == 1 ? 0 : piece]));
      end_ = at_ + static_cast<std::uintptr_t>(bytes_);
      at_  = at_ / 64 * 64;
    }

    const TileLines &lines_;
    const Scalar    *b_;
    /// runs in memory: a row of the tile, or a whole line
    std::int64_t   pieces_ = 0, piece_ = 0, bytes_ = 0;
    std::uintptr_t at_ = 0, end_ = 0;
    int            each_ = 0;
  };

  /// rows that are moved at a time: they stay in the L1 cache meanwhile
  static constexpr int block = sizeof(Scalar) < 8 ? 64 / static_cast<int>(sizeof(Scalar)) : 8;

private:
  static constexpr int near = 48; ///< rows ahead, for lines that cannot be fetched a tile ahead
  static constexpr int line = 64 / static_cast<int>(sizeof(Scalar));
  /// distance in bytes at which addresses map to the same sets of the L2 cache
  static constexpr std::int64_t way  = 128 << 10;
  static constexpr int          side = 4; ///< side of the squares that are transposed at a time

  /// Copies all lanes of a row.
  KOKKOS_FUNCTION static void copy_row(const Scalar *from, Scalar *to)
  {
    using Pack          = std::conditional_t<Lanes == 1, Scalar, typename PackOf<Scalar>::type>;
    constexpr int width = static_cast<int>(sizeof(Pack) / sizeof(Scalar));
    RIBBON_UNROLL_PACKS
    for (int l = 0; l < Lanes; l += width) {
      Pack pack;
      load_pack(from + l, pack);
      store_pack(pack, to + l, false);
    }
  }

  struct Extent {
    std::int64_t rows;
    int          lanes;
  };
  /// End of the rows and lanes that are moved in squares.
  KOKKOS_FUNCTION Extent squares(std::int64_t i0, std::int64_t i1) const
  {
    if (Lanes % side != 0 || row_stride_ != 1) return {i0, 0};
    return {i0 + (i1 - i0) / side * side, lanes_ / side * side};
  }
  /// Calls move(lane, row) for all remaining elements.
  template <class Move>
  KOKKOS_FUNCTION void others(std::int64_t i0, std::int64_t i1, std::int64_t rows, int lanes,
                              const Move &move) const
  {
    for (std::int64_t i = i0; i < rows; ++i)
      for (int l = lanes; l < lanes_; ++l) move(l, i);
    for (std::int64_t i = rows; i < i1; ++i)
      for (int l = 0; l < lanes_; ++l) move(l, i);
  }

  std::int64_t at_[Lanes] = {}, row_stride_, rows_;
  int          lanes_;
  bool         neighbours_ = true;  ///< the same row of all lines is one run
  bool         crowded_    = false; ///< too many rows map to the same sets of a cache
};

} // namespace ribbon::host
