// SPDX-License-Identifier: BSD-2-Clause
/// @file zero_mean.hpp  Lines whose matrix is singular because its rows sum to zero:
///   Neumann and periodic lines.
///
/// The constants are the null space of such a matrix A, l that of A^H. Row p is replaced by rho e_p^T. A' is
/// regular where l_p is not zero. Row p of A is not in A', but the solutions of A' satisfy it to rounding
/// where l_p a_p is among the largest of all l_i a_i (a_i: largest entry of row i), since a residual r has
/// l^H r = 0. p is the last row unless another one is much better: rows whose coefficients differ by powers
/// of ten have an l that spans many more. From A' x' = b, the solution of least squares and of zero mean is
///
///     x = x' - c w - mean(x' - c w),    w = A'^-1 l of zero mean,    c = l^H b / l^H l = l_p^* (rho x'_p - a_p x') / l^H l,
///
/// with a_p the row that was replaced: b itself is not needed any more. Where rows differ in size x' may
/// be larger than x by as much, and c and x lose these digits: then c l is taken out of b before the
/// solve. Where b is consistent c is zero; elsewhere ||b - A x|| = |c| ||l||. (Campbell & Meyer,
/// Generalized Inverses of Linear Transformations, 1979.) Where a line falls into pieces that do not
/// couple, each is looked at by itself.
#pragma once

#include <ribbon/matrix/band_entries.hpp>
#include <ribbon/elimination/elimination.hpp>
#include <ribbon/line_solver.hpp>
#include <ribbon/probe/noise.hpp>
#include <ribbon/matrix/scale.hpp>
#include <ribbon/matrix/transpose.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace ribbon {

/// One thread per singular piece of a line.
template <class Scalar, class Memory>
struct ZeroMeanKernel {
  using Words   = Kokkos::View<const Scalar *, Memory>;
  using Ints    = Kokkos::View<const int *, Memory>;
  using Sizes   = Kokkos::View<const double *, Memory>;
  using Largest = Kokkos::View<double *, Memory>;
  Words w; ///< row i of matrix m at i * matrices + m
  /// of piece p: entry d of rho e_p^T - a_p, times conj(l_p) / l^H l, at d * pieces + p
  Words   row;
  Sizes   size;    ///< ||l|| of piece p
  Largest largest; ///< ||b - A x|| of all pieces so far
  Ints    piece;   ///< matrix, first row, end and replaced row of piece p at 4 p
  /// of the places to be corrected; empty where they are all pieces of matrix 0 in all lines
  Ints         line_of, piece_of;
  std::int64_t rows, matrices, places, lines; ///< lines: of the batch that was factored
  int          lower, upper;
  Scalar      *x;
  LineSet      out;

  /// ||b - A x|| of piece p.
  KOKKOS_FUNCTION void see(real_t<Scalar> c, std::int64_t p) const
  {
    const double distance = static_cast<double>(c) * size(p);
    // NaN, too
    if (!(distance <= atomic_read(&largest(0))))
      Kokkos::atomic_fetch_max(&largest(0), is_finite(distance) ? distance : HUGE_VAL);
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const bool         all = piece_of.extent(0) == 0;
    const std::int64_t f = k % places, p = all ? f / lines : piece_of(f),
                       line = (all ? f % lines : line_of(f)) + k / places * lines;
    const std::int64_t m = piece(4 * p), begin = piece(4 * p + 1), end = piece(4 * p + 2),
                       pinned = piece(4 * p + 3), pieces = static_cast<std::int64_t>(piece.extent(0)) / 4;
    Scalar *const at = x + out.begin(line);
    Scalar        c(0), sum(0);
    for (int d = -lower; d <= upper; ++d) {
      const std::int64_t j     = pinned + d;
      const Scalar       entry = row((d + lower) * pieces + p);
      if (entry != Scalar(0)) c += entry * at[((j % rows + rows) % rows) * out.row_stride];
    }
    // x' may be larger than x
    for (std::int64_t i = begin; i < end; ++i) sum += at[i * out.row_stride] - c * w(i * matrices + m);
    see(magnitude(c), p);
    const Scalar mean = sum / static_cast<real_t<Scalar>>(end - begin);
    for (std::int64_t i = begin; i < end; ++i)
      at[i * out.row_stride] = at[i * out.row_stride] - c * w(i * matrices + m) - mean;
  }
};

