// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_groups.hpp  Reduced systems over many ranks, solved in groups of ranks: as lines of separators
///   that span the groups.
///
/// The ranks of a group divide the lines among them. Each then holds the separators of its group for some
/// lines: a sub-line of a line of separators. Ranks at the same position in their groups hold sub-lines of
/// the same lines. They solve them as lines that span ranks (cut_solver.hpp), in groups again if there are
/// many. With groups of about the square root of P ranks a solve sends about 4 sqrt(P) messages instead of
/// 2 P. This is nested dissection of the chain of ranks, as in Polizzi & Sameh, "SPIKE: a parallel
/// environment for solving banded linear systems", Computers & Fluids 36, 2007, section 4: recursive SPIKE,
/// which divides by halves.
#pragma once

#include "cut_exchange.hpp"

namespace ribbon::petsc {

template <class Exec>
class CutSolver;

template <class Exec>
class GroupedExchange final : public DealtExchange<Exec> {
  using Base = DealtExchange<Exec>;
  using Base::place_, Base::all_, Base::z_, Base::ranks_;

public:
  /// @param groups  at least 2, of at least 2 ranks each
  GroupedExchange(CutPlace place, std::int64_t groups, const CutChoices &how)
      : Base(std::move(place)), groups_{place_.size(), groups}, how_(how)
  {
  }
  GroupedExchange(const GroupedExchange &)            = delete;
  GroupedExchange &operator=(const GroupedExchange &) = delete;
  ~GroupedExchange() override
  {
    if (group_ != MPI_COMM_NULL) MPI_Comm_free(&group_);
  }

  PetscErrorCode factor(const Exec &exec, const ReducedMatrix &R, std::string *why_not) override
  {
    const PetscMPIInt own = place_.chain->own;
    // in a group with one rank more, one rank has no lines
    const std::int64_t group = groups_.part_of(own), begin = groups_.begin(group),
                       parts = place_.size() / groups_.parts;
    MPI_Comm across;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_split(place_.chain->comm, static_cast<int>(group), own, &group_));
    this->deal_among(group_, static_cast<PetscMPIInt>(groups_.count(group)),
                     static_cast<PetscMPIInt>(own - begin), parts);
    PetscCallMPI(MPI_Comm_split(place_.chain->comm,
                                this->own_lines() > 0 ? static_cast<int>(own - begin) : MPI_UNDEFINED, own,
                                &across));
    if (across == MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
    auto chain  = std::make_shared<LineChain>();
    chain->comm = across, chain->own = static_cast<PetscMPIInt>(group);
    for (std::int64_t g = 0; g < groups_.parts; ++g)
      chain->pieces.push_back({static_cast<PetscInt>(rows(g)), static_cast<PetscInt>(groups_.begin(g)), 0});
    std::vector<std::int64_t> separators(static_cast<std::size_t>(rows(group)));
    std::iota(separators.begin(), separators.end(), begin);
    PetscCallCXX(inner_ = std::make_unique<CutSolver<Exec>>());
    typename Base::Input bands;
    PetscCallCXX(bands = this->matrices(exec, R, separators, this->first_line(), this->own_lines(), true));
    PetscCall(inner_->factor(exec, chain, this->reduced_lines(rows(group), this->own_lines()), bands,
                             place_.periodic, how_, false, {}, why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::string who() const override
  {
    return format("in %lld groups of ranks", static_cast<long long>(groups_.parts)) +
           (inner_ ? ", between them " + inner_->who() : "");
  }
  FactorReport report() const override { return inner_ ? inner_->report() : FactorReport(); }

protected:
  PetscErrorCode SolveOwn(const Exec &exec) override
  {
    const std::int64_t own = this->own_lines(), row = place_.S * own, brought = 2 * row * ranks_;
    PetscFunctionBegin;
    if (!inner_) PetscFunctionReturn(PETSC_SUCCESS);
    const LineChain   &chain = inner_->chain();
    const std::int64_t n     = rows(chain.own);
    const LineSet      set   = this->reduced_lines(n, own);
    // the next group sends its part of the right-hand side of the last separators of a group
    PetscCallMPI(MPI_Sendrecv(all_.for_mpi(), static_cast<PetscMPIInt>(2 * row), MPIU_SCALAR,
                              chain.left(place_.periodic), 0, all_.for_mpi() + brought,
                              static_cast<PetscMPIInt>(2 * row), MPIU_SCALAR, chain.right(place_.periodic), 0,
                              chain.comm, MPI_STATUS_IGNORE));
    PetscCall(all_.from_mpi(exec));
    PetscCallCXX(Kokkos::parallel_for(
      "ribbon::cut_groups::reduced", indices(exec, set.unknowns()),
      ReducedRightHandSide<Scalar>{all_.data(), this->own_layout(), ranks_ + 1, own, place_.S, z_.data()}));
    PetscCall(inner_->solve(exec, z_.data(), set, z_.data(), set));
    this->spread(exec, z_.data(),
                 chain.left(place_.periodic) == MPI_PROC_NULL ? nullptr : inner_->z(true, own), n);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Rows of separators of a group of ranks. Every rank has one row, except the last rank of an open line.
  std::int64_t rows(std::int64_t group) const
  {
    return groups_.count(group) - (group + 1 == groups_.parts && !place_.periodic);
  }

  LineShares                       groups_; ///< groups of ranks
  CutChoices                       how_;
  MPI_Comm                         group_ = MPI_COMM_NULL;
  std::unique_ptr<CutSolver<Exec>> inner_; ///< null if this rank has no lines
};

} // namespace ribbon::petsc
