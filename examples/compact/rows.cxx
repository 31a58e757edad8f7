// SPDX-License-Identifier: BSD-2-Clause
#include "peers.hpp"

TridiagonalRows OpenRows(const Scheme &scheme, Index n, PetscReal h)
{
  const auto      size = static_cast<std::size_t>(n);
  TridiagonalRows rows;
  rows.n = n;
  rows.lower.assign(size, static_cast<PetscReal>(scheme.alpha));
  rows.diagonal.assign(size, 1);
  rows.upper     = rows.lower;
  rows.product   = {};
  const auto set = [&](std::size_t place, std::size_t row, const Scheme &s) {
    double c[3];
    RightHandSide(&s, c);
    for (std::size_t k = 1; k <= 3; ++k)
      for (int sign : {-1, 1})
        rows.product[place][sign > 0 ? 3 + k : 3 - k] = static_cast<PetscReal>(sign * c[k - 1]) / h;
    rows.lower[row] = rows.upper[row] = static_cast<PetscReal>(s.alpha);
  };
  set(3, 3, scheme);
  rows.reach = scheme.c != 0 ? 3 : scheme.b != 0 ? 2 : 1;
  for (bool last : {false, true}) {
    const auto place = [&](std::size_t i) { return last ? 6 - i : i; };
    const auto row   = [&](std::size_t i) { return last ? size - 1 - i : i; };
    // f'_0 + 3 f'_1 = (-17/6 f_0 + 3/2 f_1 + 3/2 f_2 - 1/6 f_3) / h (Lele, section 4)
    const double ends[4] = {-17. / 6, 3. / 2, 3. / 2, -1. / 6};
    for (std::size_t d = 0; d < 4; ++d)
      rows.product[place(0)][last ? 3 - d : 3 + d] = static_cast<PetscReal>(last ? -ends[d] : ends[d]) / h;
    rows.lower[row(0)] = rows.upper[row(0)]  = 0;
    (last ? rows.lower : rows.upper)[row(0)] = 3;
    set(place(1), row(1), schemes[FIRST_4]);
    set(place(2), row(2), rows.reach == 3 ? schemes[FIRST_6] : scheme);
  }
  return rows;
}
