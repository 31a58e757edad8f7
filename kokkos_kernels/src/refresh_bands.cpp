// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/matrix/refresh_bands.hpp>

#include "instantiate.hpp"

#include <ribbon/host/vectors.hpp>

#include <algorithm>
#include <stdexcept>

namespace ribbon {

namespace {

/// Each finding is a bit.
enum Finding {
  found_across     = 1,
  found_beyond     = 2,
  found_not_finite = 4,
  found_differ     = 8,
  found_reach      = 16,
  found_wrapped    = 32,
  found_components = 64
};

/// @tparam Blocks  elements of several rows; false: the compiler knows that elements have one row
/// @tparam H  the half-bandwidth if it is known at compile time, so that a device keeps rows in registers;
///   else 0
template <class Csr, class Scalar, class Memory, bool Blocks, int H = 0>
struct RefreshKernel {
  struct Each { };    ///< one matrix per line
  struct Shared { };  ///< the matrices of lines that share
  struct Compare { }; ///< all lines with the shared matrices

  /// most stored entries of a row
  static constexpr int most = Blocks ? 3 * 8 : 2 * (H ? H : largest_half_bandwidth) + 1;
  /// distance of entries that are off the line
  static constexpr std::int64_t off = std::int64_t(1) << 62;
  using Values                      = typename Bands<Scalar, Memory>::values_type;

  Csr                 A;
  LineSet             lines;
  bool                wrap;
  int                 half_bandwidth, block, siblings;
  Values              values;
  const int          *class_of_line; ///< null: all lines have matrix 0
  const std::int64_t *first;         ///< a line of each class
  int                *found;         ///< bits of Finding

  KOKKOS_INLINE_FUNCTION int         rows_of_element() const { return Blocks ? block : 1; }
  KOKKOS_INLINE_FUNCTION int         reach() const { return H ? H : half_bandwidth; }
  KOKKOS_INLINE_FUNCTION static void add(Scalar (&v)[most], int j, const Scalar &value)
  {
    if constexpr (H > 0)
      for (int e = 0; e < most; ++e) v[e] += e == j ? value : Scalar(0);
    else v[j] += value;
  }

