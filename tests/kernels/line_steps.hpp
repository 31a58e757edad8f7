// SPDX-License-Identifier: BSD-2-Clause
/// @file line_steps.hpp  Problems u <- A^-1 (B u + D p(u) + g) of LineStepper, their steps on the device, and
///   steps with dense matrices on the host.
#pragma once

#include "line_products.hpp"

#include <ribbon/templates/step_with.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace test::line_steps {

using ribbon::Lhs;
using ribbon::LineSet;

/// Half-bandwidths of A, B and D (-1: no D), and how many matrices a batch has.
struct Case {
  int  a, b, d;
  bool periodic, stencil;
  Lhs  lhs = Lhs::shared;
};

inline std::ostream &operator<<(std::ostream &out, const Case &c)
{
  return out << "A " << c.a << ", B " << c.b << ", D " << c.d << " " << to_string(c.lhs)
             << (c.periodic ? ", ring" : ", open") << (c.stencil ? ", stencil" : "");
}

struct Setting {
  std::string algorithm = "auto";
  int         layout = 0, steps = 3;
  bool        in_place = true, with_g = false;
  int         every  = 0;     ///< sums; 0: none
  bool        scaled = false; ///< g has a factor for each line
};

template <class Scalar>
struct Problem {
  using Real = ribbon::real_t<Scalar>;
  HostBands<Scalar>         A, B, D;
  LineSet                   set;
  std::vector<Scalar>       u, g, g_scale; ///< g: of two steps
  ribbon::StepTerms<Scalar> terms;

  Problem(const Case &c, std::int64_t n, std::int64_t lines, int layout, std::uint64_t seed)
      : set(places(layout, n, lines))
  {
    std::mt19937_64 random(seed);
    const auto      batch = [&](int reach, double factor) {
      auto bands = random_batch<Scalar>(random, n, lines, reach, reach, c.periodic, c.lhs, c.stencil);
      for (std::size_t k = 0; k < bands.values.size(); ++k)
        bands.values.data()[k] *= static_cast<Scalar>(static_cast<Real>(factor));
      return bands;
    };
    A = batch(c.a, 1), B = batch(c.b, 0.3);
    if (c.d >= 0) D = batch(c.d, 0.3);
    B.class_of_line = D.class_of_line = A.class_of_line;
    std::size_t all                   = 0;
    for (std::int64_t l = 0; l < lines; ++l) all = std::max(all, static_cast<std::size_t>(set(l, n - 1)) + 1);
    u                = random_values<Scalar>(random, all);
    g                = random_values<Scalar>(random, static_cast<std::size_t>(2 * n));
    g_scale          = random_values<Scalar>(random, static_cast<std::size_t>(lines));
    const double p[] = {0.1, 0.2, -0.1, 0.05, 0.02, -0.01};
    for (std::size_t k = 0; k < 6; ++k) terms.p[k] = Scalar(static_cast<Real>(p[k]));
  }
};

/// A state of all lines, and the sums after every step.
template <class Scalar>
struct Result {
  std::vector<Scalar> u, sums;
};

template <class Scalar>
using Energy = std::function<Scalar(Scalar, Scalar, std::int64_t)>;

/// A step of all lines on the host, with dense matrices.
template <class Scalar>
void reference_step(const Problem<Scalar> &P, const Scalar *g, bool scaled, std::vector<Scalar> &u)
{
  auto mapped = u;
  for (std::size_t k = 0; k < u.size(); ++k) {
    Scalar sum(0);
    for (int e = 5; e >= 0; --e) sum = sum * u[k] + P.terms.p[static_cast<std::size_t>(e)];
    mapped[k] = sum;
  }
  const auto own = expanded(P.A);
  auto       to  = u;
  for (std::int64_t l = 0; l < P.set.lines(); ++l) {
    const std::int64_t  m = matrix_of(own, l);
    std::vector<Scalar> f(static_cast<std::size_t>(P.set.rows));
    for (std::int64_t i = 0; i < P.set.rows; ++i) {
      auto &sum = f[static_cast<std::size_t>(i)];
      sum       = product(P.B, m, P.set, u, l, i).first;
      if (P.D.values.size()) sum += product(P.D, m, P.set, mapped, l, i).first;
      if (g) sum += scaled ? P.g_scale[static_cast<std::size_t>(l)] * g[i] : g[i];
    }
    const auto x = ribbon::reference::solve(ribbon::reference::dense(own, m), f);
    for (std::int64_t i = 0; i < P.set.rows; ++i)
      to[static_cast<std::size_t>(P.set(l, i))] = x[static_cast<std::size_t>(i)];
  }
  u = to;
}

