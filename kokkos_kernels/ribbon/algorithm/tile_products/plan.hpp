// SPDX-License-Identifier: BSD-2-Clause
/// @file plan.hpp  Tables and launch of tile_products.hpp.
#pragma once

#include <ribbon/algorithm/tile_products/tile_products.hpp>
#include <ribbon/elimination/reduced.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace ribbon {

/// Matrices of eight unknowns in the order of the kernel, in extended precision.
using TileMatrix = std::array<long double, device::tile_matrix>;

/// The coefficients of one chunk: the effect of the recurrences of its rows on tiles.
class ChunkProducts {
public:
  using Tables = ChunkTables<long double>;

  /// @param padded  number of separators with empty places
  ChunkProducts(const HostMatrix<double> &A, const Tables &tables, const TileShape &shape, int size,
                int padded)
      : t_(tables), shape_(shape), size_(size), padded_(padded), K_(shape.separators / A.block), B_(A.block),
        S_(shape.separators)
  {
  }

  /// All matrices in the order of the kernel.
  std::vector<TileMatrix> matrices() const
  {
    constexpr int           tiles = TileShape::tiles;
    const int               sides = padded_ / 4;
    std::vector<TileMatrix> F(tiles), P(tiles - 1), R(static_cast<std::size_t>(tiles * sides)), B(tiles),
      N(tiles - 1), Z(static_cast<std::size_t>(tiles * sides)), all;
    for (int j = 0; j < tiles; ++j) {
      forward(j, F[at(j)], j > 0 ? &P[at(j - 1)] : nullptr);
      backward(j, B[at(j)], j + 1 < tiles ? &N[at(j)] : nullptr, &Z[at(j * sides)]);
    }
    reduced(R);
    for (const auto *part : {&F, &P, &R, &B, &N, &Z}) all.insert(all.end(), part->begin(), part->end());
    return all;
  }

private:
  static std::size_t  at(int i) { return static_cast<std::size_t>(i); }
  static long double &entry(TileMatrix &m, int k, int column)
  {
    return m[at(column * device::tile_unknowns + k)];
  }

  int                interior() const { return size_ - K_; } ///< rows
  int                tile(int row) const { return row / shape_.rows; }
  int                place(int row, int c) const { return row % shape_.rows * B_ + c; }
  const long double *forward_row(int i) const { return t_.forward.data() + at(i * t_.forward_words); }
  long double        inv(int i, int a, int b) const { return forward_row(i)[a * B_ + b]; }
  long double L(int i, int q, int a, int b) const { return forward_row(i)[B_ * B_ * (1 + q) + a * B_ + b]; }
  long double D(int i, int e, int b) const { return forward_row(i)[B_ * B_ * (1 + K_) + e * B_ + b]; }
  long double U(int i, int q, int a, int b) const
  {
    return t_.backward[at(i * t_.backward_words + q * B_ * B_ + a * B_ + b)];
  }
  long double H(int i, int a, int e) const
  {
    return t_.backward[at(i * t_.backward_words + K_ * B_ * B_ + a * S_ + e)];
  }
  /// Place of separator e of the left (side 0) or of this chunk (1) in the tiles of separators: index of
  /// the tile, and the place in it.
  std::pair<int, int> separator(int side, int e) const
  {
    return padded_ == 4 ? std::pair(0, side * 4 + e) : std::pair(side, e);
  }

  /// g of the rows of tile j from f of these rows and g of the tile before.
  void forward(int j, TileMatrix &F, TileMatrix *P) const
  {
    F.fill(0);
    if (P) P->fill(0);
    for (int i = j * shape_.rows; i < std::min((j + 1) * shape_.rows, interior()); ++i)
      for (int a = 0; a < B_; ++a) {
        const int column = place(i, a);
        for (int b = 0; b < B_; ++b) entry(F, place(i, b), column) += inv(i, a, b);
        for (int q = 0; q < K_ && i - 1 - q >= 0; ++q)
          for (int b = 0; b < B_; ++b) {
            const int row = i - 1 - q, from = place(row, b);
            if (tile(row) < j) entry(*P, from, column) += L(i, q, a, b);
            else
              for (int k = 0; k < device::tile_unknowns; ++k) {
                entry(F, k, column) += L(i, q, a, b) * entry(F, k, from);
                if (P) entry(*P, k, column) += L(i, q, a, b) * entry(*P, k, from);
              }
          }
      }
  }

