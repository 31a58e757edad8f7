// SPDX-License-Identifier: BSD-2-Clause
/// @file probe_kernels.hpp  The kernels of the probe (probe.hpp): right-hand sides with known solutions,
///   and norms of the residuals.
#pragma once

#include <ribbon/host/vectors.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/probe/noise.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace ribbon {

inline constexpr int probe_kinds = 6;

template <class Scalar, class Memory>
struct Probe {
  using Real = real_t<Scalar>;
  /// max: backward error and its matrix; min: reciprocal condition
  using Found = typename Kokkos::MinMaxLoc<Real, std::int64_t>::value_type;
  struct Fill { };
  struct Measure { };
  struct MeasureStrip { };
  struct Judge { };
  /// kinds from here on have a given right-hand side; for the others the solution is given
  static constexpr int first_given = 4;

  BandEntries<Scalar, Memory> entry;
  /// line l: matrix l % matrices, right-hand side kind + l / matrices; or see class_of_line
  LineSet set;
  int     kind;
  Scalar *x;

  KOKKOS_FUNCTION std::int64_t wrap(std::int64_t i) const
  {
    while (i < 0) i += set.rows; // no remainder operator: it would dominate the time of the set-up
    while (i >= set.rows) i -= set.rows;
    return i;
  }
  KOKKOS_FUNCTION Scalar given(int k, std::int64_t i) const
  {
    if (round == 0 && k == 0) return Scalar(1);
    if (round == 0 && k == 1) return Scalar(i % 2 == 0 ? 1 : -1);
    const std::uint64_t key =
      (static_cast<std::uint64_t>(k + probe_kinds * round) << 40) + static_cast<std::uint64_t>(2 * i);
    if constexpr (std::is_floating_point_v<Scalar>) return noise<Real>(key);
    else return Scalar(noise<Real>(key), noise<Real>(key + 1));
  }
  /// A solution whose unknowns differ in size.
  KOKKOS_FUNCTION Scalar graded(int k, std::int64_t i) const
  {
    const auto exponent = static_cast<int>(
      20 * noise<Real>((static_cast<std::uint64_t>(k) << 41) + static_cast<std::uint64_t>(i)));
    return given(k, i) * std::ldexp(Real(1), exponent);
  }
  /// Unknowns have consecutive indices: i * entry.block + component.
  KOKKOS_FUNCTION Scalar right_hand_side(std::int64_t c, int k, std::int64_t i, int a) const
  {
    if (k >= first_given) return given(k, i * entry.block + a);
    Scalar f(0);
    for (int d = -entry.lower; d <= entry.upper; ++d)
      for (int b = 0; b < entry.block; ++b) {
        const std::int64_t j = wrap(i + d) * entry.block + b;
        f += entry(c, i, d, a, b) * (componentwise ? graded(k, j) : given(k, j));
      }
    return f;
  }
  KOKKOS_FUNCTION std::int64_t matrix_of(std::int64_t l) const
  {
    return class_of_line ? class_of_line[l] : l % entry.matrices();
  }
  KOKKOS_FUNCTION int kind_of(std::int64_t l) const
  {
    return batch ? kind : static_cast<int>((kind + l / entry.matrices()) % probe_kinds);
  }
  static constexpr Real       infinity = std::numeric_limits<Real>::infinity();
  KOKKOS_FUNCTION static void largest(Real &m, Real a)
  {
    if (!(a <= m)) m = is_finite(a) ? a : infinity; // NaN, too
  }
  /// A residual or a right-hand side relative to the sum of magnitudes of its row. Then the matrix has norm
  /// 1, and rows in small units count as much as others.
  KOKKOS_FUNCTION static Real relative(Real size, Real sum) { return sum > 0 ? size / sum : size; }
  /// Adds row i of line l, which has matrix c and right-hand side k, to the norms of the residual, the
  /// solution and the right-hand side.
  KOKKOS_FUNCTION void see(std::int64_t l, std::int64_t c, int k, std::int64_t i, Real &norm_r, Real &norm_x,
                           Real &norm_b) const
  {
    for (int a = 0; a < entry.block; ++a) {
      const Scalar f   = right_hand_side(c, k, i, a);
      Scalar       r   = f;
      Real         sum = 0, products = magnitude(f);
      for (int d = -entry.lower; d <= entry.upper; ++d)
        for (int b = 0; b < entry.block; ++b) {
          const Scalar e = entry(c, i, d, a, b);
          sum += magnitude(e);
          if (e == Scalar(0)) continue;
          const Scalar product = e * x[set(l, wrap(i + d)) + b * set.component_stride];
          r -= product, products += componentwise ? magnitude(product) : Real(0);
        }
      if (componentwise) {
        largest(norm_r, relative(magnitude(r), products)), norm_x = 1;
        continue;
      }
      largest(norm_r, relative(magnitude(r), sum)), largest(norm_b, relative(magnitude(f), sum));
      largest(norm_x, magnitude(x[set(l, i) + a * set.component_stride]));
    }
  }
  KOKKOS_FUNCTION void judge(std::int64_t c, Real norm_r, Real norm_x, Real norm_b, Found &found) const
  {
    const Real unit  = norm_x > 1 ? norm_x : Real(1); // avoids overflow of products
    Real       error = norm_r == 0 ? Real(0) : norm_r / unit / (norm_x / unit + norm_b / unit);
    const Real rcond = norm_b / norm_x;
    // a solution that overflows is useless
    if (!is_finite(error)) error = Real(1) / unit_roundoff<Scalar>() / unit_roundoff<Scalar>();
    if (error > found.max_val) found.max_val = error, found.max_loc = c;
    if (rcond < found.min_val) found.min_val = rcond, found.min_loc = c;
    if (bad && !(error <= most_error && rcond > least_rcond)) bad[c] = 1;
  }
  /// On a host: one thread per line.
  KOKKOS_FUNCTION void operator()(Measure, const std::int64_t l, Found &found) const
  {
    Real               norm_r = 0, norm_x = 0, norm_b = 0;
    const std::int64_t c = matrix_of(l);
    const int          k = kind_of(l);
    for (std::int64_t i = 0; i < set.rows; ++i) see(l, c, k, i, norm_r, norm_x, norm_b);
    judge(c, norm_r, norm_x, norm_b, found);
  }
  /// On a device: one thread per strip of rows, since lines may be few, and then one thread per line of
  /// every pass.
  KOKKOS_FUNCTION void operator()(MeasureStrip, const std::int64_t t) const
  {
    Real               norm[3] = {};
    const std::int64_t l       = t % set.lines();
    each_of_strip(t,
                  [&](std::int64_t c, int k, std::int64_t i) { see(l, c, k, i, norm[0], norm[1], norm[2]); });
    for (int m = 0; m < 3; ++m) raise(norms + 3 * (first + l) + m, norm[m]);
  }
  KOKKOS_FUNCTION void operator()(Judge, const std::int64_t l, Found &found) const
  {
    Real norm[3];
    memcpy(norm, norms + 3 * l, sizeof norm);
    judge(matrix_of(l % set.lines()), norm[0], norm[1], norm[2], found);
  }
  /// positive floats compare as their bits do
  using Word                        = std::conditional_t<sizeof(Real) == 4, unsigned int, unsigned long long>;
  Word                       *norms = nullptr;
  std::int64_t                first = 0; ///< lines of the passes before
  int                         strip = 1; ///< rows of a thread
  KOKKOS_FUNCTION static void raise(Word *to, Real size)
  {
    Word bits;
    memcpy(&bits, &size, sizeof bits);
    if (bits > *static_cast<volatile Word *>(to)) Kokkos::atomic_fetch_max(to, bits);
  }

