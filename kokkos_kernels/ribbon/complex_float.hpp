// SPDX-License-Identifier: BSD-2-Clause
/// @file complex_float.hpp  LineSolver for Kokkos::complex<float>, with the kernels of
///   Kokkos::complex<double>.
///
///     w = b  (widened);  w = A^-1 w;  x = w  (rounded)
///
/// w is a workspace of complex<double>. Its lines have no gaps and are interleaved or contiguous, as the
/// factored lines. The library has no kernels for complex<float>: the two that convert are compiled in the
/// user's code. Every float is a double; results outside the range of float become Inf. A matrix that
/// causes such growth is singular in double.
#pragma once

#include <ribbon/line_solver.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

namespace ribbon {

/// One work item: `run` consecutive values (rows of a line, or lines of a row), converted to another
/// precision.
template <class To, class From>
struct CastLinesKernel {
  LineSet      in, out; ///< same rows and components
  const From  *from;
  To          *to;
  std::int64_t lines, first_in, first_out; ///< count of converted lines, and the first of them
  std::int64_t run, runs;                  ///< runs: per line or per row
  bool         contiguous;

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const std::int64_t outer = k / runs, begin = (k - outer * runs) * run,
                       size = contiguous ? in.rows : lines, end = size - begin < run ? size : begin + run;
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int64_t l = contiguous ? outer : e, i = contiguous ? e : outer;
      const From *const  a = from + in(first_in + l, i);
      To *const          b = to + out(first_out + l, i);
      for (int c = 0; c < in.components; ++c) {
        const From &v = a[c * in.component_stride];
        b[c * out.component_stride] =
          To(static_cast<real_t<To>>(v.real()), static_cast<real_t<To>>(v.imag()));
      }
    }
  }
};

/// Lines [first_out, first_out + lines) of `to` = lines [first_in, first_in + lines) of `from`, complex
/// scalars in another precision. Asynchronous on exec.
template <class To, class From, class Exec>
void cast_lines(const Exec &exec, const char *label, std::int64_t lines, const LineSet &in,
                std::int64_t first_in, const From *from, const LineSet &out, std::int64_t first_out, To *to)
{
  const bool contiguous = in.is_contiguous();
  // longer runs on a host: one division per run
  const std::int64_t run  = is_device_space<Exec> ? 1 : 64,
                     runs = ((contiguous ? in.rows : lines) + run - 1) / run;
  Kokkos::parallel_for(
    label, indices(exec, runs * (contiguous ? lines : in.rows)),
    CastLinesKernel<To, From>{in, out, from, to, lines, first_in, first_out, run, runs, contiguous});
}

/// Copies the entries of `from` to those of `to`, of the same extents, complex scalars in another
/// precision. Asynchronous on exec.
template <class To, class From, class Exec>
void cast_entries(const Exec &exec, const Bands<From, typename Exec::memory_space> &from,
                  const Bands<To, typename Exec::memory_space> &to)
{
  const auto as_lines = [](const auto &values) { // matrices are lines, diagonals components
    std::int64_t stride[4];
    values.stride(stride);
    return LineSet{static_cast<std::int64_t>(values.extent(1)),
                   static_cast<std::int64_t>(values.extent(0)),
                   1,
                   stride[1],
                   stride[0],
                   0,
                   0,
                   static_cast<int>(values.extent(2)),
                   stride[2]};
  };
  const auto copy = [&](const LineSet &in, const From *a, const LineSet &out, To *b) {
    cast_lines(exec, "ribbon::cast_bands", in.lines(), in, 0, a, out, 0, b);
  };
  copy(as_lines(from.values), from.values.data(), as_lines(to.values), to.values.data());
  if (from.lhs != Lhs::shifted) return;
  const auto one_line = [](const auto &values) {
    return LineSet::contiguous(static_cast<std::int64_t>(values.extent(0)), 1);
  };
  copy(one_line(from.alpha), from.alpha.data(), one_line(to.alpha), to.alpha.data());
  copy(one_line(from.beta), from.beta.data(), one_line(to.beta), to.beta.data());
}