  /// Reads row a of element k, which is row `row` of a line: (2 h + 1) B entries for elements of B rows.
  /// Returns its findings.
  KOKKOS_INLINE_FUNCTION int read(std::int64_t k, std::int64_t row, int a, Scalar (&v)[most]) const
  {
    const int          h = reach(), B = rows_of_element(), n = numbers();
    const std::int64_t r = k * B + a, begin = A.row_begin[r], end = A.row_begin[r + 1];
    // a fast path for interior rows of an isolated line: half of the time
    if (end - begin == n && row >= h && row + h < lines.rows) {
      bool straight = true;
      for (int d = 0; d <= 2 * h; ++d)
        for (int b = 0; b < B; ++b) {
          const int j = d * B + b;
          v[j]        = A.value[begin + j];
          straight    = straight && A.column[begin + j] - k * B - b == (d - h) * lines.row_stride * B &&
                     v[j] - v[j] == Scalar(0);
        }
      if (straight) return v[0] != Scalar(0) || v[n - 1] != Scalar(0) ? found_reach : 0;
    }
    int what = 0;
    for (int j = 0; j < n; ++j) v[j] = Scalar(0);
    for (std::int64_t e = begin; e < end; ++e) {
      const Scalar       value  = A.value[e];
      const std::int64_t column = A.column[e];
      int                b;
      const std::int64_t q = along(column, k, row, b);
      std::int64_t       d = q;
      // the shorter way
      if (wrap && q != off && 2 * (q < 0 ? -q : q) > lines.rows) d = q < 0 ? q + lines.rows : q - lines.rows;
      if (d >= -h && d <= h) {
        add(v, static_cast<int>(d + h) * B + b, value);
        if (!(value - value == Scalar(0))) what |= found_not_finite;
        if (value != Scalar(0)) what |= (d == h || d == -h ? found_reach : 0) | (d != q ? found_wrapped : 0);
      } else if (value != Scalar(0)) {
        what |= q != off ? found_beyond : found_across;
        if (siblings > 1 && (column - r) % siblings != 0) what |= found_components;
      }
    }
    return what;
  }
  /// Distance of a column from element k along its line, in elements, and its place in its element. Most
  /// columns need no division.
  KOKKOS_INLINE_FUNCTION std::int64_t along(std::int64_t column, std::int64_t k, std::int64_t row,
                                            int &b) const
  {
    const int          B     = rows_of_element();
    const std::int64_t delta = column - k * B, stride = lines.row_stride * B,
                       size = stride < 0 ? -stride : stride;
    const auto   within     = [&](std::int64_t from) { return delta >= from && delta < from + B; };
    std::int64_t q          = 0;
    b                       = 0;
    if (within(stride)) q = 1;
    else if (within(-stride)) q = -1;
    else if (!within(0)) {
      // count of elements of the line before k
      const std::int64_t before = stride > 0 ? row : lines.rows - 1 - row, behind = lines.rows - 1 - before;
      if ((delta > -size && delta < size) || delta < -before * size || delta >= behind * size + B) return off;
      q = delta >= 0 ? delta / stride : -((-delta + B - 1) / stride);
      if (!within(q * stride)) return off;
    }
    b = static_cast<int>(delta - q * stride);
    return row + q >= 0 && row + q < lines.rows ? q : off;
  }
  KOKKOS_INLINE_FUNCTION void place(std::int64_t u, std::int64_t count, std::int64_t &line,
                                    std::int64_t &row) const
  {
    const bool along = lines.row_stride < lines.stride0;
    line = along ? u / lines.rows : u % count, row = along ? u % lines.rows : u / count;
  }
  /// Place in Bands::values of entry j that read() returns for component a.
  KOKKOS_INLINE_FUNCTION int entry(int a, int j) const
  {
    const int B = rows_of_element();
    return Blocks ? (j / B * B + a) * B + j % B : j;
  }
  KOKKOS_INLINE_FUNCTION int numbers() const { return (2 * reach() + 1) * rows_of_element(); }
  KOKKOS_FUNCTION void       operator()(Each, const std::int64_t u) const
  {
    std::int64_t line, row;
    Scalar       v[most] = {};
    place(u, lines.lines(), line, row);
    for (int a = 0; a < rows_of_element(); ++a) {
      note(read(lines(line, row), row, a, v));
      for (int j = 0; j < numbers(); ++j) values(line, row, entry(a, j)) = v[j];
    }
  }
  KOKKOS_FUNCTION void operator()(Shared, const std::int64_t u) const
  {
    const std::int64_t c = u / lines.rows, row = u % lines.rows;
    Scalar             v[most] = {};
    for (int a = 0; a < rows_of_element(); ++a) {
      note(read(lines(class_of_line ? first[c] : 0, row), row, a, v) & found_not_finite);
      for (int j = 0; j < numbers(); ++j) values(c, row, entry(a, j)) = v[j];
    }
  }
  KOKKOS_FUNCTION void operator()(Compare, const std::int64_t u) const
  {
    std::int64_t line, row;
    Scalar       v[most] = {};
    place(u, lines.lines(), line, row);
    for (int a = 0; a < rows_of_element(); ++a) {
      const int what = read(lines(line, row), row, a, v);
      note(what | compare(line, row, a, v));
    }
  }
  /// Few threads have a new finding, so that atomics are rare.
  KOKKOS_INLINE_FUNCTION void note(int what) const
  {
    if (what & ~*found) Kokkos::atomic_fetch_or(found, what);
  }
  KOKKOS_INLINE_FUNCTION int compare(std::int64_t line, std::int64_t row, int a,
                                     const Scalar (&v)[most]) const
  {
    const int c    = class_of_line ? class_of_line[line] : 0;
    bool      same = true;
    for (int j = 0; j < numbers(); ++j) same &= v[j] == values(c, row, entry(a, j));
    return same ? 0 : found_differ;
  }
};

/// The same on a host, a tile of lines at a time, in the order of their rows in memory. Contiguous lines go
/// through a buffer that fits the cache: one by one they would write one entry to each of many cache lines.
template <class Csr, class Scalar, class Memory, bool Blocks>
struct RefreshTiles {
  using Kernel = RefreshKernel<Csr, Scalar, Memory, Blocks>;
  /// lines of a tile, and entries of the buffer
  static constexpr std::int64_t width = 32, room = 12288;

