// SPDX-License-Identifier: BSD-2-Clause
#include "runs_of_pattern.hpp"

#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

PetscInt Runs::common_length() const
{
  PetscInt common = count() > 0 ? length(0) : 0;
  for (std::size_t r = 0; r < count(); ++r)
    if (length(r) != common) common = 0;
  return common;
}

Runs runs_of(const std::vector<char> &tied, PetscInt elements)
{
  Runs runs;
  for (PetscInt e = 0; e < elements; ++e)
    if (e == 0 || !tied[static_cast<std::size_t>(e - 1)]) runs.begin.push_back(e);
  runs.begin.push_back(elements);
  return runs;
}

// Entries that close a ring of n elements lead n - far to n - 1 elements to one side.
bool has_stray_entry(const Pattern &pattern, PetscInt far, RunsOfPattern *found)
{
  constexpr PetscInt most = 16384; // grids and finite elements have such an entry in their first lines
  const PetscInt     n = std::min(pattern.elements(), most), B = pattern.components;
  for (PetscInt r = 0; r < n; ++r) {
    PetscInt nearest = PETSC_MAX_INT, farthest = 0, column = 0;
    bool     before = false, after = false;
    for (PetscInt e = pattern.A.row_begin[r * B]; e < pattern.A.row_begin[(r + 1) * B]; ++e) {
      const PetscInt c = pattern.column(e), distance = std::abs(c - r);
      if (distance <= far) continue;
      if (distance < nearest) nearest = distance, column = c;
      farthest = std::max(farthest, distance);
      before = before || c < r, after = after || c > r;
    }
    if (!(before && after) && farthest - nearest < far) continue;
    *found     = {};
    found->far = found->widest = far;
    found->runs.begin          = {0, pattern.elements()};
    found->stray_row = r, found->stray_column = column;
    return true;
  }
  return false;
}

RunsOfPattern find_runs(const Pattern &pattern, PetscInt far)
{
  RunsOfPattern     found;
  const PetscInt    n = pattern.elements();
  std::vector<char> tied(static_cast<std::size_t>(n) + 1, 0);
  found.far = found.widest = far;
  pattern.each([&](PetscInt r, PetscInt c) {
    for (PetscInt k = std::min(r, c); std::abs(c - r) <= far && k < std::max(r, c); ++k)
      tied[static_cast<std::size_t>(k)] = 1;
    return false;
  });
  found.runs = runs_of(tied, n);
  std::vector<PetscInt> run_of(static_cast<std::size_t>(n));
  for (std::size_t r = 0; r < found.runs.count(); ++r)
    for (PetscInt e = found.runs.begin[r]; e < found.runs.begin[r + 1]; ++e)
      run_of[static_cast<std::size_t>(e)] = static_cast<PetscInt>(r);
  pattern.each([&](PetscInt r, PetscInt c) {
    if (std::abs(c - r) <= far) return false;
    const PetscInt run = run_of[static_cast<std::size_t>(r)];
    if (run_of[static_cast<std::size_t>(c)] == run &&
        found.runs.length(static_cast<std::size_t>(run)) - std::abs(c - r) <= far) {
      found.wraps = true;
      if (run == 0) found.closes_first = r;
      if (run + 1 == static_cast<PetscInt>(found.runs.count())) found.closes_last = r;
    } else if (found.stray_row < 0) found.stray_row = r, found.stray_column = c;
    return false;
  });
  return found;
}

namespace {

/// Elements of the first run.
PetscInt length_of_first(const Pattern &pattern, PetscInt far)
{
  const PetscInt n = pattern.elements(), B = pattern.components;
  const auto     ties = [&](PetscInt r, PetscInt gap) { // gap lies between an element and the next one
    for (PetscInt k = pattern.A.row_begin[r * B]; k < pattern.A.row_begin[(r + 1) * B]; ++k) {
          const PetscInt c = pattern.A.column[k] / B;
          if (std::abs(c - r) <= far && (c > gap) != (r > gap)) return true;
    }
        return false;
  };
  for (PetscInt gap = 0; gap + 1 < n; ++gap) {
    bool tied = false;
    for (PetscInt near = 0; near < far && !tied; ++near)
      tied = (gap >= near && ties(gap - near, gap)) || (gap + 1 + near < n && ties(gap + 1 + near, gap));
    if (!tied) return gap + 1;
  }
  return n;
}

} // namespace

PetscErrorCode FindUniformRuns(Mat block, const Pattern &pattern, PetscInt far, RunsOfPattern *found,
                               bool *holds)
{
  const PetscInt n = pattern.elements(), length = n > 0 ? length_of_first(pattern, far) : 0;
  UniformRuns    runs;
  bool           on_device;
  PetscFunctionBegin;
  *holds = false;
  if (length == 0 || n % length != 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(EnsureKokkos());
  PetscCall(BlockIsOnDevice(block, &on_device));
  const auto look = [&](const auto &exec, const auto &A) {
    runs = uniform_runs(exec, A, static_cast<int>(pattern.components), length, static_cast<int>(far));
  };
  if (has_device && on_device)
    PetscCall(WithCsr<DeviceExec>(block, [&](const auto &A) { look(current_space<DeviceExec>(), A); }));
  else PetscCallCXX(look(current_space<HostExec>(), pattern.A));
  *holds = runs.holds;
  if (!runs.holds) PetscFunctionReturn(PETSC_SUCCESS);
  *found     = {};
  found->far = found->widest = far;
  for (PetscInt begin = 0; begin <= n; begin += length) found->runs.begin.push_back(begin);
  found->wraps        = runs.wraps;
  found->closes_first = static_cast<PetscInt>(runs.closes_first),
  found->closes_last  = static_cast<PetscInt>(runs.closes_last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
