// SPDX-License-Identifier: BSD-2-Clause
/// @file schur_solver_impl.hpp  SchurSolver: tree, launches, report.
#pragma once

#include <ribbon/multifrontal/schur/join.hpp>
#include <ribbon/multifrontal/schur/kernels.hpp>
#include <ribbon/multifrontal/schur/leaf.hpp>
#include <ribbon/multifrontal/schur/leaf_solve.hpp>
#include <ribbon/multifrontal/schur/tile_columns.hpp>
#include <ribbon/multifrontal/schur/tile_factor.hpp>
#include <ribbon/multifrontal/schur/tile_solve.hpp>

#include "chain_plan.hpp"
#include "schur_solver_class.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon {

namespace multifrontal {

/// with_half_bandwidth() for scalars with host kernels of several widths; a device has kernels for tiles
/// instead.
template <class Scalar, class Exec, class F>
void with_width_of(int w, const F &f)
{
  if constexpr (std::is_same_v<Scalar, double> && !is_device_space<Exec>)
    with_half_bandwidth<1, 2, 3, 4, 5>(w, f);
  else f(std::integral_constant<int, 0>());
}

/// Calls f(integral_constant w) if the half-bandwidth has kernels for tiles of 32 leaves; returns false
/// otherwise.
template <class Scalar, class F>
bool with_schur_tiles(int w, const F &f)
{
  return with_tiles<Scalar>(2 * w, [&](auto W) { f(std::integral_constant<int, W() / 2>()); });
}

/// Items per thread of a host.
template <class Exec>
int threads_for(const Exec &exec, std::int64_t items)
{
  return static_cast<int>(std::clamp<std::int64_t>(items / (4 * exec.concurrency()), 1, 64));
}

/// @throws std::invalid_argument if the shape or an option is invalid
inline void check_whole(const Chain &chain, const ChainSolverOptions &options)
{
  const auto refuse = [](const std::string &what) {
    throw std::invalid_argument("ribbon::SchurSolver: " + what);
  };
  if (chain.kl < 0 || chain.ku < 0 || chain.rows < 0 || chain.chains < 0)
    refuse("negative kl, ku, rows or number of chains");
  if (chain.ring && chain.rows < chain.width() + 1)
    refuse("a ring of " + std::to_string(chain.rows) + " rows, fewer than kl + ku + 1");
  if (chain.open_left || chain.open_right) refuse("a sub-chain");
  if (options.leaf_size < 0) refuse("leaf_size " + std::to_string(options.leaf_size));
  if (options.threads < 0) refuse("threads " + std::to_string(options.threads));
}

/// Rows of a leaf: those given, or as many as suit the space.
template <class Scalar, class Exec>
std::int64_t schur_leaf(const Exec &exec, const Chain &chain, const ChainSolverOptions &options)
{
  const int          w    = cut_width(chain);
  const std::int64_t leaf = std::max<std::int64_t>(options.leaf_size, w + 1);
  if (options.leaf_size > 0) return leaf;
  if (is_device_space<Exec>)
    return std::max(leaf, usual_leaf<Scalar>(exec, Chain{chain.rows, chain.chains, w, w, chain.ring}));
  return std::max<std::int64_t>(
    {leaf, 64, 8 * w, chain.rows * std::max<std::int64_t>(chain.chains, 1) / threads_of(exec, options)});
}

} // namespace multifrontal

