// SPDX-License-Identifier: BSD-2-Clause
/// @file direction_split_kernels.hpp  Definitions of the functions in direction_split.hpp. They are
///   compiled where they are included, for one scalar, and not into the library of kernels for every
///   scalar.
#pragma once

#include <ribbon/splitting/row_splitter.hpp>

#include <algorithm>
#include <cmath>

template <>
struct Kokkos::reduction_identity<ribbon::SplitCounts> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::SplitCounts sum() { return ribbon::SplitCounts(); }
};

template <>
struct Kokkos::reduction_identity<ribbon::Convection> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::Convection sum() { return ribbon::Convection(); }
};

namespace ribbon {

namespace direction_split {

/// Receives the values of a row, part by part, in the order of storage. Stores them, or compares them with
/// the stored ones.
template <class Scalar, class Index, bool writes>
struct TakeParts {
  static constexpr int             most = SplitParts<Scalar, Index>::most;
  const SplitParts<Scalar, Index> &parts;
  Index                            at[most][2];
  bool                             differs = false;

  KOKKOS_FUNCTION TakeParts(const SplitParts<Scalar, Index> &p, std::int64_t r) : parts(p)
  {
    for (int part = 0; part < most; ++part)
      for (int b = 0; b < 2; ++b) at[part][b] = p.row_begin[part][b] ? p.row_begin[part][b][r] : 0;
  }
  KOKKOS_FUNCTION void operator()(int part, int b, const Scalar &v, int, int)
  {
    Scalar *number = nullptr;
    for (int p = 0; p < most; ++p) // compile-time indices and no branches, so that arrays are registers
      for (int c = 0; c < 2; ++c) {
        const bool here = p == part && c == b;
        if (here && parts.row_begin[p][c]) number = parts.value[p][c] + at[p][c];
        at[p][c] += here;
      }
    if (!number) return;
    if constexpr (writes) *number = v;
    else differs = differs || !(*number == v);
  }
};

template <class Scalar, class Index, bool writes, int Reach>
struct PartsKernel {
  RowSplitter<Scalar, Index, Reach> splitter;
  SplitParts<Scalar, Index>         parts;
  KOKKOS_FUNCTION void              operator()(const std::int64_t r, SplitCounts &counts) const
  {
    if (counts.differs > 0) return; // one differing row is enough
    TakeParts<Scalar, Index, writes> take(parts, r);
    const Scalar                     scale = splitter.split(r, counts, take);
    if constexpr (writes) {
      if (parts.scale) parts.scale[r] = scale;
    } else take.differs = take.differs || (parts.scale && !(parts.scale[r] == scale));
    if (take.differs) ++counts.differs;
  }
};

template <bool writes, class Scalar, class Index, class Exec>
SplitCounts run_parts(const Exec &exec, const char *label, const GridRows<Scalar, Index> &rows,
                      const SplitParts<Scalar, Index> &parts)
{
  SplitCounts counts;
  // rows wait for memory most of the time, so more threads with fewer registers each are faster
  using Rows     = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<128, 5>>;
  const auto run = [&](const auto &kernel) {
    Kokkos::parallel_reduce(label, Rows(exec, 0, rows.J[0].rows), kernel, Kokkos::Sum<SplitCounts>(counts));
  };
  if (rows.J[0].rows > 0) {
    if (rows.reach <= 1) run(PartsKernel<Scalar, Index, writes, 1>{{rows}, parts});
    else run(PartsKernel<Scalar, Index, writes, Way::farthest>{{rows}, parts});
  }
  exec.fence();
  return counts;
}

template <class Scalar, class Index>
struct ConvectionKernel {
  RowSplitter<Scalar, Index, Way::farthest> splitter;
  KOKKOS_FUNCTION void                      operator()(const std::int64_t r, Convection &sum) const
  {
    splitter.add_convection(r, sum);
  }
};

template <class Scalar, class Index>
struct AxesKernel {
  GridRows<Scalar, Index> rows;
  KOKKOS_FUNCTION void    operator()(const std::int64_t r, unsigned &axes) const
  {
    for (int b = 0; b < 2; ++b)
      for (Index k = rows.J[b].rows > 0 ? rows.J[b].row_begin[r] : 0;
           rows.J[b].rows > 0 && k < rows.J[b].row_begin[r + 1]; ++k) {
        const int axis = Way::axis(rows.way[b][k]);
        if (axis >= 0 && rows.J[b].value[k] != Scalar(0)) axes |= 1u << axis;
      }
  }
};

/// Values of row r of A, times `factor`, plus `diagonal` in the diagonal entry.
template <class Scalar, class Index>
struct GivenKernel {
  CsrMatrix<Scalar, Index> A[2];
  const Scalar            *mass;
  Scalar                  *to[2];
  bool                     write;
  KOKKOS_FUNCTION void     operator()(const std::int64_t r, std::int64_t &differ) const
  {
    const bool algebraic = mass[r] == Scalar(0);
    Scalar     factor(1);
    if (!write && differ > 0) return;
    if (algebraic) {
      Scalar diagonal(0);
      for (Index k = A[0].row_begin[r]; k < A[0].row_begin[r + 1]; ++k)
        if (A[0].column[k] == r) diagonal += A[0].value[k];
      factor = diagonal == Scalar(0) ? Scalar(0) : Scalar(-1) / diagonal;
    }
    for (int b = 0; b < 2; ++b)
      for (Index k = A[b].rows > 0 ? A[b].row_begin[r] : 0; A[b].rows > 0 && k < A[b].row_begin[r + 1]; ++k) {
        const Scalar v = algebraic && b == 0 && A[0].column[k] == r ? Scalar(-1) : factor * A[b].value[k];
        if (write) to[b][k] = v;
        else if (!(to[b][k] == v)) ++differ;
      }
  }
};

template <class Scalar, class Index>
struct DiagonalRowsKernel {
  CsrMatrix<Scalar, Index> A[2];
  Scalar                  *mass;
  KOKKOS_FUNCTION void     operator()(const std::int64_t r) const
  {
    bool alone = true, diagonal = false;
    for (int b = 0; b < 2; ++b)
      for (Index k = A[b].rows > 0 ? A[b].row_begin[r] : 0; A[b].rows > 0 && k < A[b].row_begin[r + 1]; ++k) {
        const bool zero = A[b].value[k] == Scalar(0);
        if (b == 0 && A[0].column[k] == r) diagonal = !zero;
        else alone = alone && zero;
      }
    if (alone && diagonal) mass[r] = Scalar(0);
  }
};

template <class Scalar, class Index>
struct RowSumKernel {
  CsrMatrix<Scalar, Index> A[2];
  const Scalar            *mass;
  KOKKOS_FUNCTION void     operator()(const std::int64_t r, double &largest) const
  {
    double sum = 0;
    if (mass[r] == Scalar(0)) return;
    for (int b = 0; b < 2; ++b)
      for (Index k = A[b].rows > 0 ? A[b].row_begin[r] : 0; A[b].rows > 0 && k < A[b].row_begin[r + 1]; ++k)
        sum += static_cast<double>(magnitude(A[b].value[k]));
    if (!is_finite(sum)) sum = HUGE_VAL;
    if (sum > largest) largest = sum;
  }
};

template <class Scalar, class Index>
struct ShiftedKernel {
  CsrMatrix<Scalar, Index> A[2];
  const Scalar            *mass;
  bool                     diagonal;
  real_t<Scalar>           s, a;
  Scalar                  *P[2];
  KOKKOS_FUNCTION void     operator()(const std::int64_t r) const
  {
    const Scalar m = mass[r], factor = m == Scalar(0) ? Scalar(-1) : Scalar(-a);
    for (int b = 0; b < 2; ++b)
      for (Index k = A[b].rows > 0 ? A[b].row_begin[r] : 0; A[b].rows > 0 && k < A[b].row_begin[r + 1]; ++k) {
        const Scalar v = factor * A[b].value[k];
        P[b][k]        = diagonal && b == 0 && A[0].column[k] == r ? s * m + v : v;
      }
  }
};

} // namespace direction_split

template <class Scalar, class Index, class Exec>
unsigned coupling_axes(const Exec &exec, const GridRows<Scalar, Index> &rows, unsigned axes)
{
  constexpr std::int64_t some  = 4096; // rows that usually contain all axes
  unsigned               found = 0;
  for (std::int64_t n : {std::min(some, rows.J[0].rows), rows.J[0].rows}) {
    if (n > 0 && found != axes)
      Kokkos::parallel_reduce("ribbon::coupling_axes", indices(exec, n),
                              direction_split::AxesKernel<Scalar, Index>{rows}, Kokkos::BOr<unsigned>(found));
    exec.fence();
  }
  return found;
}

template <class Scalar, class Index, class Exec>
Convection convection_of(const Exec &exec, const GridRows<Scalar, Index> &rows)
{
  Convection sum;
  if (rows.J[0].rows > 0)
    Kokkos::parallel_reduce("ribbon::convection_of", indices(exec, rows.J[0].rows),
                            direction_split::ConvectionKernel<Scalar, Index>{{rows}},
                            Kokkos::Sum<Convection>(sum));
  exec.fence();
  return sum;
}

template <class Scalar, class Index, class Exec>
SplitCounts compare_parts(const Exec &exec, const GridRows<Scalar, Index> &rows,
                          const SplitParts<Scalar, Index> &parts)
{
  return direction_split::run_parts<false>(exec, "ribbon::compare_parts", rows, parts);
}

template <class Scalar, class Index, class Exec>
SplitCounts write_parts(const Exec &exec, const GridRows<Scalar, Index> &rows,
                        const SplitParts<Scalar, Index> &parts)
{
  return direction_split::run_parts<true>(exec, "ribbon::write_parts", rows, parts);
}

template <class Scalar, class Index, class Exec>
bool scale_algebraic_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass,
                          Scalar *const (&to)[2], bool write)
{
  std::int64_t differ = 0;
  if (A[0].rows > 0)
    Kokkos::parallel_reduce(
      "ribbon::scale_algebraic_rows", indices(exec, A[0].rows),
      direction_split::GivenKernel<Scalar, Index>{{A[0], A[1]}, mass, {to[0], to[1]}, write}, differ);
  exec.fence();
  return differ > 0;
}

