// SPDX-License-Identifier: BSD-2-Clause
/// @file cut_exchange.hpp  Messages between ranks that hold sub-lines of the same lines: the reduced
///   systems between the sub-lines, and the ranks that solve them.
///
/// A solve is send(), then reduce(); a rank may compute between them. docs/methods/distributed.md has the
/// cost of each way.
#pragma once

#include "../lines/chain.hpp"
#include "../support/format.hpp"
#include "cut_choices.hpp"
#include "reduced_matrix.hpp"
#include "transport.hpp"

#include <ribbon/distributed/cut_reduced.hpp>
#include <ribbon/distributed/line_pieces.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon/lines_from_csr.hpp>

#include <numeric>
#include <stdexcept>

namespace ribbon::petsc {

/// The sub-lines whose reduced systems are solved.
struct CutPlace {
  std::shared_ptr<const LineChain> chain;
  bool                             periodic = false;
  int                              S        = 1; ///< unknowns of a group of separators
  std::int64_t                     lines    = 0; ///< that are factored
  int                              carried  = 0; ///< rows of u per line in a message between neighbours
  Link                             link;         ///< of the chain

  PetscMPIInt  size() const { return chain->size(); }
  PetscMPIInt  left() const { return chain->left(periodic); }
  PetscMPIInt  right() const { return chain->right(periodic); }
  bool         has_left() const { return left() != MPI_PROC_NULL; }
  bool         has_right() const { return right() != MPI_PROC_NULL; }
  std::int64_t separators() const { return periodic ? size() : size() - 1; }
  /// Values of a line in a message between neighbours.
  int words() const { return S + carried; }
};

template <class Exec>
class CutExchange {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

  virtual ~CutExchange() = default;
  /// Factors the reduced systems of this rank. If this rank cannot factor, `why_not` says why. Collective
  /// on the chain.
  virtual PetscErrorCode factor(const Exec &exec, const ReducedMatrix &R, std::string *why_not) = 0;
  /// Allocates buffers for this number of lines: that of the factored lines, or, with takes_columns(), a
  /// multiple.
  virtual void reserve(const Exec &exec, std::int64_t lines) = 0;
  /// The messages to the left (carried values, S contributions) and to the right (S contributions, carried
  /// values). Value c of line l is at c lines + l.
  Scalar *message() const { return ends_.data(); }
  /// CutLines::forward() writes the contributions of this sub-line there.
  Scalar *ends(std::int64_t lines) const { return ends_.data() + place_.carried * lines; }
  /// Sends the messages after exec has written them.
  virtual PetscErrorCode send(const Exec &exec, std::int64_t lines) = 0;
  /// Waits for the messages of other ranks, and solves: z() is complete, on exec.
  virtual PetscErrorCode reduce(const Exec &exec, std::int64_t lines) = 0;
  /// Solution on the left of this sub-line (`of_left`), or in its separators, and then the carried values: rows
  /// left of the sub-line, or its separators' rows and the first rows of the right neighbour. Value s of line
  /// l is at s lines + l.
  virtual const Scalar *z(bool of_left, std::int64_t lines) const = 0;
  /// Whether several right-hand sides of a line are solved at once.
  virtual bool         takes_columns() const { return true; }
  virtual std::string  who() const = 0;
  virtual FactorReport report() const { return reduced_.report(); }
  virtual std::size_t  bytes() const
  {
    return report().bytes + ends_.bytes() + all_.bytes() + z_.size() * sizeof(Scalar);
  }

protected:
  explicit CutExchange(CutPlace place) : place_(std::move(place)), transfer_(place_.link) { }

  static PetscMPIInt count(std::int64_t n)
  {
    if (n > PETSC_MPI_INT_MAX) throw std::length_error("lines are too many for one message of MPI");
    return static_cast<PetscMPIInt>(n);
  }
  static std::size_t words(std::int64_t n) { return static_cast<std::size_t>(count(n)); }

  /// Layout of the unknowns of reduced systems: unknown a of separators p of line l is at (p S + a) lines +
  /// l.
  LineSet reduced_lines(std::int64_t rows, std::int64_t lines) const
  {
    LineSet set{rows, lines, 1, place_.words() * lines, 1, 0, 0};
    set.components = place_.S, set.component_stride = lines;
    return set;
  }

