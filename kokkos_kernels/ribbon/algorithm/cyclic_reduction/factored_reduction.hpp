// SPDX-License-Identifier: BSD-2-Clause
/// @file factored_reduction.hpp  Block cyclic reduction with stored factors, for lines of blocks or wide
///   bands that are too few to fill a device.
///
/// Cyclic reduction (Hockney 1965, with Golub; for blocks Heller, SIAM J. Numer. Anal. 13, 1976) halves the
/// number of equations A_k x_(k-1) + D_k x_k + C_k x_(k+1) = r_k at every level. Even equations are
/// eliminated,
///
///     x_k = D_k^-1 r_k - (D_k^-1 A_k) x_(k-1) - (D_k^-1 C_k) x_(k+1),
///
/// and odd equations become equations 0, 1, 2, ... of the next level, with
///
///     r_k <- r_k - (A_k D_(k-1)^-1) r_(k-1) - (C_k D_(k+1)^-1) r_(k+1).
///
/// The factorization stores D_k^-1 and all products in parentheses. A solve of m equations has 2 log2 m
/// steps of small products, each for all equations and components at once. `thomas` has 2 n dependent steps
/// for n rows. If rows couple with K others on either side, K rows form an equation of S = K B <= 8
/// unknowns. Factors need 5 S^2 values per equation, those of `thomas` 3 S^2.
///
/// Only diagonal blocks have row pivoting, in their inversion.
#pragma once

#include <ribbon/device/temporary.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/device/team_launch.hpp>
#include <ribbon/line_set.hpp>
#include <ribbon/elimination/small_block.hpp>

#include <algorithm>
#include <cstring>

namespace ribbon {

/// Sizes of the equations of a line, and the layout of their factors. Equation k of level l is equation
/// (k + 1) 2^l - 1 of level 0.
struct FactoredReductionShape {
  int rows = 0, group = 1, block = 1; ///< rows of a line; rows of an equation (K); unknowns of a row (B)

  KOKKOS_INLINE_FUNCTION int        size() const { return group * block; } ///< S
  KOKKOS_INLINE_FUNCTION int        equations() const { return (rows + group - 1) / group; }
  KOKKOS_INLINE_FUNCTION static int kept(int equations) { return equations / 2; }
  KOKKOS_INLINE_FUNCTION static int left_out(int equations) { return equations - equations / 2; }
  KOKKOS_INLINE_FUNCTION static int place(int level, int k) { return ((k + 1) << level) - 1; }
  /// Length of the factors of a level: two blocks for each equation that remains, then three for each
  /// eliminated one. Column b of block w of equation j of `count` begins at ((w S + b) count + j) S, so
  /// that neighbouring threads read neighbouring values.
  KOKKOS_INLINE_FUNCTION std::int64_t kept_words(int equations) const
  {
    return std::int64_t(2) * size() * size() * kept(equations);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t words(int equations) const
  {
    return kept_words(equations) + std::int64_t(3) * size() * size() * left_out(equations);
  }
  /// Length of the factors of all levels.
  KOKKOS_INLINE_FUNCTION std::int64_t words() const
  {
    std::int64_t sum = 0;
    for (int m = equations(); m > 0; m = kept(m)) sum += words(m);
    return sum;
  }
};

/// Solves lines: a team holds `lanes` of them in its scratch.
/// @tparam Most  largest S: unrolled loops have this length and end early
template <class Scalar, int Most>
struct FactoredReductionSolve {
  static constexpr int max_threads = 256;
  struct Idle { };

  FactoredReductionShape shape;
  int                    lanes;
  std::int64_t           words; ///< length of the factors of a matrix
  const Scalar          *factors;
  std::int64_t           first, matrices; ///< line l has matrix (first + l) % matrices
  const Scalar          *b;
  Scalar                *x;
  LineSet                in, out;

