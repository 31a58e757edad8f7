// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_solver_impl.hpp  ChainSolver: the tree and its memory, a factorization, the public functions.
///   Launches of a factorization are in chain_factor_impl.hpp, which takes long to compile.
#pragma once

#include <ribbon/multifrontal/host/qr_leaf.hpp>

#include "chain_host_leaves.hpp"
#include "chain_plan.hpp"
#include "chain_report_impl.hpp"
#include "chain_solve_impl.hpp"
#include "chain_solver_class.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <limits>

namespace ribbon {

namespace multifrontal {

/// @throws std::invalid_argument if the shape or an option is invalid
inline void check(const Chain &chain, const ChainSolverOptions &options)
{
  const int  W      = chain.width();
  const auto refuse = [](const std::string &what) {
    throw std::invalid_argument("ribbon::ChainSolver: " + what);
  };
  if (chain.kl < 0 || chain.ku < 0 || chain.rows < 0 || chain.chains < 0)
    refuse("negative kl, ku, rows or number of chains");
  if (chain.ring && chain.rows < W + 1)
    refuse("a ring of " + std::to_string(chain.rows) +
           " rows, fewer than kl + ku + 1 = " + std::to_string(W + 1));
  if ((chain.open_left || chain.open_right) && (chain.ring || chain.chains != 1 || chain.rows < W))
    refuse("a sub-chain has at least kl + ku rows and is neither a ring nor one of several");
  if (options.leaf_size < 0) refuse("leaf_size " + std::to_string(options.leaf_size));
  if (options.zero_pivot < 0 || !is_finite(options.zero_pivot))
    refuse("zero_pivot " + std::to_string(options.zero_pivot));
  if (options.threads < 0) refuse("threads " + std::to_string(options.threads));
}

/// The tree of a chain: leaves of the given size, or of the size that suits the space.
template <class Scalar, class Exec>
Tree tree_of(const Exec &exec, const Chain &chain, const ChainSolverOptions &options)
{
  const int    W = chain.width(), threads = threads_of(exec, options);
  std::int64_t count = 1;
  if (options.leaf_size > 0) count = chain.rows / std::max<std::int64_t>(options.leaf_size, W);
  else if (is_device_space<Exec>)
    count = chain.rows / std::max<std::int64_t>(usual_leaf<Scalar>(exec, chain), W);
  else
    count =
      std::min(leaves_of_threads<Scalar>(threads, chain, options.orthogonal), chain.rows / shortest_leaf(W));
  return Tree(chain, std::max<std::int64_t>(1, count));
}

} // namespace multifrontal

template <class Scalar, class Exec>
ChainSolver<Scalar, Exec>::Implementation::Implementation(const Exec &exec, const Chain &given,
                                                          const ChainSolverOptions &options)
    : options_(options)
{
  using namespace multifrontal;
  const Chain chain = with_even_width<Scalar, Exec>(given, options);
  check(chain, options);
  tree_     = tree_of<Scalar>(exec, chain, options);
  in_tiles_ = (is_device_space<Exec> || options.leaf_size > 0) &&
              chain.rows <= std::numeric_limits<std::int32_t>::max() &&
              // a host runs kernels of a device only for tests, one virtual thread after another
              with_tiles<Scalar>(chain.width(), [](auto) {});
  is_lu_ = !is_device_space<Exec> && options.leaf_size == 0 && !options.orthogonal && tree_.leaves == 1 &&
           !chain.is_open_left() && !chain.is_open_right();
  if (is_lu_) allocate_lu(exec);
  else {
    in_lanes_ = !is_device_space<Exec> && options.leaf_size == 0 && has_bundles(chain.width());
    allocate_tree(exec);
  }
  report_.bytes = (reflection_.span() + upper_.span() + fill_.span() + windows_.span() + leaf_passed_.span() +
                   join_.span()) *
                    sizeof(Scalar) +
                  row_scale_.span() * sizeof(real_t<Scalar>) + exchange_.span() * sizeof(int) +
                  (leaf_statistics_.span() + join_statistics_.span()) * sizeof(double);
  top_statistics_ = room_for_tops<Statistics>(exec, tree_);
  reserve(exec, 1);
  exec.fence();
}

/// The factors of a band LU.
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::allocate_lu(const Exec &exec)
{
  using namespace multifrontal;
  const Chain       &chain = tree_.chain;
  const std::int64_t rows  = chain.rows * chain.chains;
  lu_.set_band(chain);
  upper_      = room_for<Scalar>(exec, "ribbon::upper", rows * (lu_.chain.ku + 1));
  reflection_ = room_for<Scalar>(exec, "ribbon::lower", rows * lu_.chain.kl);
  fill_       = room_for<Scalar>(exec, "ribbon::fill", rows * lu_.chain.kl);
  exchange_   = room_for<int>(exec, "ribbon::exchange", rows);
  plain_      = room_for<std::int64_t>(exec, "ribbon::plain", chain.chains);
  postponed_  = room_for<std::int64_t>(exec, "ribbon::postponed", chain.chains);
  for (auto *view : {&grown_, &doubtful_})
    *view = room_for<real_t<Scalar>>(exec, "ribbon::of_chains", chain.chains);
  windows_         = room_for<Scalar>(exec, "ribbon::windows",
                              static_cast<std::int64_t>(lu_.window_size()) * exec.concurrency());
  leaf_statistics_ = room_for_statistics<Statistics>(exec, "ribbon::pivots", chain.chains);
  lu_.upper = upper_.data(), lu_.lower = reflection_.data(), lu_.fill = fill_.data(),
  lu_.exchange = exchange_.data(), lu_.plain = plain_.data(), lu_.postponed = postponed_.data(),
  lu_.grown = grown_.data(), lu_.doubtful = doubtful_.data();
}

/// The factors of leaves and joins.
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::allocate_tree(const Exec &exec)
{
  using namespace multifrontal;
  const Chain       &chain = tree_.chain;
  const std::int64_t W     = chain.width();
  // leaves whose factors are interleaved
  const int tile = in_lanes_ ? bundle_lanes<Scalar> : in_tiles_ ? 32 : 1;
  if (!in_tiles_) tree_.stage = 1;
  if (in_tiles_)
    tree_.slots = tree_.leaves > tile ? (tree_.leaves + tile - 1) / tile * tile
                                      : power_of_two_from(static_cast<int>(tree_.leaves));
  const std::int64_t slots = (chain.chains * tree_.slots + tile - 1) / tile * tile,
                     steps = slots * tree_.most_rows();
  // slots without a leaf are read, too
  const auto of_steps = [&](auto &view, const char *label, std::int64_t n) {
    using Value = typename std::decay_t<decltype(view)>::value_type;
    view = tile > 1 ? zeros_for<Value>(exec, label, steps * n) : room_for<Value>(exec, label, steps * n);
  };
  of_steps(row_scale_, "ribbon::row_scale", 1);
  of_steps(reflection_, "ribbon::reflections", W + 1);
  of_steps(upper_, "ribbon::upper", 2 * W + 1);
  leaf_passed_     = room_for<Scalar>(exec, "ribbon::leaves_pass",
                                  chain.chains * tree_.leaves * Factors<Scalar>::passed_size(chain.width()));
  join_            = room_for<Scalar>(exec, "ribbon::joins",
                           chain.chains * tree_.joins * Factors<Scalar>::join_size(chain.width()));
  leaf_statistics_ = room_for_statistics<Statistics>(exec, "ribbon::pivots", chain.chains * tree_.leaves);
  join_statistics_ = room_for_statistics<Statistics>(exec, "ribbon::pivots", chain.chains * tree_.joins);
  factors_         = {reflection_.data(),
                      upper_.data(),
                      leaf_passed_.data(),
                      join_.data(),
                      as_records<Statistics>(leaf_statistics_),
                      as_records<Statistics>(join_statistics_),
                      row_scale_.data(),
                      tile};
  if (in_tiles_ || tree_.joins > 0)
    arrivals_ =
      zeros_for<int>(exec, "ribbon::arrivals",
                     std::max(Arrivals::count(tree_, in_tiles_ ? most_columns : 1),
                              Arrivals::count(with_stages(tree_, stages_up), most_columns / most_block)));
  if (!is_device_space<Exec> && options_.leaf_size == 0 && !in_lanes_)
    windows_ =
      room_for<Scalar>(exec, "ribbon::windows",
                       static_cast<std::int64_t>(HostLeavesKernel<Scalar, Exec>::window_size(chain.width())) *
                         exec.concurrency());
  if (chain.open_left || chain.open_right)
    passed_ = room_for<Scalar>(exec, "ribbon::passed", Factors<Scalar>::passed_size(chain.width()));
}

template <class Scalar, class Exec>
template <class Index>
void ChainSolver<Scalar, Exec>::Implementation::factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A)
{
  using namespace multifrontal;
  row_of_ = A.row_of;
  if (is_lu_) {
    if constexpr (!is_device_space<Exec>) {
      const auto eliminate = [&](real_t<Scalar> *row_scale) {
        lu_.row_of = A.row_of, lu_.row_scale = row_scale;
        Kokkos::parallel_for(
          "ribbon::band_lu", indices(exec, tree_.chain.chains),
          BandLuKernel<Scalar, Index, Exec>{lu_, A, as_records<Statistics>(leaf_statistics_), windows_.data(),
                                            Kokkos::Experimental::UniqueToken<Exec>(exec)});
        finish_report(exec);
      };
      eliminate(nullptr);
      if (report_.status == FactorStatus::zero_pivot) { // perhaps because rows differ in size
        if (row_scale_.extent(0) == 0) {
          row_scale_ = allocate<Kokkos::View<real_t<Scalar> *, Memory>>(
            exec, "ribbon::row_scale", static_cast<std::size_t>(tree_.chain.rows * tree_.chain.chains));
          report_.bytes += row_scale_.span() * sizeof(real_t<Scalar>);
        }
        eliminate(row_scale_.data());
      }
      if (!report_.ok() || std::none_of(postponed_.data(), postponed_.data() + tree_.chain.chains,
                                        BandLu<Scalar>::loses_digits))
        return;
      ChainSolverOptions other   = options_;
      const auto         columns = reserved_;
      other.orthogonal           = true;
      *this                      = Implementation(exec, tree_.chain, other);
      row_of_                    = A.row_of;
      reserve(exec, columns);
      factor_entries(exec, A);
    }
  } else factor_entries(exec, A);
}

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::factor_passed(const Exec &exec, const Scalar *passed)
{
  const Kokkos::View<const Scalar *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> given(
    passed, leaf_passed_.extent(0));
  Kokkos::deep_copy(exec, leaf_passed_, given);
  if (has_leaves_) { // the first time, or after a factorization of leaves
    const std::vector<Statistics> unseen(leaf_statistics_.extent(0) / multifrontal::words<Statistics>);
    Kokkos::deep_copy(
      exec, leaf_statistics_,
      Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        reinterpret_cast<const double *>(unseen.data()), leaf_statistics_.extent(0)));
    exec.fence(); // before `unseen` is destroyed
  }
  has_leaves_ = false;
  factor_joins(exec);
  finish_report(exec);
}

