// SPDX-License-Identifier: BSD-2-Clause
#include "equilibrate.hpp"

#include "../csr.hpp"

#include <ribbon/multifrontal/reflector.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon::petsc {

namespace {

using Real = real_t<Scalar>;

constexpr int none        = std::numeric_limits<int>::min() / 2; ///< the exponent of zero
constexpr int most_rounds = 24, highest = std::is_same_v<Real, float> ? 120 : 1000;

/// e with 2^-e |a| between 1/2 and 1. What is not finite has no scale: it is reported by the factorization.
int exponent_of_entry(const Scalar &a)
{
  const Real size = magnitude(a);
  int        e    = none;
  if (size > 0 && is_finite(size)) std::frexp(size, &e);
  return e;
}

/// a 2^exponent, which a factor 2^exponent out of the range of numbers would not give.
template <class Number>
Number scaled(const Number &a, int exponent)
{
  if constexpr (std::is_floating_point_v<Number>) return std::ldexp(a, exponent);
  else return Number(std::ldexp(a.real(), exponent), std::ldexp(a.imag(), exponent));
}

/// Half of an exponent, away from zero where the scale makes entries smaller, so that none stays above 1.
int half(int e)
{
  return e > 0 ? (e + 1) / 2 : e / 2;
}
void move(int &exponent, int by)
{
  exponent = std::clamp(exponent - by, -highest, highest);
}

/// Both blocks in host memory, as long as this lives between open() and close().
struct BothBlocks {
  Mat             local = nullptr, outside = nullptr;
  const PetscInt *columns = nullptr;
  HostRows        near, far;

