// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_solver.hpp  Lines that span ranks: each rank solves its sub-lines (cut_lines.hpp), and a
///   reduced system couples them.
#pragma once

#include "../support/session.hpp"
#include "cut_exchange.hpp"

#include <ribbon/distributed/cut_lines.hpp>
#include <ribbon/distributed/cut_operator.hpp>

#include <stdexcept>
#include <utility>

namespace ribbon::petsc {

template <class Exec>
class CutSolver {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

public:
  /// Call before set_up(): requests that messages carry this many rows of u, and excludes dot products.
  void carry(int rows) { carried_ = rows; }
  /// Whether messages carry rows; true only if neighbours alone exchange.
  bool carries() const { return place_.carried > 0; }
  /// Factors. If these lines must be solved in another way, `why_not` says why on all ranks of the chain.
  /// Collective on the chain.
  /// @param lines  sub-lines of this rank
  /// @param bands  of the sub-lines, with the entries in columns of other ranks, which Bands ignore
  /// @param how    how.cut: PC_LINE_CUT_AUTO, _EXACT or _DROP
  PetscErrorCode set_up(const Exec &exec, std::shared_ptr<const LineChain> chain, const LineSet &lines,
                        const Input &bands, bool periodic, const CutChoices &how,
                        const LineSolverOptions &options, std::string *why_not)
  {
    int strided = lines.count1 > 1;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &strided, 1, MPI_INT, MPI_MAX, chain->comm));
    has_stride_to_spare_ = !strided;
    PetscCall(factor(exec, std::move(chain), lines, bands, periodic, how, carried_ == 0, options, why_not));
    if (why_not->empty()) PetscCall(Probe(exec, lines, how.cut, why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Factors without a probe; otherwise as set_up().
  /// @param dots  sub-lines may use dot products, whose accuracy the probe of set_up() checks
  PetscErrorCode factor(const Exec &exec, std::shared_ptr<const LineChain> chain, const LineSet &lines,
                        const Input &bands, bool periodic, const CutChoices &how, bool dots,
                        const LineSolverOptions &options, std::string *why_not)
  {
    CutPiece            piece;
    std::vector<Scalar> us;
    ReducedMatrix       R;
    int                 number = 0;
    PetscFunctionBegin;
    piece.m = lines.rows, piece.lines = lines.lines(), piece.K = std::max(1, bands.half_bandwidth()),
    piece.B    = bands.block;
    place_     = {std::move(chain), periodic, piece.S(), lines.lines(), carried_, {}};
    piece.left = place_.has_left(), piece.right = place_.has_right();
    for (PetscMPIInt q = 0; q < place_.size(); ++q)
      if (place_.chain->pieces[static_cast<std::size_t>(q)].rows < piece.K &&
          (periodic || q + 1 < place_.size()))
        *why_not = "couplings reach further than a sub-line";
    if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Pass(
      true, piece.right ? CutLines<Scalar, Exec>::right_couplings(exec, piece, bands) : std::vector<Scalar>(),
      &us));
    if (!piece.left) us.assign(static_cast<std::size_t>(place_.S * place_.S), Scalar(0));
    try {
      cut_ = CutLines<Scalar, Exec>(exec, piece, lines, bands, us, dots, options, *why_not);
    } catch (const std::invalid_argument &e) {
      *why_not = e.what();
    } catch (const std::exception &e) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "PC line: %s", e.what());
    }
    PetscCall(AgreeOnSentence(comm(), why_not, &number));
    if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ChooseLink(comm(), how.transport, is_device_space<Exec>, place_.words() * place_.lines,
                         Transfer<Exec>::stream(exec), &place_.link));
    PetscCall(GetReducedMatrix(*place_.chain, cut_.blocks(exec), piece.S(), periodic, &R));
    PetscCall(Connect(exec, R, how, why_not));
    room_ = 0;
    if (why_not->empty()) PetscCallCXX(reserve(exec, place_.lines));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const LineChain              &chain() const { return *place_.chain; }
  const Link                   &link() const { return place_.link; }
  const CutLines<Scalar, Exec> &sub_lines() const { return cut_; }
  /// Whether the terms that are left out are below rounding.
  bool is_exact() const { return exact_; }
  /// Whether several right-hand sides of a line are solved at once, on all ranks of the chain.
  bool        takes_columns() const { return has_stride_to_spare_ && exchange_->takes_columns(); }
  std::string who() const { return exchange_->who(); }
  /// Describes how these lines are solved.
  std::string facts() const
  {
    const long long rows = place_.separators() * place_.S, left = std::max(cut_.left_rows(), reach_[0]),
                    right = std::max(cut_.right_rows(), reach_[1]), m = cut_.piece().m;
    const std::string how = !asks_neighbours_
                              ? format("exactly, reduced systems of %lld unknowns solved ", rows)
                            : exact_ ? "exactly "
                                     : "approximately ";
    if (cut_.way() == CutWay::known)
      return how + who() +
             format(", separators from dot products with %lld of %lld rows",
                    static_cast<long long>(cut_.rows_read()), m) +
             place_.link.facts(is_device_space<Exec>);
    return how + who() + format(", corrections reach %lld and %lld of %lld rows", left, right, m) +
           (cut_.way() == CutWay::ahead ? ", interiors solved while messages travel" : "") +
           place_.link.facts(is_device_space<Exec>);
  }
  FactorReport report() const
  {
    FactorReport r = cut_.has_interior() ? cut_.report() : exchange_->report();
    if (cut_.has_interior())
      r.smallest_pivot = std::min(r.smallest_pivot, exchange_->report().smallest_pivot);
    r.probe_error = probe_error_, r.rcond = rcond_;
    r.bytes = cut_.bytes() + exchange_->bytes();
    return r;
  }

  /// x = A^-1 b. Collective on the chain. Allocates if there are more lines than in any earlier solve, as
  /// with several right-hand sides.
  PetscErrorCode solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out)
  {
    PetscFunctionBegin;
    PetscCall(Forward(exec, b, in, x, out));
    PetscCall(Exchange(&CutExchange<Exec>::send, exec, in.lines()));
    PetscCall(Meanwhile(exec, b, in, x, out));
    PetscCall(Exchange(&CutExchange<Exec>::reduce, exec, in.lines()));
    PetscCall(Backward(exec, b, in, x, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Exchanges the coefficients that neighbours need. Collective on the chain.
  PetscErrorCode connect(const Exec &exec, CutOperator<Scalar, Exec> *op)
  {
    std::vector<Scalar> left, right;
    PetscFunctionBegin;
    PetscCall(Pass(true, op->of_right(), &left));
    PetscCall(Pass(false, op->of_left(), &right));
    PetscCallCXX(op->take(exec, left, right));
    reach_[0] = op->left_rows(), reach_[1] = op->right_rows();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// x = alpha A^-1 B u by one message to each neighbour. u is not x. Collective on the chain.
  PetscErrorCode apply(const Exec &exec, const CutOperator<Scalar, Exec> &op, Scalar alpha, const Scalar *u,
                       const LineSet &in, Scalar *x, const LineSet &out)
  {
    const Events *events;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->forward, 0, 0, 0, 0));
    PetscCallCXX(reserve(exec, in.lines()));
    PetscCallCXX(op.forward(exec, alpha, u, in, x, out, exchange_->message()));
    PetscCall(PetscLogEventEnd(events->forward, 0, 0, 0, 0));
    PetscCall(Exchange(&CutExchange<Exec>::send, exec, in.lines()));
    PetscCall(Exchange(&CutExchange<Exec>::reduce, exec, in.lines()));
    PetscCall(PetscLogEventBegin(events->backward, 0, 0, 0, 0));
    PetscCallCXX(op.backward(exec, z(true, out.lines()), z(false, out.lines()), x, out));
    PetscCall(PetscLogEventEnd(events->backward, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Solution of the last solve on the left of this sub-line (`of_left`), or in its separators, followed by the
  /// carried rows. Value s of line l is at s lines + l.
  const Scalar *z(bool of_left, std::int64_t lines) const { return exchange_->z(of_left, lines); }

private:
  MPI_Comm comm() const { return place_.chain->comm; }

  /// The steps of a solve.
  PetscErrorCode Forward(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out)
  {
    const Events *events;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->forward, 0, 0, 0, 0));
    PetscCallCXX(reserve(exec, in.lines()));
    PetscCallCXX(cut_.forward(exec, b, in, x, out, exchange_->ends(in.lines())));
    PetscCall(PetscLogEventEnd(events->forward, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Meanwhile(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x,
                           const LineSet &out)
  {
    const Events *events;
    PetscFunctionBegin;
    if (cut_.way() != CutWay::ahead) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->forward, 0, 0, 0, 0));
    PetscCallCXX(cut_.meanwhile(exec, b, in, x, out));
    PetscCall(PetscLogEventEnd(events->forward, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Backward(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out)
  {
    const Events *events;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->backward, 0, 0, 0, 0));
    PetscCallCXX(cut_.backward(exec, b, in, z(true, out.lines()), z(false, out.lines()), x, out));
    PetscCall(PetscLogEventEnd(events->backward, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Solves right-hand sides and measures their backward errors. If these are too large, `why_not` says so.
  /// Dot products are inaccurate if an inverse is large: sub-lines are then corrected, if this halves the
  /// error. Collective on the chain.
  PetscErrorCode Probe(const Exec &exec, const LineSet &like, PCLineCut cut, std::string *why_not)
  {
    const double sound = 45 * static_cast<double>(unit_roundoff<Scalar>());
    int          dots  = cut_.way() != CutWay::corrected;
    PetscFunctionBegin;
    PetscCall(Measure(exec, like));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &dots, 1, MPI_INT, MPI_MAX, comm()));
    if (dots && !(probe_error_ <= sound)) {
      const double before = probe_error_;
      cut_.correct(true);
      PetscCall(Measure(exec, like));
      if (!(probe_error_ <= before / 2)) cut_.correct(false), probe_error_ = before;
    }
    cut_.keep();
    if (rcond_ <= 1000 * static_cast<double>(unit_roundoff<Scalar>()))
      *why_not = "a line is singular, or nearly so";
    else if (!(probe_error_ <= sound) && cut != PC_LINE_CUT_DROP)
      *why_not = "the probe found the reduced system inaccurate";
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Largest backward error and smallest reciprocal condition estimate of three right-hand sides, over all
  /// ranks of the chain.
  PetscErrorCode Measure(const Exec &exec, const LineSet &like)
  {
    using Real               = real_t<Scalar>;
    using Kernel             = typename CutKernels<Scalar, Memory>::ProbeKernel;
    const CutPiece    &piece = cut_.piece();
    const std::int64_t K = piece.K, all = place_.lines;
    PetscFunctionBegin;
    probe_error_ = 0, rcond_ = 1;
    const LineSet set =
      (like.is_contiguous() ? LineSet::contiguous(piece.m, all) : LineSet::interleaved(piece.m, all))
        .with_components(piece.B);
    const auto x     = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::probe",
                                                            static_cast<std::size_t>(set.unknowns()));
    const auto norms = allocate_zeros<Kokkos::View<Real *, Memory>>(exec, "ribbon::probe::norms",
                                                                    static_cast<std::size_t>(4 * all));
    const MessageBuffer<Exec> out(exec, static_cast<std::size_t>(K * all * piece.B)),
      in(exec, static_cast<std::size_t>(K * all * piece.B));
    std::vector<Real> found(norms.size());
    LineSet           first = set;
    PetscMPIInt       sent, received, words;
    first.rows = std::min(K, piece.m);
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(first.unknowns()), &sent));
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(K * all * piece.B), &received));
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(4 * all), &words));
    for (int kind = 0; kind < 3; ++kind) {
      Kernel kernel{cut_.parts().A, piece,   set,       chain().mine().first, chain().length(), kind,
                    x.data(),       nullptr, in.data(), norms.data()};
      PetscCallCXX(fill_probe<Scalar>(exec, kernel));
      PetscCall(solve(exec, x.data(), set, x.data(), set));
      PetscCallCXX(deal_out(exec, first, LineShares{all, 1}, x.data(), out.data()));
      PetscCall(out.to_mpi(exec));
      PetscCallMPI(MPI_Sendrecv(out.for_mpi(), sent, MPIU_SCALAR, place_.left(), 0, in.for_mpi(), received,
                                MPIU_SCALAR, place_.right(), 0, comm(), MPI_STATUS_IGNORE));
      PetscCall(in.from_mpi(exec));
      kernel.zl = z(true, all);
      PetscCallCXX(measure_probe<Scalar>(exec, kernel));
      PetscCallCXX(
        Kokkos::deep_copy(exec,
                          Kokkos::View<Real *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                            found.data(), found.size()),
                          norms));
      PetscCallCXX(exec.fence());
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found.data(), words, MPIU_REAL, MPI_MAX, comm()));
      const auto L = static_cast<std::size_t>(all);
      for (std::size_t l = 0; l < L; ++l) {
        const Real size_of = found[L + l] * found[2 * L + l], b = found[3 * L + l];
        if (found[l] > 0)
          probe_error_ = std::max(probe_error_, static_cast<double>(found[l] / (size_of + b)));
        if (size_of > 0) rcond_ = std::min(rcond_, static_cast<double>(b / size_of));
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Sends coefficients to the right neighbour (`to_right`) or the left one, and receives those of the other.
  /// `received` is empty at an end of the line.
  PetscErrorCode Pass(bool to_right, const std::vector<Scalar> &sent, std::vector<Scalar> *received) const
  {
    const PetscMPIInt to   = to_right ? place_.right() : place_.left(),
                      from = to_right ? place_.left() : place_.right();
    PetscMPIInt out, in = 0;
    PetscFunctionBegin;
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(sent.size()), &out));
    PetscCallMPI(MPI_Sendrecv(&out, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, comm(), MPI_STATUS_IGNORE));
    received->resize(static_cast<std::size_t>(in));
    PetscCallMPI(MPI_Sendrecv(sent.data(), out, MPIU_SCALAR, to, 1, received->data(), in, MPIU_SCALAR, from,
                              1, comm(), MPI_STATUS_IGNORE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Chooses the ranks that solve the reduced systems, and factors these.
  PetscErrorCode Connect(const Exec &exec, const ReducedMatrix &R, const CutChoices &how,
                         std::string *why_not)
  {
    const bool decayed = R.decay() <= static_cast<double>(unit_roundoff<Scalar>()) / 4,
               is_auto = how.exchange == PC_LINE_CUT_EXCHANGE_AUTO;
    int number         = 0;
    PetscFunctionBegin;
    place_.carried   = 0;
    asks_neighbours_ = how.cut == PC_LINE_CUT_DROP ||
                       (is_auto && ((decayed && how.cut != PC_LINE_CUT_EXACT) || R.separators == 1));
    exact_ = !asks_neighbours_ || decayed || R.separators == 1;
    const PCLineCutExchange way =
      is_auto ? CutCost(place_.S, sizeof(Scalar)).best(place_.size(), static_cast<double>(place_.lines))
              : how.exchange;
    if (asks_neighbours_) {
      place_.carried = carried_;
      exchange_      = std::make_shared<NeighbourExchange<Exec>>(place_);
    } else if (way == PC_LINE_CUT_EXCHANGE_EVERY_RANK)
      exchange_ = std::make_shared<EveryRankExchange<Exec>>(place_);
    else exchange_ = std::make_shared<DealtExchange<Exec>>(place_);
    why_not->clear();
    PetscCall(exchange_->factor(exec, R, why_not));
    PetscCall(AgreeOnSentence(comm(), why_not, &number));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  void reserve(const Exec &exec, std::int64_t lines)
  {
    if (lines <= room_) return;
    exchange_->reserve(exec, lines);
    cut_.reserve(exec, lines);
    room_ = lines;
  }

  PetscErrorCode Exchange(PetscErrorCode (CutExchange<Exec>::*step)(const Exec &, std::int64_t),
                          const Exec &exec, std::int64_t lines)
  {
    const Events *events;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->exchange, 0, 0, 0, 0));
    PetscCall((exchange_.get()->*step)(exec, lines));
    PetscCall(PetscLogEventEnd(events->exchange, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  CutPlace                           place_;
  CutLines<Scalar, Exec>             cut_;
  std::shared_ptr<CutExchange<Exec>> exchange_;
  int                                carried_ = 0; ///< rows that messages carry, if neighbours exchange
  bool                               asks_neighbours_ = false, exact_ = true, has_stride_to_spare_ = true;
  std::int64_t                       room_        = 0;  ///< lines that the buffers can hold
  std::int64_t                       reach_[2]    = {}; ///< rows that a CutOperator changes
  double                             probe_error_ = 0, rcond_ = 1;
};

} // namespace ribbon::petsc
