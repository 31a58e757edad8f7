// SPDX-License-Identifier: BSD-2-Clause
// One matrix of any width for all lines, in double: kernels of tile_products.hpp.
#include "algorithms.hpp"

#include <ribbon/algorithm/tile_products/plan.hpp>

namespace ribbon::detail {

namespace {

template <class Exec>
struct TileProductsAlgorithm final : Factored<double, Exec> {
  TileProductsPlan<Exec> plan;

  TileProductsAlgorithm(const Exec &exec, const HostMatrix<double> &A, const TileShape &shape,
                        PivotWatch &watch)
      : plan(exec, A, shape, watch)
  {
    this->name  = "tile_products";
    this->bytes = plan.bytes();
  }
  void solve(const Exec &exec, const double *b, const LineSet &in, double *x, const LineSet &out, const int *,
             std::int64_t) const override
  {
    plan.solve(exec, b, in, x, out);
  }
};

} // namespace

template <class Exec>
Made<double, Exec> make_tile_products(const Exec &exec, const HostMatrix<double> &A, PivotWatch &watch,
                                      std::string &why)
{
  if (is_device_space<Exec> && !device::has_matrix_instructions<Exec>()) {
    why = "the device, or the build, has no matrix instructions in double precision";
    return nullptr;
  }
  const auto shape = TileShape::choose(A.rows, A.reach(), A.block, A.periodic);
  if (shape.split.chunks > 0) return std::make_unique<TileProductsAlgorithm<Exec>>(exec, A, shape, watch);
  why =
    shape.separators > device::tile_unknowns
      ? "rows that couple with " + std::to_string(shape.separators) + " unknowns on either side (at most 8)"
      : "lines of " + std::to_string(A.rows) + " rows are too " + (A.rows < 2 * A.reach() ? "short" : "long");
  return nullptr;
}

bool tile_products_fit(std::int64_t rows, int reach, int block)
{
  return rows <= TileShape::most_chunks * TileShape::tiles * device::tile_unknowns &&
         TileShape::choose(static_cast<int>(rows), reach, block, false).split.chunks > 0;
}

template Made<double, Kokkos::DefaultHostExecutionSpace>
make_tile_products(const Kokkos::DefaultHostExecutionSpace &, const HostMatrix<double> &, PivotWatch &,
                   std::string &);
#ifdef RIBBON_HAS_DEVICE
template Made<double, Kokkos::DefaultExecutionSpace> make_tile_products(const Kokkos::DefaultExecutionSpace &,
                                                                        const HostMatrix<double> &,
                                                                        PivotWatch &, std::string &);
#endif

} // namespace ribbon::detail
