// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass_product_impl.hpp  Tables and launches of the one-pass kernels that apply B; included by the
///   files that instantiate them.
#pragma once

#include "chunk_rows.hpp"
#include "one_pass_product.hpp"

#include <algorithm>

namespace ribbon::detail {

/// Kernels for B with half-bandwidths to W.
template <class Scheme, class Exec, int W>
class OnePassProductOf final : public OnePassProduct<Scheme, Exec> {
  using typename OnePassProduct<Scheme, Exec>::Scalar;
  using Plan   = OnePass<Scheme, Exec>;
  using Input  = ProductRows<Scalar, W>;
  using Row    = typename Input::Row;
  using Memory = typename Exec::memory_space;

public:
  OnePassProductOf(const Exec &exec, const Plan &plan, const std::vector<HostMatrix<Scalar>> &B)
  {
    ChunkRows<Row> rows(plan.shape(), plan.classes());
    rows.template fill<W>(B);
    if (plan.classes() == 1) regular_ = rows.regular(plan.regular_begin(), plan.regular_end());
    plan.with_slots_of([&](auto slots) {
      using Block = typename Input::template Block<Scheme, slots()>;
      blocks_     = upload(exec, "ribbon::line_operator::blocks", rows.template join<Block>(plan.blocks()));
    });
  }

  bool fits(const Exec &exec, const Plan &plan) const
  {
    return plan.template fits<Input>(TeamRoom::of(exec), regular_.end - regular_.begin);
  }

  void apply(const Exec &exec, const Plan &plan, const Scalar *u, const LineSet &in, Scalar *y,
             const LineSet &out, const int *class_of_line, std::int64_t classified, bool correct,
             const OperatorTerms<Scalar> &terms) const override
  {
    plan.template solve<Input>(exec, u, in, y, out, class_of_line, classified, correct, [&](auto &kernel) {
      auto &product = kernel.product;
      std::copy(regular_.row.c, regular_.row.c + 2 * W + 1, product.stencil);
      kernel.blocks = reinterpret_cast<decltype(kernel.blocks)>(blocks_.data());
      product.alpha = terms.alpha, product.beta = terms.beta;
      product.v = terms.v, product.lines = terms.lines;
      kernel.regular_begin = regular_.begin, kernel.regular_end = regular_.end;
    });
  }

private:
  Kokkos::View<Scalar *, Memory> blocks_;  ///< ProductBlock (class, chunk)
  RegularRun<Row>                regular_; ///< chunks with constant coefficients of A and B
};

template <class Scheme, class Exec>
std::shared_ptr<OnePassProduct<Scheme, Exec>>
make_product(const Exec &exec, const OnePass<Scheme, Exec> &plan,
             const Bands<typename Scheme::Scalar, typename Exec::memory_space> &B, std::string &why)
{
  using Scalar = typename Scheme::Scalar;
  // a host has fused kernels of thomas; these two widths are for tests
  constexpr bool narrow_bands = Scheme::separators <= 2;
  constexpr bool wide_bands   = is_device_space<Exec> && std::is_same_v<Scalar, double>;
  const int      reach        = B.half_bandwidth();
  if (B.lhs == Lhs::per_line) {
    why = "B differs from line to line, and A does not";
    return nullptr;
  }
  if (B.periodic && B.rows() < std::max(reach, 3)) {
    why = "periodic lines of " + std::to_string(B.rows()) + " rows are shorter than the stencil of B";
    return nullptr;
  }
  const auto matrices = host_matrices(B, false);
  const auto make     = [&](auto W) -> std::shared_ptr<OnePassProduct<Scheme, Exec>> {
    auto made = std::make_shared<OnePassProductOf<Scheme, Exec, W()>>(exec, plan, matrices);
    if (made->fits(exec, plan)) return made;
    why = "the coefficients of A and B do not fit the scratch of a team";
    return nullptr;
  };
  if constexpr (narrow_bands)
    if (reach <= 3) return make(std::integral_constant<int, 3>{});
  if constexpr (wide_bands)
    if (reach <= 6 && B.rows() >= 6) return make(std::integral_constant<int, 6>{});
  why = "no kernel for B of half-bandwidth " + std::to_string(reach);
  return nullptr;
}

} // namespace ribbon::detail
