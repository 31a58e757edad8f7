// SPDX-License-Identifier: BSD-2-Clause
/// @file cluster_launch.hpp  Teams of several thread blocks: clusters of CUDA, compute capability 9 and
///   later. On other devices a team has one block.
///
/// Private data of a virtual thread lie in the scratch of its block. Data that a team exchanges have a copy
/// in the scratch of every block, and team.write() writes all copies. So reads are local, and threads wait
/// for other blocks only at barriers.
#pragma once

#include <ribbon/device/team_launch.hpp>

#ifdef RIBBON_CUDA_90
  #include <cooperative_groups.h>
#endif

namespace ribbon::device {

/// Maximum number of blocks of a team.
template <class Exec>
constexpr int most_blocks()
{
#ifdef RIBBON_CUDA_90
  if (is_device_space<Exec>) return 8;
#endif
  return 1;
}

#ifdef RIBBON_CUDA_90
/// A team whose virtual threads are those of the blocks of a cluster, in their order.
class ClusterTeam {
public:
  static constexpr bool is_virtual = false, spans_blocks = true;

  /// @param size  virtual threads. Threads beyond `size` have returned earlier, and barriers wait only for
  ///   the remaining ones.
  __device__ explicit ClusterTeam(int size)
      : size_(size), first_(static_cast<int>(Cluster::block_rank() * blockDim.x))
  {
    arrive();
  }

  __device__ std::int64_t league_rank() const { return blockIdx.x / Cluster::num_blocks(); }
  __device__ int          rank() const { return first_ + static_cast<int>(threadIdx.x); }
  __device__ int          size() const { return size_; }
  __device__ int          first() const { return first_; }
  __device__ char        *scratch() const { return CudaTeam().scratch(); }
  __device__ void         barrier() const { arrive(), await_blocks(); }
  /// Every thread calls this once before its first write() and before its first barrier.
  __device__ void await_blocks() const { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
  template <class Scalar>
  __device__ void write(Scalar *to, const Scalar &value, BlockRange readers) const
  {
    const int all = static_cast<int>(Cluster::num_blocks());
    for (int k = 0; k < readers.count; ++k)
      *Cluster::map_shared_rank(to, readers.first + k < all ? readers.first + k : readers.first + k - all) =
        value;
  }

private:
  using Cluster = cooperative_groups::cluster_group;
  __device__ void arrive() const { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
  int             size_, first_;
};

template <>
inline constexpr bool copies_blocks<ClusterTeam> = true;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::max_threads)
  cuda_cluster_kernel(const __grid_constant__ Kernel kernel, const int threads)
{
  await_previous_kernel();
  if (static_cast<int>(cooperative_groups::cluster_group::block_rank() * blockDim.x + threadIdx.x) >= threads)
    return;
  kernel(ClusterTeam(threads));
}
#endif

/// Blocks of a team, and threads of each.
struct Blocks {
  int count, threads;
};

/// launch() of teams of several blocks, each with league.scratch bytes of scratch.
/// @pre blocks.count <= most_blocks(), and (blocks.count - 1) blocks.threads < league.threads <=
///   blocks.count blocks.threads
template <class Exec, class Kernel>
void launch_cluster([[maybe_unused]] const Exec &exec, const std::string &label,
                    [[maybe_unused]] const League &league, [[maybe_unused]] const Blocks &blocks,
                    [[maybe_unused]] const Kernel &kernel)
{
#ifdef RIBBON_CUDA_90
  if (league.teams > 0)
    launch_cuda(exec, label, {league.teams, blocks.count, blocks.threads, league.scratch},
                cuda_cluster_kernel<Kernel>, kernel, league.threads);
#else
  throw std::logic_error(label + ": teams have one block here");
#endif
}

} // namespace ribbon::device
