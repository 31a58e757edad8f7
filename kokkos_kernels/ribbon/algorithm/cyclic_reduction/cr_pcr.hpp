// SPDX-License-Identifier: BSD-2-Clause
/// @file cr_pcr.hpp  Cyclic reduction until few equations are left, then parallel cyclic reduction of these
///   (Zhang, Cohen & Owens 2010, section 3.5).
///
/// One kernel implements three methods. It switches when at most `switch_rows` equations are left: at 1
/// (cyclic reduction), at n (parallel cyclic reduction) or between. A team holds a tile of lines in
/// scratch. Every line is read once and written once. There is no factorization: every solve reads and
/// eliminates the matrices.
#pragma once

#include <ribbon/algorithm/cyclic_reduction/cyclic_reduction.hpp>
#include <ribbon/algorithm/cyclic_reduction/parallel_cyclic_reduction.hpp>
#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/device/async_copy.hpp>

#include <limits>

namespace ribbon {

/// Pivots of a solve, for a report. A row is scaled by a pivot at every level. The product of these is the
/// pivot of the row before scaling.
template <class Real>
struct ReductionPivots {
  /// (matrix, row): the latest pivot relative to the largest entry of the row; null in solves that record
  /// no pivots
  Real *product = nullptr;
  /// (matrix, row): the smallest pivot; -2 for an entry that is not finite, -1 for such a pivot
  Real *smallest = nullptr;
  Real *of_line  = nullptr; ///< (matrix): the smallest of all rows
  int  *row      = nullptr; ///< (matrix): the row of the smallest pivot

  KOKKOS_FUNCTION void first(std::int64_t at, Real pivot, Real scale) const
  {
    product[at]  = scale > 0 ? pivot / scale : Real(0);
    smallest[at] = !is_finite(pivot) || !is_finite(scale) ? Real(-2) : product[at];
  }
  KOKKOS_FUNCTION void next(std::int64_t at, Real pivot) const
  {
    if (smallest[at] == 0) return; // values after a zero pivot are infinite because of it
    product[at] *= pivot;
    if (!is_finite(product[at])) smallest[at] = smallest[at] < Real(-1) ? smallest[at] : Real(-1);
    else if (product[at] < smallest[at]) smallest[at] = product[at];
  }
  /// Finds the smallest pivot of a line. A zero pivot explains values that are not finite in its line.
  KOKKOS_FUNCTION void gather(std::int64_t line, std::int64_t rows) const
  {
    of_line[line] = smallest[line * rows], row[line] = 0;
    for (std::int64_t i = 1; i < rows && of_line[line] != 0; ++i)
      if (smallest[line * rows + i] < of_line[line] || smallest[line * rows + i] == 0)
        of_line[line] = smallest[line * rows + i], row[line] = static_cast<int>(i);
  }
};

/// @tparam Most  see ReductionEquations
template <class Scalar, int Most, class Memory>
struct ReductionKernel {
  static constexpr int max_threads = Most == 1 ? 512 : 128;
  using Real                       = real_t<Scalar>;
  using Equations                  = ReductionEquations<Scalar, Most>;
  using Equation                   = typename Equations::Equation;
  struct Idle { };

  BandEntries<Scalar, Memory> entry;
  const int                  *class_of_line; ///< null: line l has matrix l % matrices
  std::int64_t                classified;    ///< lines in that table
  ReductionTile               shape;
  const Scalar               *b; ///< null means zero, with `pivots` only
  Scalar                     *x;
  LineSet                     in, out;
  ReductionPivots<Real>       pivots;

  static ReductionRoom room(int B, std::size_t team)
  {
    return {Equations::words(B) * sizeof(Scalar), Equations::border_words(B) * sizeof(Scalar), team};
  }

  KOKKOS_FUNCTION std::int64_t matrix(std::int64_t line) const
  {
    return class_of_line ? class_of_line[line % classified] : line % entry.matrices();
  }

  /// Reads and scales row i of matrix c; `to` is an equation or the separator.
  KOKKOS_FUNCTION void fill(const Equations &all, std::int64_t c, int i, const Equation &to,
                            bool is_separator, bool watched) const
  {
    const int                B = all.B();
    PivotBlock<Scalar, Most> M;
    Real                     scale = 0;
    for (int a = 0; a < B; ++a) {
      for (int e = 0; e < B; ++e) {
        to(all.A() + a * B + e) = entry(c, i, -1, a, e);
        to(all.C() + a * B + e) = entry(c, i, 1, a, e);
        M.a[a * B + e]          = entry(c, i, 0, a, e);
        if (is_separator) to(all.D() + a * B + e) = M.a[a * B + e];
      }
      if (!pivots.product) continue;
      const Real largest = entry.row_max(c, i, a);
      if (!(largest <= scale) && scale == scale) scale = largest;
    }
    if (is_separator) {
      if (watched) pivots.first(c * entry.rows + i, scale, scale);
      // close() provides the pivot
      if (watched && scale > 0) pivots.product[c * entry.rows + i] = 1 / scale;
      return;
    }
    const Real pivot = M.factor(B);
    all.scale(M, to, to);
    if (watched) pivots.first(c * entry.rows + i, pivot, scale);
  }

