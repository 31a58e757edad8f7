// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/lines_from_graph.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace ribbon {

namespace {

std::size_t at(std::int64_t k)
{
  return static_cast<std::size_t>(k);
}

/// couplings this close to the strongest coupling of a group belong to the group
constexpr float tie = 0.99f;
/// couplings this strong relative to another one form triangles and quadrilaterals with it
constexpr float  alike    = 0.9f;
constexpr double rounding = 1 - 1e-5; ///< couplings are stored in float
/// above this count of couplings of two rows there is no search for quadrilaterals: its cost for dense rows
/// would be quadratic
constexpr int long_rows = 256;

/// Couplings of every row, compressed, without the diagonal.
template <class Index>
struct Couplings {
  std::vector<std::int64_t> begin;
  std::vector<Index>        column;
  std::vector<float>        weight;

  explicit Couplings(std::int64_t rows) : begin(at(rows) + 1, 0) { }
  std::int64_t rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  std::int64_t degree(std::int64_t i) const { return begin[at(i) + 1] - begin[at(i)]; }
  void         push(std::int64_t j, float w)
  {
    column.push_back(static_cast<Index>(j));
    weight.push_back(w);
  }
  void end_row(std::int64_t i) { begin[at(i) + 1] = static_cast<std::int64_t>(column.size()); }
  /// Weight of (i, j), 0 if they do not couple. @pre columns are sorted
  float operator()(std::int64_t i, std::int64_t j) const
  {
    const auto first = column.begin() + begin[at(i)], last = column.begin() + begin[at(i) + 1];
    const auto found = std::lower_bound(first, last, static_cast<Index>(j));
    return found != last && *found == static_cast<Index>(j) ? weight[at(found - column.begin())] : 0;
  }
};

/// |a_ij| / max_k |a_ik| of the entries that count.
template <class Scalar, class Index>
Couplings<Index> relative_sizes(const CsrMatrix<Scalar, Index> &A, std::int64_t block, double least)
{
  Couplings<Index>    relative(A.rows / block);
  const std::int64_t  rows = relative.rows();
  std::vector<double> size(at(rows), 0);
  std::vector<Index>  touched;
  for (std::int64_t i = 0; i < rows; ++i) {
    touched.clear();
    for (Index e = A.row_begin[i * block]; e < A.row_begin[(i + 1) * block]; ++e) {
      const double       a = static_cast<double>(magnitude(A.value[e]));
      const std::int64_t c = static_cast<std::int64_t>(A.column[e]);
      if (!(a > 0) || !is_finite(a) || c < 0 || c >= A.rows) continue;
      double &s = size[at(c / block)];
      if (s == 0) touched.push_back(static_cast<Index>(c / block));
      s = block == 1 ? s + a : std::hypot(s, a);
    }
    double largest = 0;
    for (Index j : touched)
      if (j != i) largest = std::max(largest, size[at(j)]);
    for (Index j : touched) {
      if (j == i || size[at(j)] < least * size[at(i)]) continue;
      const float w = static_cast<float>(size[at(j)] / largest);
      if (w > 0) relative.push(j, w);
    }
    relative.end_row(i);
    for (Index j : touched) size[at(j)] = 0;
  }
  return relative;
}

/// The transpose, columns sorted.
template <class Index>
Couplings<Index> transpose_of(const Couplings<Index> &C)
{
  Couplings<Index> T(C.rows());
  for (Index j : C.column) ++T.begin[at(j) + 1];
  std::partial_sum(T.begin.begin(), T.begin.end(), T.begin.begin());
  T.column.resize(C.column.size());
  T.weight.resize(C.column.size());
  std::vector<std::int64_t> next(T.begin.begin(), T.begin.end() - 1);
  for (std::int64_t i = 0; i < C.rows(); ++i)
    for (std::int64_t e = C.begin[at(i)]; e < C.begin[at(i) + 1]; ++e) {
      const std::int64_t to = next[at(C.column[at(e)])]++;
      T.column[at(to)]      = static_cast<Index>(i);
      T.weight[at(to)]      = C.weight[at(e)];
    }
  return T;
}

/// (C + C^T) / 2, columns sorted.
template <class Index>
Couplings<Index> symmetric_part(const Couplings<Index> &C)
{
  const Couplings<Index> T = transpose_of(C), S = transpose_of(T); // S is C with sorted columns
  Couplings<Index>       sum(C.rows());
  for (std::int64_t i = 0; i < C.rows(); ++i) {
    std::int64_t       s = S.begin[at(i)], t = T.begin[at(i)];
    const std::int64_t s_end = S.begin[at(i) + 1], t_end = T.begin[at(i) + 1];
    while (s < s_end || t < t_end) {
      const bool from_s = s < s_end && (t == t_end || S.column[at(s)] <= T.column[at(t)]),
                 from_t = t < t_end && (s == s_end || T.column[at(t)] <= S.column[at(s)]);
      sum.push(from_s ? S.column[at(s)] : T.column[at(t)],
               ((from_s ? S.weight[at(s)] : 0) + (from_t ? T.weight[at(t)] : 0)) / 2);
      s += from_s, t += from_t;
    }
    sum.end_row(i);
  }
  return sum;
}

/// Couplings that can be on a line.
template <class Index>
Couplings<Index> strong_ones(const Couplings<Index> &C, const LinesOfGraphOptions &options)
{
  std::vector<float> needed(at(C.rows()));
  for (std::int64_t i = 0; i < C.rows(); ++i) {
    std::array<float, 3> largest = {0, 0, 0};
    for (std::int64_t e = C.begin[at(i)]; e < C.begin[at(i) + 1]; ++e) {
      largest[2] = std::max(largest[2], C.weight[at(e)]);
      std::sort(largest.begin(), largest.end(), std::greater<float>());
    }
    needed[at(i)] =
      static_cast<float>(rounding * std::max(options.threshold * static_cast<double>(largest[0]),
                                             options.anisotropy * static_cast<double>(largest[2])));
  }
  Couplings<Index> strong(C.rows());
  for (std::int64_t i = 0; i < C.rows(); ++i) {
    for (std::int64_t e = C.begin[at(i)]; e < C.begin[at(i) + 1]; ++e)
      if (C.weight[at(e)] >= std::max(needed[at(i)], needed[at(C.column[at(e)])]))
        strong.push(C.column[at(e)], C.weight[at(e)]);
    strong.end_row(i);
  }
  return strong;
}

/// Vertex-disjoint paths, grown by edges between their ends.
template <class Index>
class PathCover {
public:
  PathCover(const Couplings<Index> &all, const Couplings<Index> &strong)
      : all_(all), strong_(strong), neighbour_(at(all.rows()), {-1, -1}), other_end_(at(all.rows()))
  {
    std::iota(other_end_.begin(), other_end_.end(), Index(0));
    take_edges();
  }

