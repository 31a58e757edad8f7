// SPDX-License-Identifier: BSD-2-Clause
/// @file toeplitz_cr.hpp  Cyclic reduction with precomputed coefficients for near-Toeplitz tridiagonal
///   matrices (after Srinath's solver for compact finite differences).
///
/// Rows with one stencil (a, d, c) remain rows with one stencil at every level, except for a few at the
/// ends:
///
///     a' = - a (a / d),    d' = d - a (c / d) - c (a / d),    c' = - c (c / d)
///     forward   r_k <- r_k - a_k r_p / d_p - c_k r_q / d_q       k = 1, 3, 5, ...; p = k - 1, q = k + 1
///     backward  x_k = (r_k - a_k x_p - c_k x_q) / d_k            k = 0, 2, 4, ...
///
/// A level needs (a, 1 / d, c) of the stencil, of P rows at its beginning and of Q rows at its end. P,
/// Q <= 4 rows of the matrix differ from the stencil; in an open line the first and the last row do,
/// because they lack a neighbour. For P = Q = 1 a level has 7 coefficients (the first row has no a, the
/// last no c). The total is 7 (log2 n - 1) + 5 for n = 2^k and 7 (log2(n + 1) - 1) + 1 for n = 2^k - 1.
/// From n = 16 (15) on that is at most the 8 (log2 n - 1) + 2 of the paper, which stores a / d and c / d
/// and omits those of the last row. Scratch holds only r: n values per line.
///
/// The last row of a ring is a separator (see reduction_equations.hpp). It adds per level its two
/// couplings, the a of the first row and the c of the last one. It also adds the inverse of its last pivot.
#pragma once

#include <ribbon/algorithm/cyclic_reduction/reduction_tile.hpp>
#include <ribbon/device/async_copy.hpp>
#include <ribbon/elimination/elimination.hpp>

namespace ribbon {

/// Layout of the coefficients of a level: `a` of an equation, then 1 / d and c.
struct ToeplitzShape {
  int  rows  = 0;           ///< equations of a line, without the separator
  int  first = 1, last = 1; ///< P, Q
  bool ring = false;

  KOKKOS_INLINE_FUNCTION bool has_stencil(int n) const { return n > first + last; }
  /// Number of coefficients of a level of n equations.
  KOKKOS_INLINE_FUNCTION int numbers(int n) const
  {
    return 3 * (has_stencil(n) ? 1 + first + last : n) + (ring ? 2 : -2);
  }
  /// Place of `a` of equation k of n. Without a ring, a of the first one and c of the last one are not
  /// stored.
  KOKKOS_INLINE_FUNCTION int at(int n, int k) const
  {
    const int record = !has_stencil(n) ? k
                       : k < first     ? 1 + k
                       : k < n - last  ? 0
                                       : 1 + first + k - (n - last);
    return 3 * record - (ring || (record == 0 && has_stencil(n)) ? 0 : 1);
  }
};

template <class Scalar>
struct ToeplitzKernel {
  static constexpr int max_threads = 512;
  struct Idle { };
  ToeplitzShape shape;
  ReductionTile tile;
  const Scalar *numbers; ///< level by level, then the inverse pivot of the separator
  const Scalar *b;
  Scalar       *x;
  LineSet       in, out;

  /// r of equations in scratch, with the coefficients of one level.
  struct Level {
    const ReductionTile    &tile;
    const ToeplitzShape    &shape;
    const Scalar           *numbers;
    Scalar                 *memory;
    int                     level, n;
    KOKKOS_FUNCTION Scalar &r(int k, int lane) const
    {
      return memory[tile.place(level, k) * tile.pitch + lane];
    }
    KOKKOS_FUNCTION Scalar number(int k, int e) const
    {
      return read_only_scalar(&numbers[shape.at(n, k) + e]);
    }
    KOKKOS_FUNCTION Scalar a(int k) const { return number(k, 0); }
    KOKKOS_FUNCTION Scalar inverse(int k) const { return number(k, 1); }
    KOKKOS_FUNCTION Scalar c(int k) const { return number(k, 2); }
    /// Couplings of the separator with the last and with the first equation.
    KOKKOS_FUNCTION Scalar separator(int e) const
    {
      return read_only_scalar(&numbers[shape.numbers(n) - 2 + e]);
    }
  };