/// b -= c l, one thread per singular piece of a line; members as above.
template <class Scalar, class Memory>
struct ProjectKernel {
  ZeroMeanKernel<Scalar, Memory>       pieces; ///< x: b
  Kokkos::View<const Scalar *, Memory> l;      ///< as w

  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const auto        &z   = pieces;
    const bool         all = z.piece_of.extent(0) == 0;
    const std::int64_t f = k % z.places, p = all ? f / z.lines : z.piece_of(f),
                       line = (all ? f % z.lines : z.line_of(f)) + k / z.places * z.lines;
    const std::int64_t m = z.piece(4 * p), begin = z.piece(4 * p + 1), end = z.piece(4 * p + 2);
    Scalar *const      b = z.x + z.out.begin(line);
    Scalar             c(0);
    for (std::int64_t i = begin; i < end; ++i)
      c += conjugate(l(i * z.matrices + m)) * b[i * z.out.row_stride];
    c = c / static_cast<real_t<Scalar>>(z.size(p)) / static_cast<real_t<Scalar>>(z.size(p));
    z.see(magnitude(c), p);
    for (std::int64_t i = begin; i < end; ++i) b[i * z.out.row_stride] -= c * l(i * z.matrices + m);
  }
};

/// One thread per row of a line.
template <class Scalar>
struct CopyRowsKernel {
  LineSet              in, at;
  const Scalar        *b;
  Scalar              *to;
  KOKKOS_FUNCTION void operator()(const std::int64_t k) const
  {
    const bool         along = at.row_stride < at.stride0;
    const std::int64_t l = along ? k / at.rows : k % at.lines(), i = along ? k % at.rows : k / at.lines();
    to[at(l, i)] = b[in(l, i)];
  }
};

template <class Scalar, class Exec>
class ZeroMean {
public:
  using Memory = typename Exec::memory_space;
  using Input  = Bands<Scalar, Memory>;

  ZeroMean() = default;

  /// Looks for matrices (block 1) whose rows, or those of a piece, sum to zero and, where there are any,
  /// replaces `bands` by ones in which one of these rows is changed (shifted ones by one matrix per line).
  /// Works on the host. Matrices that are singular even so, because more than constants is in their null
  /// space, stay as they are given.
  /// @param roundoff  unit of the entries
  ZeroMean(const Exec &exec, const LineSet &lines, Input &bands, real_t<Scalar> roundoff)
      : lines_(lines.lines()), rows_(lines.rows), lower_(bands.kl()), upper_(bands.ku())
  {
    const auto         host = to_host(bands);
    std::vector<Piece> pieces;
    for (std::size_t c = 0; c < host.values.extent(0); ++c)
      for (const Piece &p : pieces_of(host, c))
        if (sums_to_zero(host, c, p, roundoff)) pieces.push_back(p);
    if (pieces.empty()) return;
    choose_pins(host, pieces);
    Pinned pinned(host, pieces);
    if (!pinned.regular()) pieces = regular(host, pieces, pinned.which), pinned = Pinned(host, pieces);
    if (pieces.empty()) return;
    std::vector<Scalar>       row;
    const std::vector<Scalar> l = left_null_vectors(host, pinned, pieces, row);
    matrices_                   = static_cast<std::int64_t>(pinned.which.size()),
    pieces_                     = static_cast<std::int64_t>(pieces.size());
    find_lines(exec, host, pieces);

    const Host        here;
    const std::size_t width = host.values.extent(2), count = pieces.size(), matrices = pinned.which.size();
    for (const Piece &p : pieces)
      for (std::size_t d = 0; d < width; ++d)
        host.values(static_cast<std::size_t>(p.matrix), static_cast<std::size_t>(p.pin), d) =
          pinned.bands.values(pinned.place(p), static_cast<std::size_t>(p.pin), d);
    if (std::any_of(pieces.begin(), pieces.end(), [&](const Piece &p) { return has_uneven_rows(host, p); }))
      l_ = upload(exec, "ribbon::zero_mean::l", l);
    std::vector<Scalar> w = l;
    pinned.solver.solve(here, w.data(), w.data());
    here.fence();
    std::vector<int>    table;
    std::vector<double> sizes;
    for (std::size_t p = 0; p < count; ++p) {
      const auto m = pinned.place(pieces[p]), begin = static_cast<std::size_t>(pieces[p].begin),
                 end      = static_cast<std::size_t>(pieces[p].end);
      real_t<Scalar> norm = 0;
      Scalar         sum(0);
      for (std::size_t i = begin; i < end; ++i) {
        const auto size = magnitude(l[i * matrices + m]);
        norm += size * size, sum += w[i * matrices + m];
      }
      for (std::size_t i = begin; i < end; ++i)
        w[i * matrices + m] -= sum / static_cast<real_t<Scalar>>(end - begin);
      for (std::size_t d = 0; d < width; ++d)
        row[d * count + p] *= conjugate(l[static_cast<std::size_t>(pieces[p].pin) * matrices + m]) / norm;
      sizes.push_back(std::sqrt(static_cast<double>(norm)));
      table.insert(table.end(), {static_cast<int>(m), static_cast<int>(begin), static_cast<int>(end),
                                 static_cast<int>(pieces[p].pin)});
    }
    w_ = upload(exec, "ribbon::zero_mean::w", w), row_ = upload(exec, "ribbon::zero_mean::row", row),
    piece_   = upload(exec, "ribbon::zero_mean::piece", table);
    size_    = upload(exec, "ribbon::zero_mean::size", sizes),
    largest_ = allocate_zeros<Largest>(exec, "ribbon::zero_mean::largest", std::size_t(1));
    bands    = mirror_back(exec, host, bands);
  }

