// SPDX-License-Identifier: BSD-2-Clause
/// @file plan.hpp  Tables and launch of the one-pass kernel: factors on the host, stores coefficients on
///   the device. kernel_choice.hpp has the shapes.
#pragma once

#include <ribbon/algorithm/one_pass/joined_plan.hpp>
#include <ribbon/algorithm/one_pass/kernel_choice.hpp>
#include <ribbon/algorithm/one_pass/reduced_plan.hpp>
#include <ribbon/algorithm/one_pass/tables.hpp>
#include <ribbon/elimination/orthogonal.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace ribbon {

/// One-pass solver of a few distinct matrices. The constructor factors; solve() may be called any number of
/// times.
template <class Scheme, class Exec>
class OnePass : public OnePassKernels<Scheme, Exec> {
public:
  using Kernels = OnePassKernels<Scheme, Exec>;
  using typename Kernels::Scalar;
  using Wide   = wide_t<Scalar>;
  using Memory = typename Exec::memory_space;
  using Kernels::B, Kernels::S, Kernels::joinable, Kernels::most_blocks, Kernels::one_matrix,
    Kernels::several;
  using Square = SquareBlock<Scalar, S>;
  using Words  = Kokkos::View<Scalar *, Memory>;

  /// Sets lines and blocks of a team with the regular chunks that were found.
  /// @return false if no tile fits
  bool place(const TeamRoom &room, int lines_per_team = 0)
  {
    return fit(shape_, room, regular_end_ - regular_begin_, lines_per_team);
  }

  /// Factors the matrices (all of one size and bandwidth) for the kernel and completes the shape. `watch`
  /// sees every pivot.
  OnePass(const Exec &exec, const std::vector<HostMatrix<Scalar>> &matrices, OnePassShape shape,
          PivotWatch &watch)
      : shape_(shape)
  {
    const int                          T = shape.split.chunks, classes = static_cast<int>(matrices.size());
    std::vector<ReducedSystem<Scalar>> systems;
    classes_ = matrices.size(), block_words_ = block_words(shape.slots);
    blocks_                    = allocate<Kokkos::View<Scalar *, Memory>>(exec, "ribbon::one_pass::blocks",
                                                       static_cast<std::size_t>(classes) *
                                                         static_cast<std::size_t>(T) * block_words_);
    auto                blocks = Kokkos::create_mirror_view(blocks_);
    std::vector<Square> outer; // of continued lines
    for (int m = 0; m < classes; ++m) {
      const auto                    &A = matrices[static_cast<std::size_t>(m)];
      std::vector<ChunkTables<Wide>> chunks;
      watch.current = m;
      for (int c = 0; c < T; ++c) {
        chunks.push_back(eliminate(A, shape.split.begin(c), shape.split.size(c), watch));
        store_block(shape.slots, blocks.data() + static_cast<std::size_t>(m * T + c) * block_words_,
                    chunks.back(), shape.slots / B - shape.split.size(c));
      }
      const auto first_separator = [&](int c) {
        return shape.split.begin(c) + shape.split.size(c) - Scheme::separator_rows + Scheme::shift;
      };
      if (A.continued)
        for (const auto &block : outer_couplings<Scheme>(A, chunks.front())) outer.push_back(block);
      const auto row_of = [&](int k) { return (first_separator(k / S) + k % S / B) % A.rows; };
      systems.emplace_back(
        chunks, shape.ring, row_of,
        [&](int k) { return Scheme::always_ring ? 1 : A.row_max(row_of(k), k % B); },
        watch); // orthogonal: of equilibrated rows
      if constexpr (joinable)
        if (A.continued && classes == 1)
          spikes_ = upload_blocks(exec, "ribbon::one_pass::spikes",
                                  joined_spikes<Scheme>(T, chunks.front(), systems.back(), A));
    }
    set_window(shape_, systems);
    if constexpr (one_matrix == CoefficientSource::regular)
      if (classes == 1) find_regular(blocks.data(), matrices[0].continued);
    Kokkos::deep_copy(exec, blocks_, blocks);
    store_reduced(exec, systems);
    if (outer.size() == 2) outer_of_one_ = outer;
    outer_ = upload_blocks(exec, "ribbon::one_pass::outer", outer);
  }

  const OnePassShape &shape() const { return shape_; }
  std::size_t         bytes() const
  {
    return (blocks_.size() + inverse_.size() + reduced_.size() + steps_.size() + outer_.size() +
            spikes_.size()) *
           sizeof(Scalar);
  }
  /// Whether there is a kernel for segments that compute their adjacent separators.
  bool joins() const
  {
    const int T = shape_.split.chunks;
    return spikes_.size() > 0 && shape_.staged && regular_begin_ == 0 && regular_end_ == T && T >= 4 &&
           (!is_device_space<Exec> || device::runs_at_once<Exec>());
  }

