// SPDX-License-Identifier: BSD-2-Clause
/// @file direction_bands.hpp  Bands of A_1 .. A_D straight from the rows of J (docs/adi.md):
///   found, compared and written
/// in one pass over the rows, where these are. Compiled where it is used, like direction_split_kernels.hpp.
#pragma once

#include <ribbon/bands.hpp>
#include <ribbon/splitting/direction_split_kernels.hpp>

namespace ribbon {

/// The elements of a process: a box of a grid, x running fastest. An element is
/// `components` consecutive rows.
struct GridBox {
  std::int64_t size[3]    = {1, 1, 1}; ///< elements of the process
  std::int64_t begin[3]   = {0, 0, 0}; ///< the first of them in the grid
  std::int64_t all[3]     = {1, 1, 1}; ///< elements of the grid
  bool         ring[3]    = {false, false, false};
  int          components = 1;

  std::int64_t rows() const { return size[0] * size[1] * size[2] * components; }
  std::int64_t lines(int axis) const { return size[axis == 0 ? 1 : 0] * size[axis == 2 ? 1 : 2]; }
};

/// A row on the lines of all axes. Lines are numbered as those of LineSet::box().
struct RowOfBox {
  std::int64_t along[3];
  int          component;

  KOKKOS_INLINE_FUNCTION RowOfBox(const GridBox &box, std::int64_t r)
  {
    const std::int64_t e = box.components == 1 ? r : r / box.components, plane = e / box.size[0];
    component = static_cast<int>(box.components == 1 ? 0 : r - e * box.components);
    along[0] = e - plane * box.size[0], along[2] = plane / box.size[1],
    along[1] = plane - along[2] * box.size[1];
  }
  KOKKOS_INLINE_FUNCTION RowOfBox(std::int64_t x, std::int64_t y, std::int64_t z)
      : along{x, y, z}, component(0)
  {
  }
  /// Element u of the box in the order of tiles: eight lines along x side by side,
  /// which their bands are, too.
  KOKKOS_INLINE_FUNCTION static RowOfBox in_tiles(const GridBox &box, std::int64_t u)
  {
    constexpr std::int64_t width = 8;
    const std::int64_t     nx = box.size[0], plane = nx * box.size[1], z = u / plane, v = u - z * plane;
    const std::int64_t tile = v / (width * nx), w = v - tile * width * nx, left = box.size[1] - tile * width;
    const std::int64_t wide = left < width ? left : width, block = w / (width * wide), first = block * width;
    const std::int64_t rest = w - first * wide, end = nx - first, length = end < width ? end : width,
                       y = rest / length;
    return RowOfBox(first + rest - y * length, tile * width + y, z);
  }
  /// Its number, of one component.
  KOKKOS_INLINE_FUNCTION std::int64_t element(const GridBox &box) const
  {
    return along[0] + box.size[0] * (along[1] + box.size[1] * along[2]);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t at(int axis) const
  {
    return axis == 0 ? along[0] : axis == 1 ? along[1] : along[2];
  }
  KOKKOS_INLINE_FUNCTION std::int64_t line(const GridBox &box, int axis) const
  {
    return axis == 0 ? along[1] + box.size[1] * along[2]
                     : along[0] + box.size[0] * (axis == 1 ? along[2] : along[1]);
  }
  /// Row `i` of a line.
  KOKKOS_INLINE_FUNCTION static std::int64_t row(const GridBox &box, int axis, std::int64_t line,
                                                 std::int64_t i, int component)
  {
    const std::int64_t first = box.size[axis == 0 ? 1 : 0], slow = line / first, fast = line - slow * first;
    const std::int64_t x = axis == 0 ? i : fast,
                       y = axis == 1   ? i
                           : axis == 0 ? fast
                                       : slow,
                       z = axis == 2 ? i : slow;
    return (x + box.size[0] * (y + box.size[1] * z)) * box.components + component;
  }
};

/// What the bands of a direction have to hold.
struct BandShape {
  int  half_bandwidth = 0;
  bool periodic       = false; ///< some entry joins the ends of the grid
  bool blocks         = false; ///< components couple: an element is a block, else as many lines as components