template <class Scalar, class Exec>
SchurSolver<Scalar, Exec>::Implementation::Implementation(const Exec &exec, const Chain &chain,
                                                          const ChainSolverOptions &options)
    : zero_pivot_(options.zero_pivot)
{
  using namespace multifrontal;
  check_whole(chain, options);
  tree_ = Tree(chain, std::max<std::int64_t>(1, chain.rows / schur_leaf<Scalar>(exec, chain, options)));
  // a thread processes the joins of a team one by one
  plan_ = !is_device_space<Exec> && options.leaf_size == 0 && threads_of(exec, options) > 1
            ? plan_of(tree_, 8)
            : plan_of(tree_);
  // a host runs kernels of a device only for tests, one virtual thread after another
  if ((is_device_space<Exec> || options.leaf_size > 0) &&
      chain.rows <= std::numeric_limits<std::int32_t>::max() / 2)
    with_schur_tiles<Scalar>(cut_width(chain), [&](auto K) {
      in_tiles_ =
        SchurTileFactorKernel<Scalar, K()>::scratch(!is_device_space<Exec>) <= device::scratch_limit(exec);
    });
  if (!in_tiles_) tree_.stage = 1;
  if (in_tiles_)
    tree_.slots = tree_.leaves > 32 ? SchurFactors<Scalar>::padded(tree_.leaves, 32)
                                    : power_of_two_from(static_cast<int>(tree_.leaves));
  allocate_factors(exec);
  report_.bytes =
    (pivot_.span() + lower_.span() + upper_.span() + front_.span() + join_.span()) * sizeof(Scalar) +
    (leaf_statistics_.span() + join_statistics_.span()) * sizeof(double);
  reserve(exec, 1);
  exec.fence();
}

/// The factors of leaves and joins.
template <class Scalar, class Exec>
void SchurSolver<Scalar, Exec>::Implementation::allocate_factors(const Exec &exec)
{
  using namespace multifrontal;
  const Chain       &chain  = tree_.chain;
  const int          w      = cut_width(chain);
  const std::int64_t leaves = chain.chains * tree_.leaves, joins = chain.chains * tree_.joins;
  factors_.together = in_tiles_ ? 32 : 1;
  factors_.numbers  = in_tiles_ || tree_.leaves > 1 || chain.ring ? 2 * w : w;
  const std::int64_t steps =
    factors_.padded(chain.chains * tree_.slots, factors_.together) * tree_.most_rows();
  const auto of_steps = [&](const char *label, std::int64_t n) { // slots without a leaf are read, too
    return in_tiles_ ? zeros_for<Scalar>(exec, label, steps * n) : room_for<Scalar>(exec, label, steps * n);
  };
  pivot_           = of_steps("ribbon::pivots", 1);
  lower_           = of_steps("ribbon::lower", factors_.numbers);
  upper_           = of_steps("ribbon::upper", factors_.numbers);
  front_           = room_for<Scalar>(exec, "ribbon::leaves_pass", leaves * factors_.front_size(w));
  join_            = room_for<Scalar>(exec, "ribbon::joins", joins * factors_.join_size(w));
  leaf_statistics_ = room_for_statistics<Statistics>(exec, "ribbon::watched_pivots", leaves);
  join_statistics_ = room_for_statistics<Statistics>(exec, "ribbon::watched_pivots", joins);
  top_statistics_  = room_for_tops<Statistics>(exec, tree_);
  factors_.pivot = pivot_.data(), factors_.lower = lower_.data(), factors_.upper = upper_.data(),
  factors_.front = front_.data(), factors_.join = join_.data();
  factors_.leaf_statistics = as_records<Statistics>(leaf_statistics_),
  factors_.join_statistics = as_records<Statistics>(join_statistics_);
  if (in_tiles_ || tree_.joins > 0)
    arrivals_ = zeros_for<int>(exec, "ribbon::arrivals", Arrivals::count(tree_, 1));
}

/// The data that nodes pass and, for one column, the values stored at the cuts.
template <class Scalar, class Exec>
std::size_t SchurSolver<Scalar, Exec>::Implementation::workspace_size(std::int64_t columns) const
{
  const std::int64_t w = multifrontal::cut_width(tree_.chain), joins = tree_.chain.chains * tree_.joins,
                     nodes = tree_.chain.chains * tree_.leaves + joins;
  return static_cast<std::size_t>(nodes * 2 * w * columns + (columns == 1 ? joins * w : 0));
}