  /// x = A^-1 b for all lines. Asynchronous on exec. In place if b == x and both layouts agree.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified, const KnownRows<Scalar> &known,
             bool correct) const
  {
    const Arguments a{b, x, in, out, class_of_line, classified, known, correct};
    if constexpr (several)
      if (class_of_line && classes_ > 1) return run<CoefficientSource::classes>(exec, a);
    run<one_matrix>(exec, a);
  }

  /// The same with right-hand sides of another kind: set(kernel) sets them before the launch.
  template <class Input, class Set>
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified, bool correct, const Set &set) const
  {
    const Arguments a{b, x, in, out, class_of_line, classified, {}, correct};
    with_kernel_of<Input>(class_of_line && classes_ > 1,
                          [&](auto type) { launch<typename decltype(type)::type>(exec, a, set); });
  }
  /// Whether that kernel has room for lines with `regular` regular chunks.
  template <class Input>
  bool fits(const TeamRoom &room, int regular) const
  {
    bool fits = false;
    with_kernel_of<Input>(classes_ > 1, [&](auto type) {
      fits = decltype(type)::type::scratch(shape_, room.is_virtual, regular) <= room.scratch;
    });
    return fits;
  }
  std::size_t                   classes() const { return classes_; }
  OnePassTables<Scalar, Memory> tables() const
  {
    return {shape_, S, classes_, blocks_, inverse_, regular_, regular_begin_, regular_end_};
  }
  /// The blocks of coefficients of all chunks, (class, chunk).
  const Words &blocks() const { return blocks_; }
  /// Calls f with the number of slots of a chunk as a compile-time constant.
  template <class F>
  void with_slots_of(const F &f) const
  {
    Kernels::with_slots(shape_.slots, f);
  }
  /// The chunks that share the block of coefficients in the arguments of the kernel.
  int regular_begin() const { return regular_begin_; }
  int regular_end() const { return regular_end_; }

