// SPDX-License-Identifier: BSD-2-Clause
/// @file plan.hpp  Tables and launch of the one-pass kernel: choose a shape, factor on the host, keep
///   the numbers on the device.
#pragma once

#include <ribbon/algorithm/one_pass/joined_plan.hpp>
#include <ribbon/algorithm/one_pass/reduced_plan.hpp>
#include <ribbon/algorithm/one_pass/resident.hpp>
#include <ribbon/algorithm/one_pass/staged_plan.hpp>
#include <ribbon/algorithm/choice.hpp>
#include <ribbon/elimination/orthogonal.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace ribbon {

/// One-pass solver of a few distinct matrices. Construct = factor; solve as often as wanted.
template <class Scheme, class Exec>
class OnePass {
public:
  using Scalar           = typename Scheme::Scalar;
  using Wide             = wide_t<Scalar>;
  using Memory           = typename Exec::memory_space;
  static constexpr int B = Scheme::block;
  static constexpr int S = Scheme::separators;
  /// rows of the shortest chunk
  static constexpr int least = Scheme::always_ring ? S : 2 * Scheme::separator_rows;
  using Square               = SquareBlock<Scalar, S>;
  using Words                = Kokkos::View<Scalar *, Memory>;

  /// Tridiagonal and pentadiagonal systems have kernels of several shapes, the others one of 32 unknowns.
  static constexpr bool many_shapes = !Scheme::always_ring && S <= 2 && B == 1;
  static constexpr bool every_shape = many_shapes && std::is_same_v<Scalar, double>;
  /// kernels for pieces that find what lies beside them
  static constexpr bool joinable = every_shape;
  static constexpr bool wide     = sizeof(Scalar) > 8; ///< complex double
  /// that wait in registers, of systems with one shape
  static constexpr int few_rows = wide && Scheme::always_ring && S > 2 ? 0 : 8;
  /// Kernel of a single matrix. There may be no regular chunk: one for that case alone is not worth its size.
  static constexpr CoefficientSource one_matrix =
    many_shapes || std::is_same_v<Scalar, double> ? CoefficientSource::regular : CoefficientSource::shared;
  /// Contiguous lines of up to so many rows with one stencil are cut in chunks of 16 rows: the numbers of 32
  /// do not fit where the constants of instructions wait.
  static constexpr int short_chunks_to = many_shapes && wide && S == 2 ? 256 : 0;
  /// Float: a thread has 64 rows of longer lines, as many bytes as 32 in double, so that fewer threads keep
  /// as much on its way; contiguous lines where their last chunk would be short.
  static constexpr bool long_chunks = many_shapes && sizeof(Scalar) < 8;
  /// Kernels for several matrices: those of half-bandwidth 3 are padded to 4, and pivoted pentadiagonal ones
  /// in float are left to whole lines.
  static constexpr bool several = (B > 1 || S != 3) && !(Scheme::always_ring && S == 4 && sizeof(Scalar) < 8);
  /// Blocks of a team: several for long interleaved lines, which have too many rows for one.
  static constexpr int most_blocks = every_shape ? device::most_blocks<Exec>() : 1;
  using Resident                   = ResidentOnePassKernel<Scheme, 32>;

