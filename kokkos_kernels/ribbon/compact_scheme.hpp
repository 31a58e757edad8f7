// SPDX-License-Identifier: BSD-2-Clause
/// @file compact_scheme.hpp  Compact finite differences, filters and interpolations: the rows of A and B in
///   y = A^-1 B u (line_operator.hpp).
#pragma once

#include <ribbon/bands.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace ribbon {

/// Places of values and results of a scheme. Index i of the half points is the point i + 1/2.
enum class Staggered {
  none,    ///< values and results at the points i
  forward, ///< values at the points i, results at i + 1/2
  backward ///< values at i + 1/2, results at the points i
};

/// A scheme of S. K. Lele, Compact finite difference schemes with spectral-like resolution, J. Comput. Phys.
/// 103 (1992), 16-42.
struct CompactChoice {
  int derivative = 1; ///< 1, 2, or 0: an interpolation if staggered, otherwise a filter
  /// 4, 6, 8, 10 of derivatives at the points (eqs. 2.1 and 2.2); 6 of staggered schemes and filters
  int       order     = 6;
  Staggered staggered = Staggered::none;
  double    filter    = 0.45; ///< a of a filter, 0 <= a < 1/2: it damps less the closer a is to 1/2
  bool      periodic  = true;
  int       ends      = 4; ///< order of the end rows of open lines, 3 or 4 (section 4)
  double    spacing   = 1; ///< h
};

/// Rows of a matrix that is Toeplitz except for its first and last rows. Entry d of a row multiplies the
/// unknown i + d - lower.
template <class Scalar>
struct StencilRows {
  int                              lower = 0, upper = 0; ///< half-bandwidths
  std::vector<Scalar>              interior;             ///< lower + upper + 1 entries
  std::vector<std::vector<Scalar>> first, last;          ///< each with as many

  /// Row i of a matrix of n rows.
  const std::vector<Scalar> &row(std::int64_t i, std::int64_t n) const
  {
    const auto count = static_cast<std::int64_t>(first.size()),
               begin = n - static_cast<std::int64_t>(last.size());
    return i < count    ? first[static_cast<std::size_t>(i)]
           : i >= begin ? last[static_cast<std::size_t>(i - begin)]
                        : interior;
  }
};

/// The operator A^-1 B on lines of any length.
template <class Scalar>
struct CompactScheme {
  StencilRows<Scalar> A, B;
  bool                periodic   = false;
  std::int64_t        least_rows = 1; ///< of a line
};

/// A and B for lines of one length.
template <class Scalar, class MemorySpace>
struct CompactBands {
  Bands<Scalar, MemorySpace> A, B;
};

/// Sizes of coefficients. Their products with values of moderate size neither overflow nor underflow.
struct ScaleRange {
  double least, most;
  bool   contains(double x) const { return std::abs(x) >= least && std::abs(x) <= most; } ///< false for NaN
};
template <class Scalar>
ScaleRange scale_range()
{
  using limits = std::numeric_limits<real_t<Scalar>>;
  return {static_cast<double>(limits::min()) / static_cast<double>(limits::epsilon()),
          static_cast<double>(limits::max()) * static_cast<double>(limits::epsilon())};
}

/// There is no such scheme.
struct NoCompactScheme : std::invalid_argument {
  enum class Of { choice, spacing };
  NoCompactScheme(Of refused, const std::string &reason, const std::string &message)
      : std::invalid_argument(message), of(refused), why(reason)
  {
  }
  Of          of;
  std::string why; ///< what() without its beginning
};