  bool operator==(const BandShape &o) const
  {
    return half_bandwidth == o.half_bandwidth && periodic == o.periodic && blocks == o.blocks;
  }
};

/// Shapes of three directions as kernels find them, and the first row with an entry that is not finite.
struct FoundShapes {
  std::int64_t half_bandwidth[3] = {0, 0, 0}, not_finite = INT64_MAX;
  unsigned     periodic = 0, blocks = 0; ///< bits of directions

  KOKKOS_INLINE_FUNCTION FoundShapes &operator+=(const FoundShapes &o)
  {
    for (int d = 0; d < 3; ++d)
      if (o.half_bandwidth[d] > half_bandwidth[d]) half_bandwidth[d] = o.half_bandwidth[d];
    if (o.not_finite < not_finite) not_finite = o.not_finite;
    periodic |= o.periodic, blocks |= o.blocks;
    return *this;
  }
};

/// The bands of one direction in memory: entry (matrix, i, slot) at value[matrix + matrices (i + rows slot)].
template <class Scalar>
struct BandsToFill {
  Scalar      *value         = nullptr; ///< null: nobody wants this direction
  Scalar      *mass          = nullptr; ///< of row i of a matrix, component by component; null: ones
  const int   *class_of_line = nullptr; ///< null: all lines have matrix 0, or each its own
  std::int64_t matrices = 0, rows = 0;
  int          axis = 0, half_bandwidth = 0, block = 1;
  bool         periodic = false;
  bool         per_line = false; ///< rows that differ are written; else they are reported
  bool         fresh    = false; ///< nothing is there yet: every row is written
};

/// What a pass over the rows found; bits of directions.
struct BandCounts {
  SplitCounts  counts;
  std::int64_t not_finite = INT64_MAX; ///< first row that was written with an entry that is not finite
  unsigned     changed    = 0;         ///< rows were written that differ from what was there
  /// rows differ from the matrix that lines share, or do not fit the shape of the bands
  unsigned misfit = 0;

  KOKKOS_INLINE_FUNCTION BandCounts &operator+=(const BandCounts &o)
  {
    counts += o.counts;
    if (o.not_finite < not_finite) not_finite = o.not_finite;
    changed |= o.changed, misfit |= o.misfit;
    return *this;
  }
};

} // namespace ribbon

template <>
struct Kokkos::reduction_identity<ribbon::FoundShapes> {
  KOKKOS_FORCEINLINE_FUNCTION static ribbon::FoundShapes sum() { return ribbon::FoundShapes(); }
};

namespace ribbon {

namespace direction_bands {

/// How the entries of the process's own columns couple.
template <class Scalar, class Index>
struct WaysKernel {
  CsrMatrix<Scalar, Index> A;
  GridBox                  box;
  std::uint16_t           *way;

  KOKKOS_FUNCTION std::uint16_t of(std::int64_t r, const RowOfBox &row, std::int64_t column) const
  {
    std::int64_t unused;
    return of(r, row, column, unused);
  }
  /// @param apart  gets the distance of the elements along an axis
  KOKKOS_FORCEINLINE_FUNCTION std::uint16_t of(std::int64_t r, const RowOfBox &row, std::int64_t column,
                                               std::int64_t &apart) const
  {
    const std::int64_t B = box.components, f = B == 1 ? column : column / B, delta = f - (B == 1 ? r : r / B);
    const std::int64_t nx = box.size[0], plane = nx * box.size[1], component = column - f * B;
    apart = 0;
    if (delta == 0) return Way::of(Way::same, 0, component);
    int          axis   = Way::mixed;
    std::int64_t offset = delta;
    if (row.along[0] + delta >= 0 && row.along[0] + delta < nx) axis = 0;
    else if (delta == nx && row.along[1] + 1 < box.size[1]) axis = 1, offset = 1; // most: no division
    else if (delta == -nx && row.along[1] > 0) axis = 1, offset = -1;
    else if (delta == plane) axis = 2, offset = 1;
    else if (delta == -plane) axis = 2, offset = -1;
    else if (delta % nx == 0 && row.along[1] + delta / nx >= 0 && row.along[1] + delta / nx < box.size[1])
      axis = 1, offset = delta / nx;
    else if (delta % plane == 0) axis = 2, offset = delta / plane;
    if (axis >= 0 && box.ring[axis] && 2 * (offset < 0 ? -offset : offset) > box.all[axis])
      offset += offset > 0 ? -box.all[axis] : box.all[axis]; // the short way round
    if (axis >= 0) apart = offset < 0 ? -offset : offset;
    return Way::of(axis, offset, component);
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t r, FoundShapes &found) const
  {
    const RowOfBox row(box, r);
    const Index    end     = A.row_begin[r + 1];
    std::int64_t   largest = 0, before = -1;
    bool           ascend = true;
    for (Index k = A.row_begin[r]; k < end; ++k) {
      const std::int64_t column = A.column[k];
      std::int64_t       apart;
      way[k] = of(r, row, column, apart);
      ascend = ascend && before < column, before = column;
      if (apart > largest) largest = apart;
    }
    if (largest > Way::farthest) largest = Way::farthest;
    if (largest > found.half_bandwidth[0]) found.half_bandwidth[0] = largest;
    if (!ascend && r < found.not_finite) found.not_finite = r;
  }
};

/// Takes the entries of a row to see which bands they need.
template <class Scalar>
struct TakeShape {
  FoundShapes    &found;
  const GridBox  &box;
  const RowOfBox &row;
  const int (&axes)[3]; ///< of the directions
  std::int64_t r;

