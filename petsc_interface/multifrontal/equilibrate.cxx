// SPDX-License-Identifier: BSD-2-Clause
#include "equilibrate.hpp"

#include "local_blocks.hpp"
#include "scale_rounds.hpp"

#include <ribbon/multifrontal/reflector.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ribbon::petsc {

namespace {

using Real = real_t<Scalar>;

constexpr int most_rounds = 24, highest = std::is_same_v<Real, float> ? 120 : 1000;

/// Rows, and units along a chain, may differ by this number of bits without being scaled: the loss of
/// accuracy is smaller.
constexpr int most_apart = 10;
static_assert(most_apart == uneven_rows);
/// If units differ by more than this factor times the bits by which rows differ, the ratios come from
/// stencils that are not symmetric, accumulated over many rows.
constexpr int most_times_rows = 3;

/// a 2^exponent without a factor 2^exponent, which may be out of range.
template <class Number>
Number scaled(const Number &a, int exponent)
{
  if constexpr (std::is_floating_point_v<Number>) return std::ldexp(a, exponent);
  else return Number(std::ldexp(a.real(), exponent), std::ldexp(a.imag(), exponent));
}

/// Half of an exponent, rounded away from zero if the scale reduces entries, so that no entry remains above
/// 1.
int half(int e)
{
  return e > 0 ? (e + 1) / 2 : e / 2;
}
void move(int &exponent, int by)
{
  exponent = std::clamp(exponent - by, -highest, highest);
}

/// Scales every row by the exponent of its largest entry, except rows of zeros.
void scale_rows(Rounds &rounds, Scales *s)
{
  const std::vector<int> &largest = rounds.rows();
  for (std::size_t i = 0; i < s->row.size(); ++i)
    if (largest[i] > none) move(s->row[i], largest[i]);
}

/// Whether all values are at least multifrontal::least_of_column, except those of rows, or columns, of
/// zeros.
bool are_large(const std::vector<int> &largest)
{
  const int least = std::ilogb(multifrontal::least_of_column); // 2^least counts as large
  return std::all_of(largest.begin(), largest.end(),
                     [&](int size) { return size == none || size - 1 >= least; });
}

/// The difference of the largest and the smallest finite f(row) over all ranks; 0 if there is none.
template <class F>
PetscErrorCode Spread(MPI_Comm comm, std::size_t rows, const F &f, double *spread)
{
  double ends[] = {-HUGE_VAL, -HUGE_VAL};
  PetscFunctionBegin;
  for (std::size_t i = 0; i < rows; ++i)
    if (const double value = f(i); !std::isnan(value))
      ends[0] = std::max(ends[0], value), ends[1] = std::max(ends[1], -value);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_DOUBLE, MPI_MAX, comm));
  *spread = ends[0] + ends[1] > 0 ? ends[0] + ends[1] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Bits by which rows with an entry off their diagonal differ. The scales are those of rows. Collective.
