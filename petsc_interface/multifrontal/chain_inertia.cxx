// SPDX-License-Identifier: BSD-2-Clause
#include "chain_inertia.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

using multifrontal::Signs;
using Window = multifrontal::SymmetricWindow<Scalar>;
using Real   = real_t<Scalar>;

std::string refusal_for(double asymmetry)
{
  const std::string kind = std::is_floating_point_v<Scalar> ? "symmetric" : "Hermitian";
  if (!(asymmetry <= 1e-6))
    return "multifrontal: MatGetInertia() of a matrix that is not " + kind + ": opposite entries differ by " +
           std::to_string(asymmetry) + " of the largest in their rows";
  return "multifrontal: MatGetInertia() cannot tell the signs of the eigenvalues: entries grow too much in "
         "elimination, or are none";
}

/// A window in the form that ranks send: sizes and counts first.
struct Message {
  static constexpr std::size_t head = 4;
  std::size_t                  most; ///< unknowns
  std::size_t bytes() const { return (head + most) * sizeof(double) + most * most * sizeof(Scalar); }

  void pack(const Window &w, char *to) const
  {
    auto      *numbers = reinterpret_cast<double *>(to);
    auto      *a       = reinterpret_cast<Scalar *>(numbers + head + most);
    const auto m       = static_cast<std::size_t>(w.size());
    numbers[0] = static_cast<double>(w.size()), numbers[1] = static_cast<double>(w.signs.negative),
    numbers[2] = static_cast<double>(w.signs.positive), numbers[3] = w.signs.largest;
    for (std::size_t i = 0; i < m; ++i) {
      const std::int64_t name = w.name(static_cast<int>(i));
      numbers[head + i]       = name == Window::complete ? 1e300 : static_cast<double>(name);
      for (std::size_t j = 0; j < m; ++j) a[i * most + j] = w.at(static_cast<int>(i), static_cast<int>(j));
    }
  }
  Window unpack(const char *from) const
  {
    const auto *numbers = reinterpret_cast<const double *>(from);
    const auto *a       = reinterpret_cast<const Scalar *>(numbers + head + most);
    const int   m       = static_cast<int>(numbers[0]);
    Window      w(m);
    w.signs = {static_cast<std::int64_t>(numbers[1]), static_cast<std::int64_t>(numbers[2]), numbers[3]};
    for (int i = 0; i < m; ++i) {
      const double name = numbers[head + static_cast<std::size_t>(i)];
      w.add(name == 1e300 ? Window::complete : static_cast<std::int64_t>(name));
    }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j)
        w.at(i, j) = a[static_cast<std::size_t>(i) * most + static_cast<std::size_t>(j)];
    return w;
  }
};

} // namespace

