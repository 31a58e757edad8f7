// SPDX-License-Identifier: BSD-2-Clause
#include "vector_sum.hpp"

#include "open_arrays.hpp"
#include "session.hpp"

#include <ribbon/splitting/vector_sum.hpp>

namespace ribbon::petsc {

namespace {

template <class Exec>
PetscErrorCode SumOn(Vec x, PetscInt terms, const PetscScalar w[], const Vec k[], Vec y, bool *finite)
{
  OpenVec<Exec> in, out, term[largest_vector_sum];
  const Scalar *numbers[largest_vector_sum];
  Scalar        weight[largest_vector_sum];
  PetscInt      n;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(in.open(x, Access::read));
  PetscCall(out.open(y, Access::write));
  for (PetscInt j = 0; j < terms; ++j) {
    PetscCall(term[j].open(k[j], Access::read));
    numbers[j] = term[j].data(), weight[j] = static_cast<Scalar>(w[j]);
  }
  PetscCallCXX(*finite = vector_sum<Scalar>(current_space<Exec>(), n, in.data(), static_cast<int>(terms),
                                            numbers, weight, out.data()));
  for (PetscInt j = terms; j-- > 0;) PetscCall(term[j].close());
  PetscCall(out.close());
  PetscCall(in.close());
  const double flops =
    (std::is_floating_point_v<Scalar> ? 2. : 8.) * static_cast<double>(terms) * static_cast<double>(n);
  if constexpr (is_device_space<Exec>) PetscCall(PetscLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same by PETSc's functions, for types whose memory is unknown.
PetscErrorCode SumByPetsc(Vec x, PetscInt terms, const PetscScalar w[], const Vec k[], Vec y, bool *finite)
{
  PetscReal norm;
  PetscFunctionBegin;
  PetscCall(VecCopy(x, y));
  PetscCall(VecMAXPY(y, terms, w, const_cast<Vec *>(k)));
  if (finite) {
    PetscCall(VecNorm(y, NORM_2, &norm));
    *finite = !PetscIsInfOrNanReal(norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SumVectors(Vec x, PetscInt terms, const PetscScalar w[], const Vec k[], Vec y, bool *finite)
{
  PetscBool on_host, on_device, bound;
  bool      mine = true;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &on_host, VECSEQ, VECMPI, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &on_device, VECSEQCUDA, VECMPICUDA, VECSEQKOKKOS,
                                      VECMPIKOKKOS, ""));
  PetscCall(VecBoundToCPU(x, &bound));
  if (on_host || (on_device && bound)) PetscCall(SumOn<HostExec>(x, terms, w, k, y, &mine));
  else if (has_device && on_device) PetscCall(SumOn<DeviceExec>(x, terms, w, k, y, &mine));
  else {
    PetscCall(SumByPetsc(x, terms, w, k, y, finite));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (finite) {
    int all = mine;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)x)));
    *finite = all != 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
