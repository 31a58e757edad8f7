// SPDX-License-Identifier: BSD-2-Clause
/// @file wide_plan.hpp  Shape, matrices and launch of the one-pass kernel for one matrix with wide bands or
///   blocks per line.
#pragma once

#include <ribbon/algorithm/in_flight/wide.hpp>
#include <ribbon/bands.hpp>
#include <ribbon/algorithm/choice.hpp>

#include <algorithm>

namespace ribbon {

/// One-pass solver of one matrix per line, or of alpha_l A + beta_l B: half-bandwidth K, or blocks of B. It
/// stores the matrices without factors and eliminates them in every solve.
template <class Scalar, class Exec, int K, int B>
class OnePassWide {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;
  using Kernel = OnePassWideKernel<Scalar, K, B>;

  /// Shape of the kernel for lines of this layout, from the table unless the caller gives one. split.chunks
  /// == 0 if no tile fits the scratch of a team.
  static OnePassShape choose(const Exec &exec, const LineSet &lines, bool periodic, bool shifted,
                             int rows_per_thread, int lines_per_team)
  {
    OnePassShape s;
    s.ring   = periodic;
    s.staged = lines.is_contiguous();
    if (lines.rows > 16384) return s;
    const int         n     = static_cast<int>(lines.rows);
    const std::size_t limit = device::scratch_limit(exec);
    const choice::Key key{K, B, s.staged ? choice::Layout::contiguous : choice::Layout::interleaved,
                          shifted ? choice::Source::shifted : choice::Source::per_line};
    const int         measured = choice::measured(key, n).rows_per_thread,
              rows             = std::min(n, rows_per_thread ? rows_per_thread
                                             : measured      ? measured
                                                             : 16 / B);
    s.split                    = ChunkSplit::in_flight(n, K, rows, periodic);
    s.pitch                    = packed_pitch<Scalar>(n * B);
    s.lane_bits                = s.staged ? 4 : 5;
    Kernel     k;
    const auto needs = [&] { return k.set_shape(s), k.scratch(); };
    const auto fits  = [&] { return s.threads() <= Kernel::max_threads && needs() <= limit; };
    // two teams per multiprocessor, but at least 64 bytes of a row
    while (s.lane_bits > 0 && (!fits() || (needs() > limit / 2 - 1024 && s.lane_bits > 3))) --s.lane_bits;
    for (int bits = 0; lines_per_team >> bits; ++bits) s.lane_bits = std::min(bits, 5);
    if (!fits()) s.split.chunks = 0;
    return s;
  }

  /// Copies the matrices.
  OnePassWide(const Exec &exec, const Input &bands, const OnePassShape &shape)
      : bands_(copy(exec, bands)), shape_(shape)
  {
    exec.fence();
  }

  std::size_t bytes() const
  {
    return (bands_.values.size() + bands_.alpha.size() + bands_.beta.size()) * sizeof(Scalar);
  }
  const OnePassShape &shape() const { return shape_; }

  /// x = A^-1 b for all lines. Asynchronous on exec. In place if b == x and both layouts agree.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out) const
  {
    solve(exec, bands_, b, in, x, out);
  }

  /// The same for lines whose matrices are those of the lines from `first` on.
  void solve_lines(const Exec &exec, std::int64_t first, const Scalar *b, const LineSet &in, Scalar *x,
                   const LineSet &out) const
  {
    run(exec, of(bands_, first), b, in, x, out);
  }

  /// The same with matrices of other values.
  void solve(const Exec &exec, const Input &bands, const Scalar *b, const LineSet &in, Scalar *x,
             const LineSet &out) const
  {
    run(exec, of(bands, 0), b, in, x, out);
  }

private:
  static MatricesInFlight<Scalar> of(const Input &bands, std::int64_t first)
  {
    MatricesInFlight<Scalar> m{bands.values.data(), nullptr,    nullptr,   bands.matrices(),
                               bands.rows(),        bands.kl(), bands.ku()};
    if (bands.lhs == Lhs::shifted) m.alpha = bands.alpha.data() + first, m.beta = bands.beta.data() + first;
    else m.values += first;
    return m;
  }

  void run(const Exec &exec, const MatricesInFlight<Scalar> &matrices, const Scalar *b, const LineSet &in,
           Scalar *x, const LineSet &out) const
  {
    Kernel k;
    k.set_shape(shape_);
    k.matrices = matrices, k.b = b, k.x = x, k.in = in, k.out = out, k.lines = in.lines();
    if (B == 1 && !shape_.staged && out.stride0 == 1)
      k.shift = static_cast<int>(reinterpret_cast<std::uintptr_t>(x + out.offset) / sizeof(Scalar) %
                                 static_cast<std::uintptr_t>(shape_.lanes()));
    const std::size_t states =
      is_device_space<Exec> ? 0 : static_cast<std::size_t>(shape_.threads()) * sizeof(typename Kernel::State);
    device::launch(
      exec, "ribbon::one_pass",
      {(k.lines + k.shift + shape_.lanes() - 1) / shape_.lanes(), shape_.threads(), k.scratch() + states}, k);
  }

  Input        bands_;
  OnePassShape shape_;
};

} // namespace ribbon
