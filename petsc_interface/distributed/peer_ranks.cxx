// SPDX-License-Identifier: BSD-2-Clause
#include "device_ranks.hpp"

#include <Kokkos_Core.hpp>

#ifndef KOKKOS_ENABLE_CUDA
namespace ribbon::petsc {
PetscErrorCode ConnectPeers(MPI_Comm, Connection *made)
{
  PetscFunctionBegin;
  made->why_not = "peers need CUDA";
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace ribbon::petsc
#else

  #include "../support/format.hpp"
  #include "../support/session.hpp"

  #include <cuda_runtime.h>

  #include <algorithm>
  #include <cstring>
  #include <vector>

namespace ribbon::petsc {

namespace {

constexpr int         threads = 256, blocks = 64, lanes = 8;
constexpr std::size_t tags = 2, slots = 2, landing_bytes = std::size_t(32) << 20;

/// A part of a message that fits a slot. Its blocks copy n scalars and have a flag each: the sender sets flags to
/// `round` behind the scalars, the receiver waits for that.
struct Lane {
  const Scalar *from;
  Scalar       *to;
  unsigned     *flags;
  std::int64_t  n;
  unsigned      round;
};
struct Lanes {
  Lane lane[lanes];
};

__device__ inline void copy_part(const Lane &lane, bool landed)
{
  const std::int64_t each      = (lane.n + gridDim.x - 1) / gridDim.x,
                     first     = each * static_cast<std::int64_t>(blockIdx.x),
                     end       = first + each < lane.n ? first + each : lane.n;
  using Word                   = real_t<Scalar>;
  constexpr std::int64_t words = sizeof(Scalar) / sizeof(Word);
  const Word *const      from  = reinterpret_cast<const Word *>(lane.from);
  Word *const            to    = reinterpret_cast<Word *>(lane.to);
  // other devices write the slots: reads must not come from the cache of a multiprocessor
  for (std::int64_t i = words * first + threadIdx.x; i < words * end; i += blockDim.x)
    to[i] = landed ? __ldcg(from + i) : from[i];
}

/// Copies messages into slots of other ranks.
__global__ void send_lanes(Lanes all)
{
  const Lane &lane = all.lane[blockIdx.y];
  copy_part(lane, false);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(lane.flags + blockIdx.x), "r"(lane.round)
                 : "memory");
  }
}

/// Waits for messages in the slots of this rank, and copies them from there.
__global__ void receive_lanes(Lanes all)
{
  const Lane &lane = all.lane[blockIdx.y];
  if (threadIdx.x == 0) {
    unsigned seen;
    do
      asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                   : "=r"(seen)
                   : "l"(lane.flags + blockIdx.x)
                   : "memory");
    while (seen != lane.round);
  }
  __syncthreads();
  copy_part(lane, true);
}

/// Ranks of one host whose devices reach each other's memory. Every rank has two slots for each rank and tag.
/// Messages alternate between them: when a slot is used again, the answer to the message in the other one has
/// arrived, and was sent behind the last read of this slot.
class PeerRanks final : public DeviceRanks {
public:
  explicit PeerRanks(PetscMPIInt size)
      : capacity_(landing_bytes / (static_cast<std::size_t>(size) * tags * slots * sizeof(Scalar))),
        lands_(static_cast<std::size_t>(size)), sent_(tags * static_cast<std::size_t>(size)),
        received_(tags * static_cast<std::size_t>(size))
  {
  }
  PeerRanks(const PeerRanks &)            = delete;
  PeerRanks &operator=(const PeerRanks &) = delete;
  ~PeerRanks() override
  {
    (void)cudaDeviceSynchronize();
    for (std::size_t q = 0; q < lands_.size(); ++q)
      if (lands_[q] && lands_[q] != own_) (void)cudaIpcCloseMemHandle(lands_[q]);
    if (own_) (void)cudaFree(own_);
  }

