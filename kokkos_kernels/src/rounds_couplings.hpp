// SPDX-License-Identifier: BSD-2-Clause
/// @file rounds_couplings.hpp  Reads the couplings of a matrix, for lines_by_rounds().
#pragma once

#include "rounds_graph.hpp"

#include <ribbon/device/temporary.hpp>

#include <algorithm>
#include <vector>

namespace ribbon::rounds {

inline std::size_t words(std::int64_t n)
{
  return static_cast<std::size_t>(n);
}

/// Temporary memory as a View, for Kokkos::deep_copy().
template <class Word, class Exec>
auto view_of(const Temporary<Word, Exec> &memory, std::int64_t n)
{
  using View = Kokkos::View<Word *, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  return View(memory.data(), words(n));
}

/// The couplings of a matrix, and the memory that they refer to.
template <class Exec>
class GraphOf {
  template <class Word>
  using Array = Temporary<Word, Exec>;

public:
  /// @return false: the columns of a row do not ascend
  bool read(const Exec &exec, const CsrNumbers &A, std::int64_t rows, std::int64_t entries,
            const LinesOfGraphOptions &options)
  {
    const Array<int> flags(exec, "ribbon::rounds", 2);
    Array<double>    diagonal;
    Kokkos::deep_copy(exec, view_of(flags, 2), 0);
    relative_ = {exec, "ribbon::rounds", words(entries)}, entries_ = entries;
    graph_.rows = rows, graph_.begin = A.row_begin, graph_.column = A.column;
    if (options.strength == CouplingStrength::aggregation) {
      diagonal = {exec, "ribbon::rounds", words(rows)};
      each_row(exec, DiagonalKernel{A, diagonal.data()});
    }
    each_row(exec, RelativeKernel{A, rows, options.least, options.strength, diagonal.data(), relative_.data(),
                                  flags.data()});
    weigh(exec, options, flags);
    if (flag(exec, flags, 0)) return false;
    if (flag(exec, flags, 1)) symmetrize(exec), weigh(exec, options, flags);
    list_strong(exec);
    return true;
  }
  const Graph &graph() const { return graph_; }
  std::int64_t entries() const { return entries_; }
  /// A flag that kernels set.
  static bool flag(const Exec &exec, const Array<int> &flags, int which)
  {
    int found[2] = {0, 0};
    Kokkos::deep_copy(
      exec, Kokkos::View<int *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(found, 2),
      view_of(flags, 2));
    exec.fence();
    return found[which] != 0;
  }

private:
  /// Calls kernel(lanes, i) for all rows i.
  template <class Kernel>
  void each_row(const Exec &exec, const Kernel &kernel) const
  {
    detail::for_rows(exec, "ribbon::rounds", graph_.rows, entries_, kernel);
  }

  /// Stores both directions of every coupling.
  void symmetrize(const Exec &exec)
  {
    const auto                n = graph_.rows;
    const Array<std::int64_t> next(exec, "ribbon::rounds", words(n + 1));
    const auto                each  = indices(exec, n);
    MissingKernel             lacks = {n,           graph_.begin, graph_.column, relative_.data(),
                                       next.data(), nullptr,      nullptr,       nullptr};
    Kokkos::deep_copy(exec, view_of(next, n + 1), 0);
    Kokkos::parallel_for("ribbon::rounds", each, lacks);
    CopyKernel copy = {n,       graph_.begin, graph_.column, relative_.data(), next.data(),
                       nullptr, nullptr,      nullptr,       nullptr};
    Kokkos::parallel_for("ribbon::rounds", each, copy);
    Kokkos::parallel_scan("ribbon::rounds", indices(exec, n + 1), detail::Positions{next.data(), n},
                          entries_);
    begin_ = {exec, "ribbon::rounds", words(n + 1)};
    Kokkos::deep_copy(exec, view_of(begin_, n + 1), view_of(next, n + 1));
    exec.fence();
    column_ = {exec, "ribbon::rounds", words(entries_)};
    const Array<float> relative(exec, "ribbon::rounds", words(entries_));
    copy.count = lacks.missing = nullptr;
    copy.to_begin              = begin_.data();
    copy.next = lacks.next = next.data();
    copy.to_column = lacks.to_column = column_.data();
    copy.to_relative = lacks.to_relative = relative.data();
    Kokkos::parallel_for("ribbon::rounds", each, copy);
    Kokkos::parallel_for("ribbon::rounds", each, lacks);
    Kokkos::parallel_for("ribbon::rounds", each, SortKernel{begin_.data(), column_.data(), relative.data()});
    exec.fence();
    relative_     = relative;
    graph_.begin  = {begin_.data(), true};
    graph_.column = {column_.data(), false};
  }

  void weigh(const Exec &exec, const LinesOfGraphOptions &options, const Array<int> &flags)
  {
    weight_ = {exec, "ribbon::rounds", words(entries_)};
    needed_ = {exec, "ribbon::rounds", words(graph_.rows)};
    each_row(exec, WeightKernel{graph_.rows, graph_.begin, graph_.column, relative_.data(), options.threshold,
                                options.anisotropy, weight_.data(), needed_.data(), flags.data() + 1});
    graph_.weight = weight_.data();
  }

  void list_strong(const Exec &exec)
  {
    const Array<unsigned char> present(exec, "ribbon::rounds", words(weight_bins));
    Kokkos::deep_copy(exec, view_of(present, weight_bins), 0);
    strong_count_  = {exec, "ribbon::rounds", words(graph_.rows)};
    strong_column_ = {exec, "ribbon::rounds", words(entries_)};
    strong_weight_ = relative_, relative_ = {};
    each_row(exec, ListStrongKernel{graph_.begin,
                                    {graph_.column, weight_.data(), needed_.data()},
                                    strong_count_.data(),
                                    strong_column_.data(),
                                    strong_weight_.data(),
                                    present.data()});
    const auto bins = Kokkos::create_mirror_view(Kokkos::HostSpace(), view_of(present, weight_bins));
    Kokkos::deep_copy(exec, bins, view_of(present, weight_bins));
    exec.fence();
    needed_              = {};
    group_               = upload(exec, "ribbon::rounds", groups_of(bins.data()));
    graph_.group         = group_.data();
    graph_.strong_count  = strong_count_.data();
    graph_.strong_column = strong_column_.data(), graph_.strong_weight = strong_weight_.data();
  }

  /// The group of every bin. A group begins with the strongest bin that is in none.
  static std::vector<std::uint16_t> groups_of(const unsigned char *present)
  {
    std::vector<std::uint16_t> group(words(weight_bins), 0);
    float                      least = 2;
    int                        last  = -1;
    for (int bin = weight_bins; bin-- > 0;) {
      float               upper; // of the weights of the bin
      const std::uint32_t bits = (static_cast<std::uint32_t>(bin + first_bin + 1) << bin_shift) - 1;
      std::memcpy(&upper, &bits, sizeof upper);
      if (present[bin] && (last < 0 || upper < least)) ++last, least = tie * upper;
      group[words(bin)] = static_cast<std::uint16_t>(std::max(last, 0));
    }
    return group;
  }

  Graph               graph_{};
  std::int64_t        entries_ = 0;
  Array<float>        relative_, weight_, needed_, strong_weight_;
  Array<std::int64_t> begin_;
  Array<std::int32_t> column_, strong_count_, strong_column_;

  Kokkos::View<std::uint16_t *, typename Exec::memory_space> group_;
};

} // namespace ribbon::rounds
