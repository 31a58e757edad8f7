// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_solve_impl.hpp  ChainSolver: the launches of a solve, up and down the tree.
#pragma once

#include <ribbon/multifrontal/qr/join_solve.hpp>
#include <ribbon/multifrontal/qr/leaf_columns.hpp>
#include <ribbon/multifrontal/host/qr_leaf_lanes_solve.hpp>
#include <ribbon/multifrontal/qr/leaf_solve.hpp>
#include <ribbon/multifrontal/qr/tile_down.hpp>

#include "chain_plan.hpp"
#include "chain_solver_class.hpp"

#include <algorithm>

namespace ribbon {

namespace multifrontal {

/// Columns of a team at the joins: a warp, or a block that fits the caches of a host.
constexpr int most_block = 16;
template <class Scalar, class Exec>
typename QrJoinSolveKernel<Scalar>::Shape join_solve_shape(const Exec &exec, int W, std::int64_t columns,
                                                           Sweep sweep)
{
  using Shape               = typename QrJoinSolveKernel<Scalar>::Shape;
  const int         block   = static_cast<int>(std::min<std::int64_t>(columns, most_block));
  const bool        is_many = is_device_space<Exec> ? block == most_block : block > 1;
  const std::size_t limit   = device::scratch_limit(exec);
  Shape             shape   = {is_many && is_device_space<Exec> ? 32 : block, 16, is_many,
                 is_many && (sweep == Sweep::up || sweep == Sweep::down)};
  const auto        bytes   = [&] { return shape.scratch(W, sweep); };
  while (shape.together > 1 && bytes() > limit / 3) shape.together /= 2; // for three teams
  if (bytes() > limit) shape.is_staged = false;
  return shape;
}
/// Levels that a team processes at a time. On the way down, every team also processes the levels above.
constexpr int stages_up = 4, stages_down = 5;
/// The same tree with other stages.
inline Tree with_stages(Tree tree, int levels)
{
  tree.stage = levels;
  return tree;
}

/// Copies those unknowns of the cuts at the ends of a sub-chain that belong to it into x.
template <class Scalar>
struct PlaceCuts {
  QrSolve<Scalar>      solve;
  KOKKOS_FUNCTION void operator()(const std::int64_t column) const
  {
    const Chain &c = solve.tree.chain;
    for (int k = c.kl; c.open_left && k < c.width(); ++k)
      solve.x(0, k - c.kl, column) = solve.v.before[k * solve.v.columns + column];
    for (int k = 0; c.open_right && k < c.kl; ++k)
      solve.x(0, c.rows - c.kl + k, column) = solve.v.behind[k * solve.v.columns + column];
  }
};

} // namespace multifrontal

template <class Scalar, class Exec>
std::size_t ChainSolver<Scalar, Exec>::Implementation::workspace_size(std::int64_t columns,
                                                                      bool         transposed) const
{
  const std::int64_t nodes = tree_.leaves + tree_.joins,
                     rows  = nodes + tree_.joins + (transposed ? nodes : 0);
  return static_cast<std::size_t>(tree_.chain.chains * rows * tree_.chain.width() * columns);
}

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::reserve(const Exec &exec, std::int64_t columns)
{
  const std::size_t need = is_lu_ ? 0 : workspace_size(std::min(columns, multifrontal::most_columns), true);
  if (workspace_.extent(0) < need)
    workspace_ = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::chain_workspace", need);
  reserved_ = std::max(reserved_, columns);
}

template <class Scalar, class Exec>
multifrontal::QrSolve<Scalar>
ChainSolver<Scalar, Exec>::Implementation::columns_at(const Exec &exec, const Scalar *b, std::int64_t ldb,
                                                      Scalar *x, std::int64_t ldx, std::int64_t columns,
                                                      bool transposed) const
{
  using namespace multifrontal;
  const int          W = tree_.chain.width(), rows = (transposed ? 2 : 1) * W;
  const std::int64_t passed = tree_.chain.chains * (tree_.leaves + tree_.joins) * rows * columns;
  if (workspace_.extent(0) < workspace_size(columns, transposed))
    workspace_ = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::chain_workspace",
                                                          workspace_size(columns, transposed));
  return {tree_,
          factors_,
          {b, x, ldb, ldx, columns, row_of_, workspace_.data(), rows, nullptr, nullptr,
           workspace_.data() + passed}};
}