  /// Collective.
  PetscErrorCode Connect(MPI_Comm comm, std::string *why_not)
  {
    struct Card {
      cudaIpcMemHandle_t handle;
      char               host[256];
    };
    Card        mine;
    int         number = 0;
    PetscMPIInt size, rank;
    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(comm, &size));
    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    std::memset(&mine, 0, sizeof mine);
    const std::size_t bytes = flags_at() + lands_.size() * tags * slots * blocks * sizeof(unsigned);
    PetscCall(PetscGetHostName(mine.host, sizeof mine.host));
    attempt(cudaMalloc(&own_, bytes), why_not);
    if (own_) attempt(cudaMemset(static_cast<char *>(own_) + flags_at(), 0, bytes - flags_at()), why_not);
    if (own_) attempt(cudaDeviceSynchronize(), why_not);
    if (own_) attempt(cudaIpcGetMemHandle(&mine.handle, own_), why_not);
    std::vector<Card> all(static_cast<std::size_t>(size));
    PetscCallMPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm));
    for (const Card &card : all)
      if (why_not->empty() && std::strcmp(card.host, mine.host) != 0)
        *why_not = format("ranks of a line are on two hosts, %s and %s", mine.host, card.host);
    PetscCall(AgreeOnSentence(comm, why_not, &number));
    if (!why_not->empty()) PetscFunctionReturn(PETSC_SUCCESS);
    for (PetscMPIInt q = 0; q < size; ++q) {
      void *&at = lands_[static_cast<std::size_t>(q)];
      if (q == rank) at = own_;
      else
        attempt(
          cudaIpcOpenMemHandle(&at, all[static_cast<std::size_t>(q)].handle, cudaIpcMemLazyEnablePeerAccess),
          why_not);
    }
    rank_ = static_cast<std::size_t>(rank);
    PetscCall(AgreeOnSentence(comm, why_not, &number)); // also: flags are 0 on all ranks
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Messages that are larger than a slot go in rounds; the last one is under way afterwards.
  PetscErrorCode Start(void *stream, const Scalar *out, const Message *sends, Scalar *in,
                       const Message *receives, std::size_t count) override
  {
    PetscFunctionBegin;
    PetscCallCXX(receives_.assign(receives, receives + count));
    in_ = in, begun_ = 0, rounds_ = 0;
    std::vector<std::int64_t> rounds(lands_.size(), 0); // with each rank: both know all sizes
    for (std::size_t i = 0; i < count; ++i)
      for (const Message *m : {sends + i, receives + i})
        if (m->rank != MPI_PROC_NULL) {
          auto &of = rounds[static_cast<std::size_t>(m->rank)];
          of       = std::max({of, std::int64_t(1), (m->count + capacity() - 1) / capacity()});
          rounds_  = std::max(rounds_, of);
        }
    PetscCallCXX(rounds_of_ = std::move(rounds));
    for (std::int64_t k = 0; k < rounds_; ++k) {
      if (k > 0) PetscCall(Receive(stream));
      std::vector<Lane> all;
      for (const Message *m = sends; m < sends + count; ++m)
        if (takes_part(*m, k)) {
          const std::size_t of     = channel(m->rank, m->tag);
          const unsigned    round  = ++sent_[of];
          char *const       theirs = static_cast<char *>(lands_[static_cast<std::size_t>(m->rank)]);
          PetscCallCXX(all.push_back({out + m->at + k * capacity(), slot(theirs, rank_, m->tag, round),
                                      flags(theirs, rank_, m->tag, round), part(*m, k), round}));
        }
      PetscCall(Launch(stream, all, true));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Finish(void *stream) override
  {
    PetscFunctionBegin;
    if (begun_ < rounds_) PetscCall(Receive(stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  static void attempt(cudaError_t error, std::string *why_not)
  {
    if (error == cudaSuccess) return;
    (void)cudaGetLastError();
    if (why_not->empty())
      *why_not = std::string("a device does not reach another one: ") + cudaGetErrorString(error);
  }

  std::int64_t capacity() const { return static_cast<std::int64_t>(capacity_); }
  std::size_t  flags_at() const { return lands_.size() * tags * slots * capacity_ * sizeof(Scalar); }
  std::size_t  channel(PetscMPIInt rank, PetscMPIInt tag) const
  {
    return static_cast<std::size_t>(rank) * tags + static_cast<std::size_t>(tag);
  }
  /// Number of the slot in which a message from `source` lands.
  std::size_t place(std::size_t source, PetscMPIInt tag, unsigned round) const
  {
    return (source * tags + static_cast<std::size_t>(tag)) * slots + round % slots;
  }
  Scalar *slot(char *land, std::size_t source, PetscMPIInt tag, unsigned round) const
  {
    return reinterpret_cast<Scalar *>(land) + place(source, tag, round) * capacity_;
  }
  unsigned *flags(char *land, std::size_t source, PetscMPIInt tag, unsigned round) const
  {
    return reinterpret_cast<unsigned *>(land + flags_at()) + place(source, tag, round) * blocks;
  }
  bool takes_part(const Message &m, std::int64_t k) const
  {
    return m.rank != MPI_PROC_NULL && k < rounds_of_[static_cast<std::size_t>(m.rank)];
  }
  /// Scalars of a message in round k.
  std::int64_t part(const Message &m, std::int64_t k) const
  {
    return std::clamp<std::int64_t>(m.count - k * capacity(), 0, capacity());
  }

  PetscErrorCode Receive(void *stream)
  {
    std::vector<Lane> all;
    PetscFunctionBegin;
    for (const Message &m : receives_)
      if (takes_part(m, begun_)) {
        const unsigned    round = ++received_[channel(m.rank, m.tag)];
        const std::size_t from  = static_cast<std::size_t>(m.rank);
        char *const       mine  = static_cast<char *>(own_);
        PetscCallCXX(all.push_back({slot(mine, from, m.tag, round), in_ + m.at + begun_ * capacity(),
                                    flags(mine, from, m.tag, round), part(m, begun_), round}));
      }
    ++begun_;
    PetscCall(Launch(stream, all, false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Launch(void *stream, const std::vector<Lane> &all, bool sends)
  {
    const auto on = static_cast<cudaStream_t>(stream);
    PetscFunctionBegin;
    for (std::size_t first = 0; first < all.size(); first += lanes) {
      Lanes             some;
      const std::size_t n = std::min<std::size_t>(lanes, all.size() - first);
      const dim3        grid(blocks, static_cast<unsigned>(n));
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), n, some.lane);
      if (sends) send_lanes<<<grid, threads, 0, on>>>(some);
      else receive_lanes<<<grid, threads, 0, on>>>(some);
    }
    const cudaError_t error = cudaGetLastError();
    PetscCheck(error == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "Messages to peers: %s",
               cudaGetErrorString(error));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::size_t           capacity_, rank_ = 0; ///< capacity of a slot in scalars
  void                 *own_ = nullptr;       ///< slots and flags of this rank
  std::vector<void *>   lands_;               ///< those of every rank
  std::vector<unsigned> sent_, received_;     ///< messages so far, by rank and tag
  // of the messages under way
  std::vector<Message>      receives_;
  Scalar                   *in_     = nullptr;
  std::int64_t              rounds_ = 0, begun_ = 0;
  std::vector<std::int64_t> rounds_of_;
};

} // namespace

PetscErrorCode ConnectPeers(MPI_Comm comm, Connection *made)
{
  PetscMPIInt                size;
  std::shared_ptr<PeerRanks> peers;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallCXX(peers = std::make_shared<PeerRanks>(size));
  PetscCall(peers->Connect(comm, &made->why_not));
  if (made->why_not.empty()) made->ranks = peers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
#endif
