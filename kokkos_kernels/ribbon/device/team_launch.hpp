// SPDX-License-Identifier: BSD-2-Clause
/// @file team_launch.hpp  Launches team kernels: a league of teams of virtual threads with scratch and
///   barriers.
///
/// A kernel consists of phases over virtual threads (Threads::for_each) with team.barrier() between them.
/// On a device every virtual thread is a hardware thread and its state stays in registers. On a host one
/// thread runs all of them and the state lies in scratch.
///
/// On CUDA the launch bypasses Kokkos::TeamPolicy. TeamPolicy (4.6) grants 48 KB of scratch although the
/// chip has 227. It sends functors above 512 bytes through a staging copy with a host wait. Kokkos tools
/// still see the kernel under its label. Configure with RIBBON_PLAIN_KOKKOS=ON for TeamPolicy on all
/// backends.
#pragma once

#include <ribbon/compat.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ribbon::device {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__) && !defined(RIBBON_PLAIN_KOKKOS)
  #define RIBBON_CUDA_LAUNCH 1
  #if defined(KOKKOS_ARCH_HOPPER) || defined(KOKKOS_ARCH_BLACKWELL)
    #define RIBBON_CUDA_90                                                                                   \
      1 ///< compute capability 9: clusters, the copy engine and launches that overlap each other
  #endif
#endif

/// Size of a launch.
struct League {
  std::int64_t teams   = 0;
  int          threads = 1; ///< virtual threads of a team
  /// bytes of scratch per block of the team (a sum of 16-byte aligned parts)
  std::size_t scratch = 0;
  /// all teams run at the same time, so they may wait for each other. At most teams_at_once() teams
  bool at_once = false;
};

KOKKOS_INLINE_FUNCTION constexpr std::size_t align16(std::size_t bytes)
{
  return (bytes + 15) / 16 * 16;
}

/// Consecutive blocks of a team, modulo the number of blocks.
struct BlockRange {
  int first, count;
};

/// Interface between kernels and their team. Teams of one block have all scratch in that block.
/// cluster_launch.hpp has teams of several blocks.
struct OneBlock {
  static constexpr bool spans_blocks = false;
  /// Index of the first virtual thread of this block.
  KOKKOS_INLINE_FUNCTION int first() const { return 0; }
  /// Waits until the scratch of all blocks may be written to.
  KOKKOS_INLINE_FUNCTION void await_blocks() const { }
  /// Writes to the copies in the scratch of all `readers`.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION void write(Scalar *to, const Scalar &value, BlockRange) const
  {
    *to = value;
  }
};

/// A team of a Kokkos::TeamPolicy. If Virtual, one thread runs all virtual threads.
template <class Member, bool Virtual>
struct KokkosTeam : OneBlock {
  static constexpr bool  is_virtual = Virtual;
  const Member          &member;
  char                  *memory;
  int                    threads;
  KOKKOS_INLINE_FUNCTION KokkosTeam(const Member &m, char *scratch, int size)
      : member(m), memory(scratch), threads(size)
  {
  }
  KOKKOS_INLINE_FUNCTION std::int64_t league_rank() const { return member.league_rank(); }
  KOKKOS_INLINE_FUNCTION int          rank() const { return member.team_rank(); }
  KOKKOS_INLINE_FUNCTION int          size() const { return threads; }
  KOKKOS_INLINE_FUNCTION char        *scratch() const { return memory; }
  KOKKOS_INLINE_FUNCTION void         barrier() const { member.team_barrier(); }
};

/// Pause between two reads of a value that another team writes.
KOKKOS_INLINE_FUNCTION void pause()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  __nanosleep(64);
#endif
}

/// Runs phases over the virtual threads of a team and keeps the State of each thread between phases.
template <class State, class Team>
class Threads {
public:
  /// `memory` holds size() states where threads are virtual (see bytes()) and is not used otherwise.
  KOKKOS_INLINE_FUNCTION Threads(const Team &team, [[maybe_unused]] char *memory) : team_(team)
  {
    if constexpr (Team::is_virtual) states_ = reinterpret_cast<State *>(memory);
  }
  template <class Phase>
  KOKKOS_INLINE_FUNCTION void for_each(const Phase &phase)
  {
    if constexpr (Team::is_virtual)
      for (int v = 0; v < team_.size(); ++v) phase(v, states_[v]);
    else phase(team_.rank(), state_);
  }

private:
  struct Nothing { };
  const Team                                            &team_;
  std::conditional_t<Team::is_virtual, Nothing, State>   state_;
  std::conditional_t<Team::is_virtual, State *, Nothing> states_{};
};

