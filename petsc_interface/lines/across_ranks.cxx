// SPDX-License-Identifier: BSD-2-Clause
#include "across_ranks.hpp"

#include "../support/csr.hpp"
#include "../support/session.hpp"
#include "segments.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ribbon::petsc {

namespace {

using Indices = std::vector<PetscInt>;

std::size_t at(PetscInt k)
{
  return static_cast<std::size_t>(k);
}

/// Sorts, and removes repetitions.
void keep_ascending(Indices *elements)
{
  std::sort(elements->begin(), elements->end());
  elements->erase(std::unique(elements->begin(), elements->end()), elements->end());
}

/// Sends to[r] to rank r; from[r] is what rank r sent. Collective.
PetscErrorCode Exchange(MPI_Comm comm, const std::vector<Indices> &to, std::vector<Indices> *from)
{
  const std::size_t        ranks = to.size();
  std::vector<PetscMPIInt> sent(ranks), got(ranks), sent_at(ranks + 1, 0), got_at(ranks + 1, 0);
  Indices                  out, in;
  PetscFunctionBegin;
  for (std::size_t r = 0; r < ranks; ++r) {
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(to[r].size()), &sent[r]));
    out.insert(out.end(), to[r].begin(), to[r].end());
  }
  PetscCallMPI(MPI_Alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm));
  for (std::size_t r = 0; r < ranks; ++r)
    sent_at[r + 1] = sent_at[r] + sent[r], got_at[r + 1] = got_at[r] + got[r];
  in.resize(static_cast<std::size_t>(got_at[ranks]));
  PetscCallMPI(MPI_Alltoallv(out.data(), sent.data(), sent_at.data(), MPIU_INT, in.data(), got.data(),
                             got_at.data(), MPIU_INT, comm));
  from->resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    (*from)[r].assign(in.begin() + got_at[r], in.begin() + got_at[r + 1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Elements of a set of rows as rows.
PetscErrorCode RowsOf(const Indices &elements, PetscInt block, IS *is)
{
  Indices rows;
  PetscFunctionBegin;
  for (PetscInt e : elements)
    for (PetscInt c = 0; c < block; ++c) rows.push_back(e * block + c);
  PetscCall(
    ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(rows.size()), rows.data(), PETSC_COPY_VALUES, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The search on one rank.
class Search {
public:
  Search(Mat A, PetscInt block) : A_(A), comm_(PetscObjectComm((PetscObject)A)), block_(block) { }

  PetscErrorCode run(const LinesOfGraphOptions &options, std::shared_ptr<const MovedRows> *moved,
                     LinesOfGraph *lines, PetscInt *cut)
  {
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(comm_, &ranks_));
    PetscCallMPI(MPI_Comm_rank(comm_, &rank_));
    PetscCall(MatGetOwnershipRanges(A_, &ranges_));
    begin_ = ranges_[rank_] / block_, end_ = ranges_[rank_ + 1] / block_;
    PetscCall(FindPaths(options));
    PetscCall(Agree());
    PetscCallCXX(divide());
    PetscCall(Gather());
    PetscCallCXX(segments_.connect());
    *cut = static_cast<PetscInt>(segments_.chains.size());
    PetscCall(Collect());
    if (*cut > 0) PetscCall(Move(moved));
    PetscCallCXX(*lines = numbered(*cut > 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  bool        is_own(PetscInt element) const { return element >= begin_ && element < end_; }
  PetscMPIInt owner(PetscInt element) const
  {
    return static_cast<PetscMPIInt>(std::upper_bound(ranges_, ranges_ + ranks_ + 1, element * block_) -
                                    ranges_) -
           1;
  }

  /// Lines in the rows of this rank and two layers of rows that couple with them.
  PetscErrorCode FindPaths(const LinesOfGraphOptions &options)
  {
    Mat                 off, *sub;
    const PetscInt     *columns;
    PetscInt            count;
    IS                  is;
    Indices             elements;
    HostRows            rows;
    LinesOfGraph        found;
    std::vector<Scalar> strengths;
    std::vector<double> maxima;
    LinesOfGraphOptions of_strengths = options;
    PetscFunctionBegin;
    PetscCall(GetOffProcessBlock(A_, &off, &columns));
    PetscCall(MatGetSize(off, nullptr, &count));
    for (PetscInt k = 0; k < count; ++k) elements.push_back(columns[k] / block_);
    for (PetscInt e = begin_; e < end_; ++e) elements.push_back(e);
    keep_ascending(&elements);
    // the rows that couple with own rows have to be complete, or their couplings would look too strong
    PetscCall(RowsOf(elements, block_, &is));
    PetscCall(MatIncreaseOverlap(A_, 1, &is, 1));
    PetscCall(ISGetLocalSize(is, &count));
    PetscCall(ISGetIndices(is, &columns));
    for (PetscInt k = 0; k < count; ++k) elements.push_back(columns[k] / block_);
    PetscCall(ISRestoreIndices(is, &columns));
    PetscCall(ISDestroy(&is));
    keep_ascending(&elements);
    PetscCall(RowsOf(elements, block_, &is));
    PetscCall(MatCreateSubMatrices(A_, 1, &is, &is, MAT_INITIAL_MATRIX, &sub));
    PetscCall(GetHostRows(sub[0], true, &rows));
    PetscCallCXX(strengths = entries_by_strength(rows, options));
    of_strengths.strength = CouplingStrength::absolute;
    const HostRows measured{rows.rows, rows.row_begin, rows.column, strengths.data()};
    PetscCallCXX(maxima = maxima_of(measured));
    PetscCall(ShareMaxima(is, elements, &maxima));
    PetscCallCXX(found = lines_from_graph(completed(measured, maxima), of_strengths));
    PetscCall(RestoreHostRows(sub[0], &rows));
    PetscCall(MatDestroySubMatrices(1, &sub));
    PetscCall(ISDestroy(&is));
    for (std::int64_t l = 0; l < found.lines(); ++l) {
      paths_.emplace_back();
      for (auto k = static_cast<std::size_t>(found.begin[static_cast<std::size_t>(l)]);
           k < static_cast<std::size_t>(found.begin[static_cast<std::size_t>(l) + 1]); ++k)
        paths_.back().push_back(static_cast<std::size_t>(found.order[k]) < elements.size()
                                  ? elements[static_cast<std::size_t>(found.order[k])]
                                  : nowhere);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The largest coupling of every element with another one.
  std::vector<double> maxima_of(const HostRows &rows) const
  {
    std::vector<double>        all;
    std::map<PetscInt, double> size;
    for (PetscInt r = 0; r < static_cast<PetscInt>(rows.rows); ++r) {
      if (r % block_ == 0) size.clear();
      for (PetscInt e = rows.row_begin[r]; e < rows.row_begin[r + 1]; ++e) {
        double &s = size[rows.column[e] / block_];
        s         = std::hypot(s, static_cast<double>(magnitude(rows.value[e])));
      }
      if (r % block_ < block_ - 1) continue;
      all.push_back(0);
      for (const auto &[other, s] : size)
        if (other != r / block_ && is_finite(s)) all.back() = std::max(all.back(), s);
    }
    return all;
  }

  /// Replaces the maxima of elements of other ranks by those that their ranks know.
  PetscErrorCode ShareMaxima(IS rows, const Indices &elements, std::vector<double> *maxima) const
  {
    Vec                own, all;
    VecScatter         scatter;
    PetscScalar       *a;
    const PetscScalar *found;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(A_, &own, nullptr));
    PetscCall(VecGetArray(own, &a));
    for (std::size_t k = 0; k < elements.size(); ++k)
      if (is_own(elements[k])) a[(elements[k] - begin_) * block_] = static_cast<PetscReal>((*maxima)[k]);
    PetscCall(VecRestoreArray(own, &a));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, static_cast<PetscInt>(elements.size()) * block_, &all));
    PetscCall(VecScatterCreate(own, rows, all, nullptr, &scatter));
    PetscCall(VecScatterBegin(scatter, own, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, own, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(all, &found));
    for (std::size_t k = 0; k < elements.size(); ++k)
      (*maxima)[k] = static_cast<double>(PetscRealPart(found[k * at(block_)]));
    PetscCall(VecRestoreArrayRead(all, &found));
    PetscCall(VecScatterDestroy(&scatter));
    PetscCall(VecDestroy(&own));
    PetscCall(VecDestroy(&all));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Rows that couple with one more element, which stands for all others, as strongly as with any that they
  /// lack. Otherwise weak couplings of rows that are not complete would be the strongest of their row.
  HostRows completed(const HostRows &rows, const std::vector<double> &maxima)
  {
    const std::vector<double> here = maxima_of(rows);
    begin_of_row_                  = {0}, column_.clear(), value_.clear();
    for (PetscInt r = 0; r < static_cast<PetscInt>(rows.rows); ++r) {
      const std::size_t element = at(r / block_);
      column_.insert(column_.end(), rows.column + rows.row_begin[r], rows.column + rows.row_begin[r + 1]);
      value_.insert(value_.end(), rows.value + rows.row_begin[r], rows.value + rows.row_begin[r + 1]);
      if (r % block_ == 0 && here[element] < 0.999 * maxima[element]) {
        column_.push_back(static_cast<PetscInt>(rows.rows));
        value_.push_back(Scalar(static_cast<real_t<Scalar>>(maxima[element])));
      }
      begin_of_row_.push_back(static_cast<PetscInt>(column_.size()));
    }
    begin_of_row_.insert(begin_of_row_.end(), at(block_), begin_of_row_.back());
    return {rows.rows + block_, begin_of_row_.data(), column_.data(), value_.data()};
  }

  /// Keeps those couplings with other ranks that both ranks found.
  PetscErrorCode Agree()
  {
    std::vector<Indices> to(static_cast<std::size_t>(ranks_)), from;
    std::set<Pair>       mine;
    PetscFunctionBegin;
    for (const Indices &path : paths_)
      for (std::size_t k = 0; k + 1 < path.size(); ++k)
        for (const auto &[own, other] : {Pair{path[k], path[k + 1]}, Pair{path[k + 1], path[k]}})
          if (is_own(own) && !is_own(other) && other != nowhere) {
            mine.insert({own, other});
            auto &message = to[static_cast<std::size_t>(owner(other))];
            message.push_back(own), message.push_back(other);
          }
    PetscCall(Exchange(comm_, to, &from));
    for (const Indices &message : from)
      for (std::size_t k = 0; k < message.size(); k += 2)
        if (mine.count({message[k + 1], message[k]})) agreed_.insert({message[k + 1], message[k]});
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Divides paths into runs of own elements: lines of this rank, and segments of lines that span ranks.
  void divide()
  {
    for (const Indices &path : paths_)
      for (std::size_t k = 0; k < path.size();) {
        std::size_t end = k;
        while (end < path.size() && is_own(path[end])) ++end;
        if (end > k) {
          Segment segment{{path[k], path[end - 1]}, {-1, -1}, static_cast<PetscInt>(end - k)};
          if (k > 0 && agreed_.count({path[k], path[k - 1]})) segment.next[0] = path[k - 1];
          if (end < path.size() && agreed_.count({path[end - 1], path[end]})) segment.next[1] = path[end];
          const bool whole = segment.next[0] < 0 && segment.next[1] < 0;
          auto      &to    = whole ? lines_ : pieces_;
          to.emplace_back(path.begin() + static_cast<std::ptrdiff_t>(k),
                          path.begin() + static_cast<std::ptrdiff_t>(end));
          if (!whole) own_.push_back(segment);
        }
        k = end + 1;
      }
  }

  PetscErrorCode Gather()
  {
    const auto               ranks = static_cast<std::size_t>(ranks_);
    PetscInt                 whole = 0;
    PetscMPIInt              count;
    std::vector<PetscMPIInt> counts(ranks), begin(ranks + 1, 0);
    PetscFunctionBegin;
    for (const Indices &line : lines_) whole += static_cast<PetscInt>(line.size());
    load_.resize(ranks);
    PetscCallMPI(MPI_Allgather(&whole, 1, MPIU_INT, load_.data(), 1, MPIU_INT, comm_));
    PetscCall(PetscMPIIntCast(static_cast<PetscInt>(own_.size()) * numbers_of_segment, &count));
    PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_));
    for (std::size_t r = 0; r < ranks; ++r) {
      begin[r + 1] = begin[r] + counts[r];
      segments_.rank.insert(segments_.rank.end(), static_cast<std::size_t>(counts[r] / numbers_of_segment),
                            static_cast<PetscMPIInt>(r));
    }
    first_ = static_cast<std::size_t>(begin[static_cast<std::size_t>(rank_)] / numbers_of_segment);
    segments_.all.resize(segments_.rank.size());
    PetscCallMPI(MPI_Allgatherv(own_.data(), count, MPIU_INT, segments_.all.data(), counts.data(),
                                begin.data(), MPIU_INT, comm_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Sends the elements of each line that spans ranks to the rank that solves it.
  PetscErrorCode Collect()
  {
    std::vector<Indices>     to(static_cast<std::size_t>(ranks_)), from;
    std::vector<std::size_t> used(to.size(), 0);
    PetscFunctionBegin;
    PetscCallCXX(segments_.deal(load_));
    for (const Chain &chain : segments_.chains)
      for (const auto &[s, reversed] : chain.segments) {
        if (segments_.rank[s] != rank_) continue;
        const Indices &piece   = pieces_[s - first_];
        auto          &message = to[static_cast<std::size_t>(chain.owner)];
        if (reversed) message.insert(message.end(), piece.rbegin(), piece.rend());
        else message.insert(message.end(), piece.begin(), piece.end());
      }
    PetscCall(Exchange(comm_, to, &from));
    for (const Chain &chain : segments_.chains) {
      if (chain.owner != rank_) continue;
      lines_.emplace_back();
      for (const auto &[s, reversed] : chain.segments) {
        const auto     r       = static_cast<std::size_t>(segments_.rank[s]);
        const Indices &message = from[r];
        const auto     begin   = message.begin() + static_cast<std::ptrdiff_t>(used[r]);
        used[r] += at(segments_.all[s].length);
        lines_.back().insert(lines_.back().end(), begin,
                             message.begin() + static_cast<std::ptrdiff_t>(used[r]));
      }
    }
    for (const Indices &line : lines_) elements_.insert(elements_.end(), line.begin(), line.end());
    std::sort(elements_.begin(), elements_.end());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The rows of these elements, and vectors for them.
  PetscErrorCode Move(std::shared_ptr<const MovedRows> *moved) const
  {
    auto            to = std::make_shared<MovedRows>();
    const PetscInt *rows;
    PetscInt        n;
    IS              is;
    Vec             x;
    PetscFunctionBegin;
    PetscCall(RowsOf(elements_, block_, &is));
    PetscCall(ISGetLocalSize(is, &n));
    PetscCall(ISGetIndices(is, &rows));
    PetscCallCXX(to->rows.assign(rows, rows + n));
    PetscCall(ISRestoreIndices(is, &rows));
    for (PetscInt row : to->rows) to->from_others += !is_own(row / block_);
    PetscCall(MatCreateSubMatrices(A_, 1, &is, &is, MAT_INITIAL_MATRIX, &to->blocks));
    PetscCall(MatCreateVecs(A_, &x, nullptr));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &to->b));
    PetscCall(VecDuplicate(to->b, &to->x));
    PetscCall(VecScatterCreate(x, is, to->b, nullptr, &to->scatter));
    PetscCall(VecDestroy(&x));
    PetscCall(ISDestroy(&is));
    *moved = std::move(to);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  LinesOfGraph numbered(bool moved) const
  {
    LinesOfGraph lines;
    lines.begin.push_back(0);
    for (const Indices &line : lines_) {
      for (PetscInt e : line)
        lines.order.push_back(
          moved ? std::lower_bound(elements_.begin(), elements_.end(), e) - elements_.begin() : e - begin_);
      lines.begin.push_back(static_cast<std::int64_t>(lines.order.size()));
    }
    return lines;
  }

  Mat                       A_;
  MPI_Comm                  comm_;
  PetscInt                  block_;
  PetscMPIInt               ranks_ = 1, rank_ = 0;
  const PetscInt           *ranges_ = nullptr;
  PetscInt                  begin_ = 0, end_ = 0;   ///< own elements
  static constexpr PetscInt nowhere = -1;           ///< the element that completed() adds
  Indices                   begin_of_row_, column_; ///< of completed()
  std::vector<Scalar>       value_;
  std::vector<Indices>      paths_; ///< in own rows and those that couple with them
  std::set<Pair>            agreed_;
  std::vector<Indices>      lines_;     ///< that this rank solves
  std::vector<Indices>      pieces_;    ///< elements of own segments
  std::vector<Segment>      own_;       ///< own segments
  std::size_t               first_ = 0; ///< number of the first of them
  std::vector<PetscInt>     load_;      ///< elements of lines on one rank, of each rank
  Segments                  segments_;
  Indices                   elements_; ///< of lines_, ascending
};

} // namespace

PetscErrorCode LinesAcrossRanks(Mat A, const LinesOfGraphOptions &options,
                                std::shared_ptr<const MovedRows> *moved, LinesOfGraph *lines, PetscInt *cut)
{
  PetscFunctionBegin;
  PetscCall(Search(A, options.block).run(options, moved, lines, cut));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
