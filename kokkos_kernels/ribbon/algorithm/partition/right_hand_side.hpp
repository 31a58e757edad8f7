// SPDX-License-Identifier: BSD-2-Clause
/// @file right_hand_side.hpp  The right-hand side of the reduced system of partition, from the solution of
///   the segments or, before they are solved, from dot products.
#pragma once

#include <ribbon/algorithm/partition/end_dots.hpp>

namespace ribbon {

template <class Scalar, class Memory>
struct PartitionRightHandSide {
  using Parts = typename PartitionKernels<Scalar, Memory>::Parts;
  using Ends  = InverseEnds<Scalar, Memory>;

  /// r, from the right-hand side at the separators and adjacent y; or z if neighbouring separators do not
  /// couple. Unknown a of separators p of line l at (p S + a) lines + l.
  struct GatherKernel {
    /// strands: threads for each side of a boundary
    static constexpr int max_threads = 128, most = PartitionKernels<Scalar, Memory>::most_near, strands = 2;
    Parts                parts;
    Ends                 ends[2];      ///< width 0: y is a solution, otherwise that of a DotKernel
    const Scalar        *b, *y, *near; ///< near: see AssembleKernel; null if separators couple
    LineSet              in, out;      ///< out: of y, if it is a solution
    /// rows of the dot products, if they are computed here; 0: they are in y
    int          reach;
    int          splits;
    std::int64_t matrices;
    Scalar      *r;

    /// If dot products are computed or added up here, a boundary has 2 `strands` threads. Otherwise an
    /// unknown has one.
    device::League league() const
    {
      const std::int64_t threads =
        parts.cut.separators() * parts.cut.lines * (ends[0].width > 0 ? 2 * strands : parts.cut.S());
      return {(threads + max_threads - 1) / max_threads, max_threads,
              max_threads * (most * sizeof(Scalar) + 1)};
    }
    KOKKOS_FUNCTION static std::int64_t at(const LineSet &set, std::int64_t l, std::int64_t i, int a)
    {
      return set(l, i) + a * set.component_stride;
    }

    /// Terms of thread `first` of `strands` in y of part q: the first `width` unknowns (side 0), or the
    /// last.
    template <int width>
    KOKKOS_FUNCTION void find(std::int64_t l, std::int64_t q, int side, int first, Scalar *value) const
    {
      const PartitionCut &cut = parts.cut;
      const Ends         &own = ends[q < cut.pieces ? 0 : 1];
      const int m = static_cast<int>(cut.interior(q)) * cut.B, n = reach * cut.B < m ? reach * cut.B : m,
                begin      = side == 0 ? 0 : m - n;
      Scalar sum[1][width] = {};
      if (reach > 0)
        DotRun<Scalar>{b + in.begin(l) + cut.begin(q) * in.row_stride,
                       in.row_stride,
                       0,
                       own.words.data() + (parts.matrix(l, q) * 2 + side) * width * own.unknowns,
                       own.unknowns,
                       cut.B,
                       in.component_stride}
          .template add<8>(begin + first, begin + n, strands, sum);
      for (int t = first; reach == 0 && t < splits; t += strands)
        for (int v = 0; v < width; ++v)
          sum[0][v] += y[((t * cut.parts() + q) * 2 * width + side * width + v) * cut.lines + l];
      for (int v = 0; v < width; ++v) value[v] = sum[0][v];
    }

    /// Factor of unknown e of the first S of the part right of separators p, or of the last S of part p.
    KOKKOS_FUNCTION Scalar factor(std::int64_t l, std::int64_t p, int side, int a, int e) const
    {
      const int S = parts.cut.S();
      if (near) return near_row(l, p, a)[(side == 0 ? 2 : 1) * S + e];
      if (side == 0 && parts.cut.next(p) < 0) return Scalar(0);
      return side == 0 ? -parts.Us(l, p, a, e) : -parts.Ls(l, p, a, e);
    }
    KOKKOS_FUNCTION const Scalar *near_row(std::int64_t l, std::int64_t p, int a) const
    {
      return near +
             (((matrices > 1 ? l : 0) * parts.cut.separators() + p) * parts.cut.S() + a) * 3 * parts.cut.S();
    }

    KOKKOS_FUNCTION void store(std::int64_t l, std::int64_t p, int a, const Scalar &value) const
    {
      const PartitionCut &cut = parts.cut;
      Scalar             *to  = r + (p * cut.S() + a) * cut.lines + l;
      *to                     = value;
      // left of the first segment
      if (near && cut.ring && p + 1 == cut.separators())
        *(to - cut.separators() * cut.S() * cut.lines) = value;
    }

    template <class Team>
    KOKKOS_FUNCTION void operator()(const Team &team) const
    {
      const PartitionCut &cut = parts.cut;
      const int           S = cut.S(), B = cut.B, width = ends[0].width,
                own                     = width > 0 ? max_threads / (2 * strands) : max_threads;
      Scalar                     *terms = reinterpret_cast<Scalar *>(team.scratch());
      device::Threads<char, Team> all(team, team.scratch() + max_threads * most * sizeof(Scalar));
      const auto                  pair = [&](int v) { return team.league_rank() * own + v % own; };
      const auto                  f    = [&](std::int64_t l, std::int64_t p, int a) {
        return b[at(in, l, cut.begin(p) + cut.interior(p) + a / B, a % B)];
      };
      if (width == 0) {
        all.for_each([&](int v, char &) {
          const std::int64_t k = pair(v), l = k % cut.lines, p = k / cut.lines / S, right = cut.next(p);
          const int          a = static_cast<int>(k / cut.lines % S);
          if (p >= cut.separators()) return;
          Scalar value = f(l, p, a);
          for (int e = 0; e < S; ++e) {
            value +=
              factor(l, p, 1, a, e) * y[at(out, l, cut.begin(p) + cut.interior(p) - cut.K + e / B, e % B)];
            if (right >= 0) value += factor(l, p, 0, a, e) * y[at(out, l, cut.begin(right) + e / B, e % B)];
          }
          store(l, p, a, value);
        });
        return;
      }
      all.for_each([&](int v, char &) { // threads of both sides of a boundary
        const std::int64_t k = pair(v), l = k % cut.lines, p = k / cut.lines;
        const int          side = v / own & 1;
        const std::int64_t q    = p >= cut.separators() ? -1 : side == 1 ? p : cut.next(p);
        Scalar            *to   = terms + v * most;
        for (int e = 0; e < width; ++e) to[e] = Scalar(0);
        if (q < 0) return;
        if (width == 1) find<1>(l, q, side, v / own / 2, to);
        else find<2>(l, q, side, v / own / 2, to);
      });
      team.barrier();
      all.for_each([&](int v, char &) {
        const std::int64_t k = pair(v), l = k % cut.lines, p = k / cut.lines;
        if (p >= cut.separators()) return;
        for (int a = v / own; a < S; a += 2 * strands) {
          Scalar value = near ? Scalar(0) : f(l, p, a);
          for (int e = 0; near && e < S; ++e) value += near_row(l, p, a)[e] * f(l, p, e);
          for (int t = 0; t < 2 * strands; ++t) {
            const int     side = t & 1;
            const Scalar *term = terms + (v % own + t * own) * most;
            for (int e = 0; e < width; ++e) {
              const int i = side == 0 ? e : S - width + e; // among the first or the last S
              if (i >= 0 && i < S) value += factor(l, p, side, a, i) * term[e];
            }
          }
          store(l, p, a, value);
        }
      });
    }
  };
};

} // namespace ribbon
