// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/lines_from_csr.hpp>
#include <ribbon/matrix/refresh_bands.hpp>

#include "counters.hpp"
#include "couplings.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
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

/// One element of uniform_runs().
struct RunsKernel {
  AnyIndices   row_begin, column;
  std::int64_t elements, components, length, far;
  /// [0] = 1: the runs are different, or entries are off them. [1] = 1: an entry closes a run to a ring.
  /// [2], [3]: 1 + an element of the first and of the last run with such an entry
  std::int64_t *found;

  KOKKOS_INLINE_FUNCTION std::int64_t element(std::int64_t k) const
  {
    return components == 1 ? column[k] : column[k] / components;
  }
  /// Whether an entry couples element e with the element before it.
  KOKKOS_INLINE_FUNCTION bool leads_back(std::int64_t e) const
  {
    for (std::int64_t k = row_begin[e * components]; k < row_begin[(e + 1) * components]; ++k) {
      const std::int64_t c = element(k);
      if (c < e && e - c <= far) return true;
    }
    return false;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t e) const { look(e, e - e % length); }
  /// Examines element e of the run that begins with element `begin`.
  KOKKOS_INLINE_FUNCTION void look(const std::int64_t e, const std::int64_t begin) const
  {
    const std::int64_t end   = begin + length;
    bool               right = false, off = false;
    for (std::int64_t k = row_begin[e * components]; k < row_begin[(e + 1) * components]; ++k) {
      const std::int64_t c = element(k), size = c < e ? e - c : c - e;
      const bool         inside = c >= begin && c < end;
      if (size <= far) off = off || !inside, right = right || c > e;
      else if (inside && length - size <= far) close(e);
      else off = true;
    }
    if (off || (e + 1 < end && !right && !leads_back(e + 1))) found[0] = 1;
  }
  KOKKOS_INLINE_FUNCTION void close(std::int64_t e) const
  {
    found[1] = 1;
    if (e < length) found[2] = 1 + e;
    if (e >= elements - length) found[3] = 1 + e;
  }
};

