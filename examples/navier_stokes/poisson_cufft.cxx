// SPDX-License-Identifier: BSD-2-Clause
#include "kernels.hpp"
#include "poisson.hpp"

#include <cufft.h>

#include <algorithm>

using Device = Kokkos::DefaultExecutionSpace;

static_assert(std::is_same_v<Device, Kokkos::Cuda>, "cuFFT is for CUDA");
static_assert(std::is_same_v<PetscScalar, double> || std::is_same_v<PetscScalar, float>,
              "cuFFT has transforms of float and double");

constexpr bool is_double = std::is_same_v<PetscScalar, double>;

inline cufftResult Forward(cufftHandle plan, double *f, double *modes)
{
  return cufftExecD2Z(plan, f, reinterpret_cast<cufftDoubleComplex *>(modes));
}
inline cufftResult Forward(cufftHandle plan, float *f, float *modes)
{
  return cufftExecR2C(plan, f, reinterpret_cast<cufftComplex *>(modes));
}
inline cufftResult Backward(cufftHandle plan, double *modes, double *f)
{
  return cufftExecZ2D(plan, reinterpret_cast<cufftDoubleComplex *>(modes), f);
}
inline cufftResult Backward(cufftHandle plan, float *modes, float *f)
{
  return cufftExecC2R(plan, reinterpret_cast<cufftComplex *>(modes), f);
}

static PetscErrorCode Check(cufftResult result, const char *what)
{
  PetscFunctionBeginUser;
  PetscCheck(result == CUFFT_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuFFT: %s fails with error %d", what,
             static_cast<int>(result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// All modes on one device; z is the slowest axis.
class PoissonCufft final : public Poisson {
public:
  PoissonCufft()                                = default;
  PoissonCufft(const PoissonCufft &)            = delete;
  PoissonCufft &operator=(const PoissonCufft &) = delete;
  ~PoissonCufft() override
  {
    if (has_forward_) (void)cufftDestroy(forward_);
    if (has_backward_) (void)cufftDestroy(backward_);
  }

  PetscErrorCode create(const Box &box)
  {
    const int n[3] = {static_cast<int>(box.n[2]), static_cast<int>(box.n[1]), static_cast<int>(box.n[0])};

    PetscFunctionBeginUser;
    for (int d = 0; d < 3; d++) {
      PetscCall(copy(box.symbol[d].derivative, &symbols_[d][0]));
      PetscCall(copy(box.symbol[d].interpolation, &symbols_[d][1]));
      axes_[d] = {symbols_[d][0].data(), symbols_[d][1].data(), d == 0 ? box.n[0] / 2 + 1 : box.n[d]};
    }
    factor_ =
      1 / (static_cast<PetscReal>(n[0]) * static_cast<PetscReal>(n[1]) * static_cast<PetscReal>(n[2]));
    PetscCallCXX(modes_ = Values(Kokkos::view_alloc("navier_stokes::modes", Kokkos::WithoutInitializing),
                                 static_cast<std::size_t>(2 * axes_[0].modes * box.n[1] * box.n[2])));
    PetscCall(Check(cufftPlan3d(&forward_, n[0], n[1], n[2], is_double ? CUFFT_D2Z : CUFFT_R2C), "a plan"));
    has_forward_ = true;
    PetscCall(Check(cufftPlan3d(&backward_, n[0], n[1], n[2], is_double ? CUFFT_Z2D : CUFFT_C2R), "a plan"));
    has_backward_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode solve(PetscScalar *f) override
  {
    Device exec;

    PetscFunctionBeginUser;
    PetscCall(GetSpace(&exec));
    PetscCall(Check(cufftSetStream(forward_, exec.cuda_stream()), "a stream"));
    PetscCall(Check(cufftSetStream(backward_, exec.cuda_stream()), "a stream"));
    PetscCall(Check(Forward(forward_, f, modes_.data()), "a transform"));
    PetscCallCXX(ns::divide_modes(exec, axes_, factor_, modes_.data()));
    PetscCall(Check(Backward(backward_, modes_.data(), f), "a transform"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  using Values = Kokkos::View<PetscReal *, Device::memory_space>;

  static PetscErrorCode copy(const std::vector<PetscReal> &from, Values *to)
  {
    PetscFunctionBeginUser;
    PetscCallCXX(*to = Values("navier_stokes::symbol", from.size()));
    const auto host = Kokkos::create_mirror_view(*to);
    std::copy(from.begin(), from.end(), host.data());
    PetscCallCXX(Kokkos::deep_copy(*to, host));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Values              symbols_[3][2], modes_;
  ns::Axis<PetscReal> axes_[3];
  PetscReal           factor_  = 0;
  cufftHandle         forward_ = 0, backward_ = 0;
  bool                has_forward_ = false, has_backward_ = false;
};

PetscErrorCode CreatePoissonCufft(const Box &box, std::unique_ptr<Poisson> *poisson)
{
  PetscFunctionBeginUser;
  auto cufft = std::make_unique<PoissonCufft>();
  PetscCall(cufft->create(box));
  *poisson = std::move(cufft);
  PetscFunctionReturn(PETSC_SUCCESS);
}
