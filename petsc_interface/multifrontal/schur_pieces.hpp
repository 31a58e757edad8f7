// SPDX-License-Identifier: BSD-2-Clause
/// @file schur_pieces.hpp  Elimination without pivoting of a chain that spans several ranks.
///
///     rank r   [ interior r | z_r ]     z_r: the last w = max(kl, ku) unknowns of a rank that has a
///     successor
///
/// Every rank factors its interior by its tree (SchurSolver), and solves for the 2 w columns by which the
/// interior depends on the unknowns before and after it. All ranks receive the contributions of each rank
/// to the equations of these unknowns: 5 w^2 values, and 2 w values for each column of a solve. Every rank
/// then solves for all z, with pivoting (ChainSolver).
#pragma once

#include "../support/compat.h"

#include <ribbon/multifrontal/schur/pieces.hpp>
#include <ribbon/schur_solver.hpp>

#include <algorithm>
#include <vector>

namespace ribbon::petsc {

/// All functions are collective over the ranks of the communicator, in the order of the chain. Each rank
/// has at least 2 w rows.
template <class Exec>
class SchurPieces {
  using Memory     = typename Exec::memory_space;
  using Buffer     = Kokkos::View<Scalar *, Memory>;
  using Unmanaged  = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using HostView   = Kokkos::View<Scalar *, Kokkos::HostSpace, Unmanaged>;
  using BandOfRows = multifrontal::BandOfRows<Scalar>;
  using Block      = const Scalar *; ///< w x w, by rows

public:
  SchurPieces() = default;
  /// @param piece  the rows of this rank
  SchurPieces(const Exec &exec, MPI_Comm comm, PetscMPIInt size, PetscMPIInt rank, const Chain &whole,
              const Chain &piece, const ChainSolverOptions &options)
      : comm_(comm), size_(size), rank_(rank), piece_(piece), w_(std::max(whole.kl, whole.ku)),
        ring_(whole.ring), left_(piece.open_left), right_(piece.open_right),
        inner_(piece.rows - (right_ ? w_ : 0))
  {
    cuts_     = ring_ ? size_ : size_ - 1;
    interior_ = SchurSolver<Scalar, Exec>(exec, {inner_, 1, piece.kl, piece.ku}, options);
    std::vector<std::int64_t> row_begin{0}, column;
    for (std::int64_t i = 0; i < inner_; ++i) {
      for (std::int64_t c = std::max<std::int64_t>(i - piece.kl, 0); c <= std::min(i + piece.ku, inner_ - 1);
           ++c)
        column.push_back(c);
      row_begin.push_back(static_cast<std::int64_t>(column.size()));
    }
    row_begin_ = upload(exec, "ribbon::row_begin", row_begin),
    column_    = upload(exec, "ribbon::column", column);
    value_     = allocate<Buffer>(exec, "ribbon::interior", column.size());
    band_ =
      allocate<Buffer>(exec, "ribbon::band", static_cast<std::size_t>(piece.rows * (piece.width() + 1)));
    columns_ = allocate<Buffer>(exec, "ribbon::couplings", static_cast<std::size_t>(inner_ * 2 * w_));
    interior_.reserve(exec, 2 * w_);
    all_.resize(5 * block() * static_cast<std::size_t>(size_));
    make_root(options);
    make_room(exec, 2 * w_);
  }

  /// Factors the interior; join() follows on all ranks.
  void factor(const Exec &exec, const ChainEntries<Scalar> &A)
  {
    const BandOfRows band{band_.data(), piece_.kl, piece_.ku};
    multifrontal::copy_band(exec, piece_, A, band_.data());
    multifrontal::interior_entries(exec, band, row_begin_.data(), inner_, value_.data());
    interior_.factor(
      exec, ChainMatrix<Scalar, std::int64_t>{{inner_, row_begin_.data(), column_.data(), value_.data()}});
    Kokkos::deep_copy(exec, columns_, Scalar(0));
    multifrontal::coupling_columns(exec, band, inner_, w_, left_, right_, columns_.data());
    interior_.solve(exec, columns_.data(), inner_, columns_.data(), inner_, 2 * w_);
    take_ends(exec, columns_.data(), inner_, nullptr, 0, 2 * w_);
    bring_edges(exec, band);
  }

