// SPDX-License-Identifier: BSD-2-Clause
/// @file chain_solver_impl.hpp  ChainSolver: tree, report, solves; chain_factor_impl.hpp has the
///   launches of a factorization.
#pragma once

#include <ribbon/multifrontal/qr/join_solve.hpp>
#include <ribbon/multifrontal/qr/leaf_columns.hpp>
#include <ribbon/multifrontal/host/qr_leaf.hpp>
#include <ribbon/multifrontal/host/qr_leaf_lanes_solve.hpp>
#include <ribbon/multifrontal/qr/leaf_solve.hpp>
#include <ribbon/multifrontal/qr/tile_down.hpp>

#include "chain_plan.hpp"
#include "chain_solver_class.hpp"
#include "instantiate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon {

namespace multifrontal {

/// Threads from which on a chain is cut. On one core bundles take 0.9 (W = 2) to 2.5 times (W = 10) as long
/// as band LU to factor, 0.9 to 3 times for one column and 2 to 4 times for eight; 5 to 6 times to factor for
/// W = 12 to 16. Leaves one by one take 4 + W times.
constexpr int threads_for_leaves(int W)
{
  return !has_bundles(W) ? 5 + W : W > 10 ? 8 : 4;
}
/// Rows from which on that is worth the launches.
constexpr std::int64_t rows_for_leaves = 8192;

/// Rows of a leaf on a host at most: a row that stays for more steps is rounded so
/// often that digits are lost.
constexpr std::int64_t longest_leaf = 2048;

/// Leaves of a chain on a host, as far as it has rows for them: a bundle for each thread, or one leaf where
/// the band is too wide; one, for band LU, where that is as fast.
template <class Scalar>
std::int64_t leaves_of_threads(std::int64_t threads, const Chain &chain, bool orthogonal)
{
  const std::int64_t chains = std::max<std::int64_t>(chain.chains, 1),
                     lanes  = has_bundles(chain.width()) ? bundle_lanes<Scalar> : 1;
  if (!orthogonal && !chain.is_open_left() && !chain.is_open_right() &&
      (threads / chains < threads_for_leaves(chain.width()) || chain.rows < rows_for_leaves))
    return 1;
  return std::max((lanes * threads + chains - 1) / chains,
                  (chain.rows / longest_leaf + lanes - 1) / lanes * lanes);
}

/// Rows of a leaf on a host at least: fewer are not worth the join.
constexpr int shortest_leaf(int W)
{
  return has_bundles(W) ? std::max(16, 6 * W) : std::max(64, 4 * W);
}

/// Columns of a team at the joins: a warp, or so many that a host keeps what they need.
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
/// Levels that a team of them works off at a time: on the way down every team has those above, too.
constexpr int stages_up = 4, stages_down = 5;
/// The same tree with other stages.
inline Tree with_stages(Tree tree, int levels)
{
  tree.stage = levels;
  return tree;
}

/// Puts the unknowns of the cuts at the ends of a piece that belong to it into x.
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
ChainSolver<Scalar, Exec>::Implementation::Implementation(const Exec &exec, const Chain &given,
                                                          const ChainSolverOptions &options)
    : options_(options)
{
  using namespace multifrontal;
  const Chain chain  = with_even_width<Scalar, Exec>(given, options);
  const int   W      = chain.width();
  const auto  refuse = [](const std::string &what) {
    throw std::invalid_argument("ribbon::ChainSolver: " + what);
  };
  if (chain.kl < 0 || chain.ku < 0 || chain.rows < 0 || chain.chains < 0)
    refuse("negative kl, ku, rows or number of chains");
  if (chain.ring && chain.rows < W + 1)
    refuse("a ring of " + std::to_string(chain.rows) +
           " rows, fewer than kl + ku + 1 = " + std::to_string(W + 1));
  if ((chain.open_left || chain.open_right) && (chain.ring || chain.chains != 1 || chain.rows < W))
    refuse("a piece of a chain has at least kl + ku rows and is neither a ring nor one of several");
  if (options.leaf_size < 0) refuse("leaf_size " + std::to_string(options.leaf_size));
  if (options.zero_pivot < 0 || !is_finite(options.zero_pivot))
    refuse("zero_pivot " + std::to_string(options.zero_pivot));
  if (options.threads < 0) refuse("threads " + std::to_string(options.threads));
  const int    threads = threads_of(exec, options);
  std::int64_t count   = 1;
  if (options.leaf_size > 0) count = chain.rows / std::max<std::int64_t>(options.leaf_size, W);
  else if (is_device_space<Exec>)
    count = chain.rows / std::max<std::int64_t>(usual_leaf<Scalar>(exec, chain), W);
  else
    count =
      std::min(leaves_of_threads<Scalar>(threads, chain, options.orthogonal), chain.rows / shortest_leaf(W));
  tree_ = Tree(chain, std::max<std::int64_t>(1, count));
  in_tiles_ =
    (is_device_space<Exec> || options.leaf_size > 0) &&
    chain.rows <= std::numeric_limits<std::int32_t>::max() &&
    with_tiles<Scalar>(W, [](auto) {}); // a host runs their code one virtual thread after another, for tests
  is_lu_ = !is_device_space<Exec> && options.leaf_size == 0 && !options.orthogonal && tree_.leaves == 1 &&
           !chain.is_open_left() && !chain.is_open_right();
  const auto numbers = [&](const char *label, std::int64_t n) {
    return allocate<Kokkos::View<Scalar *, Memory>>(exec, label, static_cast<std::size_t>(n));
  };
  const auto watched = [&](const char *label, std::int64_t n) {
    return allocate_zeros<Kokkos::View<double *, Memory>>(exec, label,
                                                          static_cast<std::size_t>(n) * words<Statistics>);
  };
  const std::int64_t rows = chain.rows * chain.chains;
  if (is_lu_) {
    lu_.set_band(chain);
    upper_      = numbers("ribbon::upper", rows * (lu_.chain.ku + 1));
    reflection_ = numbers("ribbon::lower", rows * lu_.chain.kl);
    fill_       = numbers("ribbon::fill", rows * lu_.chain.kl);
    exchange_ =
      allocate<Kokkos::View<int *, Memory>>(exec, "ribbon::exchange", static_cast<std::size_t>(rows));
    plain_     = allocate<Kokkos::View<std::int64_t *, Memory>>(exec, "ribbon::plain",
                                                            static_cast<std::size_t>(chain.chains));
    postponed_ = allocate<Kokkos::View<std::int64_t *, Memory>>(exec, "ribbon::postponed",
                                                                static_cast<std::size_t>(chain.chains));
    for (auto *view : {&grown_, &doubtful_})
      *view = allocate<Kokkos::View<real_t<Scalar> *, Memory>>(exec, "ribbon::of_chains",
                                                               static_cast<std::size_t>(chain.chains));
    windows_ = numbers("ribbon::windows", static_cast<std::int64_t>(lu_.window_size()) * exec.concurrency());
    leaf_statistics_ = watched("ribbon::pivots", chain.chains);
    lu_.upper = upper_.data(), lu_.lower = reflection_.data(), lu_.fill = fill_.data(),
    lu_.exchange = exchange_.data(), lu_.plain = plain_.data(), lu_.postponed = postponed_.data(),
    lu_.grown = grown_.data(), lu_.doubtful = doubtful_.data();
  } else {
    in_lanes_ = !is_device_space<Exec> && options.leaf_size == 0 && has_bundles(W);
    // leaves whose factors lie side by side
    const int tile = in_lanes_ ? bundle_lanes<Scalar> : in_tiles_ ? 32 : 1;
    if (!in_tiles_) tree_.stage = 1;
    if (in_tiles_)
      tree_.slots = tree_.leaves > tile ? (tree_.leaves + tile - 1) / tile * tile
                                        : power_of_two_from(static_cast<int>(tree_.leaves));
    const std::int64_t slots = (chain.chains * tree_.slots + tile - 1) / tile * tile,
                       steps = slots * tree_.most_rows();
    // slots without a leaf are read, too
    const auto of_rows = [&](auto &view, const char *label, std::int64_t n) {
      using ViewType = std::decay_t<decltype(view)>;
      view           = tile > 1 ? allocate_zeros<ViewType>(exec, label, static_cast<std::size_t>(n))
                                : allocate<ViewType>(exec, label, static_cast<std::size_t>(n));
    };
    of_rows(row_scale_, "ribbon::row_scale", steps),
      of_rows(reflection_, "ribbon::reflections", steps * (W + 1)),
      of_rows(upper_, "ribbon::upper", steps * (2 * W + 1));
    leaf_passed_ =
      numbers("ribbon::leaves_pass", chain.chains * tree_.leaves * Factors<Scalar>::passed_size(W));
    join_            = numbers("ribbon::joins", chain.chains * tree_.joins * Factors<Scalar>::join_size(W));
    leaf_statistics_ = watched("ribbon::pivots", chain.chains * tree_.leaves);
    join_statistics_ = watched("ribbon::pivots", chain.chains * tree_.joins);
    factors_         = {reflection_.data(),
                        upper_.data(),
                        leaf_passed_.data(),
                        join_.data(),
                        as_records<Statistics>(leaf_statistics_),
                        as_records<Statistics>(join_statistics_),
                        row_scale_.data(),
                        tile};
    if (in_tiles_ || tree_.joins > 0) {
      const auto counts = std::max(Arrivals::count(tree_, in_tiles_ ? most_columns : 1),
                                   Arrivals::count(with_stages(tree_, stages_up), most_columns / most_block));
      arrivals_         = allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::arrivals",
                                                              static_cast<std::size_t>(counts));
    }
    if (!is_device_space<Exec> && options.leaf_size == 0 && !in_lanes_)
      windows_ =
        numbers("ribbon::windows", static_cast<std::int64_t>(HostLeavesKernel<Scalar, Exec>::window_size(W)) *
                                     exec.concurrency());
    if (chain.open_left || chain.open_right)
      passed_ = numbers("ribbon::passed", Factors<Scalar>::passed_size(W));
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
      if (report_.status == FactorStatus::zero_pivot) { // of rows of different size perhaps
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
  if (has_leaves_) { // the first time, or leaves of its own were there
    const std::vector<Statistics> unseen(leaf_statistics_.extent(0) / multifrontal::words<Statistics>);
    Kokkos::deep_copy(
      exec, leaf_statistics_,
      Kokkos::View<const double *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        reinterpret_cast<const double *>(unseen.data()), leaf_statistics_.extent(0)));
    exec.fence(); // before the numbers go
  }
  has_leaves_ = false;
  factor_joins(exec);
  finish_report(exec);
}

/// Where joins at the top write what was watched for the host; null where that is copied.
template <class Scalar, class Exec>
typename ChainSolver<Scalar, Exec>::Implementation::Statistics *
ChainSolver<Scalar, Exec>::Implementation::tops() const
{
  if constexpr (multifrontal::writes_to_tops<Exec>)
    if (in_tiles_ && tree_.top() > 0) return multifrontal::as_records<Statistics>(top_statistics_);
  return nullptr;
}

/// Copies what the node at the top passes, and says what the pivots were.
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

/// Solves with the kernels for tiles of leaves; false where there are none, or the way up and the
/// way down take a launch each.
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
    const Joins joins = {{with_stages(tree_, up ? stages_up : stages_down), factors_, solve.v},
                         {arrivals_.data()},
                         direction,
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

// The public face.

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