  /// Eliminates every second equation of level l from equation j of the next one, or from the separator.
  KOKKOS_FUNCTION void reduce(const Level &l, int j, int lane, Scalar *z) const
  {
    const int k = 2 * j + 1;
    if (j == l.n / 2) {
      z[lane] -= l.separator(1) * (l.inverse(0) * l.r(0, lane));
      if (l.n % 2) z[lane] -= l.separator(0) * (l.inverse(l.n - 1) * l.r(l.n - 1, lane));
    } else {
      Scalar r = l.r(k, lane) - l.a(k) * (l.inverse(k - 1) * l.r(k - 1, lane));
      if (k + 1 < l.n) r -= l.c(k) * (l.inverse(k + 1) * l.r(k + 1, lane));
      l.r(k, lane) = r;
    }
  }
  /// Solves the last equation and the separator.
  KOKKOS_FUNCTION void close(const Level &l, int lane, Scalar *z) const
  {
    const int open = shape.rows;
    if (open > 0 && shape.ring) z[lane] -= (l.separator(0) + l.separator(1)) * (l.inverse(0) * l.r(0, lane));
    if (shape.ring) z[lane] *= read_only_scalar(&l.numbers[open > 0 ? shape.numbers(1) : 0]);
    if (open > 0)
      l.r(0, lane) = l.inverse(0) * (shape.ring ? l.r(0, lane) - (l.a(0) + l.c(0)) * z[lane] : l.r(0, lane));
  }
  /// Solves equation 2 j of level l, whose neighbours are known.
  KOKKOS_FUNCTION void substitute(const Level &l, int j, int lane, const Scalar *z) const
  {
    const int k = 2 * j;
    Scalar    r = l.r(k, lane);
    if (k > 0 || shape.ring) r -= l.a(k) * (k > 0 ? l.r(k - 1, lane) : z[lane]);
    if (k + 1 < l.n || shape.ring) r -= l.c(k) * (k + 1 < l.n ? l.r(k + 1, lane) : z[lane]);
    l.r(k, lane) = l.inverse(k) * r;
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    Scalar   *memory = reinterpret_cast<Scalar *>(team.scratch()), *z = memory + tile.places * tile.pitch;
    const int open = shape.rows, rows = open + (shape.ring ? 1 : 0), levels = tile.levels;
    const std::int64_t first = team.league_rank() * tile.lanes(), lines = in.lines();
    const auto         place = [&](int i, int lane) -> Scalar         &{
      return i == open ? z[lane] : memory[tile.place(0, i) * tile.pitch + lane];
    };
    int        offset = 0;
    const auto at     = [&](int level) {
      return Level{tile, shape, numbers + offset, memory, level, tile.equations(level)};
    };

    device::Threads<Idle, Team> threads(team, team.scratch());
    threads.for_each([&](int v, Idle &) {
      tile.for_rows(in, rows, v, team.size(), [&](int i, int lane) {
        device::async_copy(&place(i, lane), b + in(first + lane < lines ? first + lane : lines - 1, i));
      });
      device::async_commit();
      device::async_wait(0);
    });
    team.barrier();
    for (int level = 0; level < levels; ++level) {
      const Level l = at(level);
      threads.for_each([&](int v, Idle &) {
        tile.for_equations(l.n / 2 + (shape.ring ? 1 : 0), v, team.size(),
                           [&](int j, int lane) { reduce(l, j, lane, z); });
      });
      team.barrier();
      offset += shape.numbers(l.n);
    }
    threads.for_each([&](int v, Idle &) {
      tile.for_equations(1, v, team.size(), [&](int, int lane) { close(at(levels), lane, z); });
    });
    team.barrier();
    for (int level = levels - 1; level >= 0; --level) {
      offset -= shape.numbers(tile.equations(level));
      const Level l = at(level);
      threads.for_each([&](int v, Idle &) {
        tile.for_equations((l.n + 1) / 2, v, team.size(),
                           [&](int j, int lane) { substitute(l, j, lane, z); });
      });
      team.barrier();
    }
    threads.for_each([&](int v, Idle &) {
      tile.for_rows(out, rows, v, team.size(), [&](int i, int lane) {
        if (first + lane < lines) x[out(first + lane, i)] = place(i, lane);
      });
    });
  }
};

/// The coefficients of a near-Toeplitz matrix, computed in extended precision.
template <class Scalar>
struct ToeplitzNumbers {
  using Wide                     = wide_t<Scalar>;
  static constexpr int most_ends = 4; ///< rows at either end that may differ from the stencil
  struct Row {
    Wide a = 0, d = 0, c = 0;
  };

