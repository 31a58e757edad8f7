// SPDX-License-Identifier: BSD-2-Clause
#include "shifts.hpp"

#include <algorithm>
#include <cmath>

namespace ribbon::petsc {

namespace {

const double pi = std::acos(-1.);

/// dn(t K, k) for 0 < t < 1, with the complementary modulus k' = sqrt(1 - k^2) and the complete integral K.
/// Descending Landen transformations (Abramowitz and Stegun, 16.4), which are the arithmetic-geometric mean
/// of 1 and k'.
double dn_of_fraction(double t, double complementary)
{
  double a[32], c[32], b = complementary;
  int    n = 0;
  a[0] = 1, c[0] = std::sqrt(std::max(0., 1 - b * b));
  while (n < 31 && std::abs(c[n]) > 1e-16 * a[n]) {
    a[n + 1] = (a[n] + b) / 2, c[n + 1] = (a[n] - b) / 2;
    b = std::sqrt(a[n] * b);
    ++n;
  }
  // u = t K and K = pi / (2 a_n): the amplitude at the last level is 2^n a_n u
  double phi = std::ldexp(t * pi / 2, n), before = phi;
  for (int k = n; k > 0; --k)
    before = phi, phi = (phi + std::asin(std::clamp(c[k] / a[k] * std::sin(phi), -1., 1.))) / 2;
  return n == 0 ? 1 : std::cos(phi) / std::cos(before - phi);
}

/// (alpha s + beta) / (gamma s + 1), which maps -1, -k', k', 1 to -d, -c, a, b.
struct Moebius {
  double complementary, alpha, beta, gamma;

  Moebius(const Spectrum &h, const Spectrum &v)
  {
    const double a = h.least, b = h.largest, c = v.least, d = v.largest;
    const double m = 2 * (b - a) * (d - c) / ((a + c) * (b + d));
    complementary  = 1 / (1 + m + std::sqrt(m * (2 + m)));
    const double k = complementary;
    gamma          = (a - k * (b + d) / 2 - (b - d) / 2) / (k * (b - d) / 2 + (b + d) / 2 - a * k);
    alpha          = ((b + d) + (b - d) * gamma) / 2;
    beta           = ((b - d) + (b + d) * gamma) / 2;
  }
  double operator()(double s) const { return (alpha * s + beta) / (gamma * s + 1); }
};

} // namespace

double condition_of(const Spectrum &h, const Spectrum &v)
{
  return 1 / Moebius(h, v).complementary;
}

std::vector<ShiftPair> wachspress_shifts(const Spectrum &h, const Spectrum &v, int n)
{
  const Moebius          map(h, v);
  std::vector<ShiftPair> shifts;
  for (int j = 0; j < n; ++j) {
    const double rho = dn_of_fraction((2 * j + 1) / (2. * n), map.complementary);
    shifts.push_back({-map(-rho), map(rho)});
  }
  return shifts;
}

double wachspress_count(double kappa, double reduction)
{
  return std::log(4 * kappa) * std::log(4 / reduction) / (pi * pi);
}

std::vector<double> douglas_shifts(const Spectrum &all, int n)
{
  // from a search over n and both ends for ratios from 1e2 to 1e6: ends 2.5 a and 1.6 b, and one shift for
  // each factor of 5
  const double low = 2.5 * all.least, high = std::max(low, 1.6 * all.largest);
  if (n == 0) n = std::max(2, static_cast<int>(std::lround(0.6 * std::log(all.largest / all.least))));
  std::vector<double> shifts;
  for (int j = 0; j < n; ++j)
    shifts.push_back(n == 1 ? std::sqrt(low * high) : high * std::pow(low / high, j / (n - 1.)));
  return shifts;
}

double douglas_count(const Spectrum &all, const std::vector<double> &shifts, double reduction)
{
  const int           m = 24;
  std::vector<double> t;
  double              worst = 0;
  for (int k = 0; k < m; ++k) t.push_back(all.least * std::pow(all.largest / all.least, k / (m - 1.)));
  for (double x : t)
    for (double y : t)
      for (double z : t) {
        double product = 1;
        for (double r : shifts)
          product *= std::abs(1 - 2 * r * r * (x + y + z) / ((r + x) * (r + y) * (r + z)));
        worst = std::max(worst, product);
      }
  return worst < 1 ? static_cast<double>(shifts.size()) * std::log(reduction) / std::log(worst) : HUGE_VAL;
}

} // namespace ribbon::petsc