  /// x of the rows of tile j from g of these rows, x of the next tile and the separators.
  void backward(int j, TileMatrix &B, TileMatrix *N, TileMatrix *Z) const
  {
    const int sides = padded_ / 4;
    B.fill(0);
    if (N) N->fill(0);
    for (int side = 0; side < sides; ++side) Z[side].fill(0);
    for (int i = std::min((j + 1) * shape_.rows, size_) - 1; i >= j * shape_.rows; --i)
      for (int a = 0; a < B_; ++a) {
        const int column = place(i, a);
        if (i >= interior()) {
          const auto [side, k]      = separator(1, (i - interior()) * B_ + a);
          entry(Z[side], k, column) = 1;
          continue;
        }
        entry(B, place(i, a), column) += 1;
        for (int e = 0; e < S_; ++e) {
          const auto [side, k] = separator(0, e);
          entry(Z[side], k, column) -= H(i, a, e);
        }
        for (int q = 0; q < K_; ++q)
          for (int b = 0; b < B_; ++b) {
            const int row = i + 1 + q, from = place(row, b);
            if (tile(row) > j) entry(*N, from, column) += U(i, q, a, b);
            else
              for (int k = 0; k < device::tile_unknowns; ++k) {
                entry(B, k, column) += U(i, q, a, b) * entry(B, k, from);
                if (N) entry(*N, k, column) += U(i, q, a, b) * entry(*N, k, from);
                for (int side = 0; side < sides; ++side)
                  entry(Z[side], k, column) += U(i, q, a, b) * entry(Z[side], k, from);
              }
          }
      }
  }

  /// Contribution of f to the reduced right-hand sides: own = f_sep - Lg g, left = Us y_first.
  void reduced(std::vector<TileMatrix> &R) const
  {
    const int          m  = interior();
    const long double *Lg = t_.edge.data(), *Us = Lg + S_ * S_;
    for (auto &part : R) part.fill(0);
    const auto R_at = [&](int row, int b, int side, int e) -> long double & {
      const auto [number, column] = separator(side, e);
      return entry(R[at(tile(row) * (padded_ / 4) + number)], place(row, b), column);
    };
    // own is side 0, left is side 1. Weights of g in `own`, rows from the last to the first: those of g_i
    // continue to f_i and to the previous rows
    for (int e = 0; e < S_; ++e) {
      std::vector<long double> w(at(m * B_), 0);
      for (int q = 0; q < K_; ++q)
        for (int b = 0; b < B_; ++b) w[at((m - 1 - q) * B_ + b)] = -Lg[e * S_ + q * B_ + b];
      for (int i = m - 1; i >= 0; --i)
        for (int a = 0; a < B_; ++a) {
          for (int b = 0; b < B_; ++b) R_at(i, b, 0, e) += w[at(i * B_ + a)] * inv(i, a, b);
          for (int q = 0; q < K_ && i - 1 - q >= 0; ++q)
            for (int b = 0; b < B_; ++b) w[at((i - 1 - q) * B_ + b)] += w[at(i * B_ + a)] * L(i, q, a, b);
        }
      R_at(m + e / B_, e % B_, 0, e) = 1;
      for (int i = 0; i < m; ++i)
        for (int b = 0; b < B_; ++b)
          for (int q = 0; q < S_; ++q) R_at(i, b, 1, e) += Us[e * S_ + q] * D(i, q, b);
    }
  }

  const Tables    &t_;
  const TileShape &shape_;
  int              size_, padded_, K_, B_, S_;
};

/// The sweeps of one_pass as products of tiles: one matrix for all lines, in double, at most eight
/// separators. The constructor factors.
template <class Exec>
class TileProductsPlan {
  using Words = Kokkos::View<double *, typename Exec::memory_space>;

public:
  TileProductsPlan(const Exec &exec, const HostMatrix<double> &A, const TileShape &shape, PivotWatch &watch)
      : shape_(shape), padded_(shape.separators <= 4 ? 4 : 8)
  {
    const int                             T = shape_.split.chunks, K = A.reach();
    std::vector<ChunkTables<long double>> chunks;
    std::map<std::vector<double>, int>    known;
    std::vector<double>                   tables;
    for (int c = 0; c < T; ++c) {
      const int begin = shape_.split.begin(c), size = shape_.split.size(c);
      chunks.push_back(eliminate_plain(A, begin, size, true, watch));
      const auto table        = rounded(ChunkProducts(A, chunks.back(), shape_, size, padded_).matrices());
      const auto [of, is_new] = known.emplace(table, static_cast<int>(known.size()));
      table_of_[static_cast<std::size_t>(c)] = of->second;
      if (is_new) tables.insert(tables.end(), table.begin(), table.end());
    }
    const int  S      = shape_.separators;
    const auto row_of = [&](int k) {
      return shape_.split.begin(k / S) + shape_.split.size(k / S) - K + k % S / A.block;
    };
    const ReducedSystem<double> system(
      chunks, shape_.ring, row_of, [&](int k) { return A.row_max(row_of(k), k % A.block); }, watch);
    shape_.reach  = system.reach(static_cast<long double>(unit_roundoff<double>()) / 32);
    shape_.window = std::min(T, 2 * shape_.reach + 3);
    tables_       = upload(exec, "ribbon::tile_products::tables", tables);
    inverse_      = upload(exec, "ribbon::tile_products::inverse", rounded(reduced_inverse(system)));
  }

