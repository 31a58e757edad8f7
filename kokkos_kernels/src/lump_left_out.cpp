// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/matrix/lump_left_out.hpp>

#include "instantiate.hpp"
#include "row_on_lines.hpp"

namespace ribbon {

namespace {

/// One place of the lines.
template <class Scalar, class Values>
struct LumpKernel {
  AnyCsrMatrix<Scalar> A;
  LinePlaces           lines;
  int                  h;
  Values               values;
  std::int64_t        *count;

  /// Whether an entry is on the line of place k, which is p, and out of the bands.
  KOKKOS_INLINE_FUNCTION bool is_left_out(const Place &p, std::int64_t k, std::int64_t column) const
  {
    const std::int64_t element = column / lines.components,
                       other   = lines.place ? lines.place[element] : element;
    bool wrapped;
    return other >= 0 && other != k && lines.same_line(k, other) &&
           place_of(lines.lines, other).line == p.line &&
           distance(lines.lines, p, k, other, lines.wrap, h, wrapped) == 0;
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t u) const
  {
    const LineSet     &s     = lines.lines;
    const bool         along = s.row_stride < s.stride0;
    const Place        p     = along ? Place{u / s.rows, u % s.rows} : Place{u % s.lines(), u / s.lines()};
    const std::int64_t k = s(p.line, p.row), element = lines.element ? lines.element[k] : k;
    const int          B     = lines.components;
    std::int64_t       found = 0;
    if (element < 0) return;
    for (int a = 0; a < B; ++a) {
      const std::int64_t row = element * B + a;
      real_t<Scalar>     sum = 0;
      for (std::int64_t e = A.row_begin[row]; e < A.row_begin[row + 1]; ++e) {
        const real_t<Scalar> size = magnitude(A.value[e]);
        if (size == 0 || !is_left_out(p, k, A.column[e])) continue;
        sum += size, ++found;
      }
      if (sum == 0) continue;
      Scalar              &diagonal = values(p.line, p.row, (h * B + a) * B + a);
      const real_t<Scalar> size     = magnitude(diagonal);
      diagonal += size > 0 ? diagonal * (sum / size) : Scalar(sum);
    }
    if (found > 0) Kokkos::atomic_fetch_add(count, found);
  }
};

} // namespace

template <class Scalar, class Index, class Exec>
std::int64_t lump_left_out(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines,
                           const Bands<Scalar, typename Exec::memory_space> &bands)
{
  using Values     = typename Bands<Scalar, typename Exec::memory_space>::values_type;
  const auto count = allocate_zeros<Kokkos::View<std::int64_t *, typename Exec::memory_space>>(
    exec, "ribbon::lump_left_out", 1);
  std::int64_t found = 0;
  Kokkos::parallel_for(
    "ribbon::lump_left_out", indices(exec, lines.lines.unknowns()),
    LumpKernel<Scalar, Values>{AnyCsrMatrix<Scalar>(A), lines, bands.kl(), bands.values, count.data()});
  Kokkos::deep_copy(
    exec, Kokkos::View<std::int64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&found, 1),
    count);
  exec.fence();
  return found;
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                          \
  template std::int64_t lump_left_out(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &,    \
                                      const Bands<Scalar, typename Exec::memory_space> &);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                         \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