  bool empty() const { return matrices_ == 0; }
  /// Singular lines, pieces of lines counted each.
  std::int64_t singular_lines() const
  {
    return !of_all_lines_ ? static_cast<std::int64_t>(piece_of_.extent(0)) : empty() ? 0 : lines_ * pieces_;
  }
  std::size_t bytes() const
  {
    return (w_.size() + l_.size() + row_.size() + right_.size()) * sizeof(Scalar) +
           (size_.size() + largest_.size()) * sizeof(double) +
           (piece_.size() + line_of_.size() + piece_of_.size()) * sizeof(int);
  }

  /// Makes of the solutions with pinned matrices those of least squares and zero mean. Asynchronous on exec.
  void apply(const Exec &exec, Scalar *x, const LineSet &out) const
  {
    if (empty()) return;
    const std::int64_t places = singular_lines();
    if (places == 0) return; // no line has the class
    Kokkos::parallel_for("ribbon::zero_mean", indices(exec, places * (out.lines() / lines_)),
                         pieces_in(x, out));
  }

  /// Whether right-hand sides have to pass consistent() before they are solved for.
  bool projects() const { return l_.size() > 0; }
  /// Right-hand sides without the part that no solution has, on `at`. Allocates room
  /// for more lines than before.
  const Scalar *consistent(const Exec &exec, const Scalar *b, const LineSet &in, LineSet *at) const
  {
    *at          = in.is_contiguous() ? LineSet::contiguous(in.rows, in.lines())
                                      : LineSet::interleaved(in.rows, in.lines());
    const auto n = static_cast<std::size_t>(at->unknowns());
    if (right_.extent(0) < n)
      right_ = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::zero_mean::right", n);
    Kokkos::parallel_for("ribbon::zero_mean::copy", indices(exec, at->unknowns()),
                         CopyRowsKernel<Scalar>{in, *at, b, right_.data()});
    Kokkos::parallel_for("ribbon::zero_mean::project",
                         indices(exec, singular_lines() * (in.lines() / lines_)),
                         ProjectKernel<Scalar, Memory>{pieces_in(right_.data(), *at), l_});
    return right_.data();
  }
  /// Copies share the workspace of solves until this is called.
  void own_workspace() { right_ = Kokkos::View<Scalar *, Memory>(); }

  /// The largest ||b - A x||_2 of a piece in the solves since this was last asked for, infinity where
  /// one was not finite. Waits.
  double inconsistency(const Exec &exec) const
  {
    double found = 0;
    if (empty()) return found;
    Kokkos::deep_copy(
      exec, Kokkos::View<double *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&found, 1),
      largest_);
    Kokkos::deep_copy(exec, largest_, 0.0);
    exec.fence();
    return found;
  }

