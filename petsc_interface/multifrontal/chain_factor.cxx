// SPDX-License-Identifier: BSD-2-Clause
#include "chain_factor.hpp"

#include "chain_inertia.hpp"
#include "schur_pieces.hpp"

#include "../support/csr.hpp"
#include "../support/session.hpp"
#include "../support/staged_arrays.hpp"

#include <ribbon/multifrontal/edges.hpp>
#include <ribbon/multifrontal/row_spread.hpp>
#include <ribbon/multifrontal/turn_dense.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ribbon::petsc {

namespace {

constexpr PetscInt most_columns = 64; ///< that are exchanged at a time

template <class Exec>
class ChainFactorOn final : public ChainFactor {
  using Memory    = typename Exec::memory_space;
  using Buffer    = Kokkos::View<Scalar *, Memory>;
  using Indices   = Kokkos::View<std::int64_t *, Memory>;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using HostView  = Kokkos::View<Scalar *, Kokkos::HostSpace, Unmanaged>;

public:
  PetscErrorCode symbolic(MPI_Comm active, const ChainPattern &pattern, PetscInt first, PetscInt rows,
                          const ChainSolverOptions &options) override
  {
    const Exec exec = current_space<Exec>();
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(active, &size_));
    PetscCallMPI(MPI_Comm_rank(active, &rank_));
    comm_ = active, whole_ = pattern.chain, first_ = first, rows_ = rows,
    is_cut_ = size_ > 1 && whole_.width() > 0 && !pattern.separate;
    starts_.assign(static_cast<std::size_t>(size_) + 1, 0);
    PetscCallMPI(MPI_Allgather(&first, 1, MPIU_INT, starts_.data(), 1, MPIU_INT, active));
    Chain piece = whole_;
    if (pattern.separate && piece.ring) piece.chains = rows / piece.rows;
    else if (size_ > 1) {
      piece.rows = rows, piece.ring = false;
      if (is_cut_)
        piece.open_left = whole_.ring || rank_ > 0, piece.open_right = whole_.ring || rank_ + 1 < size_;
    }
    if (pivots) PetscCallCXX(solver_ = ChainSolver<Scalar, Exec>(exec, piece, options));
    else if (is_cut_)
      PetscCallCXX(pieces_ = SchurPieces<Exec>(exec, active, size_, rank_, whole_, piece, options));
    else PetscCallCXX(schur_ = SchurSolver<Scalar, Exec>(exec, piece, options));
    shape_ = piece;
    if (is_cut_ && pivots) {
      ChainSolverOptions cuts = options;
      Chain              root = whole_;
      root.rows = size_ * whole_.width(), cuts.leaf_size = whole_.width();
      PetscCallCXX(root_ = ChainSolver<Scalar, HostExec>(HostExec(), root, cuts));
    }
    if (!pattern.row_of.empty()) {
      PetscCallCXX(row_of_ = upload(exec, "ribbon::row_of", pattern.row_of));
      PetscCallCXX(place_of_ = upload(exec, "ribbon::place_of", pattern.place_of));
      order_ = pattern.row_of;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode numeric(Mat local, Mat outside, const PetscInt *columns, ChainReport *report) override
  {
    const Exec exec = current_space<Exec>();
    PetscFunctionBegin;
    if (is_cut_ && !knows_outside_) { // the pattern remains that of the symbolic factorization
      PetscInt n;
      PetscCall(MatGetSize(outside, nullptr, &n));
      std::vector<std::int64_t> distance;
      for (PetscInt k = 0; k < n; ++k) {
        std::int64_t d = columns[k] - first_;
        if (whole_.ring) d += d < -whole_.kl ? whole_.rows : d >= rows_ + whole_.ku ? -whole_.rows : 0;
        distance.push_back(d);
      }
      PetscCallCXX(outside_column_ = upload(exec, "ribbon::outside_column", distance));
      knows_outside_ = true;
    }
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(WithCsr<Exec>(local, [&](const auto &csr) {
      using Index = std::decay_t<decltype(*csr.column)>;
      ChainMatrix<Scalar, std::remove_const_t<Index>> A{csr};
      if (row_of_.extent(0) > 0) A.row_of = row_of_.data(), A.place_of = place_of_.data();
      if (!is_cut_) {
        if (pivots) solver_.factor(exec, A);
        else schur_.factor(exec, A);
        KeepBand(exec, A);
        LookAtRows(exec, A, report);
        return;
      }
      A.outside_column           = outside_column_.data();
      const PetscErrorCode error = WithCsr<Exec>(outside, [&](const auto &far) {
        if constexpr (std::is_same_v<decltype(far), decltype(csr)>) {
          A.outside      = far;
          A.outside.rows = 1;
          if (pivots) solver_.factor(exec, A);
          else pieces_.factor(exec, A);
          if (pivots) KeepBand(exec, A);
          LookAtRows(exec, A, report);
        } else
          throw std::runtime_error(
            "ribbon: the columns of other ranks are stored in another way than those of this rank");
      });
      if (error != PETSC_SUCCESS) throw std::runtime_error("the columns of other ranks cannot be read");
    }));
    if (is_cut_ && !pivots) PetscCall(pieces_.join());
    else if (is_cut_) {
      const std::size_t n = solver_.passed_size();
      mine_.resize(n), all_.resize(n * static_cast<std::size_t>(size_));
      PetscCallCXX(Kokkos::deep_copy(HostView(mine_.data(), n),
                                     Kokkos::View<const Scalar *, Memory, Unmanaged>(solver_.passed(), n)));
      PetscCallMPI(MPI_Allgather(mine_.data(), static_cast<PetscMPIInt>(n), MPIU_SCALAR, all_.data(),
                                 static_cast<PetscMPIInt>(n), MPIU_SCALAR, comm_));
      PetscCallCXX(root_.factor_passed(HostExec(), all_.data()));
    }
    PetscCall(PetscLogGpuTimeEnd());
    Combine(report);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode solve(const PetscScalar *b, PetscMemType where_b, PetscInt ldb, PetscScalar *x,
                       PetscMemType where_x, PetscInt ldx, PetscInt columns, bool transposed) override
  {
    const Exec exec = current_space<Exec>();
    PetscFunctionBegin;
    if constexpr (!is_device_space<Exec>) {
      PetscCall(solve_here(exec, reinterpret_cast<const Scalar *>(b), ldb, reinterpret_cast<Scalar *>(x), ldx,
                           columns, transposed));
      PetscCall(PetscLogFlops(
        (std::is_floating_point_v<Scalar> ? 2.0 : 8.0) *
        static_cast<double>(with_solver([](const auto &solver) { return solver.report().bytes; }) /
                            sizeof(Scalar)) *
        static_cast<double>(columns)));
    } else {
      PetscCall(b_.load(exec, b, where_b, {rows_, columns, ldb}));
      PetscCall(x_.attach(exec, x, where_x, {rows_, columns, ldx}));
      PetscCall(PetscLogGpuTimeBegin());
      PetscCall(solve_here(exec, b_.data(), b_.ld(), x_.data(), x_.ld(), columns, transposed));
      PetscCall(PetscLogGpuTimeEnd());
      PetscCall(x_.store(exec));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode transpose(const PetscScalar *b, PetscMemType where, PetscInt ldb, PetscInt rows,
                           PetscInt columns, PetscScalar *to) override
  {
    const auto turn = [&](const auto &exec) {
      multifrontal::turn_dense(exec, reinterpret_cast<const Scalar *>(b), ldb, rows, columns,
                               reinterpret_cast<Scalar *>(to));
    };
    PetscFunctionBegin;
    if (PetscMemTypeHost(where)) PetscCallCXX(turn(HostExec()));
    else PetscCallCXX(turn(current_space<Exec>()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode inertia(Inertia *inertia, std::string *refusal) override
  {
    const auto band =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), is_cut_ && !pivots ? pieces_.band() : band_);
    PetscFunctionBegin;
    if (is_cut_) {
      PetscCall(InertiaOfPieces(comm_, whole_, rows_, band.data(), inertia, refusal));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(InertiaOfChains(shape_, band.data(), inertia, refusal));
    std::int64_t counts[] = {inertia->negative, inertia->zero, inertia->positive}; // if ranks do not couple
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 3, MPI_INT64_T, MPI_SUM, comm_));
    *inertia = {counts[0], counts[1], counts[2]};
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::complex<double> det_sign() const override
  {
    return pivots && !is_cut_ ? solver_.det_sign() : std::numeric_limits<double>::quiet_NaN();
  }

private:
  /// Calls f(the solver of this rank's rows).
  template <class F>
  auto with_solver(const F &f) const
  {
    return pivots ? f(solver_) : f(is_cut_ ? pieces_.interior() : schur_);
  }

  void KeepBand(const Exec &exec, const ChainEntries<Scalar> &A)
  {
    const auto rows = shape_.chains * shape_.rows;
    const auto size = static_cast<std::size_t>(rows * (shape_.width() + 1));
    if (!keeps_band) return;
    if (band_.extent(0) != size) band_ = allocate<Buffer>(exec, "ribbon::band", size);
    multifrontal::copy_band(exec, shape_, A, band_.data());
    exec.fence();
  }

  /// Pivoted elimination depends on the units of rows and columns.
  template <class Index>
  void LookAtRows(const Exec &exec, const ChainMatrix<Scalar, Index> &A, ChainReport *report) const
  {
    if (!pivots) return;
    if constexpr (!is_device_space<Exec>)
      if (!std::isnan(solver_.report().growth)) { // band LU compares near rows only
        report->rows_are_steep = multifrontal::rows_are_steep(A, shape_.chains, shape_.rows, shape_.kl);
        return;
      }
    const auto found = multifrontal::row_spread(exec, A, rows_);
    if (!(found.max_val >= found.min_val)) return;
    std::frexp(found.max_val, &report->rows_apart[0]);
    std::frexp(found.min_val, &report->rows_apart[1]);
    report->rows_apart[1] = -report->rows_apart[1];
  }

  /// The row of the matrix of unknown j between ranks. With pivoting these are the kl last rows of a rank
  /// and the ku first rows of the next one. Without pivoting they are the last rows of a rank.
  PetscInt RowOfCut(std::int64_t j) const
  {
    const auto         W  = static_cast<std::int64_t>(pivots ? whole_.width() : pieces_.cut_width());
    const std::int64_t at = pivots ? starts_[static_cast<std::size_t>((j + whole_.kl) / W % size_)] -
                                       whole_.kl + (j + whole_.kl) % W
                                   : starts_[static_cast<std::size_t>((j / W + 1) % size_)] - W + j % W;
    return static_cast<PetscInt>((at + whole_.rows) % whole_.rows);
  }

  void Combine(ChainReport *report) const
  {
    FactorReport r = with_solver([](const auto &solver) { return solver.report(); });
    report->bytes  = static_cast<double>(r.bytes + band_.span() * sizeof(Scalar));
    report->column =
      r.row < 0
        ? -1
        : static_cast<PetscInt>(order_.empty() ? first_ + r.row : order_[static_cast<std::size_t>(r.row)]);
    if (is_cut_) {
      const FactorReport &top = pivots ? root_.report() : pieces_.root_report();
      if (rank_ == 0) r.log_abs_det += top.log_abs_det;
      report->bytes += static_cast<double>(pivots ? top.bytes : pieces_.bytes() - r.bytes);
      if (r.status != FactorStatus::not_finite &&
          (top.status > r.status || (top.status == r.status && top.smallest_pivot < r.smallest_pivot))) {
        report->passed_on = top.status == FactorStatus::not_finite;
        r.status = top.status, r.smallest_pivot = top.smallest_pivot;
        report->column = RowOfCut(top.row);
      }
    }
    report->status = r.status, report->smallest_pivot = static_cast<PetscReal>(r.smallest_pivot),
    report->log_abs_det = static_cast<PetscReal>(r.log_abs_det);
    with_solver([&](const auto &solver) {
      report->leaves = static_cast<PetscInt>(solver.tree().leaves), report->levels = solver.tree().top(),
      report->launches = solver.launches();
    });
    report->doubtful_pivot = report->smallest_pivot;
    if (pivots) {
      report->has_small_columns = solver_.has_small_columns() || (is_cut_ && root_.has_small_columns());
      report->is_tiny           = solver_.is_tiny();
      report->doubtful_pivot = static_cast<PetscReal>(is_cut_ ? r.smallest_pivot : solver_.doubtful_pivot());
      report->growth         = r.growth;
    }
    report->method = pivots ? solver_.method() : "Schur complements without pivots",
    report->space  = is_device_space<Exec> ? "device" : "host";
  }

  PetscErrorCode solve_here(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
                            PetscInt columns, bool transposed)
  {
    PetscFunctionBegin;
    if (!is_cut_) {
      PetscCallCXX(
        with_solver([&](const auto &solver) { solver.solve(exec, b, ldb, x, ldx, columns, transposed); }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    for (PetscInt c = 0; c < columns; c += most_columns) {
      const PetscInt some = std::min(most_columns, columns - c);
      if (pivots) PetscCall(solve_piece(exec, b + c * ldb, ldb, x + c * ldx, ldx, some, transposed));
      else PetscCall(pieces_.solve(exec, b + c * ldb, ldb, x + c * ldx, ldx, some, transposed));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Exchanges once the values that all ranks pass, and for transposed solves the rows of b at the ends.
  PetscErrorCode solve_piece(const Exec &exec, const Scalar *b, std::int64_t ldb, Scalar *x, std::int64_t ldx,
                             PetscInt columns, bool transposed)
  {
    const std::int64_t W = whole_.width(), pass = (transposed ? 3 : 1) * W * columns,
                       ends = (transposed ? 2 : 1) * W * columns, cuts = size_ * W;
    const auto n = static_cast<std::size_t>(std::max(pass, 2 * W * columns));
    PetscFunctionBegin;
    if (ends_.extent(0) < n) PetscCallCXX(ends_ = allocate<Buffer>(exec, "ribbon::ends", n));
    mine_.resize(n), all_.resize(static_cast<std::size_t>(pass * size_)),
      passed_.resize(static_cast<std::size_t>(ends * size_)),
      cut_b_.resize(static_cast<std::size_t>(cuts * columns)), cut_x_.resize(cut_b_.size());
    PetscCallCXX(solver_.up(exec, b, ldb, x, ldx, columns, transposed, ends_.data()));
    if (transposed)
      PetscCallCXX(
        multifrontal::edge_rows(exec, b, ldb, rows_, columns, whole_.kl, whole_.ku, ends_.data() + ends));
    PetscCallCXX(Kokkos::deep_copy(
      exec, HostView(mine_.data(), static_cast<std::size_t>(pass)),
      Kokkos::subview(ends_, std::make_pair(std::size_t(0), static_cast<std::size_t>(pass)))));
    PetscCallCXX(exec.fence());
    PetscCallMPI(MPI_Allgather(mine_.data(), static_cast<PetscMPIInt>(pass), MPIU_SCALAR, all_.data(),
                               static_cast<PetscMPIInt>(pass), MPIU_SCALAR, comm_));
    for (std::int64_t r = 0; r < size_; ++r) {
      const Scalar *from = all_.data() + r * pass;
      std::copy(from, from + ends, passed_.data() + r * ends);
      for (std::int64_t k = 0; transposed && k < W; ++k)
        for (std::int64_t c = 0; c < columns; ++c)
          cut_b_[static_cast<std::size_t>(r * W + k + c * cuts)] = from[ends + k * columns + c];
    }
    PetscCallCXX(
      root_.solve_passed(HostExec(), cut_b_.data(), cut_x_.data(), columns, transposed, passed_.data()));
    if (transposed)
      std::copy(passed_.data() + rank_ * ends, passed_.data() + (rank_ + 1) * ends, mine_.data());
    else
      for (std::int64_t side = 0; side < 2; ++side)
        for (std::int64_t k = 0; k < W; ++k)
          for (std::int64_t c = 0; c < columns; ++c)
            mine_[static_cast<std::size_t>((side * W + k) * columns + c)] =
              cut_x_[static_cast<std::size_t>(((rank_ + side) * W - whole_.kl + k + cuts) % cuts + c * cuts)];
    PetscCallCXX(Kokkos::deep_copy(exec, Kokkos::subview(ends_, std::make_pair(std::size_t(0), n)),
                                   HostView(mine_.data(), n)));
    PetscCallCXX(solver_.down(exec, x, ldx, columns, transposed, ends_.data()));
    PetscCallCXX(exec.fence()); // the source of the copy may be overwritten
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  MPI_Comm                      comm_ = MPI_COMM_NULL;
  PetscMPIInt                   size_ = 1, rank_ = 0;
  Chain                         whole_;
  PetscInt                      first_ = 0, rows_ = 0;
  std::vector<PetscInt>         starts_; ///< first rows of the ranks
  std::vector<std::int64_t>     order_;
  Chain                         shape_; ///< of the rows of this rank
  ChainSolver<Scalar, Exec>     solver_;
  SchurSolver<Scalar, Exec>     schur_;  ///< without pivoting
  SchurPieces<Exec>             pieces_; ///< if also ranks couple
  ChainSolver<Scalar, HostExec> root_;
  bool                          is_cut_        = false; ///< the chain spans several ranks that couple
  bool                          knows_outside_ = false;
  Indices                       row_of_, place_of_, outside_column_;
  Buffer                        ends_, band_;
  StagedArray<Exec>             b_, x_; ///< of a device
  std::vector<Scalar>           mine_, all_, passed_, cut_b_, cut_x_;
};

} // namespace

std::unique_ptr<ChainFactor> ChainFactor::create([[maybe_unused]] bool on_device)
{
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
  if (on_device) return std::make_unique<ChainFactorOn<DeviceExec>>();
#endif
  return std::make_unique<ChainFactorOn<HostExec>>();
}

} // namespace ribbon::petsc