  /// Shape of the kernel for lines of this layout, by the table where the caller names none, with
  /// split.chunks == 0 where no tile fits the scratch of a team. `constant` tells a matrix with one stencil,
  /// whose full chunks may share a block, `classes` several matrices or continued lines. What is factored for
  /// the shape decides how many chunks do: place() has the last word on tiles and blocks.
  /// @throws std::invalid_argument for rows_per_thread that no kernel has.
  static OnePassShape choose(const TeamRoom &room, const LineSet &lines, bool periodic, bool constant,
                             bool classes, int rows_per_thread = 0, int lines_per_team = 0)
  {
    OnePassShape s;
    s.ring   = periodic || Scheme::always_ring;
    s.staged = lines.is_contiguous();
    if (lines.rows > 16384) return s;
    const auto known = slots_known(s.staged, classes);
    check_rows_per_thread(rows_per_thread, known, s.staged);
    const int         n = static_cast<int>(lines.rows);
    const choice::Key key{Scheme::separator_rows, B,
                          s.staged ? choice::Layout::contiguous : choice::Layout::interleaved,
                          constant ? choice::Source::constant : choice::Source::general};
    const int         measured = choice::measured(key, n).rows_per_thread;
    s.slots                    = rows_per_thread ? rows_per_thread
                                 : std::find(known.begin(), known.end(), measured) != known.end() ? measured
                                                                                                  : known.front();
    if (rows_per_thread == 0 && constant && !classes &&
        ((s.staged && n <= short_chunks_to) || (long_chunks && (s.staged ? n > 64 && n % 32 != 0 : n > 128))))
      s.slots = known.back();
    s.pack = every_shape && !classes && n % 2 != 0 && lie_side_by_side(lines, 0) ? 1 : Pack<Scalar>::size;
    // one tile each: short chunks, so that it has threads enough
    if (rows_per_thread == 0 && lines.lines() <= 8 * room.multiprocessors)
      for (int k : known)
        if (k < s.slots && n * B <= 32 * k) s.slots = k;
    s.split = ChunkSplit::make(n, least, s.slots / B);
    // swept by loops
    if (every_shape && s.staged && constant && !classes && s.split.chunks == 2) s.split.share_ends(n);
    if constexpr (every_shape)
      if (s.staged && !constant && !classes && s.pack > 1 && lines.lines() > 8 * room.multiprocessors &&
          fit_resident<Resident, Scheme>(s, room, lines_per_team))
        return s;
    if (s.split.chunks > 0 && !fit(s, room, constant ? kept_regular(s, s.split.chunks) : 0, lines_per_team))
      s.split.chunks = 0;
    return s;
  }

  /// Lines and blocks of a team, with the regular chunks that were found. False where no tile fits.
  bool place(const TeamRoom &room, int lines_per_team = 0)
  {
    return fit(shape_, room, regular_end_ - regular_begin_, lines_per_team);
  }

  /// Factors the matrices (all of one size and bandwidth) for the kernel. `watch` sees every
  /// pivot. The shape is completed.
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
  /// Whether there is a kernel for pieces that find what lies beside them.
  bool joins() const
  {
    const int T = shape_.split.chunks;
    return spikes_.size() > 0 && shape_.staged && regular_begin_ == 0 && regular_end_ == T && T >= 4 &&
           (!is_device_space<Exec> || device::runs_at_once<Exec>());
  }

  /// x = A^-1 b for all lines. Asynchronous on exec; in place where b == x and both layouts agree.
  void solve(const Exec &exec, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out,
             const int *class_of_line, std::int64_t classified, const KnownRows<Scalar> &known,
             bool correct) const
  {
    const Arguments a{b, x, in, out, class_of_line, classified, known, correct};
    if constexpr (several)
      if (class_of_line && classes_ > 1) return run<CoefficientSource::classes>(exec, a);
    run<one_matrix>(exec, a);
  }

private:
  struct Arguments {
    const Scalar     *b;
    Scalar           *x;
    LineSet           in, out;
    const int        *class_of_line;
    std::int64_t      classified;
    KnownRows<Scalar> known;
    bool              correct;
  };

  /// Of so many chunks that share a block, those that the kernel takes from its arguments.
  static int kept_regular(const OnePassShape &s, int regular)
  {
    const int T = s.split.chunks;
    if (one_matrix != CoefficientSource::regular || s.resident > 0 || 2 * regular < T ||
        (T == 1 && !s.staged) || (Scheme::always_ring && s.staged))
      return 0;
    // measured on an H200: a large block of constants loses to blocks in scratch where teams are small
    const bool large =
      B == 1 && ((S == 2 && (s.slots == 64 || (wide && !s.staged))) || (S == 4 && !s.staged));
    const bool two_ends = T - regular > 1; // teams wait for both of them
    return large && T < (Scheme::always_ring ? 3 : S == 2 ? (two_ends ? 12 : 5) : 8) ? 0 : regular;
  }

  /// Sets lines and blocks of a team for a line that is cut, with so many regular chunks.
  /// False where no tile fits.
  static bool fit(OnePassShape &s, const TeamRoom &room, int regular, int lines_per_team)
  {
    const auto fits = [&] {
      return s.block_threads() <= 512 && scratch(s, room.is_virtual, regular) <= room.scratch;
    };
    s.set_blocks(1);
    if (s.resident > 0) return true;
    if (s.staged) {
      const bool few =
        regular == 0 && !Scheme::always_ring &&
        static_cast<std::size_t>(s.split.chunks) * block_words(s.slots) * sizeof(Scalar) <= few_bytes;
      fit_staged<Scheme>(s, room, regular, few,
                         [&](const OnePassShape &shape) { return scratch(shape, room.is_virtual, regular); });
      for (int bits = 0; lines_per_team >> bits; ++bits) lay_out_staged<Scheme>(s, bits);
    } else {
      s.lane_bits = sizeof(Scalar) < 8 ? 6 : 5; // rows of 256 bytes, in complex double of 512
      choose_blocks(s, regular + 2 >= s.split.chunks);
      // two teams
      if (wide && Scheme::always_ring && 2 * scratch(s, room.is_virtual, regular) > room.scratch)
        s.lane_bits = 4;
      while (s.lane_bits > 2 && !fits()) --s.lane_bits;
      for (int bits = 0; lines_per_team >> bits; ++bits) s.lane_bits = bits;
      if (!fits()) s.set_blocks(1);
    }
    return fits();
  }

