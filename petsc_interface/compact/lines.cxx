// SPDX-License-Identifier: BSD-2-Clause
#include "lines.hpp"

#include "../support/open_arrays.hpp"
#include "ways.hpp"

#include <algorithm>
#include <stdexcept>

namespace ribbon::petsc {

namespace {

template <class Exec>
class CompactLinesOn final : public CompactLines {
public:
  PetscErrorCode prepare(const CompactRequest &request, bool transposed, std::string *failure) override
  {
    const Exec  exec = current_space<Exec>();
    auto       &way  = ways_[transposed];
    std::string why_not;
    PetscFunctionBegin;
    failure->clear();
    lines_ = request.lines, flops_ = flops(request.scheme);
    if (request.chain) {
      std::unique_ptr<PiecesCompact<Exec>> pieces;
      PetscCallCXX(pieces = std::make_unique<PiecesCompact<Exec>>());
      PetscCall(pieces->set_up(exec, request, transposed, &why_not));
      if (why_not.empty()) way = std::move(pieces);
      else {
        Link link;
        PetscCall(ChooseLink(request.chain->comm, request.transport, is_device_space<Exec>,
                             lines_.unknowns() / request.chain->size(), Transfer<Exec>::stream(exec), &link));
        PetscCallCXX(way = std::make_unique<GatheredCompact<Exec>>(exec, request, std::move(link), transposed,
                                                                   why_not, failure));
      }
    } else PetscCallCXX(way = std::make_unique<WholeCompact<Exec>>(exec, request, transposed, failure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  bool is_prepared(bool transposed) const override { return ways_[transposed] != nullptr; }

  PetscErrorCode apply(bool transposed, Scalar alpha, Vec u, Scalar beta, Vec v, Vec y) override
  {
    const Exec            exec = current_space<Exec>();
    OpenVec<Exec>         from, added, to;
    OperatorTerms<Scalar> terms;
    const bool            opens = v && v != y && v != u;
    PetscFunctionBegin;
    PetscCall(from.open(u, Access::read));
    if (opens) PetscCall(added.open(v, Access::read));
    PetscCall(to.open(y, v == y ? Access::update : Access::write));
    terms.alpha = alpha, terms.beta = beta, terms.lines = lines_;
    terms.v = opens ? added.data() : v == u ? from.data() : to.data();
    if constexpr (is_device_space<Exec>) PetscCall(PetscLogGpuTimeBegin());
    PetscCall(ways_[transposed]->apply(exec, from.data(), to.data(), terms));
    const double flops = flops_ * static_cast<double>(lines_.unknowns());
    if constexpr (is_device_space<Exec>) {
      PetscCall(PetscLogGpuTimeEnd());
      PetscCall(PetscLogGpuFlops(flops));
    } else {
      PetscCallCXX(exec.fence());
      PetscCall(PetscLogFlops(flops));
    }
    PetscCall(to.close());
    if (opens) PetscCall(added.close());
    PetscCall(from.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::string facts(bool transposed) const override
  {
    return ways_[transposed] ? ways_[transposed]->facts() : "";
  }

private:
  /// Of a row: a product with B, and the sweeps of a solve.
  static double flops(const CompactScheme<Scalar> &scheme)
  {
    const double row = 2.0 * (scheme.B.lower + scheme.B.upper) + 1 + 6.0 * scheme.A.upper + 1;
    return std::is_floating_point_v<Scalar> ? row : 4 * row;
  }

  std::unique_ptr<CompactWay<Exec>> ways_[2]; ///< of products, of transposed products
  LineSet                           lines_;
  double                            flops_ = 0;
};

} // namespace

std::unique_ptr<CompactLines> CompactLines::create([[maybe_unused]] bool on_device)
{
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
  if (on_device) return std::make_unique<CompactLinesOn<DeviceExec>>();
#endif
  return std::make_unique<CompactLinesOn<HostExec>>();
}

std::vector<Scalar> compact_diagonal(const CompactRequest &request)
{
  const HostExec     exec;
  const std::int64_t n = request.rows, first = request.first(), own = request.lines.rows,
                     most = std::min<std::int64_t>(own, 64);
  std::vector<Scalar>                       diagonal(static_cast<std::size_t>(own));
  Kokkos::View<Scalar *, Kokkos::HostSpace> columns("ribbon::compact::columns",
                                                    static_cast<std::size_t>(n * most));
  const auto                                bands = whole_bands(exec, request);
  // column c of the identity is line c
  const LineSet                                set = LineSet::interleaved(n, most);
  const ribbon::LineOperator<Scalar, HostExec> op(exec, set, bands.A, bands.B);
  if (!op.report().ok()) throw std::runtime_error("Mat compact: A cannot be solved: " + op.report().reason);
  for (std::int64_t begin = 0; begin < own; begin += most) {
    const std::int64_t count = std::min(most, own - begin);
    Kokkos::deep_copy(columns, Scalar(0));
    for (std::int64_t c = 0; c < count; ++c)
      columns(static_cast<std::size_t>(set(c, first + begin + c))) = Scalar(1);
    op.apply(exec, columns.data(), columns.data());
    exec.fence();
    for (std::int64_t c = 0; c < count; ++c)
      diagonal[static_cast<std::size_t>(begin + c)] =
        columns(static_cast<std::size_t>(set(c, first + begin + c)));
  }
  return diagonal;
}

} // namespace ribbon::petsc
