// SPDX-License-Identifier: BSD-2-Clause
/// @file ways.hpp  The ways to apply a compact operator:
///
///     WholeCompact      lines on one rank: one LineOperator
///     PiecesCompact     lines that span ranks: sub-lines that a reduced system couples. One exchange if
///                       the conditions of cut_operator.hpp hold; otherwise, and for transposed products, two:
///                       rows of u, then the reduced system
///     GatheredCompact   lines that span ranks, each gathered to one rank
#pragma once

#include "../distributed/cut_solver.hpp"
#include "../distributed/whole_lines.hpp"
#include "sub_bands.hpp"

#include <ribbon/line_operator.hpp>
#include <ribbon/line_operator/product_runs.hpp>

#include <stdexcept>

namespace ribbon::petsc {

/// Products with one operator, or with its transpose.
template <class Exec>
class CompactWay {
public:
  virtual ~CompactWay() = default;
  /// y = alpha A^-1 B u + beta v; v may be y. All vectors have the layout of request.lines.
  virtual PetscErrorCode apply(const Exec &exec, const Scalar *u, Scalar *y,
                               const OperatorTerms<Scalar> &terms) = 0;
  virtual std::string    facts() const                             = 0;
};

inline std::string facts_of(const FactorReport &report, bool fused, const std::string &reason)
{
  return report.algorithm + (fused ? ", fused with the product" : ", a product and a solve: " + reason);
}

template <class Exec>
class WholeCompact final : public CompactWay<Exec> {
public:
  WholeCompact(const Exec &exec, const CompactRequest &request, bool transposed, std::string *failure)
      : lines_(request.lines)
  {
    const auto          bands = whole_bands(exec, request);
    LineOperatorOptions options;
    options.transposed = transposed;
    operator_          = {exec, lines_, bands.A, bands.B, options};
    if (!operator_.report().ok()) *failure = operator_.report().reason;
  }

  PetscErrorCode apply(const Exec &exec, const Scalar *u, Scalar *y,
                       const OperatorTerms<Scalar> &terms) override
  {
    PetscFunctionBegin;
    PetscCallCXX(operator_.apply(exec, u, lines_, y, lines_, terms));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::string facts() const override
  {
    return facts_of(operator_.report(), operator_.is_fused(), operator_.reason());
  }

private:
  LineSet                            lines_;
  ribbon::LineOperator<Scalar, Exec> operator_;
};

/// Workspace for lines, stored without gaps.
template <class Exec>
class LineWorkspace {
public:
  LineWorkspace() = default;
  LineWorkspace(const Exec &exec, const LineSet &lines)
      : places(lines.without_gaps()),
        values_(allocate<Kokkos::View<Scalar *, typename Exec::memory_space>>(
          exec, "ribbon::compact::workspace", static_cast<std::size_t>(lines.unknowns())))
  {
  }
  Scalar *data() const { return values_.data(); }
  LineSet places;

private:
  Kokkos::View<Scalar *, typename Exec::memory_space> values_;
};

/// The rows of neighbours next to the sub-lines of a rank.
template <class Exec>
class HaloExchange {
public:
  HaloExchange() = default;
  HaloExchange(const Exec &exec, const LineChain &chain, Link link, std::int64_t lines, bool periodic, int kl,
               int ku)
      : transfer_(std::move(link)), left_(chain.left(periodic)), right_(chain.right(periodic)), kl_(kl),
        ku_(ku), below_(count(kl * lines)), above_(count(ku * lines)), out_(buffer(exec)), in_(buffer(exec))
  {
  }

