// SPDX-License-Identifier: BSD-2-Clause
// The timed systems, their matrices and right-hand sides.
#include "bench.hpp"

namespace bench {

namespace {

KOKKOS_INLINE_FUNCTION double random_number(std::int64_t i)
{
  std::uint64_t k = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull;
  k ^= k >> 29;
  k *= 0xbf58476d1ce4e5b9ull;
  return static_cast<double>(k >> 11) * (1.0 / 4503599627370496.0) - 1.0;
}

/// A scalar with both parts, if it is complex.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar of_parts([[maybe_unused]] double real, [[maybe_unused]] double imaginary)
{
  if constexpr (std::is_floating_point_v<Scalar>) return static_cast<Scalar>(real);
  else return Scalar(real, imaginary);
}

} // namespace

template <class Scalar>
void fill(const VectorOf<Scalar> &b)
{
  Kokkos::parallel_for(
    "bench::fill",
    Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, static_cast<std::int64_t>(b.extent(0))),
    KOKKOS_LAMBDA(const std::int64_t i) {
      b(i) = of_parts<Scalar>(random_number(i), random_number(-i - 1));
    });
}

template <class Scalar>
ribbon::Bands<Scalar, Memory> bands_of(const Case &c)
{
  ribbon::Bands<Scalar, Memory> bands;
  const auto width = static_cast<std::size_t>((2 * c.half_bandwidth + 1) * c.block * c.block),
             rows  = static_cast<std::size_t>(c.rows);
  if (c.stencil()) {
    std::vector<Scalar> row;
    for (double v : c.row(0)) row.push_back(of_parts<Scalar>(v, 0.1 * v));
    bands          = ribbon::toeplitz_bands<Scalar>(Exec(), c.rows, row, {}, {}, c.block);
    bands.periodic = c.periodic;
    return bands;
  }
  bands.periodic = c.periodic, bands.block = c.block;
  auto       values = decltype(bands.values)("bench::bands", 1, rows, width);
  const auto host   = Kokkos::create_mirror_view(values);
  for (int i = 0; i < c.rows; ++i) {
    const auto row = c.row(i);
    for (std::size_t d = 0; d < row.size(); ++d)
      host(0, static_cast<std::size_t>(i), d) = of_parts<Scalar>(row[d], 0.1 * row[d]);
  }
  Kokkos::deep_copy(values, host);
  bands.values = values;
  if (c.shifted) {
    bands.lhs        = ribbon::Lhs::shifted;
    bands.values     = decltype(bands.values)("bench::bands", 2, rows, width);
    bands.alpha      = decltype(bands.alpha)("bench::alpha", static_cast<std::size_t>(c.lines)),
    bands.beta       = decltype(bands.beta)("bench::beta", static_cast<std::size_t>(c.lines));
    const auto pair  = bands.values;
    const auto alpha = bands.alpha, beta = bands.beta;
    const int  K = c.half_bandwidth, B = c.block;
    Kokkos::parallel_for(
      "bench::bands", Kokkos::RangePolicy<Exec>(0, static_cast<int>(values.extent(1) * values.extent(2))),
      KOKKOS_LAMBDA(const int k) {
        const int i = k % static_cast<int>(pair.extent(1)), d = k / static_cast<int>(pair.extent(1));
        // the identity and A
        pair(0, i, d)            = d / (B * B) == K && d % (B * B) % (B + 1) == 0 ? Scalar(1) : Scalar(0),
                   pair(1, i, d) = values(0, i, d);
      });
    Kokkos::parallel_for(
      "bench::shifts", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, c.lines),
      KOKKOS_LAMBDA(const std::int64_t l) {
        alpha(l) = static_cast<Scalar>(0.01 * static_cast<double>(l % 100)), beta(l) = Scalar(1);
      });
    return bands;
  }
  if (c.classes) {
    bands.lhs           = ribbon::Lhs::classes;
    bands.values        = decltype(bands.values)("bench::bands", 3, rows, width);
    bands.class_of_line = decltype(bands.class_of_line)("bench::classes", static_cast<std::size_t>(c.lines));
    const auto three    = bands.values;
    const auto which    = bands.class_of_line;
    const auto all_entries = Kokkos::RangePolicy<Exec>(0, static_cast<int>(three.size()));
    Kokkos::parallel_for(
      "bench::bands", all_entries, KOKKOS_LAMBDA(const int k) {
        const int m = k % 3, i = k / 3 % static_cast<int>(three.extent(1)),
                  d    = k / 3 / static_cast<int>(three.extent(1));
        three(m, i, d) = values(0, i, d) * static_cast<Scalar>(1 + 0.1 * m);
      });
    const int  run   = c.layers ? 1000 : 1;
    const bool edges = c.edges;
    Kokkos::parallel_for(
      "bench::classes", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, c.lines),
      KOKKOS_LAMBDA(const std::int64_t l) {
        which(l) = edges ? (l + 1) % 128 < 2 : static_cast<int>(l / run % 3);
      });
    return bands;
  }
  if (!c.per_line) return bands;
  bands.lhs = ribbon::Lhs::per_line;
  bands.values =
    decltype(bands.values)(Kokkos::view_alloc(std::string("bench::bands"), Kokkos::WithoutInitializing),
                           static_cast<std::size_t>(c.lines), rows, width);
  const auto to = bands.values;
  Kokkos::parallel_for(
    "bench::bands",
    Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, static_cast<std::int64_t>(to.size())),
    KOKKOS_LAMBDA(const std::int64_t k) {
      const std::int64_t lines = static_cast<std::int64_t>(to.extent(0)),
                         n = static_cast<std::int64_t>(to.extent(1)), l = k % lines, i = k / lines % n,
                         d = k / lines / n;
      to(l, i, d) =
        values(0, i, d) * static_cast<Scalar>(1 + 0.25 * static_cast<double>((l * 31 + i) % 64) / 64);
    });
  return bands;
}

using Complex = Kokkos::complex<double>;
template void                           fill<float>(const VectorOf<float> &);
template void                           fill<double>(const VectorOf<double> &);
template void                           fill<Complex>(const VectorOf<Complex> &);
template ribbon::Bands<float, Memory>   bands_of<float>(const Case &);
template ribbon::Bands<double, Memory>  bands_of<double>(const Case &);
template ribbon::Bands<Complex, Memory> bands_of<Complex>(const Case &);

const std::map<std::string, std::pair<int, int>> &systems_known()
{
  static const std::map<std::string, std::pair<int, int>> known{
    {"tri", {1, 1}},    {"penta", {2, 1}},  {"band3", {3, 1}},  {"band4", {4, 1}}, {"band8", {8, 1}},
    {"block2", {1, 2}}, {"block3", {1, 3}}, {"block4", {1, 4}}, {"block8", {1, 8}}};
  return known;
}

} // namespace bench
