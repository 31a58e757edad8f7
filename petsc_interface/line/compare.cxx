// SPDX-License-Identifier: BSD-2-Clause
#include "../support/format.hpp"
#include "pc.hpp"

#include "../support/csr.hpp"
#include "../lines/places.hpp"

#include <ribbon/reference/sparse.hpp>

#include <cmath>
#include <limits>

namespace ribbon::petsc {

namespace {

/// Entry S(a, b) or T(a, b) of a Kronecker product.
Scalar entry(const KroneckerFactors<Scalar> &f, const std::vector<Scalar> &values, int a, int b)
{
  if (f.coupled) return values[static_cast<std::size_t>(a * f.p + b)];
  return a == b ? values[values.size() == 1 ? 0 : static_cast<std::size_t>(a)] : Scalar(0);
}

using Row = std::vector<std::pair<std::int64_t, Scalar>>;

/// Adds `shift` times the largest entry of the row to the diagonal, in the direction of the diagonal entry.
/// A diagonal of zero is shifted in the direction of 1.
void shift_diagonal(Row *row, std::int64_t u, double shift)
{
  Scalar         diagonal(0);
  real_t<Scalar> largest = 0;
  for (const auto &[column, value] : *row) {
    largest = std::max(largest, magnitude(value));
    if (column == u) diagonal += value;
  }
  const real_t<Scalar> size = magnitude(diagonal),
                       more = static_cast<real_t<Scalar>>(shift) * (largest > 0 ? largest : 1);
  row->emplace_back(u, size > 0 ? diagonal * (more / size) : Scalar(more));
}

/// Least-squares solution of zero mean for a matrix whose rows sum to zero and which has no other null
/// vector. With l^H A = 0 the part of b along l is removed. The remaining system is solved with the last
/// unknown zero. Then the mean of the solution is subtracted.
std::vector<Scalar> solve_zero_mean(const std::vector<Row> &A, std::vector<Scalar> b)
{
  const std::size_t   last = b.size() - 1;
  std::vector<Row>    inner(last), adjoint(last);
  std::vector<Scalar> right(last, Scalar(0));
  for (std::size_t i = 0; i <= last; ++i)
    for (const auto &[j, value] : A[i]) {
      if (static_cast<std::size_t>(j) == last) continue;
      if (i == last) right[static_cast<std::size_t>(j)] -= conjugate(value);
      else
        inner[i].emplace_back(j, value),
          adjoint[static_cast<std::size_t>(j)].emplace_back(static_cast<std::int64_t>(i), conjugate(value));
    }
  std::vector<Scalar> l = reference::solve(adjoint, right);
  if (l.empty()) return {};
  l.push_back(Scalar(1));
  Scalar         along(0), sum(0);
  real_t<Scalar> norm = 0;
  for (std::size_t i = 0; i <= last; ++i)
    along += conjugate(l[i]) * b[i], norm += magnitude(l[i]) * magnitude(l[i]);
  for (std::size_t i = 0; i <= last; ++i) b[i] -= along / norm * l[i];
  b.pop_back();
  std::vector<Scalar> x = reference::solve(inner, b);
  if (x.empty()) return {};
  x.push_back(Scalar(0));
  for (const Scalar &value : x) sum += value;
  for (Scalar &value : x) value -= sum / static_cast<real_t<Scalar>>(x.size());
  return x;
}

/// Solves each set of unknowns that couple with each other separately. Singular sets, whose rows sum to
/// zero, are solved by solve_zero_mean().
std::vector<Scalar> solve_pieces(const std::vector<Row> &A, const std::vector<Scalar> &b)
{
  const std::size_t        n = b.size();
  std::vector<std::size_t> piece(n), number(n);
  for (std::size_t u = 0; u < n; ++u) piece[u] = u;
  const auto first_of = [&piece](std::size_t u) {
    while (piece[u] != u) u = piece[u] = piece[piece[u]];
    return u;
  };
  for (std::size_t u = 0; u < n; ++u)
    for (const auto &[column, value] : A[u]) {
      const std::size_t a = first_of(u), c = first_of(static_cast<std::size_t>(column));
      if (value != Scalar(0)) piece[std::max(a, c)] = std::min(a, c);
    }
  std::vector<std::vector<std::size_t>> members(n);
  for (std::size_t u = 0; u < n; ++u)
    number[u] = members[first_of(u)].size(), members[first_of(u)].push_back(u);
  std::vector<Scalar> x(n);
  for (const auto &own : members) {
    if (own.empty()) continue;
    std::vector<Row>    rows;
    std::vector<Scalar> right, found;
    bool                singular = own.size() > 1;
    for (std::size_t u : own) {
      Scalar         sum(0);
      real_t<Scalar> largest = 0;
      rows.emplace_back();
      right.push_back(b[u]);
      for (const auto &[column, value] : A[u]) {
        if (value == Scalar(0)) continue;
        rows.back().emplace_back(static_cast<std::int64_t>(number[static_cast<std::size_t>(column)]), value);
        sum += value, largest = std::max(largest, magnitude(value));
      }
      singular = singular && magnitude(sum) <= 4 * static_cast<real_t<Scalar>>(rows.back().size()) *
                                                 unit_roundoff<Scalar>() * largest;
    }
    found = singular ? solve_zero_mean(rows, right) : reference::solve(rows, right);
    if (found.empty()) return {};
    for (std::size_t k = 0; k < own.size(); ++k) x[own[k]] = found[k];
  }
  return x;
}

/// Adds the entries of rows of this rank to their lines.
template <class Lines>
void add_rows(const HostRows &A, const LineSource &source, const LineRequest &request,
              const std::vector<Place> &places, Lines *lines)
{
  const LineDirection            &direction = request.direction;
  const KroneckerFactors<Scalar> &f         = source.factors;
  for (std::int64_t row = 0; row < A.rows; ++row) {
    const Place &own = places[static_cast<std::size_t>(row)];
    if (own.line < 0) continue;
    auto      &line = (*lines)[static_cast<std::size_t>(own.line)];
    const auto add  = [&](const Place &column, const Scalar &value, const std::vector<Scalar> &factors) {
      for (int c = 0; c < f.p; ++c)
        for (int d = 0; d < f.p; ++d) {
          const Scalar v = value * entry(f, factors, c, d);
          if (v != Scalar(0))
            line.rows[static_cast<std::size_t>(own.number * f.p + c)].emplace_back(column.number * f.p + d,
                                                                                    v);
        }
    };
    for (int c = 0; c < f.p; ++c)
      line.at[static_cast<std::size_t>(own.number * f.p + c)] =
        static_cast<std::size_t>(row) * static_cast<std::size_t>(f.p) + static_cast<std::size_t>(c);
    if (source.kronecker) add(own, Scalar(1), f.S);
    Scalar         diagonal(0);
    real_t<Scalar> left_out = 0; // entries on the line that are added to the diagonal
    for (PetscInt e = A.row_begin[row]; e < A.row_begin[row + 1]; ++e) {
      const Place &column = places[static_cast<std::size_t>(A.column[e])];
      if (A.column[e] == row) diagonal = A.value[e];
      if (on_line(own, column, direction, request.half_bandwidth, request.periodic))
        add(column, A.value[e], f.T);
      else if (direction.lumped && column.line == own.line) left_out += magnitude(A.value[e]);
    }
    const real_t<Scalar> size = magnitude(diagonal);
    if (left_out > 0) add(own, size > 0 ? diagonal * (left_out / size) : Scalar(left_out), f.T);
  }
}

} // namespace

PetscErrorCode LineReference::create(const LineSource &source, PetscInt rbegin, const LineRequest &request,
                                     double shift, std::unique_ptr<LineReference> *reference)
{
  const LineDirection            &direction = request.direction;
  const KroneckerFactors<Scalar> &f         = source.factors;
  HostRows                        A;
  PetscFunctionBegin;
  PetscCallCXX(*reference = std::make_unique<LineReference>());
  LineReference &r = **reference;
  r.omega_ = request.omega, r.pinned_ = request.zero_mean, r.begin_ = static_cast<std::int64_t>(rbegin) * f.p;
  PetscCall(GetHostRows(source.block, true, &A));
  std::vector<std::int64_t> lengths;
  const std::vector<Place>  places = places_of(direction, A.rows, &lengths);
  r.lines_.resize(lengths.size());
  for (std::size_t l = 0; l < lengths.size(); ++l)
    r.lines_[l].at.resize(static_cast<std::size_t>(lengths[l] * f.p)),
      r.lines_[l].rows.resize(r.lines_[l].at.size());
  add_rows(A, source, request, places, &r.lines_);
  PetscCall(RestoreHostRows(source.block, &A));
  if (direction.chain) {
    const LineChain   &chain = *direction.chain;
    const std::int64_t size  = direction.components,
                       first = static_cast<std::int64_t>(chain.mine().first) * size * f.p,
                       all   = chain.length();
    for (OneLine &line : r.lines_) // from here on, indices of the whole line
      for (Row &row : line.rows)
        for (auto &[column, value] : row) column += first;
    for (const OutsideEntry &e : *request.outside) {
      const Place &own = places[static_cast<std::size_t>(e.row)];
      if (own.line < 0) continue;
      const std::int64_t element = (chain.mine().first + own.along + e.distance + all) % all,
                         number  = element * size + (size > 1 ? e.component : 0);
      for (int c = 0; c < f.p; ++c)
        for (int d = 0; d < f.p; ++d)
          r.lines_[static_cast<std::size_t>(own.line)]
            .rows[static_cast<std::size_t>(own.number * f.p + c)]
            .emplace_back(number * f.p + d, e.value * entry(f, f.T, c, d));
    }
    PetscCall(r.BringTogether(request, size * f.p));
  }
  for (OneLine &line : r.lines_)
    for (std::size_t u = 0; u < line.rows.size() && shift > 0; ++u)
      shift_diagonal(&line.rows[u], static_cast<std::int64_t>(u), shift);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineReference::BringTogether(const LineRequest &request, std::int64_t unknowns_of_element)
{
  struct Number { // row and column on the line; the diagonal comes first
    std::int64_t line, row, column, name;
    Scalar       value;
  };
  std::vector<Number>      mine;
  PetscMPIInt              bytes, length;
  std::vector<PetscMPIInt> all, at;
  PetscFunctionBegin;
  chain_                   = request.direction.chain;
  const std::int64_t first = static_cast<std::int64_t>(chain_->mine().first) * unknowns_of_element;
  for (std::size_t l = 0; l < lines_.size(); ++l)
    for (std::size_t u = 0; u < lines_[l].rows.size(); ++u) {
      const std::int64_t row = first + static_cast<std::int64_t>(u);
      sent_.push_back(lines_[l].at[u]);
      mine.push_back({static_cast<std::int64_t>(l), row, row,
                      begin_ + static_cast<std::int64_t>(lines_[l].at[u]), Scalar(0)});
      for (const auto &[column, value] : lines_[l].rows[u])
        mine.push_back({static_cast<std::int64_t>(l), row, column, -1, value});
    }
  const auto root = chain_->own == 0 ? static_cast<std::size_t>(chain_->size()) : 0;
  all.resize(root), at.resize(root), count_.resize(root), begin_at_.resize(root);
  bytes  = static_cast<PetscMPIInt>(mine.size() * sizeof(Number)),
  length = static_cast<PetscMPIInt>(sent_.size());
  PetscCallMPI(MPI_Gather(&bytes, 1, MPI_INT, all.data(), 1, MPI_INT, 0, chain_->comm));
  PetscCallMPI(MPI_Gather(&length, 1, MPI_INT, count_.data(), 1, MPI_INT, 0, chain_->comm));
  for (std::size_t q = 1; q < root; ++q)
    at[q] = at[q - 1] + all[q - 1], begin_at_[q] = begin_at_[q - 1] + count_[q - 1];
  std::vector<Number> numbers(root ? static_cast<std::size_t>(at.back() + all.back()) / sizeof(Number) : 0);
  PetscCallMPI(MPI_Gatherv(mine.data(), bytes, MPI_BYTE, numbers.data(), all.data(), at.data(), MPI_BYTE, 0,
                           chain_->comm));
  if (!root) lines_.clear();
  for (OneLine &line : lines_) {
    line.at.assign(static_cast<std::size_t>(chain_->length() * unknowns_of_element), 0);
    line.rows.assign(line.at.size(), {});
  }
  for (const Number &n : numbers) {
    OneLine &line = lines_[static_cast<std::size_t>(n.line)];
    if (n.name >= 0) line.at[static_cast<std::size_t>(n.row)] = name_.size(), name_.push_back(n.name);
    else line.rows[static_cast<std::size_t>(n.row)].emplace_back(n.column, n.value);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineReference::Order(const PetscScalar *from, std::vector<PetscScalar> *to) const
{
  std::vector<PetscScalar> mine;
  PetscFunctionBegin;
  for (std::size_t place : sent_) mine.push_back(from[place]);
  to->resize(name_.size());
  PetscCallMPI(MPI_Gatherv(mine.data(), static_cast<PetscMPIInt>(mine.size()), MPIU_SCALAR, to->data(),
                           count_.data(), begin_at_.data(), MPIU_SCALAR, 0, chain_->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineReference::keep(Vec b)
{
  const PetscScalar *a;
  PetscInt           n;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetArrayRead(b, &a));
  if (chain_) PetscCall(Order(a, &kept_));
  else PetscCallCXX(kept_.assign(a, a + n));
  PetscCall(VecRestoreArrayRead(b, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineReference::compare(Vec x, bool transposed)
{
  const PetscScalar       *a;
  std::vector<PetscScalar> ordered;
  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(x, &a));
  if (chain_) PetscCall(Order(a, &ordered));
  for (std::size_t l = 0; l < lines_.size(); ++l)
    PetscCallCXX(compare_line(l, kept_.data(), chain_ ? ordered.data() : a, transposed));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LineReference::compare(const PetscScalar *b, const PetscScalar *x, bool transposed)
{
  std::vector<PetscScalar> ordered_b, ordered_x;
  PetscFunctionBegin;
  if (chain_) {
    PetscCall(Order(b, &ordered_b));
    PetscCall(Order(x, &ordered_x));
    b = ordered_b.data(), x = ordered_x.data();
  }
  for (std::size_t l = 0; l < lines_.size(); ++l) PetscCallCXX(compare_line(l, b, x, transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void LineReference::compare_line(std::size_t line, const PetscScalar *b, const PetscScalar *x,
                                 bool transposed)
{
  const std::vector<Row>         &own      = lines_[line].rows;
  const std::vector<std::size_t> &position = lines_[line].at;
  std::vector<Row>                turned(transposed ? own.size() : 0);
  std::vector<Scalar>             right(own.size());
  for (std::size_t u = 0; u < own.size(); ++u) {
    right[u] = reinterpret_cast<const Scalar &>(b[position[u]]) * Scalar(omega_);
    if (transposed)
      for (const auto &[column, value] : own[u])
        turned[static_cast<std::size_t>(column)].emplace_back(static_cast<std::int64_t>(u), value);
  }
  std::vector<Scalar> wanted  = pinned_ ? solve_pieces(transposed ? turned : own, right)
                                        : reference::solve(transposed ? turned : own, right);
  const bool          regular = !wanted.empty();
  double              largest = 0, size = -1;
  std::size_t         at = 0;
  if (!regular) wanted.assign(own.size(), Scalar(std::numeric_limits<real_t<Scalar>>::quiet_NaN()));
  for (const Scalar &w : wanted) largest = std::max(largest, static_cast<double>(magnitude(w)));
  for (std::size_t u = 0; u < wanted.size(); ++u) {
    const double difference =
      static_cast<double>(magnitude(reinterpret_cast<const Scalar &>(x[position[u]]) - wanted[u]));
    const double relative = std::isfinite(difference) ? (difference == 0 ? 0 : difference / largest)
                                                      : std::numeric_limits<double>::infinity();
    if (relative > size) size = relative, at = u;
  }
  if (size <= worst.size) return;
  worst = {size, name_.empty() ? begin_ + static_cast<std::int64_t>(position[at]) : name_[position[at]],
           static_cast<std::int64_t>(line), static_cast<double>(PetscRealPart(x[position[at]])),
           static_cast<double>(PetscRealPart(reinterpret_cast<const PetscScalar &>(wanted[at])))};
}

PetscErrorCode CompareColumns(PC_Line *line, Mat B, Mat X, bool transposed)
{
  const PetscScalar *b, *x;
  PetscInt           columns, ldb, ldx;
  PetscFunctionBegin;
  if (!line->compare) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(B, nullptr, &columns));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
  PetscCall(MatDenseGetArrayRead(B, &b));
  PetscCall(MatDenseGetArrayRead(X, &x));
  for (PetscInt c = 0; c < columns; ++c)
    for (const LineBatch &batch : line->sweep.groups[0].batches) {
      const auto column = static_cast<std::size_t>(c);
      PetscCall(batch.reference->compare(b + column * static_cast<std::size_t>(ldb),
                                         x + column * static_cast<std::size_t>(ldx), transposed));
    }
  PetscCall(MatDenseRestoreArrayRead(X, &x));
  PetscCall(MatDenseRestoreArrayRead(B, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrintComparison(PC pc, PC_Line *line)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  LineDifference worst;
  std::string    text, direction;
  PetscMPIInt    rank;
  PetscFunctionBegin;
  if (!line->compare || !line->failure.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  for (LineGroup &group : line->sweep.groups)
    for (LineBatch &batch : group.batches) {
      LineDifference &found = batch.reference->worst;
      if (found.size > worst.size) worst = found, direction = batch.request.direction.name;
      found = LineDifference();
    }
  struct {
    double size;
    int    rank;
  } place;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  place.size = worst.size, place.rank = rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &place, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm));
  const char *prefix = ((PetscObject)pc)->prefix;
  if (rank == place.rank)
    text = format(
      "PC line -%spc_line_compare: application %lld differs from the serial reference by %.1e of the line's "
      "largest number at most: row %lld (line %lld of rank %d along %s) has %.17g instead of %.17g",
      prefix ? prefix : "", static_cast<long long>(line->compared), worst.size,
      static_cast<long long>(worst.row), static_cast<long long>(worst.line), (int)rank, direction.c_str(),
      worst.value, worst.wanted);
  ++line->compared;
  std::vector<char> all(512, '\0'); // rank 0 prints
  text.copy(all.data(), all.size() - 1);
  PetscCallMPI(MPI_Bcast(all.data(), static_cast<PetscMPIInt>(all.size()), MPI_CHAR, place.rank, comm));
  if (place.size >= 0) PetscCall(PetscPrintf(comm, "%s\n", all.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
