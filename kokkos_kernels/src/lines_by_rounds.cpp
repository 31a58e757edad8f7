// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/lines_by_rounds.hpp>

#include "graph_check.hpp"
#include "instantiate.hpp"
#include "rounds_blocks.hpp"
#include "rounds_paths.hpp"
#include "rounds_walks.hpp"

#include <algorithm>

namespace ribbon {

namespace {

using namespace rounds;

/// The lines of a graph in progress.
template <class Exec>
class Rounds {
  template <class Word>
  using Array  = Temporary<Word, Exec>;
  using Memory = typename Exec::memory_space;
  using View   = Kokkos::View<std::int64_t *, Memory>;

public:
  Rounds(const Exec &exec, const Graph &graph, std::int64_t entries)
      : exec_(exec), graph_(graph), n_(graph.rows), entries_(entries), neighbor_(words32(2 * n_)),
        proposal_(words32(2 * n_)), label_(words32(n_)), length_(words32(n_)),
        changed_(words32(n_)), to_{words32(2 * n_), words32(2 * n_)}, far_{words32(2 * n_), words32(2 * n_)},
        closed_(bytes(n_)), simple_(bytes(n_)), waits_(exec, "ribbon::rounds", words(n_)),
        flags_(exec, "ribbon::rounds", 2), forest_{neighbor_.data(), closed_.data(), label_.data(),
                                                   length_.data()}
  {
  }

  LinesInMemory<Memory> run()
  {
    const auto each = indices(exec_, n_);
    Kokkos::deep_copy(exec_, view_of(changed_, n_), 0);
    Kokkos::parallel_for("ribbon::rounds", each, SimpleKernel{graph_, simple_.data()});
    Kokkos::parallel_for("ribbon::rounds", each, JoinSimpleKernel{graph_, simple_.data(), forest_});
    label();
    for (std::uint64_t limit : limits_of_sample())
      while (propose(limit) && label()) {
      }
    return numbered();
  }

private:
  /// Rounds of a stage before the first walk. Later walks follow after twice as many rounds each.
  static constexpr int first_walk = 14;

  Array<std::int32_t>  words32(std::int64_t n) const { return {exec_, "ribbon::rounds", words(n)}; }
  Array<unsigned char> bytes(std::int64_t n) const { return {exec_, "ribbon::rounds", words(n)}; }

  /// Ranks up to which couplings begin lines, stage after stage, the last one of all couplings. Lines that
  /// begin far from each other grow before others begin.
  std::vector<std::uint64_t> limits_of_sample() const
  {
    constexpr std::int64_t enough = 16384;
    const std::int64_t     every = std::max<std::int64_t>(1, n_ / enough), count = (n_ + every - 1) / every;
    const Array<std::uint64_t> sample(exec_, "ribbon::rounds", words(count));
    std::vector<std::uint64_t> rank(words(count)), limits;
    Kokkos::parallel_for("ribbon::rounds", indices(exec_, count),
                         SampleKernel{graph_, forest_, every, sample.data()});
    Kokkos::deep_copy(
      exec_,
      Kokkos::View<std::uint64_t *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(rank.data(),
                                                                                                rank.size()),
      view_of(sample, count));
    exec_.fence();
    rank.erase(std::remove(rank.begin(), rank.end(), none), rank.end());
    auto end = rank.end();
    for (std::size_t share : {4, 16, 64, 256}) { // quantiles
      if (rank.empty()) break;
      const auto at = rank.begin() + static_cast<std::ptrdiff_t>(rank.size() / share);
      if (at < end) std::nth_element(rank.begin(), at, end);
      if (limits.empty() || *at < limits.back()) limits.push_back(*at);
      end = at;
    }
    std::reverse(limits.begin(), limits.end());
    limits.push_back(none);
    return limits;
  }