  ToeplitzShape       shape;
  std::vector<Scalar> words;

  /// Row that has the stencil.
  static int stencil_row(const HostMatrix<Scalar> &A) { return (A.rows - (A.periodic ? 1 : 0)) / 2; }
  /// First row that differs from the stencil, not counting the ends; -1: no such row. Sets the shape.
  std::int64_t first_difference(const HostMatrix<Scalar> &A)
  {
    const int n = A.rows, m = n - (A.periodic ? 1 : 0), middle = stencil_row(A);
    shape             = {m, 1, 1, A.periodic};
    const auto same   = [](const Wide &x, const Wide &y) { return x == y || (x != x && y != y); };
    const auto differ = [&](int i) {
      return !same(A(i, 0), A(middle, 0)) ||
             ((i > 0 || A.periodic) && middle > 0 && !same(A(i, -1), A(middle, -1))) ||
             ((i + 1 < n) && !same(A(i, 1), A(middle, 1)));
    };
    for (int i = 0; i < m; ++i) {
      if (!differ(i)) continue;
      if (i >= most_ends && i < m - most_ends) return i;
      if (i < middle) shape.first = i + 1;
      else shape.last = std::max(shape.last, m - i);
    }
    return -1;
  }

  /// Computes the coefficients; `watch` sees every pivot.
  void eliminate(const HostMatrix<Scalar> &A, PivotWatch &watch)
  {
    const int        m = shape.rows, sum = shape.first + shape.last;
    Row              separator = shape.ring ? Row{A(m, -1), A(m, 0), A(m, 1)} : Row{};
    std::vector<Row> rows; ///< of a level: the stencil, if there is one, then the first and the last rows
    const auto       index = [&](int n, int k) {
      return !shape.has_stencil(n) ? k : k < shape.first ? 1 + k : k < n - shape.last ? 0 : 1 + k - (n - sum);
    };
    // calls make(k, count of such rows), in the order of `rows`
    const auto each = [&](int n, const auto &make) {
      if (shape.has_stencil(n)) make(shape.first, n - sum);
      for (int k = 0; k < (shape.has_stencil(n) ? shape.first : n); ++k) make(k, 1);
      for (int k = shape.has_stencil(n) ? n - shape.last : n; k < n; ++k) make(k, 1);
    };
    each(m, [&](int k, int) { rows.push_back({A(k, -1), A(k, 0), A(k, 1)}); });
    for (int level = 0, n = m; n > 0; ++level, n /= 2) {
      const auto row = [&](int k) -> const Row & { return rows[static_cast<std::size_t>(index(n, k))]; };
      std::vector<Scalar> numbers;
      each(n, [&](int k, int count) {
        const Row &r = row(k);
        numbers.push_back(narrow<Scalar>(r.a)), numbers.push_back(narrow<Scalar>(Wide(1) / r.d)),
          numbers.push_back(narrow<Scalar>(r.c));
        // the last equation and every second one are eliminated; of the stencil, half of `count`
        const int eliminated = n == 1 ? 1 : count > 1 ? (k + count + 1) / 2 - (k + 1) / 2 : k % 2 == 0;
        if (eliminated == 0) return;
        const int even     = n == 1 ? 0 : k + k % 2,
                  original = static_cast<int>((static_cast<std::int64_t>(even + 1) << level) - 1);
        watch.see(r.d, A.row_max(original), original);
        watch.see_again(r.d, eliminated - 1);
      });
      if (!shape.ring) { // missing coefficients are not stored
        const auto begin = shape.has_stencil(n) ? 3 : 0;
        numbers.erase(numbers.begin() + begin), numbers.pop_back();
      } else numbers.push_back(narrow<Scalar>(separator.a)), numbers.push_back(narrow<Scalar>(separator.c));
      words.insert(words.end(), numbers.begin(), numbers.end());
      if (shape.ring) reduce(separator, n, row(0), row(n - 1));
      std::vector<Row> next;
      each(n / 2, [&](int j, int) {
        const int k = 2 * j + 1;
        const Row p = row(k - 1), r = row(k);
        Row       to{-r.a * p.a / p.d, r.d - r.a * p.c / p.d, r.c};
        if (k + 1 < n) {
          const Row &q = row(k + 1);
          to.d -= r.c * q.a / q.d, to.c = -r.c * q.c / q.d;
        }
        next.push_back(to);
      });
      rows = next;
    }
    if (!shape.ring) return;
    const Wide pivot = m > 0 ? separator.d : separator.a + separator.d + separator.c;
    watch.see(pivot, A.row_max(m), m);
    words.push_back(narrow<Scalar>(Wide(1) / pivot));
  }

private:
  /// Eliminates the adjacent equations from that of the separator.
  static void reduce(Row &s, int n, const Row &first, const Row &last)
  {
    if (n == 1) {
      s.d -= (s.a + s.c) * (first.a + first.c) / first.d;
      return;
    }
    s.d -= s.c * first.a / first.d, s.c *= -first.c / first.d;
    if (n % 2) s.d -= s.a * last.c / last.d, s.a *= -last.a / last.d;
  }
};

/// Solves lines of one near-Toeplitz matrix.
template <class Scalar, class Exec>
class ToeplitzReduction {
public:
  using Memory = typename Exec::memory_space;