  LinesOfGraph lines() const
  {
    LinesOfGraph      result;
    std::vector<char> seen(neighbour_.size(), 0);
    result.order.reserve(neighbour_.size());
    for (std::size_t first = 0; first < neighbour_.size(); ++first) {
      if (seen[first] || neighbour_[first][1] >= 0) continue; // an interior row
      result.begin.push_back(static_cast<std::int64_t>(result.order.size()));
      for (Index before = -1, row = static_cast<Index>(first); row >= 0;) {
        result.order.push_back(row);
        seen[at(row)]    = 1;
        const auto &next = neighbour_[at(row)];
        const Index to   = next[0] == before ? next[1] : next[0];
        before           = row;
        row              = to;
      }
    }
    result.begin.push_back(static_cast<std::int64_t>(result.order.size()));
    return result;
  }

private:
  struct Edge {
    float weight;
    Index i, j; // i < j
  };

  void take_edges()
  {
    std::vector<Edge> edges;
    edges.reserve(strong_.column.size() / 2);
    for (std::int64_t i = 0; i < strong_.rows(); ++i)
      for (std::int64_t e = strong_.begin[at(i)]; e < strong_.begin[at(i) + 1]; ++e)
        if (strong_.column[at(e)] > i)
          edges.push_back({strong_.weight[at(e)], static_cast<Index>(i), strong_.column[at(e)]});
    std::sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) { return a.weight > b.weight; });
    for (auto first = edges.begin(); first != edges.end();) {
      const float least = tie * first->weight;
      const auto last = std::find_if(first, edges.end(), [least](const Edge &e) { return e.weight < least; });
      std::sort(first, last, [](const Edge &a, const Edge &b) {
        return std::make_pair(a.j - a.i, a.i) < std::make_pair(b.j - b.i, b.i);
      });
      for (auto e = first; e != last; ++e) {
        if (!may_join(e->i, e->j, e->weight)) continue;
        // upwards first: a ring is opened between its last row and its first
        const Index ends[2] = {other_end_[at(e->j)], other_end_[at(e->i)]};
        join(e->i, e->j);
        for (Index end : ends) // both ends grow while there are ties
          while (end >= 0) end = grow(end, least);
      }
      first = last;
    }
  }

  bool is_end(Index i) const { return neighbour_[at(i)][1] < 0; }

  /// Whether a path through i must not continue from k to j. k, i and j are corners of a triangle whose
  /// third side is about as strong as (i, j); or they are corners of a quadrilateral k, i, j, m with one
  /// such side, any fourth side, and no diagonal (i, m) as strong. Exception: a ring of three or four rows
  /// that couple strongly with no other rows.
  bool turns(Index k, Index i, Index j, float weight) const
  {
    if (k < 0) return false;
    const float side  = alike * weight;
    const bool  alone = strong_.degree(i) <= 2 && strong_.degree(j) <= 2 && strong_.degree(k) <= 2;
    if (all_(k, j) >= side) return !alone;
    if (all_.degree(k) + all_.degree(j) > long_rows) return false;
    std::int64_t       a = all_.begin[at(k)], b = all_.begin[at(j)];
    const std::int64_t a_end = all_.begin[at(k) + 1], b_end = all_.begin[at(j) + 1];
    while (a < a_end && b < b_end) {
      const Index m = all_.column[at(a)], other = all_.column[at(b)];
      if (m == other && m != i) {
        const auto [less, more] = std::minmax({all_.weight[at(a)], all_.weight[at(b)]});
        if (more >= side && all_(i, m) < alike * less && !(alone && strong_.degree(m) <= 2)) return true;
      }
      a += m <= other, b += other <= m;
    }
    return false;
  }

  bool may_join(Index i, Index j, float weight) const
  {
    return is_end(i) && is_end(j) && other_end_[at(i)] != j && !turns(neighbour_[at(i)][0], i, j, weight) &&
           !turns(neighbour_[at(j)][0], j, i, weight);
  }

  void join(Index i, Index j)
  {
    for (const auto &[from, to] : {std::make_pair(i, j), std::make_pair(j, i)})
      neighbour_[at(from)][neighbour_[at(from)][0] < 0 ? 0 : 1] = to;
    const Index a = other_end_[at(i)], b = other_end_[at(j)];
    other_end_[at(a)] = b;
    other_end_[at(b)] = a;
  }

  /// Joins the end of a path to the nearest row that can continue it; returns the new end, or -1.
  Index grow(Index end, float least)
  {
    Index best = -1, nearest = 0;
    for (std::int64_t e = strong_.begin[at(end)]; e < strong_.begin[at(end) + 1]; ++e) {
      const Index j = strong_.column[at(e)], away = j > end ? j - end : end - j;
      if (strong_.weight[at(e)] < least || (best >= 0 && away >= nearest) ||
          !may_join(end, j, strong_.weight[at(e)]))
        continue;
      best    = j;
      nearest = away;
    }
    if (best < 0) return -1;
    const Index new_end = other_end_[at(best)];
    join(end, best);
    return new_end;
  }

  /// all couplings define corners, strong ones define lines
  const Couplings<Index>           &all_, &strong_;
  std::vector<std::array<Index, 2>> neighbour_; ///< on the path, -1: no neighbour; the second one is set last
  std::vector<Index>                other_end_; ///< of the path, valid at its ends
};