  /// Rows `separators` of the reduced matrices of lines [first, first + lines), with their couplings if
  /// `coupled`, otherwise as if they did not couple.
  Input matrices(const Exec &exec, const ReducedMatrix &R, const std::vector<std::int64_t> &separators,
                 std::int64_t first, std::int64_t lines, bool coupled) const
  {
    Bands<Scalar, Kokkos::HostSpace> host;
    Input                            bands;
    const bool                       one = R.matrices == 1;
    const std::size_t                n   = separators.size(),
                      count = static_cast<std::size_t>(one ? std::min<std::int64_t>(lines, 1) : lines),
                      block = static_cast<std::size_t>(place_.S) * static_cast<std::size_t>(place_.S);
    host.values             = decltype(host.values)("ribbon::reduced", count, n, 3 * block);
    for (std::size_t l = 0; l < count; ++l)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t e = coupled ? 0 : block; e < (coupled ? 3 : 2) * block; ++e)
          host.values(l, i, e) = R.entry(one ? 0 : first + static_cast<std::int64_t>(l), separators[i], e);
    bands.lhs = one ? Lhs::shared : Lhs::per_line, bands.lower = bands.upper = 1, bands.block = place_.S;
    bands.values = allocate<typename Input::values_type>(exec, "ribbon::reduced", count, n, 3 * block);
    Kokkos::deep_copy(exec, bands.values, host.values);
    exec.fence();
    if (!one && lines > 0) share<Scalar>(exec, bands, std::max<std::int64_t>(1, (lines - 1) / 4));
    return bands;
  }
  void factor_reduced(const Exec &exec, Input bands, bool periodic, std::int64_t rows, std::int64_t lines,
                      std::string *why_not)
  {
    bands.periodic = periodic;
    reduced_       = LineSolver<Scalar, Exec>(exec, reduced_lines(rows, lines), bands);
    if (!reduced_.report().ok()) *why_not = "the reduced system is singular";
  }
  std::vector<std::int64_t> all_separators() const
  {
    std::vector<std::int64_t> all(static_cast<std::size_t>(place_.separators()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  CutPlace                       place_;
  Transfer<Exec>                 transfer_;
  LineSolver<Scalar, Exec>       reduced_;
  MessageBuffer<Exec>            ends_, all_;
  Kokkos::View<Scalar *, Memory> z_;
};

/// Every rank solves for its two cuts, as if there were no others.
template <class Exec>
class NeighbourExchange final : public CutExchange<Exec> {
  using Base = CutExchange<Exec>;
  using Base::place_, Base::transfer_, Base::ends_, Base::all_, Base::z_;

public:
  explicit NeighbourExchange(CutPlace place) : Base(std::move(place)) { }

  PetscErrorCode factor(const Exec &exec, const ReducedMatrix &R, std::string *why_not) override
  {
    std::vector<std::int64_t> own;
    PetscFunctionBegin;
    if (place_.has_left()) own.push_back(place_.left());
    if (place_.has_right()) own.push_back(place_.chain->own);
    PetscCallCXX(this->factor_reduced(exec, this->matrices(exec, R, own, 0, place_.lines, false), false,
                                      static_cast<std::int64_t>(own.size()), place_.lines, why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void reserve(const Exec &exec, std::int64_t lines) override
  {
    const std::size_t both = Base::words(2 * place_.words() * lines);
    ends_ = transfer_.buffer(exec, both), all_ = transfer_.buffer(exec, both);
    z_ = allocate<decltype(z_)>(exec, "ribbon::cut_exchange::z", both);
  }
  PetscErrorCode send(const Exec &exec, std::int64_t lines) override
  {
    const std::int64_t each = place_.words() * lines;
    const auto         n    = static_cast<PetscMPIInt>(each);
    PetscFunctionBegin;
    PetscCall(transfer_.Pass(exec, ends_, {{{place_.right(), 0, each, n}, {place_.left(), 1, 0, n}}}, all_,
                             {{{place_.left(), 0, 0, n}, {place_.right(), 1, each, n}}}));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode reduce(const Exec &exec, std::int64_t lines) override
  {
    const LineSet set = this->reduced_lines(place_.has_left() + place_.has_right(), lines);
    PetscFunctionBegin;
    PetscCall(transfer_.Finish(exec, all_));
    for (bool of_left : {true, false})
      if (of_left ? place_.has_left() : place_.has_right())
        PetscCallCXX(join_messages(exec, {lines, place_.S, place_.carried, of_left}, ends_.data(),
                                   all_.data(), const_cast<Scalar *>(z(of_left, lines))));
    PetscCallCXX(this->reduced_.solve(exec, z_.data(), set, z_.data(), set));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Scalar *z(bool of_left, std::int64_t lines) const override
  {
    return z_.data() + (of_left || !place_.has_left() ? 0 : place_.words() * lines);
  }
  std::string who() const override { return "by neighbours"; }
};

/// Every rank solves all reduced systems.
template <class Exec>
class EveryRankExchange final : public CutExchange<Exec> {
  using Base = CutExchange<Exec>;
  using Base::place_, Base::transfer_, Base::ends_, Base::all_, Base::z_;

public:
  explicit EveryRankExchange(CutPlace place) : Base(std::move(place)) { }

  PetscErrorCode factor(const Exec &exec, const ReducedMatrix &R, std::string *why_not) override
  {
    PetscFunctionBegin;
    PetscCallCXX(this->factor_reduced(exec,
                                      this->matrices(exec, R, this->all_separators(), 0, place_.lines, true),
                                      place_.periodic, place_.separators(), place_.lines, why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void reserve(const Exec &exec, std::int64_t lines) override
  {
    const std::int64_t numbers = 2 * place_.S * lines;
    ends_                      = transfer_.buffer(exec, Base::words(numbers)),
    all_                       = transfer_.buffer(exec, Base::words(numbers * place_.size()));
    z_                         = allocate<decltype(z_)>(exec, "ribbon::cut_exchange::z",
                                Base::words(std::max(numbers, place_.separators() * place_.S * lines)));
  }
  PetscErrorCode send(const Exec &exec, std::int64_t lines) override
  {
    const auto n = static_cast<PetscMPIInt>(2 * place_.S * lines);
    PetscFunctionBegin;
    PetscCall(transfer_.Gather(exec, ends_, n, all_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode reduce(const Exec &exec, std::int64_t lines) override
  {
    const LineSet    set = this->reduced_lines(place_.separators(), lines);
    const EndsLayout at{2 * place_.S * lines, lines, 1, place_.size(), lines, place_.S};
    PetscFunctionBegin;
    PetscCall(transfer_.Finish(exec, all_));
    PetscCallCXX(add_ends(exec, at, place_.separators(), all_.data(), z_.data()));
    PetscCallCXX(this->reduced_.solve(exec, z_.data(), set, z_.data(), set));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Scalar *z(bool of_left, std::int64_t lines) const override
  {
    const PetscMPIInt of = of_left ? place_.left() : place_.has_right() ? place_.chain->own : MPI_PROC_NULL;
    return z_.data() + (of == MPI_PROC_NULL ? 0 : of) * place_.S * lines;
  }
  std::string who() const override { return "on every rank"; }
};

/// Each rank of a chain solves the whole reduced systems of some lines. The right-hand sides of each line
/// are sent to one rank, which sends the solution back.
template <class Exec>
class DealtExchange final : public CutExchange<Exec> {
  using Base = CutExchange<Exec>;
  using Base::place_, Base::transfer_, Base::ends_, Base::all_, Base::z_;

public:
  explicit DealtExchange(CutPlace place) : Base(std::move(place)), shares_{place_.lines, place_.size()} { }

  PetscErrorCode factor(const Exec &exec, const ReducedMatrix &R, std::string *why_not) override
  {
    const std::int64_t first = shares_.begin(place_.chain->own);
    PetscFunctionBegin;
    PetscCallCXX(
      this->factor_reduced(exec, this->matrices(exec, R, this->all_separators(), first, own_lines(), true),
                           place_.periodic, place_.separators(), own_lines(), why_not));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void reserve(const Exec &exec, std::int64_t) override
  {
    const std::int64_t numbers = 2 * place_.S * place_.lines, own = 2 * place_.S * own_lines();
    ends_   = transfer_.buffer(exec, Base::words(numbers)),
    back_   = transfer_.buffer(exec, Base::words(numbers));
    all_    = transfer_.buffer(exec, Base::words(own * place_.size()));
    z_      = allocate<decltype(z_)>(exec, "ribbon::cut_exchange::z",
                                Base::words(std::max(numbers, own * place_.size())));
    pieces_ = own_ = {};
    for (PetscMPIInt q = 0; q < place_.size(); ++q) {
      pieces_.count.push_back(Base::count(2 * place_.S * shares_.count(q))),
        pieces_.at.push_back(Base::count(2 * place_.S * shares_.begin(q)));
      own_.count.push_back(Base::count(own)), own_.at.push_back(Base::count(own * q));
    }
  }
  PetscErrorCode send(const Exec &exec, std::int64_t) override
  {
    PetscFunctionBegin;
    PetscCallCXX(deal_out(exec, ends_layout(), shares_, ends_.data(), back_.data()));
    PetscCall(transfer_.Deal(exec, back_, pieces_, all_, own_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode reduce(const Exec &exec, std::int64_t) override
  {
    const std::int64_t separators = place_.separators();
    const LineSet      set        = this->reduced_lines(separators, own_lines());
    const EndsLayout   at{2 * place_.S * own_lines(), 1, 2 * place_.S, place_.size(), own_lines(), place_.S};
    PetscFunctionBegin;
    PetscCall(transfer_.Finish(exec, all_));
    PetscCallCXX(add_ends(exec, at, separators, all_.data(), z_.data()));
    PetscCallCXX(this->reduced_.solve(exec, z_.data(), set, z_.data(), set));
    PetscCallCXX(spread_separators(exec, at, separators, z_.data(), all_.data()));
    PetscCall(transfer_.Deal(exec, all_, own_, back_, pieces_));
    PetscCall(transfer_.Finish(exec, back_));
    PetscCallCXX(take_back(exec, ends_layout(), shares_, z_.data(), back_.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Scalar *z(bool of_left, std::int64_t lines) const override
  {
    return z_.data() + (of_left ? 0 : place_.S * lines);
  }
  bool        takes_columns() const override { return false; }
  std::string who() const override { return "dealt out by lines"; }
  std::size_t bytes() const override { return Base::bytes() + back_.bytes(); }

private:
  std::int64_t own_lines() const { return shares_.count(place_.chain->own); }
  LineSet      ends_layout() const
  {
    LineSet ends{1, place_.lines, 1, 2 * place_.S * place_.lines, 1, 0, 0};
    ends.components = 2 * place_.S, ends.component_stride = place_.lines;
    return ends;
  }

  LineShares          shares_; ///< of the ranks
  MessageBuffer<Exec> back_;
  MessageCounts       pieces_, own_;
};

} // namespace ribbon::petsc
