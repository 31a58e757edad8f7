// SPDX-License-Identifier: BSD-2-Clause
/// @file rest.hpp  The entries of a matrix that solves along lines leave out.
#pragma once

#include "operator.hpp"

#include <vector>

namespace ribbon::petsc {

struct LineGroup;

/// Stores for every group of lines its rows, and N = A - A_lines in these rows. N has the entries of an AIJ
/// matrix in host memory that are not on the line of their row. With the new values z of a group,
///
///     z = (1 - omega) z + omega A_lines^-1 (b - N z)   instead of   z += omega A_lines^-1 (b - A z),
///
/// a residual reads fewer entries, and only those of the rows that need it.
class LineRest {
public:
  LineRest()                            = default;
  LineRest(const LineRest &)            = delete;
  LineRest &operator=(const LineRest &) = delete;
  ~LineRest() { (void)reset(); }

  /// Whether this class supports the type of A; the same on all ranks.
  static PetscErrorCode takes(Mat A, PetscBool *takes);
  /// Copies the entries that lines leave out. Collective.
  PetscErrorCode make(Mat A, const std::vector<LineGroup> &groups);
  PetscErrorCode reset();
  bool           is_made() const { return !parts_.empty(); }
  std::size_t    bytes() const;
  /// Whether a second solve of group g right after the first one would change nothing, on all ranks: no
  /// entry couples its lines with each other.
  bool settles(std::size_t g) const { return parts_[g].settles; }
  /// r = b - N x in the rows of group g. Collective.
  PetscErrorCode residual(std::size_t g, Vec b, Vec x, Vec r);
  /// x = (1 - omega) x + d in the rows of group g.
  PetscErrorCode damp(std::size_t g, PetscReal omega, Vec d, Vec x) const;

private:
  struct Rows {
    std::vector<PetscInt>    row, begin = {0}, column;
    std::vector<PetscScalar> value;
    std::size_t              bytes() const
    {
      return (row.size() + begin.size() + column.size()) * sizeof(PetscInt) +
             value.size() * sizeof(PetscScalar);
    }
    void close(PetscInt of_row)
    {
      row.push_back(of_row), begin.push_back(static_cast<PetscInt>(column.size()));
    }
  };
  struct Part {
    /// own: columns of this rank; others: columns of other ranks, numbered as in `ghosts_`, for rows with
    /// such columns
    Rows own, others;
    bool settles = false;
  };
  struct Reading;

  PetscErrorCode Make(Mat A, const std::vector<LineGroup> &groups);
  PetscErrorCode CopyDirection(const Reading &from, const std::vector<LineGroup> &groups,
                               std::size_t direction);
  PetscErrorCode MakeScatter(Mat A, PetscInt count, const PetscInt *columns);
  PetscErrorCode AskWhatSettles(Mat A);

  std::vector<Part> parts_;             ///< of every group
  Vec               ghosts_  = nullptr; ///< columns of other ranks; null: there are none
  VecScatter        scatter_ = nullptr;
};

} // namespace ribbon::petsc