  template <class F>
  KOKKOS_INLINE_FUNCTION static void each(int n, const F &f)
  {
    RIBBON_UNROLL
    for (int k = 0; k < Most; ++k) {
      if (k >= n) break;
      f(k);
    }
  }
  /// sum += a row of a block, times v. `from`: first entry of the row; `column`: distance of its entries.
  KOKKOS_INLINE_FUNCTION void multiply(const Scalar *from, std::int64_t column, const Scalar *v,
                                       Scalar &sum) const
  {
    each(shape.size(), [&](int e) { add_product(sum, read_only_scalar(from + e * column), v[e]); });
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const int          S = shape.size(), B = shape.block, all = shape.equations(), n = all * S;
    const std::int64_t begin = team.league_rank() * lanes, lines = in.lines();
    const int          active = static_cast<int>(lines - begin < lanes ? lines - begin : lanes);
    Scalar            *r = reinterpret_cast<Scalar *>(team.scratch()), *y = r + lanes * n;
    const auto         of = [&](int lane) { return factors + (first + begin + lane) % matrices * words; };
    // calls work(lane, j, a) for component a of equation j of `count`, for all lines of the team
    const auto share = [&](int v, int count, const auto &work) {
      for (int e = v; e < active * count * S; e += team.size()) work(e / (count * S), e / S % count, e % S);
    };
    device::Threads<Idle, Team> threads(team, team.scratch());
    threads.for_each([&](int v, Idle &) {
      share(v, all, [&](int lane, int k, int a) {
        const int row = k * shape.group + a / B;
        r[lane * n + k * S + a] =
          row < shape.rows ? b[in(begin + lane, row) + a % B * in.component_stride] : Scalar(0);
      });
    });
    team.barrier();
    std::int64_t at    = 0;
    int          level = 0, m = all;
    for (; m > 1; m = shape.kept(m), ++level) {
      const int kept = shape.kept(m);
      threads.for_each([&](int v, Idle &) {
        share(v, kept, [&](int lane, int j, int a) {
          const Scalar      *from   = of(lane) + at + j * S + a;
          const std::int64_t column = std::int64_t(kept) * S;
          Scalar            *line = r + lane * n, sum = line[shape.place(level, 2 * j + 1) * S + a];
          multiply(from, column, line + shape.place(level, 2 * j) * S, sum);
          if (2 * j + 2 < m)
            multiply(from + S * column, column, line + shape.place(level, 2 * j + 2) * S, sum);
          line[shape.place(level, 2 * j + 1) * S + a] = sum;
        });
      });
      team.barrier();
      at += shape.words(m);
    }
    for (; level >= 0; --level) {
      m                           = all >> level;
      const int          left_out = shape.left_out(m);
      const std::int64_t here     = at + shape.kept_words(m);
      threads.for_each([&](int v, Idle &) {
        share(v, left_out, [&](int lane, int j, int a) {
          const Scalar      *from   = of(lane) + here + j * S + a;
          const std::int64_t column = std::int64_t(left_out) * S;
          const int          k      = shape.place(level, 2 * j);
          Scalar             sum(0), *line = y + lane * n;
          multiply(from, column, r + lane * n + k * S, sum);
          if (j > 0) multiply(from + S * column, column, line + shape.place(level, 2 * j - 1) * S, sum);
          if (2 * j + 1 < m)
            multiply(from + 2 * S * column, column, line + shape.place(level, 2 * j + 1) * S, sum);
          line[k * S + a] = sum;
          const int row   = k * shape.group + a / B;
          if (row < shape.rows) x[out(begin + lane, row) + a % B * out.component_stride] = sum;
        });
      });
      team.barrier();
      if (level > 0) at -= shape.words(all >> (level - 1));
    }
  }
};

/// Factors matrices: a team factors one matrix, level by level. Equations of level 0 are read from the bands,
/// those of other levels from the workspace of the matrix: entry e of block w (A, D, C) of equation k of
/// `count` is at (w S^2 + e) count + k.
template <class Scalar, int Most, class Memory>
struct FactoredReductionFactor {
  static constexpr int max_threads = 128;
  using Real                       = real_t<Scalar>;
  using Block                      = SmallBlock<Scalar, Most>;
  struct Idle { };

  BandEntries<Scalar, Memory> entry;
  FactoredReductionShape      shape;
  std::int64_t                words; ///< length of the factors of a matrix
  Scalar                     *factors;
  Scalar                     *odd, *even; ///< workspace of all matrices: levels 1, 3, ...; levels 2, 4, ...
  unsigned long long         *pivots;     ///< for each matrix, ~key() of its worst pivot

