// SPDX-License-Identifier: BSD-2-Clause
#include "across_ranks.hpp"

#include "rows_in_reach.hpp"
#include "segments.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

std::size_t at(std::int64_t k)
{
  return static_cast<std::size_t>(k);
}

/// Ends the last line of a list.
void end_line(LinesOfGraph *lines)
{
  lines->begin.push_back(static_cast<std::int64_t>(lines->order.size()));
}

/// Calls f(element) for the elements of a segment, from either end.
template <class F>
void each_of(const LinesOfGraph &pieces, std::size_t piece, bool reversed, const F &f)
{
  const std::int64_t begin = pieces.begin[piece], end = pieces.begin[piece + 1];
  for (std::int64_t k = begin; k < end; ++k)
    f(static_cast<PetscInt>(pieces.order[at(reversed ? end - 1 - (k - begin) : k)]));
}

/// The search on one rank.
class Search {
public:
  Search(const LineSource &source, PetscInt block)
      : A_(source.rows), own_block_(source.block), comm_(PetscObjectComm((PetscObject)A_)), block_(block),
        reach_(A_, block)
  {
  }

  PetscErrorCode run(const LinesOfGraphOptions &options, const FindLines &find,
                     std::shared_ptr<const MovedRows> *moved, LinesOfGraph *lines, PetscInt *cut)
  {
    PetscFunctionBegin;
    PetscCall(reach_.Open(options));
    PetscCall(find(reach_.strengths(), &paths_));
    reach_.forget_strengths();
    PetscCall(Agree());
    PetscCallCXX(divide());
    PetscCall(Gather());
    PetscCallCXX(segments_.connect());
    *cut = static_cast<PetscInt>(segments_.chains.size());
    if (*cut > 0) PetscCall(Move(moved));
    PetscCall(reach_.Close());
    *lines = std::move(lines_);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// A coupling of an own element with one of another rank, in global numbers.
  struct Crossing {
    PetscInt own, other;
    bool     agreed = false;
    bool     operator<(const Crossing &c) const
    {
      return other != c.other ? other < c.other : own < c.own; // in the order of the other ranks
    }
  };

  /// Keeps those couplings with other ranks that both ranks found.
  PetscErrorCode Agree()
  {
    Parcels<PetscInt> to, from;
    PetscFunctionBegin;
    for (std::int64_t l = 0; l < paths_.lines(); ++l)
      for (std::int64_t k = paths_.begin[at(l)]; k + 1 < paths_.begin[at(l) + 1]; ++k) {
        auto a = static_cast<PetscInt>(paths_.order[at(k)]),
             b = static_cast<PetscInt>(paths_.order[at(k) + 1]);
        if (reach_.is_own(a) == reach_.is_own(b)) continue;
        if (!reach_.is_own(a)) std::swap(a, b);
        if (b < reach_.nowhere()) crossings_.push_back({reach_.global(a), reach_.global(b)});
      }
    std::sort(crossings_.begin(), crossings_.end());
    auto crossing = crossings_.begin();
    for (PetscMPIInt r = 0; r < reach_.ranks(); ++r) {
      for (; crossing != crossings_.end() && reach_.owner(crossing->other) == r; ++crossing)
        to.data.push_back(crossing->own), to.data.push_back(crossing->other);
      PetscCall(to.EndRank());
    }
    PetscCall(Exchange(comm_, to, &from));
    for (std::size_t k = 0; k < from.data.size(); k += 2)
      if (Crossing *mine = find(from.data[k + 1], from.data[k])) mine->agreed = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Crossing *find(PetscInt own, PetscInt other)
  {
    const Crossing key{own, other};
    const auto     found = std::lower_bound(crossings_.begin(), crossings_.end(), key);
    return found == crossings_.end() || key < *found ? nullptr : &*found;
  }

  /// The element of another rank that continues the line of an own one, both local; -1: the line ends.
  PetscInt continues(std::int64_t own, std::int64_t other)
  {
    if (other >= reach_.nowhere()) return -1;
    const PetscInt  next  = reach_.global(static_cast<PetscInt>(other));
    const Crossing *found = find(reach_.global(static_cast<PetscInt>(own)), next);
    return found && found->agreed ? next : -1;
  }

  /// Divides paths into runs of own elements: lines of this rank, and segments of lines that span ranks.
  /// From here on own elements count from 0.
  void divide()
  {
    lines_.begin = pieces_.begin = {0};
    lines_.order.reserve(at(reach_.own_elements()));
    const auto is_own = [&](std::int64_t k) {
      return reach_.is_own(static_cast<PetscInt>(paths_.order[at(k)]));
    };
    for (std::int64_t l = 0; l < paths_.lines(); ++l) {
      const std::int64_t first = paths_.begin[at(l)], last = paths_.begin[at(l) + 1];
      for (std::int64_t k = first, end; k < last; k = end + 1) {
        for (end = k; end < last && is_own(end); ++end) {
        }
        if (end == k) continue;
        const std::int64_t front = paths_.order[at(k)], back = paths_.order[at(end) - 1];
        const PetscInt     before = k > first ? continues(front, paths_.order[at(k) - 1]) : -1,
                       after      = end < last ? continues(back, paths_.order[at(end)]) : -1;
        LinesOfGraph &to          = before < 0 && after < 0 ? lines_ : pieces_;
        for (std::int64_t e = k; e < end; ++e) to.order.push_back(paths_.order[at(e)] - reach_.first_own());
        end_line(&to);
        if (before >= 0 || after >= 0)
          own_.push_back(
            {{reach_.global(static_cast<PetscInt>(front)), reach_.global(static_cast<PetscInt>(back))},
             {before, after},
             static_cast<PetscInt>(end - k)});
      }
    }
    paths_ = {}, crossings_ = {};
  }

  PetscErrorCode Gather()
  {
    const auto               ranks = at(reach_.ranks());
    const auto               whole = static_cast<PetscInt>(lines_.order.size());
    PetscMPIInt              count;
    std::vector<PetscMPIInt> counts(ranks), begin(ranks + 1, 0);
    PetscFunctionBegin;
    load_.resize(ranks);
    PetscCallMPI(MPI_Allgather(&whole, 1, MPIU_INT, load_.data(), 1, MPIU_INT, comm_));
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(own_.size()) * numbers_of_segment, &count));
    PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_));
    for (std::size_t r = 0; r < ranks; ++r) {
      begin[r + 1] = begin[r] + counts[r];
      segments_.rank.insert(segments_.rank.end(), at(counts[r] / numbers_of_segment),
                            static_cast<PetscMPIInt>(r));
    }
    first_ = at(begin[at(reach_.rank())] / numbers_of_segment);
    segments_.all.resize(segments_.rank.size());
    PetscCallMPI(MPI_Allgatherv(own_.data(), count, MPIU_INT, segments_.all.data(), counts.data(),
                                begin.data(), MPIU_INT, comm_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Moves each line that spans ranks to the rank that solves it.
  PetscErrorCode Move(std::shared_ptr<const MovedRows> *moved)
  {
    auto              to = std::make_shared<MovedRows>();
    Parcels<PetscInt> arriving; // elements of other ranks
    SentRows          rows;
    MatType           type = MATSEQAIJ;
    bool              on_device;
    PetscFunctionBegin;
    PetscCallCXX(segments_.deal(load_));
    PetscCall(Leave(&arriving, &rows));
    PetscCall(JoinLines());
    PetscCallCXX(assemble(arriving, rows, to.get()));
    PetscCall(BlockIsOnDevice(own_block_, &on_device));
    if (on_device) PetscCall(MatGetType(own_block_, &type));
    PetscCall(to->Open(A_, type));
    *moved = std::move(to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Finds the rank of each own element, and its number there, in the order of global numbers. Sends the rows
  /// that other ranks solve, and gets those of this rank. Collective.
  PetscErrorCode Leave(Parcels<PetscInt> *arriving, SentRows *got)
  {
    const PetscInt    elements = reach_.own_elements();
    const PetscMPIInt ranks = reach_.ranks(), rank = reach_.rank();
    Indices           begin(at(ranks)), count(at(ranks), 0), other_rank, other_number;
    Parcels<PetscInt> leaving, rows;
    PetscFunctionBegin;
    rank_of_.assign(at(elements), rank);
    for (const Chain &chain : segments_.chains)
      for (const auto &[s, reversed] : chain.segments)
        if (segments_.rank[s] == rank)
          each_of(pieces_, s - first_, false, [&](PetscInt e) { rank_of_[at(e)] = chain.owner; });
    std::vector<Indices> of(at(ranks));
    for (PetscInt e = 0; e < elements; ++e)
      if (rank_of_[at(e)] != rank) of[at(rank_of_[at(e)])].push_back(e);
    for (PetscMPIInt r = 0; r < ranks; ++r) {
      for (PetscInt e : of[at(r)]) {
        leaving.data.push_back(reach_.first() + e);
        for (PetscInt c = 0; c < block_; ++c) rows.data.push_back(e * block_ + c);
      }
      PetscCall(leaving.EndRank());
      PetscCall(rows.EndRank());
    }
    PetscCall(Exchange(comm_, leaving, arriving));
    // elements that stay are between those of lower and of higher ranks
    const PetscInt staying = elements - static_cast<PetscInt>(leaving.data.size());
    for (PetscMPIInt r = 0; r < ranks; ++r) begin[at(r)] = arriving->begin[at(r)] + (r > rank ? staying : 0);
    PetscCallMPI(MPI_Alltoall(MPI_IN_PLACE, 1, MPIU_INT, begin.data(), 1, MPIU_INT, comm_));
    number_.resize(at(elements));
    for (PetscInt e = 0; e < elements; ++e)
      number_[at(e)] = begin[at(rank_of_[at(e)])] + count[at(rank_of_[at(e)])]++;
    PetscCall(
      reach_.OfOthers([this](PetscInt e) { return static_cast<PetscInt>(rank_of_[at(e)]); }, &other_rank));
    PetscCall(reach_.OfOthers([this](PetscInt e) { return number_[at(e)]; }, &other_number));
    for (PetscInt k = 0; k < reach_.own().count_of_others(); ++k) {
      const PetscInt other = reach_.other_of(k), column = reach_.own().others()[k];
      ghost_.push_back({static_cast<PetscMPIInt>(other_rank[at(other)]),
                        other_number[at(other)] * block_ + column % block_});
    }
    PetscCall(SendRows(
      comm_, reach_.own(), rows,
      [this](PetscInt row, bool own, PetscInt k) { return new_column(row, own, k); }, got));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The number of a column on the rank that solves a row; -1: the column is not there.
  PetscInt new_column(PetscInt row, bool own, PetscInt k) const
  {
    const PetscMPIInt rank = rank_of_[at(row / block_)];
    if (!own) return ghost_[at(k)].rank == rank ? ghost_[at(k)].number : -1;
    return rank_of_[at(k / block_)] == rank ? number_[at(k / block_)] * block_ + k % block_ : -1;
  }

  /// Numbers the lines of this rank, and adds those that span ranks. Collective.
  PetscErrorCode JoinLines()
  {
    const PetscMPIInt        ranks = reach_.ranks(), rank = reach_.rank();
    std::vector<Indices>     to(at(ranks));
    Parcels<PetscInt>        sent, from;
    std::vector<PetscMPIInt> used;
    PetscFunctionBegin;
    for (std::int64_t &e : lines_.order) e = number_[at(e)];
    for (const Chain &chain : segments_.chains)
      for (const auto &[s, reversed] : chain.segments)
        if (segments_.rank[s] == rank && chain.owner != rank)
          each_of(pieces_, s - first_, reversed,
                  [&, to_rank = chain.owner](PetscInt e) { to[at(to_rank)].push_back(number_[at(e)]); });
    for (const Indices &of_rank : to) {
      sent.data.insert(sent.data.end(), of_rank.begin(), of_rank.end());
      PetscCall(sent.EndRank());
    }
    PetscCall(Exchange(comm_, sent, &from));
    used = from.begin;
    for (const Chain &chain : segments_.chains) {
      if (chain.owner != rank) continue;
      for (const auto &[s, reversed] : chain.segments) {
        const auto r = at(segments_.rank[s]);
        if (segments_.rank[s] == rank)
          each_of(pieces_, s - first_, reversed, [&](PetscInt e) { lines_.order.push_back(number_[at(e)]); });
        else
          for (PetscInt k = 0; k < segments_.all[s].length; ++k)
            lines_.order.push_back(from.data[at(used[r]++)]);
      }
      end_line(&lines_);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Joins the rows that stay and those that arrived.
  void assemble(const Parcels<PetscInt> &arriving, const SentRows &rows, MovedRows *to) const
  {
    const OwnRows    &own  = reach_.own();
    const std::size_t rank = at(reach_.rank());
    std::size_t       row = 0, entry = 0;
    to->from_others = static_cast<PetscInt>(arriving.data.size()) * block_;
    to->begin.push_back(0);
    to->rows.reserve(arriving.data.size() * at(block_) + at(own.rows()));
    to->column.reserve(at(own.entries()) + rows.column.data.size());
    to->value.reserve(to->column.capacity());
    const auto add_arrived = [&](PetscMPIInt begin, PetscMPIInt end) {
      for (PetscMPIInt k = begin; k < end; ++k)
        for (PetscInt c = 0; c < block_; ++c) {
          const std::size_t last = entry + at(rows.length.data[row++]);
          to->rows.push_back(arriving.data[at(k)] * block_ + c);
          for (; entry < last; ++entry) {
            to->column.push_back(rows.column.data[entry]);
            to->value.push_back(rows.value.data[entry]);
          }
          to->begin.push_back(static_cast<PetscInt>(to->column.size()));
        }
    };
    add_arrived(0, arriving.begin[rank]);
    for (PetscInt r = 0; r < own.rows(); ++r) {
      if (rank_of_[at(r / block_)] != reach_.rank()) continue;
      to->rows.push_back(reach_.first() * block_ + r);
      own.each(r, [&](bool is_own, PetscInt k, Scalar value) {
        const PetscInt column = new_column(r, is_own, k);
        if (column >= 0) to->column.push_back(column), to->value.push_back(value);
      });
      to->begin.push_back(static_cast<PetscInt>(to->column.size()));
    }
    add_arrived(arriving.begin[rank + 1], arriving.begin.back());
  }

  /// The rank that solves a column of another rank, and its number there.
  struct Ghost {
    PetscMPIInt rank;
    PetscInt    number;
  };

  Mat                   A_, own_block_;
  MPI_Comm              comm_;
  PetscInt              block_;
  RowsInReach           reach_;
  LinesOfGraph          paths_; ///< in own rows and those that couple with them, in local numbers
  std::vector<Crossing> crossings_;
  LinesOfGraph          lines_;     ///< that this rank solves
  LinesOfGraph          pieces_;    ///< own segments
  std::vector<Segment>  own_;       ///< the same
  std::size_t           first_ = 0; ///< number of the first of them
  std::vector<PetscInt> load_;      ///< elements of lines on one rank, of each rank
  Segments              segments_;
  // where own elements, and columns of other ranks, are solved
  std::vector<PetscMPIInt> rank_of_;
  Indices                  number_;
  std::vector<Ghost>       ghost_;
};

} // namespace

PetscErrorCode LinesAcrossRanks(const LineSource &source, const LinesOfGraphOptions &options,
                                const FindLines &find, std::shared_ptr<const MovedRows> *moved,
                                LinesOfGraph *lines, PetscInt *cut)
{
  PetscFunctionBegin;
  PetscCall(Search(source, options.block).run(options, find, moved, lines, cut));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
