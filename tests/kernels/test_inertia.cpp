// SPDX-License-Identifier: BSD-2-Clause
// Signs of eigenvalues of Hermitian chains, compared with Jacobi's method, and for long chains with
// formulas.
#include "chains.hpp"

#include <ribbon/multifrontal/host/inertia.hpp>

#include <gtest/gtest.h>
#include <complex>

using namespace test;

namespace {

/// Rows of a Hermitian band, from the entry b before the diagonal on. entry(i, d) is the entry (i, i - d).
template <class Scalar, class Entry>
std::vector<Scalar> band_of(const ribbon::Chain &c, const Entry &entry)
{
  const int           b = c.kl;
  std::vector<Scalar> band(static_cast<std::size_t>(c.rows * c.chains * (2 * b + 1)), Scalar(0));
  for (std::int64_t number = 0; number < c.chains; ++number)
    for (std::int64_t i = 0; i < c.rows; ++i)
      for (int d = 0; d <= b; ++d) {
        std::int64_t j = i - d;
        if (j < 0 && !c.ring) continue;
        j              = (j + c.rows) % c.rows;
        const Scalar a = entry(number * c.rows + i, d);
        band[static_cast<std::size_t>((number * c.rows + i) * (2 * b + 1) + b - d)] = a;
        band[static_cast<std::size_t>((number * c.rows + j) * (2 * b + 1) + b + d)] = ribbon::conjugate(a);
      }
  return band;
}

/// Eigenvalues of a dense Hermitian matrix by Jacobi's method.
std::vector<double> eigenvalues(int n, std::vector<std::complex<double>> a)
{
  const auto at = [&](int i, int j) -> std::complex<double> & {
    return a[static_cast<std::size_t>(i + j * n)];
  };
  for (int sweep = 0; sweep < 12; ++sweep)
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double size = std::abs(at(p, q));
        if (size < 1e-18) continue;
        const auto   phase = at(p, q) / size;
        const double theta = (at(q, q).real() - at(p, p).real()) / (2 * size),
                     t     = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1.0)),
                     c = 1 / std::hypot(t, 1.0), s = t * c;
        for (int k = 0; k < n; ++k) {
          const auto x = at(k, p), y = at(k, q);
          at(k, p) = c * x - s * std::conj(phase) * y, at(k, q) = s * phase * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const auto x = at(p, k), y = at(q, k);
          at(p, k) = c * x - s * phase * y, at(q, k) = s * std::conj(phase) * x + c * y;
        }
      }
  std::vector<double> w;
  for (int i = 0; i < n; ++i) w.push_back(at(i, i).real());
  return w;
}

/// The numbers of eigenvalues below zero, at a distance of at most `near` from zero, and above.
template <class Scalar>
ribbon::Inertia by_jacobi(const ribbon::Chain &c, const std::vector<Scalar> &band, double near)
{
  const int                         n = static_cast<int>(c.rows * c.chains), W = c.width();
  std::vector<std::complex<double>> a(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    for (int d = -c.kl; d <= c.ku; ++d) {
      const int base = i / static_cast<int>(c.rows) * static_cast<int>(c.rows);
      int       j    = i - base + d;
      if (c.ring) j = (j + static_cast<int>(c.rows)) % static_cast<int>(c.rows);
      if (j < 0 || j >= c.rows) continue;
      const Scalar v = band[static_cast<std::size_t>(i * (W + 1) + c.kl + d)];
      if constexpr (std::is_floating_point_v<Scalar>)
        a[static_cast<std::size_t>(i + (base + j) * n)] += static_cast<double>(v);
      else a[static_cast<std::size_t>(i + (base + j) * n)] += std::complex<double>(v.real(), v.imag());
    }
  ribbon::Inertia found;
  for (double e : eigenvalues(n, a))
    ++(std::abs(e) <= near ? found.zero : e < 0 ? found.negative : found.positive);
  return found;
}

void expect_same(const ribbon::Inertia &a, const ribbon::Inertia &b)
{
  EXPECT_EQ(a.negative, b.negative);
  EXPECT_EQ(a.zero, b.zero);
  EXPECT_EQ(a.positive, b.positive);
}

template <class Scalar>
class InertiaOf : public testing::Test {
};
using Scalars = testing::Types<double, float, Kokkos::complex<double>>;
TYPED_TEST_SUITE(InertiaOf, Scalars, );

enum class Entries { random, no_diagonal, mostly_zero, definite, low_rank };

TYPED_TEST(InertiaOf, ChainsAndRingsAgainstJacobi)
{
  using Scalar      = TypeParam;
  using Real        = ribbon::real_t<Scalar>;
  const double near = std::is_same_v<Real, float> ? 2e-5 : 1e-13;
  std::int64_t told = 0, cases = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed)
    for (Entries kind :
         {Entries::random, Entries::no_diagonal, Entries::mostly_zero, Entries::definite, Entries::low_rank})
      for (int b : {0, 1, 2, 3, 5, 9})
        for (std::int64_t n : {0, 1, 2, 3, 5, 11, 20})
          for (bool ring : {false, true}) {
            if (ring && (n < 2 * b + 1 || b == 0)) continue;
            SCOPED_TRACE(testing::Message() << "seed " << seed << " kind " << static_cast<int>(kind) << " b "
                                            << b << " n " << n << " ring " << ring);
            const ribbon::Chain c{n, 1 + static_cast<std::int64_t>(seed) % 2, b, b, ring};
            std::mt19937_64     g(seed);
            const auto          band = band_of<Scalar>(c, [&](std::int64_t, int d) {
              Scalar a = random_scalar<Scalar>(g);
              if (kind == Entries::mostly_zero && g() % 3 != 0) a = Scalar(0);
              if (kind == Entries::no_diagonal && d == 0) a = Scalar(0);
              if (kind == Entries::low_rank) a = Scalar(1);
              if (d > 0) return a;
              if constexpr (!std::is_floating_point_v<Scalar>) a = Scalar(a.real());
              return kind == Entries::definite ? a + Scalar(static_cast<Real>(2 * b + 2)) : a;
            });
            ribbon::Inertia     found;
            ASSERT_TRUE(ribbon::inertia_of_chains(c, band.data(), &found));
            EXPECT_EQ(found.negative + found.zero + found.positive, n * c.chains);
            const ribbon::Inertia strict = by_jacobi(c, band, near / 10),
                                  wide   = by_jacobi(c, band, 1e4 * near);
            EXPECT_LE(found.negative, strict.negative + strict.zero);
            EXPECT_LE(found.positive, strict.positive + strict.zero);
            ++cases;
            // Eigenvalues are zero or far from it.
            if (wide.zero == strict.zero) ++told, expect_same(found, strict);
          }
  EXPECT_GT(told, cases / 2);
}

