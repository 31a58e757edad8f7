// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/lines_from_csr.hpp>
#include <ribbon/matrix/refresh_bands.hpp>

#include "couplings.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace ribbon {

namespace {

/// The bin of a row in the histogram of strengths.
struct StrengthKernel {
  CsrNumbers A;
  LinePlaces lines;
  /// -1: the row couples with none.
  KOKKOS_FUNCTION int bin_of(const std::int64_t k) const
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
  AnyIndices    row_begin, column;
  std::int64_t  elements, components, length, far;
  std::int64_t *found; ///< 1: other runs, or entries off them; 1: rings; 1 + an element of the first, of the last run that closes one

  KOKKOS_INLINE_FUNCTION std::int64_t element(std::int64_t k) const { return components == 1 ? column[k] : column[k] / components; }
  /// Whether an entry of element e leads to the one before.
  KOKKOS_INLINE_FUNCTION bool leads_back(std::int64_t e) const
  {
    for (std::int64_t k = row_begin[e * components]; k < row_begin[(e + 1) * components]; ++k) {
      const std::int64_t c = element(k);
      if (c < e && e - c <= far) return true;
    }
    return false;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t e) const { look(e, e - e % length); }
  /// At an element of the run that begins with element `begin`.
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

/// All elements of a run: on a host, a division for each would take a third of the time.
struct WholeRunsKernel {
  RunsKernel           elements;
  KOKKOS_FUNCTION void operator()(const std::int64_t run) const
  {
    const std::int64_t begin = run * elements.length;
    for (std::int64_t e = begin; e < begin + elements.length; ++e) elements.look(e, begin);
  }
};

/// Counts rows that couple along some of the sets of lines at all, and those that couple along the first one `factor` times as strongly as along each of the others. The sets are in the
/// memory of the kernel: Kokkos sends functors of more than 512 bytes to a device through constant memory. By atomics: where several pairs of ranks shared an H200 (CUDA MPS), solves after a parallel_reduce (Kokkos
/// 4.6.99) of two numbers, whatever it summed, had wrong numbers at times, PETSc's own, too.
struct PreferenceKernel {
  CsrNumbers             A;
  const LinePlaces      *lines;
  int                    count; ///< of all sets
  double                 factor;
  std::int64_t          *rows, *preferring;
  KOKKOS_FUNCTION double along(const LinePlaces &places, const std::int64_t k) const
  {
    const RowOnLines row(places, k);
    double           sum = places.outside ? places.outside[k] : 0;
    for (std::int64_t e = A.row_begin[k]; e < A.row_begin[k + 1]; ++e)
      if (row.to(A.column[e]).distance != 0) sum += A.value.size(e);
    return sum;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const double along_other = along(lines[0], k);
    double       most        = 0;
    for (int s = 1; s < count; ++s) {
      const double sum = along(lines[s], k);
      most             = sum > most ? sum : most;
    }
    if (most + along_other > 0) Kokkos::atomic_fetch_add(rows, std::int64_t(1));
    if (along_other > 0 && along_other >= factor * most) Kokkos::atomic_fetch_add(preferring, std::int64_t(1));
  }
};

/// A kernel over one row of `every`, anywhere among these: equal distances would meet the same column of a grid again and again.
template <class Kernel>
struct SomeRows {
  Kernel                      kernel;
  std::int64_t                rows, every;
  KOKKOS_INLINE_FUNCTION std::int64_t row(std::int64_t i) const
  {
    const std::int64_t k = i * every + static_cast<std::int64_t>((static_cast<std::uint64_t>(i) * 2654435761u >> 8) % static_cast<std::uint64_t>(every));
    return k < rows ? k : rows - 1;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t i) const { kernel(row(i)); }
  KOKKOS_FUNCTION void operator()(const std::int64_t i, CouplingsReducer &r) const { kernel(row(i), r); }
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return (rows + every - 1) / every; }
};

/// Votes of some rows: a thread takes every `threads`-th. Neighbours have the same bin, mostly: few atomics.
template <class Memory>
struct VoteKernel {
  SomeRows<StrengthKernel>             some;
  Kokkos::View<std::int64_t *, Memory> histogram;
  std::int64_t                         threads;
  KOKKOS_FUNCTION void                 operator()(const std::int64_t t) const
  {
    int          last  = -1;
    std::int64_t count = 0;
    for (std::int64_t i = t; i < some.count(); i += threads) {
      const int bin = some.kernel.bin_of(some.row(i));
      if (bin < 0) continue;
      if (bin != last && count > 0) Kokkos::atomic_fetch_add(&histogram(last), count);
      count = bin == last ? count + 1 : 1, last = bin;
    }
    if (count > 0) Kokkos::atomic_fetch_add(&histogram(last), count);
  }
};

/// Runs over the places on the lines, which need not be all of the matrix; the smaller stride runs fastest.
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
    const Place        p     = along ? Place{u / s.rows, u % s.rows} : Place{u % s.lines(), u / s.lines()};
    const std::int64_t k = s(p.line, p.row), element = lines.element ? lines.element[k] : k;
    const int          B = lines.components;
    for (int d = 0; d < (2 * h + 1) * B * B; ++d) values(p.line, p.row, d) = Scalar(element < 0 && d / (B * B) == h && d % (B + 1) == (h * B * B) % (B + 1) ? 1 : 0);
    if (element < 0) return;
    for (int a = 0; a < B; ++a)
      for (std::int64_t e = A.row_begin[element * B + a]; e < A.row_begin[element * B + a + 1]; ++e) {
        const std::int64_t c = A.column[e] / B, other = lines.place ? lines.place[c] : c;
        bool               wrapped;
        const int          d = other >= 0 && lines.same_line(k, other) ? distance(s, p, k, other, lines.wrap, h, wrapped) : 0;
        if (d != 0 || other == k) values(p.line, p.row, ((d + h) * B + a) * B + static_cast<int>(A.column[e] % B)) += A.value[e];
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
LineCouplings line_couplings(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, std::int64_t every)
{
  CouplingsReducer                r;
  const SomeRows<CouplingsKernel> some{{CsrNumbers(A), lines}, A.rows, every};
  const Kokkos::Sum<CouplingsReducer> sum(r);
  const bool                          whole = every == 1 && !lines.place && !lines.part;
  if (A.rows == 0) return {};
  if (is_device_space<Exec> || !whole) Kokkos::parallel_reduce("ribbon::line_couplings", indices(exec, some.count()), some, sum);
  else if constexpr (!is_device_space<Exec>) {
    const CouplingsOfHost<Scalar, Index> rows{A, some.kernel};
    Kokkos::parallel_reduce("ribbon::line_couplings", indices(exec, rows.tasks()), rows, sum);
  }
  exec.fence();
  auto at = [](std::int64_t row) { return row == CouplingsReducer::none ? -1 : row; };
  return {
    static_cast<int>(r.bandwidth), static_cast<int>(r.stored), r.periodic != 0, r.stored_periodic != 0, r.entries, at(r.too_far), at(r.no_diagonal), at(r.not_finite), r.across != 0, at(r.component), r.zero_sums != 0};
}

template <class Scalar, class Index, class Exec>
std::vector<std::int64_t> strength_histogram(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, std::int64_t every)
{
  using Memory         = typename Exec::memory_space;
  const auto histogram = allocate_zeros<Kokkos::View<std::int64_t *, Memory>>(exec, "ribbon::strength_histogram", strength_bins);
  const SomeRows<StrengthKernel> some{{CsrNumbers(A), lines}, A.rows, every};
  const std::int64_t             threads = is_device_space<Exec> ? std::min<std::int64_t>(some.count(), 1 << 15) : some.count();
  Kokkos::parallel_for("ribbon::strength_histogram", indices(exec, threads), VoteKernel<Memory>{some, histogram, threads});
  std::vector<std::int64_t> found(strength_bins);
  Kokkos::deep_copy(exec, Kokkos::View<std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(found.data(), found.size()), histogram);
  exec.fence();
  return found;
}

template <class Scalar, class Index, class Exec>
LinePreference line_preference(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const std::vector<LinePlaces> &lines, const LinePlaces &other_lines, double factor, std::int64_t every)
{
  static_assert(std::is_trivially_copyable_v<LinePlaces> && sizeof(LinePlaces) % sizeof(std::int64_t) == 0, "copied as words");
  constexpr std::size_t words = sizeof(LinePlaces) / sizeof(std::int64_t);
  if (lines.empty() || lines.size() > 2) throw std::invalid_argument("ribbon::line_preference: one or two sets of lines beside the other one, not " + std::to_string(lines.size()));
  std::vector<std::int64_t> all((1 + lines.size()) * words + 2, 0); // and two counts
  std::memcpy(all.data(), &other_lines, sizeof other_lines);
  std::memcpy(all.data() + words, lines.data(), lines.size() * sizeof(LinePlaces));
  const auto             there  = upload(exec, "ribbon::line_preference", all);
  std::int64_t *const    counts = there.data() + all.size() - 2;
  const PreferenceKernel kernel{CsrNumbers(A), reinterpret_cast<const LinePlaces *>(there.data()), static_cast<int>(1 + lines.size()), factor, counts, counts + 1};
  const SomeRows<PreferenceKernel> some{kernel, A.rows, every};
  Kokkos::parallel_for("ribbon::line_preference", indices(exec, some.count()), some);
  Kokkos::deep_copy(exec, Kokkos::View<std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(all.data(), all.size()), there);
  exec.fence();
  return {all[all.size() - 2], all[all.size() - 1]};
}

template <class Scalar, class Index, class Exec>
UniformRuns uniform_runs(const Exec &exec, const CsrMatrix<Scalar, Index> &A, int components, std::int64_t length, int far)
{
  const AnyCsrMatrix<Scalar> any(A);
  const std::int64_t         elements = A.rows / components;
  const auto                 found = allocate_zeros<Kokkos::View<std::int64_t *, typename Exec::memory_space>>(exec, "ribbon::uniform_runs", 4);
  const RunsKernel           kernel{any.row_begin, any.column, elements, components, length, far, found.data()};
  if constexpr (is_device_space<Exec>) Kokkos::parallel_for("ribbon::uniform_runs", indices(exec, elements), kernel);
  else Kokkos::parallel_for("ribbon::uniform_runs", indices(exec, length > 0 ? elements / length : 0), WholeRunsKernel{kernel});
  std::int64_t host[4];
  Kokkos::deep_copy(exec, Kokkos::View<std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(host, 4), found);
  exec.fence();
  return {host[0] == 0, host[1] != 0, host[2] - 1, host[3] - 1};
}

template <class Scalar, class Index, class Exec>
Bands<Scalar, typename Exec::memory_space> extract_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, int half_bandwidth)
{
  Bands<Scalar, typename Exec::memory_space> bands;
  using Values     = typename decltype(bands)::values_type;
  const LineSet &s = lines.lines;
  bands.periodic   = lines.wrap;
  bands.lhs        = Lhs::per_line;
  bands.block      = lines.components;
  bands.values = allocate<Values>(exec, "ribbon::bands", static_cast<std::size_t>(s.lines()), static_cast<std::size_t>(s.rows), static_cast<std::size_t>((2 * half_bandwidth + 1) * lines.components * lines.components));
  if (lines.place || lines.part) Kokkos::parallel_for("ribbon::extract_bands", indices(exec, s.unknowns()), ExtractKernel<Scalar, Values>{AnyCsrMatrix<Scalar>(A), lines, half_bandwidth, bands.values});
  else {
    RefreshPlan<typename Exec::memory_space> plan;
    refresh_bands(exec, A, lines, plan, bands);
  }
  return bands;
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                                                                                                                                        \
  template LineCouplings                              line_couplings(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &, std::int64_t);                                                                                  \
  template std::vector<std::int64_t>                  strength_histogram(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &, std::int64_t);                                                                              \
  template UniformRuns                                uniform_runs(const Exec &, const CsrMatrix<Scalar, Index> &, int, std::int64_t, int);                                                                              \
  template LinePreference                             line_preference(const Exec &, const CsrMatrix<Scalar, Index> &, const std::vector<LinePlaces> &, const LinePlaces &, double, std::int64_t);                                        \
  template Bands<Scalar, typename Exec::memory_space> extract_bands(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &, int);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                                                                                                                                   \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                                                                                                                                       \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