  Kernel        kernel;
  bool          compare;  ///< compares all lines with the shared matrices
  std::int64_t *straight; ///< RefreshPlan

  std::int64_t count() const { return (kernel.lines.lines() + width - 1) / width; }
  struct Look { }; ///< inspects the pattern of a line
  void operator()(Look, const std::int64_t l) const { straight[l] = first_value(kernel.lines(l, 0)); }
  void operator()(const std::int64_t t) const
  {
    const std::int64_t first = t * width, lanes = std::min(width, kernel.lines.lines() - first);
    std::int64_t       at[width]; // first row of each line
    Scalar             v[Kernel::most] = {};
    int                what            = 0;
    for (std::int64_t l = 0; l < lanes; ++l) at[l] = kernel.lines(first + l, 0);
    if (all_straight(first, lanes, at))
      what = compare ? compare_values(first, lanes) : move_values(first, lanes);
    else if (kernel.lines.row_stride > kernel.lines.stride0)
      for (std::int64_t i = 0; i < kernel.lines.rows; ++i)
        for (std::int64_t l = 0; l < lanes; ++l)
          what |= see(first + l, i, at[l] + i * kernel.lines.row_stride, v);
    else if (compare)
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t i = 0; i < kernel.lines.rows; ++i)
          what |= see(first + l, i, at[l] + i * kernel.lines.row_stride, v);
    else what = through_buffer(first, lanes, at, v);
    Kokkos::atomic_fetch_or(kernel.found, what);
  }

private:
  /// Distance of the first entry in the matrix row that is row i of a straight line, by elements.
  std::int64_t first_distance(std::int64_t i) const { return -std::min<std::int64_t>(i, kernel.reach()); }
  std::int64_t distances(std::int64_t i) const
  {
    return std::min<std::int64_t>(kernel.lines.rows - 1 - i, kernel.reach()) - first_distance(i) + 1;
  }
  std::int64_t values_of_line() const
  {
    const std::int64_t n = kernel.lines.rows, h = std::min<std::int64_t>(kernel.reach(), n - 1);
    return (n * (2 * h + 1) - h * (h + 1)) * kernel.rows_of_element() * kernel.rows_of_element();
  }
  /// Position of the first value of a line that begins with element k. -1: its rows hold entries off the
  /// line, or lack some on it.
  std::int64_t first_value(std::int64_t k) const
  {
    const std::int64_t B = kernel.rows_of_element();
    if (kernel.wrap || kernel.lines.row_stride != 1) return -1;
    for (std::int64_t r = k * B; r < (k + kernel.lines.rows) * B; ++r) {
      const std::int64_t i = r / B - k, n = distances(i) * B, begin = kernel.A.row_begin[r],
                         column = (k + i + first_distance(i)) * B;
      if (kernel.A.row_begin[r + 1] - begin != n) return -1;
      for (std::int64_t j = 0; j < n; ++j)
        if (kernel.A.column[begin + j] != column + j) return -1;
    }
    return kernel.A.row_begin[k * B];
  }
  /// Whether the lines of a tile are straight. Checks again that they begin and end at the same positions.
  bool all_straight(std::int64_t first, std::int64_t lanes, const std::int64_t (&at)[width]) const
  {
    const std::int64_t B = kernel.rows_of_element(), n = kernel.lines.rows * B, count = values_of_line();
    bool               all = true;
    for (std::int64_t l = 0; l < lanes && all; ++l) {
      const std::int64_t begin = straight[first + l];
      all                      = begin >= 0 && kernel.A.row_begin[at[l] * B] == begin &&
            kernel.A.row_begin[at[l] * B + n] == begin + count;
    }
    return all;
  }
  /// Whether an entry of a straight line is as far from the diagonal as the bands reach.
  bool reaches(const Scalar *v) const
  {
    const std::int64_t B = kernel.rows_of_element();
    for (std::int64_t i = 0; i < kernel.lines.rows; v += distances(i) * B * B, ++i)
      if (i + kernel.reach() < kernel.lines.rows && *(v + distances(i) * B - 1) != Scalar(0)) return true;
      else if (i >= kernel.reach() && *v != Scalar(0)) return true;
    return false;
  }
  /// Compares straight lines with the first ones of their classes, entry by entry.
  int compare_values(std::int64_t first, std::int64_t lanes) const
  {
    const std::int64_t count = values_of_line();
    int                what  = 0;
    for (std::int64_t l = 0; l < lanes; ++l) {
      const std::int64_t of =
        straight[kernel.class_of_line ? kernel.first[kernel.class_of_line[first + l]] : 0];
      if (of < 0) return found_differ; // a line of another pattern
      const Scalar *const v = kernel.A.value + straight[first + l], *const same = kernel.A.value + of;
      int differ = 0;
      host::with_widest_vectors_of_host([&] {
        for (std::int64_t t = 0; t < count; ++t) differ |= !(v[t] == same[t]);
      });
      if (differ) what |= found_differ;
      if (!(what & found_reach) && reaches(v)) what |= found_reach;
    }
    return what;
  }
  /// Copies straight lines to the bands.
  int move_values(std::int64_t first, std::int64_t lanes) const
  {
    const std::int64_t count = values_of_line();
    const Scalar      *v[width];
    int                what = 0;
    for (std::int64_t l = 0; l < lanes; ++l) {
      v[l] = kernel.A.value + straight[first + l];
      if (!(what & found_reach) && reaches(v[l])) what |= found_reach;
    }
    host::with_widest_vectors_of_host([&] {
      int bad = 0;
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t e = 0; e < count; ++e) bad |= !(v[l][e] - v[l][e] == Scalar(0));
      if (bad) what |= found_not_finite;
      const int    B = kernel.rows_of_element();
      Scalar      *to[4];
      int          held = 0;
      std::int64_t t    = 0;
      for (std::int64_t i = 0; i < kernel.lines.rows; ++i) {
        const std::int64_t n = distances(i), d0 = first_distance(i) + kernel.reach();
        for (std::int64_t e = 0; e < kernel.numbers() * B; ++e) // beyond the ends of the line
          if (e < d0 * B * B || e >= (d0 + n) * B * B)
            std::fill_n(&kernel.values(first, i, e), lanes, Scalar(0));
        for (int a = 0; a < B; ++a)
          for (std::int64_t d = d0; d < d0 + n; ++d)
            for (int b = 0; b < B; ++b) {
              to[held++] = &kernel.values(first, i, (d * B + a) * B + b);
              if (held < 4) continue;
              std::int64_t l = 0;
              for (; l + 4 <= lanes; l += 4)
                host::transpose_square<Scalar>({v[l] + t, v[l + 1] + t, v[l + 2] + t, v[l + 3] + t},
                                               {to[0] + l, to[1] + l, to[2] + l, to[3] + l});
              for (; l < lanes; ++l)
                for (int e = 0; e < 4; ++e) to[e][l] = v[l][t + e];
              held = 0, t += 4;
            }
      }
      for (int e = 0; e < held; ++e)
        for (std::int64_t l = 0; l < lanes; ++l) to[e][l] = v[l][t + e];
    });
    return what;
  }
  int see(std::int64_t line, std::int64_t i, std::int64_t k, Scalar (&v)[Kernel::most]) const
  {
    int what = 0;
    for (int a = 0; a < kernel.rows_of_element(); ++a) {
      what |= kernel.read(k, i, a, v);
      if (compare) what |= kernel.compare(line, i, a, v);
      else
        for (int j = 0; j < kernel.numbers(); ++j) kernel.values(line, i, kernel.entry(a, j)) = v[j];
    }
    return what;
  }
  int through_buffer(std::int64_t first, std::int64_t lanes, const std::int64_t (&at)[width],
                     Scalar (&v)[Kernel::most]) const
  {
    const std::int64_t  B = kernel.rows_of_element(), entries = kernel.numbers() * B, n = kernel.lines.rows;
    const std::int64_t  block = std::min(n, std::max<std::int64_t>(4, room / (entries * width)));
    std::vector<Scalar> rows(static_cast<std::size_t>(block * entries * width));
    const auto          place = [&](std::int64_t i, std::int64_t e) {
      return &rows[static_cast<std::size_t>((i * entries + e) * width)];
    };
    int what = 0;
    for (std::int64_t i0 = 0; i0 < n; i0 += block) {
      const std::int64_t i1 = std::min(i0 + block, n);
      for (std::int64_t l = 0; l < lanes; ++l)
        for (std::int64_t i = i0; i < i1; ++i)
          for (int a = 0; a < B; ++a) {
            what |= kernel.read(at[l] + i * kernel.lines.row_stride, i, a, v);
            for (int j = 0; j < kernel.numbers(); ++j) place(i - i0, kernel.entry(a, j))[l] = v[j];
          }
      for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t e = 0; e < entries; ++e)
          std::copy_n(place(i - i0, e), lanes, &kernel.values(first, i, e));
    }
    return what;
  }
};