/// Best fit of lines, the longest first, into packed lines: put(line, packed line, first element) for each
/// line. Returns the count of packed lines.
template <class Put>
std::int64_t best_fit(const LinesOfGraph &lines, const std::vector<std::int64_t> &longest_first,
                      std::int64_t rows, const Put &put)
{
  // packed lines by their free elements, the oldest first
  std::map<std::int64_t, std::deque<std::int64_t>> with_room;
  std::int64_t                                     pieces = 0;
  for (std::size_t k = 0; k < longest_first.size();) {
    const std::int64_t length = lines.begin[at(longest_first[k]) + 1] - lines.begin[at(longest_first[k])];
    const auto         fit    = with_room.lower_bound(length);
    std::int64_t       room = rows, piece = pieces;
    if (fit == with_room.end()) ++pieces;
    else {
      room  = fit->first;
      piece = fit->second.front();
      fit->second.pop_front();
      if (fit->second.empty()) with_room.erase(fit);
    }
    // the rest of the packed line is the best fit for the next line of the same length
    for (; room >= length && k < longest_first.size() &&
           lines.begin[at(longest_first[k]) + 1] - lines.begin[at(longest_first[k])] == length;
         ++k, room -= length)
      put(longest_first[k], piece, rows - room);
    if (room > 0) with_room[room].push_back(piece);
  }
  return pieces;
}

} // namespace

