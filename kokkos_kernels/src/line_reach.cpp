// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/matrix/line_reach.hpp>

#include "counters.hpp"
#include "instantiate.hpp"
#include "positions.hpp"
#include "row_on_lines.hpp"

#include <algorithm>
#include <limits>

namespace ribbon {

namespace {

constexpr int    most = largest_half_bandwidth;
constexpr double unit = 1 << 20; ///< terms of reach_weights() are multiples of 1 / unit

/// The terms of rows t, t + threads, ..., so that there are few atomics.
struct ReachKernel {
  CsrNumbers           A;
  LinePlaces           lines;
  std::int64_t         rows, threads;
  std::int64_t        *sums;
  KOKKOS_FUNCTION void operator()(const std::int64_t t) const
  {
    std::int64_t own[most + 2] = {};
    for (std::int64_t i = t; i < rows; i += threads) add(i, own);
    for (int d = 1; d <= most + 1; ++d)
      if (own[d] > 0) Kokkos::atomic_fetch_add(sums + d, own[d]);
  }

private:
  KOKKOS_INLINE_FUNCTION void add(std::int64_t i, std::int64_t *own) const
  {
    const RowOnLines row(lines, i);
    double           largest = 0, weight[most + 2] = {};
    for (std::int64_t e = A.row_begin[i]; e < A.row_begin[i + 1]; ++e) {
      const double size  = A.value.size(e);
      const int    along = row.to(A.column[e]).distance, distance = along < 0 ? -along : along;
      largest = size > largest ? size : largest;
      if (distance > 0 && is_finite(size)) weight[distance > most ? most + 1 : distance] += size;
    }
    for (int d = 1; d <= most + 1; ++d)
      if (const double term = weight[d] / largest; term > 0 && is_finite(term))
        own[d] += static_cast<std::int64_t>(term * unit + 0.5);
  }
};

/// Marks the rings, and counts them and their elements.
struct FindRingsKernel {
  CsrNumbers          A;
  std::int64_t        block; ///< rows of an element
  const std::int64_t *order, *begin;
  double              closes;
  unsigned char      *is;
  std::int64_t       *found;

  /// The coupling of one element with another one, as find_rings() defines it.
  KOKKOS_INLINE_FUNCTION double coupling(std::int64_t from, std::int64_t to) const
  {
    double coupling = 0;
    for (std::int64_t row = from * block; row < (from + 1) * block; ++row) {
      double largest = 0, there = 0;
      for (std::int64_t e = A.row_begin[row]; e < A.row_begin[row + 1]; ++e) {
        const double       size    = A.value.size(e);
        const std::int64_t element = quotient(A.column[e], block);
        if (element == from || !is_finite(size)) continue;
        largest = size > largest ? size : largest;
        if (element == to) there = size > there ? size : there;
      }
      if (largest > 0 && there / largest > coupling) coupling = there / largest;
    }
    return coupling;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t l) const
  {
    const std::int64_t n = begin[l + 1] - begin[l], first = order[begin[l]], last = order[begin[l + 1] - 1];
    is[l] = n >= 3 && (coupling(first, last) + coupling(last, first)) / 2 >= closes;
    if (!is[l]) return;
    Kokkos::atomic_fetch_add(found, std::int64_t(1));
    Kokkos::atomic_fetch_add(found + 1, n);
  }
};

struct FoldKernel {
  const std::int64_t  *order, *begin;
  std::int64_t         lines;
  const unsigned char *is;
  std::int64_t        *folded;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t line  = detail::row_at(begin, lines, k);
    const std::int64_t first = begin[line], at = k - first, n = begin[line + 1] - first;
    folded[k] = order[!is[line] ? k : first + (at % 2 == 0 ? at / 2 : n - 1 - at / 2)];
  }
};

} // namespace

template <class Scalar, class Index, class Exec>
ReachWeights reach_weights(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines)
{
  const auto sums = allocate_zeros<Kokkos::View<std::int64_t *, typename Exec::memory_space>>(
    exec, "ribbon::reach_weights", static_cast<std::size_t>(most) + 2);
  const std::int64_t threads = std::min<std::int64_t>(A.rows, 1 << 15);
  LinePlaces         places  = lines;
  places.reach               = std::numeric_limits<int>::max();
  Kokkos::parallel_for("ribbon::reach_weights", indices(exec, threads),
                       ReachKernel{CsrNumbers(A), places, A.rows, threads, sums.data()});
  const auto   all     = detail::counted(exec, sums);
  ReachWeights weights = {};
  for (std::size_t d = 0; d < all.size(); ++d) weights[d] = static_cast<double>(all[d]) / unit;
  return weights;
}

template <class Scalar, class Index, class Exec>
Rings<typename Exec::memory_space> find_rings(const Exec &exec, const CsrMatrix<Scalar, Index> &A,
                                              const LinesInMemory<typename Exec::memory_space> &lines,
                                              double closes, int block)
{
  using Memory = typename Exec::memory_space;
  Rings<Memory> rings;
  const auto    found =
    allocate_zeros<Kokkos::View<std::int64_t *, Memory>>(exec, "ribbon::find_rings", std::size_t(2));
  rings.is = allocate<Kokkos::View<unsigned char *, Memory>>(exec, "ribbon::find_rings",
                                                             static_cast<std::size_t>(lines.lines()));
  Kokkos::parallel_for("ribbon::find_rings", indices(exec, lines.lines()),
                       FindRingsKernel{CsrNumbers(A), block, lines.order.data(), lines.begin.data(), closes,
                                       rings.is.data(), found.data()});
  const auto counts = detail::counted(exec, found);
  rings.lines = counts[0], rings.elements = counts[1];
  return rings;
}

template <class Exec>
LinesInMemory<typename Exec::memory_space> fold(const Exec                                       &exec,
                                                const LinesInMemory<typename Exec::memory_space> &lines,
                                                const Rings<typename Exec::memory_space>         &rings)
{
  LinesInMemory<typename Exec::memory_space> folded = {
    allocate<decltype(lines.order)>(exec, "ribbon::order", lines.order.extent(0)), lines.begin, lines.memory};
  Kokkos::parallel_for(
    "ribbon::fold", indices(exec, static_cast<std::int64_t>(lines.order.extent(0))),
    FoldKernel{lines.order.data(), lines.begin.data(), lines.lines(), rings.is.data(), folded.order.data()});
  exec.fence();
  return folded;
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                          \
  template ReachWeights reach_weights(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &);   \
  template Rings<typename Exec::memory_space> find_rings(const Exec &, const CsrMatrix<Scalar, Index> &,     \
                                                         const LinesInMemory<typename Exec::memory_space> &, \
                                                         double, int);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                         \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)
RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

#define RIBBON_INSTANTIATE_SPACE(Scalar, Exec)                                                               \
  template LinesInMemory<typename Exec::memory_space> fold(                                                  \
    const Exec &, const LinesInMemory<typename Exec::memory_space> &,                                        \
    const Rings<typename Exec::memory_space> &);
RIBBON_INSTANTIATE_SPACES(RIBBON_INSTANTIATE_SPACE, double)

} // namespace ribbon