template <class Scalar, class Exec>
void SchurSolver<Scalar, Exec>::Implementation::reserve(const Exec &exec, std::int64_t columns)
{
  const std::size_t need = workspace_size(std::min(columns, multifrontal::most_columns));
  if (workspace_.extent(0) < need)
    workspace_ = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::schur_workspace", need);
}

template <class Scalar, class Exec>
template <class Index>
void SchurSolver<Scalar, Exec>::Implementation::factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A)
{
  using namespace multifrontal;
  const int          w      = cut_width(tree_.chain);
  const std::int64_t leaves = tree_.chain.chains * tree_.leaves;
  row_of_                   = A.row_of;
  if (in_tiles_) {
    with_schur_tiles<Scalar>(w, [&](auto K) {
      using Kernel = SchurTileFactorKernel<Scalar, K()>;
      const Kernel kernel{{tree_, A, factors_}, {arrivals_.data()}, tops()};
      device::launch(exec, "ribbon::schur_factor",
                     {kernel.tiles(), Kernel::team_size, Kernel::scratch(!is_device_space<Exec>)}, kernel);
    });
    return finish_report(exec);
  }
  with_width_of<Scalar, Exec>(w, [&](auto K) {
    if constexpr (K() > 0) {
      using Leaf        = SchurLeafKernel<Scalar, K()>;
      const int threads = threads_for(exec, leaves);
      device::launch(exec, "ribbon::schur_leaves", {(leaves + threads - 1) / threads, threads, 0},
                     Leaf{tree_, A, factors_});
    } else {
      using Leaf       = SchurLeafLanesKernel<Scalar>;
      const auto bytes = Leaf::Window::bytes(w);
      const auto shape = leaf_groups(exec, 2 * w, bytes);
      device::launch(exec, "ribbon::schur_leaves",
                     {tree_.chain.chains * ((tree_.leaves + shape.groups - 1) / shape.groups),
                      shape.lanes * shape.groups, static_cast<std::size_t>(shape.groups) * bytes},
                     Leaf{tree_, shape, A, factors_, bytes});
    }
  });
  if (tree_.top() > 0) {
    using Join                         = SchurJoinKernel<Scalar>;
    const int                  columns = power_of_two_from(std::max(1, 3 * w));
    const typename Join::Shape shape{
      columns,
      is_device_space<Exec> ? std::max(1, std::min(Join::max_threads / columns, std::max(4, 32 / columns)))
                            : 1,
      is_device_space<Exec> ? (w > 5 ? 5 : 4) : 0};
    device::launch(exec, "ribbon::schur_joins",
                   {tree_.chain.chains * tree_.count[tree_.stage_top(0)], shape.columns * shape.parts,
                    Join::Scratch::bytes(w, shape)},
                   Join{tree_, factors_, {arrivals_.data()}, shape});
  }
  finish_report(exec);
}

/// The records in host memory to which nodes at the top write statistics; null if statistics are copied.
template <class Scalar, class Exec>
typename SchurSolver<Scalar, Exec>::Implementation::Statistics *
SchurSolver<Scalar, Exec>::Implementation::tops() const
{
  if constexpr (multifrontal::writes_to_tops<Exec>)
    if (in_tiles_) return multifrontal::as_records<Statistics>(top_statistics_);
  return nullptr;
}

template <class Scalar, class Exec>
void SchurSolver<Scalar, Exec>::Implementation::finish_report(const Exec &exec)
{
  const auto   all = multifrontal::top_statistics<Statistics>(exec, tree_, leaf_statistics_, join_statistics_,
                                                            top_statistics_, tops() != nullptr);
  const double tolerance = zero_pivot_ > 0 ? zero_pivot_ : 100 * static_cast<double>(unit_roundoff<Scalar>());
  const auto   bytes     = report_.bytes;
  report_                = {};
  report_.bytes          = bytes;
  report_.algorithm      = "Schur complements";
  report_.log_abs_det    = all.log_det + std::log(all.product);
  report_.line = report_.row = all.column;
  report_.smallest_pivot     = all.column < 0 ? 1 : static_cast<double>(all.smallest);
  if (all.not_finite) report_.status = FactorStatus::not_finite;
  else if (report_.smallest_pivot <= tolerance) report_.status = FactorStatus::zero_pivot;
}