  /// The lines of a team. The last tile repeats the last line.
  struct Lines {
    std::int64_t         first, count; ///< count: of all teams
    KOKKOS_FUNCTION bool has(int lane) const { return first + lane < count; }
    KOKKOS_FUNCTION std::int64_t operator()(int lane) const { return has(lane) ? first + lane : count - 1; }
  };
  KOKKOS_FUNCTION bool watched(const Lines &line, int lane) const { return pivots.product && line.has(lane); }
  /// Equation i of level 0, or the separator after the last one.
  KOKKOS_FUNCTION Equation place(const Equations &all, int i, int lane) const
  {
    return i == shape.rows ? all.separator(lane) : all.equation(0, i, lane);
  }

  /// The equations of a team, in its scratch.
  template <class Team>
  KOKKOS_FUNCTION Equations equations_of(const Team &team) const
  {
    Equations all;
    all.tile = shape, all.block = entry.block, all.ring = entry.periodic;
    all.memory                = reinterpret_cast<Scalar *>(team.scratch());
    const std::size_t numbers = static_cast<std::size_t>(shape.places) *
                                static_cast<std::size_t>(shape.pitch) *
                                static_cast<std::size_t>(2 * all.B() * all.B() + all.B());
    all.border = reinterpret_cast<Scalar *>(team.scratch() + device::align16(numbers * sizeof(Scalar)));
    return all;
  }

  /// Loads the right-hand sides.
  template <class Team>
  KOKKOS_FUNCTION void load(const Equations &all, const Lines &line, int rows, int v, const Team &team) const
  {
    shape.for_rows(in, rows, v, team.size(), [&](int i, int lane) {
      const auto    to   = place(all, i, lane);
      const Scalar *from = b ? b + in(line(lane), i) : nullptr;
      for (int a = 0; a < all.B(); ++a) {
        if (from) device::async_copy(&to(all.R() + a), from + a * in.component_stride);
        else to(all.R() + a) = Scalar(0);
      }
    });
    device::async_commit();
    device::async_wait(0);
  }

  /// Solves for the separators of rings, and eliminates them from the equations of the last level.
  template <class Threads, class Team, class Note>
  KOKKOS_FUNCTION void close_rings(const Equations &all, Threads &threads, const Team &team,
                                   const Note &note) const
  {
    threads.for_each([&](int v, Idle &) {
      shape.for_equations(1, v, team.size(), [&](int, int lane) { note(shape.rows, lane, all.close(lane)); });
    });
    team.barrier();
    threads.for_each([&](int v, Idle &) {
      shape.for_equations(shape.equations(shape.levels), v, team.size(), [&](int k, int lane) {
        const auto e = all.equation(shape.levels, k, lane);
        all.subtract(e, all.A(), all.separator(lane));
        all.subtract(e, all.C(), all.separator(lane));
      });
    });
    team.barrier();
  }

  /// Stores the solutions, or finds the smallest pivots.
  template <class Team>
  KOKKOS_FUNCTION void store(const Equations &all, const Lines &line, int rows, int v, const Team &team) const
  {
    if (pivots.product)
      shape.for_equations(1, v, team.size(), [&](int, int lane) {
        watched(line, lane) ? pivots.gather(line(lane), rows) : void();
      });
    else
      shape.for_rows(out, rows, v, team.size(), [&](int i, int lane) {
        if (!line.has(lane)) return;
        const auto from = place(all, i, lane);
        Scalar    *to   = x + out(line(lane), i);
        for (int a = 0; a < all.B(); ++a) to[a * out.component_stride] = from(all.R() + a);
      });
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team &team) const
  {
    Equations   all  = equations_of(team); // parallel cyclic reduction moves equations
    const int   rows = shape.rows + (all.ring ? 1 : 0), levels = shape.levels;
    const Lines line{team.league_rank() * shape.lanes(), in.lines()};
    const auto  note = [&](int i, int lane, Real pivot) {
      if (watched(line, lane)) pivots.next(matrix(line(lane)) * entry.rows + i, pivot);
    };

    device::Threads<Idle, Team> threads(team, team.scratch());
    threads.for_each([&](int v, Idle &) { load(all, line, rows, v, team); });
    team.barrier();
    threads.for_each([&](int v, Idle &) {
      shape.for_equations(rows, v, team.size(), [&](int i, int lane) {
        fill(all, matrix(line(lane)), i, place(all, i, lane), i == shape.rows, watched(line, lane));
      });
    });
    team.barrier();

    for (int level = 0; level < levels; ++level) reduce(all, level, threads, team, note);
    reduce_in_parallel(all, threads, team, note);
    if (all.ring) close_rings(all, threads, team, note);
    for (int level = levels - 1; level >= 0; --level) substitute(all, level, threads, team);

    threads.for_each([&](int v, Idle &) { store(all, line, rows, v, team); });
  }
};

/// Solves by cyclic reduction, parallel cyclic reduction or both.
template <class Scalar, class Exec>
class Reduction {
public:
  using Memory = typename Exec::memory_space;
  using Real   = real_t<Scalar>;