// S T S has the inertia of T for any scales S. One scaling step leaves entries of the size of the scales'
// differences.
TYPED_TEST(InertiaOf, UnknownsInAnyUnits)
{
  using Scalar        = TypeParam;
  using Real          = ribbon::real_t<Scalar>;
  const bool is_float = std::is_same_v<Real, float>;
  for (int exponent : {0, 20, 33, is_float ? 50 : 400})
    for (bool ring : {false, true})
      for (int b : {1, 3})
        for (int kind : {0, 1, 2}) { // definite, indefinite, a singular block
          if (is_float && exponent > 33) continue;
          SCOPED_TRACE(testing::Message()
                       << "2^+-" << exponent << " ring " << ring << " b " << b << " kind " << kind);
          const std::int64_t  n = 60;
          const ribbon::Chain c{n, 1, b, b, ring};
          std::mt19937_64     g(static_cast<std::uint64_t>(exponent) + 1);
          std::vector<int>    s;
          for (std::int64_t i = 0; i < n; ++i)
            s.push_back(static_cast<int>(g() % static_cast<std::uint64_t>(2 * exponent + 1)) - exponent);
          const auto      band = band_of<Scalar>(c, [&](std::int64_t i, int d) {
            const auto j = static_cast<std::size_t>((i - d + n) % n);
            // [[1, 1], [1, 1]], uncoupled.
            const bool   pair = kind == 2 && (i < 2 || static_cast<std::int64_t>(j) < 2);
            const double a    = pair     ? (i < 2 && j < 2 ? 1. : 0.)
                                     : d == 0 ? (kind == 1 && i % 4 == 1 ? -1. : 1.)
                                              : 0.3 / b;
            return Scalar(static_cast<Real>(std::ldexp(a, s[static_cast<std::size_t>(i)] + s[j])));
          });
          ribbon::Inertia found;
          ASSERT_TRUE(ribbon::inertia_of_chains(c, band.data(), &found));
          expect_same(found, kind == 0   ? ribbon::Inertia{0, 0, n}
                             : kind == 1 ? ribbon::Inertia{n / 4, 0, n - n / 4}
                                         : ribbon::Inertia{0, 1, n - 1});
        }
}

// -u'' - k^2 u with eigenvalues 2 - k^2 - 2 cos(j pi / (n + 1)), for k^2 on both sides of an eigenvalue and
// equal to it.
TEST(InertiaOfLongChains, Resonance)
{
  const std::int64_t n = 20000;
  for (std::int64_t j : {1, 2, 77, 6666, 10000, 19999})
    for (int side : {-1, 0, 1}) {
      const auto eigenvalue = [&](std::int64_t k) {
        return 2 - 2 * std::cos(static_cast<double>(k) * std::acos(-1.0) / static_cast<double>(n + 1));
      };
      const double        gap = (eigenvalue(j + 1) - eigenvalue(j)) / 2, shift = eigenvalue(j) + side * gap;
      const ribbon::Chain c{n, 1, 1, 1};
      const auto band = band_of<double>(c, [&](std::int64_t, int d) { return d == 0 ? 2 - shift : -1.0; });
      ribbon::Inertia found;
      ASSERT_TRUE(ribbon::inertia_of_chains(c, band.data(), &found));
      EXPECT_EQ(found.negative, j - (side > 0 ? 0 : 1)) << j << side;
      EXPECT_EQ(found.zero, side == 0 ? 1 : 0) << j << side;
    }
}