/// All elements of a run: saves a division per element on a host.
struct WholeRunsKernel {
  RunsKernel           elements;
  KOKKOS_FUNCTION void operator()(const std::int64_t run) const
  {
    const std::int64_t begin = run * elements.length;
    for (std::int64_t e = begin; e < begin + elements.length; ++e) elements.look(e, begin);
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

/// A kernel over one row of `every`, at a pseudo-random place among these. Equal distances would always
/// select the same column of a grid.
template <class Kernel>
struct SomeRows {
  Kernel                 kernel;
  std::int64_t           rows, every;
  KOKKOS_INLINE_FUNCTION std::int64_t row(std::int64_t i) const
  {
    const std::int64_t k =
      i * every + static_cast<std::int64_t>((static_cast<std::uint64_t>(i) * 2654435761u >> 8) %
                                            static_cast<std::uint64_t>(every));
    return k < rows ? k : rows - 1;
  }
  KOKKOS_FUNCTION void   operator()(const std::int64_t i) const { kernel(row(i)); }
  KOKKOS_FUNCTION void   operator()(const std::int64_t i, CouplingsReducer &r) const { kernel(row(i), r); }
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return (rows + every - 1) / every; }
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

/// Runs over the places on the lines, a subset of the places of the matrix; the smaller stride runs
/// fastest.
template <class Scalar, class Values>
struct ExtractKernel {
  AnyCsrMatrix<Scalar> A;
  LinePlaces           lines;
  int                  h;
  Values               values;
  KOKKOS_FUNCTION void operator()(const std::int64_t u) const
  {
    const LineSet     &s     = lines.lines;
    const bool         along = s.row_stride < s.stride0;
    const std::int64_t n = along ? s.rows : s.lines(), q = quotient(u, n), rest = u - q * n;
    const Place        p = along ? Place{q, rest} : Place{rest, q};
    const std::int64_t k = s(p.line, p.row), element = lines.element ? lines.element[k] : k;
    const int          B = lines.components;
    for (int d = 0; d < (2 * h + 1) * B * B; ++d)
      values(p.line, p.row, d) =
        Scalar(element < 0 && d / (B * B) == h && d % (B + 1) == (h * B * B) % (B + 1) ? 1 : 0);
    if (element < 0) return;
    for (int a = 0; a < B; ++a)
      for (std::int64_t e = A.row_begin[element * B + a]; e < A.row_begin[element * B + a + 1]; ++e) {
        const std::int64_t c = A.column[e] / B, other = lines.place ? lines.place[c] : c;
        bool               wrapped;
        const int          d =
          other >= 0 && lines.same_line(k, other) ? distance(s, p, k, other, lines.wrap, h, wrapped) : 0;
        if (d != 0 || other == k)
          values(p.line, p.row, ((d + h) * B + a) * B + static_cast<int>(A.column[e] % B)) += A.value[e];
      }
  }
};

/// The same for lines of single unknowns at the places of a table, on a host: all lines of one packed row.
/// The distance of two places on a line is a multiple of the stride of rows.
template <class Scalar, class Index, class Values>
struct ExtractPackedRow {
  CsrMatrix<Scalar, Index> A;
  LinePlaces               lines;
  int                      h;
  Values                   values;

  static bool takes(const LinePlaces &lines, int h)
  {
    return lines.place && lines.element && lines.part && !lines.wrap && lines.components == 1 &&
           lines.lines.row_stride > 0 && h <= largest_half_bandwidth;
  }
  void operator()(const std::int64_t i) const
  {
    const LineSet &s = lines.lines;
    Scalar         band[2 * largest_half_bandwidth + 1];
    for (std::int64_t l = 0, n = s.lines(); l < n; ++l) {
      const std::int64_t k = s(l, i), row = lines.element[k];
      for (int d = 0; d <= 2 * h; ++d) band[d] = Scalar(0);
      if (row < 0) band[h] = Scalar(1);
      else add(k, row, band + h);
      for (int d = 0; d <= 2 * h; ++d) values(l, i, d) = band[d];
    }
  }

private:
  void add(std::int64_t k, std::int64_t row, Scalar *diagonal) const
  {
    const std::int64_t stride = lines.lines.row_stride, part = lines.part[k];
    for (Index e = A.row_begin[row]; e < A.row_begin[row + 1]; ++e) {
      const std::int64_t other = lines.place[A.column[e]];
      if (other < 0 || lines.part[other] != part) continue;
      const std::int64_t delta = other - k, size = delta < 0 ? -delta : delta;
      if (size > h * stride) continue;
      const std::int64_t d = size == 0 ? 0 : size == stride ? 1 : quotient(size, stride);
      diagonal[delta < 0 ? -d : d] += A.value[e];
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
LineCouplings line_couplings(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines,
                             std::int64_t every)
{
  CouplingsReducer                    r;
  const SomeRows<CouplingsKernel>     some{{CsrNumbers(A), lines}, A.rows, every};
  const Kokkos::Sum<CouplingsReducer> sum(r);
  const bool                          whole = every == 1 && !lines.place && !lines.part;
  if (A.rows == 0) return {};
  if (is_device_space<Exec> || !whole)
    Kokkos::parallel_reduce("ribbon::line_couplings", indices(exec, some.count()), some, sum);
  else if constexpr (!is_device_space<Exec>) {
    const CouplingsOfHost<Scalar, Index> rows{A, some.kernel};
    Kokkos::parallel_reduce("ribbon::line_couplings", indices(exec, rows.tasks()), rows, sum);
  }
  exec.fence();
  auto at = [](std::int64_t row) { return row == CouplingsReducer::none ? -1 : row; };
  return {static_cast<int>(r.bandwidth),
          static_cast<int>(r.stored),
          r.periodic != 0,
          r.stored_periodic != 0,
          r.entries,
          at(r.too_far),
          at(r.no_diagonal),
          at(r.not_finite),
          r.across != 0,
          at(r.component),
          r.zero_sums != 0};
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

template <class Scalar, class Index, class Exec>
UniformRuns uniform_runs(const Exec &exec, const CsrMatrix<Scalar, Index> &A, int components,
                         std::int64_t length, int far)
{
  const AnyCsrMatrix<Scalar> any(A);
  const std::int64_t         elements = A.rows / components;
  const auto found = allocate_zeros<Kokkos::View<std::int64_t *, typename Exec::memory_space>>(
    exec, "ribbon::uniform_runs", 4);
  const RunsKernel kernel{any.row_begin, any.column, elements, components, length, far, found.data()};
  if constexpr (is_device_space<Exec>)
    Kokkos::parallel_for("ribbon::uniform_runs", indices(exec, elements), kernel);
  else
    Kokkos::parallel_for("ribbon::uniform_runs", indices(exec, length > 0 ? elements / length : 0),
                         WholeRunsKernel{kernel});
  const auto host = detail::counted(exec, found);
  return {host[0] == 0, host[1] != 0, host[2] - 1, host[3] - 1};
}

template <class Scalar, class Index, class Exec>
Bands<Scalar, typename Exec::memory_space> extract_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A,
                                                         const LinePlaces &lines, int half_bandwidth)
{
  Bands<Scalar, typename Exec::memory_space> bands;
  using Values     = typename decltype(bands)::values_type;
  const LineSet &s = lines.lines;
  bands.periodic   = lines.wrap;
  bands.lhs        = Lhs::per_line;
  bands.block      = lines.components;
  bands.values     = allocate<Values>(
    exec, "ribbon::bands", static_cast<std::size_t>(s.lines()), static_cast<std::size_t>(s.rows),
    static_cast<std::size_t>((2 * half_bandwidth + 1) * lines.components * lines.components));
  if constexpr (!is_device_space<Exec>) {
    using Packed = ExtractPackedRow<Scalar, Index, Values>;
    if (Packed::takes(lines, half_bandwidth)) {
      Kokkos::parallel_for("ribbon::extract_bands", indices(exec, s.rows),
                           Packed{A, lines, half_bandwidth, bands.values});
      return bands;
    }
  }
  if (lines.place || lines.part)
    Kokkos::parallel_for(
      "ribbon::extract_bands", indices(exec, s.unknowns()),
      ExtractKernel<Scalar, Values>{AnyCsrMatrix<Scalar>(A), lines, half_bandwidth, bands.values});
  else {
    RefreshPlan<typename Exec::memory_space> plan;
    refresh_bands(exec, A, lines, plan, bands);
  }
  return bands;
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                          \
  template LineCouplings line_couplings(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &,  \
                                        std::int64_t);                                                       \
  template std::vector<std::vector<std::int64_t>> strength_histograms(                                       \
    const Exec &, const CsrMatrix<Scalar, Index> &, const std::vector<LinePlaces> &, std::int64_t);          \
  template UniformRuns uniform_runs(const Exec &, const CsrMatrix<Scalar, Index> &, int, std::int64_t, int); \
  template std::vector<LinePreference> line_preferences(                                                     \
    const Exec &, const CsrMatrix<Scalar, Index> &, const std::vector<LinePlaces> &,                         \
    const std::vector<LineComparison> &, double, std::int64_t);                                              \
  template Bands<Scalar, typename Exec::memory_space> extract_bands(                                         \
    const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &, int);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                         \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