  const int *class_of_line = nullptr; ///< the matrix of every line; null: l % matrices
  bool       batch         = false;   ///< all lines have right-hand side `kind`
  bool       componentwise = false;   ///< see ProbeOptions
  int        round         = 0;       ///< above 0: other random right-hand sides instead of the six kinds
  /// one flag per matrix, set to 1 if the matrix exceeds the limits; null: not requested
  int *bad        = nullptr;
  Real most_error = 0, least_rcond = 0;

  KOKKOS_FUNCTION void operator()(Fill, const std::int64_t t) const
  {
    const std::int64_t l = t % set.lines();
    each_of_strip(t, [&](std::int64_t c, int k, std::int64_t i) {
      for (int a = 0; a < entry.block; ++a)
        x[set(l, i) + a * set.component_stride] = right_hand_side(c, k, i, a);
    });
    for (int m = 0; norms && t < set.lines() && m < 3; ++m) norms[3 * (first + l) + m] = 0;
  }
  /// Strips of rows. Lines are the fast index, as in the values of matrices.
  KOKKOS_FUNCTION std::int64_t strips() const { return (set.rows + strip - 1) / strip; }
  /// Calls f(matrix, right-hand side, row) for the rows of strip t / lines of line t % lines.
  template <class F>
  KOKKOS_FUNCTION void each_of_strip(std::int64_t t, const F &f) const
  {
    const std::int64_t l = t % set.lines(), begin = t / set.lines() * strip, c = matrix_of(l);
    const int          k = kind_of(l);
    for (std::int64_t i = begin; i < begin + strip && i < set.rows; ++i) f(c, k, i);
  }
};

