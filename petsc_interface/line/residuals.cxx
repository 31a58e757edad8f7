// SPDX-License-Identifier: BSD-2-Clause
#include "residuals.hpp"

#include "pc.hpp"
#include "../support/session.hpp"
#include "../support/staged_arrays.hpp"

#include <ribbon/matrix/line_residuals.hpp>

#include <algorithm>

namespace ribbon::petsc {

namespace {

template <class Exec>
class LineResidualsOn final : public LineResiduals {
  using Memory = typename Exec::memory_space;
  using Real   = real_t<Scalar>;

public:
  PetscErrorCode set(PC pc, PetscInt columns)
  {
    const Exec exec = current_space<Exec>();
    PetscFunctionBegin;
    PetscCall(MatGetOwnershipRange(pc->pmat, &begin_, nullptr));
    PetscCall(MatGetLocalSize(pc->pmat, &rows_, nullptr));
    for (const LineBatch &batch : static_cast<PC_Line *>(pc->data)->sweep.groups[0].batches) {
      const LineDirection &direction = batch.request.direction;
      Batch                own;
      own.lines = batch.op->lines(), own.first = lines_, own.count = own.lines.lines(),
      own.element = direction.element, own.part = direction.part;
      if (const auto *there = dynamic_cast<const TablesIn<Memory> *>(direction.tables.get())) {
        own.count  = there->lines;
        own.packed = {own.lines, there->packing.element, there->part, own.lines.components};
      } else if (own.element) {
        own.count = own.part->empty() ? 0 : 1 + *std::max_element(own.part->begin(), own.part->end());
        PetscCallCXX(own.packed = {own.lines, upload(exec, "ribbon::element", own.element->entries()),
                                   upload(exec, "ribbon::part", own.part->entries()), own.lines.components});
      }
      lines_ += own.count;
      batches_.push_back(own);
    }
    const auto all = static_cast<std::size_t>(lines_ * columns);
    PetscCallCXX(states_.largest = Kokkos::View<Real *, Memory>("ribbon::largest", all));
    PetscCallCXX(states_.scale = Kokkos::View<Real *, Memory>("ribbon::scale", all));
    PetscCallCXX(states_.closed = Kokkos::View<int *, Memory>("ribbon::closed", all));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode look(Vec v, PetscInt column, bool is_scale) override
  {
    const Exec                     exec = current_space<Exec>();
    const LineStates<Real, Memory> own  = of(column);
    PetscFunctionBegin;
    PetscCall(find_maxima(exec, v, own.largest.data()));
    if (is_scale) {
      PetscCallCXX(Kokkos::deep_copy(exec, own.scale, own.largest));
      PetscCallCXX(Kokkos::deep_copy(exec, own.closed, -1));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode judge(PetscInt column, PetscReal rtol, PetscReal abstol, PetscInt iteration,
                       PetscReal *worst) override
  {
    PetscFunctionBegin;
    PetscCallCXX(*worst = ribbon::judge<Real>(current_space<Exec>(), of(column), rtol, abstol,
                                              static_cast<int>(iteration)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode leave_alone(Vec z, PetscInt column) override
  {
    const Exec                     exec = current_space<Exec>();
    const LineStates<Real, Memory> own  = of(column);
    PetscFunctionBegin;
    PetscCall(with_numbers(exec, z, true, [&](Scalar *x) {
      for (const Batch &batch : batches_)
        if (batch.element) clear_closed(exec, batch.packed, own.closed.data() + batch.first, x);
        else clear_closed(exec, batch.lines, own.closed.data() + batch.first, x);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode maxima(Vec v, std::vector<PetscReal> *largest) override
  {
    const Exec exec = current_space<Exec>();
    PetscFunctionBegin;
    const auto there =
      allocate<Kokkos::View<Real *, Memory>>(exec, "ribbon::maxima", static_cast<std::size_t>(lines_));
    PetscCall(find_maxima(exec, v, there.data()));
    PetscCallCXX(exec.fence());
    const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
    largest->assign(here.data(), here.data() + here.extent(0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode outcomes(std::vector<LineOutcome> *all) override
  {
    PetscFunctionBegin;
    PetscCallCXX(current_space<Exec>().fence());
    const auto largest = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), states_.largest);
    const auto scale   = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), states_.scale);
    const auto closed  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), states_.closed);
    all->resize(largest.extent(0));
    for (std::size_t k = 0; k < all->size(); ++k)
      (*all)[k] = {largest(k), scale(k), closed(k), 0,
                   static_cast<PetscInt>(static_cast<std::int64_t>(k) / lines_)};
    for (std::int64_t c = 0; c < (lines_ > 0 ? static_cast<std::int64_t>(all->size()) / lines_ : 0); ++c)
      for (const Batch &batch : batches_) name(batch, all->data() + c * lines_ + batch.first);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Lines `first` to first + count - 1 of those of this rank.
  struct Batch {
    LineSet              lines;
    PackedPlaces<Memory> packed;
    Table                element, part; ///< null: not packed
    std::int64_t         first = 0, count = 0;
  };

  /// The states of the lines of one column.
  LineStates<Real, Memory> of(PetscInt column) const
  {
    const auto range = std::make_pair(static_cast<std::size_t>(column * lines_),
                                      static_cast<std::size_t>((column + 1) * lines_));
    return {Kokkos::subview(states_.largest, range), Kokkos::subview(states_.scale, range),
            Kokkos::subview(states_.closed, range)};
  }

  /// First rows of the lines of a batch.
  void name(const Batch &batch, LineOutcome *lines) const
  {
    if (!batch.element) {
      for (std::int64_t l = 0; l < batch.count; ++l) lines[l].row = begin_ + batch.lines.begin(l);
      return;
    }
    std::vector<char> seen(static_cast<std::size_t>(batch.count), 0);
    for (std::int64_t l = 0; l < batch.lines.lines(); ++l)
      for (std::int64_t i = 0; i < batch.lines.rows; ++i) {
        const auto place = static_cast<std::size_t>(batch.lines(l, i));
        const auto e = (*batch.element)[place], p = (*batch.part)[place];
        if (e < 0 || seen[static_cast<std::size_t>(p)]) continue;
        seen[static_cast<std::size_t>(p)] = 1;
        lines[p].row                      = begin_ + e * batch.lines.components;
      }
  }

  PetscErrorCode find_maxima(const Exec &exec, Vec v, Real *largest)
  {
    PetscFunctionBegin;
    PetscCall(with_numbers(exec, v, false, [&](Scalar *x) {
      for (const Batch &batch : batches_)
        if (batch.element) line_maxima(exec, batch.packed, x, largest + batch.first);
        else line_maxima(exec, batch.lines, x, largest + batch.first);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Calls f with the entries of a vector in the memory of Exec.
  template <class F>
  PetscErrorCode with_numbers(const Exec &exec, Vec v, bool writes, const F &f)
  {
    PetscScalar *a;
    PetscFunctionBegin;
    if constexpr (!is_device_space<Exec>) {
      PetscCall(writes ? VecGetArray(v, &a) : VecGetArrayRead(v, const_cast<const PetscScalar **>(&a)));
      PetscCallCXX(f(reinterpret_cast<Scalar *>(a)));
      PetscCallCXX(exec.fence());
      PetscCall(writes ? VecRestoreArray(v, &a)
                       : VecRestoreArrayRead(v, const_cast<const PetscScalar **>(&a)));
    } else {
      PetscMemType where;
      PetscCall(writes ? VecGetArrayAndMemType(v, &a, &where)
                       : VecGetArrayReadAndMemType(v, const_cast<const PetscScalar **>(&a), &where));
      PetscCall(staged_.load(exec, a, where, {rows_, 1, rows_}));
      PetscCallCXX(f(staged_.data()));
      if (writes) PetscCall(staged_.store(exec));
      else if (staged_.is_staged()) PetscCallCXX(exec.fence());
      PetscCall(writes ? VecRestoreArrayAndMemType(v, &a)
                       : VecRestoreArrayReadAndMemType(v, const_cast<const PetscScalar **>(&a)));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::vector<Batch>       batches_;
  LineStates<Real, Memory> states_;
  StagedArray<Exec>        staged_;    ///< of a device
  std::int64_t             lines_ = 0; ///< of this rank, for each column
  PetscInt                 begin_ = 0, rows_ = 0;
};

template <class Exec>
PetscErrorCode CreateOn(PC pc, PetscInt columns, std::unique_ptr<LineResiduals> *residuals)
{
  PetscFunctionBegin;
  auto made = std::make_unique<LineResidualsOn<Exec>>();
  PetscCall(made->set(pc, columns));
  *residuals = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode LineResiduals::create(PC pc, PetscInt columns, std::unique_ptr<LineResiduals> *residuals)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
  const auto &batches = static_cast<PC_Line *>(pc->data)->sweep.groups[0].batches;
  if (!batches.empty() && batches[0].op->on_device()) {
    PetscCall(CreateOn<DeviceExec>(pc, columns, residuals));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(CreateOn<HostExec>(pc, columns, residuals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