PetscErrorCode SpreadOfRows(MPI_Comm comm, const Rounds &rounds, Scales &s, double *spread)
{
  std::vector<int> &entries = s.entries;
  PetscFunctionBegin;
  entries.assign(s.row.size(), 0);
  rounds.for_each([&](std::size_t i, int, std::size_t, bool) { ++entries[i]; });
  PetscCall(Spread(
    comm, entries.size(), [&](std::size_t i) { return entries[i] > 1 ? s.row[i] : std::nan(""); }, spread));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether partial pivoting may exchange unscaled rows: a column whose diagonal entry is less than the sum
/// of the others, and not the only entry of its row. Collective.
PetscErrorCode RowsAreExchanged(const BothBlocks &A, const Rounds &rounds, const Scales &s, bool *are)
{
  constexpr double    rounded = 1e-12;
  std::vector<double> excess(s.row.size(), 0), far(s.outside.size(), 0); // of the others over the diagonal
  bool                here = false;
  PetscFunctionBegin;
  for (std::size_t i = 0; i < excess.size(); ++i) {
    for (auto e = A.near.row_begin[i]; e < A.near.row_begin[i + 1]; ++e) {
      const auto j    = static_cast<std::size_t>(A.near.column[e]);
      const auto size = static_cast<double>(magnitude(A.near.value[e]));
      excess[j] += i == j ? -size * (1 + rounded) : size;
    }
    for (PetscInt e = A.outside ? A.far.row_begin[i] : 0; A.outside && e < A.far.row_begin[i + 1]; ++e)
      far[static_cast<std::size_t>(A.far.column[e])] += static_cast<double>(magnitude(A.far.value[e]));
  }
  if (s.others) {
    PetscCall(PetscSFReduceBegin(s.others, MPI_DOUBLE, far.data(), excess.data(), MPI_SUM));
    PetscCall(PetscSFReduceEnd(s.others, MPI_DOUBLE, far.data(), excess.data(), MPI_SUM));
  }
  for (std::size_t j = 0; j < excess.size(); ++j) here = here || (s.entries[j] > 1 && excess[j] > 0);
  PetscCall(rounds.any(here, are));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Scales only columns, if no row then has only small entries: unknowns have different units. The scaled
/// matrix does not depend on these units. The scales must agree with s->units, unless s->units differ by
/// more than `most` bits. Collective.
PetscErrorCode ScaleColumns(MPI_Comm comm, Rounds &rounds, double most, Scales *s, bool *suffices)
{
  PetscFunctionBegin;
  std::fill(s->row.begin(), s->row.end(), 0);
  PetscCall(rounds.find_columns());
  for (std::size_t j = 0; j < s->column.size(); ++j)
    if (rounds.columns()[j] > none) move(s->column[j], rounds.columns()[j]);
  PetscCall(rounds.tell());
  PetscCall(rounds.any(!are_large(rounds.rows()), suffices));
  double spread = 0;
  PetscCall(Spread(
    comm, s->units.size(), [&](std::size_t i) { return (s->units[i] - s->column[i]) / 2; }, &spread));
  *suffices = !*suffices && (spread <= most_apart || spread > most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Scales rows and columns alternately so that the geometric means of their entries are about 1. Curtis and
/// Reid minimize the same sum of squares of logarithms. If the scales of rows and columns differ much,
/// rounds of largest entries end with one of many scalings, most of which have a huge condition. A sweep
/// reaches as far as a row: differences along a chain must be in the initial scales of rows. Collective.
/// @param r  initial scales of rows, as log2
PetscErrorCode ScaleByMeans(const Rounds &rounds, std::vector<double> r, Scales *s)
{
  constexpr int       most_sweeps = 256, between_looks = 4;
  constexpr double    is_still = 0.5; // of an exponent
  const auto          n = s->row.size(), m = s->outside.size();
  std::vector<double> c(n, 0), outside(m, 0), sum(n), far_sum(m), in_row(n), in_column(n), far_in_column(m);
  const auto          add_up = [&](std::vector<double> &to, std::vector<double> &far) { // of all ranks
    PetscFunctionBegin;
    if (!s->others) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscSFReduceBegin(s->others, MPI_DOUBLE, far.data(), to.data(), MPI_SUM));
    PetscCall(PetscSFReduceEnd(s->others, MPI_DOUBLE, far.data(), to.data(), MPI_SUM));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscFunctionBegin;
  rounds.for_each([&](std::size_t i, int, std::size_t j, bool near) {
    ++in_row[i], ++(near ? in_column[j] : far_in_column[j]);
  });
  PetscCall(add_up(in_column, far_in_column));
  bool moves = true;
  for (int k = 0; moves && k < most_sweeps; ++k) {
    double most = 0;
    std::fill(sum.begin(), sum.end(), 0), std::fill(far_sum.begin(), far_sum.end(), 0);
    rounds.for_each(
      [&](std::size_t i, int e, std::size_t j, bool near) { (near ? sum[j] : far_sum[j]) += e + r[i]; });
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
    rounds.for_each(
      [&](std::size_t i, int e, std::size_t j, bool near) { sum[i] += e + (near ? c[j] : outside[j]); });
    for (std::size_t i = 0; i < n; ++i) r[i] = in_row[i] > 0 ? -sum[i] / in_row[i] : 0;
    if (k % between_looks == 0) PetscCall(rounds.any(most > is_still, &moves));
  }
  for (std::size_t i = 0; i < n; ++i) {
    s->row[i]    = static_cast<int>(std::clamp<long>(std::lround(r[i]), -highest, highest));
    s->column[i] = static_cast<int>(std::clamp<long>(std::lround(c[i]), -highest, highest));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Scales of rows, as log2. With these for rows and their reciprocals for columns, entries have similar
/// sizes on both sides of the diagonal. The scales are divided by the square roots of the largest of these
/// entries. s has no scales.
/// @param units  of rows relative to those of columns
std::vector<double> rows_by_units(const Rounds &rounds, const std::vector<double> &units)
{
  std::vector<double> r(units.size()), largest(units.size(), -HUGE_VAL);
  rounds.for_each([&](std::size_t i, int e, std::size_t j, bool is_near) {
    if (is_near) largest[i] = std::max(largest[i], e + (units[j] - units[i]) / 2);
  });
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] = -(units[i] + (largest[i] > -HUGE_VAL ? largest[i] : 0)) / 2;
  return r;
}

/// Ruiz's rounds: all rows and columns at once, by the square roots of their largest entries. They begin
/// with geometric means, unless both sides have the same scales.
PetscErrorCode Equilibrate(Rounds &rounds, bool symmetric, const std::vector<double> &units, Scales *s)
{
  bool moves = true;
  PetscFunctionBegin;
  std::fill(s->row.begin(), s->row.end(), 0), std::fill(s->column.begin(), s->column.end(), 0);
  std::fill(s->outside.begin(), s->outside.end(), 0);
  if (!symmetric) PetscCall(ScaleByMeans(rounds, rows_by_units(rounds, units), s));
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

} // namespace

PetscErrorCode Scales::reset()
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&others));
  *this = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// FindScales() of a matrix whose rows are scaled already. Collective.
PetscErrorCode Decide(Mat aij, const BothBlocks &A, const ScaleSearch &search, Rounds &rounds, Scales *s)
{
  const std::vector<std::int64_t> own_order, &order = search.order ? *search.order : own_order;
  const MPI_Comm                  comm = PetscObjectComm((PetscObject)aij);
  double                          rows = 0, along = 0;
  bool                            small = false, suffices = false, has_pairs = false;
  PetscFunctionBegin;
  PetscCall(rounds.find_columns());
  PetscCall(rounds.any(!are_large(rounds.columns()), &small));
  PetscCall(SpreadOfRows(comm, rounds, *s, &rows));
  const double most = most_times_rows * rows;
  s->differ         = small;
  if (small || rows > most_apart) {
    PetscCall(FindUnits(aij, A, s, order, false, &has_pairs));
    PetscCall(Spread(
      comm, s->row.size(), [&](std::size_t i) { return (s->units[i] + s->row[i]) / 2; }, &along));
    s->differ = small || (along > most_apart && along <= most);
  }
  if (!s->differ && search.exchanges && rows > most_apart) {
    PetscCall(RowsAreExchanged(A, rounds, *s, &s->differ));
    if (!search.symmetric) PetscFunctionReturn(PETSC_SUCCESS); // the scales of rows suffice
  }
  if (!s->differ) PetscFunctionReturn(PETSC_SUCCESS);
  if (!search.symmetric) {
    std::vector<double> units(s->units.size(), 0);
    if (along <= most && has_pairs) units = s->units;
    PetscCall(FindUnits(aij, A, s, order, true, &has_pairs));
    PetscCall(ScaleColumns(comm, rounds, most, s, &suffices));
    s->units = units;
  }
  if (!suffices) PetscCall(Equilibrate(rounds, search.symmetric, s->units, s));
  if (!search.symmetric) scale_rows(rounds, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Finds the ranks with the columns of `outside`.
PetscErrorCode KnowOthers(Mat aij, const BothBlocks &A, Scales *s)
{
  PetscLayout layout;
  PetscFunctionBegin;
  if (!A.outside || s->others) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLayouts(aij, nullptr, &layout));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)aij), &s->others));
  PetscCall(PetscSFSetGraphLayout(s->others, layout, A.far_columns(), nullptr, PETSC_OWN_POINTER, A.columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode FindScales(Mat aij, const ScaleSearch &search, Scales *s)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)aij);
  BothBlocks     A;
  PetscFunctionBegin;
  PetscCall(A.open(aij, true));
  const auto n = static_cast<std::size_t>(A.near.rows);
  s->row.assign(n, 0), s->column.assign(n, 0),
    s->outside.assign(static_cast<std::size_t>(A.far_columns()), 0);
  s->near.resize(static_cast<std::size_t>(A.near_entries())),
    s->far.resize(static_cast<std::size_t>(A.far_entries()));
  for (std::size_t e = 0; e < s->near.size(); ++e) s->near[e] = exponent_of_entry(A.near.value[e]);
  for (std::size_t e = 0; e < s->far.size(); ++e) s->far[e] = exponent_of_entry(A.far.value[e]);
  PetscCall(KnowOthers(aij, A, s));
  Rounds rounds(comm, A, *s);
  scale_rows(rounds, s);
  PetscCall(Decide(aij, A, search, rounds, s));
  PetscCall(A.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FindScalesOnFirstRank(Mat aij, Mat gathered, const ScaleSearch &search, Scales *of_all,
                                     Scales *s)
{
  const MPI_Comm           comm = PetscObjectComm((PetscObject)aij);
  PetscMPIInt              rank, size;
  PetscLayout              layout;
  const PetscInt          *ranges;
  BothBlocks               A;
  std::vector<PetscMPIInt> counts, starts;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (rank == 0) PetscCall(FindScales(gathered, search, of_all));
  int differ = of_all->differ ? 1 : 0;
  PetscCallMPI(MPI_Bcast(&differ, 1, MPI_INT, 0, comm));
  s->differ = differ != 0;
  if (!s->differ) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLayouts(aij, &layout, nullptr));
  PetscCall(PetscLayoutGetRanges(layout, &ranges));
  for (PetscMPIInt r = 0; r < size; ++r)
    counts.push_back(static_cast<PetscMPIInt>(ranges[r + 1] - ranges[r])),
      starts.push_back(static_cast<PetscMPIInt>(ranges[r]));
  for (const auto &[from, to] : {std::pair{&of_all->row, &s->row}, std::pair{&of_all->column, &s->column}}) {
    to->resize(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]));
    PetscCallMPI(MPI_Scatterv(from->data(), counts.data(), starts.data(), MPI_INT, to->data(),
                              counts[static_cast<std::size_t>(rank)], MPI_INT, 0, comm));
  }
  PetscCall(A.open(aij, false));
  s->outside.assign(static_cast<std::size_t>(A.far_columns()), 0);
  PetscCall(KnowOthers(aij, A, s));
  PetscCall(TellColumns(s));
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

PetscErrorCode PutPowers(const std::vector<int> &exponents, Vec v)
{
  PetscScalar *a;
  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(v, &a));
  for (std::size_t i = 0; i < exponents.size(); ++i)
    a[i] = static_cast<PetscScalar>(std::ldexp(PetscReal(1), exponents[i]));
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