  struct Level {
    int           number, count; ///< index of the level, count of its equations
    std::int64_t  at;            ///< offset of its factors
    const Scalar *now;
    Scalar       *next;
  };

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    const std::int64_t          c           = team.league_rank();
    const std::int64_t          of_equation = std::int64_t(3) * shape.size() * shape.size();
    Scalar *const               mine[2]     = {odd + c * of_equation * (shape.equations() / 2),
                                               even + c * of_equation * (shape.equations() / 4)};
    device::Threads<Idle, Team> threads(team, team.scratch());
    threads.for_each([&](int v, Idle &) { v == 0 ? void(pivots[c] = 0) : void(); });
    team.barrier();
    for (Level level{0, shape.equations(), 0, nullptr, mine[0]}; level.count > 0;) {
      threads.for_each([&](int v, Idle &) {
        for (int j = v; j < shape.left_out(level.count); j += team.size()) leave_out(level, c, j);
      });
      team.barrier();
      threads.for_each([&](int v, Idle &) {
        for (int j = v; j < shape.kept(level.count); j += team.size()) keep(level, c, j);
      });
      team.barrier();
      level = {level.number + 1, shape.kept(level.count), level.at + shape.words(level.count), level.next,
               mine[1 - level.number % 2]};
    }
  }

  /// Orders failures of a line, causes before consequences: entries that are not finite, zero pivots,
  /// pivots that are not finite. Then come pivots by their size relative to the largest entry of the row.
  /// The lower half of the key is the row.
  KOKKOS_FUNCTION static unsigned long long key(Real pivot, Real largest, std::int64_t row)
  {
    const auto   size = static_cast<float>(largest > 0 ? pivot / largest : Real(0));
    unsigned int bits = 2;
    if (!is_finite(largest)) bits = 0;
    else if (size == 0) bits = 1;
    else if (is_finite(pivot) && is_finite(size)) {
      memcpy(&bits, &size, sizeof bits);
      bits += 3;
    }
    return static_cast<unsigned long long>(bits) << 32 | static_cast<unsigned long long>(row);
  }
  /// The relative size of the pivot of a key; -1: not finite.
  KOKKOS_FUNCTION static Real size_of(unsigned long long key)
  {
    unsigned int bits = static_cast<unsigned int>(key >> 32);
    float        size = bits == 1 ? 0 : -1;
    if (bits > 2) {
      bits -= 3;
      memcpy(&size, &bits, sizeof bits);
    }
    return static_cast<Real>(size);
  }

  /// Block w = -1, 0, 1 (A, D, C) of an equation. Rows and columns from S on, and rows that pad the last
  /// equation, are those of the identity (w = 0) or zero.
  KOKKOS_FUNCTION Block read(const Level &level, std::int64_t c, int k, int w) const
  {
    const int S = shape.size(), B = shape.block;
    Block     result;
    RIBBON_UNROLL
    for (int a = 0; a < Most; ++a) RIBBON_UNROLL
    for (int b = 0; b < Most; ++b) {
      const int i = k * shape.group + a / B, j = (k + w) * shape.group + b / B;
      if (a >= S || b >= S || (level.number == 0 && i >= shape.rows))
        result.a[a][b] = w == 0 && a == b ? Scalar(1) : Scalar(0);
      else if (level.number > 0) result.a[a][b] = level.now[((w + 1) * S * S + a * S + b) * level.count + k];
      else if (j >= 0 && j < shape.rows) result.a[a][b] = entry(c, i, j - i, a % B, b % B);
    }
    return result;
  }
  /// Largest entry of the rows of the equation that begins with `row`.
  KOKKOS_FUNCTION Real scale(std::int64_t c, int row) const
  {
    Real largest = 0;
    for (int i = row; i < row + shape.group && i < shape.rows; ++i)
      for (int a = 0; a < shape.block; ++a) {
        const Real size = entry.row_max(c, i, a);
        if (!(size <= largest) && largest == largest) largest = size; // keeps NaN
      }
    return largest;
  }
  KOKKOS_FUNCTION void store(std::int64_t c, std::int64_t begin, int w, int count_of, int j,
                             const Block &block, Real sign) const
  {
    const int S  = shape.size();
    Scalar   *to = factors + c * words + begin;
    RIBBON_UNROLL
    for (int b = 0; b < Most; ++b) RIBBON_UNROLL
    for (int a = 0; a < Most; ++a)
      if (a < S && b < S) to[((std::int64_t(w) * S + b) * count_of + j) * S + a] = block.a[a][b] * sign;
  }
  KOKKOS_FUNCTION Block load(std::int64_t c, std::int64_t begin, int w, int count_of, int j) const
  {
    const int     S    = shape.size();
    const Scalar *from = factors + c * words + begin;
    Block         block;
    RIBBON_UNROLL
    for (int b = 0; b < Most; ++b) RIBBON_UNROLL
    for (int a = 0; a < Most; ++a)
      if (a < S && b < S) block.a[a][b] = from[((std::int64_t(w) * S + b) * count_of + j) * S + a];
    return block;
  }

