// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/lines_from_csr.hpp>

#include "algorithms.hpp"

#include <cmath>
#include <limits>
#include <unordered_map>

namespace ribbon {

namespace {

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

/// Position of every unknown in its line: the inverse of a LineSet whose unknowns are 0 .. unknowns - 1.
struct Place {
  std::int64_t line, row;
};
KOKKOS_INLINE_FUNCTION Place place_of(const LineSet &s, std::int64_t k)
{
  // digits of k in the mixed radix of the three strides, largest stride first
  std::int64_t rest = k - s.offset, i = 0, s0 = 0, s1 = 0;
  for (int pass = 0; pass < 3; ++pass) {
    std::int64_t stride = -1;
    int          which  = -1;
    if (pass == 0) stride = s.stride1, which = 2;
    if (s.count1 == 1 && pass == 0) continue;
    if (pass == 1) stride = s.row_stride > s.stride0 ? s.row_stride : s.stride0, which = s.row_stride > s.stride0 ? 0 : 1;
    if (pass == 2) stride = s.row_stride > s.stride0 ? s.stride0 : s.row_stride, which = s.row_stride > s.stride0 ? 1 : 0;
    if (stride == 0) continue;
    const std::int64_t digit = rest / stride;
    rest -= digit * stride;
    if (which == 0) i = digit;
    else if (which == 1) s0 = digit;
    else s1 = digit;
  }
  return {s0 + s1 * s.count0, i};
}

/// Signed distance along its line from unknown k, at place p, to a column; 0 for columns off the line or more than `most` rows away.
/// Where the ends of a line are joined the shorter way counts, of two equally long ones the one inside; `wrapped` tells the other.
template <class Index>
KOKKOS_INLINE_FUNCTION int distance(const LineSet &s, const Place &p, std::int64_t k, Index column, bool wrap, int most, bool &wrapped)
{
  const std::int64_t delta = static_cast<std::int64_t>(column) - k;
  wrapped                  = false;
  if (delta == 0) return 0;
  for (int d = 1; d <= most && d < s.rows; ++d)
    for (int outside = 0; outside <= (wrap ? 1 : 0); ++outside)
      for (int sign = -1; sign <= 1; sign += 2) {
        const std::int64_t i = p.row + sign * d;
        if ((i < 0 || i >= s.rows) != (outside == 1) || delta != (sign * d - outside * sign * s.rows) * s.row_stride) continue;
        wrapped = outside == 1;
        return sign * d;
      }
  return 0;
}

constexpr int look = 8; ///< how far along a line entries are looked for

struct CouplingsReducer {
  std::int64_t                               bandwidth = 0, stored = 0, periodic = 0, stored_periodic = 0, entries = 0, across = 0, too_far = none, no_diagonal = none, not_finite = none;
  KOKKOS_INLINE_FUNCTION static std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
  KOKKOS_INLINE_FUNCTION static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  KOKKOS_INLINE_FUNCTION CouplingsReducer   &operator+=(const CouplingsReducer &o)
  {
    bandwidth       = larger(bandwidth, o.bandwidth);
    stored          = larger(stored, o.stored);
    periodic        = larger(periodic, o.periodic);
    stored_periodic = larger(stored_periodic, o.stored_periodic);
    across          = larger(across, o.across);
    entries += o.entries;
    too_far     = smaller(too_far, o.too_far);
    no_diagonal = smaller(no_diagonal, o.no_diagonal);
    not_finite  = smaller(not_finite, o.not_finite);
    return *this;
  }
};

template <class Scalar, class Index>
struct CouplingsKernel {
  CsrMatrix<Scalar, Index> A;
  LineSet                  lines;
  bool                     wrap;
  KOKKOS_FUNCTION void     operator()(const std::int64_t k, CouplingsReducer &r) const
  {
    const Place p            = place_of(lines, k);
    bool        has_diagonal = false;
    for (Index e = A.row_begin[k]; e < A.row_begin[k + 1]; ++e) {
      const bool diagonal = A.column[e] == k;
      has_diagonal        = has_diagonal || diagonal;
      bool      wrapped;
      const int d = distance(lines, p, k, A.column[e], wrap, look, wrapped), size = d < 0 ? -d : d;
      if (d == 0 && !diagonal) {
        if (A.value[e] != Scalar(0)) r.across = 1;
        continue;
      }
      if (!is_finite(magnitude(A.value[e]))) r.not_finite = CouplingsReducer::smaller(r.not_finite, k);
      if (diagonal) continue;
      ++r.entries;
      if (size > 2) {
        if (A.value[e] != Scalar(0)) r.too_far = CouplingsReducer::smaller(r.too_far, k);
        continue;
      }
      r.stored = CouplingsReducer::larger(r.stored, size);
      if (wrapped) r.stored_periodic = 1;
      if (A.value[e] == Scalar(0)) continue;
      r.bandwidth = CouplingsReducer::larger(r.bandwidth, size);
      if (wrapped) r.periodic = 1;
    }
    if (!has_diagonal) r.no_diagonal = CouplingsReducer::smaller(r.no_diagonal, k);
  }
};

template <class Scalar, class Index, class Memory>
struct StrengthKernel {
  CsrMatrix<Scalar, Index>             A;
  LineSet                              lines;
  bool                                 wrap;
  Kokkos::View<std::int64_t *, Memory> histogram;
  KOKKOS_FUNCTION void                 operator()(const std::int64_t k) const
  {
    const Place p     = place_of(lines, k);
    double      along = 0, diagonal = 0, off = 0;
    for (Index e = A.row_begin[k]; e < A.row_begin[k + 1]; ++e) {
      const double a = static_cast<double>(magnitude(A.value[e]));
      if (A.column[e] == k) {
        diagonal = a;
        continue;
      }
      off += a;
      bool wrapped;
      if (distance(lines, p, k, A.column[e], wrap, 2, wrapped) != 0) along += a;
    }
    if (!(off > 0)) return;
    const double ratio = along / diagonal;
    int          bin   = 0;
    if (ratio > 0 && is_finite(ratio)) {
      const double octaves = 40 + log2(ratio);
      bin                  = octaves < 0 ? 0 : octaves >= 80 ? strength_bins - 1 : static_cast<int>(octaves * 64);
    }
    Kokkos::atomic_fetch_add(&histogram(bin), std::int64_t(1));
  }
};

struct PreferenceReducer {
  std::int64_t                              rows = 0, preferring = 0;
  KOKKOS_INLINE_FUNCTION PreferenceReducer &operator+=(const PreferenceReducer &o)
  {
    rows += o.rows, preferring += o.preferring;
    return *this;
  }
};

/// Counts rows that couple along two sets of lines at all, and those that couple along the other one `factor` times as strongly or more.
template <class Scalar, class Index>
struct PreferenceKernel {
  CsrMatrix<Scalar, Index> A;
  LineSet                  lines, other_lines;
  bool                     wrap, other_wrap;
  double                   factor;
  KOKKOS_FUNCTION void     operator()(const std::int64_t k, PreferenceReducer &r) const
  {
    const Place p = place_of(lines, k), q = place_of(other_lines, k);
    double      along = 0, along_other = 0;
    for (Index e = A.row_begin[k]; e < A.row_begin[k + 1]; ++e) {
      const double a = static_cast<double>(magnitude(A.value[e]));
      bool         wrapped;
      if (distance(lines, p, k, A.column[e], wrap, 2, wrapped) != 0) along += a;
      if (distance(other_lines, q, k, A.column[e], other_wrap, 2, wrapped) != 0) along_other += a;
    }
    if (along + along_other > 0) ++r.rows;
    if (along_other > 0 && along_other >= factor * along) ++r.preferring;
  }
};

/// Runs over the rows on the lines, which need not be all rows of the matrix; the smaller stride runs fastest.
template <class Scalar, class Index, class Values>
struct ExtractKernel {
  CsrMatrix<Scalar, Index> A;
  LineSet                  lines;
  int                      h;
  bool                     periodic;
  Values                   values;
  KOKKOS_FUNCTION void     operator()(const std::int64_t u) const
  {
    const bool         along = lines.row_stride < lines.stride0;
    const Place        p     = along ? Place{u / lines.rows, u % lines.rows} : Place{u % lines.lines(), u / lines.lines()};
    const std::int64_t k     = lines(p.line, p.row);
    for (int d = 0; d <= 2 * h; ++d) values(p.line, p.row, d) = Scalar(0);
    for (Index e = A.row_begin[k]; e < A.row_begin[k + 1]; ++e) {
      bool      wrapped;
      const int d = distance(lines, p, k, A.column[e], periodic, h, wrapped);
      if (d != 0 || A.column[e] == k) values(p.line, p.row, d + h) += A.value[e];
    }
  }
};

KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::uint64_t h, std::uint64_t k)
{
  h ^= k + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}
template <class Real>
KOKKOS_INLINE_FUNCTION std::uint64_t bits_of(Real a)
{
  const double  d    = static_cast<double>(a + Real(0)); // -0 and 0 are the same number
  std::uint64_t u    = 0;
  const char   *from = reinterpret_cast<const char *>(&d);
  char         *to   = reinterpret_cast<char *>(&u);
  for (int k = 0; k < 8; ++k) to[k] = from[k];
  return u;
}
template <class Scalar>
KOKKOS_INLINE_FUNCTION std::uint64_t hash_of(std::uint64_t h, const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return mix(h, bits_of(a));
  else return mix(mix(h, bits_of(a.real())), bits_of(a.imag()));
}

template <class Values, class Memory>
struct HashKernel {
  Values                                values;
  Kokkos::View<std::uint64_t *, Memory> hash;
  KOKKOS_FUNCTION void                  operator()(const std::int64_t l) const
  {
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < values.extent(1); ++i)
      for (std::size_t d = 0; d < values.extent(2); ++d) h = hash_of(h, values(l, i, d));
    hash(l) = h;
  }
};

