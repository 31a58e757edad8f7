// SPDX-License-Identifier: BSD-2-Clause
/// @file lump_left_out.hpp  Bands of lines that leave out couplings, and stay positive definite.
#pragma once

#include <ribbon/lines_from_csr.hpp>

namespace ribbon {

/// Adds |a_ij| to the diagonal a_ii, in the direction of a_ii, for every entry of row i that is on its line
/// but further away than the bands reach. A symmetric A adds |a_ij| to a_jj, too: the change is a sum of
/// matrices [|a| -a; -a |a|], so bands of a positive definite A are positive definite. Diagonals of zero
/// grow in the direction of 1. The result has the same bits in every run.
/// @param lines  as for extract_bands(), which made the bands, one matrix per line
/// @return how many nonzero entries the bands leave out
template <class Scalar, class Index, class Exec>
std::int64_t lump_left_out(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines,
                           const Bands<Scalar, typename Exec::memory_space> &bands);

} // namespace ribbon
