// SPDX-License-Identifier: BSD-2-Clause
/// @file gathered_lines.hpp  Lines that span ranks, each solved by one rank.
#pragma once

#include "../distributed/whole_lines.hpp"
#include "line_determinants.hpp"
#include "line_solves.hpp"
#include "shared_bands.hpp"

#include <memory>

namespace ribbon::petsc {

/// Gathers each line that spans ranks to one of them (WholeLines). Used for lines that LinesInPieces does
/// not solve accurately. Factors are in Scalar.
template <class Exec>
class GatheredLines final : public LineSolves<Exec> {
  using Input  = Bands<Scalar, typename Exec::memory_space>;
  using Solver = LineSolver<Scalar, Exec>;

public:
  /// Gathers the matrices. Collective on the chain.
  /// @param lines   the sub-lines of this rank
  /// @param pieces  their matrices
  PetscErrorCode gather(const Exec &exec, std::shared_ptr<const LineChain> chain, const LineSet &lines,
                        const Input &pieces, bool periodic, RibbonTransport transport)
  {
    Link link;
    PetscFunctionBegin;
    PetscCall(ChooseLink(chain->comm, transport, is_device_space<Exec>, lines.unknowns() / chain->size(),
                         Transfer<Exec>::stream(exec), &link));
    PetscCallCXX(whole_ = WholeLines<Exec>(exec, std::move(chain), lines, std::move(link)));
    PetscCall(whole_.bands(exec, pieces, periodic, &bands_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Factors the lines of this rank.
  PetscErrorCode factor(const Exec &exec, const LineRequest &request, LineFacts *facts)
  {
    const auto eliminate = [&] {
      do solver_ = Solver(exec, whole_.lines(), bands_, request.solver);
      while (ShiftZeroPivots(exec, request, solver_.report(), bands_, facts));
    };
    PetscFunctionBegin;
    PetscCall(ShareBands(exec, whole_.lines().lines(), request, bands_, facts));
    facts->whole = true, facts->lhs = bands_.lhs;
    facts->matrices = static_cast<std::int64_t>(bands_.values.extent(0));
    PetscCall(FactorOrRefuse(eliminate, facts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode solve(const Exec &exec, bool transposed, const Scalar *b, const LineSet &in, Scalar *x,
                       const LineSet &out) override
  {
    PetscFunctionBegin;
    PetscCall(whole_.solve(exec, transposed ? transposed_ : solver_, b, in, x, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool takes_columns(bool) const override { return false; }

  PetscErrorCode transpose(const Exec &exec, const LineSolverOptions &options, std::string *failure) override
  {
    PetscFunctionBegin;
    PetscCallCXX(transposed_ =
                   Solver(exec, whole_.lines(), ribbon::transpose<Scalar>(exec, bands_), options));
    *failure = TransposedFailure(options, transposed_.report());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode describe(const Exec &, LineFacts *facts) override
  {
    PetscFunctionBegin;
    facts->report = solver_.report();
    facts->bytes  = facts->report.bytes + whole_.bytes() + bands_.values.size() * sizeof(Scalar);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode determinant(double *log_abs, std::complex<double> *sign, bool *known) override
  {
    PetscFunctionBegin;
    *known = true;
    PetscCallCXX(multiply_determinants<Exec>(bands_, whole_.lines().lines(), Scalar(1), log_abs, sign));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  WholeLines<Exec> whole_;
  Input            bands_; ///< of the whole lines
  Solver           solver_, transposed_;
};

} // namespace ribbon::petsc
