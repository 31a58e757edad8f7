// SPDX-License-Identifier: BSD-2-Clause
/// @file weno.hpp  The weighted essentially non-oscillatory interpolation of fifth order.
#pragma once

#include <Kokkos_Core.hpp>

namespace ch_lines {

/// Three parabolas through five values, combined with weights that are small where a parabola oscillates
/// (Jiang & Shu 1996). With one-sided differences of u, ordered from upwind, this is the Hamilton-Jacobi
/// derivative (Jiang & Peng 2000). With values of u, this is the value at the face behind the third.
/// @tparam Pack  a double, or neighbouring lines
template <class Pack>
KOKKOS_INLINE_FUNCTION void weno5(const Pack (&v)[5], Pack &result)
{
  const Pack d0 = v[0] - 2. * v[1] + v[2], e0 = v[0] - 4. * v[1] + 3. * v[2], d1 = v[1] - 2. * v[2] + v[3],
             e1 = v[1] - v[3], d2 = v[2] - 2. * v[3] + v[4], e2 = 3. * v[2] - 4. * v[3] + v[4],
             // relative to the values, so that the weights do not depend on units
    tiny        = 1e-6 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3] + v[4] * v[4]) + 1e-40,
             b0 = 13. / 12 * d0 * d0 + .25 * e0 * e0 + tiny, b1 = 13. / 12 * d1 * d1 + .25 * e1 * e1 + tiny,
             b2 = 13. / 12 * d2 * d2 + .25 * e2 * e2 + tiny;
  // 0.1 / b0^2, 0.6 / b1^2, 0.3 / b2^2, multiplied by (b0 b1 b2)^2: one division
  const Pack w0 = .1 * (b1 * b2) * (b1 * b2), w1 = .6 * (b0 * b2) * (b0 * b2),
             w2 = .3 * (b0 * b1) * (b0 * b1);
  result        = (w0 * (2. * v[0] - 7. * v[1] + 11. * v[2]) + w1 * (5. * v[2] - v[1] + 2. * v[3]) +
            w2 * (2. * v[2] + 5. * v[3] - v[4])) /
           (6. * (w0 + w1 + w2));
}

} // namespace ch_lines