  std::size_t bytes() const { return (tables_.size() + inverse_.size()) * sizeof(double); }

  /// x = A^-1 b for all lines. Asynchronous on exec. In place if b == x and both layouts agree.
  void solve(const Exec &exec, const double *b, const LineSet &in, double *x, const LineSet &out) const
  {
    padded_ == 4 ? launch<4>(exec, b, in, x, out) : launch<8>(exec, b, in, x, out);
  }

private:
  static std::vector<double> rounded(const std::vector<TileMatrix> &matrices)
  {
    std::vector<double> words;
    for (const auto &m : matrices)
      for (long double v : m) words.push_back(static_cast<double>(v));
    return words;
  }

  /// Maps the contributions of chunks to the reduced right-hand sides, r_q = own_q - left_(q+1), to the
  /// separators left of each chunk and in it.
  std::vector<TileMatrix> reduced_inverse(const ReducedSystem<double> &system) const
  {
    const int               T = shape_.split.chunks, S = shape_.separators, sides = padded_ / 4;
    const auto              before = [&](int c) { return c > 0 ? c - 1 : shape_.ring ? T - 1 : -1; };
    std::vector<TileMatrix> all;
    for (int c = 0; c < T; ++c)
      for (int w = 0; w < shape_.window; ++w)
        for (int part = 0; part < sides; ++part)
          for (int side = 0; side < sides; ++side) {
            TileMatrix m{};
            const int  chunk = (shape_.window_begin(c) + w) % T;
            for (int column = 0; column < device::tile_unknowns; ++column)
              for (int k = 0; k < device::tile_unknowns; ++k) {
                const int  e = k % padded_, a = column % padded_;
                const bool of_left = sides == 2 ? part == 1 : k >= padded_,
                           to_own  = sides == 2 ? side == 1 : column >= padded_;
                const int q = of_left ? before(chunk) : chunk, row = to_own ? c : before(c);
                if (q >= 0 && row >= 0 && e < S && a < S)
                  m[static_cast<std::size_t>(column * device::tile_unknowns + k)] =
                    (of_left ? -1 : 1) * system.inverse(row * S + a, q * S + e);
              }
            all.push_back(m);
          }
    return all;
  }

  /// Whether pairs of unknowns of a tile are 16 bytes that one instruction copies.
  bool in_pairs(const double *from, const LineSet &set) const
  {
    const auto even = [](std::int64_t n) { return n % 2 == 0; };
    return set.row_stride == shape_.block && (shape_.block == 1 || set.component_stride == 1) &&
           shape_.rows * shape_.block == device::tile_unknowns && even(shape_.split.first * shape_.block) &&
           even(shape_.split.last * shape_.block) && even(set.stride0) && even(set.stride1) &&
           even(
             static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(from + set.offset) / sizeof(double)));
  }

  template <int Padded>
  void launch([[maybe_unused]] const Exec &exec, [[maybe_unused]] const double *b,
              [[maybe_unused]] const LineSet &in, [[maybe_unused]] double *x,
              [[maybe_unused]] const LineSet &out) const
  {
    if constexpr (!is_device_space<Exec> || device::has_matrix_instructions<Exec>()) {
      constexpr bool       is_virtual = !is_device_space<Exec>;
      TileProducts<Padded> k;
      using Tile = device::LineTile<is_virtual>;
      k.b = b, k.x = x, k.in = in, k.out = out, k.shape = shape_, k.tables = tables_.data(),
      k.inverse = inverse_.data(), k.lines = in.lines();
      std::copy(table_of_.begin(), table_of_.end(), k.table_of);
      k.in_pairs = in_pairs(x, out);
      if (out.stride0 == 1 && !out.is_contiguous())
        k.shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(x + out.offset) / sizeof(double) %
                                   device::tile_lines);
      const std::int64_t teams = (k.lines + k.shift + device::tile_lines - 1) / device::tile_lines;
      device::launch(exec, "ribbon::tile_products",
                     {teams, shape_.split.chunks * Tile::threads,
                      k.scratch(shape_, is_virtual ? TileShape::tiles * sizeof(Tile) : 0)},
                     k);
    }
  }

  TileShape                               shape_;
  int                                     padded_;
  Words                                   tables_, inverse_;
  std::array<int, TileShape::most_chunks> table_of_{};
};

} // namespace ribbon