/// Solves for one column with the kernels for tiles of leaves; false if there are no such kernels.
template <class Scalar, class Exec>
bool SchurSolver<Scalar, Exec>::Implementation::solve_in_tiles(
  const Exec &exec, const multifrontal::SchurSolve<Scalar> &solve) const
{
  using namespace multifrontal;
  bool done = false;
  with_schur_tiles<Scalar>(in_tiles_ ? cut_width(tree_.chain) : 0, [&](auto K) {
    using Kernel              = SchurTileKernel<Scalar, K()>;
    constexpr bool is_virtual = !is_device_space<Exec>;
    const auto     kernel     = [&](Way way) { return Kernel(solve, Arrivals{arrivals_.data()}, way); };
    const Kernel   both       = kernel(Way::both);
    const auto     scratch    = both.scratch(is_virtual);
    done                      = scratch <= device::scratch_limit(exec);
    if (!done) return;
    const bool tries = tree_.chain.chains == 1;
    if (tries && teams_at_once_ < 0)
      teams_at_once_ =
        is_virtual ? tiles_at_once(exec) : device::teams_at_once<Kernel>(exec, Kernel::team_size, scratch);
    const auto launch = [&](const Kernel &k) {
      device::launch(
        exec, "ribbon::schur_solve",
        {k.teams(), Kernel::team_size, scratch, k.way == Way::both && k.teams() > tiles_at_once(exec)}, k);
    };
    if (tries && both.teams() <= teams_at_once_) launch(both);
    else launch(kernel(Way::up)), launch(kernel(Way::down));
  });
  return done;
}

/// Solves many columns at the leaves with the kernels for tiles; false if there are no such kernels.
template <class Scalar, class Exec>
template <bool Up>
bool SchurSolver<Scalar, Exec>::Implementation::columns_in_tiles(
  const Exec &exec, const multifrontal::SchurSolve<Scalar> &solve) const
{
  using namespace multifrontal;
  bool done = false;
  with_schur_tiles<Scalar>(in_tiles_ ? cut_width(tree_.chain) : 0, [&](auto K) {
    using Kernel = SchurColumnsKernel<Scalar, K(), Up>;
    const Kernel kernel(solve);
    const auto   scratch = kernel.scratch(!is_device_space<Exec>);
    done                 = scratch <= device::scratch_limit(exec);
    if (done)
      device::launch(exec, "ribbon::schur_solve_leaves", {kernel.teams(), Kernel::team_size, scratch},
                     kernel);
  });
  return done;
}

