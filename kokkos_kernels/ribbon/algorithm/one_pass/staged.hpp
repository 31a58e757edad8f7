// SPDX-License-Identifier: BSD-2-Clause
/// @file staged.hpp  Contiguous lines in the scratch of a one-pass team: copies of whole lines to and from
///   scratch, and slots of 16 bytes.
///
/// Lines are an odd number of packs (16 bytes) apart, so that eight lanes that read a pack each use
/// different banks. Chunks begin at packs. If lines begin at packs in memory too, the copy engine copies
/// them. If they begin at pairs of floats, threads copy pairs. Lines of an odd number of doubles that are
/// contiguous in memory are contiguous in scratch, too. Then the copy engine copies a tile as a whole,
/// lanes read scalar by scalar, and the odd distance avoids bank conflicts again.
#pragma once

#include <ribbon/algorithm/one_pass/shape.hpp>
#include <ribbon/device/bulk_copy.hpp>
#include <ribbon/line_set.hpp>

namespace ribbon {

/// Neighbouring scalars that are read and written together.
template <class Scalar, int numbers = device::pack<Scalar>>
struct alignas(numbers * sizeof(Scalar)) Pack {
  static constexpr int size = numbers;
  Scalar               a[size];
};

/// The slots of a chunk in the order of a sweep. The first `pad` of them are empty; `full` means at compile
/// time that no slot is. Packs are read before they are needed, because the compiler cannot know that
/// writing one does not change the others.
/// @tparam step  1 for a sweep from slot 0 to slot `slots` - 1, -1 for one back
/// @tparam size  scalars of a pack
template <class Scalar, int slots, int step, bool full, int size>
class PackedSlots {
  using Packed                 = Pack<Scalar, size>;
  static constexpr int   ahead = size == 1 && sizeof(Scalar) < 16 ? 4 : 2;
  Packed                *packs_;
  int                    pad_, held_ = 0;
  Packed                 arrived_ = {}, leaving_ = {}, coming_[ahead];
  KOKKOS_FUNCTION bool   empty(int k) const { return !full && (k + 1) * size <= pad_; }
  KOKKOS_FUNCTION Packed pack(int k) const
  {
    return k < 0 || k >= slots / size || empty(k) ? Packed{} : packs_[k];
  }

public:
  KOKKOS_FUNCTION PackedSlots(Scalar *memory, int pad) : packs_(reinterpret_cast<Packed *>(memory)), pad_(pad)
  {
  }

  /// Starts a sweep with slot e.
  KOKKOS_FUNCTION void start(int e)
  {
    held_ = e / size - step;
    RIBBON_UNROLL
    for (int k = 0; k < ahead; ++k) coming_[(e / size + k * step) % ahead] = pack(e / size + k * step);
  }
  /// Slot e; zero if it is empty.
  KOKKOS_FUNCTION Scalar read(int e)
  {
    if (held_ != e / size) {
      held_                     = e / size;
      arrived_                  = coming_[e / size % ahead];
      coming_[e / size % ahead] = pack(e / size + ahead * step);
    }
    return full || e >= pad_ ? arrived_.a[e % size] : Scalar(0);
  }
  /// Slot e = value; `last` means that the sweep does not access its pack again.
  KOKKOS_FUNCTION void write(int e, const Scalar &value, bool last)
  {
    leaving_.a[e % size] = value;
    if (last && !empty(e / size)) packs_[e / size] = leaving_;
  }
  /// The same in a sweep back. The first `shift` slots that are not empty belong to the previous chunk.
  KOKKOS_FUNCTION void write_behind(int e, const Scalar &value, int shift)
  {
    const int first      = (full ? 0 : pad_) + shift;
    leaving_.a[e % size] = value;
    if (e / size * size >= first) {
      if (e % size == 0) packs_[e / size] = leaving_;
    } else if (e >= first) packs_[e / size].a[e % size] = value;
  }
};

/// Sweeps over the rows of a staged chunk as loops that skip empty slots. They are for the few irregular
/// chunks of a stencil, whose coefficients are in scratch, too. General matrices have only irregular chunks
/// and are slower with loops: lanes of even lines read two rows at a time without bank conflicts.
template <class Scheme, int slots>
struct ChunkLoops {
  using Scalar             = typename Scheme::Scalar;
  static constexpr int S   = Scheme::separators;
  static constexpr int end = slots - S; ///< slot of the first separator

