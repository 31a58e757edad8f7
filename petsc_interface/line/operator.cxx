// SPDX-License-Identifier: BSD-2-Clause
#include "operator.hpp"

#include "../support/csr.hpp"
#include "../lines/given_bands.hpp"
#include "../support/session.hpp"
#include "../support/staged_arrays.hpp"
#include "column_solver.hpp"
#include "../distributed/cut_solver.hpp"
#include "../support/format.hpp"
#include "reader.hpp"
#include "refined_solves.hpp"
#include "../distributed/outside_bands.hpp"
#include "shared_bands.hpp"
#include "../distributed/whole_lines.hpp"

#include <ribbon/matrix/determinants.hpp>
#include <ribbon/matrix/refresh_bands.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace ribbon::petsc {

namespace {

/// @tparam Number  what lines are factored and solved in: PetscScalar's own, or float beside double
template <class Exec, class Number>
class LineOperatorOn final : public LineReaderOn<Exec> {
  static constexpr bool rounds = !std::is_same_v<Number, Scalar>;
  using Memory                 = typename Exec::memory_space;
  using Buffer                 = Kokkos::View<Scalar *, Memory>;
  using Solver                 = LineSolver<Number, Exec>;
  using Input                  = Bands<Scalar, Memory>;

public:
  /// @param refined  solves in shorter numbers are refined to the roundoff of Scalar
  explicit LineOperatorOn(bool refined) : refined_(refined) { }

  PetscErrorCode build(const LineSource &source, const LineRequest &request, LineFacts *facts) override
  {
    const Events *events;
    const Exec    exec  = current_space<Exec>();
    const Mat     block = source.block;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(MatGetLocalSize(block, &rows_, nullptr));
    rows_ *= source.factors.p;
    facts->space = Exec::name();
    request_     = request.solver;
    PetscCall(PetscLogEventBegin(events->extract, block, 0, 0, 0));
    if (source.given) PetscCall(TakeBands(exec, *source.given, request));
    else {
      PetscCall(WithCsr<Exec>(block, [&](const auto &A) {
        LinePlaces places = this->places_of(request.direction, A.rows);
        places.wrap       = request.periodic && !request.direction.chain;
        bands_            = extract_bands(exec, A, places, request.half_bandwidth);
        if (request.direction.element) packing_ = this->tables_.at(request.direction.element).packing;
        if (is_packed()) packed_ = allocate<Buffer>(exec, "ribbon::packed", packing_.element.extent(0) * static_cast<std::size_t>(bands_.block * source.factors.p));
      }));
      if (request.direction.chain) PetscCallCXX(insert_outside(exec, *request.outside, request.direction, bands_));
    }
    PetscCall(ShareAndScale(exec, source, request, facts));
    PetscCallCXX(exec.fence());
    this->forget_places();
    places_ = request.direction.lines, lines_ = solved_lines(source, request);
    facts->lhs      = bands_.lhs;
    facts->matrices = static_cast<std::int64_t>(bands_.values.extent(0));
    int differ      = Differ(request, *facts); // an error, which is raised by all ranks
    if (request.direction.chain) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_MAX, request.direction.chain->comm));
    PetscCall(PetscLogEventEnd(events->extract, block, 0, 0, 0));
    if (differ) PetscFunctionReturn(PETSC_SUCCESS);