/// Counts lines that differ from the representative of their class in spite of equal hashes.
template <class Values, class Memory>
struct CompareKernel {
  Values                      values;
  Kokkos::View<int *, Memory> class_of_line, representative;
  KOKKOS_FUNCTION void        operator()(const std::int64_t l, std::int64_t &different) const
  {
    const int r = representative(class_of_line(l));
    for (std::size_t i = 0; i < values.extent(1); ++i)
      for (std::size_t d = 0; d < values.extent(2); ++d)
        if (!(values(l, i, d) == values(r, i, d))) {
          ++different;
          return;
        }
  }
};

template <class Values, class Memory>
struct GatherKernel {
  Values                      from, to;
  Kokkos::View<int *, Memory> representative;
  KOKKOS_FUNCTION void        operator()(const std::int64_t k) const
  {
    const std::int64_t c = k % static_cast<std::int64_t>(to.extent(0)), i = k / static_cast<std::int64_t>(to.extent(0));
    for (std::size_t d = 0; d < from.extent(2); ++d) to(c, i, d) = from(representative(c), i, d);
  }
};

template <class Exec>
auto rows_of(const Exec &exec, std::int64_t n)
{
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n);
}

} // namespace
} // namespace ribbon

template <>
struct Kokkos::reduction_identity<ribbon::CouplingsReducer> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::CouplingsReducer sum() { return ribbon::CouplingsReducer(); }
};
template <>
struct Kokkos::reduction_identity<ribbon::PreferenceReducer> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::PreferenceReducer sum() { return ribbon::PreferenceReducer(); }
};

