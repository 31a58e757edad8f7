// SPDX-License-Identifier: BSD-2-Clause
/// @file line_rest.hpp  What solves along lines leave out of a matrix.
#pragma once

#include "line_operator.hpp"

#include <vector>

namespace ribbon::petsc {

/// N = A - A_lines for an AIJ matrix in host memory: the entries of every row that are not on its line. It makes x + omega A_lines^-1 (b - A x) = (1 - omega) x + omega A_lines^-1 (b - N x) of half the traffic.
class LineRest {
public:
  LineRest()                            = default;
  LineRest(const LineRest &)            = delete;
  LineRest &operator=(const LineRest &) = delete;
  ~LineRest() { (void)reset(); }

  /// Whether A is of a type that this takes; the same on all ranks.
  static PetscErrorCode takes(Mat A, PetscBool *takes);
  /// Copies what is left out. Collective.
  PetscErrorCode make(Mat A, const LineRequest &request);
  PetscErrorCode reset();
  bool           is_made() const { return minus_; }
  std::size_t    bytes() const { return own_.bytes() + others_.bytes(); }
  /// r = b - N x.
  PetscErrorCode residual(Vec b, Vec x, Vec r) const;

private:
  struct Rows {
    std::vector<PetscInt>    begin, column;
    std::vector<PetscScalar> value;
    std::size_t              bytes() const { return (begin.size() + column.size()) * sizeof(PetscInt) + value.size() * sizeof(PetscScalar); }
  };

  Mat  minus_ = nullptr; ///< -N, on these numbers
  Rows own_, others_;    ///< columns of this rank, and of other ones
};

} // namespace ribbon::petsc