/// The probe of many matrices on a host. It processes `width` matrices at a time, in the order of their
/// entries, so that rows are read once and in vectors. All have the same known solution.
template <class Scalar, class Memory>
struct ProbeTiles {
  using Kernel               = Probe<Scalar, Memory>;
  using Real                 = typename Kernel::Real;
  static constexpr int width = 16;

  Kernel       probe;
  std::int64_t tiles; ///< of a kind

  explicit ProbeTiles(const Kernel &p) : probe(p), tiles((p.entry.matrices() + width - 1) / width) { }
  std::int64_t count() const { return tiles * (probe.set.lines() / probe.entry.matrices()); }

  void operator()(typename Kernel::Fill, const std::int64_t t) const
  {
    const Tile tile = at(t);
    for (std::int64_t u = 0; u < unknowns(); ++u) {
      Scalar f[width];
      right_hand_sides(tile, u, f);
      Scalar *x = unknown(tile, u);
      for (int l = 0; l < tile.lines; ++l) x[l * probe.set.stride0] = f[l];
    }
  }
  void operator()(typename Kernel::Measure, const std::int64_t t, typename Kernel::Found &found) const
  {
    const Tile tile = at(t);
    Largest    norm_r, norm_x, norm_b;
    if (in_vectors(tile))
      host::with_widest_vectors_of_host([&] { measure_in_vectors(tile, norm_r, norm_x, norm_b); });
    else measure(tile, norm_r, norm_x, norm_b);
    for (int l = 0; l < tile.lines; ++l) probe.judge(tile.matrix + l, norm_r(l), norm_x(l), norm_b(l), found);
  }

private:
  /// Maxima as in Kernel::largest(), without branches.
  struct Largest {
    Real value[width] = {}, bad[width] = {};
    void see(int l, Real a)
    {
      value[l] = a > value[l] ? a : value[l];
      bad[l]   = a <= std::numeric_limits<Real>::max() ? bad[l] : Real(1);
    }
    Real operator()(int l) const
    {
      Real m = value[l];
      if (bad[l] > 0) Kernel::largest(m = 0, Kernel::infinity);
      return m;
    }
  };
  struct Tile {
    std::int64_t matrix, line; ///< the first ones
    int          lines, kind;
  };
  Tile at(std::int64_t t) const
  {
    const std::int64_t matrices = probe.entry.matrices(), first = t % tiles * width,
                       line = t / tiles * matrices + first;
    return {first, line, static_cast<int>(std::min<std::int64_t>(width, matrices - first)),
            probe.kind_of(line)};
  }
  std::int64_t unknowns() const { return probe.set.rows * probe.entry.block; }
  /// Unknown u = row * block + component of the first line of a tile.
  Scalar *unknown(const Tile &tile, std::int64_t u) const
  {
    const std::int64_t i = u / probe.entry.block;
    return probe.x + probe.set(tile.line, i) + (u - i * probe.entry.block) * probe.set.component_stride;
  }
  void measure(const Tile &tile, Largest &norm_r, Largest &norm_x, Largest &norm_b) const
  {
    for (std::int64_t u = 0; u < unknowns(); ++u) {
      Scalar f[width], r[width];
      Real   sum[width] = {};
      right_hand_sides(tile, u, f);
      for (int l = 0; l < width; ++l) r[l] = f[l];
      each(tile, u, [&](std::int64_t v, const Scalar(&e)[width]) {
        const Scalar *x = unknown(tile, v);
        for (int l = 0; l < tile.lines; ++l) {
          sum[l] += magnitude(e[l]);
          r[l] -= e[l] != Scalar(0) ? e[l] * x[l * probe.set.stride0] : Scalar(0);
        }
      });
      const Scalar *x = unknown(tile, u);
      for (int l = 0; l < tile.lines; ++l) {
        norm_r.see(l, Kernel::relative(magnitude(r[l]), sum[l])),
          norm_b.see(l, Kernel::relative(magnitude(f[l]), sum[l]));
        norm_x.see(l, magnitude(x[l * probe.set.stride0]));
      }
    }
  }