template <class Scalar, class Index, class Exec>
void mark_diagonal_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], Scalar *mass)
{
  Kokkos::parallel_for("ribbon::mark_diagonal_rows", indices(exec, A[0].rows),
                       direction_split::DiagonalRowsKernel<Scalar, Index>{{A[0], A[1]}, mass});
}

template <class Scalar, class Index, class Exec>
double largest_row_sum(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass)
{
  double largest = 0;
  if (A[0].rows > 0)
    Kokkos::parallel_reduce("ribbon::largest_row_sum", indices(exec, A[0].rows),
                            direction_split::RowSumKernel<Scalar, Index>{{A[0], A[1]}, mass},
                            Kokkos::Max<double>(largest));
  exec.fence();
  return largest > 0 ? largest : 0; // without rows, Max returns its identity
}

template <class Scalar, class Index, class Exec>
void shifted_rows(const Exec &exec, const CsrMatrix<Scalar, Index> (&A)[2], const Scalar *mass, bool diagonal,
                  real_t<Scalar> s, real_t<Scalar> a, Scalar *const (&P)[2])
{
  Kokkos::parallel_for(
    "ribbon::shifted_rows", indices(exec, A[0].rows),
    direction_split::ShiftedKernel<Scalar, Index>{{A[0], A[1]}, mass, diagonal, s, a, {P[0], P[1]}});
}

} // namespace ribbon
