// SPDX-License-Identifier: BSD-2-Clause
/// @file packed_lines.hpp  Lines at the places of a table in the vectors.
#pragma once

#include "local_lines.hpp"

#include <ribbon/matrix/packing.hpp>

namespace ribbon::petsc {

/// Whole lines at arbitrary places: packed into a buffer, solved there, and unpacked.
template <class Exec, class Number>
class PackedLines final : public LocalLines<Exec, Number> {
  using Base   = LocalLines<Exec, Number>;
  using Buffer = Kokkos::View<Scalar *, typename Base::Memory>;
  using Base::lines_, Base::refined_, Base::rounds, Base::solver_, Base::transposed_;

public:
  /// @param lines       of the buffer
  /// @param components  unknowns of an element of the table
  PackedLines(const Exec &exec, const Packing<typename Base::Memory> &packing, int components,
              const LineSet &lines, bool refines)
      : Base(lines, refines), packing_(packing), components_(components),
        buffer_(allocate<Buffer>(exec, "ribbon::packed",
                                 packing.element.extent(0) * static_cast<std::size_t>(components)))
  {
  }

  /// b and x are the arrays of the vectors; the table contains the places of the lines.
  PetscErrorCode solve(const Exec &exec, bool transposed, const Scalar *b, const LineSet &, Scalar *x,
                       const LineSet &) override
  {
    Scalar *const at     = buffer_.data();
    const auto   &solver = transposed ? transposed_ : solver_;
    PetscFunctionBegin;
    PetscCallCXX(pack(exec, packing_, components_, b, at));
    if constexpr (rounds) PetscCallCXX(refined_.solve(exec, solver, transposed, at, lines_, at, lines_));
    else PetscCallCXX(solver.solve(exec, at, lines_, at, lines_));
    PetscCallCXX(unpack(exec, packing_, components_, at, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool takes_columns(bool) const override { return false; }

  PetscErrorCode describe(const Exec &exec, LineFacts *facts) override
  {
    const std::size_t places = packing_.place.size() + packing_.element.size();
    PetscFunctionBegin;
    PetscCall(Base::describe(exec, facts));
    facts->bytes += places * sizeof(std::int64_t) + buffer_.size() * sizeof(Scalar);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  Packing<typename Base::Memory> packing_;
  int                            components_;
  Buffer                         buffer_;
};

} // namespace ribbon::petsc