private:
  using Kernels::block_words, Kernels::fit, Kernels::kept_regular, Kernels::with_slots;

  template <class Input, class F>
  void with_kernel_of([[maybe_unused]] bool differ, const F &f) const
  {
    const auto with_input = [&](auto type) {
      f(TypeTag<typename decltype(type)::type::template WithInput<Input>>{});
    };
    if constexpr (several)
      if (differ) return Kernels::template with_kernel<CoefficientSource::classes>(shape_, with_input);
    Kernels::template with_kernel<one_matrix>(shape_, with_input);
  }

  struct Arguments {
    const Scalar     *b;
    Scalar           *x;
    LineSet           in, out;
    const int        *class_of_line;
    std::int64_t      classified;
    KnownRows<Scalar> known;
    bool              correct;
  };

  static ChunkTables<Wide> eliminate(const HostMatrix<Scalar> &A, int begin, int length, PivotWatch &watch)
  {
    if constexpr (Scheme::always_ring) return eliminate_orthogonal(A, begin, length, false, watch);
    else return eliminate_plain(A, begin, length, true, watch);
  }

  /// Rounds the tables of a chunk whose block has `pad` empty rows at its beginning.
  template <int Slots>
  static void fill_block(Scalar *to, const ChunkTables<Wide> &chunk, int pad)
  {
    static_assert(sizeof(typename Scheme::Forward) >= sizeof(Scalar) * Scheme::Forward::words);
    ChunkBlock<Scheme, Slots> block;
    std::memset(static_cast<void *>(&block), 0, sizeof block);
    const auto copy = [](const std::vector<Wide> &words, int per_row, auto *row) {
      for (std::size_t k = 0; k * static_cast<std::size_t>(per_row) < words.size(); ++k)
        for (int e = 0; e < per_row; ++e)
          reinterpret_cast<Scalar *>(row + k)[e] =
            narrow<Scalar>(words[k * static_cast<std::size_t>(per_row) + static_cast<std::size_t>(e)]);
    };
    copy(chunk.forward, chunk.forward_words, block.forward.row + pad);
    copy(chunk.backward, chunk.backward_words, block.backward.row + pad);
    if (!chunk.edge.empty()) copy(chunk.edge, static_cast<int>(chunk.edge.size()), &block.forward.edge);
    std::memcpy(static_cast<void *>(to), &block, sizeof block);
  }

  static void store_block(int slots, Scalar *to, const ChunkTables<Wide> &chunk, int pad)
  {
    with_slots(slots, [&](auto n) { fill_block<n()>(to, chunk, pad); });
  }

  /// Finds the longest run of chunks whose blocks are bitwise equal: a constant stencil. Chunk 0 of an open
  /// line has no left neighbour. So its H (except in continued lines) and Us are never used, and they are
  /// copied from its right neighbour.
  void find_regular(Scalar *blocks, bool continued)
  {
    const int         T     = shape_.split.chunks;
    const std::size_t bytes = block_words_ * sizeof(Scalar);
    auto              block = [&](int c) { return blocks + static_cast<std::size_t>(c) * block_words_; };
    auto              same  = [&](int c, int d) { return std::memcmp(block(c), block(d), bytes) == 0; };
    if constexpr (!Scheme::always_ring)
      if (!shape_.ring && T > 1 && shape_.split.first * B == shape_.slots) {
        std::vector<Scalar> first(block(0), block(0) + block_words_);
        // those of the first chunk equal those of its right neighbour, or are not used
        bool couplings = true;
        with_slots(shape_.slots, [&](auto n) {
          using Chunk = ChunkBlock<Scheme, n()>;
          auto *own   = reinterpret_cast<Chunk *>(first.data());
          auto *right = reinterpret_cast<const Chunk *>(block(1));
          if (continued) couplings = std::memcmp(&own->backward, &right->backward, sizeof own->backward) == 0;
          for (int k = 0; k < Chunk::rows - Scheme::separator_rows; ++k)
            std::memcpy(own->backward.row[k].H, right->backward.row[k].H, sizeof own->backward.row[k].H);
          std::memcpy(own->forward.edge.Us, right->forward.edge.Us, sizeof own->forward.edge.Us);
        });
        if (couplings && std::memcmp(first.data(), block(1), bytes) == 0)
          std::memcpy(static_cast<void *>(block(0)), first.data(), bytes);
      }
    for (int c = 0; c < T;) {
      int d = c + 1;
      if (shape_.split.size(c) * B < shape_.slots) { // the kernel assumes that regular chunks are full
        c = d;
        continue;
      }
      while (d < T && same(c, d)) ++d;
      if (d - c > regular_end_ - regular_begin_) regular_begin_ = c, regular_end_ = d;
      c = d;
    }
    if (kept_regular(shape_, regular_end_ - regular_begin_) == 0) regular_begin_ = regular_end_ = 0;
    regular_.assign(block(regular_begin_), block(regular_begin_) + block_words_);
  }

  void store_reduced(const Exec &exec, const std::vector<ReducedSystem<Scalar>> &systems)
  {
    const auto halved = shape_.staged ? halve_what_pays(systems, shape_) : systems;
    const int  T      = shape_.split.chunks;

    std::vector<Square>                inverse, reduced;
    std::vector<StepBlocks<Scalar, S>> steps;
    for (const auto &system : halved) {
      for (int k = 0; k < T * shape_.window; ++k)
        inverse.push_back(shape_.staged
                            ? block_of_inverse<S>(system, shape_, k % T, k / T)
                            : block_of_inverse<S>(system, shape_, k / shape_.window, k % shape_.window));
      for (int k = 0; k < shape_.halvings * T; ++k) steps.push_back(blocks_of_step<S>(system, k / T, k % T));
    }
    shape_.same_begin = regular_begin_, shape_.same_end = regular_end_;
    for (int k = 0; k < static_cast<int>(steps.size()); ++k)
      if (std::memcmp(
            &steps[static_cast<std::size_t>(k)],
            &steps[static_cast<std::size_t>(k / T * T + shape_.alike(k % T, 1 << k / T % shape_.halvings))],
            sizeof steps[0]) != 0)
        shape_.same_end = 0;
    for (const auto &system : systems)
      for (int c = 0; c < T; ++c)
        for (const auto *block : {&system.lower, &system.diag, &system.upper})
          reduced.push_back(square_block<Scalar, S>([&](int a, int b) { return (*block)(c * S + a, b); }));
    inverse_ = upload_blocks(exec, "ribbon::one_pass::inverse", inverse);
    reduced_ = upload_blocks(exec, "ribbon::one_pass::reduced", reduced);
    steps_   = upload_blocks(exec, "ribbon::one_pass::steps", steps);
  }

  template <CoefficientSource source>
  void run(const Exec &exec, const Arguments &a) const
  {
    if constexpr (joinable && source != CoefficientSource::classes)
      if (a.known.joined) return launch<JoinedOnePassKernel<Scheme, 32>>(exec, a);
    Kernels::template with_kernel<source>(shape_,
                                          [&](auto type) { launch<typename decltype(type)::type>(exec, a); });
  }

  /// Lanes by which the first tile begins before line 0, so that every row of a tile begins at a multiple
  /// of its width in memory. Two aligned blocks of 128 bytes that do not share 256 bytes cost a tenth of
  /// the bandwidth (Kokkos puts 128 bytes before an array).
  static int shift(const OnePassShape &s, const Scalar *x, const LineSet &out)
  {
    if (s.staged || out.stride0 != 1) return 0;
    const auto word = reinterpret_cast<std::uintptr_t>(x + out.offset) / sizeof(Scalar);
    return static_cast<int>(word % static_cast<std::uintptr_t>(s.lanes()));
  }

  /// The shape for `lines` lines: few lines are spread over the device. An irregular last chunk has a
  /// separate warp, so that other chunks do not wait for it.
  OnePassShape spread(const Exec &exec, std::int64_t lines) const
  {
    OnePassShape       s    = shape_;
    const std::int64_t room = device::multiprocessors(exec);
    // lanes load the coefficients of a chunk together
    const int least_bits = s.staged && regular_end_ - regular_begin_ == s.split.chunks ? 0 : 3;
    while (s.lane_bits > least_bits && lines * s.blocks <= room << (s.lane_bits - 1)) --s.lane_bits;
    const int before = (s.split.chunks - 1) << s.lane_bits;
    if (room > 0 && s.staged && regular_end_ > 0 && regular_end_ == s.split.chunks - 1 && before % 32 != 0 &&
        s.threads() <= 480)
      s.idle = 32 - before % 32;
    return s;
  }

  struct SetNothing {
    template <class Kernel>
    void operator()(Kernel &) const
    {
    }
  };
  template <class Kernel, class Set = SetNothing>
  void launch(const Exec &exec, const Arguments &a, const Set &set = {}) const
  {
    Kernel k;
    if constexpr (!std::is_same_v<decltype(k.regular), NoRegularBlock>)
      std::memcpy(static_cast<void *>(&k.regular), regular_.data(), sizeof k.regular);
    k.b = a.b, k.x = a.x, k.in = a.in, k.out = a.out;
    k.shape         = spread(exec, a.in.lines());
    k.blocks        = reinterpret_cast<const typename Kernel::Block *>(blocks_.data());
    k.inverse       = reinterpret_cast<const Square *>(inverse_.data());
    k.reduced       = reinterpret_cast<const Square *>(reduced_.data()),
    k.steps         = reinterpret_cast<const typename Kernel::Steps *>(steps_.data());
    k.class_of_line = a.class_of_line;
    k.classified    = a.classified;
    k.regular_begin = regular_begin_, k.regular_end = regular_end_;
    k.known = a.known;
    if (a.known.near) k.near = *a.known.near;
    k.outer = a.known.values || a.known.near ? reinterpret_cast<const Square *>(outer_.data()) : nullptr;
    std::copy(outer_of_one_.begin(), outer_of_one_.end(), k.outer_of_one);
    k.correct = a.correct, k.lines = a.in.lines(),
    k.looped                   = by_loops(shape_, regular_end_ - regular_begin_, B);
    k.shift                    = shift(k.shape, a.x, a.out);
    const std::int64_t teams   = (k.lines + k.shift + k.shape.lanes() - 1) / k.shape.lanes();
    const std::int64_t between = k.outer ? a.known.stored : 0;
    k.shape.behind = lie_as_in_scratch(k.shape, a.in, between) && lie_as_in_scratch(k.shape, a.out, between);
    set(k);
    if constexpr (Kernel::joins) {
      k.outer = nullptr, k.joined = *a.known.joined,
      k.spikes = reinterpret_cast<const Square *>(spikes_.data());
      launch_joined(exec, k, teams, at_once_[k.shape.lane_bits]);
    } else {
      device::League league{
        teams, k.shape.threads(),
        Kernel::scratch(k.shape, !is_device_space<Exec>, k.regular_end - k.regular_begin)};
      if (a.known.near) k.place_beside(league, is_device_space<Exec>);
      if constexpr (Kernel::stays)
        k.teams = league.teams = resident_teams<Kernel>(exec, league, at_once_[k.shape.lane_bits]);
      if constexpr (most_blocks > 1 && Kernel::slots == 64)
        if (k.shape.blocks > 1)
          return device::launch_cluster(exec, "ribbon::one_pass", league,
                                        {k.shape.blocks, k.shape.block_threads()}, k);
      device::launch(exec, "ribbon::one_pass", league, k);
    }
  }

  OnePassShape                   shape_;
  mutable std::int64_t           at_once_[6]  = {}; ///< joined or persistent teams, by lane_bits
  std::size_t                    classes_     = 1;
  std::size_t                    block_words_ = 0;
  Kokkos::View<Scalar *, Memory> blocks_;
  Words                          inverse_, reduced_, steps_, outer_, spikes_;
  std::vector<Square>            outer_of_one_;
  std::vector<Scalar>            regular_;
  int                            regular_begin_ = 0, regular_end_ = 0;
};

} // namespace ribbon