  KOKKOS_FUNCTION void operator()(int part, int, const Scalar &v, int offset, int component)
  {
    if (v == Scalar(0) || part == 0) return;
    const std::int64_t size = offset < 0 ? -offset : offset;
    if (!is_finite(magnitude(v)) && r < found.not_finite) found.not_finite = r;
    with_direction(part - 1, [&](int d) {
      const int          axis  = axes[d];
      const std::int64_t place = box.begin[axis] + row.at(axis) + offset;
      if (size > found.half_bandwidth[d]) found.half_bandwidth[d] = size;
      if (place < 0 || place >= box.all[axis]) found.periodic |= 1u << d;
      if (component != row.component) found.blocks |= 1u << d;
    });
  }
};

/// Answers: half-bandwidths of the directions, whether they have rings, and blocks; INT64_MAX less the first
/// row that is not finite. By atomics, which few rows need: as parallel_reduce this kernel and FillKernel
/// stopped with an illegal instruction in threads without a row (CUDA 13.0, sm_90).
template <class Scalar, class Index, int Reach>
struct ShapeKernel {
  RowSplitter<Scalar, Index, Reach> splitter;
  GridBox                           box;
  int                               axes[3];
  std::int64_t                     *answer;

  KOKKOS_FUNCTION void larger(int k, std::int64_t value) const
  {
    if (value > answer[k]) Kokkos::atomic_fetch_max(answer + k, value);
  }
  KOKKOS_FUNCTION void operator()(const std::int64_t r) const
  {
    SplitCounts       ignored;
    FoundShapes       found;
    const RowOfBox    row(box, r);
    TakeShape<Scalar> take{found, box, row, axes, r};
    splitter.split(r, ignored, take);
    for (int d = 0; d < 3; ++d) larger(d, found.half_bandwidth[d]);
    for (int d = 0; d < 3; ++d) larger(3 + d, found.periodic >> d & 1), larger(6 + d, found.blocks >> d & 1);
    if (found.not_finite != INT64_MAX) larger(9, INT64_MAX - found.not_finite);
  }
};

/// Where the entries of a row lie in the bands of a direction.
template <class Scalar>
struct BandRow {
  Scalar      *first  = nullptr; ///< null: nobody wants it
  Scalar      *mass   = nullptr;
  std::int64_t stride = 0, place = 0, all = 0;
  int          half_bandwidth = 0, block = 1, component = 0;
  bool         periodic = false;

