// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/lines_from_csr.hpp>

#include "algorithms.hpp"

#include <unordered_map>

namespace ribbon {

namespace {

KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::uint64_t h, std::uint64_t k)
{
  h ^= k + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}
template <class Real>
KOKKOS_INLINE_FUNCTION std::uint64_t bits_of(Real a)
{
  const double  d    = static_cast<double>(a + Real(0)); // -0 and 0 are the same number
  std::uint64_t u    = 0;
  const char   *from = reinterpret_cast<const char *>(&d);
  char         *to   = reinterpret_cast<char *>(&u);
  for (int k = 0; k < 8; ++k) to[k] = from[k];
  return u;
}
template <class Scalar>
KOKKOS_INLINE_FUNCTION std::uint64_t hash_of(std::uint64_t h, const Scalar &a)
{
  if constexpr (std::is_floating_point_v<Scalar>) return mix(h, bits_of(a));
  else return mix(mix(h, bits_of(a.real())), bits_of(a.imag()));
}

template <class Values, class Memory>
struct HashKernel {
  Values                                values;
  Kokkos::View<std::uint64_t *, Memory> hash;
  KOKKOS_FUNCTION void                  operator()(const std::int64_t l) const
  {
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < values.extent(1); ++i)
      for (std::size_t d = 0; d < values.extent(2); ++d) h = hash_of(h, values(l, i, d));
    hash(l) = h;
  }
};

/// Counts lines that differ from the representative of their class in spite of equal hashes.
template <class Values, class Memory>
struct CompareKernel {
  Values                      values;
  Kokkos::View<int *, Memory> class_of_line, representative;
  KOKKOS_FUNCTION void        operator()(const std::int64_t l, std::int64_t &different) const
  {
    const int r = representative(class_of_line(l));
    for (std::size_t i = 0; i < values.extent(1); ++i)
      for (std::size_t d = 0; d < values.extent(2); ++d)
        if (!(values(l, i, d) == values(r, i, d))) {
          ++different;
          return;
        }
  }
};

template <class Values, class Memory>
struct GatherKernel {
  Values                      from, to;
  Kokkos::View<int *, Memory> representative;
  KOKKOS_FUNCTION void        operator()(const std::int64_t k) const
  {
    const std::int64_t c = k % static_cast<std::int64_t>(to.extent(0)), i = k / static_cast<std::int64_t>(to.extent(0));
    for (std::size_t d = 0; d < from.extent(2); ++d) to(c, i, d) = from(representative(c), i, d);
  }
};

template <class Exec>
auto rows_of(const Exec &exec, std::int64_t n)
{
  return Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, n);
}

} // namespace

template <class Scalar, class Exec>
SharingResult share(const Exec &exec, Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t most)
{
  using Memory  = typename Exec::memory_space;
  using Values  = typename Bands<Scalar, Memory>::values_type;
  using Classes = Kokkos::View<int *, Memory>;
  SharingResult      result;
  const std::int64_t lines = static_cast<std::int64_t>(bands.values.extent(0));
  if (lines == 0) return result;
  const auto hash = allocate<Kokkos::View<std::uint64_t *, Memory>>(exec, "ribbon::hash", static_cast<std::size_t>(lines));
  Kokkos::parallel_for("ribbon::hash", rows_of(exec, lines), HashKernel<Values, Memory>{bands.values, hash});
  exec.fence();
  const auto                             host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, hash);
  std::unordered_map<std::uint64_t, int> known;
  std::vector<int>                       first_line;
  std::vector<int>                       class_of(static_cast<std::size_t>(lines));
  for (std::int64_t l = 0; l < lines; ++l) {
    const auto found = known.emplace(host(static_cast<std::size_t>(l)), static_cast<int>(first_line.size()));
    if (found.second) first_line.push_back(static_cast<int>(l));
    class_of[static_cast<std::size_t>(l)] = found.first->second;
    if (first_line.size() == 2 && result.first < 0) result.first = first_line[0], result.different = first_line[1];
    if (static_cast<std::int64_t>(first_line.size()) > most && result.first >= 0) return result;
  }
  const Classes classes = upload(exec, "ribbon::class_of_line", class_of), representative = upload(exec, "ribbon::representative", first_line);
  std::int64_t  different = 0;
  Kokkos::parallel_reduce("ribbon::compare", rows_of(exec, lines), CompareKernel<Values, Memory>{bands.values, classes, representative}, Kokkos::Sum<std::int64_t>(different));
  exec.fence();
  if (different > 0) return result; // NaN, or two matrices with one hash: keep a matrix per line
  const auto distinct = allocate<Values>(exec, "ribbon::bands", first_line.size(), bands.values.extent(1), bands.values.extent(2));
  Kokkos::parallel_for("ribbon::gather", rows_of(exec, static_cast<std::int64_t>(first_line.size() * bands.values.extent(1))), GatherKernel<Values, Memory>{bands.values, distinct, representative});
  exec.fence();
  result.classes = static_cast<std::int64_t>(first_line.size());
  bands.values   = distinct;
  bands.lhs      = result.classes == 1 ? Lhs::shared : Lhs::classes;
  if (result.classes > 1) bands.class_of_line = classes;
  return result;
}

#define RIBBON_INSTANTIATE(Scalar, Exec) template SharingResult share(const Exec &, Bands<Scalar, typename Exec::memory_space> &, std::int64_t);

RIBBON_INSTANTIATE(float, Kokkos::DefaultHostExecutionSpace)
RIBBON_INSTANTIATE(double, Kokkos::DefaultHostExecutionSpace)
RIBBON_INSTANTIATE(Kokkos::complex<double>, Kokkos::DefaultHostExecutionSpace)
#ifdef RIBBON_HAS_DEVICE
RIBBON_INSTANTIATE(float, Kokkos::DefaultExecutionSpace)
RIBBON_INSTANTIATE(double, Kokkos::DefaultExecutionSpace)
RIBBON_INSTANTIATE(Kokkos::complex<double>, Kokkos::DefaultExecutionSpace)
#endif

} // namespace ribbon