template <class Scalar>
Result<Scalar> reference(const Problem<Scalar> &P, const Setting &run, const Energy<Scalar> &energy = nullptr)
{
  Result<Scalar> result{P.u, {}};
  for (int s = 0; s < run.steps; ++s) {
    reference_step(P, run.with_g ? P.g.data() + s % 2 * P.set.rows : nullptr, run.scaled, result.u);
    if (run.every == 0 || (s + 1) % run.every != 0) continue;
    std::vector<Scalar> sums(static_cast<std::size_t>(3 * P.set.lines()), Scalar(0));
    for (std::int64_t l = 0; l < P.set.lines(); ++l)
      for (std::int64_t i = 0; i < P.set.rows; ++i) {
        const auto value = result.u[static_cast<std::size_t>(P.set(l, i))];
        const auto next  = i + 1 < P.set.rows ? i + 1 : P.A.periodic ? 0 : i;
        sums[static_cast<std::size_t>(l)] += value;
        sums[static_cast<std::size_t>(P.set.lines() + l)] += value * value;
        if (energy)
          sums[static_cast<std::size_t>(2 * P.set.lines() + l)] +=
            energy(value, result.u[static_cast<std::size_t>(P.set(l, next))], i);
      }
    result.sums.insert(result.sums.end(), sums.begin(), sums.end());
  }
  return result;
}

template <class Scalar>
ribbon::LineStepper<Scalar, Exec> stepper_of(const Problem<Scalar> &P, const std::string &algorithm)
{
  ribbon::LineStepperOptions options;
  options.algorithm = algorithm;
  return {Exec(),
          P.set,
          to_device(P.A),
          to_device(P.B),
          P.D.values.size() ? to_device(P.D) : ribbon::Bands<Scalar, Memory>(),
          options};
}

struct BuiltIn { };

/// Steps with the polynomial of the problem, or with functions.
template <class Scalar, class Function = BuiltIn, class E = ribbon::NoEnergy>
Result<Scalar> computed(const ribbon::LineStepper<Scalar, Exec> &stepper, const Problem<Scalar> &P,
                        const Setting &run, const Function &function = {}, const E &energy = {})
{
  const auto from = upload(P.u), to = run.in_place ? from : upload(P.u), g = upload(P.g),
             g_scale = upload(P.g_scale);
  const auto sums    = upload(std::vector<Scalar>(
    static_cast<std::size_t>(run.every ? run.steps / run.every * 3 * P.set.lines() : 0), Scalar(7)));
  auto       terms   = P.terms;
  if (run.with_g) terms.g = g.data(), terms.g_steps = 2;
  if (run.scaled) terms.g_scale = g_scale.data();
  if (run.every) terms.sums = {sums.data(), run.every};
  if constexpr (std::is_same_v<Function, BuiltIn>)
    stepper.step(Exec(), run.steps, from.data(), P.set, to.data(), P.set, terms);
  else
    ribbon::step_with(Exec(), stepper, run.steps, from.data(), P.set, to.data(), P.set, terms, function,
                      energy);
  Kokkos::fence();
  const auto host = [](const auto &view) {
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    return std::vector<Scalar>(mirror.data(), mirror.data() + mirror.size());
  };
  return {host(to), host(sums)};
}

template <class Scalar>
void expect_near(const std::vector<Scalar> &a, const std::vector<Scalar> &b, const char *what)
{
  ASSERT_EQ(a.size(), b.size());
  double error = 0, size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double e = static_cast<double>(ribbon::magnitude(a[k] - b[k]));
    if (!(e <= error)) error = e;
    size = std::max(size, static_cast<double>(ribbon::magnitude(b[k])));
  }
  EXPECT_LE(error, 1000 * static_cast<double>(ribbon::unit_roundoff<Scalar>()) * size) << what;
}

inline constexpr Case cases[] = {{1, 1, -1, false, true},
                                 {1, 1, 1, true, true},
                                 {2, 2, -1, true, true},
                                 {2, 2, 1, false, true},
                                 {1, 3, 2, true, true},
                                 {2, 3, 3, false, false},
                                 {1, 2, -1, false, false},
                                 {2, 1, 1, true, false, Lhs::classes},
                                 {1, 3, -1, false, false, Lhs::classes}};

} // namespace test::line_steps
