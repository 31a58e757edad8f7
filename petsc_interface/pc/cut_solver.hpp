// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_solver.hpp  Lines that the partition cuts, solved where their pieces are: cut_lines.hpp on each rank, and a reduced system between them.
#pragma once

#include "../lines/chain.hpp"
#include "../messages.hpp"
#include "../session.hpp"
#include "format.hpp"
#include "reduced_matrix.hpp"

#include <ribbon/algorithm/cut_reduced.hpp>
#include <ribbon/cut_lines.hpp>
#include <ribbon/line_pieces.hpp>
#include <ribbon/lines_from_csr.hpp>

#include <stdexcept>
#include <utility>

namespace ribbon::petsc {

template <class Exec>
class CutSolver {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

public:
  CutSolver() = default;

  /// Factors; `why_not` says why these lines have to be solved otherwise, the same on all ranks of the chain, on which this is collective.
  /// @param lines  pieces of this rank
  /// @param bands  of these, with the entries in columns of other ranks where Bands ignore them
  /// @param cut    PC_LINE_CUT_AUTO, _EXACT or _DROP
  PetscErrorCode set_up(const Exec &exec, std::shared_ptr<const LineChain> chain, const LineSet &lines, const Input &bands, bool periodic, PCLineCut cut, const LineSolverOptions &options, std::string *why_not)
  {
    PetscFunctionBegin;
    chain_ = std::move(chain), periodic_ = periodic, lines_ = lines.lines();
    CutPiece piece;
    piece.m = lines.rows, piece.lines = lines_, piece.K = std::max(1, bands.half_bandwidth()), piece.B = bands.block;
    piece.left = has_left(), piece.right = has_right();
    for (PetscMPIInt q = 0; q < chain_->size(); ++q)
      if (chain_->pieces[static_cast<std::size_t>(q)].rows < piece.K && (periodic || q + 1 < chain_->size())) *why_not = "couplings reach further than a piece is long";
    if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    std::vector<Scalar> us;
    PetscCall(FromLeft(right_couplings(exec, piece, bands), piece.S(), &us));
    try {
      cut_ = CutLines<Scalar, Exec>(exec, piece, lines, bands, us, options, *why_not);
    } catch (const std::invalid_argument &e) {
      *why_not = e.what();
    } catch (const std::exception &e) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "PC line: %s", e.what());
    }
    int number = 0;
    PetscCall(AgreeOnSentence(chain_->comm, why_not, &number));
    if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    ReducedMatrix R;
    PetscCall(GetReducedMatrix(*chain_, cut_.blocks(exec), piece.S(), periodic, &R));
    const bool decayed = R.decay() <= static_cast<double>(unit_roundoff<Scalar>()) / 4;
    mode_              = (decayed && cut != PC_LINE_CUT_EXACT) || R.separators == 1 || cut == PC_LINE_CUT_DROP ? Mode::neighbours : choose_mode(piece.S());
    exact_             = mode_ != Mode::neighbours || decayed;
    PetscCall(FactorReduced(exec, R, why_not));
    if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallCXX(reserve(exec, lines_));
    PetscCall(ProbeLines(exec, lines, cut, why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool empty() const { return !chain_; }
  /// Whether what is left out is below rounding.
  bool is_exact() const { return exact_; }
  /// Whether several right-hand sides of a line are solved in one go.
  bool takes_columns() const { return mode_ != Mode::transposed; }
  /// How these lines are solved, in words.
  std::string facts() const
  {
    const CutPiece &piece = cut_.piece();
    const long long rows = separators() * piece.S(), left = cut_.left_rows(), right = cut_.right_rows(), m = piece.m;
    if (mode_ == Mode::neighbours) return format("%s by neighbours, corrections reach %lld and %lld of %lld rows", exact_ ? "exactly" : "approximately", left, right, m);
    return format("exactly, reduced systems of %lld unknowns solved %s, corrections reach %lld and %lld of %lld rows", rows, mode_ == Mode::redundant ? "on every rank" : "dealt out by lines", left, right, m);
  }
  /// Of the interior, with what the probe of the whole found.
  FactorReport report() const
  {
    FactorReport r = cut_.has_interior() ? cut_.report() : reduced_.report();
    if (cut_.has_interior()) r.smallest_pivot = std::min(r.smallest_pivot, reduced_.report().smallest_pivot);
    r.probe_error = probe_error_, r.rcond = rcond_;
    r.bytes = cut_.bytes() + reduced_.report().bytes + ends_.bytes() + all_.bytes() + back_.bytes() + z_.size() * sizeof(Scalar);
    return r;
  }

  /// x = A^-1 b. Collective on the chain. Allocates where there are more lines than ever before, as with several right-hand sides.
  PetscErrorCode solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out)
  {
    const Events *events;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCallCXX(reserve(exec, in.lines()));
    PetscCall(PetscLogEventBegin(events->forward, 0, 0, 0, 0));
    PetscCallCXX(cut_.forward(exec, b, in, x, out, ends_.data()));
    PetscCall(PetscLogEventEnd(events->forward, 0, 0, 0, 0));
    PetscCall(PetscLogEventBegin(events->exchange, 0, 0, 0, 0));
    if (mode_ == Mode::neighbours) PetscCall(AskNeighbours(exec, in.lines()));
    else if (mode_ == Mode::redundant) PetscCall(SolveRedundantly(exec, in.lines()));
    else PetscCall(SolveDealtOut(exec));
    PetscCall(PetscLogEventEnd(events->exchange, 0, 0, 0, 0));
    PetscCall(PetscLogEventBegin(events->backward, 0, 0, 0, 0));
    PetscCallCXX(cut_.backward(exec, z(true, in.lines()), z(false, in.lines()), x, out));
    PetscCall(PetscLogEventEnd(events->backward, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Who solves the reduced systems: every rank those between itself and its neighbours, as if there were no others; every rank all; or each rank those of some lines.
  enum class Mode { neighbours, redundant, transposed };

  PetscMPIInt  size() const { return chain_->size(); }
  bool         has_left() const { return chain_->own > 0 || periodic_; }
  bool         has_right() const { return chain_->own + 1 < size() || periodic_; }
  PetscMPIInt  left() const { return has_left() ? (chain_->own + size() - 1) % size() : MPI_PROC_NULL; }
  PetscMPIInt  right() const { return has_right() ? (chain_->own + 1) % size() : MPI_PROC_NULL; }
  std::int64_t separators() const { return periodic_ ? size() : size() - 1; }
  LineShares   shares() const { return {lines_, size()}; }
  std::int64_t own_lines() const { return shares().count(chain_->own); }

  /// Seconds of a solve between the ranks, of 2 microseconds a message and 10 GB/s: docs/distributed.md.
  Mode choose_mode(int S) const
  {
    constexpr double latency = 2e-6, seconds_a_byte = 1e-10;
    const double     P = size(), bytes = 2.0 * S * static_cast<double>(lines_) * sizeof(Scalar);
    const double     redundant = std::ceil(std::log2(P)) * latency + (P - 1) * bytes * seconds_a_byte, transposed = 2 * ((P - 1) * latency + bytes * (P - 1) / P * seconds_a_byte);
    return transposed < redundant ? Mode::transposed : Mode::redundant;
  }

  static PetscMPIInt count(std::int64_t n)
  {
    if (n > PETSC_MPI_INT_MAX) throw std::length_error("lines are too many for one message of MPI");
    return static_cast<PetscMPIInt>(n);
  }
  static std::vector<Scalar> right_couplings(const Exec &exec, const CutPiece &piece, const Input &bands) { return piece.right ? CutLines<Scalar, Exec>::right_couplings(exec, piece, bands) : std::vector<Scalar>(); }

  /// What the rank left of this one has for it.
  PetscErrorCode FromLeft(const std::vector<Scalar> &to_right, int S, std::vector<Scalar> *from_left) const
  {
    PetscMPIInt out = count(static_cast<std::int64_t>(to_right.size())), in = 0;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Sendrecv(&out, 1, MPI_INT, right(), 0, &in, 1, MPI_INT, left(), 0, chain_->comm, MPI_STATUS_IGNORE));
    from_left->resize(static_cast<std::size_t>(has_left() ? in : S * S), Scalar(0));
    PetscCallMPI(MPI_Sendrecv(to_right.data(), out, MPIU_SCALAR, right(), 1, from_left->data(), in, MPIU_SCALAR, left(), 1, chain_->comm, MPI_STATUS_IGNORE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The reduced matrices that this rank solves with.
  PetscErrorCode FactorReduced(const Exec &exec, const ReducedMatrix &R, std::string *why_not)
  {
    Bands<Scalar, Kokkos::HostSpace> host;
    Input                            bands;
    int                              number = 0;
    const int                        S      = cut_.piece().S();
    PetscFunctionBegin;
    const bool         window = mode_ == Mode::neighbours, one = R.matrices == 1, own = mode_ == Mode::transposed;
    const std::int64_t lines = own ? own_lines() : lines_, first = own && !one ? shares().begin(chain_->own) : 0, rows = window ? has_left() + has_right() : separators();
    const auto         n = static_cast<std::size_t>(rows), matrices = static_cast<std::size_t>(one ? std::min<std::int64_t>(lines, 1) : lines), block = static_cast<std::size_t>(S) * static_cast<std::size_t>(S);
    host.values = decltype(host.values)("ribbon::reduced", matrices, n, 3 * block);
    for (std::size_t l = 0; l < matrices; ++l)
      for (std::size_t i = 0; i < n; ++i) {
        const std::int64_t p = !window ? static_cast<std::int64_t>(i) : i == 0 && has_left() ? left() : chain_->own;
        for (std::size_t e = window ? block : 0; e < (window ? 2 : 3) * block; ++e) host.values(l, i, e) = R.entry(first + static_cast<std::int64_t>(l), p, e);
      }
    bands.periodic = periodic_ && !window, bands.lhs = one ? Lhs::shared : Lhs::per_line, bands.lower = bands.upper = 1, bands.block = S;
    PetscCallCXX(bands.values = allocate<typename Input::values_type>(exec, "ribbon::reduced", matrices, n, 3 * block));
    PetscCallCXX(Kokkos::deep_copy(exec, bands.values, host.values));
    PetscCallCXX(exec.fence());
    try {
      if (!one && lines > 0) share<Scalar>(exec, bands, std::max<std::int64_t>(1, (lines - 1) / 4));
      reduced_ = LineSolver<Scalar, Exec>(exec, reduced_lines(rows, lines), bands);
    } catch (const std::exception &e) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "PC line: %s", e.what());
    }
    if (!reduced_.report().ok()) *why_not = "the reduced system is singular";
    PetscCall(AgreeOnSentence(chain_->comm, why_not, &number));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  LineSet reduced_lines(std::int64_t rows, std::int64_t lines) const
  {
    const int S = cut_.piece().S();
    LineSet   set{rows, lines, 1, S * lines, 1, 0, 0};
    set.components = S, set.component_stride = lines;
    return set;
  }

  void reserve(const Exec &exec, std::int64_t lines)
  {
    if (lines <= room_) return;
    const std::int64_t numbers = 2 * cut_.piece().S(), own = own_lines();
    const bool         dealt = mode_ == Mode::transposed;
    const auto         all   = [&](std::int64_t n) { return static_cast<std::size_t>(count(n)); };
    ends_                    = MessageBuffer<Exec>(exec, all(numbers * lines));
    all_                     = MessageBuffer<Exec>(exec, all(mode_ == Mode::neighbours ? numbers * lines : numbers * size() * (dealt ? own : lines)));
    if (dealt) back_ = MessageBuffer<Exec>(exec, all(numbers * lines));
    z_ = allocate<decltype(z_)>(exec, "ribbon::cut_solver::z", all(std::max(numbers * lines, separators() * cut_.piece().S() * (dealt ? own : mode_ == Mode::neighbours ? 0 : lines))));
    if (dealt) {
      for (auto *v : {&piece_count_, &piece_at_, &own_count_, &own_at_}) v->clear();
      for (PetscMPIInt q = 0; q < size(); ++q) {
        piece_count_.push_back(count(numbers * shares().count(q))), piece_at_.push_back(count(numbers * shares().begin(q)));
        own_count_.push_back(count(numbers * own)), own_at_.push_back(count(numbers * own * q));
      }
    }
    room_ = lines;
  }

  /// Separators left of this rank (`of_left`), or its own.
  const Scalar *z(bool of_left, std::int64_t lines) const
  {
    const std::int64_t each = cut_.piece().S() * lines;
    if (mode_ == Mode::redundant) return z_.data() + (of_left ? (has_left() ? left() : 0) : has_right() ? chain_->own : 0) * each;
    return z_.data() + (of_left || (mode_ == Mode::neighbours && !has_left()) ? 0 : each);
  }

  PetscErrorCode AskNeighbours(const Exec &exec, std::int64_t lines)
  {
    const std::int64_t each = cut_.piece().S() * lines;
    const PetscMPIInt  n    = static_cast<PetscMPIInt>(each);
    MPI_Request        requests[4];
    PetscFunctionBegin;
    PetscCall(ends_.to_mpi(exec));
    PetscCallMPI(MPI_Irecv(all_.for_mpi(), n, MPIU_SCALAR, left(), 0, chain_->comm, &requests[0]));
    PetscCallMPI(MPI_Irecv(all_.for_mpi() + each, n, MPIU_SCALAR, right(), 1, chain_->comm, &requests[1]));
    PetscCallMPI(MPI_Isend(ends_.for_mpi() + each, n, MPIU_SCALAR, right(), 0, chain_->comm, &requests[2]));
    PetscCallMPI(MPI_Isend(ends_.for_mpi(), n, MPIU_SCALAR, left(), 1, chain_->comm, &requests[3]));
    PetscCallMPI(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    PetscCall(all_.from_mpi(exec));
    for (bool of_left : {true, false}) {
      const std::int64_t at = of_left ? 0 : each;
      if (of_left ? has_left() : has_right())
        PetscCallCXX(Kokkos::parallel_for("ribbon::cut_solver::add", indices(exec, each), AddKernel<Scalar>{ends_.data() + at, all_.data() + at, const_cast<Scalar *>(z(of_left, lines))}));
    }
    const LineSet set = reduced_lines(has_left() + has_right(), lines);
    PetscCallCXX(reduced_.solve(exec, z_.data(), set, z_.data(), set));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode SolveRedundantly(const Exec &exec, std::int64_t lines)
  {
    const int          S       = cut_.piece().S();
    const std::int64_t numbers = 2 * S * lines;
    const PetscMPIInt  n       = static_cast<PetscMPIInt>(numbers);
    const LineSet      set     = reduced_lines(separators(), lines);
    PetscFunctionBegin;
    PetscCall(ends_.to_mpi(exec));
    PetscCallMPI(MPI_Allgather(ends_.for_mpi(), n, MPIU_SCALAR, all_.for_mpi(), n, MPIU_SCALAR, chain_->comm));
    PetscCall(all_.from_mpi(exec));
    PetscCallCXX(Kokkos::parallel_for("ribbon::cut_solver::reduced", indices(exec, set.unknowns()), ReducedRightHandSide<Scalar>{all_.data(), {numbers, lines, 1}, size(), lines, S, z_.data()}));
    PetscCallCXX(reduced_.solve(exec, z_.data(), set, z_.data(), set));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// For as many lines as were factored.
  PetscErrorCode SolveDealtOut(const Exec &exec)
  {
    const int          S   = cut_.piece().S();
    const std::int64_t own = own_lines();
    const EndsLayout   at{2 * S * own, 1, 2 * S};
    const LineSet      set = reduced_lines(separators(), own);
    LineSet            ends{1, lines_, 1, 2 * S * lines_, 1, 0, 0};
    ends.components = 2 * S, ends.component_stride = lines_;
    PetscFunctionBegin;
    PetscCallCXX(deal_out(exec, ends, shares(), ends_.data(), back_.data()));
    PetscCall(back_.to_mpi(exec));
    PetscCallMPI(MPI_Alltoallv(back_.for_mpi(), piece_count_.data(), piece_at_.data(), MPIU_SCALAR, all_.for_mpi(), own_count_.data(), own_at_.data(), MPIU_SCALAR, chain_->comm));
    PetscCall(all_.from_mpi(exec));
    PetscCallCXX(Kokkos::parallel_for("ribbon::cut_solver::reduced", indices(exec, set.unknowns()), ReducedRightHandSide<Scalar>{all_.data(), at, size(), own, S, z_.data()}));
    PetscCallCXX(reduced_.solve(exec, z_.data(), set, z_.data(), set));
    PetscCallCXX(Kokkos::parallel_for("ribbon::cut_solver::spread", indices(exec, 2 * S * own * size()), ReducedSolution<Scalar>{z_.data(), at, size(), separators(), own, S, all_.data()}));
    PetscCall(all_.to_mpi(exec));
    PetscCallMPI(MPI_Alltoallv(all_.for_mpi(), own_count_.data(), own_at_.data(), MPIU_SCALAR, back_.for_mpi(), piece_count_.data(), piece_at_.data(), MPIU_SCALAR, chain_->comm));
    PetscCall(back_.from_mpi(exec));
    PetscCallCXX(take_back(exec, ends, shares(), z_.data(), back_.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Solves right-hand sides whose backward errors tell whether the digits of these lines are kept.
  PetscErrorCode ProbeLines(const Exec &exec, const LineSet &like, PCLineCut cut, std::string *why_not)
  {
    using Real               = real_t<Scalar>;
    using Kernel             = typename CutKernels<Scalar, Memory>::ProbeKernel;
    const CutPiece    &piece = cut_.piece();
    const std::int64_t K     = piece.K;
    const Real         eps   = unit_roundoff<Scalar>();
    PetscFunctionBegin;
    const LineSet                      set = (like.is_contiguous() ? LineSet::contiguous(piece.m, lines_) : LineSet::interleaved(piece.m, lines_)).with_components(piece.B);
    const auto                         x   = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::probe", static_cast<std::size_t>(set.unknowns()));
    const Kokkos::View<Real *, Memory> norms("ribbon::probe::norms", static_cast<std::size_t>(4 * lines_));
    const MessageBuffer<Exec>          out(exec, static_cast<std::size_t>(K * lines_ * piece.B)), in(exec, static_cast<std::size_t>(K * lines_ * piece.B));
    std::vector<Real>                  found(norms.size());
    LineSet                            first = set;
    first.rows                               = std::min(K, piece.m);
    probe_error_ = 0, rcond_ = 1;
    for (int kind = 0; kind < 3; ++kind) {
      Kernel kernel{cut_.parts().A, piece, set, chain_->mine().first, chain_->length(), kind, x.data(), nullptr, in.data(), norms.data()};
      PetscCallCXX(Kokkos::parallel_for("ribbon::probe::fill", Kokkos::RangePolicy<Exec, typename Kernel::Fill, Kokkos::IndexType<std::int64_t>>(exec, 0, lines_), kernel));
      PetscCall(solve(exec, x.data(), set, x.data(), set));
      PetscCallCXX(deal_out(exec, first, LineShares{lines_, 1}, x.data(), out.data()));
      PetscCall(out.to_mpi(exec));
      PetscCallMPI(MPI_Sendrecv(out.for_mpi(), count(first.unknowns()), MPIU_SCALAR, left(), 0, in.for_mpi(), count(K * lines_ * piece.B), MPIU_SCALAR, right(), 0, chain_->comm, MPI_STATUS_IGNORE));
      PetscCall(in.from_mpi(exec));
      kernel.zl = z(true, lines_);
      PetscCallCXX(Kokkos::parallel_for("ribbon::probe::measure", Kokkos::RangePolicy<Exec, typename Kernel::Measure, Kokkos::IndexType<std::int64_t>>(exec, 0, lines_), kernel));
      PetscCallCXX(Kokkos::deep_copy(exec, Kokkos::View<Real *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(found.data(), found.size()), norms));
      PetscCallCXX(exec.fence());
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found.data(), count(4 * lines_), MPIU_REAL, MPI_MAX, chain_->comm));
      const auto L = static_cast<std::size_t>(lines_);
      for (std::size_t l = 0; l < L; ++l) {
        const Real size_of = found[L + l] * found[2 * L + l], b = found[3 * L + l];
        if (found[l] > 0) probe_error_ = std::max(probe_error_, static_cast<double>(found[l] / (size_of + b)));
        if (size_of > 0) rcond_ = std::min(rcond_, static_cast<double>(b / size_of));
      }
    }
    if (rcond_ <= 1000 * static_cast<double>(eps)) *why_not = "a line is singular, or nearly so";
    else if (!(probe_error_ <= 45 * static_cast<double>(eps)) && cut != PC_LINE_CUT_DROP) *why_not = "the probe found the reduced system to lose digits";
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::shared_ptr<const LineChain> chain_;
  CutLines<Scalar, Exec>           cut_;
  LineSolver<Scalar, Exec>         reduced_;
  Mode                             mode_     = Mode::redundant;
  bool                             periodic_ = false, exact_ = true;
  std::int64_t                     lines_ = 0, room_ = 0; ///< that were factored; that there are buffers for
  MessageBuffer<Exec>              ends_, all_, back_;
  Kokkos::View<Scalar *, Memory>   z_;
  std::vector<PetscMPIInt>         piece_count_, piece_at_, own_count_, own_at_;
  double                           probe_error_ = 0, rcond_ = 1;
};

} // namespace ribbon::petsc