  /// Blocks of a team that has too many rows for one. Measured on an H200, rows 1024 to 4096: coefficients in
  /// scratch want smaller blocks, pentadiagonal lines half as many lanes before more blocks.
  static void choose_blocks(OnePassShape &s, bool constant)
  {
    if (most_blocks == 1 || s.slots != 64) return;
    const int T = s.split.chunks;
    // a half of them has too many threads for a second block on a multiprocessor, a quarter not for a third
    const bool few = T <= 20;
    if (S == 1) s.set_blocks(T > 32 ? 4 : T > 16 ? (constant && !few ? 2 : 4) : T > 8 && !constant ? 2 : 1);
    else if (T > 16) s.set_blocks(few ? 4 : 2);
  }

  static ChunkTables<Wide> eliminate(const HostMatrix<Scalar> &A, int begin, int length, PivotWatch &watch)
  {
    if constexpr (Scheme::always_ring) return eliminate_orthogonal(A, begin, length, false, watch);
    else return eliminate_plain(A, begin, length, true, watch);
  }

  /// Slots of the kernels there are: every shape in double, where they were measured; one for classes
  /// and for the wider systems.
  static std::vector<int> slots_known(bool staged, bool classes)
  {
    if (!many_shapes || classes || (staged ? short_chunks_to == 0 && !long_chunks : wide)) return {32};
    return staged && wide ? std::vector<int>{32, 16}
           : every_shape  ? std::vector<int>{16, 32, 64}
                          : std::vector<int>{32, 64};
  }

  /// Calls f with the kernel of a shape.
  template <CoefficientSource source, class F>
  static void with_kernel(const OnePassShape &s, const F &f)
  {
    if (s.staged) {
      if constexpr (every_shape && source != CoefficientSource::classes)
        if (s.resident > 0) return f(TypeTag<Resident>{});
      // see kept_regular()
      constexpr auto from =
        source == CoefficientSource::regular && Scheme::always_ring ? CoefficientSource::shared : source;
      if constexpr (short_chunks_to > 0 && source != CoefficientSource::classes)
        if (s.slots == 16) return f(TypeTag<OnePassKernel<Scheme, 0, 16, source, true>>{});
      if constexpr (long_chunks && source != CoefficientSource::classes)
        if (s.slots == 64) return f(TypeTag<OnePassKernel<Scheme, 0, 64, source, true>>{});
      if constexpr (every_shape && source == CoefficientSource::regular)
        if (s.pack == 1) return f(TypeTag<OnePassKernel<Scheme, 0, 32, from, true, 1>>{});
      f(TypeTag<OnePassKernel<Scheme, 0, 32, from, true>>{});
    } else if constexpr (!many_shapes)
      f(TypeTag<OnePassKernel<Scheme, few_rows, 32 - few_rows, source, false>>{});
    else if constexpr (wide || source == CoefficientSource::classes)
      f(TypeTag<OnePassKernel<Scheme, wide ? 12 : 4, wide ? 20 : 28, source, false>>{});
    else {
      if constexpr (every_shape)
        if (s.slots == 16) return f(TypeTag<OnePassKernel<Scheme, 8, 8, source, false>>{});
      if (s.slots == 32) f(TypeTag<OnePassKernel<Scheme, 4, 28, source, false>>{});
      else f(TypeTag<OnePassKernel<Scheme, 24, 40, source, false>>{});
    }
  }

  /// Scratch of a block of a team with that many regular chunks.
  static std::size_t scratch(const OnePassShape &s, bool is_virtual, int regular_chunks)
  {
    std::size_t bytes = 0;
    with_kernel<CoefficientSource::shared>(
      s, [&](auto type) { bytes = decltype(type)::type::scratch(s, is_virtual, regular_chunks); });
    return bytes;
  }