// The public functions.

template <class Scalar, class Exec>
ChainSolver<Scalar, Exec>::ChainSolver() : implementation_(std::make_unique<Implementation>())
{
}
template <class Scalar, class Exec>
ChainSolver<Scalar, Exec>::ChainSolver(const Exec &exec, const Chain &chain,
                                       const ChainSolverOptions &options)
    : implementation_(std::make_unique<Implementation>(exec, chain, options))
{
}
template <class Scalar, class Exec>
ChainSolver<Scalar, Exec>::ChainSolver(ChainSolver &&) noexcept = default;
template <class Scalar, class Exec>
ChainSolver<Scalar, Exec> &ChainSolver<Scalar, Exec>::operator=(ChainSolver &&) noexcept = default;
template <class Scalar, class Exec>
ChainSolver<Scalar, Exec>::~ChainSolver() = default;

template <class Scalar, class Exec>
template <class Index>
void ChainSolver<Scalar, Exec>::factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A)
{
  implementation_->factor(exec, A);
}
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::factor_passed(const Exec &exec, const Scalar *passed)
{
  implementation_->factor_passed(exec, passed);
}
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::reserve(const Exec &exec, std::int64_t columns)
{
  implementation_->reserve(exec, columns);
}
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x,
                                      std::int64_t ldx, std::int64_t columns, bool transposed) const
{
  implementation_->solve(exec, b, ldb, x, ldx, columns, transposed);
}
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::up(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x,
                                   std::int64_t ldx, std::int64_t columns, bool transposed,
                                   Scalar *ends) const
{
  implementation_->up(exec, b, ldb, x, ldx, columns, transposed, ends);
}
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::down(const Exec &exec, Scalar *x, std::int64_t ldx, std::int64_t columns,
                                     bool transposed, const Scalar *ends) const
{
  implementation_->down(exec, x, ldx, columns, transposed, ends);
}
template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::solve_passed(const Exec &exec, const Scalar *b, Scalar *x,
                                             std::int64_t columns, bool transposed, Scalar *leaf_ends) const
{
  implementation_->solve_passed(exec, b, x, columns, transposed, leaf_ends);
}
template <class Scalar, class Exec>
const Scalar *ChainSolver<Scalar, Exec>::passed() const
{
  return implementation_->passed_.data();
}
template <class Scalar, class Exec>
std::size_t ChainSolver<Scalar, Exec>::passed_size() const
{
  return implementation_->passed_.extent(0);
}
template <class Scalar, class Exec>
const FactorReport &ChainSolver<Scalar, Exec>::report() const
{
  return implementation_->report_;
}
template <class Scalar, class Exec>
const multifrontal::Tree &ChainSolver<Scalar, Exec>::tree() const
{
  return implementation_->tree_;
}
template <class Scalar, class Exec>
bool ChainSolver<Scalar, Exec>::has_small_columns() const
{
  return implementation_->has_small_columns_;
}
template <class Scalar, class Exec>
bool ChainSolver<Scalar, Exec>::is_tiny() const
{
  return implementation_->is_tiny_;
}
template <class Scalar, class Exec>
double ChainSolver<Scalar, Exec>::doubtful_pivot() const
{
  return implementation_->doubtful_pivot_;
}
template <class Scalar, class Exec>
std::complex<double> ChainSolver<Scalar, Exec>::det_sign() const
{
  return implementation_->det_sign();
}
template <class Scalar, class Exec>
const char *ChainSolver<Scalar, Exec>::method() const
{
  return implementation_->method();
}
template <class Scalar, class Exec>
int ChainSolver<Scalar, Exec>::launches() const
{
  return implementation_->in_tiles_ || tree().top() == 0 ? 1 : 2;
}

} // namespace ribbon
