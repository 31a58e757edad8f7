// SPDX-License-Identifier: BSD-2-Clause
/// @file coefficients.hpp  Source of the coefficients of a chunk in the one-pass kernel: its arguments,
///   memory or scratch.
///
/// All sources return rows of a ChunkBlock: forward(k), backward(k), edge(). The kernel calls
/// fetch_forward() before it requests the rows of the chunk, and await_forward() before the first use. The
/// backward half has the same functions.
#pragma once

#include <ribbon/elimination/chunk.hpp>
#include <ribbon/device/async_copy.hpp>

namespace ribbon {

/// Where the kernel reads the coefficients of a chunk.
enum class CoefficientSource {
  regular, ///< one matrix whose chunks [regular_begin, regular_end) share one block, passed by value
  shared,  ///< one matrix
  classes  ///< several matrices, line -> class
};

/// The block of the regular chunks: on CUDA its coefficients are constants of the instructions.
template <class Block>
struct RegularBlock {
  static constexpr bool       full  = true; ///< every slot holds a row
  static constexpr int        ahead = 0;    ///< rows of coefficients to read ahead
  const Block                &block;
  KOKKOS_FUNCTION const auto &forward(int k) const { return block.forward.row[k]; }
  KOKKOS_FUNCTION const auto &backward(int k) const { return block.backward.row[k]; }
  KOKKOS_FUNCTION const auto &edge() const { return block.forward.edge; }
  KOKKOS_FUNCTION void        fetch_forward() const { }
  KOKKOS_FUNCTION void        await_forward() const { }
  KOKKOS_FUNCTION void        fetch_backward() const { }
  KOKKOS_FUNCTION void        await_backward() const { }
};

/// A block that is read from memory.
template <class Block>
struct MemoryBlock {
  static constexpr bool full  = false;
  static constexpr int  ahead = 0;
  const Block          *block;
  KOKKOS_FUNCTION auto  forward(int k) const { return read_only(&block->forward.row[k]); }
  KOKKOS_FUNCTION auto  backward(int k) const { return read_only(&block->backward.row[k]); }
  KOKKOS_FUNCTION auto  edge() const { return read_only(&block->forward.edge); }
  KOKKOS_FUNCTION auto  product(int k) const { return read_only(&block->forward.product[k]); }
  KOKKOS_FUNCTION void  fetch_forward() const { }
  KOKKOS_FUNCTION void  await_forward() const { }
  KOKKOS_FUNCTION void  fetch_backward() const { }
  KOKKOS_FUNCTION void  await_backward() const { }
};

/// Bytes of blocks that fit the part of the L1 cache that team scratch leaves.
inline constexpr std::size_t few_bytes = 20480;

/// A block that the lanes of its chunk copy to scratch: first the forward half, then the backward half in
/// the same place.
/// @tparam later  groups of asynchronous copies that start after the forward half
template <class Block, int later>
struct FetchedBlock {
  using Forward                      = typename Block::Forward;
  using Backward                     = typename Block::Backward;
  static constexpr std::size_t bytes = sizeof(Forward) > sizeof(Backward) ? sizeof(Forward)
                                                                          : sizeof(Backward);
  static constexpr bool        full  = false;
  /// The compiler cannot know that writing a row to scratch does not change the block. Rows of many
  /// coefficients would fill the registers.
  static constexpr int        ahead = Block::forward_words > 12 ? 0 : Block::forward_words > 9 ? 1 : 2;
  const Block                *block;
  char                       *scratch;
  int                         lane, lanes;
  bool                        keep; ///< in the L1 cache
  KOKKOS_FUNCTION const auto &forward(int k) const
  {
    return reinterpret_cast<const Forward *>(scratch)->row[k];
  }
  KOKKOS_FUNCTION const auto &backward(int k) const
  {
    return reinterpret_cast<const Backward *>(scratch)->row[k];
  }
  KOKKOS_FUNCTION const auto &edge() const { return reinterpret_cast<const Forward *>(scratch)->edge; }
  KOKKOS_FUNCTION const auto &product(int k) const
  {
    return reinterpret_cast<const Forward *>(scratch)->product[k];
  }
  KOKKOS_FUNCTION void fetch_forward() const
  {
    device::async_copy_block(scratch, &block->forward, sizeof(Forward), lane, lanes, keep);
    device::async_commit();
  }
  KOKKOS_FUNCTION void await_forward() const
  {
    device::async_wait(later);
    device::lane_barrier(lanes);
  }
  KOKKOS_FUNCTION void fetch_backward() const
  {
    device::lane_barrier(lanes);
    device::async_copy_block(scratch, &block->backward, sizeof(Backward), lane, lanes, keep);
    device::async_commit();
  }
  KOKKOS_FUNCTION void await_backward() const
  {
    device::async_wait(0);
    device::lane_barrier(lanes);
  }
};

/// A block in scratch.
template <class Block>
struct HeldBlock {
  static constexpr bool       full  = false;
  static constexpr int        ahead = FetchedBlock<Block, 0>::ahead;
  const Block                *block;
  KOKKOS_FUNCTION const auto &forward(int k) const { return block->forward.row[k]; }
  KOKKOS_FUNCTION const auto &backward(int k) const { return block->backward.row[k]; }
  KOKKOS_FUNCTION const auto &edge() const { return block->forward.edge; }
  KOKKOS_FUNCTION const auto &product(int k) const { return block->forward.product[k]; }
  KOKKOS_FUNCTION void        fetch_forward() const { }
  KOKKOS_FUNCTION void        await_forward() const { }
  KOKKOS_FUNCTION void        fetch_backward() const { }
  KOKKOS_FUNCTION void        await_backward() const { }
};

/// A block for sweeps that are loops (one_pass/staged.hpp), as a different type.
template <class Block>
struct LoopedBlock : Block {
};

template <class Coefficients>
inline constexpr bool is_looped = false;
template <class Block>
inline constexpr bool is_looped<LoopedBlock<Block>> = true;

/// Rows of coefficients in the order of a sweep, read `ahead` rows before they are needed.
template <class Row, int ahead>
struct ReadAhead {
  Row row[ahead];
  template <class Read>
  KOKKOS_FUNCTION Row next(int step, int steps, const Read &read)
  {
    if (step == 0) {
      RIBBON_UNROLL
      for (int k = 0; k < ahead; ++k) row[k] = read(k);
    }
    const Row now = row[step % ahead];
    if (step + ahead < steps) row[step % ahead] = read(step + ahead);
    return now;
  }
};
template <class Row>
struct ReadAhead<Row, 0> {
  template <class Read>
  KOKKOS_FUNCTION decltype(auto) next(int step, int, const Read &read)
  {
    return read(step);
  }
};

} // namespace ribbon