    PetscCall(PetscLogEventBegin(events->factor, block, 0, 0, 0));
    chain_ = request.direction.chain, periodic_ = request.periodic, how_ = request.cut;
    if (chain_) PetscCall(Join(exec, request, facts));
    if (cut_.empty()) PetscCall(Factor(exec, request, facts));
    PetscCall(PetscLogEventEnd(events->factor, block, 0, 0, 0));
    if (!facts->refusal.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    const std::int64_t elements = !is_packed() ? request.direction.lines.unknowns() : std::count_if(request.direction.element->begin(), request.direction.element->end(), [](std::int64_t e) { return e >= 0; });
    all_rows_                   = elements * request.direction.components * source.factors.p == rows_;
    facts->report               = !cut_.empty() ? cut_.report() : whole_.empty() ? solver_.report() : whole_solver_.report();
    if constexpr (rounds) {
      if (cut_.empty() && whole_.empty()) PetscCallCXX(refined_.judge(exec, solver_, facts)); // others are in Scalar
    }
    facts->bytes                = facts->report.bytes + (whole_.empty() ? 0 : whole_.bytes()) + bands_.values.size() * sizeof(Scalar) + factored_.values.size() * sizeof(Number) +
                   (packing_.place.size() + packing_.element.size()) * sizeof(std::int64_t) + packed_.size() * sizeof(Scalar);
    const int reach = chain_ ? bands_.half_bandwidth() : factored_.half_bandwidth();
    flops_          = (6.0 * reach + 1) * lines_.components * (std::is_floating_point_v<Scalar> ? 1.0 : 4.0);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode refresh(const LineSource &source, const LineRequest &request, LineFacts *facts, bool *done) override
  {
    PetscInt rows;
    PetscFunctionBegin;
    *done = false;
    PetscCall(MatGetLocalSize(source.block, &rows, nullptr));
    if constexpr (!rounds) {
      const bool plain = !chain_ && !is_packed() && factored_.block == request.direction.components && factored_.lhs != Lhs::shifted && factored_.repeats == 1 &&
                         factored_.kl() == factored_.ku() && !request.direction.element && !source.kronecker;
      if (plain && rows == rows_ && facts->shift == 0) PetscCall(Refresh(source, request, facts, done));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode build_shifted(const LineOperator &other, Vec diagonal, PetscReal s, const LineRequest &request, LineFacts *facts, bool *made) override
  {
    const auto   *of   = dynamic_cast<const LineOperatorOn *>(&other);
    const Exec    exec = current_space<Exec>();
    const Events *events;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->factor, 0, 0, 0, 0));
    *made = !rounds && of && !of->chain_ && !of->is_packed();
    if constexpr (!rounds) {
      if (*made) PetscCall(ShiftBands(exec, of->factored_, of->lines_, diagonal, s, &bands_, made));
    }
    if (*made) {
      request_ = of->request_, rows_ = of->rows_, places_ = of->places_, lines_ = of->lines_, all_rows_ = of->all_rows_, flops_ = of->flops_, periodic_ = of->periodic_, how_ = of->how_;
      PetscCall(Factor(exec, request, facts));
      facts->report = solver_.report();
      facts->bytes  = facts->report.bytes + factored_.values.size() * sizeof(Number);
      *made         = facts->refusal.empty();
    }
    PetscCall(PetscLogEventEnd(events->factor, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  LineSet lines() const override
  {
    LineSet places = places_;
    if (!is_packed()) return lines_;
    places.components = static_cast<int>(packed_.extent(0) / packing_.element.extent(0));
    return places;
  }

  PetscErrorCode transpose(std::string *failure) override
  {
    const Exec        exec    = current_space<Exec>();
    LineSolverOptions options = request_;
    PetscFunctionBegin;
    if (has_transposed_) PetscFunctionReturn(PETSC_SUCCESS);
    options.zero_pivot = std::numeric_limits<real_t<Number>>::min(); // A passed its limit, shifted or not: columns are not asked, the probe judges digits
    if (!cut_.empty()) PetscCall(TransposeCut(exec, options));
    if (has_transposed_) PetscFunctionReturn(PETSC_SUCCESS);
    if (!whole_.empty()) PetscCallCXX(whole_transposed_ = LineSolver<Scalar, Exec>(exec, whole_.lines(), ribbon::transpose<Scalar>(exec, bands_), options));
    else PetscCallCXX(transposed_ = Solver(exec, solver_.lines(), ribbon::transpose<Number>(exec, factored_), options));
    const FactorReport &report    = whole_.empty() ? transposed_.report() : whole_transposed_.report();
    bool                converges = true;
    if constexpr (rounds) {
      if (report.ok() && whole_.empty()) PetscCallCXX(converges = refined_.judge_transposed(exec, transposed_));
    }
    has_transposed_ = report.ok() && converges;
    if (!converges)
      *failure = "PC line: -pc_line_precision single: refinement of the transposed lines stagnates, their condition "
                 "number is too large for single precision; -pc_line_precision same has more digits";
    if (!report.ok())
      *failure = format("PC line: the transposed lines cannot be solved with -pc_line_algorithm %s: their smallest pivot is %.2g of its row, their backward error %.1e", request_.algorithm.c_str(), report.smallest_pivot,
                        report.probe_error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  void set_refined(bool on) override { refined_.set_refined(on); }

  PetscErrorCode determinant(double *log_abs, std::complex<double> *sign, bool *known) override
  {
    PetscFunctionBegin;
    *log_abs = 0, *sign = 1, *known = cut_.empty();
    if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
    if (!whole_.empty()) PetscCallCXX(multiply_determinants(bands_, whole_.lines().lines(), Scalar(1), log_abs, sign));
    else PetscCallCXX(multiply_determinants(factored_, lines_.lines(), refined_.alpha(), log_abs, sign));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscErrorCode line_of_class(std::int64_t c, std::int64_t *line) override
  {
    PetscFunctionBegin;
    *line = -1;
    if (cut_.empty() && whole_.empty() && factored_.lhs == Lhs::classes) {
      const auto classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), factored_.class_of_line);
      for (std::size_t l = 0; l < classes.extent(0) && *line < 0; ++l)
        if (classes(l) == c) *line = static_cast<std::int64_t>(l);
    }
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
      PetscCall(SolveLines(exec, transposed, reinterpret_cast<const Scalar *>(pb), lines_, reinterpret_cast<Scalar *>(px), lines_));
      PetscCallCXX(exec.fence());
      PetscCall(all_rows_ ? VecRestoreArrayWrite(x, &px) : VecRestoreArray(x, &px));
      PetscCall(VecRestoreArrayRead(b, &pb));
      PetscCall(PetscLogFlops(flops_ * static_cast<double>(lines_.unknowns())));
    } else {
      PetscMemType where_b, where_x;
      PetscCall(VecGetArrayReadAndMemType(b, &pb, &where_b));
      PetscCall(all_rows_ ? VecGetArrayWriteAndMemType(x, &px, &where_x) : VecGetArrayAndMemType(x, &px, &where_x));
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
    const CutSolver<Exec> &cut = transposed ? cut_transposed_ : cut_;
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
    // Every column is as many lines as the matrix has. One call takes them all where the line set has a stride to spare and nothing is
    // staged (staging whole arrays would touch what lies between the columns).
    const bool     staged   = is_device_space<Exec> && (PetscMemTypeHost(where_b) || PetscMemTypeHost(where_x));
    const bool     one_call = !staged && !is_packed() && whole_.empty() && (cut.empty() ? lines_.count1 == 1 : cut.takes_columns());
    const PetscInt calls    = one_call ? 1 : columns;
    for (PetscInt c = 0; c < calls && rows > 0 && columns > 0; ++c) {
      const LineSet      in = one_call ? with_columns(lines_, columns, ldb) : lines_, out = one_call ? with_columns(lines_, columns, ldx) : lines_;
      const PetscScalar *b = pb + static_cast<std::size_t>(c) * static_cast<std::size_t>(ldb);
      PetscScalar       *x = px + static_cast<std::size_t>(c) * static_cast<std::size_t>(ldx);
      if constexpr (is_device_space<Exec>) PetscCall(solve_arrays(exec, transposed, b, where_b, in, x, where_x, out));
      else PetscCall(SolveLines(exec, transposed, reinterpret_cast<const Scalar *>(b), in, reinterpret_cast<Scalar *>(x), out));
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

private:
  bool is_packed() const { return packing_.element.extent(0) > 0; }

  /// Reads new values into the bands that were factored, and factors them.
  PetscErrorCode Refresh(const LineSource &source, const LineRequest &request, LineFacts *facts, bool *done)
  {
    const Events *events;
    const Exec    exec = current_space<Exec>();
    RefreshResult found;
    PetscFunctionBegin;
    PetscCall(GetEvents(&events));
    PetscCall(PetscLogEventBegin(events->extract, source.block, 0, 0, 0));
    PetscCallCXX(FindFirstLines(exec));
    PetscCall(WithCsr<Exec>(source.block, [&](const auto &A) {
      LinePlaces places = this->places_of(request.direction, A.rows);
      places.wrap       = request.periodic;
      if constexpr (!rounds) found = refresh_bands(exec, A, places, plan_, factored_, request.siblings);
    }));
    *done = !found.differ && !found.components && !found.beyond && !found.narrower && !found.not_finite && (!found.across || request.coupled);
    if constexpr (!rounds) {
      if (*done && request.omega != 1) PetscCallCXX(scale<Scalar>(exec, factored_, Scalar(1 / request.omega)));
    }
    PetscCall(PetscLogEventEnd(events->extract, source.block, 0, 0, 0));
    if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscLogEventBegin(events->factor, source.block, 0, 0, 0));
    has_transposed_ = false, transposed_ = Solver(), columns_ = ColumnSolver<Number, Exec>();
    try {
      if (!solver_.refactor(exec, factored_)) solver_ = Solver(exec, inner(lines_), factored_, request.solver);
    } catch (const std::exception &e) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "PC line: %s", e.what());
    }
    facts->bytes += solver_.report().bytes - facts->report.bytes;
    facts->report = solver_.report();
    *done         = facts->report.ok(); // a shift, or the sentence that says what is wrong, is for a set-up from the start
    PetscCall(PetscLogEventEnd(events->factor, source.block, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// A line of each class.
  void FindFirstLines(const Exec &exec)
  {
    if (factored_.lhs != Lhs::classes || plan_.first.extent(0) > 0) return;
    const auto                classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), factored_.class_of_line);
    std::vector<std::int64_t> first(factored_.values.extent(0), 0);
    for (std::size_t l = classes.extent(0); l-- > 0;) first[static_cast<std::size_t>(classes(l))] = static_cast<std::int64_t>(l);
    plan_.first = upload(exec, "ribbon::first_of_class", first);
  }

  /// Multiplies with the determinants of all lines, whose matrices times alpha are in `bands`. Few matrices come to the
  /// host, where a thread is fast.
  template <class Entry>
  void multiply_determinants(const Bands<Entry, Memory> &bands, std::int64_t lines, Scalar alpha, double *log_abs,
                             std::complex<double> *sign)
  {
    std::vector<double>               log(static_cast<std::size_t>(bands.matrices()));
    std::vector<std::complex<double>> unit(log.size());
    std::vector<std::int64_t> count(log.size(), bands.lhs == Lhs::shared ? lines : bands.lhs == Lhs::classes ? 0 : 1);
    const auto                classes = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bands.class_of_line);
    if (bands.lhs == Lhs::classes)
      for (std::int64_t l = 0; l < lines; ++l) ++count[static_cast<std::size_t>(classes(static_cast<std::size_t>(l)))];
    if (!is_device_space<Exec> || bands.matrices() >= 1024) determinants_on(current_space<Exec>(), bands, log, unit);
    else determinants_on(HostExec(), to_host(bands), log, unit);
    for (std::size_t c = 0; c < log.size(); ++c) {
      if (count[c] == 0) continue; // a class without lines
      const double rows = static_cast<double>(bands.rows() * bands.block), n = static_cast<double>(count[c]);
      *log_abs += n * (log[c] - rows * std::log(static_cast<double>(magnitude(alpha)))); // alpha is positive
      *sign *= unit[c] == 0. ? 0. : std::polar(1., std::arg(unit[c]) * n);
    }
  }
  template <class Space, class Entry>
  static void determinants_on(const Space &space, const Bands<Entry, typename Space::memory_space> &bands,
                              std::vector<double> &log, std::vector<std::complex<double>> &unit)
  {
    using Where      = typename Space::memory_space;
    const auto logs  = allocate<Kokkos::View<double *, Where>>(space, "ribbon::log_abs_det", log.size());
    const auto signs = allocate<Kokkos::View<Entry *, Where>>(space, "ribbon::det_sign", log.size());
    determinants(space, bands, logs, signs);
    const auto host_logs  = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), logs);
    const auto host_signs = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), signs);
    for (std::size_t c = 0; c < log.size(); ++c) {
      log[c] = host_logs(c);
      if constexpr (std::is_floating_point_v<Entry>) unit[c] = static_cast<double>(host_signs(c));
      else unit[c] = {static_cast<double>(host_signs(c).real()), static_cast<double>(host_signs(c).imag())};
    }
  }