  template <class Coefficients>
  KOKKOS_FUNCTION static void forward(Scalar *tile, int pad, const Coefficients &block,
                                      typename Scheme::Sweep &sweep, Scalar (&f_sep)[S])
  {
    auto   next = block.forward(pad);
    Scalar f    = tile[pad];
    RIBBON_UNROLL_TWICE
    for (int k = pad; k < end; ++k) {
      const auto   row    = next;
      const Scalar now[1] = {f};
      Scalar       g[1];
      if (k + 1 < end) next = block.forward(k + 1);
      f = tile[k + 1];
      Scheme::forward(row, now, sweep, g);
      tile[k] = g[0];
    }
    RIBBON_UNROLL
    for (int c = 0; c < S; ++c) f_sep[c] = tile[end + c];
  }

  /// @param z  separators right (of this chunk) and left
  template <class Coefficients>
  KOKKOS_FUNCTION static void backward(Scalar *tile, int pad, const Coefficients &block,
                                       const Scalar (&z)[2][S], typename Scheme::Window &w)
  {
    RIBBON_UNROLL
    for (int c = 0; c < S; ++c) tile[end + c] = z[0][c];
    auto   next = block.backward(end - 1);
    Scalar f    = tile[end - 1];
    RIBBON_UNROLL_TWICE
    for (int k = end - 1; k >= pad; --k) {
      const auto   row  = next;
      const Scalar g[1] = {f};
      Scalar       v[1];
      if (k > pad) next = block.backward(k - 1), f = tile[k - 1];
      Scheme::backward(row, g, z[1], w, v);
      tile[k] = v[0];
    }
  }
};

/// Distance in scratch of lines of `unknowns` unknowns: an odd number of packs.
template <class Scalar>
int packed_pitch(std::int64_t unknowns)
{
  return static_cast<int>(((unknowns + Pack<Scalar>::size - 1) / Pack<Scalar>::size | 1) *
                          Pack<Scalar>::size);
}
/// Whether rows are contiguous, and lines too, except for `between` rows between them.
inline bool lie_side_by_side(const LineSet &set, std::int64_t between)
{
  return set.row_stride == 1 && set.components == 1 && set.stride0 == set.rows + between &&
         (set.count1 == 1 || set.stride1 == set.count0 * set.stride0);
}
/// The same, with equal distances in memory and in scratch.
inline bool lie_as_in_scratch(const OnePassShape &s, const LineSet &set, std::int64_t between)
{
  return s.staged && s.gap == 0 && s.piece_bits == 0 && s.pitch == set.rows + between &&
         lie_side_by_side(set, between);
}

/// Copies the lines of a team between memory and scratch.
/// @tparam B  unknowns of a row
template <class Scalar, int B>
struct StagedTile {
  const OnePassShape &shape;
  Scalar             *tile;
  device::Arrival     arrival;

  /// The first line of a team and the number of its lines.
  struct Lines {
    std::int64_t first;
    int          count;
  };

  /// Whether the copy engine copies these lines. The same for all threads.
  template <class Team>
  KOKKOS_FUNCTION bool in_bulk(const LineSet &set, const Scalar *array) const
  {
    const auto whole = [](std::int64_t unknowns) { return unknowns % Pack<Scalar>::size == 0; };
    if (!device::bulk_copies<Team> || !dense(set) ||
        reinterpret_cast<std::uintptr_t>(array + set.offset) % 16 != 0)
      return false;
    return shape.behind ? whole(static_cast<std::int64_t>(shape.pitch) << shape.lane_bits)
                        : whole(set.rows * B) && (set.count0 == 1 || whole(set.stride0)) &&
                            (set.count1 == 1 || whole(set.stride1));
  }

