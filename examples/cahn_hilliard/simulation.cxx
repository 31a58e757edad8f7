// SPDX-License-Identifier: BSD-2-Clause
// States, tables, the explicit part of a step, and integrals.
#include "simulation.hpp"

#include "noise.hpp"

#include <type_traits>

using Device = Kokkos::DefaultExecutionSpace;
using Host   = Kokkos::DefaultHostExecutionSpace;

static_assert(std::is_same_v<PetscScalar, PetscReal>, "concentrations are real");

/// Access to the arrays of a buffer, between get() and restore().
struct Simulation::Access {
  const Buffer        &buffer;
  ch::Field<PetscReal> field  = {};
  const PetscScalar   *ghosts = nullptr;
  PetscInt             nx, ny;

  PetscErrorCode get()
  {
    PetscMemType where;
    PetscFunctionBeginUser;
    PetscCall(VecGetArrayReadAndMemType(buffer.state, &field.rows, &where));
    if (buffer.ghosts) {
      PetscCall(VecGetArrayReadAndMemType(buffer.ghosts, &ghosts, &where));
      field.before = ghosts, field.after = ghosts + 2 * nx;
    } else field.before = field.rows + (ny - 2) * nx, field.after = field.rows;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode restore()
  {
    PetscFunctionBeginUser;
    if (buffer.ghosts) PetscCall(VecRestoreArrayReadAndMemType(buffer.ghosts, &ghosts));
    PetscCall(VecRestoreArrayReadAndMemType(buffer.state, &field.rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class Exec>
Simulation::Tables<Exec> &Simulation::tables()
{
  if constexpr (std::is_same_v<Exec, Host>) return host_;
  else return device_;
}

PetscErrorCode Simulation::create()
{
  PetscMPIInt size, rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm_, &size));
  PetscCallMPI(MPI_Comm_rank(comm_, &rank));
  scheme_.nx = model_.n[0];
  scheme_.ny = model_.n[1] / size + (rank < model_.n[1] % size);
  first_     = rank * (model_.n[1] / size) + PetscMin(rank, model_.n[1] % size);
  scheme_.hx = scheme_.hy = model_.spacing();
  scheme_.gamma = model_.gamma, scheme_.stabilization = model_.stabilization;
  PetscCheck(model_.n[1] / size >= 2, comm_, PETSC_ERR_ARG_SIZ,
             "-n: %" PetscInt_FMT " points along y are fewer than 2 for each of %d ranks", model_.n[1], size);
  PetscCall(create_buffers());
  if (model_.dim == 1) PetscCall(on_device_ ? create_tables<Device>() : create_tables<Host>());
  PetscCall(start());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::create_buffers()
{
  const PetscInt nx = model_.n[0], ny = static_cast<PetscInt>(scheme_.ny), n = model_.n[1];
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm_, &size));
  for (Buffer &buffer : buffers_) {
    PetscScalar *array;
    PetscMemType where;
    VecType      type;
    PetscCall(VecCreate(comm_, &buffer.state));
    PetscCall(VecSetSizes(buffer.state, nx * ny, nx * n));
    PetscCall(VecSetFromOptions(buffer.state));
    PetscCall(VecSet(buffer.state, 0));
    PetscCall(VecGetType(buffer.state, &type));
    PetscCall(VecGetArrayAndMemType(buffer.state, &array, &where)); // the array is never moved
    on_device_ = PetscMemTypeDevice(where);
    if (model_.dim == 2) {
#if PETSC_VERSION_LT(3, 21, 0)
      PetscCheck(!on_device_, comm_, PETSC_ERR_SUP, "-vec_type %s: needs PETSc 3.21 or newer", type);
      PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, nx, ny, array, &buffer.lines));
#else
      PetscCall(
        MatCreateDenseFromVecType(PETSC_COMM_SELF, type, nx, ny, nx, ny, PETSC_DECIDE, array, &buffer.lines));
#endif
      PetscCall(MatAssemblyBegin(buffer.lines, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(buffer.lines, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(VecRestoreArrayAndMemType(buffer.state, &array));
    if (size == 1) continue;
    PetscCall(VecCreate(PETSC_COMM_SELF, &buffer.ghosts));
    PetscCall(VecSetSizes(buffer.ghosts, 4 * nx, 4 * nx));
    PetscCall(VecSetFromOptions(buffer.ghosts));
    PetscCall(VecSet(buffer.ghosts, 0));
  }
  if (size > 1) {
    const PetscInt end     = first_ + ny,
                   rows[4] = {(first_ + n - 2) % n, (first_ + n - 1) % n, end % n, (end + 1) % n};
    IS from;
    PetscCall(ISCreateBlock(comm_, nx, 4, rows, PETSC_COPY_VALUES, &from));
    PetscCall(VecScatterCreate(buffers_[0].state, from, buffers_[0].ghosts, NULL, &scatter_));
    PetscCall(ISDestroy(&from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Exec>
PetscErrorCode Simulation::create_tables()
{
  const auto    nx = static_cast<std::size_t>(scheme_.nx);
  Tables<Exec> &t  = tables<Exec>();

  PetscFunctionBeginUser;
  PetscCallCXX(t.mean = decltype(t.mean)("cahn_hilliard::mean", nx));
  PetscCallCXX(t.sums = decltype(t.sums)("cahn_hilliard::sums", nx));
  const auto mean = Kokkos::create_mirror_view(t.mean);
  for (std::size_t i = 0; i < nx; i++) mean(i) = model_.mean_of(static_cast<PetscInt>(i));
  PetscCallCXX(Kokkos::deep_copy(t.mean, mean));
  if (model_.has_forcing()) {
    PetscCallCXX(t.forcing = decltype(t.forcing)("cahn_hilliard::forcing", nx));
    PetscCallCXX(t.profile =
                   decltype(t.profile)("cahn_hilliard::profile", static_cast<std::size_t>(scheme_.ny)));
    const auto forcing = Kokkos::create_mirror_view(t.forcing);
    for (std::size_t i = 0; i < nx; i++) forcing(i) = model_.forcing_of(static_cast<PetscInt>(i));
    PetscCallCXX(Kokkos::deep_copy(t.forcing, forcing));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::start()
{
  const PetscReal turn_x = model_.dim == 2 ? 2 * PETSC_PI / static_cast<PetscReal>(model_.n[0]) : 0,
                  turn_y = 2 * PETSC_PI / static_cast<PetscReal>(model_.n[1]);
  PetscScalar           *c;
  std::vector<PetscReal> sums;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(state(), &c));
  for (PetscInt j = 0; j < scheme_.ny; j++) {
    for (PetscInt i = 0; i < scheme_.nx; i++) {
      const auto key = (static_cast<std::uint64_t>(model_.seed) << 48) +
                       static_cast<std::uint64_t>(first_ + j) * static_cast<std::uint64_t>(model_.n[0]) +
                       static_cast<std::uint64_t>(i);
      const PetscReal shape = model_.mode ? PetscCosReal(turn_x * static_cast<PetscReal>(i)) *
                                              PetscCosReal(turn_y * static_cast<PetscReal>(first_ + j))
                                          : static_cast<PetscReal>(ch::hash_uniform(key));
      c[i + model_.n[0] * j] =
        (model_.dim == 1 ? model_.mean_of(i) : model_.mean[0]) + model_.amplitude * shape;
    }
  }
  PetscCall(VecRestoreArrayWrite(state(), &c));
  PetscCall(exchange());
  PetscCall(on_device_ ? sum<Device>(&sums) : sum<Host>(&sums));
  mass_.assign(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(sums.size() / 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::exchange()
{
  PetscFunctionBeginUser;
  if (scatter_) {
    PetscCall(
      VecScatterBegin(scatter_, buffers_[now_].state, buffers_[now_].ghosts, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(
      VecScatterEnd(scatter_, buffers_[now_].state, buffers_[now_].ghosts, INSERT_VALUES, SCATTER_FORWARD));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Exec>
PetscErrorCode Simulation::explicit_part(int last)
{
  const PetscInt nx = model_.n[0], ny = static_cast<PetscInt>(scheme_.ny);
  Access         now = {buffers_[now_], {}, nullptr, nx, ny}, before = {buffers_[last], {}, nullptr, nx, ny};
  PetscScalar   *right;
  PetscMemType   where;
  Exec           exec;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  PetscCall(now.get());
  PetscCall(before.get());
  PetscCall(VecGetArrayWriteAndMemType(buffers_[right_].state, &right, &where));
  if (model_.dim == 2) PetscCallCXX(ch::plane_right_hand_side(exec, scheme_, now.field, before.field, right));
  else {
    const Tables<Exec> &t = tables<Exec>();
    if (model_.has_forcing()) {
      const PetscReal turns = static_cast<PetscReal>(model_.waves) * model_.speed * (time() + model_.dt) /
                              (static_cast<PetscReal>(model_.n[1]) * model_.spacing());
      PetscCallCXX(ch::fill_profile(exec, ch::Index(first_), ch::Index(model_.n[1]),
                                    static_cast<int>(model_.waves), turns - PetscFloorReal(turns),
                                    scheme_.c / model_.mobility, t.profile));
    }
    PetscCallCXX(ch::batch_right_hand_side(exec, scheme_, now.field, before.field, t.forcing.data(),
                                           t.profile.data(), right));
  }
  PetscCall(VecRestoreArrayWriteAndMemType(buffers_[right_].state, &right));
  PetscCall(before.restore());
  PetscCall(now.restore());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::step()
{
  const bool one_step = model_.one_step || steps_ < model_.one_steps();

  PetscFunctionBeginUser;
  PetscCall(set_up((one_step ? 1 : PetscReal(2) / 3) * model_.dt * model_.mobility));
  PetscCall(on_device_ ? explicit_part<Device>(one_step ? now_ : last_)
                       : explicit_part<Host>(one_step ? now_ : last_));
  PetscCall(solve());
  steps_++;
  PetscCall(exchange());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sums over all ranks: mass, square and energy, each for all problems of a batch.
template <class Exec>
PetscErrorCode Simulation::sum(std::vector<PetscReal> *sums)
{
  Access access = {buffers_[now_], {}, nullptr, model_.n[0], static_cast<PetscInt>(scheme_.ny)};
  Exec   exec;

  PetscFunctionBeginUser;
  PetscCall(GetSpace(&exec));
  PetscCall(access.get());
  if (model_.dim == 2) {
    ch::Sums<PetscReal> s;
    PetscCallCXX(s = ch::plane_sums(exec, scheme_, access.field, model_.mean[0]));
    *sums = {s.mass, s.square, s.energy};
  } else {
    const Tables<Exec> &t = tables<Exec>();
    PetscCallCXX(ch::batch_sums(exec, scheme_, access.field, t.mean, t.sums));
    PetscCallCXX(exec.fence());
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), t.sums);
    sums->assign(host.data(), host.data() + host.size());
  }
  PetscCall(access.restore());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums->data(), static_cast<PetscMPIInt>(sums->size()), MPIU_REAL,
                             MPIU_SUM, comm_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::integrals(Integrals *total, std::vector<Integrals> *each)
{
  const PetscInt  problems = model_.dim == 2 ? 1 : model_.n[0];
  const PetscReal points =
    static_cast<PetscReal>(model_.n[1]) * static_cast<PetscReal>(model_.dim == 2 ? model_.n[0] : 1);
  std::vector<PetscReal> sums;

  PetscFunctionBeginUser;
  PetscCall(on_device_ ? sum<Device>(&sums) : sum<Host>(&sums));
  *total = {};
  if (each) each->clear();
  for (PetscInt p = 0; p < problems; p++) {
    const auto      at     = [&](int k) { return sums[static_cast<std::size_t>(p + k * problems)] / points; };
    const PetscReal offset = at(0), mean = model_.dim == 2 ? model_.mean[0] : model_.mean_of(p),
                    square = at(1) + 2 * mean * offset + mean * mean;
    const Integrals one    = {offset - mass_[static_cast<std::size_t>(p)] / points, at(1) - offset * offset,
                              at(2), 1 / (1 - square)};
    if (each) each->push_back(one);
    if (PetscAbsReal(one.mass) > PetscAbsReal(total->mass)) total->mass = one.mass;
    total->variance += one.variance / static_cast<PetscReal>(problems);
    total->energy += one.energy / static_cast<PetscReal>(problems);
    total->scale += one.scale / static_cast<PetscReal>(problems);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::copy_speed(PetscLogDouble *bytes_per_second) const
{
  PetscFunctionBeginUser;
  PetscCall(CopySpeed(state(), buffers_[right_].state, bytes_per_second));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Simulation::destroy()
{
  PetscFunctionBeginUser;
  PetscCall(destroy_lines());
  PetscCall(VecScatterDestroy(&scatter_));
  for (Buffer &buffer : buffers_) {
    PetscCall(MatDestroy(&buffer.lines));
    PetscCall(VecDestroy(&buffer.ghosts));
    PetscCall(VecDestroy(&buffer.state));
  }
  device_ = {};
  host_   = {};
  PetscFunctionReturn(PETSC_SUCCESS);
}