  /// Collective on the chain. The halo is valid until the next exchange.
  PetscErrorCode exchange(const Exec &exec, const Scalar *u, const LineSet &lines, Halo<Scalar> *halo)
  {
    const Events *events;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->exchange, 0, 0, 0, 0));
    PetscCallCXX(pack_halo(exec, lines, kl_, ku_, u, out_.data() + below_, out_.data()));
    PetscCall(transfer_.Pass(exec, out_, {{{right_, 0, 0, below_}, {left_, 1, below_, above_}}}, in_,
                             {{{left_, 0, 0, below_}, {right_, 1, below_, above_}}}));
    PetscCall(transfer_.Finish(exec, in_));
    halo->left  = left_ == MPI_PROC_NULL ? nullptr : in_.data();
    halo->right = right_ == MPI_PROC_NULL ? nullptr : in_.data() + below_;
    PetscCall(PetscLogEventEnd(events->exchange, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static PetscMPIInt count(std::int64_t scalars)
  {
    if (scalars > PETSC_MPI_INT_MAX) throw std::length_error("lines are too many for one message of MPI");
    return static_cast<PetscMPIInt>(scalars);
  }
  MessageBuffer<Exec> buffer(const Exec &exec) const
  {
    return transfer_.buffer(exec, static_cast<std::size_t>(below_) + static_cast<std::size_t>(above_));
  }

  Transfer<Exec>      transfer_;
  PetscMPIInt         left_ = MPI_PROC_NULL, right_ = MPI_PROC_NULL;
  int                 kl_ = 0, ku_ = 0;
  PetscMPIInt         below_ = 0, above_ = 0; ///< scalars of kl and of ku rows
  MessageBuffer<Exec> out_, in_;              ///< kl rows of the left, ku rows of the right
};

template <class Exec>
class PiecesCompact final : public CompactWay<Exec> {
public:
  /// Factors. If these lines must be applied in another way, `why_not` says why on all ranks. Collective on
  /// the chain.
  PetscErrorCode set_up(const Exec &exec, const CompactRequest &request, bool transposed,
                        std::string *why_not)
  {
    const bool periodic = request.scheme.periodic;
    PetscFunctionBegin;
    lines_ = request.lines, transposed_ = transposed;
    const auto bands = [&](Factor factor) {
      return sub_bands(exec, request, factor, request.first(), lines_.rows, transposed);
    };
    Input A;
    PetscCallCXX(A = bands(Factor::A));
    PetscCallCXX(B_ = bands(Factor::B));
    for (const LineChain::Piece &piece : request.chain->pieces)
      if (piece.rows < B_.half_bandwidth()) *why_not = "rows of B reach further than a sub-line";
    if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    if (transposed) apart_ = "a transposed operator";
    else PetscCall(Join(exec, request, A));
    if (at_once_) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(
      cut_.set_up(exec, request.chain, lines_, A, periodic, choices(request), LineSolverOptions(), why_not));
    if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallCXX(halo_ = HaloExchange<Exec>(exec, *request.chain, cut_.link(), lines_.lines(), periodic,
                                            B_.kl(), B_.ku()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode apply(const Exec &exec, const Scalar *u, Scalar *y,
                       const OperatorTerms<Scalar> &terms) override
  {
    const bool in_y = !transposed_ && terms.beta == Scalar(0);
    PetscFunctionBegin;
    if (!in_y && !work_.data()) PetscCallCXX(work_ = LineWorkspace<Exec>(exec, lines_));
    Scalar *const w  = in_y ? y : work_.data();
    const LineSet at = in_y ? lines_ : work_.places;
    if (transposed_) {
      PetscCall(cut_.solve(exec, u, lines_, w, at));
      PetscCall(Multiply(exec, terms, w, at, terms.beta, y, lines_));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (at_once_) PetscCall(cut_.apply(exec, operator_, terms.alpha, u, lines_, w, at));
    else {
      PetscCall(Multiply(exec, terms, u, lines_, Scalar(0), w, at));
      PetscCall(cut_.solve(exec, w, at, w, at));
    }
    if (!in_y) PetscCallCXX(add_lines(exec, w, at, terms.beta, terms.v, terms.lines, y, lines_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::string facts() const override
  {
    return "sub-lines on their ranks, solved " + cut_.facts() +
           (!at_once_              ? ", two exchanges: " + apart_
            : operator_.is_fused() ? ", fused with the product in one exchange"
                                   : ", with the product in one exchange");
  }

private:
  using Input = Bands<Scalar, typename Exec::memory_space>;

  static CutChoices choices(const CompactRequest &request)
  {
    CutChoices how;
    how.transport = request.transport;
    return how;
  }

  /// Prepares products in one exchange, or says in `apart_` why this is not possible. Collective on the chain.
  PetscErrorCode Join(const Exec &exec, const CompactRequest &request, const Input &A)
  {
    CutSolver<Exec> cut;
    int             number = 0;
    PetscFunctionBegin;
    for (const LineChain::Piece &piece : request.chain->pieces)
      if (piece.rows < CutOperator<Scalar, Exec>::least_rows(A, B_)) apart_ = "sub-lines are short";
    if (!apart_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    cut.carry(CutOperator<Scalar, Exec>::carried(A, B_));
    PetscCall(cut.set_up(exec, request.chain, lines_, A, request.scheme.periodic, choices(request),
                         LineSolverOptions(), &apart_));
    if (apart_.empty() && !cut.carries()) apart_ = "not only neighbours exchange";
    if (!apart_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallCXX(operator_ = CutOperator<Scalar, Exec>(exec, cut.sub_lines(), lines_, A, B_,
                                                       LineSolverOptions(), apart_));
    PetscCall(AgreeOnSentence(request.chain->comm, &apart_, &number));
    if (!apart_.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(cut.connect(exec, &operator_));
    cut_ = std::move(cut), at_once_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// w = alpha B u + beta v.
  PetscErrorCode Multiply(const Exec &exec, const OperatorTerms<Scalar> &terms, const Scalar *u,
                          const LineSet &in, Scalar beta, Scalar *w, const LineSet &out)
  {
    Halo<Scalar> halo;
    PetscFunctionBegin;
    PetscCall(halo_.exchange(exec, u, in, &halo));
    PetscCallCXX(
      band_product(exec, B_, nullptr, 0, terms.alpha, u, in, beta, terms.v, terms.lines, w, out, halo));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  LineSet                   lines_;
  bool                      transposed_ = false;
  Input                     B_; ///< of the sub-lines, with entries in rows of neighbours
  CutSolver<Exec>           cut_;
  bool                      at_once_ = false; ///< in one exchange
  std::string               apart_;           ///< why not
  CutOperator<Scalar, Exec> operator_;
  HaloExchange<Exec>        halo_; ///< if not at_once_
  LineWorkspace<Exec>       work_;
};

template <class Exec>
class GatheredCompact final : public CompactWay<Exec> {
public:
  /// @param link  of the chain
  /// @param why   the reason against sub-lines
  GatheredCompact(const Exec &exec, const CompactRequest &request, Link link, bool transposed,
                  std::string why, std::string *failure)
      : lines_(request.lines), why_(std::move(why)),
        gathered_(exec, request.chain, request.lines, std::move(link))
  {
    CompactRequest whole = request;
    whole.lines          = gathered_.lines(), whole.chain.reset();
    if (whole.lines.lines() > 0)
      way_ = std::make_unique<WholeCompact<Exec>>(exec, whole, transposed, failure);
  }

  PetscErrorCode apply(const Exec &exec, const Scalar *u, Scalar *y,
                       const OperatorTerms<Scalar> &terms) override
  {
    const bool            adds = terms.beta != Scalar(0);
    OperatorTerms<Scalar> product;
    PetscFunctionBegin;
    product.alpha = terms.alpha;
    if (adds && !work_.data()) PetscCallCXX(work_ = LineWorkspace<Exec>(exec, lines_));
    Scalar *const  w     = adds ? work_.data() : y;
    const LineSet  at    = adds ? work_.places : lines_;
    PetscErrorCode error = PETSC_SUCCESS;
    PetscCall(gathered_.apply(exec, u, lines_, w, at, [&](Scalar *whole) {
      if (way_) error = way_->apply(exec, whole, whole, product);
    }));
    PetscCall(error);
    if (adds) PetscCallCXX(add_lines(exec, w, at, terms.beta, terms.v, terms.lines, y, lines_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::string facts() const override
  {
    return "lines gathered to their ranks (" + why_ + ")" + (way_ ? ", " + way_->facts() : "");
  }

private:
  LineSet                             lines_;
  std::string                         why_;
  WholeLines<Exec>                    gathered_;
  std::unique_ptr<WholeCompact<Exec>> way_; ///< null: this rank has no whole lines
  LineWorkspace<Exec>                 work_;
};

} // namespace ribbon::petsc
