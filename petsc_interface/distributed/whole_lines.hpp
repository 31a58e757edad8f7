// SPDX-License-Identifier: BSD-2-Clause
/// @file whole_lines.hpp  Lines that span ranks, gathered: each rank of a chain receives some of them as a
///   whole.
///
/// Every unknown is sent to the rank that solves its line, and back. This works for all lines: for
/// sub-lines shorter than the reach of their couplings, singular sub-lines, and singular lines.
/// cut_lines.hpp does not solve these, but sends less.
#pragma once

#include "../lines/chain.hpp"
#include "../support/session.hpp"
#include "transport.hpp"

#include <ribbon/distributed/line_pieces.hpp>
#include <ribbon/line_solver.hpp>

#include <stdexcept>
#include <utility>
#include <vector>

namespace ribbon::petsc {

template <class Exec>
class WholeLines {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

public:
  WholeLines() = default;
  /// @param pieces  sub-lines of this rank as they were factored
  /// @param link    of the chain
  WholeLines(const Exec &exec, std::shared_ptr<const LineChain> chain, const LineSet &pieces, Link link)
      : chain_(std::move(chain)), shares_{pieces.lines(), chain_->size()}, transfer_(std::move(link))
  {
    lines_ =
      LineSet::interleaved(chain_->length(), shares_.count(chain_->own)).with_components(pieces.components);
    pieces_ = transfer_.buffer(exec, static_cast<std::size_t>(pieces.unknowns()));
    whole_  = transfer_.buffer(exec, static_cast<std::size_t>(lines_.unknowns()));
    counts_ = counts(pieces.components);
  }

  /// The whole lines that this rank solves, and the number of the first of them.
  const LineSet &lines() const { return lines_; }
  std::int64_t   first() const { return shares_.begin(chain_->own); }
  std::size_t    bytes() const { return pieces_.bytes() + whole_.bytes(); }
  bool           empty() const { return !chain_; }

  /// Gathers the matrices of the whole lines of this rank from the sub-lines of all ranks. Collective on
  /// the chain.
  PetscErrorCode bands(const Exec &exec, const Input &pieces, bool periodic, Input *whole) const
  {
    PetscFunctionBegin;
    const auto        host = to_host(pieces);
    const std::size_t rows = host.values.extent(1), width = host.values.extent(2),
                      n     = static_cast<std::size_t>(lines_.rows),
                      count = static_cast<std::size_t>(lines_.lines());
    std::vector<Scalar> out(rows * static_cast<std::size_t>(shares_.lines) * width), in(n * count * width);
    for (std::int64_t l = 0; l < shares_.lines; ++l) {
      const auto matrix =
        static_cast<std::size_t>(host.lhs == Lhs::shared    ? 0
                                 : host.lhs == Lhs::classes ? host.class_of_line(static_cast<std::size_t>(l))
                                                            : l);
      const std::int64_t part = shares_.part_of(l), l0 = shares_.begin(part), of_part = shares_.count(part);
      for (std::size_t i = 0; i < rows; ++i) {
        const auto to = static_cast<std::size_t>(static_cast<std::int64_t>(rows) * l0 +
                                                 static_cast<std::int64_t>(i) * of_part + l - l0) *
                        width;
        for (std::size_t d = 0; d < width; ++d) out[to + d] = host.values(matrix, i, d);
      }
    }
    const Counts c = counts(static_cast<std::int64_t>(width));
    PetscCallMPI(MPI_Alltoallv(reinterpret_cast<PetscScalar *>(out.data()), c.pieces.count.data(),
                               c.pieces.at.data(), MPIU_SCALAR, reinterpret_cast<PetscScalar *>(in.data()),
                               c.whole.count.data(), c.whole.at.data(), MPIU_SCALAR, chain_->comm));
    Bands<Scalar, Kokkos::HostSpace> lines;
    lines.values = decltype(lines.values)("ribbon::bands", count, n, width);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t l = 0; l < count; ++l)
        for (std::size_t d = 0; d < width; ++d) lines.values(l, i, d) = in[(i * count + l) * width + d];
    *whole          = Input();
    whole->periodic = periodic, whole->lhs = Lhs::per_line, whole->lower = host.lower,
    whole->upper = host.upper, whole->block = host.block;
    PetscCallCXX(whole->values =
                   allocate<typename Input::values_type>(exec, "ribbon::bands", count, n, width));
    PetscCallCXX(Kokkos::deep_copy(exec, whole->values, lines.values));
    PetscCallCXX(exec.fence());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// x = A^-1 b, with the layout of lines in the vectors. Collective on the chain.
  PetscErrorCode solve(const Exec &exec, const LineSolver<Scalar, Exec> &solver, const Scalar *b,
                       const LineSet &in, Scalar *x, const LineSet &out)
  {
    PetscFunctionBegin;
    PetscCall(apply(exec, b, in, x, out, [&](Scalar *whole) { solver.solve(exec, whole, whole); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The same with f(array), which replaces the whole lines of this rank in an array with the places of
  /// lines().
  template <class F>
  PetscErrorCode apply(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
                       const F &f)
  {
    const Events *events;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->exchange, 0, 0, 0, 0));
    PetscCallCXX(deal_out(exec, in, shares_, b, pieces_.data()));
    PetscCall(transfer_.Deal(exec, pieces_, counts_.pieces, whole_, counts_.whole));
    PetscCall(transfer_.Finish(exec, whole_));
    PetscCall(PetscLogEventEnd(events->exchange, 0, 0, 0, 0));
    PetscCallCXX(f(whole_.data()));
    PetscCall(PetscLogEventBegin(events->exchange, 0, 0, 0, 0));
    PetscCall(transfer_.Deal(exec, whole_, counts_.whole, pieces_, counts_.pieces));
    PetscCall(transfer_.Finish(exec, pieces_));
    PetscCallCXX(take_back(exec, out, shares_, x, pieces_.data()));
    PetscCall(PetscLogEventEnd(events->exchange, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Counts and offsets of messages in scalars; an element has `width` scalars.
  struct Counts {
    MessageCounts pieces, whole;
  };
  Counts counts(std::int64_t width) const
  {
    Counts     all;
    const auto count = [](std::int64_t n) {
      if (n > PETSC_MPI_INT_MAX) throw std::length_error("sub-lines are too long for one message of MPI");
      return static_cast<PetscMPIInt>(n);
    };
    const std::int64_t mine = chain_->mine().rows, lines = shares_.count(chain_->own);
    for (PetscMPIInt q = 0; q < chain_->size(); ++q) {
      const LineChain::Piece &of = chain_->pieces[static_cast<std::size_t>(q)];
      all.pieces.count.push_back(count(mine * shares_.count(q) * width)),
        all.pieces.at.push_back(count(mine * shares_.begin(q) * width));
      all.whole.count.push_back(count(of.rows * lines * width)),
        all.whole.at.push_back(count(of.first * lines * width));
    }
    return all;
  }

  std::shared_ptr<const LineChain> chain_;
  LineShares                       shares_;
  LineSet                          lines_;
  Counts                           counts_;
  Transfer<Exec>                   transfer_;
  MessageBuffer<Exec>              pieces_, whole_;
};

} // namespace ribbon::petsc
