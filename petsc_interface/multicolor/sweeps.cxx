// SPDX-License-Identifier: BSD-2-Clause
#include "sweeps.hpp"

#include "../support/open_arrays.hpp"
#include "../support/session.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

template <class Exec>
class ColorSweepsOn final : public ColorSweeps {
  using Memory = typename Exec::memory_space;

public:
  PetscErrorCode set_up(PC pc, UnknownRows *rows, const SweepRequest &request) override
  {
    PetscFunctionBegin;
    rows_ = rows, request_ = request;
    PetscCall(Logged(&Events::color, [&] {
      return ColorUnknowns<Exec>(pc, *rows_, request.coloring, request.cut, &colors_, &found_);
    }));
    exchanges_ = rows_->ranks() > 1 && request.cut == PC_MULTICOLOR_CUT_EXACT;
    PetscCall(Logged(&Events::copy_colors, [&] { return Copy(); }));
    if (exchanges_) PetscCall(DivideGhosts());
    if (found_.on_grid) colors_ = {}; // a refresh makes them again
    // a local cut exchanges values of other ranks between rounds
    const bool one_round = rows_->ranks() == 1 || exchanges_;
    rounds_              = one_round ? 1 : request.its;
    const auto sweeps =
      one_round ? static_cast<PetscInt64>(request.its) * request.lits : PetscInt64(request.lits);
    const auto at_once  = static_cast<int>(std::min<PetscInt64>(sweeps, most_sweeps)),
               left     = static_cast<int>(sweeps % at_once);
    const auto sequence = [&](int count, bool zero) {
      return color_sequence(static_cast<int>(found_.count), request.forward, request.backward, count, zero);
    };
    chunks_ = sweeps / at_once;
    PetscCallCXX(from_zero_ = sequence(at_once, true));
    PetscCallCXX(from_guess_ = sequence(at_once, false));
    PetscCallCXX(rest_ = sequence(left, false));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode refresh(bool *same) override
  {
    PetscFunctionBegin;
    if (found_.on_grid)
      PetscCall(
        Logged(&Events::color, [&] { return ColorGrid<Exec>(*rows_, found_.grid, request_.cut, &colors_); }));
    PetscCall(Logged(&Events::copy_colors, [&] {
      return rows_->with<Exec>([&](const MulticolorRows<Scalar> &rows) -> PetscErrorCode {
        PetscFunctionBegin;
        PetscCallCXX(*same = matrix_.refresh(current_space<Exec>(), rows, colors_,
                                             Scalar(static_cast<real_t<Scalar>>(request_.shift))));
        PetscFunctionReturn(PETSC_SUCCESS);
      });
    }));
    if (found_.on_grid) colors_ = {};
    report_ = matrix_.report();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode apply(Vec b, Vec x, PetscInt times, bool zero) override
  {
    OpenVec<Exec>  opened_b, opened_x;
    PetscLogDouble blocks = 0;
    PetscFunctionBegin;
    PetscCall(opened_b.open(b, Access::read));
    PetscCall(opened_x.open(x, zero ? Access::write : Access::update));
    const MulticolorVectors<Scalar> v{opened_b.data(), opened_x.data(), ghosts_.data()};
    for (PetscInt k = 0; k < times; ++k)
      for (PetscInt round = 0; round < rounds_; ++round)
        PetscCall(Round(v, zero && k == 0 && round == 0, &blocks));
    PetscCall(opened_x.close());
    PetscCall(opened_b.close());
    const auto           block = static_cast<PetscLogDouble>(rows_->block());
    const PetscLogDouble flops = 2 * blocks * block * block;
    if constexpr (is_device_space<Exec>) PetscCall(PetscLogGpuFlops(flops));
    else PetscCall(PetscLogFlops(flops));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode residual(Vec b, Vec x, Vec r, bool *done) override
  {
    OpenVec<Exec> opened_b, opened_x, opened_r;
    PetscFunctionBegin;
    *done = true;
    for (Vec v : {b, x, r}) {
      bool on_device;
      PetscCall(VecIsOnDevice(v, &on_device));
      *done = *done && on_device == is_device_space<Exec>;
    }
    if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(opened_b.open(b, Access::read));
    PetscCall(opened_x.open(x, Access::read));
    PetscCall(opened_r.open(r, Access::write));
    PetscCallCXX(matrix_.residual(current_space<Exec>(), from_guess_.back().color,
                                  {opened_b.data(), opened_x.data()}, opened_r.data()));
    PetscCall(opened_r.close());
    PetscCall(opened_x.close());
    PetscCall(opened_b.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::size_t bytes() const override
  {
    return matrix_.bytes() + colors_.size() * sizeof(std::int32_t) + ghosts_.size() * sizeof(Scalar);
  }
  const char *space() const override { return is_device_space<Exec> ? "device" : "host"; }
  std::pair<std::int64_t, std::int64_t> sizes_of_colors() const override
  {
    std::int64_t least = matrix_.colors() ? matrix_.unknowns_of(0) : 0, most = least;
    for (int c = 1; c < matrix_.colors(); ++c)
      least = std::min(least, matrix_.unknowns_of(c)), most = std::max(most, matrix_.unknowns_of(c));
    return {least, most};
  }
  bool on_device() const override { return is_device_space<Exec>; }

private:
  PetscErrorCode Copy()
  {
    PetscFunctionBegin;
    PetscCall(rows_->with<Exec>([&](const MulticolorRows<Scalar> &rows) -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCallCXX(matrix_ = MulticolorRelaxation<Scalar, Exec>(
                     current_space<Exec>(), rows, colors_, static_cast<int>(found_.count),
                     Scalar(static_cast<real_t<Scalar>>(request_.shift))));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    report_          = matrix_.report();
    const auto count = static_cast<std::size_t>(rows_->ghosts() * rows_->block());
    PetscCallCXX(ghosts_ =
                   allocate<Kokkos::View<Scalar *, Memory>>(current_space<Exec>(), "ribbon::ghosts", count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Prepares the exchange of the ghosts of each colour.
  PetscErrorCode DivideGhosts()
  {
    const auto                first = static_cast<std::size_t>(rows_->unknowns());
    std::vector<std::int32_t> color;
    PetscFunctionBegin;
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), colors_);
    for (std::size_t k = first; k < host.size(); ++k) color.push_back(host(k));
    PetscCall(rows_->divide(color, static_cast<int>(found_.count)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Values of other ranks, which the kernels then read: those of one colour, or all_colors.
  PetscErrorCode Exchange(const MulticolorVectors<Scalar> &v, int color)
  {
    const PetscMemType where = is_device_space<Exec> ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
    PetscFunctionBegin;
    if (!rows_->are_coupled()) PetscFunctionReturn(PETSC_SUCCESS);
    if constexpr (is_device_space<Exec>) PetscCallCXX(current_space<Exec>().fence());
    PetscCall(rows_->share(rows_->scalars(), where, v.x, ghosts_.data(), color));
    if constexpr (is_device_space<Exec>)
      PetscCallCXX(Kokkos::fence()); // PETSc unpacks on a stream of its choice
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Runs the steps. With an exact cut ranks exchange what has changed before a step reads it.
  PetscErrorCode Run(const MulticolorVectors<Scalar> &v, const std::vector<ColorStep> &steps,
                     PetscLogDouble *blocks)
  {
    const auto omega = Scalar(static_cast<real_t<Scalar>>(request_.omega));
    const Exec exec  = current_space<Exec>();
    PetscFunctionBegin;
    for (const ColorStep &step : steps) {
      if (exchanges_ && (step.earlier || step.later) && changed_ != nothing) {
        PetscCall(Exchange(v, changed_));
        changed_ = nothing;
      }
      PetscCallCXX(matrix_.relax(exec, step, omega, v));
      changed_ = changed_ == nothing ? step.color : all_colors;
      *blocks += static_cast<PetscLogDouble>(matrix_.blocks_of(step));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The sweeps between two exchanges of a local cut, or all sweeps.
  PetscErrorCode Round(const MulticolorVectors<Scalar> &v, bool zero, PetscLogDouble *blocks)
  {
    PetscFunctionBegin;
    if (zero && !exchanges_ && ghosts_.size() > 0)
      PetscCallCXX(Kokkos::deep_copy(current_space<Exec>(), ghosts_, Scalar(0)));
    if (!zero && !exchanges_) PetscCall(Exchange(v, all_colors));
    changed_ = zero ? nothing : all_colors;
    for (PetscInt64 chunk = 0; chunk < chunks_; ++chunk)
      PetscCall(Run(v, zero && chunk == 0 ? from_zero_ : from_guess_, blocks));
    PetscCall(Run(v, rest_, blocks));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static constexpr int all_colors = -1, nothing = -2; ///< values of changed_
  static constexpr int most_sweeps = 8;               ///< of a sequence; the others repeat it

  UnknownRows                       *rows_ = nullptr; ///< borrowed
  SweepRequest                       request_;
  ColorArray<Exec>                   colors_;
  MulticolorRelaxation<Scalar, Exec> matrix_;
  Kokkos::View<Scalar *, Memory>     ghosts_;
  std::vector<ColorStep> from_zero_, from_guess_, rest_; ///< chunks of sweeps, and those left over
  PetscInt64             chunks_    = 0;                 ///< of a round
  PetscInt               rounds_    = 1;                 ///< of an application
  int                    changed_   = nothing;           ///< colour since the last exchange of an exact cut
  bool                   exchanges_ = false;             ///< before each colour
};

} // namespace

PetscErrorCode ColorSweeps::create(Mat own_block, std::unique_ptr<ColorSweeps> *sweeps)
{
  bool on_device = false;
  PetscFunctionBegin;
  PetscCall(BlockIsOnDevice(own_block, &on_device));
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
  if (on_device) {
    PetscCallCXX(*sweeps = std::make_unique<ColorSweepsOn<DeviceExec>>());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCallCXX(*sweeps = std::make_unique<ColorSweepsOn<HostExec>>());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
