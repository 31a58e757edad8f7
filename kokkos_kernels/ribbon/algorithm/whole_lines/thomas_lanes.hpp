// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_lanes.hpp  Coefficients of the lines of a tile, for sweeps over several lanes at a time.
///
/// forward(i) and backward(i) return the places of the coefficients of row i. A coefficient of lane l is l
/// places further, unless the lanes are the `same` and share it.
#pragma once

#include <ribbon/algorithm/whole_lines/thomas_factors.hpp>
#include <ribbon/host/vectors.hpp>

namespace ribbon {

/// The coefficient of distance q is L[q * next], and likewise D.
template <class Scalar>
struct ForwardLanes {
  const Scalar *inv, *L, *D;
  std::int64_t  next;
};
template <class Scalar>
struct BackwardLanes {
  const Scalar *U, *H;
  std::int64_t  next;
};

/// All lanes share a matrix.
template <class Scalar, int P>
struct SameLanes {
  static constexpr bool                   same = true;
  typename SharedFactors<Scalar, P>::Line line;

  KOKKOS_FUNCTION ForwardLanes<Scalar> forward(std::int64_t i) const
  {
    return {line.f[i].inv, line.f[i].L, line.f[i].D, 1};
  }
  KOKKOS_FUNCTION BackwardLanes<Scalar> backward(std::int64_t i) const
  {
    return {line.w[i].U, line.w[i].H, 1};
  }
  KOKKOS_FUNCTION auto closure(int) const { return line.closure(); }
};

/// Matrices of neighbouring lanes are neighbours in memory, word by word (PerLineFactors).
template <class Scalar, int P>
struct NeighbourLanes {
  static constexpr bool                    same = false;
  typename PerLineFactors<Scalar, P>::Line line; ///< of lane 0

  KOKKOS_FUNCTION const Scalar *word(std::int64_t i, int j) const
  {
    return line.at + (i * line.words() + j) * line.count;
  }
  KOKKOS_FUNCTION ForwardLanes<Scalar> forward(std::int64_t i) const
  {
    return {word(i, 0), word(i, 1), word(i, 1 + 2 * P), line.count};
  }
  KOKKOS_FUNCTION BackwardLanes<Scalar> backward(std::int64_t i) const
  {
    return {word(i, 1 + P), word(i, 1 + 3 * P), line.count};
  }
  KOKKOS_FUNCTION auto closure(int l) const { return line.neighbour(l).closure(); }
};

/// Lanes have coefficients in different places, which are gathered. Lanes without a line have zeros.
template <class Scalar, int P, int Lanes, class Line>
struct DifferentLanes {
  static constexpr bool same = false;
  Line                  line[Lanes];
  int                   lanes;
  Scalar                word[1 + 2 * P][Lanes];

  KOKKOS_FUNCTION ForwardLanes<Scalar> forward(std::int64_t i)
  {
    for (int l = 0; l < lanes; ++l) {
      const auto row = line[l].forward(i);
      word[0][l]     = row.inv[0];
      for (int q = 0; q < P; ++q) word[1 + q][l] = row.L[q], word[1 + P + q][l] = row.D[q];
    }
    return {word[0], word[1], word[1 + P], Lanes};
  }
  KOKKOS_FUNCTION BackwardLanes<Scalar> backward(std::int64_t i)
  {
    for (int l = 0; l < lanes; ++l) {
      const auto row = line[l].backward(i);
      for (int q = 0; q < P; ++q) word[q][l] = row.U[q], word[P + q][l] = row.H[q];
    }
    return {word[0], word[P], Lanes};
  }
  KOKKOS_FUNCTION auto closure(int l) const { return line[l].closure(); }
};

/// Calls f with the coefficients of lines first, ..., first + lanes - 1.
template <int Lanes, class Scalar, int P, class Factors, class F>
KOKKOS_FUNCTION void with_different_lanes(const Factors &factors, std::int64_t first, int lanes, const F &f)
{
  DifferentLanes<Scalar, P, Lanes, typename Factors::Line> all = {};
  all.lanes                                                    = lanes;
  for (int l = 0; l < lanes; ++l) all.line[l] = factors.line(first + l);
  f(all);
}
template <int Lanes, class Scalar, int P, class F>
KOKKOS_FUNCTION void with_lanes(const SharedFactors<Scalar, P> &factors, std::int64_t first, int lanes,
                                const F &f)
{
  bool same = true;
  if (factors.class_of_line)
    for (int l = 1; l < lanes; ++l) same = same && factors.matrix(first + l) == factors.matrix(first);
  if (same) f(SameLanes<Scalar, P>{factors.line(first)});
  else with_different_lanes<Lanes, Scalar, P>(factors, first, lanes, f);
}
template <int Lanes, class Scalar, int P, class F>
KOKKOS_FUNCTION void with_lanes(const PerLineFactors<Scalar, P> &factors, std::int64_t first, int lanes,
                                const F &f)
{
  if (lanes == Lanes && first % factors.count + lanes <= factors.count)
    f(NeighbourLanes<Scalar, P>{factors.line(first)});
  else with_different_lanes<Lanes, Scalar, P>(factors, first, lanes, f);
}

} // namespace ribbon