// Leading minors of zero, so that elimination in order has no pivots for n / 2 steps.
TEST(InertiaOfLongChains, WithoutPivotsInOrder)
{
  for (int b : {2, 4, 7}) {
    const std::int64_t  n = 5000 / (2 * b) * (2 * b);
    const ribbon::Chain c{n, 1, b, b};
    // Blocks of b unknowns without couplings inside. A unit matrix couples pairs of blocks: b eigenvalues
    // of 1, b of -1.
    const auto band =
      band_of<double>(c, [&](std::int64_t i, int d) { return d == b && i % (2 * b) >= b ? 1.0 : 0.0; });
    ribbon::Inertia found;
    ASSERT_TRUE(ribbon::inertia_of_chains(c, band.data(), &found));
    expect_same(found, {n / 2, 0, n / 2});
  }
}

// Units that change from 1e-9 to 1e9 along the chain.
TEST(InertiaOfLongChains, RowsOfAllSizes)
{
  const std::int64_t  n = 150;
  const ribbon::Chain c{n, 1, 2, 2};
  std::mt19937_64     g(5);
  std::vector<double> size(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < size.size(); ++i)
    size[i] = std::pow(10.0, 9 * std::sin(static_cast<double>(i) / 20));
  std::vector<double> entries(static_cast<std::size_t>(3 * n));
  for (double &e : entries) e = random_scalar<double>(g);
  const auto plain =
    band_of<double>(c, [&](std::int64_t i, int d) { return entries[static_cast<std::size_t>(3 * i + d)]; });
  const auto      scaled = band_of<double>(c, [&](std::int64_t i, int d) {
    return entries[static_cast<std::size_t>(3 * i + d)] * size[static_cast<std::size_t>(i)] *
           size[static_cast<std::size_t>(i - d)];
  });
  ribbon::Inertia one, other;
  ASSERT_TRUE(ribbon::inertia_of_chains(c, plain.data(), &one));
  ASSERT_TRUE(ribbon::inertia_of_chains(c, scaled.data(), &other));
  expect_same(one, by_jacobi(c, plain, 1e-12));
  expect_same(other, one);
}

TEST(InertiaOfLongChains, NothingIsSaidOfOthers)
{
  const ribbon::Chain c{30, 1, 2, 1};
  std::vector<double> band(120, 1.0);
  ribbon::Inertia     found;
  EXPECT_FALSE(ribbon::inertia_of_chains(c, band.data(), &found)) << "not symmetric: kl is 2, ku 1";
  const ribbon::Chain same{40, 1, 1, 1};
  band[50] = std::nan("");
  EXPECT_FALSE(ribbon::inertia_of_chains(same, band.data(), &found)) << "NaN";
}

// Sub-lines one after another, each with at most two neighbours, form the chain.
TYPED_TEST(InertiaOf, Pieces)
{
  using namespace ribbon::multifrontal;
  using Scalar = TypeParam;
  using Real   = ribbon::real_t<Scalar>;
  for (int b : {1, 2, 4})
    for (bool ring : {false, true})
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const std::vector<std::int64_t> sizes{4, 19, 7, 30};
        const ribbon::Chain             c{60, 1, b, b, ring};
        std::mt19937_64                 g(seed);
        const auto                      band = band_of<Scalar>(c, [&](std::int64_t, int d) {
          const Scalar a = random_scalar<Scalar>(g);
          if constexpr (std::is_floating_point_v<Scalar>) return seed % 2 == 0 && d == 0 ? Scalar(0) : a;
          else return d == 0 ? Scalar(a.real()) : a;
        });
        ribbon::Inertia                 found, whole;
        ASSERT_TRUE(ribbon::inertia_of_chains(c, band.data(), &whole));
        BandHalves<Scalar> halves(60, b, b, ring, band.data());
        halves.scale_all();
        std::vector<Real> scale(halves.scale.end() - b, halves.scale.end());
        scale.insert(scale.end(), halves.scale.begin(), halves.scale.end());
        const auto signs_of = [&](double shift) {
          SymmetricWindow<Scalar> all;
          std::int64_t            start = 0;
          for (std::size_t p = 0; p < sizes.size(); start += sizes[p++]) {
            const HermitianBand<Scalar> A{sizes[p],
                                          b,
                                          halves.lower.data() + start * (b + 1),
                                          scale.data() + start,
                                          ring || p > 0,
                                          ring || p + 1 < sizes.size()};
            const auto                  left_over = eliminate_piece(A, static_cast<Real>(shift));
            EXPECT_LE(left_over.size(), 4 * b);
            all = p == 0 ? left_over : join_pieces(b, all, left_over);
          }
          return close_pieces(b, all);
        };
        ASSERT_TRUE(certified_inertia<Scalar>(60, b, halves.asymmetry, signs_of, &found));
        expect_same(found, whole);
      }
}

} // namespace