  /// Whether it copies the lines of a team and the memory between them as a whole.
  template <class Team>
  KOKKOS_FUNCTION bool whole(const LineSet &set, const Scalar *array) const
  {
    return shape.behind && in_bulk<Team>(set, array);
  }
  /// Scalars at the end of these lines and the memory between them that do not fill a pack. A thread copies
  /// them.
  KOKKOS_FUNCTION int rest(const Lines &lines) const
  {
    return lines.count * shape.pitch % Pack<Scalar>::size;
  }
  KOKKOS_FUNCTION int whole_bytes(const Lines &lines) const
  {
    return (lines.count * shape.pitch - rest(lines)) * static_cast<int>(sizeof(Scalar));
  }

  /// Starts copies of the lines, which are complete after await(). `round`: tiles of the team before this
  /// one.
  template <class Team>
  KOKKOS_FUNCTION void bring(const Team &team, int v, const Lines &lines, const LineSet &set, const Scalar *b,
                             int round = 0) const
  {
    if (!in_bulk<Team>(set, b)) {
      if (in_pairs(set, b))
        for_pairs(team, v, lines, set, [&](std::int64_t at, int t) {
          device::async_copy(reinterpret_cast<Pair *>(tile + t), reinterpret_cast<const Pair *>(b + at));
        });
      else
        for_unknowns(team, v, lines, set,
                     [&](std::int64_t at, int t) { device::async_copy(&tile[t], &b[at]); });
      device::async_commit();
    } else if (shape.behind) {
      if (v > 0) return;
      const std::int64_t at = set.begin(lines.first);
      arrival.expect(whole_bytes(lines), round);
      if (whole_bytes(lines) > 0) arrival.copy(tile, b + at, whole_bytes(lines));
      for (int k = lines.count * shape.pitch - rest(lines); k < lines.count * shape.pitch; ++k)
        tile[k] = b[at + k];
    } else if (v < 32) {
      if (v == 0) arrival.expect(bytes(set) * lines.count << shape.piece_bits, round);
      device::lane_barrier(team.size());
      for_pieces(v, lines, set,
                 [&](std::int64_t at, Scalar *place) { arrival.copy(place, b + at, bytes(set)); });
    }
  }
  /// Waits for the copies. It contains a barrier of the team.
  template <class Team>
  KOKKOS_FUNCTION void await(const Team &team, const LineSet &set, const Scalar *b, int round = 0) const
  {
    const bool bulk = in_bulk<Team>(set, b);
    if (!bulk) device::async_wait(0);
    team.barrier();
    if (bulk) arrival.await(round);
  }

  /// Stores the lines. Call it after all threads have called release() and after a barrier of the team.
  template <class Team>
  KOKKOS_FUNCTION void store(const Team &team, int v, const Lines &lines, const LineSet &set, Scalar *x) const
  {
    start_store(team, v, lines, set, x);
    device::await_bulk_stores();
  }
  /// Starts the stores. They read scratch until device::await_bulk_stores(), or, if threads copy the lines,
  /// until a barrier of the team.
  template <class Team>
  KOKKOS_FUNCTION void start_store(const Team &team, int v, const Lines &lines, const LineSet &set,
                                   Scalar *x) const
  {
    if (!in_bulk<Team>(set, x)) {
      if (in_pairs(set, x))
        for_pairs(team, v, lines, set, [&](std::int64_t at, int t) {
          *reinterpret_cast<Pair *>(x + at) = *reinterpret_cast<const Pair *>(tile + t);
        });
      else for_unknowns(team, v, lines, set, [&](std::int64_t at, int t) { x[at] = tile[t]; });
    } else if (shape.behind) {
      if (v > 0) return;
      const std::int64_t at = set.begin(lines.first);
      for (int k = lines.count * shape.pitch - rest(lines); k < lines.count * shape.pitch; ++k)
        x[at + k] = tile[k];
      if (whole_bytes(lines) > 0) device::bulk_store(x + at, tile, whole_bytes(lines));
    } else
      for_pieces(v, lines, set, [&](std::int64_t at, const Scalar *place) {
        device::bulk_store(x + at, place, bytes(set));
      });
  }
  template <class Team>
  KOKKOS_FUNCTION void release(const LineSet &set, const Scalar *x) const
  {
    if (in_bulk<Team>(set, x)) device::release_to_bulk_copies();
  }

private:
  using Pair = Pack<Scalar, 2>;

