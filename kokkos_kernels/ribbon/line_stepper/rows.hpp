// SPDX-License-Identifier: BSD-2-Clause
/// @file rows.hpp  Right-hand sides B u + D p(u) + g of time steps, for the one-pass kernel.
#pragma once

#include <ribbon/algorithm/one_pass/input.hpp>

namespace ribbon {

/// No term D p(u).
struct NoFunction { };

/// p(u) = c[0] + c[1] u + ... + c[5] u^5.
template <class Scalar>
struct Polynomial {
  Scalar c[6] = {};
  bool   high = false; ///< the degree is above 3

  KOKKOS_INLINE_FUNCTION Scalar operator()(const Scalar &u, std::int64_t) const
  {
    Scalar sum = c[3];
    if (high) {
      sum = c[4];
      add_product(sum, c[5], u);
      sum = c[3] + sum * u;
    }
    for (int k = 2; k >= 0; --k) sum = c[k] + sum * u;
    return sum;
  }
};

/// No energy in the sums of a line.
struct NoEnergy { };

template <class Function>
inline constexpr bool is_given = !std::is_same_v<Function, NoFunction> && !std::is_same_v<Function, NoEnergy>;

/// Rows of B and, with a function p, of D, both of half-bandwidth up to W.
template <class Scalar, int W, bool nonlinear>
struct StepRows {
  static constexpr int product_reach = W;
  static constexpr int width         = 2 * W + 1;
  /// Coefficients of a row of B and of D. 16-byte aligned for wide loads.
  struct alignas(16) Row {
    Scalar c[nonlinear ? 2 * width : width] = {};
  };
  template <class Scheme, int slots>
  using Block = ProductBlock<Scheme, slots, Row>;
  struct Halo { };

  /// u, and p(u), from row r - W to row r + W.
  struct Window {
    Scalar u[nonlinear ? 2 * width : width];

    KOKKOS_INLINE_FUNCTION Scalar times(const Row &row) const
    {
      Scalar sum(0);
      for (int d = 0; d < (nonlinear ? 2 * width : width); ++d) add_product(sum, row.c[d], u[d]);
      return sum;
    }
    template <class Function>
    KOKKOS_INLINE_FUNCTION void set(int d, const Scalar &value, bool inside, const Function &function,
                                    std::int64_t row)
    {
      u[d] = value;
      if constexpr (nonlinear) u[width + d] = inside ? function(value, row) : Scalar(0);
    }
    /// Moves to the next row; before the first row of a chunk (`keeps`), rows before it stay.
    KOKKOS_INLINE_FUNCTION void move(bool keeps)
    {
      for (int from = 0; from < (nonlinear ? 2 * width : width); from += width) {
        for (int d = from; d < from + W; ++d)
          if (!keeps) u[d] = u[d + 1];
        for (int d = from + W; d < from + 2 * W; ++d) u[d] = u[d + 1];
      }
    }
  };
};

} // namespace ribbon
