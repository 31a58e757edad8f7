// SPDX-License-Identifier: BSD-2-Clause
#include "reduced_matrix.hpp"

#include <ribbon/elimination/dense_elimination.hpp>

#include <algorithm>
#include <limits>

namespace ribbon::petsc {

namespace {

// functions, not lambdas of the host: nvcc would treat invert_dense() as a device function
struct Entries {
  Scalar                 *first;
  int                     n;
  KOKKOS_FUNCTION Scalar &operator()(int i, int j) const { return first[i * n + j]; }
};
struct SeeZero {
  bool                *seen;
  KOKKOS_FUNCTION void operator()(const Scalar &pivot, int) const { *seen = *seen || pivot == Scalar(0); }
};

} // namespace

double ReducedMatrix::decay() const
{
  const auto          n = static_cast<std::size_t>(S), block = n * n;
  std::vector<Scalar> inverse(block);
  std::vector<int>    order(n);
  double              most = 0;
  for (std::int64_t k = 0; separators > 1 && k < matrices * separators; ++k) {
    const Scalar *row      = &values[static_cast<std::size_t>(k) * 3 * block];
    bool          singular = false;
    std::copy(row + block, row + 2 * block, inverse.begin());
    invert_dense(S, Entries{inverse.data(), S}, order.data(), SeeZero{&singular});
    if (singular) return std::numeric_limits<double>::infinity();
    for (std::size_t other : {std::size_t(0), 2 * block})
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
          Scalar product(0);
          for (std::size_t e = 0; e < n; ++e) product += inverse[i * n + e] * row[other + e * n + j];
          sum += static_cast<double>(magnitude(product));
        }
        most = std::max(most, sum);
      }
  }
  return most;
}

PetscErrorCode GetReducedMatrix(const LineChain &chain, const std::vector<Scalar> &blocks, int S,
                                bool periodic, ReducedMatrix *R)
{
  const std::size_t block = static_cast<std::size_t>(S) * static_cast<std::size_t>(S);
  PetscInt          lines = static_cast<PetscInt>(blocks.size() / (4 * block)), most;
  PetscMPIInt       count;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&lines, &most, 1, MPIU_INT, MPI_MAX, chain.comm));
  const auto          all = static_cast<std::size_t>(most), words = 4 * block * all;
  std::vector<Scalar> mine(words), gathered(words * chain.pieces.size());
  // one matrix for all lines
  for (std::size_t w = 0; w < words; ++w) mine[w] = lines == most ? blocks[w] : blocks[w / all];
  PetscCall(PetscMPIIntCast(static_cast<PetscInt>(words), &count));
  PetscCallMPI(
    MPI_Allgather(mine.data(), count, MPIU_SCALAR, gathered.data(), count, MPIU_SCALAR, chain.comm));
  R->matrices = most, R->separators = periodic ? chain.size() : chain.size() - 1, R->S = S;
  R->values.resize(static_cast<std::size_t>(R->matrices * R->separators) * 3 * block);
  const auto of = [&](std::size_t piece, std::size_t which, std::size_t e, std::size_t line) {
    return gathered[piece * words + (which * block + e) * all + line];
  };
  for (std::size_t l = 0; l < all; ++l)
    for (std::size_t p = 0; p < static_cast<std::size_t>(R->separators); ++p) {
      const std::size_t next = (p + 1) % chain.pieces.size();
      Scalar           *row  = &R->values[(l * static_cast<std::size_t>(R->separators) + p) * 3 * block];
      for (std::size_t e = 0; e < block; ++e)
        row[e] = of(p, 1, e, l), row[block + e] = of(p, 0, e, l) + of(next, 2, e, l),
        row[2 * block + e] = of(next, 3, e, l);
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