/// The same complex matrices in another precision. Asynchronous on exec.
template <class To, class From, class Exec>
Bands<To, typename Exec::memory_space> cast_bands(const Exec                                     &exec,
                                                  const Bands<From, typename Exec::memory_space> &bands)
{
  Bands<To, typename Exec::memory_space> result;
  result.periodic = bands.periodic, result.lhs = bands.lhs, result.class_of_line = bands.class_of_line,
  result.lower = bands.lower, result.upper = bands.upper, result.block = bands.block,
  result.repeats = bands.repeats;
  result.values  = allocate<decltype(result.values)>(exec, "ribbon::bands", bands.values.extent(0),
                                                    bands.values.extent(1), bands.values.extent(2));
  if (bands.lhs == Lhs::shifted) {
    result.alpha = allocate<decltype(result.alpha)>(exec, "ribbon::bands", bands.alpha.extent(0));
    result.beta  = allocate<decltype(result.beta)>(exec, "ribbon::bands", bands.beta.extent(0));
  }
  cast_entries(exec, bands, result);
  return result;
}

/// Like the other solvers, with these differences. A solve has two kernels more. Several right-hand sides
/// per matrix use the workspace one after another, with these kernels for each. Copies share the workspace:
/// solves by a solver and its copies must follow each other on one stream; independent() makes a solver for
/// another stream. Matrices are judged in double. The default of zero_pivot and the test of zero row sums
/// use units of single precision. factor_and_solve() needs LineSolverOptions::refactors for every
/// algorithm, to make room for the widened matrices. Shapes (rows_per_thread) are those of
/// complex<double>.
template <class Exec>
class LineSolver<Kokkos::complex<float>, Exec> {
public:
  using scalar_type     = Kokkos::complex<float>;
  using execution_space = Exec;
  using memory_space    = typename Exec::memory_space;
  using bands_type      = Bands<scalar_type, memory_space>;

  LineSolver() = default;

  LineSolver(const Exec &exec, const LineSet &lines, const bands_type &bands,
             const LineSolverOptions &options = {})
      : LineSolver(exec, lines, bands, options, false)
  {
  }

  /// bytes: includes the workspace.
  const FactorReport &report() const { return state().report; }
  const LineSet      &lines() const { return lines_; }

  /// Always false: matrices must be widened first, so that the caller makes a new solver.
  bool refactor(const Exec &, const bands_type &) { return false; }

  LineSolver independent(const Exec &exec) const
  {
    LineSolver other = *this;
    if (!state_) return other;
    const auto state = std::make_shared<State>(*state_);
    state->solver    = state_->solver.independent(exec);
    state->make_room(exec);
    other.state_ = state;
    return other;
  }

  void solve(const Exec &exec, const scalar_type *b, scalar_type *x) const
  {
    solve(exec, b, lines_, x, lines_);
  }
  void solve(const Exec &exec, const scalar_type *b, const LineSet &in, scalar_type *x,
             const LineSet &out) const
  {
    solve(exec, b, in, x, out, {});
  }

  double inconsistency(const Exec &exec) const { return state().solver.inconsistency(exec); }

  /// The kernels of complex<double>, and three more (shifted matrices: five).
  /// @throws std::invalid_argument as the other solvers, without LineSolverOptions::refactors, and for one
  ///   matrix per line after shifted matrices were factored
  void factor_and_solve(const Exec &exec, const bands_type &bands, const scalar_type *b, scalar_type *x) const
  {
    Bands<Wide, memory_space> widened; // in `room`
    widened.periodic = bands.periodic, widened.lhs = bands.lhs, widened.lower = bands.lower,
    widened.upper = bands.upper, widened.block = bands.block, widened.repeats = bands.repeats;
    widened.values = decltype(widened.values)(state().room.data(), bands.values.extent(0),
                                              bands.values.extent(1), bands.values.extent(2));
    widened.alpha  = decltype(widened.alpha)(state().alpha.data(), bands.alpha.extent(0)),
    widened.beta   = decltype(widened.beta)(state().beta.data(), bands.beta.extent(0));
    state().solver.check_again(widened);
    if (lines_.unknowns() == 0) return;
    if (widened.values.size() > state().room.size())
      throw std::invalid_argument("ribbon::LineSolver: factor_and_solve: no room for these matrices of "
                                  "complex<float>; ask for refactors, with matrices of this kind and width");
    cast_entries(exec, bands, widened);
    cast_lines(exec, "ribbon::widen", lines_.lines(), lines_, 0, b, state().lines, 0,
               state().unknowns.data());
    state().solver.factor_and_solve(exec, widened, state().unknowns.data(), state().unknowns.data());
    cast_lines(exec, "ribbon::round", lines_.lines(), state().lines, 0, state().unknowns.data(), lines_, 0,
               x);
  }

private:
  using Wide       = Kokkos::complex<double>;
  using WideSolver = LineSolver<Wide, Exec>;
  using Words      = Kokkos::View<Wide *, memory_space>;
  friend struct Segments;