  /// Exchanges the couplings. Every rank sends the blocks of its equations of z_r for z_r and for z_(r-1),
  /// after the elimination of its interior. It also sends the blocks of these equations in the next rank,
  /// and the dependence of its first unknowns on z before and after it.
  PetscErrorCode join()
  {
    const auto n    = static_cast<PetscMPIInt>(5 * block());
    const auto tail = [&](int r, int k) { return host_[static_cast<std::size_t>((w_ + r) * 2 * w_ + k)]; };
    PetscFunctionBegin;
    std::fill(mine_.begin(), mine_.begin() + n, Scalar(0));
    for (int i = 0; i < w_; ++i)
      for (int k = 0; k < w_; ++k) {
        Scalar *const to = mine_.data() + i * w_ + k;
        for (int c = 0; right_ && c < w_; ++c)
          to[0] -= at(inside_, i, c) * tail(c, w_ + k), to[block()] -= at(inside_, i, c) * tail(c, k);
        if (right_) to[0] += at(own_, i, k), to[2 * block()] = at(next_, i, k);
        if (left_)
          to[3 * block()]        = host_[static_cast<std::size_t>(i * 2 * w_ + k)],
                 to[4 * block()] = host_[static_cast<std::size_t>(i * 2 * w_ + w_ + k)];
      }
    PetscCallMPI(MPI_Allgather(mine_.data(), n, MPIU_SCALAR, all_.data(), n, MPIU_SCALAR, comm_));
    PetscCallCXX(factor_root());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const SchurSolver<Scalar, Exec> &interior() const { return interior_; }
  /// Of the equations of all z. Row j is unknown j % w of rank j / w.
  const FactorReport &root_report() const { return root_.report(); }
  int                 cut_width() const { return w_; }
  std::size_t         bytes() const
  {
    return interior_.report().bytes + root_.report().bytes +
           (band_.span() + value_.span() + columns_.span() + ends_.span() + work_.span()) * sizeof(Scalar) +
           (row_begin_.span() + column_.span()) * sizeof(std::int64_t);
  }
  /// (rows, kl + ku + 1) of the rows of this rank, as they were factored.
  const Buffer &band() const { return band_; }

  /// x = A^-1 b, or A^-T b, for few columns; b == x is allowed. Waits for exec.
  PetscErrorCode solve(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
                       std::int64_t columns, bool transposed)
  {
    const auto n = static_cast<std::size_t>(w_ * columns), at_once = 2 * n;
    PetscFunctionBegin;
    PetscCallCXX(up(exec, b, ldb, x, ldx, columns, transposed));
    PetscCallMPI(MPI_Allgather(mine_.data(), static_cast<PetscMPIInt>(at_once), MPIU_SCALAR, told_.data(),
                               static_cast<PetscMPIInt>(at_once), MPIU_SCALAR, comm_));
    PetscCallCXX(down(exec, x, ldx, columns, transposed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Computes the contributions of this rank to the right-hand sides of z_r and of z of the rank before.
  /// For the latter it sends its first unknowns, from which that rank computes the contribution; in
  /// transposed solves it sends the contribution.
  void up(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
          std::int64_t columns, bool transposed)
  {
    const auto n = static_cast<std::size_t>(w_ * columns);
    make_room(exec, columns);
    interior_.solve(exec, b, ldb, x, ldx, columns, transposed);
    take_ends(exec, x, ldx, right_ ? b : nullptr, ldb, columns);
    std::fill(mine_.begin(), mine_.begin() + static_cast<std::ptrdiff_t>(2 * n), Scalar(0));
    if (right_)
      std::copy(host_.begin() + static_cast<std::ptrdiff_t>(2 * n),
                host_.begin() + static_cast<std::ptrdiff_t>(3 * n), mine_.begin());
    if (right_) subtract(transposed ? behind_ : inside_, transposed, host_.data() + n, columns, mine_.data());
    if (left_ && transposed) subtract(before_, true, host_.data(), columns, mine_.data() + n);
    if (left_ && !transposed)
      std::copy(host_.begin(), host_.begin() + static_cast<std::ptrdiff_t>(n),
                mine_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  /// Computes z of all ranks, and the interior of this rank.
  void down(const Exec &exec, Scalar *x, std::int64_t ldx, std::int64_t columns, bool transposed)
  {
    const auto         n = static_cast<std::size_t>(w_ * columns), at_once = 2 * n;
    const std::int64_t rows = std::int64_t(cuts_) * w_;
    for (int r = 0; r < cuts_; ++r) {
      const Scalar *const of_next = told_.data() + static_cast<std::size_t>((r + 1) % size_) * at_once + n;
      Scalar *const       own     = told_.data() + static_cast<std::size_t>(r) * at_once;
      if (!transposed) subtract(block_of(r, 2), false, of_next, columns, own);
      for (std::size_t k = 0; k < n; ++k)
        z_b_[static_cast<std::size_t>(r) * w_ + k / columns + k % columns * rows] =
          transposed ? own[k] + of_next[k] : own[k];
    }
    root_.solve(HostExec(), z_b_.data(), rows, z_.data(), rows, columns, transposed);
    const auto z = [&](int r, int k, std::int64_t c) {
      return z_[static_cast<std::size_t>(std::int64_t((r + size_) % size_) * w_ + k + c * rows)];
    };
    std::fill(host_.begin(), host_.begin() + static_cast<std::ptrdiff_t>(2 * at_once), Scalar(0));
    for (int k = 0; k < w_; ++k)
      for (std::int64_t c = 0; c < columns; ++c) {
        if (left_) host_[static_cast<std::size_t>(k * columns + c)] = z(rank_ - 1, k, c);
        if (right_) host_[static_cast<std::size_t>((w_ + k) * columns + c)] = z(rank_, k, c);
      }
    if (transposed) { // contributions of z to the equations of the interior
      if (left_)
        subtract(block_of((rank_ - 1 + size_) % size_, 2), true, host_.data(), columns,
                 host_.data() + at_once);
      if (right_) subtract(inside_, true, host_.data() + n, columns, host_.data() + at_once + n);
      for (std::size_t k = at_once; k < 2 * at_once; ++k) host_[k] = -host_[k];
    }
    Kokkos::deep_copy(exec, Kokkos::subview(ends_, std::make_pair(std::size_t(0), 2 * at_once)),
                      HostView(host_.data(), 2 * at_once));
    if (transposed) {
      const auto all = std::make_pair(std::size_t(0), static_cast<std::size_t>(inner_ * columns));
      if (work_.extent(0) < all.second) work_ = allocate<Buffer>(exec, "ribbon::work", all.second);
      Kokkos::deep_copy(exec, Kokkos::subview(work_, all), Scalar(0));
      multifrontal::add_ends(exec, ends_.data() + at_once, inner_, columns, w_, work_.data());
      interior_.solve(exec, work_.data(), inner_, work_.data(), inner_, columns, true);
    }
    multifrontal::finish_piece<Scalar>(exec, {x, transposed ? work_.data() : columns_.data(), ends_.data(),
                                              ldx, inner_, columns, w_, transposed ? 0 : 2 * w_, right_});
    exec.fence(); // the source of the copy may be overwritten
  }

  std::size_t   block() const { return static_cast<std::size_t>(w_ * w_); }
  const Scalar &at(const std::vector<Scalar> &a, int i, int k) const
  {
    return a[static_cast<std::size_t>(i * w_ + k)];
  }
  /// Block `which` that a rank sent: see join().
  Block block_of(int rank, int which) const
  {
    return all_.data() + (static_cast<std::size_t>(rank) * 5 + static_cast<std::size_t>(which)) * block();
  }

  /// y -= a v, or a^T v, columns fastest.
  void subtract(Block a, bool transposed, const Scalar *v, std::int64_t columns, Scalar *y) const
  {
    for (int i = 0; i < w_; ++i)
      for (int k = 0; k < w_; ++k)
        for (std::int64_t c = 0; c < columns; ++c)
          y[i * columns + c] -= (transposed ? a[k * w_ + i] : a[i * w_ + k]) * v[k * columns + c];
  }
  void subtract(const std::vector<Scalar> &a, bool transposed, const Scalar *v, std::int64_t columns,
                Scalar *y) const
  {
    subtract(a.data(), transposed, v, columns, y);
  }

  void take_ends(const Exec &exec, const Scalar *from, std::int64_t ld, const Scalar *b, std::int64_t ldb,
                 std::int64_t columns)
  {
    const auto n = static_cast<std::size_t>((b ? 3 : 2) * w_ * columns);
    multifrontal::take_ends(exec, from, ld, b, ldb, inner_, columns, w_, ends_.data());
    Kokkos::deep_copy(exec, HostView(host_.data(), n),
                      Kokkos::subview(ends_, std::make_pair(std::size_t(0), n)));
    exec.fence();
  }
  void make_room(const Exec &exec, std::int64_t columns)
  {
    const auto w = static_cast<std::size_t>(w_), n = static_cast<std::size_t>(columns);
    if (host_.size() >= 4 * w * n) return;
    ends_ = allocate<Buffer>(exec, "ribbon::ends", 4 * w * n);
    host_.resize(4 * w * n), mine_.resize(std::max(2 * w * n, 5 * block())),
      told_.resize(2 * w * n * static_cast<std::size_t>(size_));
    z_b_.resize(static_cast<std::size_t>(cuts_) * w * n), z_.resize(z_b_.size());
    root_.reserve(HostExec(), columns);
  }

  /// Copies the blocks of the rows at the ends of the interior, which couple with its neighbours.
  void bring_edges(const Exec &exec, const BandOfRows &band)
  {
    const auto of_rows = [&](std::int64_t rows) {
      return static_cast<std::size_t>(rows * (piece_.width() + 1));
    };
    const auto bring = [&](std::vector<Scalar> &to, std::int64_t first, std::int64_t rows) {
      to.resize(of_rows(rows));
      Kokkos::deep_copy(exec, HostView(to.data(), to.size()),
                        Kokkos::subview(band_, std::make_pair(of_rows(first), of_rows(first + rows))));
    };
    bring(first_rows_, 0, w_), bring(last_rows_, inner_ - w_, (right_ ? 2 : 1) * w_);
    exec.fence();
    const BandOfRows head{first_rows_.data(), band.kl, band.ku}, tail{last_rows_.data(), band.kl, band.ku};
    for (auto *a : {&before_, &behind_, &inside_, &own_, &next_}) a->assign(block(), Scalar(0));
    for (int i = 0; i < w_; ++i)
      for (int k = 0; k < w_; ++k) {
        const auto e = static_cast<std::size_t>(i * w_ + k);
        before_[e]   = head.at(i, k - w_ - i);
        if (right_)
          behind_[e] = tail.at(i, w_ + k - i), inside_[e] = tail.at(w_ + i, k - w_ - i),
          own_[e] = tail.at(w_ + i, k - i), next_[e] = tail.at(w_ + i, w_ + k - i);
      }
  }

  /// Creates the pattern of the matrix of all z: blocks of neighbours.
  void make_root(const ChainSolverOptions &options)
  {
    const bool         is_ring = ring_ && cuts_ >= 4; // otherwise every block couples with every other
    const int          most = cuts_ * w_ - 1, reach = ring_ && !is_ring ? most : std::min(2 * w_ - 1, most);
    ChainSolverOptions whole;
    whole.zero_pivot = options.zero_pivot, whole.threads = 1; // the same on all ranks
    root_ =
      ChainSolver<Scalar, HostExec>(HostExec(), {std::int64_t(cuts_) * w_, 1, reach, reach, is_ring}, whole);
    root_begin_ = {0};
    for (int r = 0; r < cuts_; ++r) {
      auto &blocks = neighbours_.emplace_back();
      for (int other : {r - 1, r, r + 1})
        if (ring_ || (other >= 0 && other < cuts_)) blocks.push_back((other + cuts_) % cuts_);
      std::sort(blocks.begin(), blocks.end());
      blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
      for (int i = 0; i < w_; ++i) {
        for (int other : blocks)
          for (int k = 0; k < w_; ++k) root_column_.push_back(std::int64_t(other) * w_ + k);
        root_begin_.push_back(static_cast<std::int64_t>(root_column_.size()));
      }
    }
    root_value_.resize(root_column_.size());
  }
  void factor_root()
  {
    std::fill(root_value_.begin(), root_value_.end(), Scalar(0));
    const auto add = [&](int r, int other, Block a, Block times) { // adds a, or - a times
      const auto       &blocks = neighbours_[static_cast<std::size_t>(r)];
      const std::size_t place =
        static_cast<std::size_t>(std::lower_bound(blocks.begin(), blocks.end(), other) - blocks.begin());
      for (int i = 0; i < w_; ++i)
        for (int k = 0; k < w_; ++k) {
          Scalar &to =
            root_value_[static_cast<std::size_t>(root_begin_[static_cast<std::size_t>(r * w_ + i)]) +
                        place * static_cast<std::size_t>(w_) + static_cast<std::size_t>(k)];
          if (!times) to += a[i * w_ + k];
          for (int c = 0; times && c < w_; ++c) to -= a[i * w_ + c] * times[c * w_ + k];
        }
    };
    for (int r = 0; r < cuts_; ++r) {
      const int next = (r + 1) % size_;
      add(r, r, block_of(r, 0), nullptr);
      add(r, r, block_of(r, 2), block_of(next, 3));
      if (ring_ || r > 0) add(r, (r - 1 + cuts_) % cuts_, block_of(r, 1), nullptr);
      if (ring_ || r + 1 < cuts_) add(r, (r + 1) % cuts_, block_of(r, 2), block_of(next, 4));
    }
    root_.factor(HostExec(), ChainMatrix<Scalar, std::int64_t>{{std::int64_t(cuts_) * w_, root_begin_.data(),
                                                                root_column_.data(), root_value_.data()}});
  }

  MPI_Comm                             comm_ = MPI_COMM_NULL;
  PetscMPIInt                          size_ = 1, rank_ = 0;
  Chain                                piece_;
  int                                  w_ = 0, cuts_ = 0;
  bool                                 ring_ = false, left_ = false, right_ = false;
  std::int64_t                         inner_ = 0;
  SchurSolver<Scalar, Exec>            interior_;
  ChainSolver<Scalar, HostExec>        root_;
  Kokkos::View<std::int64_t *, Memory> row_begin_, column_;
  Buffer                               band_, value_, columns_, ends_, work_;
  std::vector<std::vector<int>>        neighbours_; ///< blocks in the rows of a z
  std::vector<std::int64_t>            root_begin_, root_column_;
  std::vector<Scalar>                  root_value_, host_, mine_, all_, told_, z_b_, z_;
  std::vector<Scalar>                  first_rows_, last_rows_;
  /// w x w blocks. Rows of the first and last unknowns of the interior: before it, after it. Rows of z: in
  /// the interior, in z, in the next rank
  std::vector<Scalar> before_, behind_, inside_, own_, next_;
};

} // namespace ribbon::petsc