  /// Stores D^-1, -D^-1 A and -D^-1 C of equation k = 2 j, which is eliminated.
  KOKKOS_FUNCTION void leave_out(const Level &level, std::int64_t c, int j) const
  {
    const int          left_out = shape.left_out(level.count), k = 2 * j;
    const std::int64_t begin   = level.at + shape.kept_words(level.count);
    const int          row     = shape.place(level.number, k) * shape.group;
    const Real         largest = scale(c, row);
    const Block        inverse = read(level, c, k, 0).inverse([&](const Scalar &pivot, int p) {
      if (p < shape.size()) Kokkos::atomic_fetch_max(pivots + c, ~key(magnitude(pivot), largest, row));
    });
    store(c, begin, 0, left_out, j, inverse, 1);
    store(c, begin, 1, left_out, j, inverse * read(level, c, k, -1), -1);
    store(c, begin, 2, left_out, j, inverse * read(level, c, k, 1), -1);
  }
  /// Stores -A_k D_(k-1)^-1 and -C_k D_(k+1)^-1 of k = 2 j + 1, and the resulting equation j of the next
  /// level.
  KOKKOS_FUNCTION void keep(const Level &level, std::int64_t c, int j) const
  {
    const int kept = shape.kept(level.count), left_out = shape.left_out(level.count), S = shape.size();
    const std::int64_t begin = level.at + shape.kept_words(level.count);
    const auto         put   = [&](int w, const Block &block) {
      RIBBON_UNROLL
      for (int a = 0; a < Most; ++a) RIBBON_UNROLL
      for (int b = 0; b < Most; ++b)
        if (a < S && b < S) level.next[(w * S * S + a * S + b) * kept + j] = block.a[a][b];
    };
    Block       D = read(level, c, 2 * j + 1, 0);
    const Block A = read(level, c, 2 * j + 1, -1);
    store(c, level.at, 0, kept, j, A * load(c, begin, 0, left_out, j), -1);
    put(0, A * load(c, begin, 1, left_out, j));
    add(D, A * load(c, begin, 2, left_out, j));
    if (2 * j + 2 < level.count) {
      const Block C = read(level, c, 2 * j + 1, 1);
      store(c, level.at, 1, kept, j, C * load(c, begin, 0, left_out, j + 1), -1);
      put(2, C * load(c, begin, 2, left_out, j + 1));
      add(D, C * load(c, begin, 1, left_out, j + 1));
    } else {
      store(c, level.at, 1, kept, j, Block(), 1);
      put(2, Block());
    }
    put(1, D);
  }
  KOKKOS_FUNCTION static void add(Block &to, const Block &from)
  {
    RIBBON_UNROLL
    for (int a = 0; a < Most; ++a) RIBBON_UNROLL
    for (int b = 0; b < Most; ++b) to.a[a][b] += from.a[a][b];
  }
};

/// The worst pivot of all matrices.
template <class Factor>
struct FactoredReductionPivots {
  using Real       = typename Factor::Real;
  using value_type = typename SmallestPivot<Real>::value_type;
  const unsigned long long *pivots; ///< as FactoredReductionFactor stores them
  std::int64_t              rows;
  Real                      tolerance;
  KOKKOS_FUNCTION void      operator()(const std::int64_t c, value_type &worst) const
  {
    const unsigned long long key = ~pivots[c];
    value_type line = SmallestPivot<Real>::start(c * rows + static_cast<std::int64_t>(key & 0xffffffffull));
    line.val        = Factor::size_of(key);
    SmallestPivot<Real>::finish(line, tolerance, worst);
  }
};

/// Block cyclic reduction of lines with one matrix per line, which are not periodic.
template <class Scalar, class Exec>
class FactoredReduction {
public:
  using Memory = typename Exec::memory_space;
  using Real   = real_t<Scalar>;
  using Input  = Bands<Scalar, Memory>;

  static constexpr int most = 8; ///< unknowns of an equation

  /// Whether block cyclic reduction can factor these matrices.
  static bool takes(const Input &bands)
  {
    return !bands.periodic && (bands.lhs == Lhs::per_line || bands.lhs == Lhs::shifted) &&
           std::max(1, bands.half_bandwidth()) * bands.block <= most;
  }
  /// Bytes of scratch per line.
  static std::size_t scratch(std::int64_t rows, const Input &bands)
  {
    const int K = std::max(1, bands.half_bandwidth());
    return device::align16(2 * static_cast<std::size_t>((rows + K - 1) / K * K * bands.block) *
                           sizeof(Scalar));
  }