PetscErrorCode InertiaOfChains(const Chain &chain, const Scalar *band, Inertia *inertia, std::string *refusal)
{
  double asymmetry = 0;
  PetscFunctionBegin;
  PetscCallCXX(if (!inertia_of_chains(chain, band, inertia, &asymmetry)) *refusal = refusal_for(asymmetry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

/// Scales the rows of all ranks, which exchange the exponents at their ends in each round.
PetscErrorCode ScaleTogether(MPI_Comm comm, bool open_left, bool open_right,
                             multifrontal::BandHalves<Scalar> *halves)
{
  const int        m = std::max(halves->kl, halves->ku), told = 2 * m + 1;
  PetscMPIInt      size, rank;
  std::vector<int> mine(static_cast<std::size_t>(told)), all;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  all.resize(static_cast<std::size_t>(told) * static_cast<std::size_t>(size));
  const auto of = [&](PetscMPIInt r) {
    return all.data() + static_cast<std::size_t>((r + size) % size) * static_cast<std::size_t>(told);
  };
  mine[0] = 1; // whether a scale of this rank changed
  for (int k = 0; k < halves->rounds; ++k) {
    std::copy_n(halves->exponent.begin(), m, mine.begin() + 1);
    std::copy_n(halves->exponent.end() - m, m, mine.begin() + 1 + m);
    PetscCallMPI(MPI_Allgather(mine.data(), told, MPI_INT, all.data(), told, MPI_INT, comm));
    bool moves = false;
    for (PetscMPIInt r = 0; r < size; ++r) moves = moves || *of(r) != 0;
    if (!moves) break;
    mine[0] =
      halves->scale_once(open_left ? of(rank - 1) + 1 + m : nullptr, open_right ? of(rank + 1) + 1 : nullptr);
  }
  halves->finish();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode InertiaOfPieces(MPI_Comm comm, const Chain &whole, PetscInt rows, const Scalar *band,
                               Inertia *inertia, std::string *refusal)
{
  using namespace multifrontal;
  PetscMPIInt size, rank;
  const int   kl = whole.kl, ku = whole.ku, W = kl + ku, m = std::max(kl, ku);
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  const bool         open_left = whole.ring || rank > 0, open_right = whole.ring || rank + 1 < size;
  BandHalves<Scalar> halves(rows, kl, ku, false, band);
  const int          b = halves.b;
  PetscCall(ScaleTogether(comm, open_left, open_right, &halves));
  // the scales of the last m rows, and their couplings with the next rank
  const auto          edge_size = static_cast<std::size_t>(m * (m + 1));
  std::vector<Scalar> edge(edge_size, Scalar(0)), edges(edge_size * static_cast<std::size_t>(size));
  for (int k = 0; k < m; ++k) {
    const std::int64_t i              = rows - m + k;
    edge[static_cast<std::size_t>(k)] = Scalar(halves.scale[static_cast<std::size_t>(i)]);
    for (int d = m - k; d <= ku; ++d)
      edge[static_cast<std::size_t>(m + k * m + d - 1)] = band[i * (W + 1) + kl + d];
  }
  PetscCallMPI(MPI_Allgather(edge.data(), static_cast<PetscMPIInt>(edge_size), MPIU_SCALAR, edges.data(),
                             static_cast<PetscMPIInt>(edge_size), MPIU_SCALAR, comm));
  const Scalar     *before = edges.data() + edge_size * static_cast<std::size_t>((rank + size - 1) % size);
  std::vector<Real> scale;
  for (int k = m - b; k < m; ++k) scale.push_back(magnitude(before[k]));
  scale.insert(scale.end(), halves.scale.begin(), halves.scale.end());
  for (int i = 0; open_left && i < m; ++i)
    for (int d = i + 1; d <= m; ++d)
      halves.see(before[m + (m + i - d) * m + d - 1], d <= kl ? band[i * (W + 1) + kl - d] : Scalar(0),
                 magnitude(before[m + i - d]), halves.scale[static_cast<std::size_t>(i)]);
  double asymmetry = is_finite(halves.asymmetry) ? halves.asymmetry : 1e300;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &asymmetry, 1, MPI_DOUBLE, MPI_MAX, comm));
  const HermitianBand<Scalar> A{rows, b, halves.lower.data(), scale.data(), open_left, open_right};
  const Message               message{static_cast<std::size_t>(4 * b)};
  std::vector<char>           mine(message.bytes()), all(message.bytes() * static_cast<std::size_t>(size));
  PetscErrorCode              error    = PETSC_SUCCESS;
  const auto                  signs_of = [&](double shift) { // every rank joins all windows
    message.pack(eliminate_piece(A, static_cast<Real>(shift)), mine.data());
    if (const int failed = MPI_Allgather(mine.data(), static_cast<PetscMPIInt>(mine.size()), MPI_BYTE,
                                                          all.data(), static_cast<PetscMPIInt>(mine.size()), MPI_BYTE, comm);
        failed != MPI_SUCCESS)
      error = PETSC_ERR_MPI;
    Window chain = message.unpack(all.data());
    for (std::size_t r = 1; r < static_cast<std::size_t>(size); ++r)
      chain = join_pieces(b, chain, message.unpack(all.data() + r * message.bytes()));
    return close_pieces(b, chain);
  };
  bool told = false;
  PetscCallCXX(told = certified_inertia<Scalar>(whole.rows, b, asymmetry, signs_of, inertia));
  PetscCall(error);
  if (!told) *refusal = refusal_for(asymmetry);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
