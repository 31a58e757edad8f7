// SPDX-License-Identifier: BSD-2-Clause
/// @file lines_in_pieces.hpp  Lines that span ranks, whose sub-lines are solved on their ranks.
#pragma once

#include "../distributed/cut_solver.hpp"
#include "../distributed/outside_bands.hpp"
#include "gathered_lines.hpp"

#include <memory>
#include <utility>

namespace ribbon::petsc {

/// Each rank of a chain solves its sub-lines. A reduced system couples them (CutSolver). Factors are in
/// Scalar.
template <class Exec>
class LinesInPieces final : public LineSolves<Exec> {
  using Input = Bands<Scalar, typename Exec::memory_space>;

public:
  /// @param lines  the sub-lines of this rank
  LinesInPieces(std::shared_ptr<const LineChain> chain, const LineSet &lines, bool periodic,
                const CutChoices &how)
      : chain_(std::move(chain)), lines_(lines), periodic_(periodic), how_(how)
  {
  }

  /// Factors. If the factors are inaccurate, `why_not` says so on all ranks. Collective on the chain.
  PetscErrorCode factor(const Exec &exec, const Input &bands, const LineSolverOptions &options,
                        std::string *why_not)
  {
    PetscFunctionBegin;
    bands_ = bands;
    PetscCall(cut_.set_up(exec, chain_, lines_, bands_, periodic_, how_, options, why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Describes for views how the lines are solved.
  std::string facts() const { return cut_.facts(); }
  /// Whether solutions are exact to rounding.
  bool is_exact() const { return cut_.is_exact(); }

  PetscErrorCode solve(const Exec &exec, bool transposed, const Scalar *b, const LineSet &in, Scalar *x,
                       const LineSet &out) override
  {
    PetscFunctionBegin;
    if (!transposed) PetscCall(cut_.solve(exec, b, in, x, out));
    else if (!gathered_) PetscCall(transposed_.solve(exec, b, in, x, out));
    else PetscCall(gathered_->solve(exec, true, b, in, x, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool takes_columns(bool transposed) const override
  {
    return !transposed ? cut_.takes_columns() : gathered_ ? false : transposed_.takes_columns();
  }

  /// Gathers the transposed lines if their solve by sub-lines is inaccurate. Collective on the chain.
  PetscErrorCode transpose(const Exec &exec, const LineSolverOptions &options, std::string *failure) override
  {
    std::string why_not;
    Input       turned;
    PetscFunctionBegin;
    failure->clear();
    if (!gathered_) {
      PetscCall(TransposePieces(exec, *chain_, periodic_, lines_.lines(), bands_, &turned));
      PetscCall(transposed_.set_up(exec, chain_, lines_, turned, periodic_, how_, options, &why_not));
      if (why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
      transposed_ = CutSolver<Exec>();
      PetscCallCXX(gathered_ = std::make_unique<GatheredLines<Exec>>());
      PetscCall(gathered_->gather(exec, chain_, lines_, bands_, periodic_, how_.transport));
      bands_ = {};
    }
    PetscCall(gathered_->transpose(exec, options, failure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode describe(const Exec &, LineFacts *facts) override
  {
    PetscFunctionBegin;
    facts->report = cut_.report();
    facts->bytes  = facts->report.bytes + bands_.values.size() * sizeof(Scalar);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode determinant(double *, std::complex<double> *, bool *known) override
  {
    PetscFunctionBegin;
    *known = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  std::shared_ptr<const LineChain>     chain_;
  LineSet                              lines_;
  bool                                 periodic_;
  CutChoices                           how_;
  Input                                bands_; ///< of the sub-lines, until the transposed lines are gathered
  CutSolver<Exec>                      cut_, transposed_;
  std::unique_ptr<GatheredLines<Exec>> gathered_; ///< of transposed solves
};

} // namespace ribbon::petsc