  /// Calls f with the number of slots as a compile-time constant.
  template <class F>
  static void with_slots([[maybe_unused]] int slots, const F &f)
  {
    if constexpr (many_shapes) {
      if (slots == 16) return f(std::integral_constant<int, 16>{});
      if (slots == 64) return f(std::integral_constant<int, 64>{});
    }
    f(std::integral_constant<int, 32>{});
  }

  static std::size_t block_words(int slots)
  {
    std::size_t words = 0;
    with_slots(slots, [&](auto n) { words = sizeof(ChunkBlock<Scheme, n()>) / sizeof(Scalar); });
    return words;
  }

  /// Rounds the tables of a chunk that leaves the first `pad` rows of its block empty.
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

  /// Finds the longest run of chunks whose blocks agree bit for bit: a constant stencil. Chunk 0 of a line
  /// that is not periodic has no left neighbour, so what it stores of H (but for continued lines) and Us is
  /// never used and is filled in from its right neighbour.
  void find_regular(Scalar *blocks, bool continued)
  {
    const int         T     = shape_.split.chunks;
    const std::size_t bytes = block_words_ * sizeof(Scalar);
    auto              block = [&](int c) { return blocks + static_cast<std::size_t>(c) * block_words_; };
    auto              same  = [&](int c, int d) { return std::memcmp(block(c), block(d), bytes) == 0; };
    if constexpr (!Scheme::always_ring)
      if (!shape_.ring && T > 1 && shape_.split.first * B == shape_.slots) {
        std::vector<Scalar> first(block(0), block(0) + block_words_);
        // of the first chunk are those of its right neighbour, or not used
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
      if (shape_.split.size(c) * B < shape_.slots) { // the kernel takes regular chunks to be full
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
    with_kernel<source>(shape_, [&](auto type) { launch<typename decltype(type)::type>(exec, a); });
  }

  /// Lanes by which the first tile has to begin before line 0 for every row of a tile to begin at a multiple
  /// of its width in memory. Two aligned pieces of 128 bytes that do not share 256 bytes cost a tenth of the
  /// bandwidth (Kokkos itself puts 128 bytes before an array).
  static int shift(const OnePassShape &s, const Scalar *x, const LineSet &out)
  {
    if (s.staged || out.stride0 != 1) return 0;
    const auto word = reinterpret_cast<std::uintptr_t>(x + out.offset) / sizeof(Scalar);
    return static_cast<int>(word % static_cast<std::uintptr_t>(s.lanes()));
  }

  /// The shape for so many lines: few are spread over the device. A last chunk that is not regular has a warp
  /// of its own: the others need not wait.
  OnePassShape spread(const Exec &exec, std::int64_t lines) const
  {
    OnePassShape       s    = shape_;
    const std::int64_t room = device::multiprocessors(exec);
    // lanes bring the numbers of a chunk together
    const int least_bits = s.staged && regular_end_ - regular_begin_ == s.split.chunks ? 0 : 3;
    while (s.lane_bits > least_bits && lines * s.blocks <= room << (s.lane_bits - 1)) --s.lane_bits;
    const int before = (s.split.chunks - 1) << s.lane_bits;
    if (room > 0 && s.staged && regular_end_ > 0 && regular_end_ == s.split.chunks - 1 && before % 32 != 0 &&
        s.threads() <= 480)
      s.idle = 32 - before % 32;
    return s;
  }

  template <class Kernel>
  void launch(const Exec &exec, const Arguments &a) const
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
    if constexpr (Kernel::joins) {
      k.outer = nullptr, k.joined = *a.known.joined,
      k.spikes = reinterpret_cast<const Square *>(spikes_.data());
      launch_joined(exec, k, teams, at_once_[k.shape.lane_bits]);
    } else {
      device::League league{teams, k.shape.threads(),
                            Kernel::scratch(k.shape, !is_device_space<Exec>, regular_end_ - regular_begin_)};
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
  mutable std::int64_t           at_once_[6]  = {}; ///< teams of joined pieces, or that stay, by lane_bits
  std::size_t                    classes_     = 1;
  std::size_t                    block_words_ = 0;
  Kokkos::View<Scalar *, Memory> blocks_;
  Words                          inverse_, reduced_, steps_, outer_, spikes_;
  std::vector<Square>            outer_of_one_;
  std::vector<Scalar>            regular_;
  int                            regular_begin_ = 0, regular_end_ = 0;
};

} // namespace ribbon
