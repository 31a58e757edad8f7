// SPDX-License-Identifier: BSD-2-Clause
/// @file row_lanes.hpp  Kernels that read whole rows of a sparse matrix, with several lanes of a device for each.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>

namespace ribbon::detail {

/// One lane that reads a row. The functions are those of LanesOfRow.
struct OneLane {
  template <class F>
  KOKKOS_INLINE_FUNCTION void each(std::int64_t first, std::int64_t end, const F &f) const
  {
    for (std::int64_t e = first; e < end; ++e) f(e);
  }
  template <class Sum, class F>
  KOKKOS_INLINE_FUNCTION Sum sum(std::int64_t first, std::int64_t end, const F &f) const
  {
    Sum all{};
    for (std::int64_t e = first; e < end; ++e) f(e, all);
    return all;
  }
  template <class Chosen, class F, class Total>
  KOKKOS_INLINE_FUNCTION void each_chosen(std::int64_t first, std::int64_t end, const Chosen &chosen,
                                          const F &f, const Total &total) const
  {
    int count = 0;
    for (std::int64_t e = first; e < end; ++e)
      if (chosen(e)) f(e, count++);
    total(count);
  }
  template <class F>
  KOKKOS_INLINE_FUNCTION void once(const F &f) const
  {
    f();
  }
};

/// The lanes of a thread that read a row together.
template <class Member>
struct LanesOfRow {
  const Member &team;

  /// f(e) for e = first .. end - 1
  template <class F>
  KOKKOS_INLINE_FUNCTION void each(std::int64_t first, std::int64_t end, const F &f) const
  {
    Kokkos::parallel_for(range(first, end), [&](const int k) { f(first + k); });
  }
  /// f(e, sum) for e = first .. end - 1. @return the sums of all lanes, joined by +=
  template <class Sum, class F>
  KOKKOS_INLINE_FUNCTION Sum sum(std::int64_t first, std::int64_t end, const F &f) const
  {
    Sum all{};
    Kokkos::parallel_reduce(
      range(first, end), [&](const int k, Sum &to) { f(first + k, to); }, all);
    return all;
  }
  /// For each of first .. end - 1 with chosen(e): f(e, k), where k counts them from 0; then total(count)
  template <class Chosen, class F, class Total>
  KOKKOS_INLINE_FUNCTION void each_chosen(std::int64_t first, std::int64_t end, const Chosen &chosen,
                                          const F &f, const Total &total) const
  {
    const int last = static_cast<int>(end - first) - 1;
    if (last < 0) once([&] { total(0); });
    Kokkos::parallel_scan(range(first, end), [&](const int k, int &before, const bool final) {
      const bool is = chosen(first + k);
      if (final && is) f(first + k, before);
      before += is;
      if (final && k == last) total(before);
    });
  }
  /// f() by one lane
  template <class F>
  KOKKOS_INLINE_FUNCTION void once(const F &f) const
  {
    Kokkos::single(Kokkos::PerThread(team), f);
  }

private:
  KOKKOS_INLINE_FUNCTION auto range(std::int64_t first, std::int64_t end) const
  {
    return Kokkos::ThreadVectorRange(team, static_cast<int>(end - first));
  }
};

/// Calls kernel(lanes, i) for rows i = 0 .. rows - 1, where lanes is OneLane or LanesOfRow.
/// @param entries  of all rows: their mean determines the lanes
template <class Exec, class Kernel>
void for_rows(const Exec &exec, const std::string &label, std::int64_t rows, std::int64_t entries,
              const Kernel &kernel)
{
  using Policy          = Kokkos::TeamPolicy<Exec>;
  using Member          = typename Policy::member_type;
  constexpr bool device = is_device_space<Exec>;
  // 6 to 12 entries for each lane: reductions over more lanes cost more than they gain
  if (entries <= 12 * rows) {
    Kokkos::parallel_for(
      label, indices(exec, rows), KOKKOS_LAMBDA(const std::int64_t i) { kernel(OneLane(), i); });
    return;
  }
  int lanes = 1;
  while (device && lanes < 32 && 12 * lanes * rows < entries) lanes *= 2;
  const int threads = device ? 256 / lanes : 1, rows_of_team = device ? threads : 256;
  Kokkos::parallel_for(
    label, Policy(exec, static_cast<int>((rows + rows_of_team - 1) / rows_of_team), threads, lanes),
    KOKKOS_LAMBDA(const Member &team) {
      const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * rows_of_team,
                         left  = rows - first;
      Kokkos::parallel_for(
        Kokkos::TeamThreadRange(team, left < rows_of_team ? static_cast<int>(left) : rows_of_team),
        [&](const int k) { kernel(LanesOfRow<Member>{team}, first + k); });
    });
}

} // namespace ribbon::detail
