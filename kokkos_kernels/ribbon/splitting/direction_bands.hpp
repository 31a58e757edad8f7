// SPDX-License-Identifier: BSD-2-Clause
/// @file direction_bands.hpp  Writes the bands of A_1 .. A_D from the rows of J, or compares them, in one
///   pass over the rows (docs/methods/adi.md). Compiled where it is included, like
///   direction_split_kernels.hpp.
#pragma once

#include <ribbon/splitting/band_row.hpp>
#include <ribbon/splitting/direction_split_kernels.hpp>

#include <algorithm>
#include <vector>

namespace ribbon {

/// Results of a pass over the rows; bits of directions.
struct BandCounts {
  SplitCounts  counts;
  std::int64_t not_finite = INT64_MAX; ///< first written row with an entry that is not finite
  unsigned     changed    = 0;         ///< written rows differ from the previous ones
  /// rows differ from the matrix that lines share, or do not fit the shape of the bands
  unsigned misfit = 0;

  RIBBON_ADD_VOLATILE(BandCounts)
  KOKKOS_INLINE_FUNCTION BandCounts &operator+=(const BandCounts &o)
  {
    counts += o.counts;
    if (o.not_finite < not_finite) not_finite = o.not_finite;
    changed |= o.changed, misfit |= o.misfit;
    return *this;
  }
};

namespace direction_bands {

/// Sums of the results of rows on a device. There are several places, so that few rows wait for each other.
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
  /// The sum of all places. `word` is on the host.
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

/// The descriptions of the bands are in memory of the kernel, because Kokkos sends functors of more than
/// 512 bytes through constant memory.
template <class Scalar, class Index, int Reach>
struct FillKernel {
  RowSplitter<Scalar, Index, Reach> splitter;
  GridBox                           box;
  const BandsToFill<Scalar>        *to; ///< of three directions
  /// directions: all, those that lines share, those to be written
  unsigned wanted, shared, fresh;
  /// rows may be split by split_star(), because all bands are tridiagonal
  bool        stars;
  bool        tiles; ///< rows are in the order of tiles: those of one component
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
    if (wanted == shared && (answers.of(u)[4] & shared) == shared) return; // one differing row is enough
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
#ifndef __CUDA_ARCH__ // on a device the collected entries would be in local memory
    constexpr int room = TakeCollected<Scalar>::room;
    if (rows[0].width() * rows[0].block <= room && rows[1].width() * rows[1].block <= room &&
        rows[2].width() * rows[2].block <= room) {
      take_collected(rows, r, found);
      return;
    }
#endif
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

  /// take_all() for rows of at most TakeCollected::room entries in each direction.
  KOKKOS_FUNCTION void take_collected(const BandRow<Scalar> (&rows)[3], const std::int64_t r,
                                      BandCounts &found) const
  {
    TakeCollected<Scalar> take(rows);
    splitter.split(r, found.counts, take);
    for (int d = 0; d < 3; ++d) {
      if (!rows[d].first) continue;
      const unsigned bit   = 1u << d;
      bool           write = fresh & bit;
      if (!write) {
        bool differs = (take.beyond & bit) || (rows[d].mass && !(*rows[d].mass == mass(r)));
        take.each(d, [&](const Scalar &old, const Scalar &v) { differs = differs || !(old == v); });
        if (take.beyond & bit || (differs && (shared & bit))) found.misfit |= bit;
        write = differs && !(shared & bit);
        if (write) found.changed |= bit;
      }
      if (!write) continue;
      bool finite = true;
      take.each(d, [&](Scalar &old, const Scalar &v) {
        old    = v;
        finite = finite && is_finite(magnitude(v));
      });
      if (rows[d].mass) *rows[d].mass = mass(r);
      if (!finite && r < found.not_finite) found.not_finite = r;
    }
  }
};

/// Writes the matrices of one direction from the lines that represent them.
template <class Scalar, class Index, int Reach>
struct RepresentativesKernel {
  RowSplitter<Scalar, Index, Reach> splitter;
  GridBox                           box;
  BandsToFill<Scalar>               to;
  int                               d;
  const std::int64_t               *line; ///< of every matrix
  KOKKOS_FUNCTION void              operator()(const std::int64_t u) const
  {
    const int          parts  = box.components; // rows of an element; a line without blocks has one of them
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

} // namespace direction_bands

/// One pass over the rows. Bands that lines share are compared, others are written where they differ. Waits
/// for the result.
template <class Scalar, class Index, class Exec>
BandCounts fill_bands(const Exec &exec, const GridRows<Scalar, Index> &rows, const GridBox &box,
                      const BandsToFill<Scalar> (&to)[3])
{
  unsigned wanted = 0, shared = 0, fresh = 0;
  bool     stars = box.components == 1 && !rows.M[0] && rows.reach <= 1, tiles = false;
  for (int d = 0; d < 3; ++d) {
    if (!to[d].value) continue;
    stars = stars && to[d].half_bandwidth == 1;
    // a host writes consecutive rows of a line along x to distant places. A tile writes whole cache lines
    // instead
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

/// Writes the matrices of direction d from the lines that represent them. Asynchronous on exec.
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

/// Whether lines that share a matrix have the same mass. Waits for the result.
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

} // namespace ribbon
