// SPDX-License-Identifier: BSD-2-Clause
/// @file lines.hpp  The lines of a compact operator, in the memory of an execution space.
#pragma once

#include "../lines/chain.hpp"

#include <ribbon/compact_scheme.hpp>
#include <ribbon_petsc/transport.h>
#include <ribbon/line_set.hpp>

#include <memory>
#include <string>
#include <vector>

namespace ribbon::petsc {

/// The operator, and the lines of this rank.
struct CompactRequest {
  CompactScheme<Scalar>  scheme;
  std::vector<PetscReal> metric;   ///< of all rows of a line; empty: ones
  std::int64_t           rows = 0; ///< of a line, over all ranks
  LineSet                lines;    ///< lines, or sub-lines, of this rank
  /// the ranks that hold sub-lines of the same lines; null: lines are on one rank
  std::shared_ptr<const LineChain> chain;
  RibbonTransport                  transport = RIBBON_TRANSPORT_AUTO; ///< of messages between them

  std::int64_t first() const { return chain ? chain->mine().first : 0; } ///< row of this rank
};

/// Products of one operator. CompactLinesOn<Exec> implements it on a host or a device.
class CompactLines {
public:
  virtual ~CompactLines() = default;
  static std::unique_ptr<CompactLines> create(bool on_device);

  /// Factors for products or transposed products. `failure` says why the lines cannot be solved;
  /// otherwise it is empty. Collective on the chain.
  virtual PetscErrorCode prepare(const CompactRequest &request, bool transposed, std::string *failure) = 0;
  virtual bool           is_prepared(bool transposed) const                                            = 0;
  /// y = alpha A^-1 B u + beta v, or alpha B^T A^-T u + beta v; v may be u or y, or null if beta is 0.
  /// Collective on the chain.
  virtual PetscErrorCode apply(bool transposed, Scalar alpha, Vec u, Scalar beta, Vec v, Vec y) = 0;
  /// Describes the kernels for views, after prepare().
  virtual std::string facts(bool transposed) const = 0;
};

/// The entries on the diagonal of A^-1 B in the rows of this rank.
/// @throws std::runtime_error if A cannot be solved
std::vector<Scalar> compact_diagonal(const CompactRequest &request);

} // namespace ribbon::petsc
