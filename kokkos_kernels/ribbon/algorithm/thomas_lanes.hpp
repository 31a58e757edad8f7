// SPDX-License-Identifier: BSD-2-Clause
/// @file thomas_lanes.hpp  Coefficients of the lines of a tile, for loops over its lanes that a compiler makes vectors of.
///
/// forward(i) and backward(i) give row i of all lanes: inv(l), L(q, l), D(q, l) and U(q, l), H(q, l) for lane l. Numbers come one by one,
/// since compilers make no vectors of loops that copy records.
#pragma once

#include <ribbon/algorithm/thomas_factors.hpp>

namespace ribbon {

/// All lanes share a matrix: its coefficients are read once per row.
template <class Line>
struct SameLanes {
  Line line;

  template <class Row>
  struct Shared {
    Row                         row;
    KOKKOS_FUNCTION const auto &inv(int) const { return row.inv[0]; }
    KOKKOS_FUNCTION const auto &L(int q, int) const { return row.L[q]; }
    KOKKOS_FUNCTION const auto &D(int q, int) const { return row.D[q]; }
    KOKKOS_FUNCTION const auto &U(int q, int) const { return row.U[q]; }
    KOKKOS_FUNCTION const auto &H(int q, int) const { return row.H[q]; }
  };
  KOKKOS_FUNCTION auto forward(std::int64_t i) const { return Shared<decltype(line.forward(i))>{line.forward(i)}; }
  KOKKOS_FUNCTION auto backward(std::int64_t i) const { return Shared<decltype(line.backward(i))>{line.backward(i)}; }
  KOKKOS_FUNCTION auto closure(int) const { return line.closure(); }
};

/// Matrices of neighbouring lanes lie side by side, word by word (PerLineFactors).
template <class Scalar, int P>
struct NeighbourLanes {
  typename PerLineFactors<Scalar, P>::Line line; ///< of lane 0

  struct Row {
    const Scalar                 *word;
    std::int64_t                  count;
    KOKKOS_FUNCTION const Scalar &inv(int l) const { return word[l]; }
    KOKKOS_FUNCTION const Scalar &L(int q, int l) const { return word[(1 + q) * count + l]; }
    KOKKOS_FUNCTION const Scalar &U(int q, int l) const { return word[(1 + P + q) * count + l]; }
    KOKKOS_FUNCTION const Scalar &D(int q, int l) const { return word[(1 + 2 * P + q) * count + l]; }
    KOKKOS_FUNCTION const Scalar &H(int q, int l) const { return word[(1 + 3 * P + q) * count + l]; }
  };
  KOKKOS_FUNCTION Row  forward(std::int64_t i) const { return {line.at + i * line.words() * line.count, line.count}; }
  KOKKOS_FUNCTION Row  backward(std::int64_t i) const { return forward(i); }
  KOKKOS_FUNCTION auto closure(int l) const { return line.neighbour(l).closure(); }
};

/// Every lane has its own place.
template <class Line, int Lanes>
struct DifferentLanes {
  Line line[Lanes];

  struct Row {
    const Line          *line;
    std::int64_t         i;
    KOKKOS_FUNCTION auto inv(int l) const { return line[l].forward(i).inv[0]; }
    KOKKOS_FUNCTION auto L(int q, int l) const { return line[l].forward(i).L[q]; }
    KOKKOS_FUNCTION auto D(int q, int l) const { return line[l].forward(i).D[q]; }
    KOKKOS_FUNCTION auto U(int q, int l) const { return line[l].backward(i).U[q]; }
    KOKKOS_FUNCTION auto H(int q, int l) const { return line[l].backward(i).H[q]; }
  };
  KOKKOS_FUNCTION Row  forward(std::int64_t i) const { return {line, i}; }
  KOKKOS_FUNCTION Row  backward(std::int64_t i) const { return {line, i}; }
  KOKKOS_FUNCTION auto closure(int l) const { return line[l].closure(); }
};

/// Calls f with the coefficients of lines first, ..., first + lanes - 1.
template <int Lanes, class Factors, class F>
KOKKOS_FUNCTION void with_different_lanes(const Factors &factors, std::int64_t first, int lanes, const F &f)
{
  DifferentLanes<typename Factors::Line, Lanes> all = {};
  for (int l = 0; l < lanes; ++l) all.line[l] = factors.line(first + l);
  f(all);
}
template <int Lanes, class Scalar, int P, class F>
KOKKOS_FUNCTION void with_lanes(const SharedFactors<Scalar, P> &factors, std::int64_t first, int lanes, const F &f)
{
  bool same = true;
  if (factors.class_of_line)
    for (int l = 1; l < lanes; ++l) same = same && factors.matrix(first + l) == factors.matrix(first);
  if (same) f(SameLanes<typename SharedFactors<Scalar, P>::Line>{factors.line(first)});
  else with_different_lanes<Lanes>(factors, first, lanes, f);
}
template <int Lanes, class Scalar, int P, class F>
KOKKOS_FUNCTION void with_lanes(const PerLineFactors<Scalar, P> &factors, std::int64_t first, int lanes, const F &f)
{
  if (first % factors.count + lanes <= factors.count) f(NeighbourLanes<Scalar, P>{factors.line(first)});
  else with_different_lanes<Lanes>(factors, first, lanes, f);
}

} // namespace ribbon