  using Pack                 = typename host::PackOf<Scalar>::type;
  using Sizes                = std::conditional_t<std::is_same_v<Pack, Scalar>, Real, Pack>;
  static constexpr int lanes = static_cast<int>(sizeof(Pack) / sizeof(Scalar)), packs = width / lanes;
  /// A Largest of a pack of lines.
  struct LargestOfPack {
    Sizes value{}, bad{};
    void  see(const Sizes &a)
    {
      value = a > value ? a : value;
      bad   = a <= Sizes{} + std::numeric_limits<Real>::max() ? bad : Sizes{} + Real(1);
    }
  };
  static void take_size(const Pack &a, Sizes &size)
  {
    if constexpr (std::is_same_v<Pack, Scalar>) size = magnitude(a);
    else size = a < Real(0) ? -a : a;
  }
  /// Notes the size of a, relative to the sum of its row unless that is zero.
  static void see(const Pack &a, const Sizes &sum, LargestOfPack &largest)
  {
    Sizes size;
    take_size(a, size);
    largest.see(sum > Sizes{} ? size / sum : size);
  }

  /// Whether a tile is full, and its lines are adjacent in memory. Right-hand sides of the measurement then may
  /// differ from those of the fill by their rounding.
  bool in_vectors(const Tile &tile) const
  {
    return tile.lines == width && probe.set.stride0 == 1 && !probe.entry.alpha.data();
  }
  /// measure() for such a tile.
  void measure_in_vectors(const Tile &tile, Largest &norm_r, Largest &norm_x, Largest &norm_b) const
  {
    LargestOfPack of_r[packs], of_x[packs], of_b[packs];
    const bool    given = tile.kind >= Kernel::first_given;
    for (std::int64_t u = 0; u < unknowns(); ++u) {
      Pack  f[packs], r[packs];
      Sizes sum[packs] = {};
      for (int k = 0; k < packs; ++k)
        f[k] = Pack{} + (given ? probe.given(tile.kind, u) : Scalar(0)), r[k] = Pack{};
      each_entry(u, [&](std::int64_t v, const Entry &at) {
        const Scalar *const entries = place(tile, at), *const x = unknown(tile, v);
        const Scalar y = given ? Scalar(0) : probe.given(tile.kind, v);
        for (int k = 0; k < packs; ++k) {
          Pack  e, own;
          Sizes size;
          host::load_pack(entries + k * lanes, e), host::load_pack(x + k * lanes, own);
          take_size(e, size), sum[k] += size;
          f[k] += e * y;
          r[k] -= e != Pack{} ? e * own : Pack{};
        }
      });
      const Scalar *const x = unknown(tile, u);
      for (int k = 0; k < packs; ++k) {
        Pack own;
        host::load_pack(x + k * lanes, own);
        see(f[k] + r[k], sum[k], of_r[k]), see(f[k], sum[k], of_b[k]), see(own, Sizes{}, of_x[k]);
      }
    }
    for (const auto &[from, to] : {std::pair{of_r, &norm_r}, {of_x, &norm_x}, {of_b, &norm_b}})
      for (int l = 0; l < width; ++l) {
        const LargestOfPack &pack = from[l / lanes];
        if constexpr (std::is_same_v<Sizes, Real>) to->value[l] = pack.value, to->bad[l] = pack.bad;
        else to->value[l] = pack.value[l % lanes], to->bad[l] = pack.bad[l % lanes];
      }
  }
  /// An entry of all matrices: component (a, b) of the blocks at (i, i + d), which is in the stored row.
  struct Entry {
    std::int64_t i, stored;
    int          d, a, b;
  };
  /// Calls f(v, entry (u, v)) for the unknowns v in the band of unknown u.
  template <class F>
  void each_entry(std::int64_t u, const F &f) const
  {
    const auto        &entry = probe.entry;
    const int          B     = entry.block;
    const std::int64_t i = u / B, k = repeated_row(i, static_cast<std::int64_t>(entry.values.extent(1)) / 2,
                                                   entry.repeats);
    const int          a = static_cast<int>(u - i * B);
    for (int d = -entry.lower; d <= entry.upper; ++d) {
      if (!entry.periodic && (i + d < 0 || i + d >= entry.rows)) continue;
      const std::int64_t first = probe.wrap(i + d) * B;
      for (int b = 0; b < B; ++b) f(first + b, Entry{i, k, d, a, b});
    }
  }
  /// The entries of the matrices of a tile, which are next to each other: matrices are the fast index.
  const Scalar *place(const Tile &tile, const Entry &at) const
  {
    const int B = probe.entry.block;
    return &probe.entry.values(tile.matrix, at.stored, ((at.d + probe.entry.lower) * B + at.a) * B + at.b);
  }
  /// Calls f(v, entries (u, v) of the matrices) for the unknowns v in the band of unknown u.
  template <class F>
  void each(const Tile &tile, std::int64_t u, const F &f) const
  {
    each_entry(u, [&](std::int64_t v, const Entry &at) {
      Scalar e[width] = {};
      if (probe.entry.alpha.data())
        for (int l = 0; l < tile.lines; ++l) e[l] = probe.entry(tile.matrix + l, at.i, at.d, at.a, at.b);
      else if (tile.lines == width) std::copy_n(place(tile, at), width, e); // in registers
      else std::copy_n(place(tile, at), tile.lines, e);
      f(v, e);
    });
  }
  void right_hand_sides(const Tile &tile, std::int64_t u, Scalar (&f)[width]) const
  {
    std::fill(f, f + width, tile.kind < Kernel::first_given ? Scalar(0) : probe.given(tile.kind, u));
    if (tile.kind >= Kernel::first_given) return;
    each(tile, u, [&](std::int64_t v, const Scalar(&e)[width]) {
      const Scalar y = probe.given(tile.kind, v);
      for (int l = 0; l < width; ++l) f[l] += e[l] * y;
    });
  }
};

} // namespace ribbon