  KOKKOS_FUNCTION void set(const GridBox &box, const RowOfBox &row, const BandsToFill<Scalar> &to)
  {
    if (!to.value) return;
    const std::int64_t l    = row.line(box, to.axis);
    const std::int64_t line = to.block == 1 ? l * box.components + row.component : l;
    set_to(box, row, to, to.per_line ? line : to.class_of_line ? to.class_of_line[line] : 0);
  }
  KOKKOS_FUNCTION void set_to(const GridBox &box, const RowOfBox &row, const BandsToFill<Scalar> &to,
                              std::int64_t matrix)
  {
    const std::int64_t at = matrix + to.matrices * row.at(to.axis);
    first = to.value + at, stride = to.matrices * to.rows;
    component = row.component, half_bandwidth = to.half_bandwidth, block = to.block, periodic = to.periodic;
    mass  = !to.mass ? nullptr : to.mass + (block == 1 ? at : at + stride * component);
    place = box.begin[to.axis] + row.at(to.axis), all = box.all[to.axis];
  }
  KOKKOS_FUNCTION int width() const { return 2 * half_bandwidth + 1; }
  /// Whether the bands have a place for an entry.
  KOKKOS_FUNCTION bool holds(int offset, int column) const
  {
    const bool inside = place + offset >= 0 && place + offset < all;
    return offset >= -half_bandwidth && offset <= half_bandwidth && (block > 1 || column == component) &&
           (inside || periodic);
  }
  KOKKOS_FUNCTION Scalar &at(int offset, int column) const
  {
    const int d = offset + half_bandwidth;
    return first[stride * (block == 1 ? d : (d * block + component) * block + column)];
  }
  KOKKOS_FUNCTION int nonzeros() const
  {
    int n = 0;
    for (int d = -half_bandwidth; d <= half_bandwidth; ++d)
      for (int c = 0; c < block; ++c) n += !(at(d, c) == Scalar(0));
    return n;
  }
  KOKKOS_FUNCTION void clear() const
  {
    for (int d = -half_bandwidth; d <= half_bandwidth; ++d)
      for (int c = 0; c < block; ++c) at(d, c) = Scalar(0);
  }
};

/// Takes the entries of a row to compare them with those of the bands.
template <class Scalar>
struct TakeCompared {
  const BandRow<Scalar> (&rows)[3];
  int      nonzeros[3] = {0, 0, 0};
  unsigned differs = 0, beyond = 0;

  KOKKOS_FUNCTION explicit TakeCompared(const BandRow<Scalar> (&r)[3]) : rows(r) { }
  KOKKOS_FUNCTION void operator()(int part, int, const Scalar &v, int offset, int component)
  {
    const bool zero = v == Scalar(0);
    with_direction(part - 1, [&](int d) {
      if (!rows[d].first) return;
      if (rows[d].holds(offset, component)) {
        differs |= unsigned(!(rows[d].at(offset, component) == v)) << d;
        nonzeros[d] += !zero;
      } else if (!zero) beyond |= 1u << d;
    });
  }
};

/// Takes the entries of a row to write those of some directions.
template <class Scalar>
struct TakeWritten {
  const BandRow<Scalar> (&rows)[3];
  unsigned directions;
  bool     finite = true;

  KOKKOS_FUNCTION TakeWritten(const BandRow<Scalar> (&r)[3], unsigned written) : rows(r), directions(written)
  {
    for (int d = 0; d < 3; ++d)
      if (directions >> d & 1) rows[d].clear();
  }
  KOKKOS_FUNCTION void operator()(int part, int, const Scalar &v, int offset, int component)
  {
    with_direction(part - 1, [&](int d) {
      if (!(directions >> d & 1) || !rows[d].holds(offset, component)) return;
      rows[d].at(offset, component) = v;
      finite                        = finite && is_finite(magnitude(v));
    });
  }
};

/// Where rows of a device add up what they found, in several places, so that few wait for each other.
struct FillAnswers {
  static constexpr int places = 64, words = 6;
  std::int64_t        *at;