  /// @param bands        tridiagonal or block tridiagonal; they are copied, and every solve reads them
  /// @param switch_rows  parallel cyclic reduction starts when at most this many equations are left; 1:
  ///   never
  /// @param lanes        lines of a team, a power of two; 0: the solver chooses
  ///
  /// fits() is false if no line fits the scratch of a team. Then no other member may be called.
  Reduction(const Exec &exec, const LineSet &lines, const Bands<Scalar, Memory> &bands,
            std::int64_t switch_rows, int lanes)
      : bands_(copy(exec, bands)), entry_(bands_)
  {
    exec.fence();
    const int  rows = static_cast<int>(lines.rows) - (bands.periodic ? 1 : 0);
    const auto room = bands.block == 1
                        ? ReductionKernel<Scalar, 1, Memory>::room(1, device::scratch_limit(exec))
                        : ReductionKernel<Scalar, 8, Memory>::room(bands.block, device::scratch_limit(exec));
    tile_           = choose_reduction_tile<Exec>(lines, rows, switch_rows, switch_rows > 1, lanes, room);
    scratch_        = room.bytes(tile_);
    fits_           = rows == 0 || tile_.places > 0;
  }

  bool fits() const { return fits_; }
  bool takes(const Bands<Scalar, Memory> &bands) const
  {
    return bands.half_bandwidth() <= 1 && bands.block == entry_.block && bands.periodic == entry_.periodic;
  }
  std::size_t bytes() const
  {
    return (bands_.values.size() + bands_.alpha.size() + bands_.beta.size()) * sizeof(Scalar);
  }

  /// x = A^-1 b for all lines. Asynchronous on exec, one kernel. In place if b == x and both layouts agree.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified) const
  {
    run(exec, entry_, b, in, x, out, class_of_line, classified, {});
  }
  /// The same with other matrices, one per line, with the same block size and the same `periodic`.
  void solve(const Exec &exec, const Bands<Scalar, Memory> &bands, const Scalar *b, const LineSet &in,
             Scalar *x, const LineSet &out) const
  {
    run(exec, BandEntries<Scalar, Memory>(bands), b, in, x, out, nullptr, 1, {});
  }

  /// The smallest pivot of a solve, or that of the first matrix whose pivot is at most the tolerance, and
  /// its matrix and row; -1: not finite.
  void smallest_pivot(const Exec &exec, double tolerance, double &smallest, std::int64_t &matrix,
                      std::int64_t &row) const
  {
    const std::size_t matrices = static_cast<std::size_t>(bands_.matrices()),
                      rows     = static_cast<std::size_t>(bands_.rows());
    const auto words =
      allocate<Kokkos::View<Real *, Memory>>(exec, "ribbon::reduction::pivots", matrices * (2 * rows + 1));
    const auto places = allocate<Kokkos::View<int *, Memory>>(exec, "ribbon::reduction::rows", matrices);
    const auto set =
      LineSet::interleaved(static_cast<std::int64_t>(rows), static_cast<std::int64_t>(matrices))
        .with_components(entry_.block);
    Real *of_line = words.data(), *product = of_line + matrices, *each = product + matrices * rows;
    run(exec, entry_, nullptr, set, nullptr, set, nullptr, 1, {product, each, of_line, places.data()});
    exec.fence();
    const auto found = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), Kokkos::subview(words, std::pair<std::size_t, std::size_t>(0, matrices)));
    const auto where = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), places);
    smallest         = 1e300;
    for (std::size_t c = 0; c < matrices && smallest > tolerance; ++c)
      if (static_cast<double>(found(c)) < smallest)
        smallest = static_cast<double>(found(c)), matrix = static_cast<std::int64_t>(c), row = where(c);
    if (smallest < 0) smallest = -1;
  }

private:
  void run(const Exec &exec, const BandEntries<Scalar, Memory> &entry, const Scalar *b, const LineSet &in,
           Scalar *x, const LineSet &out, const int *class_of_line, std::int64_t classified,
           const ReductionPivots<Real> &pivots) const
  {
    const auto launch = [&](auto most) {
      using Kernel = ReductionKernel<Scalar, most(), Memory>;
      device::launch(
        exec, "ribbon::cyclic_reduction",
        {(in.lines() + tile_.lanes() - 1) / tile_.lanes(), tile_.threads(Kernel::max_threads), scratch_},
        Kernel{entry, class_of_line, classified, tile_, b, x, in, out, pivots});
    };
    if (entry_.block == 1) launch(std::integral_constant<int, 1>{});
    else launch(std::integral_constant<int, 8>{});
  }

  Bands<Scalar, Memory>       bands_; ///< the data of entry_
  BandEntries<Scalar, Memory> entry_;
  ReductionTile               tile_;
  std::size_t                 scratch_ = 0;
  bool                        fits_    = false;
};

} // namespace ribbon