namespace ribbon {

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
LineCouplings line_couplings(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LineSet &lines, bool wrap)
{
  CouplingsReducer r;
  if (A.rows > 0) Kokkos::parallel_reduce("ribbon::line_couplings", rows_of(exec, A.rows), CouplingsKernel<Scalar, Index>{A, lines, wrap}, Kokkos::Sum<CouplingsReducer>(r));
  exec.fence();
  auto at = [](std::int64_t row) { return row == none ? -1 : row; };
  return {static_cast<int>(r.bandwidth), static_cast<int>(r.stored), r.periodic != 0, r.stored_periodic != 0, r.entries, at(r.too_far), at(r.no_diagonal), at(r.not_finite), r.across != 0 || r.too_far != none};
}

template <class Scalar, class Index, class Exec>
std::vector<std::int64_t> strength_histogram(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LineSet &lines, bool wrap)
{
  using Memory = typename Exec::memory_space;
  Kokkos::View<std::int64_t *, Memory> histogram("ribbon::strength_histogram", strength_bins);
  Kokkos::parallel_for("ribbon::strength_histogram", rows_of(exec, A.rows), StrengthKernel<Scalar, Index, Memory>{A, lines, wrap, histogram});
  exec.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, histogram);
  return std::vector<std::int64_t>(host.data(), host.data() + strength_bins);
}

template <class Scalar, class Index, class Exec>
LinePreference line_preference(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LineSet &lines, bool wrap, const LineSet &other_lines, bool other_wrap, double factor)
{
  PreferenceReducer r;
  if (A.rows > 0) Kokkos::parallel_reduce("ribbon::line_preference", rows_of(exec, A.rows), PreferenceKernel<Scalar, Index>{A, lines, other_lines, wrap, other_wrap, factor}, Kokkos::Sum<PreferenceReducer>(r));
  exec.fence();
  return {r.rows, r.preferring};
}