  /// Whether options ask for another sharing of matrices than the one that given bands have.
  static bool LooksAtLines(const LineRequest &request) { return request.lhs != PC_LINE_LHS_AUTO || request.lhs_tol > 0; }

  /// Bands that somebody else has.
  PetscErrorCode TakeBands(const Exec &exec, const GivenBands &given, const LineRequest &request)
  {
    const auto *here = dynamic_cast<const GivenBandsOn<Exec> *>(&given);
    PetscFunctionBegin;
    PetscCheck(here, PETSC_COMM_SELF, PETSC_ERR_PLIB, "PC line: given bands are not in the memory of %s", Exec::name());
    PetscCallCXX(bands_ = here->bands(exec, LooksAtLines(request)));
    bands_.periodic = request.periodic && !request.direction.chain;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// One matrix for lines that agree, then the Kronecker product, and omega.
  PetscErrorCode ShareAndScale(const Exec &exec, const LineSource &source, const LineRequest &request, LineFacts *facts)
  {
    const std::int64_t lines = request.direction.lines.lines();
    PetscFunctionBegin;
    if (!source.given || LooksAtLines(request)) PetscCall(ShareBands(exec, lines, request, bands_, facts));
    if (source.kronecker) {
      PetscCallCXX(bands_ = kronecker(exec, bands_, lines, source.factors));
      if (bands_.values.extent(0) > 1 && facts->different < 0) facts->first = 0, facts->different = 1;
    }
    if (request.omega != 1) PetscCallCXX(scale<Scalar>(exec, bands_, Scalar(1 / request.omega)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Lines that the partition cuts: solved where their pieces are, or brought together where that would not be sound. Collective on their chain.
  PetscErrorCode Join(const Exec &exec, const LineRequest &request, LineFacts *facts)
  {
    std::string why_not;
    PetscFunctionBegin;
    PetscCall(cut_.set_up(exec, chain_, lines_, bands_, periodic_, how_, request.solver, &why_not));
    facts->joined = why_not.empty() ? cut_.facts() : why_not;
    facts->exact  = !why_not.empty() || cut_.is_exact();
    PetscCall(PetscInfo(nullptr, "PC line: pieces of %lld rows of %lld lines: %s\n", static_cast<long long>(lines_.rows), static_cast<long long>(lines_.lines()), facts->joined.c_str()));
    if (why_not.empty()) PetscFunctionReturn(PETSC_SUCCESS);
    cut_ = CutSolver<Exec>();
    PetscCallCXX(whole_ = WholeLines<Exec>(exec, chain_, lines_));
    PetscCall(whole_.bands(exec, bands_, periodic_, &bands_));
    PetscCall(ShareBands(exec, whole_.lines().lines(), request, bands_, facts));
    facts->whole = true, facts->lhs = bands_.lhs, facts->matrices = static_cast<std::int64_t>(bands_.values.extent(0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Whole lines of this rank; those that were brought together stay in PetscScalar's own precision.
  PetscErrorCode Factor(const Exec &exec, const LineRequest &request, LineFacts *facts)
  {
    PetscFunctionBegin;
    try {
      if (!whole_.empty()) {
        do whole_solver_ = LineSolver<Scalar, Exec>(exec, whole_.lines(), bands_, request.solver);
        while (ShiftZeroPivots(exec, request, whole_solver_.report(), bands_, facts));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      do {
        if constexpr (rounds) factored_ = refined_.round(exec, lines_, bands_);
        else factored_ = bands_;
        solver_ = Solver(exec, inner(lines_), factored_, request.solver);
      } while (ShiftZeroPivots(exec, request, solver_.report(), bands_, facts));
      if constexpr (rounds) facts->below_range = first_row_below_range<Scalar, Number>(exec, bands_, factored_);
      bands_ = {};
    } catch (const std::invalid_argument &e) {
      facts->refusal = e.what();
    } catch (const std::exception &e) {
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "PC line: %s", e.what());
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// The pieces of the transposed lines; whole lines to be transposed where they are not sound. Collective on the chain.
  PetscErrorCode TransposeCut(const Exec &exec, const LineSolverOptions &options)
  {
    std::string why_not;
    Input       turned;
    PetscFunctionBegin;
    PetscCall(TransposePieces(exec, *chain_, periodic_, lines_.lines(), bands_, &turned));
    PetscCall(cut_transposed_.set_up(exec, chain_, lines_, turned, periodic_, how_, options, &why_not));
    has_transposed_ = why_not.empty();
    if (has_transposed_) PetscFunctionReturn(PETSC_SUCCESS);
    cut_transposed_ = CutSolver<Exec>();
    PetscCallCXX(whole_ = WholeLines<Exec>(exec, chain_, lines_));
    PetscCall(whole_.bands(exec, bands_, periodic_, &bands_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Solves in the memory of Exec. Collective on the chain of these lines.
  PetscErrorCode SolveLines(const Exec &exec, bool transposed, const Scalar *b, const LineSet &in, Scalar *x, const LineSet &out)
  {
    const Solver    &solver = transposed ? transposed_ : solver_;
    CutSolver<Exec> &cut    = transposed ? cut_transposed_ : cut_;
    PetscFunctionBegin;
    if (!cut.empty()) PetscCall(cut.solve(exec, b, in, x, out));
    else if (!whole_.empty()) PetscCall(whole_.solve(exec, transposed ? whole_transposed_ : whole_solver_, b, in, x, out));
    else if (!is_packed())
      PetscCallCXX(solve_numbers(exec,
                                 transposed ? solver : columns_.choose(exec, solver, factored_, request_, inner(in)),
                                 transposed, b, in, x, out));
    else {
      const int components = static_cast<int>(packed_.extent(0) / packing_.element.extent(0));
      PetscCallCXX(pack(exec, packing_, components, b, packed_.data()));
      PetscCallCXX(solve_numbers(exec, solver, transposed, packed_.data(), in, packed_.data(), in));
      PetscCallCXX(unpack(exec, packing_, components, packed_.data(), x));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  void solve_numbers(const Exec &exec, const Solver &solver, bool transposed, const Scalar *b, const LineSet &in,
                     Scalar *x, const LineSet &out)
  {
    if constexpr (rounds) refined_.solve(exec, solver, transposed, b, in, x, out);
    else solver.solve(exec, b, in, x, out);
  }

  /// Where lines lie when they are solved: in vectors, or, rounded, in a buffer.
  static LineSet inner(const LineSet &lines)
  {
    if constexpr (rounds) return RefinedSolves<Exec, Number>::inner(lines);
    else return lines;
  }

  /// Solves on a device; arrays in host memory are copied there. A solve that writes all rows overwrites b's copy.
  PetscErrorCode solve_arrays(const Exec &exec, bool transposed, const PetscScalar *b, PetscMemType where_b,
                              const LineSet &in, PetscScalar *x, PetscMemType where_x, const LineSet &out)
  {
    const DenseShape shape{rows_, 1, rows_};
    PetscFunctionBegin;
    PetscCall(staged_b_.load(exec, b, where_b, shape));
    if (all_rows_) PetscCall(staged_x_.write(exec, x, where_x, shape, &staged_b_));
    else PetscCall(staged_x_.load(exec, x, where_x, shape));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(SolveLines(exec, transposed, staged_b_.data(), in, staged_x_.data(), out));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(flops_ * static_cast<double>(in.unknowns())));
    PetscCall(staged_x_.store(exec));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  LineSet               places_, lines_; ///< of elements; of unknowns, in vectors or packed
  Input                 bands_;          ///< during the set-up; of lines that the partition cuts afterwards, too
  Bands<Number, Memory> factored_;
  RefreshPlan<Memory>   plan_; ///< made by the first refresh
  Packing<Memory>       packing_; ///< empty: lines lie in the vectors themselves
  Buffer                packed_;
  Solver                solver_, transposed_;
  CutSolver<Exec>       cut_, cut_transposed_; ///< of lines that the partition cuts and that are solved where their pieces lie, else empty
  WholeLines<Exec>      whole_;                ///< of those that are brought together, else empty
  CutChoices            how_;
  bool                  periodic_ = false;

  ColumnSolver<Number, Exec> columns_;

  std::shared_ptr<const LineChain> chain_;
  LineSolver<Scalar, Exec>         whole_solver_, whole_transposed_;
  LineSolverOptions                request_;
  bool                             has_transposed_ = false;
  PetscInt                         rows_           = 0;    ///< of the block
  bool                             all_rows_       = true; ///< they are on these lines; otherwise x keeps what it holds elsewhere
  double                           flops_          = 0;
  StagedArray<Exec>                staged_b_, staged_x_; ///< of a device

  RefinedSolves<Exec, Number> refined_; ///< where the matrices are rounded
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