  KOKKOS_FUNCTION static bool dense(const LineSet &set)
  {
    return set.row_stride == B && (B == 1 || set.component_stride == 1);
  }

  /// Bytes of a part of a line.
  KOKKOS_FUNCTION int bytes(const LineSet &set) const
  {
    return (static_cast<int>(set.rows) >> shape.piece_bits) * B * static_cast<int>(sizeof(Scalar));
  }

  /// Calls move(unknown, place in scratch) for the part that virtual thread v copies, if there is one.
  template <class Move>
  KOKKOS_FUNCTION void for_pieces(int v, const Lines &lines, const LineSet &set, const Move &move) const
  {
    const int line = v >> shape.piece_bits, piece = v - (line << shape.piece_bits),
              first = piece * (static_cast<int>(set.rows) >> shape.piece_bits) * B;
    if (line < lines.count)
      move(set.begin(lines.first + line) + first,
           tile + line * shape.pitch + first + piece * shape.piece_gap);
  }

  /// Whether neighbouring unknowns are copied two at a time: an even number of floats, in memory and in
  /// scratch. The same for all threads.
  KOKKOS_FUNCTION bool in_pairs(const LineSet &set, const Scalar *array) const
  {
    if constexpr (Pack<Scalar>::size == 4) {
      const auto even = [](std::int64_t unknowns) { return unknowns % 2 == 0; };
      return dense(set) && shape.piece_bits == 0 &&
             reinterpret_cast<std::uintptr_t>(array + set.offset) % sizeof(Pair) == 0 && even(set.rows * B) &&
             (set.count0 == 1 || even(set.stride0)) && (set.count1 == 1 || even(set.stride1)) &&
             even(shape.split.begin(shape.split.chunks - 1) * B) && even(shape.gap);
    }
    return false;
  }

  /// Calls move for the first of every two unknowns and its place in scratch, as for_unknowns(), but with
  /// the few registers that the sweeps leave.
  template <class Team, class Move>
  KOKKOS_FUNCTION void for_pairs(const Team &team, int v, const Lines &lines, const LineSet &set,
                                 const Move &move) const
  {
    const int n = static_cast<int>(set.rows) * B, last = shape.split.begin(shape.split.chunks - 1) * B;
    const int width = team.size() < 32 ? team.size() : 32, groups = team.size() / width, group = v / width,
              lane = v - group * width;
    if (group >= groups) return;
    for (int line = group; line < lines.count; line += groups) {
      const std::int64_t at = set.begin(lines.first + line);
      const int          t  = line * shape.pitch;
      RIBBON_UNROLL_TWICE
      for (int k = 2 * lane; k < n; k += 2 * width) move(at + k, t + k + (k < last ? 0 : shape.gap));
    }
  }

  /// Calls move for every unknown and its place in scratch: 32 virtual threads per line, with neighbours at
  /// neighbouring unknowns.
  template <class Team, class Move>
  KOKKOS_FUNCTION void for_unknowns(const Team &team, int v, const Lines &lines, const LineSet &set,
                                    const Move &move) const
  {
    const int n = static_cast<int>(set.rows) * B, last = shape.split.begin(shape.split.chunks - 1) * B;
    const int width = team.size() < 32 ? team.size() : 32, groups = team.size() / width, group = v / width,
              lane = v - group * width;
    if (group >= groups) return;
    const int  piece = n >> shape.piece_bits;
    const auto place = [&](int k) {
      return k + (k < last ? 0 : shape.gap) + (shape.piece_bits == 0 ? 0 : k / piece * shape.piece_gap);
    };
    std::int64_t at = set.begin(lines.first + group);
    for (int line = group; line < lines.count; line += groups) {
      const int t = line * shape.pitch;
      if (dense(set)) {
        for (int k = lane; k < n; k += 4 * width) {
          RIBBON_UNROLL
          for (int j = 0; j < 4; ++j)
            if (k + j * width < n) move(at + k + j * width, t + place(k + j * width));
        }
      } else {
        for (int k = lane; k < n; k += width)
          move(at + k / B * set.row_stride + k % B * set.component_stride, t + place(k));
      }
      at = set.count1 == 1 ? at + groups * set.stride0 : set.begin(lines.first + line + groups);
    }
  }
};

} // namespace ribbon