template <class Scalar, class Index>
LinesOfGraph lines_from_graph(const CsrMatrix<Scalar, Index> &A, const LinesOfGraphOptions &options)
{
  if (options.block < 1 || A.rows % options.block != 0)
    throw std::invalid_argument("ribbon::lines_from_graph: " + std::to_string(A.rows) +
                                " rows do not divide into blocks of " + std::to_string(options.block));
  if (!(options.threshold >= 0) || !(options.anisotropy >= 0) || !(options.least >= 0))
    throw std::invalid_argument(
      "ribbon::lines_from_graph: threshold, anisotropy and least have to be nonnegative");
  const Couplings<Index> all    = symmetric_part(relative_sizes(A, options.block, options.least)),
                         strong = strong_ones(all, options);
  return PathCover<Index>(all, strong).lines();
}

PackedLines pack(const LinesOfGraph &lines, std::int64_t rows)
{
  PackedLines        packed;
  const std::int64_t unknowns = static_cast<std::int64_t>(lines.order.size());
  auto         length  = [&lines](std::int64_t l) { return lines.begin[at(l) + 1] - lines.begin[at(l)]; };
  std::int64_t longest = 0;
  for (std::int64_t l = 0; l < lines.lines(); ++l) longest = std::max(longest, length(l));
  if (rows < 0 || (rows > 0 && rows < longest))
    throw std::invalid_argument("ribbon::pack: pieces of " + std::to_string(rows) +
                                " rows cannot hold a line of " + std::to_string(longest));
  packed.rows = rows > 0 ? rows : longest;
  if (unknowns == 0) return packed;

  std::vector<std::int64_t> place(at(longest) + 2, 0), longest_first(at(lines.lines())); // sorted by counting
  for (std::int64_t l = 0; l < lines.lines(); ++l) ++place[at(longest - length(l)) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  for (std::int64_t l = 0; l < lines.lines(); ++l) longest_first[at(place[at(longest - length(l))]++)] = l;

  if (rows == 0) {
    std::vector<std::int64_t> tries = {longest, 2 * longest, 3 * longest, 4 * longest, 64, 128, 192, 256};
    std::sort(tries.begin(), tries.end());
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t t : tries) {
      if (t < longest || (t > longest && t > 256)) continue;
      const double filled = static_cast<double>(t) *
                            static_cast<double>(best_fit(lines, longest_first, t,
                                                         [](std::int64_t, std::int64_t, std::int64_t) {})) /
                            static_cast<double>(unknowns);
      if (filled >= least) continue;
      least       = filled;
      packed.rows = t;
      if (filled <= 1.05) break;
    }
  }

  std::vector<std::int64_t> piece_of(at(lines.lines())), first_of(at(lines.lines()));
  packed.pieces = best_fit(lines, longest_first, packed.rows,
                           [&](std::int64_t line, std::int64_t piece, std::int64_t first) {
                             piece_of[at(line)] = piece;
                             first_of[at(line)] = first;
                           });
  packed.row_at.assign(at(packed.rows * packed.pieces), -1);
  packed.position_of.assign(at(unknowns), -1);
  for (std::int64_t l = 0; l < lines.lines(); ++l)
    for (std::int64_t k = 0; k < length(l); ++k) {
      const std::int64_t row      = lines.order[at(lines.begin[at(l)] + k)],
                         position = (first_of[at(l)] + k) * packed.pieces + piece_of[at(l)];
      packed.row_at[at(position)] = row;
      packed.position_of[at(row)] = position;
    }
  return packed;
}

#define RIBBON_INSTANTIATE(Scalar)                                                                           \
  template LinesOfGraph lines_from_graph(const CsrMatrix<Scalar, std::int32_t> &,                            \
                                         const LinesOfGraphOptions &);                                       \
  template LinesOfGraph lines_from_graph(const CsrMatrix<Scalar, std::int64_t> &,                            \
                                         const LinesOfGraphOptions &);

RIBBON_INSTANTIATE(float)
RIBBON_INSTANTIATE(double)
RIBBON_INSTANTIATE(Kokkos::complex<double>)

} // namespace ribbon