/// Whether lanes of a warp copy blocks of coefficients and packs of rows to scratch together
/// (async_copy_block, async_copy_pack).
template <class Team>
inline constexpr bool copies_blocks = false;

#ifdef RIBBON_CUDA_LAUNCH
struct CudaTeam : OneBlock {
  static constexpr bool is_virtual = false;
  __device__ std::int64_t league_rank() const { return blockIdx.x; }
  __device__ int          rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int          size() const { return static_cast<int>(blockDim.x); }
  __device__ char        *scratch() const
  {
    extern __shared__ double2 ribbon_team_scratch[];
    return reinterpret_cast<char *>(ribbon_team_scratch);
  }
  __device__ void barrier() const { __syncthreads(); }
};

template <>
inline constexpr bool copies_blocks<CudaTeam> = true;

/// A CudaTeam that keeps its rank and scratch address in registers. Otherwise the compiler reads the
/// special registers at every use, which takes forty cycles each.
struct SettledCudaTeam : CudaTeam {
  int              number = static_cast<int>(threadIdx.x);
  unsigned         memory = static_cast<unsigned>(__cvta_generic_to_shared(CudaTeam::scratch()));
  __device__       SettledCudaTeam() { asm volatile("" : "+r"(number), "+r"(memory)); }
  __device__ int   rank() const { return number; }
  __device__ char *scratch() const { return static_cast<char *>(__cvta_shared_to_generic(memory)); }
};
/// Whether a kernel runs with a SettledCudaTeam: it has a constant `settles` that is true.
template <class Kernel, class = void>
inline constexpr bool settles = false;
template <class Kernel>
inline constexpr bool settles<Kernel, std::void_t<decltype(Kernel::settles)>> = Kernel::settles;

/// A kernel starts while the previous one ends (see launch_cuda). It waits here before it reads or writes
/// memory.
__device__ inline void await_previous_kernel()
{
  #if defined(RIBBON_CUDA_90) && defined(__CUDA_ARCH__)
  asm volatile("griddepcontrol.wait;" ::: "memory");
  #endif
}

/// Minimum number of teams per multiprocessor for which the compiler limits registers: `teams_beside` of a
/// kernel, if it has one. Without a limit the compiler uses fewer registers than available, and spills.
template <class Kernel, class = void>
inline constexpr int teams_beside = 0;
template <class Kernel>
inline constexpr int teams_beside<Kernel, std::void_t<decltype(Kernel::teams_beside)>> = Kernel::teams_beside;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::max_threads, teams_beside<Kernel>)
  cuda_team_kernel(const __grid_constant__ Kernel kernel)
{
  await_previous_kernel();
  if constexpr (settles<Kernel>) kernel(SettledCudaTeam{});
  else kernel(CudaTeam{});
}
#endif

/// Scratch of a team, aligned.
template <class Member>
KOKKOS_FUNCTION char *team_memory(const Member &member, int level, std::size_t bytes)
{
  char *memory =
    static_cast<char *>(member.team_scratch(level).get_shmem(static_cast<std::ptrdiff_t>(bytes) + 16));
  return memory + (16 - reinterpret_cast<std::uintptr_t>(memory) % 16) % 16;
}

/// Body of a TeamPolicy for one team.
template <class Kernel, class Member, bool Virtual>
struct TeamPolicyBody {
  static constexpr int level = 0;
  Kernel               kernel;
  std::size_t          scratch;
  int                  threads;
  KOKKOS_FUNCTION void operator()(const Member &member) const
  {
    kernel(KokkosTeam<Member, false>(member, team_memory(member, level, scratch), threads));
  }
};
/// The same on a host, where the kernel may be host code only.
template <class Kernel, class Member>
struct TeamPolicyBody<Kernel, Member, true> {
  static constexpr int level = 1;
  Kernel               kernel;
  std::size_t          scratch;
  int                  threads;
  void                 operator()(const Member &member) const
  {
    kernel(KokkosTeam<Member, true>(member, team_memory(member, level, scratch), threads));
  }
};

/// Bytes of the scratch of a multiprocessor that CUDA reserves for every block.
inline constexpr std::size_t reserved_scratch = 1024;

/// Maximum scratch of one team in bytes.
template <class Exec>
std::size_t scratch_limit([[maybe_unused]] const Exec &exec)
{
#ifdef RIBBON_CUDA_LAUNCH
  if constexpr (is_device_space<Exec>) return exec.cuda_device_prop().sharedMemPerBlockOptin;
#endif
  return is_device_space<Exec> ? std::size_t(36) << 10 : std::size_t(256) << 20;
}

