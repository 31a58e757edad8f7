// SPDX-License-Identifier: BSD-2-Clause
/// @file shifted_classes.hpp  Adds a multiple of a diagonal to matrices that lines share: serves many
///   shifts of one operator without reading the matrix of every line.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/matrix/transpose.hpp>

namespace ribbon {

template <class Scalar, class Memory>
struct SharedDiagonal {
  using Bands_ = Bands<Scalar, Memory>;
  Bands_                               bands;
  LineSet                              lines;
  const Scalar                        *diagonal;
  Kokkos::View<std::int64_t *, Memory> first; ///< first line of every matrix
  Scalar                               s;
  int                                  lower;

  KOKKOS_INLINE_FUNCTION int matrix_of(std::int64_t l) const
  {
    return bands.lhs == Lhs::classes ? bands.class_of_line(l) : 0;
  }
  KOKKOS_INLINE_FUNCTION const Scalar &at(std::int64_t l, std::int64_t i, int a) const
  {
    return diagonal[lines(l, i) + a * lines.component_stride];
  }

  struct Find { };
  struct Compare { };
  struct Add { };
  KOKKOS_FUNCTION void operator()(Find, const std::int64_t l) const
  {
    Kokkos::atomic_fetch_min(&first(matrix_of(l)), l);
  }
  KOKKOS_FUNCTION void operator()(Compare, const std::int64_t u, int &differs) const
  {
    const bool         along = lines.row_stride < lines.stride0; // the smaller stride runs fastest
    const std::int64_t l     = along ? u / lines.rows : u % lines.lines(),
                       i = along ? u % lines.rows : u / lines.lines(), own = first(matrix_of(l));
    for (int a = 0; a < lines.components; ++a) differs |= !(at(l, i, a) == at(own, i, a));
  }
  KOKKOS_FUNCTION void operator()(Add, const std::int64_t k) const
  {
    const std::int64_t matrices = static_cast<std::int64_t>(bands.values.extent(0)), c = k % matrices,
                       i = k / matrices;
    const int B          = bands.block;
    for (int a = 0; a < B && first(c) < lines.lines(); ++a)
      bands.values(c, i, (lower * B + a) * B + a) += s * at(first(c), i, a);
  }
};

/// result = bands + s diag(diagonal), for one matrix that all lines share, or classes. The diagonal has one
/// entry per unknown, at the places of `lines`.
/// @return false, without a result, if lines that share a matrix have different diagonals. Waits for the
///   comparison.
template <class Scalar, class Exec>
bool add_diagonal(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands,
                  const LineSet &lines, const Scalar *diagonal, const Scalar &s,
                  Bands<Scalar, typename Exec::memory_space> *result)
{
  using Memory        = typename Exec::memory_space;
  using Kernel        = SharedDiagonal<Scalar, Memory>;
  const auto matrices = static_cast<std::int64_t>(bands.values.extent(0));
  Kernel     kernel{
    bands,    lines,
    diagonal, allocate<Kokkos::View<std::int64_t *, Memory>>(exec, "ribbon::first", bands.values.extent(0)),
    s,        bands.kl()};
  int        differs = 0;
  const auto run     = [&](auto tag, std::int64_t n) {
    return Kokkos::RangePolicy<Exec, decltype(tag), Kokkos::IndexType<std::int64_t>>(exec, 0, n);
  };
  if (lines.unknowns() == 0) return false;
  Kokkos::deep_copy(exec, kernel.first, lines.lines());
  Kokkos::parallel_for("ribbon::first_lines", run(typename Kernel::Find{}, lines.lines()), kernel);
  Kokkos::parallel_reduce("ribbon::compare_diagonals",
                          run(typename Kernel::Compare{}, lines.lines() * lines.rows), kernel,
                          Kokkos::BOr<int>(differs));
  if (differs != 0) return false;
  // each row has a different diagonal
  *result = kernel.bands =
    bands.repeats > 1 ? store_more_rows(exec, bands, bands.rows()) : copy<Scalar>(exec, bands);
  Kokkos::parallel_for("ribbon::add_diagonal", run(typename Kernel::Add{}, matrices * bands.rows()), kernel);
  return true;
}

} // namespace ribbon