template <bool Blocks, int H = 0, class Csr, class Scalar, class Exec>
void refresh(const Exec &exec, const Csr &A, const LinePlaces &lines,
             RefreshPlan<typename Exec::memory_space>         &plan,
             const Bands<Scalar, typename Exec::memory_space> &bands, int siblings, int *found)
{
  using Memory       = typename Exec::memory_space;
  using Kernel       = RefreshKernel<Csr, Scalar, Memory, Blocks, H>;
  const bool   share = bands.lhs != Lhs::per_line;
  const Kernel kernel{A,
                      lines.lines,
                      lines.wrap,
                      bands.kl(),
                      bands.block,
                      siblings,
                      bands.values,
                      bands.lhs == Lhs::classes ? bands.class_of_line.data() : nullptr,
                      plan.first.data(),
                      found};
  const auto   run = [&](auto tag, std::int64_t n) {
    Kokkos::parallel_for(
        "ribbon::refresh_bands",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, decltype(tag)>(exec, 0, n), kernel);
  };
  if (share) run(typename Kernel::Shared(), bands.matrices() * bands.rows());
  if constexpr (is_device_space<Exec>) {
    if (share) run(typename Kernel::Compare(), lines.lines.unknowns());
    else run(typename Kernel::Each(), lines.lines.unknowns());
  } else {
    const bool known = plan.straight.size() > 0;
    if (!known)
      plan.straight = allocate<Kokkos::View<std::int64_t *, Memory>>(
        exec, "ribbon::straight", static_cast<std::size_t>(lines.lines.lines()));
    using Tiles = RefreshTiles<Csr, Scalar, Memory, Blocks>;
    const Tiles tiles{kernel, share, plan.straight.data()};
    if (!known)
      Kokkos::parallel_for("ribbon::refresh_bands",
                           Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, typename Tiles::Look>(
                             exec, 0, lines.lines.lines()),
                           tiles);
    Kokkos::parallel_for("ribbon::refresh_bands", indices(exec, tiles.count()), tiles);
  }
}

} // namespace

