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

/// Where the kernels reach the values of a vector.
enum class Memory { host, device, unknown };

PetscErrorCode FindMemory(Vec v, Memory *memory)
{
  PetscBool on_host, on_device, bound;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &on_host, VECSEQ, VECMPI, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &on_device, VECSEQCUDA, VECMPICUDA, VECSEQKOKKOS,
                                      VECMPIKOKKOS, ""));
  PetscCall(VecBoundToCPU(v, &bound));
  *memory = on_host || (on_device && bound) ? Memory::host
            : has_device && on_device       ? Memory::device
                                            : Memory::unknown;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Exec>
PetscErrorCode IsFiniteOn(Vec v, bool *finite)
{
  OpenVec<Exec> values;
  PetscInt      n;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(values.open(v, Access::read));
  PetscCallCXX(*finite = all_finite<Scalar>(current_space<Exec>(), n, values.data()));
  PetscCall(values.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// *yes := whether it is true on all ranks of v.
PetscErrorCode OnAllRanks(Vec v, bool *yes)
{
  int all = *yes;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)v)));
  *yes = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SumVectors(Vec x, PetscInt terms, const PetscScalar w[], const Vec k[], Vec y, bool *finite)
{
  Memory memory = Memory::unknown;
  bool   mine   = true;
  PetscFunctionBegin;
  PetscCall(FindMemory(x, &memory));
  if (memory == Memory::host) PetscCall(SumOn<HostExec>(x, terms, w, k, y, &mine));
  else if (memory == Memory::device) PetscCall(SumOn<DeviceExec>(x, terms, w, k, y, &mine));
  else {
    PetscCall(SumByPetsc(x, terms, w, k, y, finite));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (finite) {
    *finite = mine;
    PetscCall(OnAllRanks(x, finite));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode IsFinite(Vec v, bool *finite)
{
  Memory    memory = Memory::unknown;
  PetscReal norm;
  PetscFunctionBegin;
  PetscCall(FindMemory(v, &memory));
  if (memory == Memory::unknown) {
    PetscCall(VecNorm(v, NORM_2, &norm));
    *finite = !PetscIsInfOrNanReal(norm);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (memory == Memory::device) PetscCall(IsFiniteOn<DeviceExec>(v, finite));
  else PetscCall(IsFiniteOn<HostExec>(v, finite));
  PetscCall(OnAllRanks(v, finite));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