template <class Scalar, class Index, class Exec>
Bands<Scalar, typename Exec::memory_space> extract_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LineSet &lines, int half_bandwidth, bool periodic)
{
  Bands<Scalar, typename Exec::memory_space> bands;
  using Values   = typename decltype(bands)::values_type;
  bands.periodic = periodic;
  bands.lhs      = Lhs::per_line;
  bands.values   = allocate<Values>(exec, "ribbon::bands", static_cast<std::size_t>(lines.lines()), static_cast<std::size_t>(lines.rows), static_cast<std::size_t>(2 * half_bandwidth + 1));
  Kokkos::parallel_for("ribbon::extract_bands", rows_of(exec, lines.unknowns()), ExtractKernel<Scalar, Index, Values>{A, lines, half_bandwidth, periodic, bands.values});
  return bands;
}

template <class Scalar, class Exec>
SharingResult share(const Exec &exec, Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t most)
{
  using Memory  = typename Exec::memory_space;
  using Values  = typename Bands<Scalar, Memory>::values_type;
  using Classes = Kokkos::View<int *, Memory>;
  SharingResult      result;
  const std::int64_t lines = static_cast<std::int64_t>(bands.values.extent(0));
  if (lines == 0) return result;
  const auto hash = allocate<Kokkos::View<std::uint64_t *, Memory>>(exec, "ribbon::hash", static_cast<std::size_t>(lines));
  Kokkos::parallel_for("ribbon::hash", rows_of(exec, lines), HashKernel<Values, Memory>{bands.values, hash});
  exec.fence();
  const auto                             host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, hash);
  std::unordered_map<std::uint64_t, int> known;
  std::vector<int>                       first_line;
  std::vector<int>                       class_of(static_cast<std::size_t>(lines));
  for (std::int64_t l = 0; l < lines; ++l) {
    const auto found = known.emplace(host(static_cast<std::size_t>(l)), static_cast<int>(first_line.size()));
    if (found.second) first_line.push_back(static_cast<int>(l));
    class_of[static_cast<std::size_t>(l)] = found.first->second;
    if (first_line.size() == 2 && result.first < 0) result.first = first_line[0], result.different = first_line[1];
    if (static_cast<std::int64_t>(first_line.size()) > most && result.first >= 0) return result;
  }
  const Classes classes = upload(exec, "ribbon::class_of_line", class_of), representative = upload(exec, "ribbon::representative", first_line);
  std::int64_t  different = 0;
  Kokkos::parallel_reduce("ribbon::compare", rows_of(exec, lines), CompareKernel<Values, Memory>{bands.values, classes, representative}, Kokkos::Sum<std::int64_t>(different));
  exec.fence();
  if (different > 0) return result; // NaN, or two matrices with one hash: keep a matrix per line
  const auto distinct = allocate<Values>(exec, "ribbon::bands", first_line.size(), bands.values.extent(1), bands.values.extent(2));
  Kokkos::parallel_for("ribbon::gather", rows_of(exec, static_cast<std::int64_t>(first_line.size() * bands.values.extent(1))), GatherKernel<Values, Memory>{bands.values, distinct, representative});
  exec.fence();
  result.classes = static_cast<std::int64_t>(first_line.size());
  bands.values   = distinct;
  bands.lhs      = result.classes == 1 ? Lhs::shared : Lhs::classes;
  if (result.classes > 1) bands.class_of_line = classes;
  return result;
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                                                                                                                                        \
  template LineCouplings                              line_couplings(const Exec &, const CsrMatrix<Scalar, Index> &, const LineSet &, bool);                                                                               \
  template std::vector<std::int64_t>                  strength_histogram(const Exec &, const CsrMatrix<Scalar, Index> &, const LineSet &, bool);                                                                           \
  template LinePreference                             line_preference(const Exec &, const CsrMatrix<Scalar, Index> &, const LineSet &, bool, const LineSet &, bool, double);                                               \
  template Bands<Scalar, typename Exec::memory_space> extract_bands(const Exec &, const CsrMatrix<Scalar, Index> &, const LineSet &, int, bool);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                                                                                                                                   \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                                                                                                                                       \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)                                                                                                                                                                       \
  template SharingResult share(const Exec &, Bands<Scalar, typename Exec::memory_space> &, std::int64_t);

RIBBON_INSTANTIATE(float, Kokkos::DefaultHostExecutionSpace)
RIBBON_INSTANTIATE(double, Kokkos::DefaultHostExecutionSpace)
RIBBON_INSTANTIATE(Kokkos::complex<double>, Kokkos::DefaultHostExecutionSpace)
#ifdef RIBBON_HAS_DEVICE
RIBBON_INSTANTIATE(float, Kokkos::DefaultExecutionSpace)
RIBBON_INSTANTIATE(double, Kokkos::DefaultExecutionSpace)
RIBBON_INSTANTIATE(Kokkos::complex<double>, Kokkos::DefaultExecutionSpace)
#endif

} // namespace ribbon
