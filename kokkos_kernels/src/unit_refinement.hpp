// SPDX-License-Identifier: BSD-2-Clause
/// @file unit_refinement.hpp  Refinement of solves with scaled columns, in the given units of the unknowns.
///
/// A solve with scaled columns is accurate relative to the largest scaled unknown. An unknown that is small
/// in scaled units, but not in its given units, may have no correct digit. Its equation corrects it: after
/// x += S (b - A x) the errors of small unknowns are those of the first correction (Skeel, Math. Comp. 35,
/// 1980). k steps suffice for units that differ by the k-th power of the precision.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/matrix/matrix_of_line.hpp>
#include <ribbon/probe/refine.hpp>

namespace ribbon::detail {

template <class Scalar, class Exec>
class UnitRefinement {
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;
  using Buffer = Kokkos::View<Scalar *, Memory>;

public:
  UnitRefinement() = default;
  /// @param given  the matrices in the given units; they are copied
  UnitRefinement(const Exec &exec, const Input &given) : given_(copy(exec, given)) { }

  bool        empty() const { return given_.values.size() == 0; }
  std::size_t bytes() const
  {
    return (given_.values.size() + given_.alpha.size() + given_.beta.size() + solution_.size() +
            residual_.size()) *
           sizeof(Scalar);
  }
  /// Copies share the workspace of solves until this is called.
  void own_workspace() { solution_ = residual_ = Buffer(); }

  /// steps to try; the last value suffices for units at opposite ends of the range of the scalar
  static constexpr int most_steps[] = {2, 6, 18};
  void                 set_steps(int steps) { steps_ = steps; }

  /// x = S b, then `steps` times x += S (b - A x). b == x is allowed. Allocates if there are more lines
  /// than in earlier solves.
  /// @param once  once(b, in, x, out): S
  template <class Solve>
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const MatrixOfLine &matrix, const Solve &once) const
  {
    const LineSet at = (in.is_contiguous() ? LineSet::contiguous(in.rows, in.lines())
                                           : LineSet::interleaved(in.rows, in.lines()))
                         .with_components(in.components);
    const auto n = static_cast<std::size_t>(at.unknowns());
    if (solution_.extent(0) < n)
      solution_ = allocate<Buffer>(exec, "ribbon::solution", n),
      residual_ = allocate<Buffer>(exec, "ribbon::residual", n);
    once(b, in, solution_.data(), at);
    for (int step = 0; step < steps_; ++step) {
      const bool last = step == steps_ - 1;
      Kokkos::parallel_for("ribbon::unit_refinement", indices(exec, at.lines() * at.rows),
                           ShortResidualKernel<Scalar, Scalar, Memory>{
                             BandEntries<Scalar, Memory>(given_), matrix, Scalar(1), false,
                             at.is_contiguous(), in, at, b, solution_.data(), residual_.data()});
      once(residual_.data(), at, residual_.data(), at);
      sum_lines(exec, at, solution_.data(), residual_.data(), last ? out : at, last ? x : solution_.data());
    }
  }

private:
  int            steps_ = most_steps[0];
  Input          given_;
  mutable Buffer solution_, residual_;
};

} // namespace ribbon::detail
