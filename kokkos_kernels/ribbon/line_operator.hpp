// SPDX-License-Identifier: BSD-2-Clause
/// @file line_operator.hpp  Products of an inverse banded matrix and a banded matrix, on all lines of a set:
///   compact finite differences, implicit time steps, filters and interpolations.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/line_solver.hpp>

#include <memory>
#include <string>

namespace ribbon {

struct LineOperatorOptions {
  LineSolverOptions solver; ///< of A
  /// "auto": the kernel that reads u once and writes y once, if there is one for these lines; "fused": the
  /// same, or an error; "separate": a product with B, a solve, and a sum if beta is not zero.
  std::string algorithm = "auto";
  /// The operator is B^T A^-T.
  bool transposed = false;
};

/// Factors of a product, and a vector that is added: y = alpha A^-1 B u + beta v.
template <class Scalar>
struct OperatorTerms {
  Scalar        alpha = 1, beta = 0;
  const Scalar *v = nullptr; ///< read if beta is not zero; may be y
  LineSet       lines;       ///< places of v
};

/// The operator A^-1 B on lines, with banded A and B that are periodic or not.
///
///     ribbon::LineOperator<double> derivative(exec, ribbon::LineSet::box(size, 1), A, B);
///     derivative.apply(exec, u.data(), y.data());                              // y = A^-1 B u
///
/// Lele's compact differences are f' = A^-1 B f (compact_scheme.hpp); a step of Crank-Nicolson for u_t = D u
/// is (I - dt/2 D)^-1 (I + dt/2 D) u.
///
/// The fused kernel applies B while the forward sweep of the solver runs. A line costs the memory traffic of
/// a copy: one read and one write of every unknown (16 bytes in double). On devices it exists for one matrix
/// or classes of matrices A that one_pass solves: in double for half-bandwidths of A to 4 and of B to 6, in
/// float and complex double to 2 and 3. On hosts it exists for A that thomas solves, to 4 (rings: 2).
/// Other operators are a product and a solve, with a workspace of the size of the lines: 40 bytes.
///
/// Scalars and execution spaces are those of LineSolver. Copies share factors and workspace.
template <class Scalar, class Exec = Kokkos::DefaultExecutionSpace>
class LineOperator {
public:
  using scalar_type     = Scalar;
  using execution_space = Exec;
  using memory_space    = typename Exec::memory_space;
  using bands_type      = Bands<Scalar, memory_space>;
  using terms_type      = OperatorTerms<Scalar>;

  /// An empty operator. Every use but an assignment throws std::logic_error.
  LineOperator() = default;

  /// Factors A and copies B. Returns when all tables are complete.
  /// @param lines  layout of the lines, of one component; lines.rows == A.rows() == B.rows()
  /// @param A      as for LineSolver, block 1
  /// @param B      half-bandwidths to 8, block 1; periodic like A; Lhs::shared, or the kind of A with as many
  ///   matrices. Classes are those of A: B.class_of_line is not read. Not Lhs::shifted: for shifted A, one
  ///   matrix per line
  /// @throws std::invalid_argument if extents do not match, or if there is no fused kernel for "fused"
  LineOperator(const Exec &exec, const LineSet &lines, const bands_type &A, const bands_type &B,
               const LineOperatorOptions &options = {});

  /// The report of the factorization of A. If it is not ok(), lines that failed become NaN, as in
  /// LineSolver::solve().
  const FactorReport &report() const;
  const LineSet      &lines() const { return lines_; }
  /// The solver of A, or of A^T if the operator is transposed.
  const LineSolver<Scalar, Exec> &solver() const;
  /// Whether u is read once and y is written once.
  bool is_fused() const;
  /// Why there is no fused kernel; empty if there is one.
  const std::string &reason() const;

  /// y = A^-1 B u for all lines. Asynchronous on exec. u == y is allowed. One kernel if is_fused().
  void apply(const Exec &exec, const Scalar *u, Scalar *y) const { apply(exec, u, lines_, y, lines_); }

  /// y = alpha A^-1 B u + beta v, for lines at other places. The count of lines is a multiple of that of the
  /// constructor, as in LineSolver::solve(). The arrays u and v may be y if they have its places. The
  /// workspace of an operator that is not fused grows, and allocates, when an apply has more lines than any
  /// before.
  /// @throws std::invalid_argument if counts of rows or lines do not match
  void apply(const Exec &exec, const Scalar *u, const LineSet &in, Scalar *y, const LineSet &out,
             const terms_type &terms = {}) const;

  struct Implementation;

private:
  LineSet                         lines_;
  std::shared_ptr<Implementation> implementation_;
};

} // namespace ribbon
