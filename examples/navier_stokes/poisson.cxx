// SPDX-License-Identifier: BSD-2-Clause
#include "poisson.hpp"

PetscErrorCode GetPlanes(MPI_Comm comm, const PetscInt (&n)[3], PetscInt *planes)
{
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  *planes = n[2];
  if (ranks == 1) PetscFunctionReturn(PETSC_SUCCESS);
#ifdef HAVE_FFTW
  PetscInt least;
  int      used;
  PetscCall(GetPlanesOfFftw(comm, n, planes));
  used = *planes > 0;
  PetscCallMPI(MPI_Allreduce(planes, &least, 1, MPIU_INT, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &used, 1, MPI_INT, MPI_SUM, comm));
  PetscCheck(least > 0, comm, PETSC_ERR_ARG_SIZ,
             "-n: FFTW gives the %" PetscInt_FMT " planes along z to %d of %d ranks: start %d ranks", n[2],
             used, ranks, used);
#else
  SETERRQ(comm, PETSC_ERR_SUP, "This program was built without FFTW: start one rank");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CreatePoisson(const Box &box, bool on_device, std::unique_ptr<Poisson> *poisson)
{
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(box.comm, &ranks));
  if (on_device) {
    PetscCheck(ranks == 1, box.comm, PETSC_ERR_SUP,
               "-dm_vec_type: transforms on a device run on one rank, not %d: start one rank, or use "
               "vectors of the host",
               ranks);
#ifdef HAVE_CUFFT
    PetscCall(CreatePoissonCufft(box, poisson));
    PetscFunctionReturn(PETSC_SUCCESS);
#else
    SETERRQ(box.comm, PETSC_ERR_SUP,
            "-dm_vec_type: this program was built without cuFFT: use vectors of the host");
#endif
  }
#ifdef HAVE_FFTW
  PetscCall(CreatePoissonFftw(box, poisson));
#else
  SETERRQ(box.comm, PETSC_ERR_SUP, "This program was built without FFTW: use -dm_vec_type cuda");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