  KOKKOS_FUNCTION std::int64_t *of(std::int64_t r) const { return at + (r / 32) % places * words; }
  KOKKOS_FUNCTION void          add(std::int64_t r, const BandCounts &found) const
  {
    std::int64_t *const word     = of(r);
    const std::int64_t  sums[3]  = {found.counts.mixed, found.counts.growth, found.counts.torn};
    const std::int64_t  bits[2]  = {found.changed, found.misfit};
    const std::int64_t  before_r = found.not_finite == INT64_MAX ? 0 : INT64_MAX - found.not_finite;
    for (int k = 0; k < 3; ++k)
      if (sums[k] != 0) Kokkos::atomic_add(word + k, sums[k]);
    for (int k = 0; k < 2; ++k)
      if ((bits[k] & ~word[3 + k]) != 0) Kokkos::atomic_fetch_or(word + 3 + k, bits[k]);
    if (before_r > word[5]) Kokkos::atomic_fetch_max(word + 5, before_r);
  }
  /// The sum of all places, which are on the host.
  template <class View>
  static BandCounts sum(const View &word)
  {
    BandCounts all;
    for (std::size_t k = 0; k < std::size_t(places) * words; k += words) {
      BandCounts one;
      one.counts.mixed = word(k), one.counts.growth = word(k + 1), one.counts.torn = word(k + 2);
      one.changed = static_cast<unsigned>(word(k + 3)), one.misfit = static_cast<unsigned>(word(k + 4));
      if (word(k + 5) > 0) one.not_finite = INT64_MAX - word(k + 5);
      all += one;
    }
    return all;
  }
};

/// The bands are described in memory of the kernel: Kokkos sends functors of more than 512
/// bytes through constant memory.
template <class Scalar, class Index, int Reach>
struct FillKernel {
  RowSplitter<Scalar, Index, Reach> splitter;
  GridBox                           box;
  const BandsToFill<Scalar>        *to; ///< of three directions
  /// directions: all, those that lines share, those to be written
  unsigned wanted, shared, fresh;
  /// rows may be split by split_star(), all bands being tridiagonal
  bool        stars;
  bool        tiles; ///< rows come in tiles: those of one component
  FillAnswers answers;

  using Splitter = RowSplitter<Scalar, Index, Reach>;

  KOKKOS_FUNCTION Scalar mass(std::int64_t r) const
  {
    return splitter.in.mass ? splitter.in.mass[r] : Scalar(1);
  }

  /// Compares three entries of direction d, or writes them.
  KOKKOS_FUNCTION void take_star(const RowOfBox &row, std::int64_t r, int d, const Scalar (&v)[3],
                                 BandCounts &found) const
  {
    const BandsToFill<Scalar> &t = to[d];
    if (!t.value) return;
    const std::int64_t i = row.at(t.axis), place = box.begin[t.axis] + i;
    const std::int64_t l      = t.per_line || t.class_of_line ? row.line(box, t.axis) : 0;
    const std::int64_t at     = (t.per_line ? l : t.class_of_line ? t.class_of_line[l] : 0) + t.matrices * i;
    const std::int64_t stride = t.matrices * t.rows;
    Scalar            *p      = t.value + at;
    const bool         around =
      (place == 0 && !(v[0] == Scalar(0))) || (place + 1 == box.all[t.axis] && !(v[2] == Scalar(0)));
    if (!t.fresh) {
      if (p[0] == v[0] && p[stride] == v[1] && p[2 * stride] == v[2] && !(around && !t.periodic) &&
          (!t.mass || t.mass[at] == mass(r)))
        return;
      const bool misfit = !t.per_line || (around && !t.periodic);
      found.misfit |= unsigned(misfit) << d;
      if (!t.per_line) return;
      found.changed |= 1u << d;
    }
    for (int k = 0; k < 3; ++k) p[stride * k] = v[k];
    if (t.mass) t.mass[at] = mass(r);
    if (!is_finite(magnitude(v[0])) || !is_finite(magnitude(v[1])) || !is_finite(magnitude(v[2])))
      found.not_finite = r < found.not_finite ? r : found.not_finite;
  }

  KOKKOS_FUNCTION void operator()(const std::int64_t u) const
  {
    BandCounts found;
    if (wanted == shared && (answers.of(u)[4] & shared) == shared) return; // one row is enough
    take(u, found);
    answers.add(u, found);
  }

  KOKKOS_FUNCTION void take(const std::int64_t u, BandCounts &found) const
  {
    const RowOfBox     row = tiles ? RowOfBox::in_tiles(box, u) : RowOfBox(box, u);
    const std::int64_t r   = tiles ? row.element(box) : u;
    if constexpr (Reach == 1) {
      typename Splitter::Star star;
      if (stars && splitter.split_star(r, found.counts, star)) {
        for (int d = 0; d < 3; ++d) take_star(row, r, d, star.value[d], found);
        return;
      }
    }
    take_all(row, r, found);
  }