private:
  using Largest   = typename ZeroMeanKernel<Scalar, Memory>::Largest;
  using HostBands = Bands<Scalar, Kokkos::HostSpace>;
  using Host      = Kokkos::DefaultHostExecutionSpace;

  ZeroMeanKernel<Scalar, Memory> pieces_in(Scalar *x, const LineSet &out) const
  {
    return {w_,     row_,   size_,  largest_, piece_, line_of_, piece_of_, rows_, matrices_, singular_lines(),
            lines_, lower_, upper_, x,        out};
  }

  static Input mirror_back(const Exec &exec, const HostBands &host, const Input &like)
  {
    Input result = like;
    result.lhs   = host.lhs;
    result.lower = host.lower, result.upper = host.upper, result.repeats = 1;
    result.values = allocate<typename Input::values_type>(
      exec, "ribbon::zero_mean::bands", host.values.extent(0), host.values.extent(1), host.values.extent(2));
    Kokkos::deep_copy(exec, result.values, host.values);
    exec.fence();
    return result;
  }

  /// Rows [begin, end) of a matrix, which couple with no others, and the one that is replaced.
  struct Piece {
    int          matrix;
    std::int64_t begin, end, pin;
    Piece(int c, std::int64_t first, std::int64_t behind)
        : matrix(c), begin(first), end(behind), pin(behind - 1)
    {
    }
  };

  /// The matrices of some pieces (ordered by matrix), a row of each piece replaced by one that fixes an
  /// unknown, and what solves with them and their adjoints.
  struct Pinned {
    std::vector<int>         which; ///< their numbers
    HostBands                bands; ///< one per line
    LineSolver<Scalar, Host> solver, adjoint;

    Pinned(const HostBands &all, const std::vector<Piece> &pieces) : bands(all)
    {
      for (const Piece &p : pieces)
        if (which.empty() || which.back() != p.matrix) which.push_back(p.matrix);
      const std::size_t n = all.values.extent(1), width = all.values.extent(2);
      bands.lhs    = Lhs::per_line;
      bands.values = decltype(bands.values)("ribbon::zero_mean::pinned", which.size(), n, width);
      for (std::size_t m = 0; m < which.size(); ++m)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t d = 0; d < width; ++d)
            bands.values(m, i, d) = all.values(static_cast<std::size_t>(which[m]), i, d);
      for (const Piece &p : pieces) {
        const auto m = place(p), pin = static_cast<std::size_t>(p.pin);
        Scalar     rho(0);
        for (std::size_t d = 0; d < width; ++d)
          if (magnitude(bands.values(m, pin, d)) > magnitude(rho)) rho = bands.values(m, pin, d);
        if (rho == Scalar(0)) rho = Scalar(1); // a row of zeros
        for (std::size_t d = 0; d < width; ++d)
          bands.values(m, pin, d) = static_cast<int>(d) == all.kl() ? rho : Scalar(0);
      }
      const auto set =
        LineSet::interleaved(static_cast<std::int64_t>(n), static_cast<std::int64_t>(which.size()));
      solver  = LineSolver<Scalar, Host>(Host(), set, bands),
      adjoint = LineSolver<Scalar, Host>(Host(), set, transpose(Host(), bands, true));
    }
    bool        regular() const { return solver.report().ok() && adjoint.report().ok(); }
    std::size_t place(const Piece &p) const
    {
      return static_cast<std::size_t>(std::lower_bound(which.begin(), which.end(), p.matrix) - which.begin());
    }
  };

  /// The pieces of the matrices that are regular with all of their pieces pinned.
  static std::vector<Piece> regular(const HostBands &host, const std::vector<Piece> &pieces,
                                    const std::vector<int> &which)
  {
    std::vector<Piece> result;
    for (int c : which) {
      std::vector<Piece> mine;
      std::copy_if(pieces.begin(), pieces.end(), std::back_inserter(mine),
                   [c](const Piece &p) { return p.matrix == c; });
      if (Pinned(host, mine).regular()) result.insert(result.end(), mine.begin(), mine.end());
    }
    return result;
  }

  /// Pins the row of every piece that has the largest entry of the left null vector, rows scaled to entries
  /// of about 1, unless that of the last row is nearly as large. Two steps of inverse iteration, with A
  /// shifted by a small multiple of its diagonal, find that vector well enough.
  static void choose_pins(const HostBands &host, std::vector<Piece> &pieces)
  {
    const Host       here;
    std::vector<int> which;
    for (const Piece &p : pieces)
      if (which.empty() || which.back() != p.matrix) which.push_back(p.matrix);
    const std::size_t n = host.values.extent(1), width = host.values.extent(2), count = which.size();
    const auto        place = [&](const Piece &p) {
      return static_cast<std::size_t>(std::lower_bound(which.begin(), which.end(), p.matrix) - which.begin());
    };
    HostBands scaled(host);
    scaled.lhs    = Lhs::per_line;
    scaled.values = decltype(scaled.values)("ribbon::zero_mean::scaled", count, n, width);
    for (std::size_t m = 0; m < count; ++m)
      for (std::size_t i = 0; i < n; ++i) {
        const auto c     = static_cast<std::size_t>(which[m]);
        const auto scale = BandEntries<Scalar, Kokkos::HostSpace>(host).row_scale(
          static_cast<std::int64_t>(c), static_cast<std::int64_t>(i));
        for (std::size_t d = 0; d < width; ++d) scaled.values(m, i, d) = host.values(c, i, d) * scale;
      }
    const auto adjoint = transpose(here, scaled, true);
    shift_diagonal<Scalar>(here, adjoint, 1000 * unit_roundoff<Scalar>());
    LineSolverOptions options;
    options.algorithm = "pivoted", options.zero_pivot = std::numeric_limits<real_t<Scalar>>::min();
    const LineSolver<Scalar, Host> solver(
      here, LineSet::interleaved(static_cast<std::int64_t>(n), static_cast<std::int64_t>(count)), adjoint,
      options);
    std::vector<Scalar> l(n * count);
    for (std::size_t k = 0; k < l.size(); ++k) l[k] = Scalar(1 + noise<real_t<Scalar>>(k) / 2);
    for (int step = 0; step < 2; ++step) {
      solver.solve(here, l.data(), l.data());
      here.fence();
      for (const Piece &p : pieces) normalize(p, place(p), count, l);
    }
    for (Piece &p : pieces) {
      const auto size = [&](std::int64_t i) {
        return magnitude(l[static_cast<std::size_t>(i) * count + place(p)]);
      };
      for (std::int64_t i = p.begin; i < p.end; ++i)
        if (size(i) > 16 * size(p.pin) || (p.pin != p.end - 1 && size(i) > size(p.pin))) p.pin = i;
    }
  }
  /// Makes the largest entry of a piece of vector m of `count` about 1. Entries that
  /// are not finite become zero.
  static void normalize(const Piece &p, std::size_t m, std::size_t count, std::vector<Scalar> &l)
  {
    real_t<Scalar> largest = 0;
    for (std::int64_t i = p.begin; i < p.end; ++i) {
      Scalar &v = l[static_cast<std::size_t>(i) * count + m];
      if (!is_finite(magnitude(v))) v = Scalar(0);
      largest = std::max(largest, magnitude(v));
    }
    const auto scale = BandEntries<Scalar, Kokkos::HostSpace>::power_of_two_for(largest);
    for (std::int64_t i = p.begin; i < p.end; ++i) l[static_cast<std::size_t>(i) * count + m] *= scale;
  }

  /// l of every piece, 1 in the row that is replaced, row i of matrix m at i * matrices + m; `row`: rho e_p^T
  /// - a_p of piece p, entry d at d * pieces + p.
  std::vector<Scalar> left_null_vectors(const HostBands &host, const Pinned &pinned,
                                        const std::vector<Piece> &pieces, std::vector<Scalar> &row) const
  {
    const Host          here;
    const std::size_t   width = host.values.extent(2), count = pieces.size(), matrices = pinned.which.size();
    std::vector<Scalar> l(host.values.extent(1) * matrices, Scalar(0));
    row.assign(width * count, Scalar(0));
    for (std::size_t p = 0; p < count; ++p) {
      const auto c = static_cast<std::size_t>(pieces[p].matrix), m = pinned.place(pieces[p]),
                 pin = static_cast<std::size_t>(pieces[p].pin);
      for (std::size_t d = 0; d < width; ++d) {
        const std::int64_t j = pieces[p].pin + static_cast<std::int64_t>(d) - lower_;
        row[d * count + p]   = pinned.bands.values(m, pin, d) -
                             (host.periodic || (j >= 0 && j < rows_) ? host.values(c, pin, d) : Scalar(0));
        l[static_cast<std::size_t>((j % rows_ + rows_) % rows_) * matrices + m] +=
          conjugate(row[d * count + p]);
      }
    }
    pinned.adjoint.solve(here, l.data(), l.data());
    here.fence();
    return l;
  }

  std::vector<Piece> pieces_of(const HostBands &bands, std::size_t c) const
  {
    std::vector<char> tied(static_cast<std::size_t>(rows_), 0); // row i to the next
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t d = -lower_; d <= upper_; ++d) {
        if (d == 0 ||
            bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + lower_)) == Scalar(0))
          continue;
        if (i + d >= 0 && i + d < rows_)
          for (std::int64_t k = std::min(i, i + d); k < std::max(i, i + d); ++k)
            tied[static_cast<std::size_t>(k)] = 1;
        else if (bands.periodic) return {{static_cast<int>(c), 0, rows_}};
      }
    std::vector<Piece> pieces;
    for (std::int64_t i = 0, begin = 0; i < rows_; ++i)
      if (!tied[static_cast<std::size_t>(i)])
        pieces.push_back({static_cast<int>(c), begin, i + 1}), begin = i + 1;
    return pieces;
  }

  /// Whether the largest entries of the rows of a piece differ by more than 2^10.
  bool has_uneven_rows(const HostBands &bands, const Piece &piece) const
  {
    const BandEntries<Scalar, Kokkos::HostSpace> entry(bands);
    real_t<Scalar> smallest = std::numeric_limits<real_t<Scalar>>::max(), largest = 0;
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      const auto size = entry.row_max(piece.matrix, i);
      smallest = std::min(smallest, size), largest = std::max(largest, size);
    }
    return largest > 1024 * smallest;
  }
  /// Whether every row of a piece sums to zero, to rounding. A row of zeros that couples
  /// with no other is a piece.
  bool sums_to_zero(const HostBands &bands, std::size_t c, const Piece &piece, real_t<Scalar> roundoff) const
  {
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      Scalar         sum(0);
      real_t<Scalar> largest = 0;
      for (std::int64_t d = -lower_; d <= upper_; ++d) {
        if (!bands.periodic && (i + d < 0 || i + d >= rows_)) continue;
        const Scalar a = bands.values(c, static_cast<std::size_t>(i), static_cast<std::size_t>(d + lower_));
        sum += a;
        largest = std::max(largest, magnitude(a));
      }
      if (!(magnitude(sum) <= 4 * static_cast<real_t<Scalar>>(lower_ + upper_ + 1) * roundoff * largest))
        return false;
    }
    return true;
  }

  /// Lists the singular pieces of all lines, unless one matrix is that of all.
  void find_lines(const Exec &exec, const HostBands &bands, const std::vector<Piece> &pieces)
  {
    of_all_lines_ = bands.lhs == Lhs::shared;
    if (of_all_lines_) return;
    std::vector<std::vector<int>> of(bands.values.extent(0));
    for (std::size_t p = 0; p < pieces.size(); ++p)
      of[static_cast<std::size_t>(pieces[p].matrix)].push_back(static_cast<int>(p));
    std::vector<int> line_of, piece_of;
    for (std::int64_t l = 0; l < lines_; ++l) {
      const auto c = static_cast<std::size_t>(
        bands.lhs == Lhs::classes ? bands.class_of_line(static_cast<std::size_t>(l)) : l);
      for (int p : of[c]) line_of.push_back(static_cast<int>(l)), piece_of.push_back(p);
    }
    line_of_  = upload(exec, "ribbon::zero_mean::line", line_of),
    piece_of_ = upload(exec, "ribbon::zero_mean::piece_of_line", piece_of);
  }

  typename ZeroMeanKernel<Scalar, Memory>::Words w_, l_, row_; ///< l_: empty where solves need none
  mutable Kokkos::View<Scalar *, Memory>         right_;
  typename ZeroMeanKernel<Scalar, Memory>::Sizes size_;
  Largest                                        largest_;
  typename ZeroMeanKernel<Scalar, Memory>::Ints  piece_, line_of_, piece_of_;
  std::int64_t                                   lines_ = 0, rows_ = 0, matrices_ = 0, pieces_ = 0;
  int                                            lower_ = 0, upper_ = 0;
  bool                                           of_all_lines_ = true;
};

} // namespace ribbon
