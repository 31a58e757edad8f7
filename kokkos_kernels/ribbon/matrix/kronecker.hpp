// SPDX-License-Identifier: BSD-2-Clause
/// @file kronecker.hpp  Bands of I x S + A x T from those of A, with S and T of size p x p: p adjacent
///   components at every row of A.
#pragma once

#include <ribbon/bands.hpp>

#include <vector>

namespace ribbon {

/// S and T: the multiples of the identity S_0 and T_0, the diagonals, or, if components couple, all entries
/// row by row.
template <class Scalar>
struct KroneckerFactors {
  int  p       = 1;
  bool coupled = false;
  /// (1), (p) or, coupled, (p^2); the default is A for all components
  std::vector<Scalar> S = {Scalar(0)}, T = {Scalar(1)};

  /// The simplest form of two matrices, row by row.
  static KroneckerFactors from_dense(int p, const std::vector<Scalar> &S, const std::vector<Scalar> &T)
  {
    KroneckerFactors  f;
    const std::size_t next = static_cast<std::size_t>(p) + 1;
    f.p                    = p;
    for (std::size_t e = 0; e < S.size(); ++e)
      f.coupled = f.coupled || (e % next != 0 && (S[e] != Scalar(0) || T[e] != Scalar(0)));
    f.S = S, f.T = T;
    if (f.coupled) return f;
    bool equal = true;
    for (std::size_t c = 0; c < next - 1; ++c)
      f.S[c] = S[c * next], f.T[c] = T[c * next], equal = equal && f.S[c] == f.S[0] && f.T[c] == f.T[0];
    f.S.resize(equal ? 1 : next - 1), f.T.resize(f.S.size());
    return f;
  }
};

/// Matrix m of A becomes the matrices m each + c, S_c I + T_c A.
template <class Values, class Numbers>
struct KroneckerDiagonalKernel {
  Values               from, to;
  Numbers              S, T; ///< (each)
  int                  main; ///< index of the main diagonal
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    using Scalar         = typename Values::non_const_value_type;
    const auto matrices  = static_cast<std::int64_t>(to.extent(0)),
               each      = static_cast<std::int64_t>(S.extent(0));
    const std::int64_t m = k % matrices, i = k / matrices, c = m % each;
    for (int d = 0; d < static_cast<int>(from.extent(2)); ++d)
      to(m, i, d) = T(c) * from(m / each, i, d) + (d == main ? S(c) : Scalar(0));
  }
};

/// Matrix m of A becomes block tridiagonal.
template <class Values, class Numbers>
struct KroneckerBlockKernel {
  Values               from, to;
  Numbers              S, T; ///< (p^2)
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    using Scalar         = typename Values::non_const_value_type;
    const auto count     = static_cast<std::int64_t>(to.extent(0)),
               entries   = static_cast<std::int64_t>(S.extent(0));
    const std::int64_t m = k % count, i = k / count;
    for (std::int64_t d = 0; d < 3; ++d)
      for (std::int64_t e = 0; e < entries; ++e)
        to(m, i, d * entries + e) = T(e) * from(m, i, d) + (d == 1 ? S(e) : Scalar(0));
  }
};

/// Bands of I x S + A x T. If components do not couple, line l of A becomes the lines l p + c: one matrix
/// for all if A has one and all components have equal factors, classes otherwise. If they couple, A must be
/// tridiagonal, and line l becomes a line of blocks, p <= 8.
/// @param lines  lines of A
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space>
kronecker(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t lines,
          const KroneckerFactors<Scalar> &factors)
{
  using Values        = typename Bands<Scalar, typename Exec::memory_space>::values_type;
  using Numbers       = Kokkos::View<Scalar *, typename Exec::memory_space>;
  const std::size_t p = static_cast<std::size_t>(factors.p), each = factors.coupled ? 1 : factors.S.size();
  const Numbers     S        = upload(exec, "ribbon::kronecker::S", factors.S),
                T            = upload(exec, "ribbon::kronecker::T", factors.T);
  const std::size_t matrices = bands.values.extent(0) * each, rows = bands.values.extent(1);
  auto              result = bands;
  result.values            = allocate<Values>(exec, "ribbon::bands", matrices, rows,
                                   bands.values.extent(2) * (factors.coupled ? p * p : 1));
  const auto policy        = indices(exec, static_cast<std::int64_t>(matrices * rows));
  if (factors.coupled) {
    result.block = factors.p, result.lower = result.upper = 1;
    Kokkos::parallel_for("ribbon::kronecker", policy,
                         KroneckerBlockKernel<Values, Numbers>{bands.values, result.values, S, T});
    return result;
  }
  Kokkos::parallel_for(
    "ribbon::kronecker", policy,
    KroneckerDiagonalKernel<Values, Numbers>{bands.values, result.values, S, T, bands.kl()});
  if (matrices == 1 && bands.lhs == Lhs::shared) return result;
  std::vector<int> of(static_cast<std::size_t>(lines)), class_of(of.size() * p);
  for (std::size_t l = 0; l < of.size(); ++l) of[l] = bands.lhs == Lhs::shared ? 0 : static_cast<int>(l);
  if (bands.lhs == Lhs::classes)
    Kokkos::deep_copy(
      exec,
      Kokkos::View<int *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(of.data(), of.size()),
      bands.class_of_line);
  exec.fence();
  for (std::size_t l = 0; l < of.size(); ++l)
    for (std::size_t c = 0; c < p; ++c)
      class_of[l * p + c] = of[l] * static_cast<int>(each) + static_cast<int>(each > 1 ? c : 0);
  result.lhs           = Lhs::classes;
  result.class_of_line = upload(exec, "ribbon::class_of_line", class_of);
  return result;
}

} // namespace ribbon