template <class Scalar, class Index, class Exec>
RefreshResult refresh_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines,
                            RefreshPlan<typename Exec::memory_space>         &plan,
                            const Bands<Scalar, typename Exec::memory_space> &bands, int siblings)
{
  using Memory = typename Exec::memory_space;
  if (lines.components != bands.block || lines.place || lines.part || bands.lhs == Lhs::shifted ||
      bands.kl() != bands.ku() || bands.repeats > 1)
    throw std::invalid_argument("ribbon::refresh_bands: lines that lie in the matrix itself");
  const auto found = allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::refresh_bands", 1);
  if constexpr (is_device_space<Exec>) {
    if (bands.block == 1 && bands.kl() == 1)
      refresh<false, 1>(exec, AnyCsrMatrix<Scalar>(A), lines, plan, bands, siblings, found.data());
    else refresh<true>(exec, AnyCsrMatrix<Scalar>(A), lines, plan, bands, siblings, found.data());
  } else if (bands.block > 1) refresh<true>(exec, A, lines, plan, bands, siblings, found.data());
  else refresh<false>(exec, A, lines, plan, bands, siblings, found.data());
  const auto host = Kokkos::create_mirror_view(found);
  Kokkos::deep_copy(exec, host, found);
  exec.fence();
  const int  what     = host(0);
  const bool narrower = (bands.kl() > 1 && !(what & found_reach)) || (lines.wrap && !(what & found_wrapped));
  return {(what & found_across) != 0,     (what & found_components) != 0,
          (what & found_beyond) != 0,     narrower,
          (what & found_not_finite) != 0, (what & found_differ) != 0};
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                          \
  template RefreshResult refresh_bands(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &,   \
                                       RefreshPlan<Exec::memory_space> &,                                    \
                                       const Bands<Scalar, Exec::memory_space> &, int);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                         \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
