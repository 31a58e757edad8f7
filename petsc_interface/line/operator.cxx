// SPDX-License-Identifier: BSD-2-Clause
#include "operator.hpp"

#include "../support/csr.hpp"
#include "../support/session.hpp"
#include "../support/staged_arrays.hpp"
#include "gathered_lines.hpp"
#include "lines_in_pieces.hpp"
#include "lines_in_place.hpp"
#include "packed_lines.hpp"
#include "reader.hpp"
#include "steps_on.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ribbon::petsc {

namespace {

/// Chooses the way to solve lines (line_solves.hpp), and passes it the arrays of vectors.
/// @tparam Number  scalar type in which whole lines of a rank are factored and solved: Scalar, or float if
///   Scalar is double
template <class Exec, class Number>
class LineOperatorOn final : public LineReaderOn<Exec> {
  static constexpr bool rounds = !std::is_same_v<Number, Scalar>;
  using Memory                 = typename Exec::memory_space;
  using InPlace                = LinesInPlace<Exec, Number>;
  using Packed                 = PackedLines<Exec, Number>;
  using Matrices               = LineMatrices<Exec>;

public:
  /// @param refines  solves in lower precision are refined to the roundoff of Scalar
  explicit LineOperatorOn(bool refines) : refines_(refines) { }

  PetscErrorCode build(const LineSource &source, const LineRequest &request, LineFacts *facts) override
  {
    const Events *events;
    const Exec    exec  = current_space<Exec>();
    const Mat     block = source.block;
    Matrices      read;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(MatGetLocalSize(block, &rows_, nullptr));
    rows_ *= source.factors.p;
    facts->space = Exec::name(), options_ = request.solver;
    PetscCall(PetscLogEventBegin(events->extract, block, 0, 0, 0));
    PetscCall(this->Extract(exec, source, request, &read));
    PetscCall(ShareAndScale(exec, source, request, &read.bands, facts));
    PetscCallCXX(exec.fence());
    this->forget_places();
    place_lines(source, request, read);
    facts->lumped   = read.lumped;
    facts->lhs      = read.bands.lhs;
    facts->matrices = static_cast<std::int64_t>(read.bands.values.extent(0));
    int differ      = Differ(request, *facts); // an error, which all ranks raise together
    if (request.direction.chain)
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_MAX, request.direction.chain->comm));
    PetscCall(PetscLogEventEnd(events->extract, block, 0, 0, 0));
    if (differ) PetscFunctionReturn(PETSC_SUCCESS);

