// SPDX-License-Identifier: BSD-2-Clause
#include "split_kernels.hpp"

#include "../support/open_arrays.hpp"
#include "kept_bands.hpp"
#include "../support/session.hpp"

#include <ribbon/splitting/direction_split_kernels.hpp>

namespace ribbon::petsc {

namespace {

/// Both blocks of an AIJ matrix. An off-diagonal block without entries is not opened.
template <class Exec, class Index>
class OpenBlocks {
public:
  OpenRows<Exec, Index> block[2];

  PetscErrorCode open(Mat A, Access access)
  {
    Mat             blocks[2];
    const PetscInt *columns;
    MatInfo         info;
    PetscFunctionBegin;
    A_ = A, access_ = access;
    PetscCall(GetBlocks(A, blocks, &columns));
    diagonal_ = blocks[0];
    PetscCall(block[0].open(blocks[0], access));
    if (blocks[1]) PetscCall(MatGetInfo(blocks[1], MAT_LOCAL, &info));
    if (blocks[1] && info.nz_used > 0) PetscCall(block[1].open(blocks[1], access));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close()
  {
    PetscFunctionBegin;
    if (!A_) PetscFunctionReturn(PETSC_SUCCESS);
    for (auto &b : block) PetscCall(b.close());
    if (access_ != Access::read) PetscCall(PetscObjectStateIncrease((PetscObject)A_));
    A_ = nullptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  Mat diagonal() const { return diagonal_; }

private:
  Mat    A_ = nullptr, diagonal_ = nullptr;
  Access access_ = Access::read;
};

template <class Exec, class Index>
class SplitKernelsOn final : public SplitKernels {
  using Csr    = CsrMatrix<Scalar, Index>;
  using Blocks = OpenBlocks<Exec, Index>;

public:
  PetscErrorCode set_pattern(Mat J, const Pattern &pattern, PetscInt64 *unsorted) override
  {
    const Exec exec = current_space<Exec>();
    PetscFunctionBegin;
    *unsorted = -1;
    for (int b = pattern.box ? 1 : 0; b < 2; ++b)
      PetscCallCXX(ways_[b] = upload(exec, "ribbon::ways", pattern.ways[b]));
    components_ = pattern.components, first_component_ = pattern.first_component, reach_ = pattern.reach;
    if (pattern.box) {
      Blocks  open;
      MatInfo info;
      int     reach;
      box_ = *pattern.box;
      PetscCall(open.open(J, Access::read));
      PetscCall(MatGetInfo(open.diagonal(), MAT_LOCAL, &info));
      PetscCallCXX(ways_[0] = allocate<Ways>(exec, "ribbon::ways", static_cast<std::size_t>(info.nz_used)));
      PetscCallCXX(*unsorted = find_ways(exec, open.block[0].rows, box_, ways_[0].data(), &reach));
      PetscCall(open.close());
      reach_ = std::max(reach_, reach);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode coupling_axes(Mat J, unsigned grid, unsigned *axes) override
  {
    Blocks open;
    PetscFunctionBegin;
    PetscCall(open.open(J, Access::read));
    PetscCallCXX(*axes = ribbon::coupling_axes(current_space<Exec>(), rows_of(open), grid));
    PetscCall(open.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode convection(const Task &task, Convection *sum) override
  {
    PetscFunctionBegin;
    PetscCall(with_rows(task, [&](const Exec &exec, const auto &rows) { *sum = convection_of(exec, rows); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode band_shapes(const Task &task, bool few, FoundShapes *found) override
  {
    PetscFunctionBegin;
    PetscCall(with_rows(task, [&](const Exec &exec, const auto &rows) {
      *found = bands_.shapes(exec, rows, box_, task.axes, few);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode begin_bands(const Task &task, const BandShape (&shapes)[3]) override
  {
    PetscFunctionBegin;
    PetscCallCXX(bands_.begin(current_space<Exec>(), task.axes, shapes, task.bands));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode refresh_bands(const Task &task, BandCounts *counts) override
  {
    PetscFunctionBegin;
    PetscCall(with_rows(task, [&](const Exec &exec, const auto &rows) {
      *counts = bands_.refresh(exec, rows, box_, task.bands);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode extract_bands(const Task &task, const BandShape (&shapes)[3], BandCounts *counts) override
  {
    PetscFunctionBegin;
    PetscCall(with_rows(task, [&](const Exec &exec, const auto &rows) {
      *counts = bands_.extract(exec, rows, box_, shapes, task.bands);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::unique_ptr<GivenBands> shifted_bands(int d, PetscReal s, PetscReal a) override
  {
    return std::make_unique<ShiftedBands<Exec>>(bands_.of[static_cast<std::size_t>(d)], s, a);
  }

  std::unique_ptr<GivenBands> given_bands(const Bands<Scalar, Kokkos::HostSpace> &bands,
                                          const LineCouplings &couplings, std::int64_t lines) override
  {
    return std::make_unique<HostBands<Exec>>(bands, couplings, lines);
  }

  PetscErrorCode split(const Task &task, bool write, SplitCounts *counts) override
  {
    const Exec                exec = current_space<Exec>();
    Blocks                    J, M, parts[SplitParts<Scalar, Index>::most];
    OpenVec<Exec>             mass, scale;
    SplitParts<Scalar, Index> to;
    PetscFunctionBegin;
    PetscCall(J.open(task.J, Access::read));
    if (task.mass) PetscCall(mass.open(task.mass, Access::read));
    GridRows<Scalar, Index> rows = rows_of(J, task, mass.data());
    if (task.mass_matrix) {
      PetscCall(M.open(task.mass_matrix, Access::read));
      for (int b = 0; b < 2; ++b) rows.M[b] = M.block[b].rows.value;
    }
    for (std::size_t p = 0; p < task.parts.size(); ++p) {
      if (!task.parts[p]) continue;
      PetscCall(parts[p].open(task.parts[p], write ? Access::write : Access::read));
      for (int b = 0; b < 2; ++b)
        to.row_begin[p][b] = parts[p].block[b].rows.row_begin, to.value[p][b] = parts[p].block[b].numbers();
    }
    if (task.scale) {
      PetscCall(scale.open(task.scale, write ? Access::write : Access::read));
      to.scale = scale.data();
    }
    PetscCallCXX(*counts = write ? write_parts(exec, rows, to) : compare_parts(exec, rows, to));
    if (task.scale) PetscCall(scale.close());
    for (Blocks &part : parts) PetscCall(part.close());
    PetscCall(M.close());
    if (task.mass) PetscCall(mass.close());
    PetscCall(J.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode scale_algebraic(Mat from, Vec mass, Mat to, bool write, bool *differs) override
  {
    PetscFunctionBegin;
    PetscCall(with(from, mass, Access::read, to, write ? Access::write : Access::read,
                   [&](const Exec &exec, const Csr(&A)[2], Scalar *m, Scalar *const(&t)[2]) {
                     *differs = scale_algebraic_rows<Scalar, Index>(exec, A, m, t, write);
                   }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode shifted(Mat A, Vec mass, bool diagonal, PetscReal s, PetscReal a, Mat P) override
  {
    PetscFunctionBegin;
    PetscCall(with(A, mass, Access::read, P, Access::write,
                   [&](const Exec &exec, const Csr(&from)[2], Scalar *m, Scalar *const(&to)[2]) {
                     shifted_rows<Scalar, Index>(exec, from, m, diagonal, s, a, to);
                     exec.fence();
                   }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode mark_diagonal_rows(Mat A, Vec mass) override
  {
    PetscFunctionBegin;
    PetscCall(with(A, mass, Access::update, nullptr, Access::read,
                   [&](const Exec &exec, const Csr(&from)[2], Scalar *m, Scalar *const(&)[2]) {
                     ribbon::mark_diagonal_rows<Scalar, Index>(exec, from, m);
                     exec.fence();
                   }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode largest_row_sum(Mat A, Vec mass, double *sum) override
  {
    PetscFunctionBegin;
    PetscCall(with(A, mass, Access::read, nullptr, Access::read,
                   [&](const Exec &exec, const Csr(&from)[2], Scalar *m, Scalar *const(&)[2]) {
                     *sum = ribbon::largest_row_sum<Scalar, Index>(exec, from, m);
                   }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  using Ways = Kokkos::View<std::uint16_t *, typename Exec::memory_space>;

  /// Calls f with the rows of J in the form of a task.
  template <class F>
  PetscErrorCode with_rows(const Task &task, const F &f)
  {
    Blocks        J;
    OpenVec<Exec> mass;
    PetscFunctionBegin;
    PetscCall(J.open(task.J, Access::read));
    if (task.mass) PetscCall(mass.open(task.mass, Access::read));
    PetscCallCXX(f(current_space<Exec>(), rows_of(J, task, mass.data())));
    if (task.mass) PetscCall(mass.close());
    PetscCall(J.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Calls f with the rows of A, the values of a vector, and the values of a matrix with the pattern of A
  /// (or null).
  template <class F>
  static PetscErrorCode with(Mat A, Vec v, Access v_access, Mat to, Access to_access, const F &f)
  {
    Blocks        from, written;
    OpenVec<Exec> numbers;
    PetscFunctionBegin;
    PetscCall(from.open(A, Access::read));
    PetscCall(numbers.open(v, v_access));
    if (to) PetscCall(written.open(to, to_access));
    const Csr     rows[2] = {from.block[0].rows, from.block[1].rows};
    Scalar *const into[2] = {written.block[0].numbers(), written.block[1].numbers()};
    PetscCallCXX(f(current_space<Exec>(), rows, numbers.data(), into));
    PetscCall(written.close());
    PetscCall(numbers.close());
    PetscCall(from.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  GridRows<Scalar, Index> rows_of(const Blocks &J) const
  {
    GridRows<Scalar, Index> rows;
    for (int b = 0; b < 2; ++b) rows.J[b] = J.block[b].rows, rows.way[b] = ways_[b].data();
    rows.components = components_, rows.first_component = first_component_, rows.reach = reach_;
    return rows;
  }

  GridRows<Scalar, Index> rows_of(const Blocks &J, const Task &task, const Scalar *mass) const
  {
    GridRows<Scalar, Index> rows = rows_of(J);
    rows.mass = mass, rows.shift = static_cast<Scalar>(task.shift), rows.factor = task.factor;
    rows.directions = static_cast<int>(task.axes.size());
    for (int d = 0; d < rows.directions; ++d)
      rows.direction_of_axis[task.axes[static_cast<std::size_t>(d)]] = d;
    return rows;
  }

  Ways                   ways_[2];
  GridBox                box_;
  KeptBands<Exec, Index> bands_;
  int                    components_ = 1, first_component_ = 0, reach_ = 1;
};

} // namespace

PetscErrorCode SplitKernels::create(Mat aij, std::unique_ptr<SplitKernels> *kernels)
{
  Mat             block[2];
  const PetscInt *columns;
  bool            on_device = false;
  PetscFunctionBegin;
  PetscCall(EnsureKokkos());
  PetscCall(GetBlocks(aij, block, &columns));
  PetscCall(BlockIsOnDevice(block[0], &on_device));
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
  if (on_device) {
    PetscBool is_cusparse;
    PetscCall(PetscObjectTypeCompare((PetscObject)block[0], MATSEQAIJCUSPARSE, &is_cusparse));
    if (is_cusparse) PetscCallCXX(*kernels = std::make_unique<SplitKernelsOn<DeviceExec, std::int32_t>>());
    else PetscCallCXX(*kernels = std::make_unique<SplitKernelsOn<DeviceExec, PetscInt>>());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCallCXX(*kernels = std::make_unique<SplitKernelsOn<HostExec, PetscInt>>());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
