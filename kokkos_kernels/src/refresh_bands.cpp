// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/refresh_bands.hpp>

#include "instantiate.hpp"

#include <algorithm>
#include <stdexcept>

namespace ribbon {

namespace {

enum Finding { found_across, found_beyond, found_not_finite, found_differ, findings };

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
  int                 *found;

  /// How far a column lies along the line of row k, h + 1: not in the bands; `on_line`: on the line at all.
  KOKKOS_INLINE_FUNCTION std::int64_t distance(std::int64_t row, std::int64_t delta, bool &on_line) const
  {
    const std::int64_t q = lines.row_stride == 1 ? delta : delta / lines.row_stride;
    on_line              = q * lines.row_stride == delta && row + q >= 0 && row + q < lines.rows;
    if (!on_line) return h + 1;
    const std::int64_t away = q < 0 ? -q : q;
    return wrap && lines.rows - away < away ? (q < 0 ? q + lines.rows : q - lines.rows) : q;
  }
  /// Row `row` of a line, the 2 h + 1 diagonals of it.
  KOKKOS_INLINE_FUNCTION void read(std::int64_t line, std::int64_t row, Scalar (&v)[most]) const
  {
    const std::int64_t k = lines(line, row);
    Scalar             junk(0);
    for (int d = 0; d <= 2 * h; ++d) v[d] = Scalar(0);
    for (std::int64_t e = A.row_begin[k], end = A.row_begin[k + 1]; e < end; ++e) {
      bool               on_line;
      const std::int64_t d = distance(row, A.column[e] - k, on_line);
      const Scalar       a = A.value[e];
      if (d >= -h && d <= h) {
        v[d + h] += a;
        junk += a - a;
      } else if (a != Scalar(0)) Kokkos::atomic_fetch_or(&found[on_line ? found_beyond : found_across], 1);
    }
    if (!(junk == Scalar(0))) Kokkos::atomic_fetch_or(&found[found_not_finite], 1);
  }
  KOKKOS_INLINE_FUNCTION void place(std::int64_t u, std::int64_t count, std::int64_t &line, std::int64_t &row) const
  {
    const bool along = lines.row_stride < lines.stride0;
    line = along ? u / lines.rows : u % count, row = along ? u % lines.rows : u / count;
  }
  KOKKOS_FUNCTION void operator()(Each, const std::int64_t u) const
  {
    std::int64_t line, row;
    Scalar       v[most];
    place(u, lines.lines(), line, row);
    read(line, row, v);
    for (int d = 0; d <= 2 * h; ++d) values(line, row, d) = v[d];
  }
  KOKKOS_FUNCTION void operator()(Shared, const std::int64_t u) const
  {
    const std::int64_t c = u / lines.rows, row = u % lines.rows;
    Scalar             v[most];
    read(class_of_line ? first[c] : 0, row, v);
    for (int d = 0; d <= 2 * h; ++d) values(c, row, d) = v[d];
  }
  KOKKOS_FUNCTION void operator()(Compare, const std::int64_t u) const
  {
    std::int64_t line, row;
    Scalar       v[most];
    place(u, lines.lines(), line, row);
    read(line, row, v);
    const int c    = class_of_line ? class_of_line[line] : 0;
    bool      same = true;
    for (int d = 0; d <= 2 * h; ++d) same = same && v[d] == values(c, row, d);
    if (!same) Kokkos::atomic_fetch_or(&found[found_differ], 1);
  }
};

/// Lines that lie behind each other, on a host: `width` of them, whose bands lie side by side, through a buffer that
/// stays in the cache. One by one they would write a number to each of as many cache lines as they have entries.
template <class Scalar, class Memory>
struct RefreshTiles {
  using Kernel                        = RefreshKernel<Scalar, Memory>;
  static constexpr std::int64_t width = 16, block = 256; ///< lines, and rows at a time

  Kernel kernel;

  void operator()(const std::int64_t t) const
  {
    const std::int64_t  first = t * width, lanes = std::min(width, kernel.lines.lines() - first), diagonals = 2 * kernel.h + 1;
    std::vector<Scalar> rows(static_cast<std::size_t>(std::min(block, kernel.lines.rows) * diagonals * width));
    for (std::int64_t i0 = 0; i0 < kernel.lines.rows; i0 += block) {
      const std::int64_t i1 = std::min(i0 + block, kernel.lines.rows);
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t i = i0; i < i1; ++i) {
          Scalar v[Kernel::most];
          kernel.read(first + l, i, v);
          for (std::int64_t d = 0; d < diagonals; ++d) rows[static_cast<std::size_t>(((i - i0) * diagonals + d) * width + l)] = v[d];
        }
      for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t d = 0; d < diagonals; ++d) std::copy_n(&rows[static_cast<std::size_t>(((i - i0) * diagonals + d) * width)], lanes, &kernel.values(first, i, d));
    }
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
  const std::int64_t places = lines.lines.unknowns();
  const auto         found  = allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::refresh_bands", findings);
  const bool         classes = bands.lhs == Lhs::classes;
  const Kernel       kernel{AnyCsrMatrix<Scalar>(A), lines.lines, lines.wrap, bands.kl(), bands.values, classes ? bands.class_of_line.data() : nullptr, first.data(), found.data()};
  const auto         run = [&](auto tag, std::int64_t n) {
    Kokkos::parallel_for("ribbon::refresh_bands", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, decltype(tag)>(exec, 0, n), kernel);
  };
  if (bands.lhs != Lhs::per_line) {
    run(typename Kernel::Shared(), bands.matrices() * bands.rows());
    run(typename Kernel::Compare(), places);
  } else if (is_device_space<Exec> || lines.lines.row_stride > lines.lines.stride0) run(typename Kernel::Each(), places);
  else if constexpr (!is_device_space<Exec>) {
    const RefreshTiles<Scalar, Memory> tiles{kernel};
    Kokkos::parallel_for("ribbon::refresh_bands", indices(exec, (lines.lines.lines() + tiles.width - 1) / tiles.width), tiles);
  }
  const auto host = Kokkos::create_mirror_view(found);
  Kokkos::deep_copy(exec, host, found);
  exec.fence();
  return {host(found_across) != 0, host(found_beyond) != 0, host(found_not_finite) != 0, host(found_differ) != 0};
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                                                                                                                                        \
  template RefreshResult refresh_bands(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &, const Kokkos::View<const std::int64_t *, Exec::memory_space> &, const Bands<Scalar, Exec::memory_space> &);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                                                                                                                                   \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                                                                                                                                       \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
