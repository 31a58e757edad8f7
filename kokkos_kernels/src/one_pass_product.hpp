// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass_product.hpp  Interface between the one-pass kernels of solves and those of products A^-1 B,
///   which are compiled in separate files.
#pragma once

#include "algorithms.hpp"

#include <ribbon/algorithm/one_pass/plan.hpp>

namespace ribbon::detail {

/// Kernels that apply B, for the coefficients of A in a plan.
template <class Scheme, class Exec>
struct OnePassProduct {
  using Scalar                                                               = typename Scheme::Scalar;
  virtual ~OnePassProduct()                                                  = default;
  virtual void apply(const Exec &exec, const OnePass<Scheme, Exec> &plan, const Scalar *u, const LineSet &in,
                     Scalar *y, const LineSet &out, const int *class_of_line, std::int64_t classified,
                     bool correct, const OperatorTerms<Scalar> &terms) const = 0;
};

/// Whether a scheme has such kernels: plain elimination of bands.
template <class Scheme>
inline constexpr bool has_product = false;
template <class Scalar, int K>
inline constexpr bool has_product<PlainScheme<Scalar, K, 1>> = true;

/// Null if there is no kernel for B: `why` holds the reason.
template <class Scheme, class Exec>
std::shared_ptr<OnePassProduct<Scheme, Exec>>
make_product(const Exec &exec, const OnePass<Scheme, Exec> &plan,
             const Bands<typename Scheme::Scalar, typename Exec::memory_space> &B, std::string &why);

} // namespace ribbon::detail
