// SPDX-License-Identifier: BSD-2-Clause
#include "instantiate.hpp"
#include "refresh_tiles.hpp"

#include <stdexcept>

namespace ribbon {

using namespace detail;

namespace {

template <bool Blocks, int H = 0, class Csr, class Scalar, class Exec>
void refresh(const Exec &exec, const Csr &A, const LinePlaces &lines,
             RefreshPlan<typename Exec::memory_space>         &plan,
             const Bands<Scalar, typename Exec::memory_space> &bands, int siblings, int *found)
{
  using Memory       = typename Exec::memory_space;
  using Kernel       = RefreshKernel<Csr, Scalar, Memory, Blocks, H>;
  const bool   share = bands.lhs != Lhs::per_line;
  const Kernel kernel{A,
                      lines.lines,
                      lines.wrap,
                      bands.kl(),
                      bands.block,
                      siblings,
                      bands.values,
                      bands.lhs == Lhs::classes ? bands.class_of_line.data() : nullptr,
                      plan.first.data(),
                      found};
  const auto   run = [&](auto tag, std::int64_t n) {
    Kokkos::parallel_for(
        "ribbon::refresh_bands",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, decltype(tag)>(exec, 0, n), kernel);
  };
  if (share) run(typename Kernel::Shared(), bands.matrices() * bands.rows());
  if constexpr (is_device_space<Exec>) {
    if (share) run(typename Kernel::Compare(), lines.lines.unknowns());
    else run(typename Kernel::Each(), lines.lines.unknowns());
  } else {
    const bool known = plan.straight.size() > 0;
    if (!known)
      plan.straight = allocate<Kokkos::View<std::int64_t *, Memory>>(
        exec, "ribbon::straight", static_cast<std::size_t>(lines.lines.lines()));
    using Tiles = RefreshTiles<Csr, Scalar, Memory, Blocks>;
    const Tiles tiles{kernel, share, plan.straight.data()};
    if (!known)
      Kokkos::parallel_for("ribbon::refresh_bands",
                           Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, typename Tiles::Look>(
                             exec, 0, lines.lines.lines()),
                           tiles);
    Kokkos::parallel_for("ribbon::refresh_bands", indices(exec, tiles.count()), tiles);
  }
}

} // namespace

template <class Scalar, class Index, class Exec>
RefreshResult refresh_bands(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinePlaces &lines,
                            RefreshPlan<typename Exec::memory_space>         &plan,
                            const Bands<Scalar, typename Exec::memory_space> &bands, int siblings)
{
  using Memory = typename Exec::memory_space;
  if (lines.components != bands.block || lines.place || lines.part || bands.lhs == Lhs::shifted ||
      bands.kl() != bands.ku() || bands.repeats > 1)
    throw std::invalid_argument("ribbon::refresh_bands: lines that lie in the matrix itself");
  const auto found = allocate_zeros<Kokkos::View<int *, Memory>>(exec, "ribbon::refresh_bands", 1);
  if constexpr (is_device_space<Exec>) {
    if (bands.block == 1 && bands.kl() == 1)
      refresh<false, 1>(exec, AnyCsrMatrix<Scalar>(A), lines, plan, bands, siblings, found.data());
    else refresh<true>(exec, AnyCsrMatrix<Scalar>(A), lines, plan, bands, siblings, found.data());
  } else if (bands.block > 1) refresh<true>(exec, A, lines, plan, bands, siblings, found.data());
  else refresh<false>(exec, A, lines, plan, bands, siblings, found.data());
  const auto host = Kokkos::create_mirror_view(found);
  Kokkos::deep_copy(exec, host, found);
  exec.fence();
  const int  what     = host(0);
  const bool narrower = (bands.kl() > 1 && !(what & found_reach)) || (lines.wrap && !(what & found_wrapped));
  return {(what & found_across) != 0,     (what & found_components) != 0,
          (what & found_beyond) != 0,     narrower,
          (what & found_not_finite) != 0, (what & found_differ) != 0};
}

#define RIBBON_INSTANTIATE_CSR(Scalar, Index, Exec)                                                          \
  template RefreshResult refresh_bands(const Exec &, const CsrMatrix<Scalar, Index> &, const LinePlaces &,   \
                                       RefreshPlan<Exec::memory_space> &,                                    \
                                       const Bands<Scalar, Exec::memory_space> &, int);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int32_t, Exec)                                                         \
  RIBBON_INSTANTIATE_CSR(Scalar, std::int64_t, Exec)

RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
