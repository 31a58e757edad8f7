// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/lines_from_csr.hpp>
#include <ribbon/matrix/refresh_bands.hpp>

#include "counters.hpp"
#include "couplings.hpp"
#include "instantiate.hpp"
#include "some_rows.hpp"

#include <algorithm>

namespace ribbon {

namespace {

/// One element of uniform_runs().
struct RunsKernel {
  AnyIndices   row_begin, column;
  std::int64_t elements, components, length, far;
  /// [0] = 1: the runs are different, or entries are off them; the others are then not complete. [1] = 1: an
  /// entry closes a run to a ring.
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
  KOKKOS_FUNCTION void operator()(const std::int64_t e) const
  {
    if (found[0] == 0) look(e, e - e % length);
  }
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
    for (std::int64_t e = begin; e < begin + elements.length && elements.found[0] == 0; ++e)
      elements.look(e, begin);
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
        const int          d = other >= 0 ? distance(s, p, k, other, lines.wrap, h, wrapped) : 0;
        if ((d != 0 && lines.same_line(k, other)) || other == k)
          values(p.line, p.row, ((d + h) * B + a) * B + static_cast<int>(A.column[e] % B)) += A.value[e];
      }
  }
};

/// Whether extract_packed() supports these lines: packed, of single unknowns, not periodic.
bool is_packed(const LinePlaces &lines)
{
  return lines.place && lines.element && lines.part && !lines.wrap && lines.components == 1 &&
         lines.lines.row_stride > 0;
}

/// Extracts packed lines on a host. In the order of the matrix, neighbouring rows are close in memory; in the order of
/// lines each would miss the cache. So bands of rows come first; then each place copies the band of its row.
template <class Scalar, class Index, class Exec, class Values>
void extract_packed(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, int h,
                    const Values &values)
{
  using Memory             = typename Exec::memory_space;
  const std::int64_t width = 2 * h + 1, stride = lines.lines.row_stride;
  const auto         run = [&exec](std::int64_t n, const auto &f) {
    Kokkos::parallel_for("ribbon::extract_bands", indices(exec, n), f);
  };
  const auto rows = static_cast<std::size_t>(A.rows);
  const auto line = allocate<Kokkos::View<Index *, Memory>>(exec, "ribbon::extract_bands", rows);
  const auto band = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::extract_bands",
                                                             rows * static_cast<std::size_t>(width));
  run(A.rows, [=](std::int64_t row) {
    const std::int64_t k = lines.place[row];
    line[row]            = k < 0 ? Index(-1) : static_cast<Index>(lines.part[k]);
  });
  run(A.rows, [=](std::int64_t row) {
    const std::int64_t k = lines.place[row];
    if (k < 0) return; // on no line
    Scalar *const diagonal = band.data() + row * width + h;
    for (std::int64_t d = -h; d <= h; ++d) diagonal[d] = Scalar(0);
    for (Index e = A.row_begin[row]; e < A.row_begin[row + 1]; ++e) {
      const Index column = A.column[e];
      if (line[column] != line[row]) continue;
      const std::int64_t delta = lines.place[column] - k, far = delta < 0 ? -delta : delta;
      if (far > h * stride) continue;
      const std::int64_t d = far == 0 ? 0 : far == stride ? 1 : quotient(far, stride);
      diagonal[delta < 0 ? -d : d] += A.value[e];
    }
  });
  run(lines.lines.rows, [=](std::int64_t i) {
    for (std::int64_t l = 0, n = lines.lines.lines(); l < n; ++l) {
      const std::int64_t row = lines.element[lines.lines(l, i)];
      for (std::int64_t d = 0; d < width; ++d)
        values(l, i, d) = row >= 0 ? band[row * width + d] : Scalar(d == h ? 1 : 0);
    }
  });
  exec.fence();
}

} // namespace

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
  if constexpr (!is_device_space<Exec>)
    if (is_packed(lines)) {
      extract_packed(exec, A, lines, half_bandwidth, bands.values);
      return bands;
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

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                            \
  template LineCouplings line_couplings(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &,    \
                                        std::int64_t);                                                         \
  template UniformRuns   uniform_runs(const Exec &, const CsrMatrix<Scalar, Index> &, int, std::int64_t, int); \
  template Bands<Scalar, typename Exec::memory_space> extract_bands(                                           \
    const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &, int);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                         \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
