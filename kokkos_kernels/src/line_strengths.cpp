// SPDX-License-Identifier: BSD-2-Clause
// Strengths of the couplings along several sets of lines, by which one of them is chosen.
#include <ribbon/lines_from_csr.hpp>

#include "counters.hpp"
#include "instantiate.hpp"
#include "some_rows.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ribbon {

namespace {

/// Sets of lines, in a kernel. Kokkos copies functors of more than 512 bytes to a device through constant
/// memory, and waits.
using Sets = Kokkos::Array<LinePlaces, most_sets_of_lines>;
static_assert(sizeof(Sets) <= 400, "kernels have other members");

Sets sets_of(const std::vector<LinePlaces> &lines)
{
  if (lines.empty() || lines.size() > most_sets_of_lines)
    throw std::invalid_argument(
      "ribbon::strength_histograms, line_preferences: one to three sets of lines, not " +
      std::to_string(lines.size()));
  Sets sets{};
  std::copy(lines.begin(), lines.end(), sets.data());
  return sets;
}

/// The bins of a row in the histograms of strengths.
struct StrengthKernel {
  CsrNumbers A;
  Sets       sets;
  /// -1: the row has no couplings.
  KOKKOS_FUNCTION int bin_of(const LinePlaces &lines, const std::int64_t k) const
  {
    const RowOnLines row(lines, k);
    double           along = lines.outside ? lines.outside[k] : 0, diagonal = 0, off = along;
    for (std::int64_t e = A.row_begin[k]; e < A.row_begin[k + 1]; ++e) {
      const double a = A.value.size(e);
      if (A.column[e] == k) {
        diagonal = a;
        continue;
      }
      off += a;
      if (row.to(A.column[e]).distance != 0) along += a;
    }
    if (!(off > 0)) return -1;
    const double ratio = along / diagonal;
    if (!(ratio > 0 && is_finite(ratio))) return 0;
    const double octaves = 40 + log2(ratio);
    return octaves < 0 ? 0 : octaves >= 80 ? strength_bins - 1 : static_cast<int>(octaves * 64);
  }
};

/// Votes of some rows, for each set of lines. A thread processes every `threads`-th row. Neighbours mostly
/// have the same bin, so that there are few atomics.
template <class Memory>
struct VoteKernel {
  SomeRows<StrengthKernel>             some;
  Kokkos::View<std::int64_t *, Memory> histograms;
  std::int64_t                         threads; ///< of a set
  KOKKOS_FUNCTION void                 operator()(const std::int64_t t) const
  {
    const std::int64_t set   = t / threads;
    int                last  = -1;
    std::int64_t       count = 0;
    for (std::int64_t i = t % threads; i < some.count(); i += threads) {
      const int bin = some.kernel.bin_of(some.kernel.sets[set], some.row(i));
      if (bin < 0) continue;
      if (bin != last && count > 0) Kokkos::atomic_fetch_add(&histograms(set * strength_bins + last), count);
      count = bin == last ? count + 1 : 1, last = bin;
    }
    if (count > 0) Kokkos::atomic_fetch_add(&histograms(set * strength_bins + last), count);
  }
};

/// Counts rows that couple along any set of a comparison, and those that prefer its set. Atomics instead of
/// parallel_reduce: under CUDA MPS a parallel_reduce of two integers (Kokkos 4.6.99) made later solves
/// inaccurate, including PETSc's (docs/performance/index.md).
struct PreferenceKernel {
  CsrNumbers A;
  Sets       sets;
  int        count; ///< of sets
  /// of each comparison: its set, and a bit mask of the others
  Kokkos::Array<int, most_sets_of_lines> one, others;
  int                                    comparisons;
  double                                 factor;
  std::int64_t                          *found; ///< of each comparison: rows, and those that prefer its set
  KOKKOS_FUNCTION double                 along(const LinePlaces &places, const std::int64_t k) const
  {
    const RowOnLines row(places, k);
    double           sum = places.outside ? places.outside[k] : 0;
    for (std::int64_t e = A.row_begin[k]; e < A.row_begin[k + 1]; ++e)
      if (row.to(A.column[e]).distance != 0) sum += A.value.size(e);
    return sum;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    double sum[most_sets_of_lines];
    for (int s = 0; s < count; ++s) sum[s] = along(sets[s], k);
    for (int c = 0; c < comparisons; ++c) {
      const double mine = sum[one[c]];
      double       most = 0;
      for (int s = 0; s < count; ++s)
        if (others[c] >> s & 1) most = sum[s] > most ? sum[s] : most;
      if (most + mine > 0) Kokkos::atomic_fetch_add(found + 2 * c, std::int64_t(1));
      if (mine > 0 && mine >= factor * most) Kokkos::atomic_fetch_add(found + 2 * c + 1, std::int64_t(1));
    }
  }
};

} // namespace