namespace detail {

[[noreturn]] inline void refuse_scheme(NoCompactScheme::Of of, const std::string &why)
{
  const std::string what = "ribbon::compact_scheme: " + why;
  throw NoCompactScheme(of, why, what);
}
[[noreturn]] inline void refuse_scheme(const std::string &why)
{
  refuse_scheme(NoCompactScheme::Of::choice, why);
}

inline std::string short_text(double x)
{
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

/// a1, a2: off-diagonal entries of A. c: those of B.
struct CompactRow {
  int    derivative, order;
  bool   staggered;
  double a1, a2, c1, c2, c3;
};

/// f' and f'' of eqs. (2.1), (2.2) with the coefficients of the highest order; staggered f' and
/// interpolation of appendix B.
constexpr CompactRow compact_table[] = {
  {1, 4, false, 1. / 4, 0, 3. / 4, 0, 0},
  {1, 6, false, 1. / 3, 0, 7. / 9, 1. / 36, 0},
  {1, 8, false, 3. / 8, 0, 25. / 32, 1. / 20, -1. / 480},
  {1, 10, false, 1. / 2, 1. / 20, 17. / 24, 101. / 600, 1. / 600},
  {2, 4, false, 1. / 10, 0, 6. / 5, 0, 0},
  {2, 6, false, 2. / 11, 0, 12. / 11, 3. / 44, 0},
  {2, 8, false, 9. / 38, 0, 147. / 152, 51. / 380, -23. / 6840},
  {2, 10, false, 334. / 899, 43. / 1798, 1065. / 1798, 519. / 1798, 79. / 16182},
  {1, 6, true, 9. / 62, 0, 63. / 62, 17. / 186, 0},
  {0, 6, true, 3. / 10, 0, 3. / 4, 1. / 20, 0},
};

/// @throws NoCompactScheme
inline CompactRow compact_row(int derivative, int order, bool staggered, double filter)
{
  if (derivative < 0 || derivative > 2)
    refuse_scheme("derivative " + std::to_string(derivative) + " (0, 1, 2)");
  if (derivative == 0 && !staggered && order == 6)
    return {
      0, 6, false, filter, 0, 15. / 64 + 17 * filter / 32, -3. / 32 + 3 * filter / 16, 1. / 64 - filter / 32};
  for (const CompactRow &row : compact_table)
    if (row.derivative == derivative && row.order == order && row.staggered == staggered) return row;
  if (staggered && derivative == 2) refuse_scheme("no staggered scheme of derivative 2 (0, 1)");
  refuse_scheme("order " + std::to_string(order) + " of " +
                (staggered        ? "a staggered scheme (6)"
                 : derivative > 0 ? "a derivative (4, 6, 8, 10)"
                                  : "a filter (6)"));
}

/// Entries of A and B around the diagonal, or from the diagonal on.
struct CompactEntries {
  std::vector<double> A, B;
};

/// The interior row. Entries of B begin `wide` places before the diagonal, or one less if results are ahead.
inline CompactEntries interior_entries(const CompactRow &row, const CompactChoice &choice)
{
  const bool          half = choice.staggered != Staggered::none;
  const double        c[] = {row.c1, row.c2, row.c3}, sign = row.derivative == 1 ? -1 : 1;
  const int           wide = row.c3 != 0 || (row.derivative == 0 && !half) ? 3 : row.c2 != 0 ? 2 : 1;
  std::vector<double> B(static_cast<std::size_t>(2 * wide + (half ? 0 : 1)), 0.);
  // places of k = 0 on either side
  double *const right = B.data() + wide - (half ? 1 : 0), *const left = B.data() + wide;
  for (int k = 1; k <= wide; ++k) {
    right[k] += c[k - 1], left[-k] += sign * c[k - 1];
    if (!half) *left -= (1 + sign) * c[k - 1];
  }
  if (row.derivative == 0 && !half) *left = 11. / 16 + 5 * row.a1 / 8;
  if (row.a2 != 0) return {{row.a2, row.a1, 1, row.a1, row.a2}, B};
  return {{row.a1, 1, row.a1}, B};
}

/// Row 0 of an open line, from the diagonal on: Lele's eqs. (4.1.1) to (4.1.4) and (4.3.1); the explicit
/// difference of order 4 for f'', because with Lele's compact one of that order a leading minor of A
/// is zero.
inline CompactEntries end_entries(int derivative, int ends)
{
  if (derivative == 1 && ends == 4) return {{1, 3}, {-17. / 6, 3. / 2, 3. / 2, -1. / 6}};
  if (derivative == 1) return {{1, 2}, {-5. / 2, 2, 1. / 2}};
  if (ends == 3) return {{1, 11}, {13, -27, 15, -1}};
  return {{1}, {15. / 4, -77. / 6, 107. / 6, -13, 61. / 12, -5. / 6}};
}

/// Entries as a row with room for `lower` and `upper` of them around place `diagonal`.
template <class Scalar>
std::vector<Scalar> wide_row(const std::vector<double> &entries, int diagonal, int lower, int upper,
                             double factor)
{
  std::vector<Scalar> row(static_cast<std::size_t>(lower + upper + 1), Scalar(0));
  for (std::size_t d = 0; d < entries.size(); ++d)
    row[d + static_cast<std::size_t>(lower - diagonal)] = static_cast<Scalar>(factor * entries[d]);
  return row;
}

/// Appends the mirror images of the first rows.
template <class Scalar>
void mirror_rows(StencilRows<Scalar> &rows, Scalar sign)
{
  for (auto row = rows.first.rbegin(); row != rows.first.rend(); ++row) {
    rows.last.emplace_back(row->rbegin(), row->rend());
    for (Scalar &entry : rows.last.back()) entry *= sign;
  }
}

inline void check_choice(const CompactChoice &c)
{
  if (!(c.spacing > 0) || !std::isfinite(c.spacing))
    refuse_scheme(NoCompactScheme::Of::spacing, "spacing " + short_text(c.spacing) + " is not positive");
  if (c.ends != 3 && c.ends != 4) refuse_scheme("ends of order " + std::to_string(c.ends) + " (3, 4)");
  if (!(c.filter >= 0 && c.filter < 0.5))
    refuse_scheme("filter " + short_text(c.filter) + " is not in [0, 1/2)");
  if (c.staggered != Staggered::none && !c.periodic)
    refuse_scheme("staggered schemes have no end rows for open lines (periodic lines)");
}

/// 1 / h^derivative.
/// @throws NoCompactScheme if products with it would overflow or underflow
template <class Scalar>
double spacing_factor(const CompactChoice &c)
{
  const auto   range  = scale_range<Scalar>();
  const double factor = c.derivative == 0   ? 1
                        : c.derivative == 1 ? 1 / c.spacing
                                            : 1 / (c.spacing * c.spacing);
  if (!range.contains(factor))
    refuse_scheme(NoCompactScheme::Of::spacing, "spacing " + short_text(c.spacing) + ": 1/h^" +
                                                  std::to_string(c.derivative) + " is " + short_text(factor) +
                                                  " (" + short_text(range.least) + " to " +
                                                  short_text(range.most) + ")");
  return factor;
}

/// End rows of an open line: row 0, then one row of order 4, and one of order 6 if the interior reaches
/// three points. A filter copies the three values at an end.
template <class Scalar>
void add_ends(const CompactChoice &choice, int wide, double factor, CompactScheme<Scalar> &scheme)
{
  StencilRows<Scalar> &A = scheme.A, &B = scheme.B;
  const auto           add = [&](const CompactEntries &e, int diagonal_A, int diagonal_B, double scale) {
    A.first.push_back(wide_row<Scalar>(e.A, diagonal_A, A.lower, A.upper, 1));
    B.first.push_back(wide_row<Scalar>(e.B, diagonal_B, B.lower, B.upper, scale));
  };
  if (choice.derivative == 0)
    for (int k = 0; k < wide; ++k) add({{1}, {1}}, 0, 0, 1);
  else {
    add(end_entries(choice.derivative, choice.ends), 0, 0, factor);
    for (int k = 1; k < wide; ++k)
      add(interior_entries(compact_row(choice.derivative, 2 + 2 * k, false, 0), choice), 1, k, factor);
  }
  mirror_rows(A, Scalar(1));
  mirror_rows(B, Scalar(choice.derivative == 1 ? -1 : 1));
}

} // namespace detail

/// The rows of a scheme:
///
///     f'    a2 f'_(i-2) + a1 f'_(i-1) + f'_i + a1 f'_(i+1) + a2 f'_(i+2) = sum_k c_k (f_(i+k) - f_(i-k)) / h
///     f''   the same with sum_k c_k (f_(i+k) - 2 f_i + f_(i-k)) / h^2
///     f' at half points: sum_k c_k (f_(i+k-1/2) - f_(i-k+1/2)) / h, interpolation: with a plus, without h
///     filter: c_0 f_i + sum_k c_k (f_(i+k) + f_(i-k)), transfer function 1 for a constant and 0 at the grid
///     frequency
///
/// @throws NoCompactScheme
template <class Scalar>
CompactScheme<Scalar> compact_scheme(const CompactChoice &choice)
{
  using namespace detail;
  check_choice(choice);
  const bool       half   = choice.staggered != Staggered::none;
  const CompactRow row    = compact_row(choice.derivative, choice.order, half, choice.filter);
  const auto       e      = interior_entries(row, choice);
  const double     factor = spacing_factor<Scalar>(choice);
  const int        wide_A = static_cast<int>(e.A.size()) / 2, wide = static_cast<int>(e.B.size()) / 2,
            back     = wide - (choice.staggered == Staggered::forward ? 1 : 0),
            ahead    = static_cast<int>(e.B.size()) - 1 - back;
  const bool has_end = !choice.periodic && choice.derivative > 0;
  const int  reach = has_end ? static_cast<int>(end_entries(choice.derivative, choice.ends).B.size()) - 1 : 0;
  CompactScheme<Scalar> scheme;
  StencilRows<Scalar>  &A = scheme.A, &B = scheme.B;
  scheme.periodic = choice.periodic;
  A.lower = A.upper = wide_A;
  B.lower = std::max(back, reach), B.upper = std::max(ahead, reach);
  A.interior = wide_row<Scalar>(e.A, wide_A, A.lower, A.upper, 1);
  B.interior = wide_row<Scalar>(e.B, back, B.lower, B.upper, factor);
  if (!choice.periodic) add_ends(choice, wide, factor, scheme);
  scheme.least_rows = std::max(2 * wide, reach) + 1;
  // with implicit rows of the ends and two rows between them, A is singular
  if (has_end && choice.order == 4 && end_entries(choice.derivative, choice.ends).A.size() > 1)
    ++scheme.least_rows;
  return scheme;
}

/// A and B of a scheme for lines of `rows` rows; few rows are stored (toeplitz_bands()). Waits.
/// @throws std::invalid_argument if a line has fewer rows than the scheme needs
template <class Scalar, class Exec>
CompactBands<Scalar, typename Exec::memory_space>
compact_bands(const Exec &exec, const CompactScheme<Scalar> &scheme, std::int64_t rows)
{
  if (rows < scheme.least_rows)
    throw std::invalid_argument("ribbon::compact_bands: lines of " + std::to_string(rows) +
                                " rows: the scheme needs at least " + std::to_string(scheme.least_rows));
  const auto make = [&](const StencilRows<Scalar> &of) {
    auto bands  = toeplitz_bands(exec, rows, of.interior, of.first, of.last);
    bands.lower = of.lower, bands.upper = of.upper;
    bands.periodic = scheme.periodic;
    return bands;
  };
  return {make(scheme.A), make(scheme.B)};
}

} // namespace ribbon
