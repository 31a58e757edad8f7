// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/refresh_bands.hpp>

#include "instantiate.hpp"

#include <algorithm>
#include <stdexcept>

namespace ribbon {

namespace {

/// What is found is a bit each.
enum Finding { found_across = 1, found_beyond = 2, found_not_finite = 4, found_differ = 8, found_reach = 16, found_wrapped = 32 };

template <class Scalar, class Memory>
struct RefreshKernel {
  struct Each { };    ///< a matrix for every line
  struct Shared { };  ///< the matrices of lines that share
  struct Compare { }; ///< all lines with these

  static constexpr int most = 2 * largest_half_bandwidth + 1;
  using Values              = typename Bands<Scalar, Memory>::values_type;

  AnyCsrMatrix<Scalar> A;
  LineSet              lines;
  bool                 wrap;
  int                  h;
  Values               values;
  const int           *class_of_line; ///< null: all lines have matrix 0
  const std::int64_t  *first;         ///< a line of each class
  int                 *found; ///< bits of Finding

  /// The 2 h + 1 diagonals of row k of the matrix, which is row `row` of a line; returns what it found.
  KOKKOS_INLINE_FUNCTION int read(std::int64_t k, std::int64_t row, Scalar (&v)[most]) const
  {
    const std::int64_t begin = A.row_begin[k], end = A.row_begin[k + 1];
    if (end - begin == 2 * h + 1 && row >= h && row + h < lines.rows) { // a line by itself: half of the time
      bool straight = true;
      for (int d = 0; d <= 2 * h; ++d) {
        v[d]     = A.value[begin + d];
        straight = straight && A.column[begin + d] - k == (d - h) * lines.row_stride && v[d] - v[d] == Scalar(0);
      }
      if (straight) return v[0] != Scalar(0) || v[2 * h] != Scalar(0) ? found_reach : 0;
    }
    int what = 0;
    for (int d = 0; d <= 2 * h; ++d) v[d] = Scalar(0);
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int64_t delta = A.column[e] - k, q = lines.row_stride == 1 ? delta : delta / lines.row_stride;
      const bool         on_line = q * lines.row_stride == delta && row + q >= 0 && row + q < lines.rows;
      std::int64_t       d = q;
      if (wrap && on_line && 2 * (q < 0 ? -q : q) > lines.rows) d = q < 0 ? q + lines.rows : q - lines.rows; // the shorter way
      const Scalar a = A.value[e];
      if (on_line && d >= -h && d <= h) {
        v[d + h] += a;
        if (!(a - a == Scalar(0))) what |= found_not_finite;
        if (a != Scalar(0)) what |= (d == h || d == -h ? found_reach : 0) | (d != q ? found_wrapped : 0);
      } else if (a != Scalar(0)) what |= on_line ? found_beyond : found_across;
    }
    return what;
  }
  KOKKOS_INLINE_FUNCTION void place(std::int64_t u, std::int64_t count, std::int64_t &line, std::int64_t &row) const
  {
    const bool along = lines.row_stride < lines.stride0;
    line = along ? u / lines.rows : u % count, row = along ? u % lines.rows : u / count;
  }
  KOKKOS_FUNCTION void operator()(Each, const std::int64_t u) const
  {
    std::int64_t line, row;
    Scalar       v[most] = {};
    place(u, lines.lines(), line, row);
    note(read(lines(line, row), row, v));
    for (int d = 0; d <= 2 * h; ++d) values(line, row, d) = v[d];
  }
  KOKKOS_FUNCTION void operator()(Shared, const std::int64_t u) const
  {
    const std::int64_t c = u / lines.rows, row = u % lines.rows;
    Scalar             v[most] = {};
    read(lines(class_of_line ? first[c] : 0, row), row, v);
    for (int d = 0; d <= 2 * h; ++d) values(c, row, d) = v[d];
  }
  KOKKOS_FUNCTION void operator()(Compare, const std::int64_t u) const
  {
    std::int64_t line, row;
    Scalar       v[most] = {};
    place(u, lines.lines(), line, row);
    const int what = read(lines(line, row), row, v);
    note(what | compare(line, row, v));
  }
  /// Few threads find something new.
  KOKKOS_INLINE_FUNCTION void note(int what) const
  {
    if (what & ~*found) Kokkos::atomic_fetch_or(found, what);
  }
  KOKKOS_INLINE_FUNCTION int compare(std::int64_t line, std::int64_t row, const Scalar (&v)[most]) const
  {
    const int c    = class_of_line ? class_of_line[line] : 0;
    bool      same = true;
    for (int d = 0; d <= 2 * h; ++d) same &= v[d] == values(c, row, d);
    return same ? 0 : found_differ;
  }
};

/// The same on a host, a tile of lines at a time, in the order in which their rows lie. Lines that lie behind each other go
/// through a buffer that stays in the cache: one by one they would write a number to each of many cache lines.
template <class Scalar, class Memory>
struct RefreshTiles {
  using Kernel                        = RefreshKernel<Scalar, Memory>;
  static constexpr std::int64_t width = 32, block = 128; ///< lines, and rows at a time

