// SPDX-License-Identifier: BSD-2-Clause
#include "moved_lines.hpp"

#include "../lines/moved_rows.hpp"

#include <algorithm>

namespace ribbon::petsc {

namespace {

class MovedLines final : public LineOperator {
public:
  explicit MovedLines(std::unique_ptr<LineOperator> here) : here_(std::move(here)) { }

  void           look_at(std::int64_t rows) override { here_->look_at(rows); }
  PetscErrorCode histograms(Mat block, const std::vector<LineDirection> &directions,
                            std::vector<std::vector<std::int64_t>> *votes) override
  {
    return here_->histograms(block, directions, votes);
  }
  PetscErrorCode couplings(Mat block, const LineDirection &direction, LineCouplings *couplings) override
  {
    return here_->couplings(block, direction, couplings);
  }
  PetscErrorCode preferences(Mat block, const std::vector<LineDirection> &directions,
                             const std::vector<LineComparison> &comparisons, double factor,
                             std::vector<LinePreference> *found) override
  {
    return here_->preferences(block, directions, comparisons, factor, found);
  }

  PetscErrorCode build(const LineSource &source, const LineRequest &request, LineFacts *facts) override
  {
    const LineDirection &direction = request.direction;
    LineSource           moved     = source;
    PetscFunctionBegin;
    rows_       = direction.moved;
    moved.block = rows_->block;
    // the tables have all rows once, or those of one colour
    int all = static_cast<std::size_t>(direction.elements() * direction.components) == rows_->rows.size();
    PetscCallMPI(
      MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, PetscObjectComm((PetscObject)rows_->scatter)));
    all_rows_ = all != 0;
    PetscCall(here_->build(moved, request, facts));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode refresh(const LineSource &, const LineRequest &, LineFacts *, bool *done) override
  {
    PetscFunctionBegin;
    *done = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode build_shifted(const LineOperator &, Vec, PetscReal, const LineRequest &, LineFacts *,
                               bool *made) override
  {
    PetscFunctionBegin;
    *made = false;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode transpose(std::string *failure) override { return here_->transpose(failure); }
  PetscErrorCode determinant(double *log_abs, std::complex<double> *sign, bool *known) override
  {
    return here_->determinant(log_abs, sign, known);
  }
  PetscErrorCode line_of_class(std::int64_t c, std::int64_t *line) override
  {
    return here_->line_of_class(c, line);
  }
  LineSet lines() const override { return here_->lines(); }
  bool    on_device() const override { return here_->on_device(); }
  void    set_refined(bool on) override { here_->set_refined(on); }

  PetscErrorCode solve(Vec b, Vec x, bool transposed) override
  {
    PetscFunctionBegin;
    PetscCall(Scatter(b, rows_->b, SCATTER_FORWARD));
    if (!all_rows_) PetscCall(Scatter(x, rows_->x, SCATTER_FORWARD)); // rows that this solve keeps
    PetscCall(here_->solve(rows_->b, rows_->x, transposed));
    PetscCall(Scatter(rows_->x, x, SCATTER_REVERSE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode solve(Mat B, Mat X, bool transposed) override
  {
    PetscInt columns;
    PetscFunctionBegin;
    PetscCall(MatGetSize(X, nullptr, &columns));
    for (PetscInt c = 0; c < columns; ++c) {
      Vec b, x;
      PetscCall(MatDenseGetColumnVecRead(B, c, &b));
      PetscCall(MatDenseGetColumnVecWrite(X, c, &x));
      PetscCall(solve(b, x, transposed));
      PetscCall(MatDenseRestoreColumnVecWrite(X, c, &x));
      PetscCall(MatDenseRestoreColumnVecRead(B, c, &b));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode make_steps(const LineSource &, const LineSource &, const LineRequest &,
                            std::shared_ptr<const LineSteps> *, std::string *reason) override
  {
    PetscFunctionBegin;
    *reason = "lines span ranks";
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  PetscErrorCode Scatter(Vec from, Vec to, ScatterMode mode) const
  {
    PetscFunctionBegin;
    PetscCall(VecScatterBegin(rows_->scatter, from, to, INSERT_VALUES, mode));
    PetscCall(VecScatterEnd(rows_->scatter, from, to, INSERT_VALUES, mode));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::unique_ptr<LineOperator>    here_;
  std::shared_ptr<const MovedRows> rows_;
  bool                             all_rows_ = true; ///< of all ranks are on these lines
};

} // namespace

std::unique_ptr<LineOperator> move_lines(std::unique_ptr<LineOperator> here)
{
  return std::make_unique<MovedLines>(std::move(here));
}

} // namespace ribbon::petsc