  KOKKOS_FUNCTION void take_all(const RowOfBox &row, const std::int64_t r, BandCounts &found) const
  {
    BandRow<Scalar> rows[3];
    for (int d = 0; d < 3; ++d) rows[d].set(box, row, to[d]);
    unsigned written = fresh;
    if (fresh != wanted) {
      TakeCompared<Scalar> take(rows);
      splitter.split(r, found.counts, take);
      unsigned differs = take.differs | take.beyond;
      for (int d = 0; d < 3; ++d) {
        if (!rows[d].first) continue;
        if (rows[d].nonzeros() != take.nonzeros[d]) differs |= 1u << d;
        if (rows[d].mass && !(*rows[d].mass == mass(r))) differs |= 1u << d;
      }
      found.misfit |= (differs & shared) | (take.beyond & ~fresh);
      written |= differs & ~shared;
      found.changed |= differs & ~shared & ~fresh;
    }
    if (written == 0) return;
    SplitCounts         counts;
    TakeWritten<Scalar> take(rows, written);
    splitter.split(r, counts, take);
    if (fresh == wanted) found.counts += counts;
    for (int d = 0; d < 3; ++d)
      if ((written >> d & 1) && rows[d].mass) *rows[d].mass = mass(r);
    if (!take.finite && r < found.not_finite) found.not_finite = r;
  }
};

/// Writes the matrices of one direction from the lines that stand for them.
template <class Scalar, class Index, int Reach>
struct RepresentativesKernel {
  RowSplitter<Scalar, Index, Reach> splitter;
  GridBox                           box;
  BandsToFill<Scalar>               to;
  int                               d;
  const std::int64_t               *line; ///< of every matrix
  KOKKOS_FUNCTION void              operator()(const std::int64_t u) const
  {
    const int          parts  = box.components; // rows of an element, of which a line without blocks has one
    const std::int64_t matrix = u / parts % to.matrices, i = u / parts / to.matrices;
    const int          own = static_cast<int>(u % parts);
    const std::int64_t l   = to.block == 1 ? line[matrix] / box.components : line[matrix];
    if (to.block == 1 && line[matrix] % box.components != own) return;
    const std::int64_t r = RowOfBox::row(box, to.axis, l, i, own);
    const RowOfBox     row(box, r);
    BandRow<Scalar>    rows[3];
    SplitCounts        ignored;
    for (int e = 0; e < 3; ++e)
      if (e == d) rows[e].set_to(box, row, to, matrix);
    TakeWritten<Scalar> take(rows, 1u << d);
    splitter.split(r, ignored, take);
    for (int e = 0; e < 3; ++e)
      if (rows[e].mass) *rows[e].mass = splitter.in.mass ? splitter.in.mass[r] : Scalar(1);
  }
};

/// Whether every row of lines that share a matrix has the mass of that matrix.
template <class Scalar>
struct MassKernel {
  const Scalar        *mass;
  GridBox              box;
  BandsToFill<Scalar>  to;
  KOKKOS_FUNCTION void operator()(const std::int64_t r, int &differs) const
  {
    BandRow<Scalar> row;
    row.set(box, RowOfBox(box, r), to);
    differs |= !(*row.mass == mass[r]);
  }
};

/// P = s M - a A, -A in rows of algebraic equations.
template <class Scalar>
struct ShiftKernel {
  const Scalar        *A, *mass; ///< mass null: ones
  Scalar              *P;
  std::int64_t         stride; ///< matrices rows
  int                  half_bandwidth, block;
  real_t<Scalar>       s, a;
  KOKKOS_FUNCTION void operator()(const std::int64_t u) const
  {
    const int B = block;
    for (int c = 0; c < B; ++c) {
      const Scalar m      = mass ? mass[u + stride * c] : Scalar(1),
                   factor = m == Scalar(0) ? Scalar(-1) : Scalar(-a);
      for (int d = 0; d <= 2 * half_bandwidth; ++d)
        for (int e = 0; e < B; ++e) {
          const std::int64_t k = u + stride * ((d * B + c) * B + e);
          P[k]                 = factor * A[k] + (d == half_bandwidth && e == c ? s * m : Scalar(0));
        }
    }
  }
};

/// One matrix per line, from those that lines share.
template <class Scalar>
struct ExpandKernel {
  const Scalar        *from;
  Scalar              *to;
  const int           *class_of_line; ///< null: all lines have the first
  std::int64_t         lines, matrices;
  KOKKOS_FUNCTION void operator()(const std::int64_t u) const
  {
    const std::int64_t l = u % lines, c = class_of_line ? class_of_line[l] : 0;
    to[u] = from[c + matrices * (u / lines)];
  }
};

template <class Scalar>
struct DiffersKernel {
  const Scalar        *x, *y;
  KOKKOS_FUNCTION void operator()(const std::int64_t k, int &differs) const { differs |= !(x[k] == y[k]); }
};

} // namespace direction_bands

/// Writes the ways of the entries in the process's own columns. Waits.
/// @param reach  the largest offset along an axis
/// @return the first row whose columns do not ascend, -1: there is none
template <class Scalar, class Index, class Exec>
std::int64_t find_ways(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const GridBox &box,
                       std::uint16_t *way, int *reach)
{
  FoundShapes found;
  if (A.rows > 0)
    Kokkos::parallel_reduce("ribbon::find_ways", indices(exec, A.rows),
                            direction_bands::WaysKernel<Scalar, Index>{A, box, way},
                            Kokkos::Sum<FoundShapes>(found));
  exec.fence();
  *reach = static_cast<int>(std::max<std::int64_t>(found.half_bandwidth[0], 1));
  return found.not_finite == INT64_MAX ? -1 : found.not_finite;
}

/// The shapes that the bands of all rows need, or those of the first few rows. Waits.
/// @param axes  of the directions
template <class Scalar, class Index, class Exec>
FoundShapes band_shapes(const Exec &exec, const GridRows<Scalar, Index> &rows, const GridBox &box,
                        const int (&axes)[3], bool few)
{
  using Rows = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<128, 4>>;
  const std::int64_t n     = few ? std::min<std::int64_t>(rows.J[0].rows, 4096) : rows.J[0].rows;
  const auto         words = upload(exec, "ribbon::band_shapes", std::vector<std::int64_t>(10, 0));
  const auto         run   = [&](const auto &kernel) {
    Kokkos::parallel_for("ribbon::band_shapes", Rows(exec, 0, n), kernel);
  };
  if (n > 0 && rows.reach <= 1)
    run(
      direction_bands::ShapeKernel<Scalar, Index, 1>{{rows}, box, {axes[0], axes[1], axes[2]}, words.data()});
  else if (n > 0)
    run(direction_bands::ShapeKernel<Scalar, Index, Way::farthest>{
      {rows}, box, {axes[0], axes[1], axes[2]}, words.data()});
  exec.fence();
  const auto  host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), words);
  FoundShapes found;
  for (std::size_t d = 0; d < 3; ++d) {
    found.half_bandwidth[d] = host(d);
    found.periodic |= unsigned(host(3 + d) > 0) << d, found.blocks |= unsigned(host(6 + d) > 0) << d;
  }
  if (host(9) > 0) found.not_finite = INT64_MAX - host(9);
  return found;
}