  /// Allocates factors; factor() computes them.
  /// @param bands  such that takes(bands), with lines that fit the scratch of a team
  FactoredReduction(const Exec &exec, const Input &bands) : matrices_(bands.matrices())
  {
    shape_ = {static_cast<int>(bands.rows()), std::max(1, bands.half_bandwidth()), bands.block};
    words_ = shape_.words();
    factors_ =
      allocate<Factors>(exec, "ribbon::factored_reduction", static_cast<std::size_t>(words_ * matrices_));
    const int items = std::max(1, shape_.left_out(shape_.equations()) * shape_.size());
    threads_        = 32;
    while (threads_ < items && threads_ < 256) threads_ *= 2;
    const auto bytes = scratch(bands.rows(), bands), limit = device::scratch_limit(exec);
    lanes_ = static_cast<int>(std::max<std::size_t>(
      1, std::min<std::size_t>(static_cast<std::size_t>(128 / threads_), limit / bytes)));
    threads_ *= lanes_;
    scratch_ = 2 * static_cast<std::size_t>(lanes_ * shape_.equations() * shape_.size()) * sizeof(Scalar);
  }

  std::size_t bytes() const { return factors_.size() * sizeof(Scalar); }
  bool        takes_again(const Input &bands) const
  {
    return takes(bands) && bands.rows() == shape_.rows && bands.matrices() == matrices_ &&
           bands.block == shape_.block && std::max(1, bands.half_bandwidth()) == shape_.group;
  }

  /// Factors matrices for which takes_again(bands). Asynchronous, except for the pivots.
  /// @return the smallest pivot relative to the largest entry of its rows, or the first pivot no larger than
  /// `tolerance`, in the form of SmallestPivot: loc is matrix * rows + row
  typename SmallestPivot<Real>::value_type factor(const Exec &exec, const Input &bands, Real tolerance)
  {
    return with_size([&](auto most_of) { return factor_with<most_of()>(exec, bands, tolerance); });
  }

  /// x = A^-1 b. The lines have the matrices from `first` on. Asynchronous, one kernel; b == x is allowed.
  void solve(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
             const LineSet &out) const
  {
    with_size([&](auto most_of) {
      device::launch(exec, "ribbon::factored_reduction",
                     {(in.lines() + lanes_ - 1) / lanes_, threads_, scratch_},
                     FactoredReductionSolve<Scalar, most_of()>{shape_, lanes_, words_, factors_.data(), first,
                                                               matrices_, b, x, in, out});
      return 0;
    });
  }

private:
  using Factors = Kokkos::View<Scalar *, Memory>;
  using Key     = unsigned long long;

  template <class F>
  auto with_size(const F &f) const
  {
    const int S = shape_.size();
    if (S <= 2) return f(std::integral_constant<int, 2>{});
    if (S <= 4) return f(std::integral_constant<int, 4>{});
    return f(std::integral_constant<int, most>{});
  }

  template <int Most>
  typename SmallestPivot<Real>::value_type factor_with(const Exec &exec, const Input &bands, Real tolerance)
  {
    using Factor    = FactoredReductionFactor<Scalar, Most, Memory>;
    const auto room = [&](int equations) {
      return Temporary<Scalar, Exec>(
        exec, "ribbon::factored_reduction::equations",
        static_cast<std::size_t>(matrices_ * 3 * shape_.size() * shape_.size() * equations));
    };
    const int                      all = shape_.equations();
    const Temporary<Key, Exec>     pivots(exec, "ribbon::factored_reduction::pivots",
                                          static_cast<std::size_t>(matrices_));
    const Temporary<Scalar, Exec>  odd = room(all / 2), even = room(all / 4);
    const PivotPlace<Real, Memory> place(exec);
    int                            threads = 32;
    while (threads < shape_.left_out(all) && threads < Factor::max_threads) threads *= 2;
    device::launch(exec, "ribbon::factored_reduction::factor", {matrices_, threads, 16},
                   Factor{BandEntries<Scalar, Memory>(bands), shape_, words_, factors_.data(), odd.data(),
                          even.data(), pivots.data()});
    Kokkos::parallel_reduce("ribbon::factored_reduction::smallest", indices(exec, matrices_),
                            FactoredReductionPivots<Factor>{pivots.data(), shape_.rows, tolerance},
                            place.reducer());
    return place.found(exec);
  }

  FactoredReductionShape shape_;
  std::int64_t           matrices_ = 0, words_ = 0;
  int                    lanes_ = 1, threads_ = 32;
  std::size_t            scratch_ = 0;
  Factors                factors_;
};

} // namespace ribbon
