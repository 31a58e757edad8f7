// SPDX-License-Identifier: BSD-2-Clause
#include "kernels.hpp"
#include "poisson.hpp"

#include <fftw3-mpi.h>

#include <utility>

using Host = Kokkos::DefaultHostExecutionSpace;

/// Sizes of a transform of real values along x. Modes are distributed along y, and z is their middle axis:
/// FFTW saves one transposition for that.
struct Sizes {
  ptrdiff_t planes = 0, rows = 0, first = 0, complex = 0;

  Sizes(MPI_Comm comm, const PetscInt (&n)[3])
  {
    ptrdiff_t begin;
    fftw_mpi_init();
    complex =
      fftw_mpi_local_size_3d_transposed(n[2], n[1], n[0] / 2 + 1, comm, &planes, &begin, &rows, &first);
  }
};

PetscErrorCode GetPlanesOfFftw(MPI_Comm comm, const PetscInt (&n)[3], PetscInt *planes)
{
  PetscFunctionBeginUser;
  *planes = static_cast<PetscInt>(Sizes(comm, n).planes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In double for every PetscReal.
class PoissonFftw final : public Poisson {
public:
  explicit PoissonFftw(const Box &box) : rows_(box.n[1] * ns::Index(box.planes)), length_(box.n[0])
  {
    const Sizes     sizes(box.comm, box.n);
    const ptrdiff_t n[3] = {box.n[2], box.n[1], box.n[0]};
    for (int d = 0; d < 3; d++) {
      derivative_[d].assign(box.symbol[d].derivative.begin(), box.symbol[d].derivative.end());
      interpolation_[d].assign(box.symbol[d].interpolation.begin(), box.symbol[d].interpolation.end());
    }
    axes_[0]    = {derivative_[0].data(), interpolation_[0].data(), box.n[0] / 2 + 1};
    axes_[1]    = {derivative_[2].data(), interpolation_[2].data(), box.n[2]};
    axes_[2]    = {derivative_[1].data() + sizes.first, interpolation_[1].data() + sizes.first, sizes.rows};
    factor_     = 1 / (double(box.n[0]) * double(box.n[1]) * double(box.n[2]));
    values_     = fftw_alloc_real(2 * static_cast<std::size_t>(sizes.complex));
    auto *modes = reinterpret_cast<fftw_complex *>(values_);
    // FFTW_ESTIMATE: equal results in every run
    forward_  = fftw_mpi_plan_dft_r2c_3d(n[0], n[1], n[2], values_, modes, box.comm,
                                         FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT);
    backward_ = fftw_mpi_plan_dft_c2r_3d(n[0], n[1], n[2], modes, values_, box.comm,
                                         FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN);
  }
  PoissonFftw(const PoissonFftw &)            = delete;
  PoissonFftw &operator=(const PoissonFftw &) = delete;
  ~PoissonFftw() override
  {
    if (forward_) fftw_destroy_plan(forward_);
    if (backward_) fftw_destroy_plan(backward_);
    fftw_free(values_);
  }
  bool is_ready() const { return values_ && forward_ && backward_; }

  PetscErrorCode solve(PetscScalar *f) override
  {
    const Host      exec;
    const ns::Index padded = 2 * axes_[0].modes;

    PetscFunctionBeginUser;
    PetscCallCXX(ns::copy_rows(exec, rows_, length_, f, length_, values_, padded));
    PetscCallCXX(exec.fence());
    fftw_execute(forward_);
    PetscCallCXX(ns::divide_modes(exec, axes_, factor_, values_));
    PetscCallCXX(exec.fence());
    fftw_execute(backward_);
    PetscCallCXX(ns::copy_rows(exec, rows_, length_, values_, padded, f, length_));
    PetscCallCXX(exec.fence());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  ns::Index           rows_, length_; ///< along x
  std::vector<double> derivative_[3], interpolation_[3];
  ns::Axis<double>    axes_[3];
  double              factor_  = 0;
  double             *values_  = nullptr; ///< rows along x are padded; modes in the same memory
  fftw_plan           forward_ = nullptr, backward_ = nullptr;
};

PetscErrorCode CreatePoissonFftw(const Box &box, std::unique_ptr<Poisson> *poisson)
{
  PetscFunctionBeginUser;
  auto fftw = std::make_unique<PoissonFftw>(box);
  PetscCheck(fftw->is_ready(), box.comm, PETSC_ERR_LIB, "FFTW makes no plan");
  *poisson = std::move(fftw);
  PetscFunctionReturn(PETSC_SUCCESS);
}