    PetscCall(PetscLogEventBegin(events->factor, block, 0, 0, 0));
    if (request.direction.chain) PetscCall(FactorJoined(exec, request, std::move(read.bands), facts));
    else PetscCall(FactorWhole(exec, request, std::move(read), facts));
    PetscCall(PetscLogEventEnd(events->factor, block, 0, 0, 0));
    if (facts->refusal.empty()) PetscCall(way_->describe(exec, facts));
    if (request.direction.tables) // describe() counts all tables except that of parts
      facts->bytes += static_cast<std::size_t>(request.direction.lines.unknowns()) * sizeof(std::int64_t);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode refresh(const LineSource &source, const LineRequest &request, LineFacts *facts,
                         bool *done) override
  {
    auto    *lines = dynamic_cast<InPlace *>(way_.get());
    PetscInt rows;
    PetscFunctionBegin;
    *done = false;
    PetscCall(MatGetLocalSize(source.block, &rows, nullptr));
    const bool same = rows == rows_ && !request.direction.element && !source.kronecker && facts->shift == 0;
    if (same && lines && lines->is_refreshable(request.direction.components))
      PetscCall(Refresh(source, request, lines, facts, done));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode build_shifted(const LineOperator &other, Vec diagonal, PetscReal s,
                               const LineRequest &request, LineFacts *facts, bool *made) override
  {
    const auto    *of    = dynamic_cast<const LineOperatorOn *>(&other);
    const InPlace *lines = of ? dynamic_cast<const InPlace *>(of->way_.get()) : nullptr;
    const Exec     exec  = current_space<Exec>();
    const Events  *events;
    PetscFunctionBegin;
    *made = false;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->factor, 0, 0, 0, 0));
    if (lines) {
      std::unique_ptr<InPlace> own;
      options_ = of->options_, rows_ = of->rows_, all_rows_ = of->all_rows_, flops_ = of->flops_;
      lines_ = of->lines_, places_ = of->places_;
      PetscCallCXX(own = std::make_unique<InPlace>(lines_, refines_));
      PetscCall(own->factor_shifted(exec, *lines, diagonal, s, request, facts, made));
      way_ = std::move(own);
    }
    PetscCall(PetscLogEventEnd(events->factor, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  LineSet lines() const override { return places_; }

  PetscErrorCode transpose(std::string *failure) override
  {
    LineSolverOptions options = options_;
    PetscFunctionBegin;
    if (has_transposed_) PetscFunctionReturn(PETSC_SUCCESS);
    // The pivots of A passed the limit, with or without a shift. Columns have no limit: the probe judges
    // accuracy
    options.zero_pivot = std::numeric_limits<real_t<Number>>::min();
    PetscCall(way_->transpose(current_space<Exec>(), options, failure));
    has_transposed_ = failure->empty();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  void set_refined(bool on) override
  {
    if (way_) way_->set_refined(on);
  }

  PetscErrorCode determinant(double *log_abs, std::complex<double> *sign, bool *known) override
  {
    PetscFunctionBegin;
    *log_abs = 0, *sign = 1;
    PetscCall(way_->determinant(log_abs, sign, known));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode line_of_class(std::int64_t c, std::int64_t *line) override
  {
    PetscFunctionBegin;
    PetscCallCXX(*line = way_->line_of_class(c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode solve(Vec b, Vec x, bool transposed) override
  {
    const PetscScalar *pb;
    PetscScalar       *px;
    const Exec         exec = current_space<Exec>();
    PetscFunctionBegin;
    if constexpr (!is_device_space<Exec>) {
      PetscCall(VecGetArrayRead(b, &pb));
      PetscCall(all_rows_ ? VecGetArrayWrite(x, &px) : VecGetArray(x, &px));
      PetscCall(way_->solve(exec, transposed, reinterpret_cast<const Scalar *>(pb), lines_,
                            reinterpret_cast<Scalar *>(px), lines_));
      PetscCallCXX(exec.fence());
      PetscCall(all_rows_ ? VecRestoreArrayWrite(x, &px) : VecRestoreArray(x, &px));
      PetscCall(VecRestoreArrayRead(b, &pb));
      PetscCall(PetscLogFlops(flops_ * static_cast<double>(lines_.unknowns())));
    } else {
      PetscMemType where_b, where_x;
      PetscCall(VecGetArrayReadAndMemType(b, &pb, &where_b));
      PetscCall(all_rows_ ? VecGetArrayWriteAndMemType(x, &px, &where_x)
                          : VecGetArrayAndMemType(x, &px, &where_x));
      PetscCall(solve_arrays(exec, transposed, pb, where_b, lines_, px, where_x, lines_));
      PetscCall(all_rows_ ? VecRestoreArrayWriteAndMemType(x, &px) : VecRestoreArrayAndMemType(x, &px));
      PetscCall(VecRestoreArrayReadAndMemType(b, &pb));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode solve(Mat B, Mat X, bool transposed) override
  {
    const PetscScalar *pb;
    PetscScalar       *px;
    PetscInt           columns, ldb, ldx, rows;
    PetscMemType       where_b = PETSC_MEMTYPE_HOST, where_x = PETSC_MEMTYPE_HOST;
    const Exec         exec = current_space<Exec>();
    PetscFunctionBegin;
    PetscCall(MatGetLocalSize(B, &rows, nullptr));
    PetscCall(MatGetSize(B, nullptr, &columns));
    PetscCall(MatDenseGetLDA(B, &ldb));
    PetscCall(MatDenseGetLDA(X, &ldx));
    if constexpr (is_device_space<Exec>) {
      PetscCall(RibbonDenseGetArrayReadAndMemType(B, &pb, &where_b));
      PetscCall(RibbonDenseGetArrayWriteAndMemType(X, &px, &where_x));
    } else {
      PetscCall(MatDenseGetArrayRead(B, &pb));
      PetscCall(MatDenseGetArrayWrite(X, &px));
    }
    // Every column is a further set of lines. One call solves all columns, unless they are staged: staging
    // whole arrays would overwrite the entries between the columns.
    const bool     on_host  = PetscMemTypeHost(where_b) || PetscMemTypeHost(where_x);
    const bool     one_call = !(is_device_space<Exec> && on_host) && way_->takes_columns(transposed);
    const PetscInt calls    = one_call ? 1 : columns;
    for (PetscInt c = 0; c < calls && rows > 0 && columns > 0; ++c) {
      const LineSet      in  = one_call ? with_columns(lines_, columns, ldb) : lines_;
      const LineSet      out = one_call ? with_columns(lines_, columns, ldx) : lines_;
      const PetscScalar *b   = pb + static_cast<std::size_t>(c) * static_cast<std::size_t>(ldb);
      PetscScalar       *x   = px + static_cast<std::size_t>(c) * static_cast<std::size_t>(ldx);
      if constexpr (is_device_space<Exec>)
        PetscCall(solve_arrays(exec, transposed, b, where_b, in, x, where_x, out));
      else
        PetscCall(way_->solve(exec, transposed, reinterpret_cast<const Scalar *>(b), in,
                              reinterpret_cast<Scalar *>(x), out));
    }
    if constexpr (is_device_space<Exec>) {
      PetscCall(RibbonDenseRestoreArrayWriteAndMemType(X, &px));
      PetscCall(RibbonDenseRestoreArrayReadAndMemType(B, &pb));
    } else {
      PetscCallCXX(exec.fence());
      PetscCall(MatDenseRestoreArrayWrite(X, &px));
      PetscCall(MatDenseRestoreArrayRead(B, &pb));
      PetscCall(PetscLogFlops(flops_ * static_cast<double>(rows) * static_cast<double>(columns)));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode make_steps(const LineSource &A, const LineSource &B, const LineRequest &request,
                            std::shared_ptr<const LineSteps> *steps, std::string *reason) override
  {
    const Exec exec = current_space<Exec>();
    Matrices   a, b;
    PetscFunctionBegin;
    PetscCall(this->Extract(exec, A, request, &a));
    PetscCall(this->Extract(exec, B, request, &b));
    PetscCallCXX(ShareBoth(exec, A.given != nullptr, request, &a.bands, &b.bands));
    PetscCallCXX(exec.fence());
    this->forget_places();
    try {
      *steps = std::make_shared<LineStepsOn<Exec>>(exec, lines_, a.bands, b.bands, request.solver, reason);
    } catch (const std::invalid_argument &e) {
      *reason = e.what();
    } catch (const std::exception &e) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "PC line: %s", e.what());
    }
    if (!reason->empty()) steps->reset();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

private:
  /// Stores one matrix A and one matrix B if all lines agree in both. Given bands are shared already.
  static void ShareBoth(const Exec &exec, bool given, const LineRequest &request, Bands<Scalar, Memory> *A,
                        Bands<Scalar, Memory> *B)
  {
    if (given || request.direction.lines.lines() == 0) return;
    auto shared_A = *A, shared_B = *B;
    if (share<Scalar>(exec, shared_A, 1).classes != 1 || share<Scalar>(exec, shared_B, 1).classes != 1)
      return;
    *A = shared_A, *B = shared_B;
  }

  /// Stores the places and the rows of the lines, and the cost of a solve.
  void place_lines(const LineSource &source, const LineRequest &request, const Matrices &read)
  {
    const LineDirection &direction = request.direction;
    std::int64_t         elements  = direction.lines.unknowns();
    lines_ = places_ = solved_lines(source, request);
    if (read.is_packed()) {
      elements = direction.elements();
      places_ = direction.lines, places_.components = read.components;
    }
    all_rows_ = elements * direction.components * source.factors.p == rows_;
    flops_    = (6.0 * read.bands.half_bandwidth() + 1) * lines_.components;
    flops_ *= std::is_floating_point_v<Scalar> ? 1.0 : 4.0;
  }

  /// Whole lines of this rank.
  PetscErrorCode FactorWhole(const Exec &exec, const LineRequest &request, Matrices read, LineFacts *facts)
  {
    PetscFunctionBegin;
    if (read.is_packed()) {
      std::unique_ptr<Packed> packed;
      PetscCallCXX(packed = std::make_unique<Packed>(exec, read.packing, read.components, lines_, refines_));
      PetscCall(packed->factor(exec, request, read.bands, facts));
      way_ = std::move(packed);
    } else {
      std::unique_ptr<InPlace> in_place;
      PetscCallCXX(in_place = std::make_unique<InPlace>(lines_, refines_));
      PetscCall(in_place->factor(exec, request, read.bands, facts));
      way_ = std::move(in_place);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Lines that span ranks: sub-lines are solved on their ranks. Lines are gathered if this is inaccurate.
  /// Collective on the chain.
  PetscErrorCode FactorJoined(const Exec &exec, const LineRequest &request, Bands<Scalar, Memory> bands,
                              LineFacts *facts)
  {
    const auto                          &chain = request.direction.chain;
    const CutChoices                    &how   = request.cut;
    std::unique_ptr<LinesInPieces<Exec>> pieces;
    std::unique_ptr<GatheredLines<Exec>> gathered;
    std::string                          why_not;
    PetscFunctionBegin;
    PetscCallCXX(pieces = std::make_unique<LinesInPieces<Exec>>(chain, lines_, request.periodic, how));
    PetscCall(pieces->factor(exec, bands, request.solver, &why_not));
    facts->joined = why_not.empty() ? pieces->facts() : why_not;
    facts->exact  = !why_not.empty() || pieces->is_exact();
    PetscCall(PetscInfo(nullptr, "PC line: sub-lines of %lld rows of %lld lines: %s\n",
                        static_cast<long long>(lines_.rows), static_cast<long long>(lines_.lines()),
                        facts->joined.c_str()));
    if (why_not.empty()) {
      way_ = std::move(pieces);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    pieces.reset();
    PetscCallCXX(gathered = std::make_unique<GatheredLines<Exec>>());
    PetscCall(gathered->gather(exec, chain, lines_, bands, request.periodic, request.cut.transport));
    bands = {};
    PetscCall(gathered->factor(exec, request, facts));
    way_ = std::move(gathered);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Reads new values into the factored matrices, and factors them.
  PetscErrorCode Refresh(const LineSource &source, const LineRequest &request, InPlace *lines,
                         LineFacts *facts, bool *done)
  {
    const Events *events;
    const Exec    exec = current_space<Exec>();
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->extract, source.block, 0, 0, 0));
    if constexpr (!rounds)
      PetscCall(WithCsr<Exec>(source.block, [&](const auto &A) {
        LinePlaces places = this->places_of(request.direction, A.rows);
        places.wrap       = request.periodic;
        *done             = lines->read(exec, A, places, request);
      }));
    PetscCall(PetscLogEventEnd(events->extract, source.block, 0, 0, 0));
    if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscLogEventBegin(events->factor, source.block, 0, 0, 0));
    has_transposed_ = false;
    PetscCall(lines->refactor(exec, request, facts));
    *done = facts->report.ok(); // otherwise a full set-up shifts, or reports the failure
    PetscCall(PetscLogEventEnd(events->factor, source.block, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Solves on a device, with copies of host arrays. A solve that writes all rows overwrites the copy of b.
  PetscErrorCode solve_arrays(const Exec &exec, bool transposed, const PetscScalar *b, PetscMemType where_b,
                              const LineSet &in, PetscScalar *x, PetscMemType where_x, const LineSet &out)
  {
    const DenseShape shape{rows_, 1, rows_};
    PetscFunctionBegin;
    PetscCall(staged_b_.load(exec, b, where_b, shape));
    if (all_rows_) PetscCall(staged_x_.attach(exec, x, where_x, shape, &staged_b_));
    else PetscCall(staged_x_.load(exec, x, where_x, shape));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(way_->solve(exec, transposed, staged_b_.data(), in, staged_x_.data(), out));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops_ * static_cast<double>(in.unknowns())));
    PetscCall(staged_x_.store(exec));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  std::unique_ptr<LineSolves<Exec>> way_;            ///< null before build()
  LineSet                           lines_, places_; ///< in solves; as lines() returns them
  LineSolverOptions                 options_;
  bool                              refines_;
  bool                              has_transposed_ = false;
  PetscInt                          rows_           = 0; ///< of the block
  bool              all_rows_ = true;     ///< are on these lines; otherwise x keeps its other entries
  double            flops_    = 0;        ///< of a row
  StagedArray<Exec> staged_b_, staged_x_; ///< of a device
};

} // namespace

#ifdef RIBBON_NO_SINGLE
static constexpr bool single_is_built = false;
#else
static constexpr bool single_is_built = std::is_same_v<Scalar, double>;
#endif

bool LineOperator::lacks_single()
{
  return std::is_same_v<Scalar, double> && !single_is_built;
}

template <class Exec>
static std::unique_ptr<LineOperator> create_on([[maybe_unused]] PCLinePrecision precision)
{
  if constexpr (single_is_built) {
    if (precision != PC_LINE_PRECISION_SAME)
      return std::make_unique<LineOperatorOn<Exec, float>>(precision == PC_LINE_PRECISION_SINGLE);
  }
  return std::make_unique<LineOperatorOn<Exec, Scalar>>(false);
}

std::unique_ptr<LineOperator> LineOperator::create([[maybe_unused]] bool on_device, PCLinePrecision precision)
{
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
  if (on_device) return create_on<DeviceExec>(precision);
#endif
  return create_on<HostExec>(precision);
}

} // namespace ribbon::petsc