  /// Rounds until no coupling is accepted. Returns whether one was.
  bool propose(std::uint64_t limit)
  {
    const auto each = indices(exec_, n_);
    bool       any = false, now = true;
    int        next_walk = first_walk;
    for (int done = 0; now;) {
      // launches that find nothing to do are cheaper than waits
      for (const int last = done + std::min(8, done + 2); done < last; ++done) {
        Kokkos::deep_copy(exec_, view_of(flags_, 2), 0);
        Kokkos::parallel_for("ribbon::rounds", each,
                             ProposeKernel{graph_, forest_, limit, changed_.data(), round_, done == 0,
                                           proposal_.data(), waits_.data()});
        Kokkos::parallel_for(
          "ribbon::rounds", each,
          AcceptKernel{graph_, forest_, proposal_.data(), changed_.data(), ++round_, flags_.data()});
        if (done == 0 && !(any = GraphOf<Exec>::flag(exec_, flags_, 0))) return false;
      }
      now = GraphOf<Exec>::flag(exec_, flags_, 0);
      if (now && done >= next_walk) walk(limit), next_walk = 2 * done;
    }
    return any;
  }

  /// Ends extend without turning, by couplings that tie with the limit.
  void walk(std::uint64_t limit)
  {
    const auto each = indices(exec_, n_);
    if (claim_.data() == nullptr) {
      claim_    = {exec_, "ribbon::rounds", words(n_)};
      straight_ = {exec_, "ribbon::rounds", words(entries_)};
      Kokkos::parallel_for("ribbon::rounds", each, StraightKernel{graph_, straight_.data()});
    }
    Kokkos::deep_copy(exec_, view_of(claim_, n_), none);
    for (bool take : {false, true})
      Kokkos::parallel_for(
        "ribbon::rounds", each,
        WalkKernel{graph_, forest_, straight_.data(), limit, claim_.data(), take, changed_.data(), round_});
  }

  /// Finds the ends of all lines, and opens rings. Returns whether there were rings.
  bool label()
  {
    const std::int64_t left = jump();
    if (left > 0) {
      open_rings(left);
      jump();
      Kokkos::deep_copy(exec_, view_of(changed_, n_), round_); // all rows propose again
    }
    Kokkos::parallel_for("ribbon::rounds", indices(exec_, n_),
                         LabelKernel{forest_, to_[0].data(), far_[0].data()});
    return left > 0;
  }

  /// Arcs lead to the ends of their lines. Returns the count of arcs on rings.
  std::int64_t jump()
  {
    const auto arcs  = indices(exec_, 2 * n_);
    const auto count = [&] {
      std::int64_t left = 0;
      Kokkos::parallel_reduce("ribbon::rounds", arcs, CountKernel{neighbor_.data(), to_[0].data()}, left);
      exec_.fence();
      return left;
    };
    Kokkos::parallel_for("ribbon::rounds", arcs, FirstJumpKernel{forest_, to_[0].data(), far_[0].data()});
    std::int64_t left = count();
    for (std::int64_t before = left + 1; left > 0 && left < before; left = count()) {
      before = left;
      for (int k = 0; k < 2; ++k) { // as in propose()
        Kokkos::parallel_for("ribbon::rounds", arcs,
                             JumpKernel{to_[0].data(), far_[0].data(), to_[1].data(), far_[1].data()});
        std::swap(to_[0], to_[1]), std::swap(far_[0], far_[1]);
      }
    }
    return left;
  }

  void open_rings(std::int64_t arcs_left)
  {
    const auto          arcs = indices(exec_, 2 * n_), each = indices(exec_, n_);
    const Array<Rank>   rank(exec_, "ribbon::rounds", words(2 * n_));
    Array<std::int32_t> next[2]    = {words32(2 * n_), words32(2 * n_)},
                        weakest[2] = {words32(2 * n_), words32(2 * n_)};
    Kokkos::parallel_for(
      "ribbon::rounds", arcs,
      RingKernel{graph_, forest_, to_[0].data(), rank.data(), next[0].data(), weakest[0].data()});
    for (std::int64_t seen = 1; seen < arcs_left / 2; seen *= 2) {
      Kokkos::parallel_for(
        "ribbon::rounds", arcs,
        WeakestKernel{rank.data(), next[0].data(), weakest[0].data(), next[1].data(), weakest[1].data()});
      std::swap(next[0], next[1]), std::swap(weakest[0], weakest[1]);
    }
    const auto is_long = bytes(n_);
    Kokkos::parallel_for(
      "ribbon::rounds", each,
      FindCutKernel{forest_, to_[0].data(), weakest[0].data(), next[1].data(), is_long.data()});
    Kokkos::parallel_for("ribbon::rounds", each, CutKernel{forest_, next[1].data(), is_long.data()});
    exec_.fence();
  }