/// Solves with the kernels for tiles of leaves. False: there are no such kernels, or the way up and the way
/// down need a launch each.
template <class Scalar, class Exec>
bool ChainSolver<Scalar, Exec>::Implementation::sweep_tiles(const Exec                          &exec,
                                                            const multifrontal::QrSolve<Scalar> &solve,
                                                            multifrontal::Way                    way) const
{
  using namespace multifrontal;
  bool done = false;
  with_tiles<Scalar>(in_tiles_ && has_leaves_ ? tree_.chain.width() : 0, [&](auto K) {
    using One                 = QrTileKernel<Scalar, K()>;
    constexpr bool is_virtual = !is_device_space<Exec>;
    const Arrivals arrivals{arrivals_.data()};
    const One      one{typename One::Up(solve, arrivals), typename One::Down(solve), way};
    const QrTileUpKernel<Scalar, K(), true>   up_many(solve, arrivals);
    const QrTileDownKernel<Scalar, K(), true> down_many(solve);
    const bool                                is_one = solve.v.columns == 1,
               fits  = std::max({one.scratch(is_virtual), up_many.scratch(is_virtual),
                                 down_many.scratch(is_virtual)}) <= device::scratch_limit(exec);
    const bool tries = fits && way == Way::both && is_one && tree_.chain.chains == 1;
    if (tries && teams_at_once_ < 0)
      teams_at_once_ = is_virtual ? tiles_at_once(exec)
                                  : device::teams_at_once<One>(exec, One::team_size, one.scratch(is_virtual));
    done = fits && (way != Way::both || (tries && one.teams() <= teams_at_once_));
    if (!done) return;
    const auto launch = [&](const auto &kernel) {
      device::launch(exec, "ribbon::chain_solve",
                     {kernel.teams(), kernel.team_size, kernel.scratch(is_virtual),
                      way == Way::both && one.teams() > tiles_at_once(exec)},
                     kernel);
    };
    if (is_one) launch(one);
    else if (way == Way::up) launch(up_many), launch(QrJoinsUpKernel<Scalar, K()>{solve, arrivals});
    else launch(QrJoinsDownKernel<Scalar, K()>{solve}), launch(down_many);
  });
  return done;
}

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::sweep(const Exec                          &exec,
                                                      const multifrontal::QrSolve<Scalar> &solve,
                                                      multifrontal::Sweep                  direction) const
{
  using namespace multifrontal;
  if ((direction == Sweep::up && sweep_tiles(exec, solve, Way::up)) ||
      (direction == Sweep::down && sweep_tiles(exec, solve, Way::down)))
    return;
  const int          W       = tree_.chain.width();
  const std::int64_t columns = solve.v.columns, leaves = tree_.chain.chains * tree_.leaves;
  const bool         up        = direction == Sweep::up || direction == Sweep::up_transposed;
  const auto         at_leaves = [&] {
    if (!has_leaves_) return;
    if constexpr (!is_device_space<Exec>) {
      const LeafBundlesSolveKernel<Scalar> bundles{solve, direction};
      if (in_lanes_)
        return Kokkos::parallel_for("ribbon::chain_solve_leaves", indices(exec, bundles.items()), bundles);
    }
    const auto launch = [&](const auto &kernel) {
      device::launch(exec, "ribbon::chain_solve_leaves",
                             {kernel.shape.teams(leaves, columns), kernel.shape.threads(), kernel.shape.scratch(W)},
                             kernel);
    };
    const bool is_transposed = direction == Sweep::up_transposed || direction == Sweep::down_transposed;
    if (is_transposed || !with_leaf_columns<Scalar, Exec>(W, columns, [&](auto P) {
          using Columns       = QrLeafColumnsKernel<Scalar, P()>;
          constexpr int lanes = is_device_space<Exec> ? 32 : 1;
          launch(
                    Columns{{{1, lanes, Columns::chunk, is_device_space<Exec> ? 2 : 1, Columns::numbers(lanes | 1)}},
                    solve,
                    up});
        }))
      launch(QrLeafSolveKernel<Scalar>{
        {leaf_solve_shape<Scalar>(exec, W, columns, factors_.together)}, solve, direction});
  };
  if (up) at_leaves();
  if (tree_.top() > 0 && W > 0) {
    using Joins       = QrJoinSolveKernel<Scalar>;
    const auto  shape = join_solve_shape<Scalar>(exec, W, columns, direction);
    const Joins joins = {{{with_stages(tree_, up ? stages_up : stages_down), factors_, solve.v}, direction},
                         {arrivals_.data()},
                         shape};
    device::launch(exec, "ribbon::chain_solve_joins",
                   {tree_.chain.chains * tree_.count[joins.solve.tree.stage_top(0)] * shape.blocks(columns),
                    is_device_space<Exec> ? Joins::max_threads : 1, shape.scratch(W, direction)},
                   joins);
  }
  if (!up) at_leaves();
}

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::solve(const Exec &exec, const Scalar *b, std::int64_t ldb,
                                                      Scalar *x, std::int64_t ldx, std::int64_t columns,
                                                      bool transposed) const
{
  using namespace multifrontal;
  if (tree_.chain.rows == 0 || tree_.chain.chains == 0 || columns == 0) return;
  if (is_lu_) {
    if constexpr (!is_device_space<Exec>)
      Kokkos::parallel_for("ribbon::band_lu_solve",
                           indices(exec, tree_.chain.chains * ((columns + lu_.together - 1) / lu_.together)),
                           BandLuSolveKernel<Scalar>{lu_, b, x, ldb, ldx, columns, transposed});
    return;
  }
  for (std::int64_t c = 0; c < columns; c += most_columns) {
    const auto part =
      columns_at(exec, b + c * ldb, ldb, x + c * ldx, ldx, std::min(most_columns, columns - c), transposed);
    if (!transposed && sweep_tiles(exec, part, Way::both)) continue;
    sweep(exec, part, transposed ? Sweep::up_transposed : Sweep::up);
    sweep(exec, part, transposed ? Sweep::down_transposed : Sweep::down);
  }
}

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::up(const Exec &exec, const Scalar *b, std::int64_t ldb,
                                                   Scalar *x, std::int64_t ldx, std::int64_t columns,
                                                   bool transposed, Scalar *ends) const
{
  using namespace multifrontal;
  using Unmanaged  = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const auto solve = columns_at(exec, b, ldb, x, ldx, columns, transposed);
  sweep(exec, solve, transposed ? Sweep::up_transposed : Sweep::up);
  const std::size_t n =
    tree_.is_piece() ? static_cast<std::size_t>((transposed ? 2 : 1) * tree_.chain.width() * columns) : 0;
  if (n > 0)
    Kokkos::deep_copy(
      exec, Kokkos::View<Scalar *, Memory, Unmanaged>(ends, n),
      Kokkos::View<const Scalar *, Memory, Unmanaged>(&solve.passed(0, tree_.top(), 0, 0, 0), n));
}

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::down(const Exec &exec, Scalar *x, std::int64_t ldx,
                                                     std::int64_t columns, bool transposed,
                                                     const Scalar *ends) const
{
  using namespace multifrontal;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  auto solve      = columns_at(exec, nullptr, 0, x, ldx, columns, transposed);
  if (transposed) {
    const std::size_t n = tree_.is_piece() ? static_cast<std::size_t>(tree_.chain.width() * columns) : 0;
    if (n > 0)
      Kokkos::deep_copy(exec,
                        Kokkos::View<Scalar *, Memory, Unmanaged>(&solve.passed(0, tree_.top(), 0, 0, 0), n),
                        Kokkos::View<const Scalar *, Memory, Unmanaged>(ends, n));
  } else {
    solve.v.before = ends, solve.v.behind = ends + tree_.chain.width() * columns;
    Kokkos::parallel_for("ribbon::place_cuts", indices(exec, columns), PlaceCuts<Scalar>{solve});
  }
  sweep(exec, solve, transposed ? Sweep::down_transposed : Sweep::down);
}

template <class Scalar, class Exec>
void ChainSolver<Scalar, Exec>::Implementation::solve_passed(const Exec &exec, const Scalar *b, Scalar *x,
                                                             std::int64_t columns, bool transposed,
                                                             Scalar *leaf_ends) const
{
  using namespace multifrontal;
  using Passed     = Kokkos::View<Scalar *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const auto solve = columns_at(exec, b, tree_.chain.rows, x, tree_.chain.rows, columns, transposed);
  const auto n     = static_cast<std::size_t>(tree_.leaves * solve.v.passed_rows * columns);
  Kokkos::deep_copy(exec, Passed(solve.v.passed, n), Passed(leaf_ends, n));
  sweep(exec, solve, transposed ? Sweep::up_transposed : Sweep::up);
  sweep(exec, solve, transposed ? Sweep::down_transposed : Sweep::down);
  if (transposed) Kokkos::deep_copy(exec, Passed(leaf_ends, n), Passed(solve.v.passed, n));
}

} // namespace ribbon