/// Multiprocessors of the device; 0 if teams run one after another.
template <class Exec>
int multiprocessors([[maybe_unused]] const Exec &exec)
{
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (is_device_space<Exec>) return exec.cuda_device_prop().multiProcessorCount;
#endif
  return 0;
}

template <class Exec, class Kernel>
void launch_team_policy(const Exec &exec, const std::string &label, const League &league,
                        const Kernel &kernel)
{
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Body   = TeamPolicyBody<Kernel, typename Policy::member_type, !is_device_space<Exec>>;
  Policy policy(exec, static_cast<int>(league.teams), is_device_space<Exec> ? league.threads : 1);
  policy.set_scratch_size(Body::level, Kokkos::PerTeam(static_cast<int>(league.scratch + 32)));
  Kokkos::parallel_for(label, policy, Body{kernel, league.scratch, league.threads});
}

#ifdef RIBBON_CUDA_LAUNCH
/// A grid of teams of `blocks` blocks each.
struct Grid {
  std::int64_t teams;
  int          blocks, threads; ///< threads of a block
  std::size_t  scratch;         ///< bytes of a block
  bool         at_once = false; ///< as in League
};

/// Launches kernel(arguments) so that Kokkos tools see it.
template <class... Parameters, class... Arguments>
void launch_cuda(const Kokkos::Cuda &exec, const std::string &label, const Grid &grid,
                 void (*kernel)(Parameters...), const Arguments &...arguments)
{
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t  config{};
  config.gridDim          = dim3(static_cast<unsigned>(grid.teams * grid.blocks)),
  config.blockDim         = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = grid.scratch, config.stream = exec.cuda_stream(), config.attrs = attributes;
  #ifdef RIBBON_CUDA_90
  if (grid.blocks > 1) {
    attributes[config.numAttrs].id               = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs++].val.clusterDim = {static_cast<unsigned>(grid.blocks), 1, 1};
  }
  if (!grid.at_once) {
    // overlaps the end of the previous kernel
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  #endif
  if (grid.at_once)
    attributes[config.numAttrs].id                = cudaLaunchAttributeCooperative,
    attributes[config.numAttrs++].val.cooperative = 1;
  const bool    profiled = Kokkos::Profiling::profileLibraryLoaded();
  std::uint64_t id       = 0;
  if (profiled) Kokkos::Profiling::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  if (grid.scratch > 48 * 1024)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(grid.scratch));
  cudaLaunchKernelEx(&config, kernel, arguments...);
  const cudaError_t error = cudaGetLastError();
  if (profiled) {
    exec.fence();
    Kokkos::Profiling::endParallelFor(id);
  }
  if (error != cudaSuccess) throw std::runtime_error(label + ": " + cudaGetErrorString(error));
}
#endif

/// Whether a launch can guarantee that all teams of a league run at the same time.
template <class Exec>
constexpr bool runs_at_once()
{
#ifdef RIBBON_CUDA_LAUNCH
  return is_device_space<Exec>;
#else
  return false;
#endif
}

/// Maximum number of teams of a kernel that run at the same time on an idle device; 0 if unknown.
template <class Kernel, class Exec>
std::int64_t teams_at_once([[maybe_unused]] const Exec &exec, [[maybe_unused]] int threads,
                           [[maybe_unused]] std::size_t scratch)
{
  int teams = 0; // per multiprocessor
#ifdef RIBBON_CUDA_LAUNCH
  if constexpr (is_device_space<Exec>) {
    if (scratch > 48 * 1024)
      cudaFuncSetAttribute(cuda_team_kernel<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(scratch));
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&teams, cuda_team_kernel<Kernel>, threads, scratch) !=
        cudaSuccess)
      teams = 0, cudaGetLastError();
  }
#endif
  return static_cast<std::int64_t>(teams) * multiprocessors(exec);
}

/// Starts kernel(team) for every team of the league on `exec` and returns before it has run. A league
/// without teams starts nothing. Kernel has `static constexpr int max_threads` and is copied by value.
/// @throws std::runtime_error if the launch is refused
template <class Exec, class Kernel>
void launch(const Exec &exec, const std::string &label, const League &league, const Kernel &kernel)
{
  if (league.teams <= 0) return;
#ifdef RIBBON_CUDA_LAUNCH
  if constexpr (is_device_space<Exec>)
    launch_cuda(exec, label, {league.teams, 1, league.threads, league.scratch, league.at_once},
                cuda_team_kernel<Kernel>, kernel);
  else
#endif
    launch_team_policy(exec, label, league, kernel);
}

} // namespace ribbon::device