template <class Scalar, class Exec>
void SchurSolver<Scalar, Exec>::Implementation::solve(const Exec &exec, const Scalar *b, std::int64_t ldb,
                                                      Scalar *x, std::int64_t ldx, std::int64_t columns,
                                                      bool transposed) const
{
  using namespace multifrontal;
  const int          w = cut_width(tree_.chain), passed = 2 * w;
  const std::int64_t leaves = tree_.chain.chains * tree_.leaves, most = most_columns;
  if (tree_.chain.rows == 0 || tree_.chain.chains == 0) return;
  for (std::int64_t first = 0; first < columns; first += most) {
    const std::int64_t n    = std::min(most, columns - first);
    const std::int64_t sent = (leaves + tree_.chain.chains * tree_.joins) * passed * n;
    if (workspace_.extent(0) < workspace_size(n))
      workspace_ =
        allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::schur_workspace", workspace_size(n));
    const SchurSolve<Scalar> part{{tree_,
                                   {},
                                   {b + first * ldb, x + first * ldx, ldb, ldx, n, row_of_, workspace_.data(),
                                    passed, nullptr, nullptr, workspace_.data() + sent}},
                                  transposed ? factors_.transposed() : factors_,
                                  transposed};
    if (n == 1 && solve_in_tiles(exec, part)) continue;
    const auto at_leaves = [&](bool up) {
      if (up ? columns_in_tiles<true>(exec, part) : columns_in_tiles<false>(exec, part)) return;
      with_width_of<Scalar, Exec>(w, [&](auto K) {
        if constexpr (K() > 0) {
          constexpr int C            = 4;
          using Kernel               = SchurLeafSolveKernel<Scalar, K(), C>;
          const std::int64_t items   = leaves * ((n + C - 1) / C);
          const int          threads = threads_for(exec, items);
          device::launch(exec, "ribbon::schur_solve_leaves", {(items + threads - 1) / threads, threads, 0},
                         Kernel{part, up});
        } else {
          const auto shape = leaf_solve_shape<Scalar>(exec, w, n, factors_.together);
          device::launch(exec, "ribbon::schur_solve_leaves",
                         {shape.teams(leaves, n), shape.threads(), shape.scratch(w)},
                         SchurLeafLanesSolveKernel<Scalar>{{shape}, part, up});
        }
      });
    };
    const auto at_joins = [&](bool up) {
      for (std::size_t k = 0; k < plan_.size() && w > 0; ++k) {
        const Levels &levels = plan_[up ? k : plan_.size() - 1 - k];
        // few columns per team, so that there are many teams
        const int block = static_cast<int>(std::min<std::int64_t>(n, is_device_space<Exec> ? 4 : 16));
        device::launch(exec, "ribbon::schur_solve_joins",
                       {tree_.chain.chains * tree_.count[levels.top] * ((n + block - 1) / block),
                        is_device_space<Exec> ? 256 : 1, 0},
                       SchurJoinSolveKernel<Scalar>{part, levels, up, block});
      }
    };
    at_leaves(true);
    at_joins(true);
    at_joins(false);
    at_leaves(false);
  }
}

// The public face.

template <class Scalar, class Exec>
SchurSolver<Scalar, Exec>::SchurSolver() : implementation_(std::make_unique<Implementation>())
{
}
template <class Scalar, class Exec>
SchurSolver<Scalar, Exec>::SchurSolver(const Exec &exec, const Chain &chain,
                                       const ChainSolverOptions &options)
    : implementation_(std::make_unique<Implementation>(exec, chain, options))
{
}
template <class Scalar, class Exec>
SchurSolver<Scalar, Exec>::SchurSolver(SchurSolver &&) noexcept = default;
template <class Scalar, class Exec>
SchurSolver<Scalar, Exec> &SchurSolver<Scalar, Exec>::operator=(SchurSolver &&) noexcept = default;
template <class Scalar, class Exec>
SchurSolver<Scalar, Exec>::~SchurSolver() = default;

template <class Scalar, class Exec>
template <class Index>
void SchurSolver<Scalar, Exec>::factor(const Exec &exec, const ChainMatrix<Scalar, Index> &A)
{
  implementation_->factor(exec, A);
}
template <class Scalar, class Exec>
void SchurSolver<Scalar, Exec>::reserve(const Exec &exec, std::int64_t columns)
{
  implementation_->reserve(exec, columns);
}
template <class Scalar, class Exec>
void SchurSolver<Scalar, Exec>::solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x,
                                      std::int64_t ldx, std::int64_t columns, bool transposed) const
{
  implementation_->solve(exec, b, ldb, x, ldx, columns, transposed);
}
template <class Scalar, class Exec>
const FactorReport &SchurSolver<Scalar, Exec>::report() const
{
  return implementation_->report_;
}
template <class Scalar, class Exec>
const multifrontal::Tree &SchurSolver<Scalar, Exec>::tree() const
{
  return implementation_->tree_;
}
template <class Scalar, class Exec>
int SchurSolver<Scalar, Exec>::launches() const
{
  return implementation_->in_tiles_ ? 1 : static_cast<int>(implementation_->plan_.size()) + 1;
}

} // namespace ribbon