double strength_of_bin(int k)
{
  return std::exp2((k + 0.5) / 64 - 40);
}

int median_bin(const std::vector<std::int64_t> &histogram)
{
  std::int64_t votes = 0, seen = 0;
  for (std::int64_t v : histogram) votes += v;
  for (std::size_t k = 0; k < histogram.size(); ++k) {
    seen += histogram[k];
    if (votes > 0 && 2 * seen >= votes) return static_cast<int>(k);
  }
  return -1;
}

template <class Scalar, class Index, class Exec>
std::vector<std::vector<std::int64_t>>
strength_histograms(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const std::vector<LinePlaces> &lines,
                    std::int64_t every)
{
  using Memory = typename Exec::memory_space;
  const SomeRows<StrengthKernel> some{{CsrNumbers(A), sets_of(lines)}, A.rows, every};
  const auto                     histograms = allocate_zeros<Kokkos::View<std::int64_t *, Memory>>(
    exec, "ribbon::strength_histograms", lines.size() * strength_bins);
  const std::int64_t threads =
    is_device_space<Exec> ? std::min<std::int64_t>(some.count(), 1 << 15) : some.count();
  Kokkos::parallel_for("ribbon::strength_histograms",
                       indices(exec, threads * static_cast<std::int64_t>(lines.size())),
                       VoteKernel<Memory>{some, histograms, threads});
  const auto                             all = detail::counted(exec, histograms);
  std::vector<std::vector<std::int64_t>> each;
  for (auto from = all.begin(); from != all.end(); from += strength_bins)
    each.emplace_back(from, from + strength_bins);
  return each;
}

template <class Scalar, class Index, class Exec>
std::vector<LinePreference>
line_preferences(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const std::vector<LinePlaces> &lines,
                 const std::vector<LineComparison> &comparisons, double factor, std::int64_t every)
{
  if (comparisons.empty() || comparisons.size() > most_sets_of_lines)
    throw std::invalid_argument("ribbon::line_preferences: one to three comparisons, not " +
                                std::to_string(comparisons.size()));
  const auto found = allocate_zeros<Kokkos::View<std::int64_t *, typename Exec::memory_space>>(
    exec, "ribbon::line_preferences", 2 * comparisons.size());
  PreferenceKernel kernel{CsrNumbers(A),
                          sets_of(lines),
                          static_cast<int>(lines.size()),
                          {},
                          {},
                          static_cast<int>(comparisons.size()),
                          factor,
                          found.data()};
  for (std::size_t c = 0; c < comparisons.size(); ++c) {
    kernel.one[c] = static_cast<int>(comparisons[c].set);
    for (std::size_t other : comparisons[c].others) kernel.others[c] |= 1 << other;
    if (comparisons[c].set >= lines.size() || kernel.others[c] >> lines.size())
      throw std::invalid_argument(
        "ribbon::line_preferences: a comparison names a set of lines that is not there");
  }
  const SomeRows<PreferenceKernel> some{kernel, A.rows, every};
  Kokkos::parallel_for("ribbon::line_preferences", indices(exec, some.count()), some);
  const auto                  all = detail::counted(exec, found);
  std::vector<LinePreference> answers;
  for (std::size_t c = 0; c < comparisons.size(); ++c) answers.push_back({all[2 * c], all[2 * c + 1]});
  return answers;
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                          \
  template std::vector<std::vector<std::int64_t>> strength_histograms(                                       \
    const Exec &, const CsrMatrix<Scalar, Index> &, const std::vector<LinePlaces> &, std::int64_t);          \
  template std::vector<LinePreference> line_preferences(                                                     \
    const Exec &, const CsrMatrix<Scalar, Index> &, const std::vector<LinePlaces> &,                         \
    const std::vector<LineComparison> &, double, std::int64_t);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                         \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