  LinesInMemory<Memory> numbered() const
  {
    const auto                each = indices(exec_, n_);
    const Array<std::int64_t> number(exec_, "ribbon::rounds", words(n_));
    std::int64_t              sum = 0;
    Kokkos::parallel_scan("ribbon::rounds", each, NumberKernel{forest_, number.data()}, sum);
    exec_.fence();
    const std::int64_t        count = sum >> 32;
    const Array<std::int64_t> order(exec_, "ribbon::order", words(n_ + count + 1));
    LinesInMemory<Memory>     lines = {
          View(order.data(), words(n_)), View(order.data() + n_, words(count + 1)),
          std::make_shared<const std::pair<Exec, Array<std::int64_t>>>(exec_, order)};
    Kokkos::parallel_for("ribbon::rounds", each,
                         OrderKernel{forest_, to_[0].data(), far_[0].data(), number.data(),
                                     lines.order.data(), lines.begin.data()});
    Kokkos::deep_copy(exec_, Kokkos::subview(lines.begin, words(count)), n_);
    exec_.fence();
    return lines;
  }

  Exec                 exec_;
  Graph                graph_;
  std::int64_t         n_, entries_;
  std::int32_t         round_ = 0; ///< the last one
  Array<std::int32_t>  neighbor_, proposal_, label_, length_, changed_, to_[2], far_[2];
  Array<unsigned char> closed_, simple_;
  Array<std::uint64_t> waits_, claim_;
  Array<std::int64_t>  straight_;
  Array<int>           flags_;
  Forest               forest_;
};

} // namespace

template <class Scalar, class Index, class Exec>
std::optional<LinesInMemory<typename Exec::memory_space>>
lines_by_rounds(const Exec &exec, const CsrMatrix<Scalar, Index> &A, const LinesOfGraphOptions &options)
{
  using Memory = typename Exec::memory_space;
  graph::check(A.rows, options);
  const std::int64_t elements = A.rows / options.block;
  if (options.block > largest_block || elements >= std::int64_t(1) << 30) return {};
  if (elements == 0) {
    const auto begin = allocate_zeros<Kokkos::View<std::int64_t *, Memory>>(exec, "ribbon::begin", 1);
    exec.fence();
    return LinesInMemory<Memory>{{}, begin};
  }
  Index end = 0;
  Kokkos::deep_copy(
    exec, Kokkos::View<Index *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&end, 1),
    Kokkos::View<const Index *, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(A.row_begin + A.rows, 1));
  exec.fence();
  const auto    entries = static_cast<std::int64_t>(end);
  GraphOf<Exec> graph;
  if (options.block == 1) {
    if (!graph.read(exec, CsrNumbers(A), A.rows, entries, options)) return {};
    return Rounds<Exec>(exec, graph.graph(), graph.entries()).run();
  }
  const NormsOfBlocks<Exec> norms(exec, CsrNumbers(A), elements, entries, options.block,
                                  options.strength == CouplingStrength::negative);
  if (!graph.read(exec, norms.matrix(), elements, norms.entries(), options)) return {};
  return Rounds<Exec>(exec, graph.graph(), graph.entries()).run();
}

#define RIBBON_INSTANTIATE_FOR(Scalar, Index, Exec)                                                          \
  template std::optional<LinesInMemory<typename Exec::memory_space>> lines_by_rounds(                        \
    const Exec &, const CsrMatrix<Scalar, Index> &, const LinesOfGraphOptions &);
#define RIBBON_INSTANTIATE(Scalar, Exec)                                                                     \
  RIBBON_INSTANTIATE_FOR(Scalar, std::int32_t, Exec)                                                         \
  RIBBON_INSTANTIATE_FOR(Scalar, std::int64_t, Exec)
RIBBON_INSTANTIATE_ALL(RIBBON_INSTANTIATE)

} // namespace ribbon