/// One pass over the rows: bands that lines share are compared, others are written where they differ. Waits.
template <class Scalar, class Index, class Exec>
BandCounts fill_bands(const Exec &exec, const GridRows<Scalar, Index> &rows, const GridBox &box,
                      const BandsToFill<Scalar> (&to)[3])
{
  unsigned wanted = 0, shared = 0, fresh = 0;
  bool     stars = box.components == 1 && !rows.M[0] && rows.reach <= 1, tiles = false;
  for (int d = 0; d < 3; ++d) {
    if (!to[d].value) continue;
    stars = stars && to[d].half_bandwidth == 1;
    // a host writes a row of one line along x after the other to places far apart, of which a
    // tile has a whole cache line
    tiles = tiles || (!is_device_space<Exec> && to[d].per_line && to[d].axis == 0 && box.components == 1);
    wanted |= 1u << d, shared |= unsigned(!to[d].per_line) << d, fresh |= unsigned(to[d].fresh) << d;
  }
  if (rows.J[0].rows == 0 || wanted == 0) return {};
  using Rows       = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<128, 4>>;
  using Words      = std::vector<std::int64_t>;
  const auto there = upload(exec, "ribbon::bands_to_fill", std::vector<BandsToFill<Scalar>>(to, to + 3));
  const auto words =
    upload(exec, "ribbon::fill_bands",
           Words(direction_bands::FillAnswers::places * direction_bands::FillAnswers::words, 0));
  const auto run = [&](const auto &kernel) {
    Kokkos::parallel_for("ribbon::fill_bands", Rows(exec, 0, rows.J[0].rows), kernel);
  };
  if (rows.reach <= 1)
    run(direction_bands::FillKernel<Scalar, Index, 1>{
      {rows}, box, there.data(), wanted, shared, fresh, stars, tiles, {words.data()}});
  else
    run(direction_bands::FillKernel<Scalar, Index, Way::farthest>{
      {rows}, box, there.data(), wanted, shared, fresh, false, tiles, {words.data()}});
  exec.fence();
  return direction_bands::FillAnswers::sum(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), words));
}

