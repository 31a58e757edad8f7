// SPDX-License-Identifier: BSD-2-Clause
/// @file one_pass_product_impl.hpp  Tables and launches of the one-pass kernels that apply B; included by the
///   files that instantiate them.
#pragma once

#include "host_matrices.hpp"
#include "one_pass_product.hpp"

#include <algorithm>
#include <cstring>

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
    const OnePassShape &shape  = plan.shape();
    const auto          chunks = static_cast<std::size_t>(shape.split.chunks),
               slots           = static_cast<std::size_t>(shape.slots);
    std::vector<Row> rows(plan.classes() * chunks * slots);
    for (std::size_t m = 0; m < plan.classes(); ++m)
      for (int c = 0; c < shape.split.chunks; ++c)
        fill(rows.data() + (m * chunks + static_cast<std::size_t>(c)) * slots, B[std::min(m, B.size() - 1)],
             shape, c);
    if (plan.classes() == 1) find_regular(plan, rows);
    plan.with_slots_of([&](auto n) { join<n()>(exec, plan, rows); });
  }

  bool fits(const Exec &exec, const Plan &plan) const
  {
    return plan.template fits<Input>(TeamRoom::of(exec), end_ - begin_);
  }

  void apply(const Exec &exec, const Plan &plan, const Scalar *u, const LineSet &in, Scalar *y,
             const LineSet &out, const int *class_of_line, std::int64_t classified, bool correct,
             const OperatorTerms<Scalar> &terms) const override
  {
    plan.template solve<Input>(exec, u, in, y, out, class_of_line, classified, correct, [&](auto &kernel) {
      auto &product = kernel.product;
      std::copy(stencil_.b, stencil_.b + 2 * W + 1, product.stencil);
      kernel.blocks = reinterpret_cast<decltype(kernel.blocks)>(blocks_.data());
      product.alpha = terms.alpha, product.beta = terms.beta;
      product.v = terms.v, product.lines = terms.lines;
      kernel.regular_begin = begin_, kernel.regular_end = end_;
    });
  }

private:
  /// The rows of a chunk; those of its empty slots are zero. Entries outside of B are multiplied by zeros:
  /// they are those of the nearest row that has them, so that the rows of a stencil are equal.
  static void fill(Row *rows, const HostMatrix<Scalar> &B, const OnePassShape &shape, int chunk)
  {
    const int size = shape.split.size(chunk), pad = shape.slots - size, last = B.rows - 1;
    for (int k = pad; k < shape.slots; ++k)
      for (int d = -W; d <= W; ++d) {
        int i = shape.split.begin(chunk) + k - pad;
        if (!B.periodic) i = std::max(std::min(i, last - std::max(d, 0)), std::max(-d, 0));
        rows[k].b[d + W] = i <= last ? narrow<Scalar>(B(i, d)) : Scalar(0);
      }
  }

  /// Blocks with the coefficients of A and B of every chunk.
  template <int slots>
  void join(const Exec &exec, const Plan &plan, const std::vector<Row> &rows)
  {
    using Block                = typename Input::template Block<Scheme, slots>;
    using Chunk                = typename Block::Chunk;
    const auto          from   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), plan.blocks());
    const auto         *chunks = reinterpret_cast<const Chunk *>(from.data());
    const auto          count  = rows.size() / slots;
    std::vector<Scalar> words(count * sizeof(Block) / sizeof(Scalar));
    auto               *blocks = reinterpret_cast<Block *>(words.data());
    for (std::size_t c = 0; c < count; ++c) {
      std::memcpy(static_cast<void *>(&blocks[c].forward), &chunks[c].forward, sizeof chunks[c].forward);
      std::memcpy(static_cast<void *>(&blocks[c].backward), &chunks[c].backward, sizeof chunks[c].backward);
      std::memcpy(static_cast<void *>(blocks[c].forward.product), rows.data() + c * slots,
                  slots * sizeof(Row));
    }
    blocks_ = upload(exec, "ribbon::line_operator::blocks", words);
  }

  /// The longest run of regular chunks of A whose rows of B are all equal.
  void find_regular(const Plan &plan, const std::vector<Row> &rows)
  {
    const int  slots = plan.shape().slots;
    const auto same  = [&](int c, const Row &row) {
      const Row *first = rows.data() + static_cast<std::ptrdiff_t>(c) * slots;
      return std::all_of(first, first + slots,
                          [&](const Row &r) { return std::memcmp(r.b, row.b, sizeof row.b) == 0; });
    };
    for (int c = plan.regular_begin(); c < plan.regular_end();) {
      const Row &row = rows[static_cast<std::size_t>(c) * static_cast<std::size_t>(slots)];
      int        d   = c;
      while (d < plan.regular_end() && same(d, row)) ++d;
      if (d - c > end_ - begin_) begin_ = c, end_ = d, stencil_ = row;
      c = std::max(d, c + 1);
    }
  }

  Kokkos::View<Scalar *, Memory> blocks_;
  Row                            stencil_;
  int                            begin_ = 0, end_ = 0; ///< chunks with constant coefficients of A and B
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