  Kernel kernel;
  bool   compare; ///< all lines with the matrices that they share

  std::int64_t count() const { return (kernel.lines.lines() + width - 1) / width; }
  void         operator()(const std::int64_t t) const
  {
    const std::int64_t first = t * width, lanes = std::min(width, kernel.lines.lines() - first);
    std::int64_t       at[width]; // first row of each line
    Scalar             v[Kernel::most] = {};
    int                what            = 0;
    for (std::int64_t l = 0; l < lanes; ++l) at[l] = kernel.lines(first + l, 0);
    if (kernel.lines.row_stride > kernel.lines.stride0)
      for (std::int64_t i = 0; i < kernel.lines.rows; ++i)
        for (std::int64_t l = 0; l < lanes; ++l) what |= see(first + l, i, at[l] + i * kernel.lines.row_stride, v);
    else if (compare)
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t i = 0; i < kernel.lines.rows; ++i) what |= see(first + l, i, at[l] + i * kernel.lines.row_stride, v);
    else what = through_buffer(first, lanes, at, v);
    Kokkos::atomic_fetch_or(kernel.found, what);
  }

private:
  int see(std::int64_t line, std::int64_t i, std::int64_t k, Scalar (&v)[Kernel::most]) const
  {
    const int what = kernel.read(k, i, v);
    if (compare) return what | kernel.compare(line, i, v);
    for (int d = 0; d <= 2 * kernel.h; ++d) kernel.values(line, i, d) = v[d];
    return what;
  }
  int through_buffer(std::int64_t first, std::int64_t lanes, const std::int64_t (&at)[width], Scalar (&v)[Kernel::most]) const
  {
    const std::int64_t  diagonals = 2 * kernel.h + 1, n = kernel.lines.rows;
    std::vector<Scalar> rows(static_cast<std::size_t>(std::min(block, n) * diagonals * width));
    const auto          place = [&](std::int64_t i, std::int64_t d) { return &rows[static_cast<std::size_t>((i * diagonals + d) * width)]; };
    int what = 0;
    for (std::int64_t i0 = 0; i0 < n; i0 += block) {
      const std::int64_t i1 = std::min(i0 + block, n);
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t i = i0; i < i1; ++i) {
          what |= kernel.read(at[l] + i * kernel.lines.row_stride, i, v);
          for (std::int64_t d = 0; d < diagonals; ++d) place(i - i0, d)[l] = v[d];
        }
      for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t d = 0; d < diagonals; ++d) std::copy_n(place(i - i0, d), lanes, &kernel.values(first, i, d));
    }
    return what;
  }
};

} // namespace

template <class Scalar, class Index, class Exec>
RefreshResult refresh_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines, const Kokkos::View<const std::int64_t *, typename Exec::memory_space> &first,
                            const Bands<Scalar, typename Exec::memory_space> &bands)
{
  using Memory = typename Exec::memory_space;
  using Kernel = RefreshKernel<Scalar, Memory>;
  if (lines.components != 1 || lines.place || lines.part || bands.lhs == Lhs::shifted || bands.kl() != bands.ku() || bands.repeats > 1) throw std::invalid_argument("ribbon::refresh_bands: lines of scalars that lie in the matrix itself");
  const auto         found  = allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::refresh_bands", 1);
  const bool         classes = bands.lhs == Lhs::classes;
  const Kernel       kernel{AnyCsrMatrix<Scalar>(A), lines.lines, lines.wrap, bands.kl(), bands.values, classes ? bands.class_of_line.data() : nullptr, first.data(), found.data()};
  const auto         run = [&](auto tag, std::int64_t n) {
    Kokkos::parallel_for("ribbon::refresh_bands", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, decltype(tag)>(exec, 0, n), kernel);
  };
  const bool share = bands.lhs != Lhs::per_line;
  if (share) run(typename Kernel::Shared(), bands.matrices() * bands.rows());
  if constexpr (is_device_space<Exec>) {
    if (share) run(typename Kernel::Compare(), lines.lines.unknowns());
    else run(typename Kernel::Each(), lines.lines.unknowns());
  } else {
    const RefreshTiles<Scalar, Memory> tiles{kernel, share};
    Kokkos::parallel_for("ribbon::refresh_bands", indices(exec, tiles.count()), tiles);
  }
  const auto host = Kokkos::create_mirror_view(found);
  Kokkos::deep_copy(exec, host, found);
  exec.fence();
  const int  what     = host(0);
  const bool narrower = (bands.kl() > 1 && !(what & found_reach)) || (lines.wrap && !(what & found_wrapped));
  return {(what & found_across) != 0, (what & found_beyond) != 0, narrower, (what & found_not_finite) != 0, (what & found_differ) != 0};
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                                                                                                                                        \
  template RefreshResult refresh_bands(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &, const Kokkos::View<const std::int64_t *, Exec::memory_space> &, const Bands<Scalar, Exec::memory_space> &);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                                                                                                                                   \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                                                                                                                                       \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