  LineSolver(const Exec &exec, const LineSet &lines, const bands_type &bands,
             const LineSolverOptions &options, bool continued)
      : lines_(lines)
  {
    const auto state         = std::make_shared<State>();
    auto       in_double     = options;
    in_double.single_entries = true;
    state->lines             = lines.without_gaps();
    state->solver = WideSolver(exec, state->lines, cast_bands<Wide>(exec, bands), in_double, continued);
    state->lhs = bands.lhs, state->reach = std::max(1, bands.half_bandwidth()), state->block = bands.block;
    state->continued = continued, state->refactors = options.refactors;
    state->make_room(exec);
    state_ = state;
  }

  /// Five kernels per right-hand side if known.values is given and known.stored is not zero.
  void solve(const Exec &exec, const scalar_type *b, const LineSet &in, scalar_type *x, const LineSet &out,
             const KnownRows<scalar_type> &known) const
  {
    state().solver.check_lines(in, out);
    const std::int64_t at_once = lines_.lines(), reach = state().reach;
    Wide *const w = state().unknowns.data(), *const beside = state().beside.data();
    if (in.unknowns() == 0) return;
    for (std::int64_t first = 0; first < in.lines(); first += at_once) {
      KnownRows<Wide> widened;
      const bool      between = state().continued && known.values;
      cast_lines(exec, "ribbon::widen", at_once, in, first, b, state().lines, 0, w);
      if (between) {
        widened.values = beside + reach * at_once, widened.lines = LineSet::interleaved(2 * reach, at_once);
        LineSet from = known.lines;
        from.rows = 2 * reach, from.components = 1, from.offset -= reach * from.row_stride;
        cast_lines(exec, "ribbon::widen", at_once, from, first, known.values, widened.lines, 0, beside);
      }
      state().solver.solve(exec, w, state().lines, w, state().lines, widened);
      cast_lines(exec, "ribbon::round", at_once, state().lines, 0, w, out, first, x);
      if (between && known.stored > 0) {
        LineSet from = widened.lines, behind = out;
        from.rows = behind.rows = known.stored, behind.offset += out.rows * out.row_stride;
        cast_lines(exec, "ribbon::round", at_once, from, 0, widened.values, behind, first, x);
      }
    }
  }

  bool joins() const { return false; }

  struct State {
    WideSolver solver;
    LineSet    lines; ///< of the workspace
    Lhs        lhs   = Lhs::shared;
    int        reach = 1, block = 1;
    bool       continued = false, refactors = false;
    /// beside: the known rows of continued lines, `reach` before and `reach` after each line
    Words        unknowns, beside;
    Words        room, alpha, beta; ///< of factor_and_solve(); room: entries
    FactorReport report;

    void make_room(const Exec &exec)
    {
      const auto count = static_cast<std::size_t>(lines.lines()), n = static_cast<std::size_t>(lines.rows),
                 width = static_cast<std::size_t>((2 * reach + 1) * block * block);
      unknowns = allocate<Words>(exec, "ribbon::workspace", static_cast<std::size_t>(lines.unknowns()));
      beside   = allocate<Words>(exec, "ribbon::workspace",
                               continued ? static_cast<std::size_t>(2 * reach) * count : 0);
      room     = allocate<Words>(
        exec, "ribbon::workspace",
        refactors ? (lhs == Lhs::shifted ? 2 : std::max<std::size_t>(count, 2)) * n * width : 0);
      alpha  = allocate<Words>(exec, "ribbon::workspace", refactors ? count : 0);
      beta   = allocate<Words>(exec, "ribbon::workspace", refactors ? count : 0);
      report = solver.report();
      report.bytes +=
        (unknowns.size() + beside.size() + room.size() + alpha.size() + beta.size()) * sizeof(Wide);
    }
  };

  const State &state() const
  {
    if (!state_) throw std::logic_error("ribbon::LineSolver: nothing has been factored");
    return *state_;
  }

  LineSet                      lines_;
  std::shared_ptr<const State> state_;
};

} // namespace ribbon