  /// @param from   after a call of eliminate()
  /// @param lanes  lines of a team, a power of two; 0: the solver chooses
  ///
  /// fits() is false if no line fits the scratch of a team. Then no other member may be called.
  ToeplitzReduction(const Exec &exec, const LineSet &lines, const ToeplitzNumbers<Scalar> &from, int lanes)
      : shape_(from.shape), numbers_(upload(exec, "ribbon::toeplitz_cr::numbers", from.words))
  {
    const ReductionRoom room{sizeof(Scalar), sizeof(Scalar), device::scratch_limit(exec)};
    tile_    = choose_reduction_tile<Exec>(lines, shape_.rows, 1, false, lanes, room);
    scratch_ = room.bytes(tile_);
    fits_    = shape_.rows == 0 || tile_.places > 0;
  }

  bool        fits() const { return fits_; }
  std::size_t bytes() const { return numbers_.size() * sizeof(Scalar); }

  /// x = A^-1 b for all lines. Asynchronous on exec, one kernel. In place if b == x and both layouts agree.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    using Kernel = ToeplitzKernel<Scalar>;
    device::launch(
      exec, "ribbon::toeplitz_cr",
      {(in.lines() + tile_.lanes() - 1) / tile_.lanes(), tile_.threads(Kernel::max_threads), scratch_},
      Kernel{shape_, tile_, numbers_.data(), b, x, in, out});
  }

private:
  ToeplitzShape                  shape_;
  ReductionTile                  tile_;
  Kokkos::View<Scalar *, Memory> numbers_;
  std::size_t                    scratch_ = 0;
  bool                           fits_    = false;
};

} // namespace ribbon
