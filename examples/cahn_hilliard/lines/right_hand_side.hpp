// SPDX-License-Identifier: BSD-2-Clause
/// @file right_hand_side.hpp  The explicit part of a time step on a batch of interleaved lines.
#pragma once

#include "equation.hpp"
#include "weno.hpp"

#include <ribbon/host/vectors.hpp>

namespace ch_lines {

using Exec  = Kokkos::DefaultExecutionSpace;
using Index = std::int64_t;

/// The lines that a work item sweeps together: neighbours in a vector register on a host.
using Pack = std::conditional_t<ribbon::is_device_space<Exec>, double, ribbon::host::PackOf<double>::type>;
constexpr int pack_lines = static_cast<int>(sizeof(Pack) / sizeof(double));

/// Steps of the form A C_next = C + dt R, or A (C_next - C) = dt R with all terms on the right-hand side. The
/// second form conserves the mean to rounding for any entries of A.
enum class Form { state, increment };

/// right = C + dt (q_xx + v C_x + f cos), q = C^3 - (1 + S) C; or the same of the increment, with
/// q = C^3 - C - gamma C_xx. A work item sweeps rows of a pack of lines with the last seven rows in registers.
/// @tparam advection  the explicit or the implicit term; not used without a speed
template <Advection advection>
struct RightHandSide {
  static constexpr Index chunk = 32; ///< rows of a work item, which reads six more

  Index         lines, rows; ///< lines: a multiple of pack_lines
  const double *u;
  const double *forcing, *profile; ///< of the lines: f, of the rows: dt cos(k x)
  double       *right;
  double        over_h2;  ///< dt / h^2
  double        gamma_h2; ///< gamma / h^2; form of the state: 0
  double        factor;   ///< 1, or 1 + S
  double        courant;  ///< dt v / h
  double        of_now;   ///< 1; form of the increment: 0

  RightHandSide(const Equation &e, Form form, Index lines_, const double *u_, const double *forcing_,
                const double *profile_, double *right_)
      : lines(lines_), rows(e.rows), u(u_), forcing(forcing_), profile(profile_), right(right_),
        over_h2(e.dt / (e.spacing() * e.spacing())),
        gamma_h2(form == Form::increment ? e.gamma / (e.spacing() * e.spacing()) : 0),
        factor(form == Form::increment ? 1 : 1 + e.stabilization), courant(e.dt * e.speed / e.spacing()),
        of_now(form == Form::increment ? 0 : 1)
  {
  }

  Index items() const { return lines / pack_lines * ((rows + chunk - 1) / chunk); }

  KOKKOS_FUNCTION void load(Index row, Index line, Pack &value) const
  {
    const Index around = row < 0 ? row + rows : row < rows ? row : row - rows;
    ribbon::host::load_pack(u + around * lines + line, value);
  }
  KOKKOS_FUNCTION void potential(const Pack &before, const Pack &at, const Pack &after, Pack &q) const
  {
    q = at * (at * at - factor) - gamma_h2 * (before - 2. * at + after);
  }

  /// The value at the face behind row i, upwind. w: rows i - 3 to i + 3
  KOKKOS_FUNCTION void face(const Pack (&w)[7], Pack &value) const
  {
    Pack v[5];
    for (int j = 0; j < 5; ++j) v[j] = courant > 0 ? w[6 - j] : w[j + 1];
    weno5(v, value);
  }
  /// h C_x in row i.
  KOKKOS_FUNCTION void slope(const Pack (&w)[7], Pack &value) const
  {
    if constexpr (advection == Advection::central) value = (8. * (w[4] - w[2]) - (w[5] - w[1])) * (1. / 12);
    else {
      Pack v[5];
      for (int j = 0; j < 5; ++j) v[j] = courant > 0 ? w[6 - j] - w[5 - j] : w[j + 1] - w[j];
      weno5(v, value);
    }
  }

  KOKKOS_FUNCTION void sweep(Index line, Index begin, Index end) const
  {
    Pack w[7], q[3], faces[2] = {}, strength = {};
    for (int j = 0; j < 7; ++j) load(begin - 4 + j, line, w[j]); // the window of row begin - 1
    potential(w[2], w[3], w[4], q[0]);
    potential(w[3], w[4], w[5], q[1]);
    const bool moves = courant != 0 && (advection != Advection::central || of_now == 0);
    if (advection == Advection::flux && moves) face(w, faces[0]);
    if (forcing) ribbon::host::load_pack(forcing + line, strength);
    for (Index i = begin; i < end; ++i) {
      for (int j = 0; j < 6; ++j) w[j] = w[j + 1];
      load(i + 3, line, w[6]);
      potential(w[3], w[4], w[5], q[2]);
      Pack sum = of_now * w[3] + over_h2 * (q[0] - 2. * q[1] + q[2]);
      if (moves) {
        Pack change;
        if constexpr (advection == Advection::flux) {
          face(w, faces[1]);
          change   = faces[1] - faces[0];
          faces[0] = faces[1];
        } else slope(w, change);
        sum += courant * change;
      }
      if (forcing) sum += profile[i] * strength;
      ribbon::host::store_pack(sum, right + i * lines + line, false);
      q[0] = q[1], q[1] = q[2];
    }
  }

  KOKKOS_FUNCTION void operator()(Index k) const
  {
    const Index packs = lines / pack_lines, line = k % packs * pack_lines, begin = k / packs * chunk,
                end = begin + chunk < rows ? begin + chunk : rows;
    ribbon::host::with_widest_vectors([&] { sweep(line, begin, end); });
  }
};

/// u += increment.
struct AddIncrement {
  double              *u;
  const double        *increment;
  KOKKOS_FUNCTION void operator()(Index k) const { u[k] += increment[k]; }
};

} // namespace ch_lines
