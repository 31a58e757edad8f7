// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_report_impl.hpp  ChainSolver: the report of a factorization and the sign of the determinant.
#pragma once

#include "chain_plan.hpp"
#include "chain_solver_class.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon {

/// The records in host memory to which joins at the top write statistics; null if statistics are copied.
template <class Scalar, class Exec>
typename ChainSolver<Scalar, Exec>::Implementation::Statistics *
ChainSolver<Scalar, Exec>::Implementation::tops() const
{
  if constexpr (multifrontal::writes_to_tops<Exec>)
    if (in_tiles_ && tree_.top() > 0) return multifrontal::as_records<Statistics>(top_statistics_);
  return nullptr;
}

/// Copies the equations that the top node passes, and reports the pivots.
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::finish_report(const Exec &exec)
{
  using namespace multifrontal;
  using Unmanaged          = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const auto [level, node] = top_node(tree_);
  const Statistics all     = top_statistics<Statistics>(exec, tree_, leaf_statistics_, join_statistics_,
                                                    top_statistics_, tops() != nullptr);
  const double     tolerance =
    options_.zero_pivot > 0 ? options_.zero_pivot : 100 * static_cast<double>(unit_roundoff<Scalar>());
  const auto bytes  = report_.bytes;
  report_           = {};
  report_.bytes     = bytes;
  report_.algorithm = method();
  report_.log_abs_det =
    all.log_det + std::log(all.product) + std::log(2.0) * static_cast<double>(all.exponents);
  report_.det_sign = std::numeric_limits<double>::quiet_NaN();
  report_.line = report_.row = all.column;
  report_.smallest_pivot     = all.column < 0 ? 1 : static_cast<double>(all.smallest);
  has_small_columns_ = all.has_small_column, is_tiny_ = all.is_tiny;
  report_.growth  = std::numeric_limits<double>::quiet_NaN();
  doubtful_pivot_ = report_.smallest_pivot;
  if constexpr (!is_device_space<Exec>)
    if (is_lu_ && tree_.chain.chains > 0) {
      const auto chains = tree_.chain.chains;
      report_.growth    = static_cast<double>(*std::max_element(grown_.data(), grown_.data() + chains));
      doubtful_pivot_   = static_cast<double>(*std::min_element(doubtful_.data(), doubtful_.data() + chains));
    }
  if (all.not_finite) report_.status = FactorStatus::not_finite;
  else if (all.zero_row != Statistics::no_row) {
    report_.status = FactorStatus::zero_pivot, report_.smallest_pivot = 0,
    report_.log_abs_det = -std::numeric_limits<double>::infinity();
    report_.line = report_.row = all.zero_row;
  } else if (report_.smallest_pivot <= tolerance) report_.status = FactorStatus::zero_pivot;
  if (passed_.extent(0) > 0) {
    const Kokkos::View<const Scalar *, Memory, Unmanaged> from(factors_.passed(tree_, 0, level, node).at,
                                                               passed_.extent(0));
    Kokkos::deep_copy(exec, passed_, from);
    exec.fence();
  }
}

template <class Scalar, class Exec>
std::complex<double> ChainSolver<Scalar, Exec>::Implementation::det_sign() const
{
  std::complex<double> sign = is_lu_ ? 1 : std::numeric_limits<double>::quiet_NaN();
  if constexpr (!is_device_space<Exec>)
    for (std::int64_t i = 0; is_lu_ && i < tree_.chain.chains * tree_.chain.rows; ++i) {
      const std::int64_t   c = i / tree_.chain.rows;
      const Scalar         u = upper_(static_cast<std::size_t>(i * (lu_.chain.ku + 1))); // 1 / U_ii
      std::complex<double> value;
      if constexpr (std::is_floating_point_v<Scalar>) value = static_cast<double>(u);
      else value = {static_cast<double>(u.real()), static_cast<double>(u.imag())};
      sign *= std::conj(value) / std::abs(value);
      if (i % tree_.chain.rows >= plain_(static_cast<std::size_t>(c)) &&
          exchange_(static_cast<std::size_t>(i)) != 0)
        sign = -sign;
    }
  return sign;
}

} // namespace ribbon
