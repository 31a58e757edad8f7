// SPDX-License-Identifier: BSD-2-Clause
#include "wmethod.hpp"

#include <cmath>
#include <complex>
#include <iterator>

namespace ribbon::petsc {

namespace {

/// Converts from k to y: the tables alpha_ij, gamma_ij, b, e and dense output of the usual form, U+ = U +
/// sum b_i k_i.
struct UsualForm {
  int       stages;
  PetscReal alpha[max_stages][max_stages], gamma[max_stages][max_stages], b[max_stages], e[max_stages],
    dense[max_stages][3];
};

WMethod transformed(const UsualForm &k)
{
  WMethod   m;
  const int s                               = k.stages;
  PetscReal inverse[max_stages][max_stages] = {}; // of gamma, lower triangular
  for (int i = 0; i < s; ++i) {
    for (int j = 0; j <= i; ++j) {
      PetscReal sum = i == j;
      for (int l = j; l < i; ++l) sum -= k.gamma[i][l] * inverse[l][j];
      inverse[i][j] = sum / k.gamma[i][i];
    }
  }
  m.stages = s, m.gamma = k.gamma[0][0];
  for (int i = 0; i < s; ++i) {
    for (int j = 0; j < i; ++j) {
      m.alpha[i] += k.alpha[i][j];
      m.z[i][j] = inverse[i][j];
      for (int l = j; l < i; ++l) m.a[i][j] += k.alpha[i][l] * inverse[l][j];
    }
    for (int j = 0; j <= i; ++j) m.gamma_ij[i][j] = k.gamma[i][j];
    m.c[i] = m.alpha[i];
    for (int l = i; l < s; ++l) {
      m.b[i] += k.b[l] * inverse[l][i];
      m.e[i] += k.e[l] * inverse[l][i];
      for (int p = 0; p < 3; ++p) m.dense[i][p] += k.dense[l][p] * inverse[l][i];
    }
  }
  return m;
}

/// Literals in the precision of PETSc.
constexpr PetscReal operator""_r(long double value)
{
  return static_cast<PetscReal>(value);
}

using Complex = std::complex<PetscReal>;

/// |R| for the eigenvalues z_d.
PetscReal growth(const WMethod &m, int directions, const Complex z[])
{
  Complex sum = 0, product = 1, y[max_stages], U = 1;
  for (int d = 0; d < directions; ++d) sum += z[d], product *= PetscReal(1) - m.gamma * z[d];
  for (int i = 0; i < m.stages; ++i) {
    Complex Y = 1, before = 0;
    for (int j = 0; j < i; ++j) Y += m.a[i][j] * y[j], before += m.z[i][j] * y[j];
    y[i] = m.gamma * (sum * Y - before) / product;
    U += m.b[i] * y[i];
  }
  return std::abs(U);
}

} // namespace

PetscReal amplification(const WMethod &m, int directions, const PetscReal transport[],
                        const PetscReal damping[], const PetscReal mass[])
{
  // waves of 2 to 50 points, and constants
  constexpr PetscReal phases[] = {0, PETSC_PI, 2.5, 1.875, 1.25, 0.75, 0.4375, 0.25, 0.125};
  constexpr int       n = static_cast<int>(std::size(phases)), values = 2 * n - 1;
  int                 choices[3] = {1, 1, 1};
  PetscReal           largest    = 0;
  const auto          value      = [&](int d, int k) { // the conjugates follow
    const PetscReal phase = phases[k < n ? k : k - n + 1], sign = k < n ? 1 : -1;
    const PetscReal wave = 1 - PetscCosReal(phase), divisor = mass ? 1 - mass[d] * wave : 1;
    return Complex(-damping[d] * wave, sign * transport[d] * PetscSinReal(phase)) / divisor;
  };
  for (int d = 0; d < directions; ++d) choices[d] = d == 0 || transport[d] == 0 ? n : values;
  for (int k = 0; k < choices[0] * choices[1] * choices[2]; ++k) {
    const int at[3] = {k % choices[0], k / choices[0] % choices[1], k / (choices[0] * choices[1])};
    Complex   z[3];
    for (int d = 0; d < directions; ++d) z[d] = value(d, at[d]);
    largest = PetscMax(largest, growth(m, directions, z));
  }
  return largest;
}

WMethod theta_method(PetscReal theta)
{
  WMethod m = transformed({1, {}, {{theta}}, {1}, {}, {}});
  m.order   = theta == 0.5 ? 2 : 1;
  m.c[0]    = theta;
  return m;
}

WMethod hundsdorfer_verwer(PetscReal theta)
{
  WMethod m = transformed({2, {{0}, {1, 0}}, {{theta}, {-2 * theta, theta}}, {0.5, 0.5}, {1, 0}, {}});
  m.order = 2, m.embeds = true;
  return m;
}

WMethod ra34pw2()
{
  const PetscReal g = 4.3586652150845900e-01_r;
  WMethod         m = transformed(
            {4,
             {{0}, {8.7173304301691801e-01_r}, {8.4457060015369423e-01_r, -1.1299064236484185e-01_r}, {0, 0, 1}},
             {{g},
              {-8.7173304301691801e-01_r, g},
              {-9.0338057013044082e-01_r, 5.4180672388095326e-02_r, g},
              {2.4212380706095346e-01_r, -1.2232505839045147e+00_r, 5.4526025533510214e-01_r, g}},
             {2.4212380706095346e-01_r, -1.2232505839045147e+00_r, 1.5452602553351020e+00_r, g},
             {3.7810903145819369e-01_r, -9.6042292212423178e-02_r, 5.0000000000000000e-01_r,
              2.1793326075422950e-01_r},
             {{1.0564298455794094_r, -1.3864882699759573_r, 0.5721822314575016_r},
              {2.296429974281067_r, -8.262611700275677_r, 4.742931142090097_r},
              {-1.307599564525376_r, 7.250979895056055_r, -4.398120075195578_r},
              {-1.045260255335102_r, 2.398120075195581_r, -0.9169932983520199_r}}});
  m.order = 3, m.embeds = true, m.has_dense = true;
  return m;
}

} // namespace ribbon::petsc