/// Writes the matrices of direction d from the lines that stand for them. Asynchronous on exec.
/// @param line  of every matrix, in memory of exec
template <class Scalar, class Index, class Exec>
void fill_representatives(const Exec &exec, const GridRows<Scalar, Index> &rows, const GridBox &box, int d,
                          const BandsToFill<Scalar> &to, const std::int64_t *line)
{
  const auto policy = indices(exec, to.matrices * to.rows * box.components);
  if (rows.reach <= 1)
    Kokkos::parallel_for("ribbon::fill_representatives", policy,
                         direction_bands::RepresentativesKernel<Scalar, Index, 1>{{rows}, box, to, d, line});
  else
    Kokkos::parallel_for(
      "ribbon::fill_representatives", policy,
      direction_bands::RepresentativesKernel<Scalar, Index, Way::farthest>{{rows}, box, to, d, line});
}

/// Whether lines that share a matrix have the same mass. Waits.
template <class Scalar, class Exec>
bool masses_agree(const Exec &exec, const Scalar *mass, const GridBox &box, const BandsToFill<Scalar> &to)
{
  int differs = 0;
  if (box.rows() > 0)
    Kokkos::parallel_reduce("ribbon::masses", indices(exec, box.rows()),
                            direction_bands::MassKernel<Scalar>{mass, box, to}, Kokkos::BOr<int>(differs));
  exec.fence();
  return differs == 0;
}

/// The same matrices, one per line. Asynchronous on exec.
template <class Scalar, class Exec>
Bands<Scalar, typename Exec::memory_space>
one_per_line(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &bands, std::int64_t lines)
{
  auto result = bands;
  if (bands.lhs == Lhs::per_line) return result;
  result.lhs = Lhs::per_line, result.class_of_line = {};
  result.values = allocate<decltype(bands.values)>(exec, "ribbon::bands", static_cast<std::size_t>(lines),
                                                   bands.values.extent(1), bands.values.extent(2));
  Kokkos::parallel_for(
    "ribbon::one_per_line", indices(exec, static_cast<std::int64_t>(result.values.size())),
    direction_bands::ExpandKernel<Scalar>{bands.values.data(), result.values.data(),
                                          bands.lhs == Lhs::classes ? bands.class_of_line.data() : nullptr,
                                          lines, bands.matrices()});
  return result;
}

/// Whether two arrays of n numbers differ; not a number differs from itself. Waits.
template <class Scalar, class Exec>
bool numbers_differ(const Exec &exec, std::int64_t n, const Scalar *x, const Scalar *y)
{
  int differs = 0;
  if (n > 0)
    Kokkos::parallel_reduce("ribbon::numbers_differ", indices(exec, n),
                            direction_bands::DiffersKernel<Scalar>{x, y}, Kokkos::BOr<int>(differs));
  exec.fence();
  return differs != 0;
}

/// P = s M - a A in rows of differential equations, -A in algebraic ones: bands of the shape
/// of A. Asynchronous on exec.
/// @param mass  (matrices, rows, block); null: ones
template <class Scalar, class Exec>
void shift_bands(const Exec &exec, const Bands<Scalar, typename Exec::memory_space> &A, const Scalar *mass,
                 real_t<Scalar> s, real_t<Scalar> a, const Bands<Scalar, typename Exec::memory_space> &P)
{
  const auto stride = static_cast<std::int64_t>(A.values.extent(0) * A.values.extent(1));
  Kokkos::parallel_for("ribbon::shift_bands", indices(exec, stride),
                       direction_bands::ShiftKernel<Scalar>{A.values.data(), mass, P.values.data(), stride,
                                                            A.half_bandwidth(), A.block, s, a});
}

} // namespace ribbon