  PetscErrorCode open(Mat aij, bool values)
  {
    PetscFunctionBegin;
    PetscCall(LocalBlocks(aij, &local, &outside, &columns));
    PetscCall(GetHostRows(local, values, &near));
    if (outside) PetscCall(GetHostRows(outside, values, &far));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close()
  {
    PetscFunctionBegin;
    if (outside) PetscCall(RestoreHostRows(outside, &far));
    PetscCall(RestoreHostRows(local, &near));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscInt near_entries() const { return near.rows > 0 ? near.row_begin[near.rows] : 0; }
  PetscInt far_entries() const { return outside && near.rows > 0 ? far.row_begin[near.rows] : 0; }
  PetscInt far_columns() const
  {
    PetscInt n = 0;
    if (outside) MatGetSize(outside, nullptr, &n);
    return n;
  }
};

/// The rounds of FindScales() on the exponents of the entries.
class Rounds {
public:
  Rounds(MPI_Comm comm, const BothBlocks &A, Scales &s)
      : comm_(comm), A_(A), s_(s), row_(s.largest_of_row), column_(s.largest_of_column), far_column_(s.largest_outside)
  {
    column_.resize(s.column.size()), far_column_.resize(s.outside.size());
  }

  /// Largest exponents of the rows, scaled.
  const std::vector<int> &rows()
  {
    row_.assign(s_.row.size(), none);
    for_each([&](std::size_t i, int size, std::size_t, bool) { row_[i] = std::max(row_[i], size); });
    return row_;
  }
  /// Finds those of the columns that this rank has, whose entries are in rows of other ranks, too. Collective.
  PetscErrorCode find_columns()
  {
    PetscFunctionBegin;
    std::fill(column_.begin(), column_.end(), none), std::fill(far_column_.begin(), far_column_.end(), none);
    for_each([&](std::size_t, int size, std::size_t j, bool is_near) {
      int &to = is_near ? column_[j] : far_column_[j];
      to      = std::max(to, size);
    });
    if (s_.others) {
      PetscCall(PetscSFReduceBegin(s_.others, MPI_INT, far_column_.data(), column_.data(), MPI_MAX));
      PetscCall(PetscSFReduceEnd(s_.others, MPI_INT, far_column_.data(), column_.data(), MPI_MAX));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::vector<int> &columns() const { return column_; }
  /// Tells the other ranks the scales of columns.
  PetscErrorCode tell()
  {
    PetscFunctionBegin;
    if (!s_.others) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSFBcastBegin(s_.others, MPI_INT, s_.column.data(), s_.outside.data(), MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(s_.others, MPI_INT, s_.column.data(), s_.outside.data(), MPI_REPLACE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode any(bool here, bool *anywhere) const
  {
    int is = here ? 1 : 0;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &is, 1, MPI_INT, MPI_MAX, comm_));
    *anywhere = is != 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Calls f(row, exponent of the scaled entry, column, whether this rank has it).
  template <class F>
  void for_each(const F &f) const
  {
    for (std::size_t i = 0; i < s_.row.size(); ++i) {
      for (auto e = static_cast<std::size_t>(A_.near.row_begin[i]);
           e < static_cast<std::size_t>(A_.near.row_begin[i + 1]); ++e) {
        const auto j = static_cast<std::size_t>(A_.near.column[e]);
        if (s_.near[e] != none) f(i, s_.near[e] + s_.row[i] + s_.column[j], j, true);
      }
      for (std::size_t e = A_.outside ? static_cast<std::size_t>(A_.far.row_begin[i]) : 0;
           A_.outside && e < static_cast<std::size_t>(A_.far.row_begin[i + 1]); ++e) {
        const auto j = static_cast<std::size_t>(A_.far.column[e]);
        if (s_.far[e] != none) f(i, s_.far[e] + s_.row[i] + s_.outside[j], j, false);
      }
    }
  }

private:
  MPI_Comm          comm_;
  const BothBlocks &A_;
  Scales           &s_;
  std::vector<int> &row_, &column_, &far_column_;
};

/// Takes the largest entry out of every row: its exponent, but for rows of zeros.
void scale_rows(Rounds &rounds, Scales *s)
{
  const std::vector<int> &largest = rounds.rows();
  for (std::size_t i = 0; i < s->row.size(); ++i)
    if (largest[i] > none) move(s->row[i], largest[i]);
}

/// Whether all of these are at least multifrontal::least_of_column, but for rows, or columns, of zeros.
bool are_large(const std::vector<int> &largest)
{
  const int least = std::ilogb(multifrontal::least_of_column); // 2^least and more is large
  return std::all_of(largest.begin(), largest.end(), [&](int size) { return size == none || size - 1 >= least; });
}

/// The scales of columns alone, where these leave no row with small entries alone: unknowns in different units. The
/// scaled matrix does not depend on these. Collective.
PetscErrorCode ScaleColumns(Rounds &rounds, Scales *s, bool *suffices)
{
  PetscFunctionBegin;
  std::fill(s->row.begin(), s->row.end(), 0);
  PetscCall(rounds.find_columns());
  for (std::size_t j = 0; j < s->column.size(); ++j)
    if (rounds.columns()[j] > none) move(s->column[j], rounds.columns()[j]);
  PetscCall(rounds.tell());
  PetscCall(rounds.any(!are_large(rounds.rows()), suffices));
  *suffices = !*suffices;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Scales that bring the geometric means of the entries of all rows and columns to about 1, in turns (Curtis and Reid
/// minimize the same sum of squares of logarithms). Where rows and columns have scales far apart, rounds of largest
/// entries alone end with any of many scalings, of which most have a huge condition. Collective.
PetscErrorCode ScaleByMeans(const Rounds &rounds, Scales *s)
{
  constexpr int       most_sweeps = 256, between_looks = 4;
  constexpr double    is_still = 0.5; // of an exponent
  const auto          n = s->row.size(), m = s->outside.size();
  std::vector<double> r(n, 0), c(n, 0), outside(m, 0), sum(n), far_sum(m), in_row(n), in_column(n), far_in_column(m);
  const auto          add_up = [&](std::vector<double> &to, std::vector<double> &far) { // of all ranks
    PetscFunctionBegin;
    if (!s->others) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSFReduceBegin(s->others, MPI_DOUBLE, far.data(), to.data(), MPI_SUM));
    PetscCall(PetscSFReduceEnd(s->others, MPI_DOUBLE, far.data(), to.data(), MPI_SUM));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscFunctionBegin;
  std::fill(s->row.begin(), s->row.end(), 0), std::fill(s->column.begin(), s->column.end(), 0);
  std::fill(s->outside.begin(), s->outside.end(), 0); // for_each() has the entries as they are
  rounds.for_each(
    [&](std::size_t i, int, std::size_t j, bool near) { ++in_row[i], ++(near ? in_column[j] : far_in_column[j]); });
  PetscCall(add_up(in_column, far_in_column));
  bool moves = true;
  for (int k = 0; moves && k < most_sweeps; ++k) {
    double most = 0;
    std::fill(sum.begin(), sum.end(), 0), std::fill(far_sum.begin(), far_sum.end(), 0);
    rounds.for_each([&](std::size_t i, int e, std::size_t j, bool near) { (near ? sum[j] : far_sum[j]) += e + r[i]; });
    PetscCall(add_up(sum, far_sum));
    for (std::size_t j = 0; j < n; ++j) {
      const double next = in_column[j] > 0 ? -sum[j] / in_column[j] : 0;
      most = std::max(most, std::fabs(next - c[j])), c[j] = next;
    }
    if (s->others) {
      PetscCall(PetscSFBcastBegin(s->others, MPI_DOUBLE, c.data(), outside.data(), MPI_REPLACE));
      PetscCall(PetscSFBcastEnd(s->others, MPI_DOUBLE, c.data(), outside.data(), MPI_REPLACE));
    }
    std::fill(sum.begin(), sum.end(), 0);
    rounds.for_each([&](std::size_t i, int e, std::size_t j, bool near) { sum[i] += e + (near ? c[j] : outside[j]); });
    for (std::size_t i = 0; i < n; ++i) r[i] = in_row[i] > 0 ? -sum[i] / in_row[i] : 0;
    if (k % between_looks == 0) PetscCall(rounds.any(most > is_still, &moves));
  }
  for (std::size_t i = 0; i < n; ++i) {
    s->row[i]    = static_cast<int>(std::clamp<long>(std::lround(r[i]), -highest, highest));
    s->column[i] = static_cast<int>(std::clamp<long>(std::lround(c[i]), -highest, highest));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Ruiz's rounds, from geometric means on unless both sides have the same scales: all rows and columns at once, by the
/// square roots of their largest entries.
PetscErrorCode Equilibrate(Rounds &rounds, bool symmetric, Scales *s)
{
  bool moves = true;
  PetscFunctionBegin;
  std::fill(s->row.begin(), s->row.end(), 0), std::fill(s->column.begin(), s->column.end(), 0);
  if (!symmetric) PetscCall(ScaleByMeans(rounds, s));
  PetscCall(rounds.tell());
  for (int k = 0; moves && k < most_rounds; ++k) {
    const std::vector<int> rows = rounds.rows(), before = s->row, before_columns = s->column;
    PetscCall(rounds.find_columns());
    for (std::size_t i = 0; i < rows.size(); ++i) { // as many columns as rows
      const int row    = symmetric ? std::max(rows[i], rounds.columns()[i]) : rows[i],
                column = symmetric ? row : rounds.columns()[i];
      if (row > none) move(s->row[i], half(row));
      if (column > none) move(s->column[i], half(column));
    }
    PetscCall(rounds.tell());
    PetscCall(rounds.any(before != s->row || before_columns != s->column, &moves));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PutPlaces(const HostRows &rows, const std::vector<PetscInt> &places, Mat to)
{
  PetscScalar *a;
  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArrayWrite(to, &a));
  for (std::size_t k = 0; k < places.size(); ++k) a[k] = static_cast<PetscScalar>(rows.value[places[k]]);
  PetscCall(MatSeqAIJRestoreArrayWrite(to, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether all entries but those at these places are zero.
bool others_are_zero(const HostRows &rows, PetscInt entries, const std::vector<PetscInt> &places)
{
  std::size_t k = 0;
  for (PetscInt e = 0; e < entries; ++e) {
    if (k < places.size() && places[k] == e) ++k;
    else if (rows.value[e] != Scalar(0)) return false;
  }
  return true;
}

} // namespace

PetscErrorCode LocalBlocks(Mat aij, Mat *local, Mat *outside, const PetscInt **columns)
{
  PetscBool   mpi;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)aij, MATMPIAIJ, &mpi));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)aij), &size));
  *local = aij, *outside = nullptr, *columns = nullptr;
  if (mpi) PetscCall(MatMPIAIJGetSeqAIJ(aij, local, outside, columns));
  if (size == 1) *outside = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Scales::reset()
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&others));
  *this = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindScales(Mat aij, bool symmetric, Scales *s)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)aij);
  BothBlocks     A;
  PetscFunctionBegin;
  PetscCall(A.open(aij, true));
  const auto n = static_cast<std::size_t>(A.near.rows);
  s->row.assign(n, 0), s->column.assign(n, 0), s->outside.assign(static_cast<std::size_t>(A.far_columns()), 0);
  s->near.resize(static_cast<std::size_t>(A.near_entries())), s->far.resize(static_cast<std::size_t>(A.far_entries()));
  for (std::size_t e = 0; e < s->near.size(); ++e) s->near[e] = exponent_of_entry(A.near.value[e]);
  for (std::size_t e = 0; e < s->far.size(); ++e) s->far[e] = exponent_of_entry(A.far.value[e]);
  if (A.outside && !s->others) {
    PetscLayout layout;
    PetscCall(MatGetLayouts(aij, nullptr, &layout));
    PetscCall(PetscSFCreate(comm, &s->others));
    PetscCall(PetscSFSetGraphLayout(s->others, layout, A.far_columns(), nullptr, PETSC_OWN_POINTER, A.columns));
  }
  Rounds rounds(comm, A, *s);
  scale_rows(rounds, s);
  PetscCall(rounds.find_columns());
  PetscCall(rounds.any(!are_large(rounds.columns()), &s->differ));
  if (s->differ) {
    bool suffices = false;
    if (!symmetric) PetscCall(ScaleColumns(rounds, s, &suffices));
    if (!suffices) PetscCall(Equilibrate(rounds, symmetric, s));
    if (!symmetric) scale_rows(rounds, s);
  }
  PetscCall(A.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyScaled(Mat aij, const Scales &s, Mat *copy)
{
  BothBlocks   A, to;
  PetscScalar *near, *far = nullptr;
  PetscFunctionBegin;
  if (!*copy) PetscCall(MatDuplicate(aij, MAT_DO_NOT_COPY_VALUES, copy));
  PetscCall(A.open(aij, true));
  PetscCall(LocalBlocks(*copy, &to.local, &to.outside, &to.columns));
  PetscCall(MatSeqAIJGetArrayWrite(to.local, &near));
  if (to.outside) PetscCall(MatSeqAIJGetArrayWrite(to.outside, &far));
  for (std::size_t i = 0; i < s.row.size(); ++i) {
    for (auto e = A.near.row_begin[i]; e < A.near.row_begin[i + 1]; ++e)
      near[e] = static_cast<PetscScalar>(
        scaled(A.near.value[e], s.row[i] + s.column[static_cast<std::size_t>(A.near.column[e])]));
    for (PetscInt e = far ? A.far.row_begin[i] : 0; far && e < A.far.row_begin[i + 1]; ++e)
      far[e] = static_cast<PetscScalar>(
        scaled(A.far.value[e], s.row[i] + s.outside[static_cast<std::size_t>(A.far.column[e])]));
  }
  if (to.outside) PetscCall(MatSeqAIJRestoreArrayWrite(to.outside, &far));
  PetscCall(MatSeqAIJRestoreArrayWrite(to.local, &near));
  PetscCall(PetscObjectStateIncrease((PetscObject)*copy));
  PetscCall(A.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyWithoutZeros(Mat aij, ZeroFreeCopy *places, Mat *copy)
{
  BothBlocks               A;
  MatType                  type;
  PetscInt                 n, total, first, zeros;
  std::vector<PetscInt>    near_count, far_count, columns;
  std::vector<PetscScalar> values;
  PetscFunctionBegin;
  *copy = nullptr;
  PetscCall(A.open(aij, true));
  *places = {};
  for (PetscInt i = 0; i < A.near.rows; ++i) {
    const auto take = [&](const HostRows &rows, std::vector<PetscInt> &to) {
      const std::size_t before = to.size();
      for (PetscInt e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e)
        if (rows.value[e] != Scalar(0)) to.push_back(e);
      return static_cast<PetscInt>(to.size() - before);
    };
    near_count.push_back(take(A.near, places->near));
    far_count.push_back(A.outside ? take(A.far, places->far) : 0);
  }
  zeros = A.near_entries() + A.far_entries() - static_cast<PetscInt>(places->near.size() + places->far.size());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &zeros, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)aij)));
  if (zeros > 0) {
    PetscCall(MatGetLocalSize(aij, &n, nullptr));
    PetscCall(MatGetSize(aij, &total, nullptr));
    PetscCall(MatGetType(aij, &type));
    PetscCall(MatGetOwnershipRange(aij, &first, nullptr));
    PetscCall(MatCreate(PetscObjectComm((PetscObject)aij), copy));
    PetscCall(MatSetSizes(*copy, n, n, total, total));
    PetscCall(MatSetType(*copy, type));
    PetscCall(MatXAIJSetPreallocation(*copy, 1, near_count.data(), far_count.data(), nullptr, nullptr));
    std::size_t near = 0, far = 0;
    for (PetscInt i = 0; i < A.near.rows; ++i) {
      const PetscInt row = first + i;
      columns.clear(), values.clear();
      for (PetscInt k = 0; k < near_count[static_cast<std::size_t>(i)]; ++k, ++near)
        columns.push_back(first + A.near.column[places->near[near]]),
          values.push_back(static_cast<PetscScalar>(A.near.value[places->near[near]]));
      for (PetscInt k = 0; k < far_count[static_cast<std::size_t>(i)]; ++k, ++far)
        columns.push_back(A.columns[A.far.column[places->far[far]]]),
          values.push_back(static_cast<PetscScalar>(A.far.value[places->far[far]]));
      PetscCall(MatSetValues(*copy, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(), values.data(),
                             INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(*copy, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*copy, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(A.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RefillWithoutZeros(Mat aij, const ZeroFreeCopy &places, Mat copy, bool *is_done)
{
  BothBlocks      A;
  Mat             local, outside;
  const PetscInt *columns;
  int             done;
  PetscFunctionBegin;
  PetscCall(A.open(aij, true));
  done = others_are_zero(A.near, A.near_entries(), places.near) &&
         (!A.outside || others_are_zero(A.far, A.far_entries(), places.far));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)aij)));
  *is_done = done != 0;
  if (*is_done) {
    PetscCall(LocalBlocks(copy, &local, &outside, &columns));
    PetscCall(PutPlaces(A.near, places.near, local));
    if (outside) PetscCall(PutPlaces(A.far, places.far, outside));
    PetscCall(PetscObjectStateIncrease((PetscObject)copy));
  }
  PetscCall(A.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
