// SPDX-License-Identifier: BSD-2-Clause
// Random matrices, options and uses of PC line. Each ends with an accurate solution or with one clear
// error, and the object works afterwards.
//   RIBBON_PETSC_FUZZ=N       number of cases
//   RIBBON_PETSC_FUZZ_SEED=S  other cases than the default ones
//   RIBBON_PETSC_FUZZ_CASE=K  only case K
// With -malloc_debug every case runs twice: the second run has to leave as much memory as it found.
#include "fuzz_fixture.hpp"

using namespace test;

namespace {

class PCLineFuzz : public Fuzz {
protected:
  void              judge(const Options &o, Draw *draw);
  PCLineComposition composed(const Options &o) const;
  void              judge_answers(const Options &o, Draw *draw);
  void              judge_batch(Draw *draw, double tolerance);
  void              judge_scaled(const Options &o, Draw *draw, double varies);
  void              judge_krylov(const Options &o, Draw *draw);
  void              run_case(long number);
  void              new_problem(Draw *draw);
  void              still_works();

  PetscLogDouble excused = 0; ///< bytes that PETSc does not free when it rejects options
  long           right = 0, refused = 0, failures = 0, references = 0;
};

/// Checks every column of a dense matrix. Gaps separate its columns.
void PCLineFuzz::judge_batch(Draw *draw, double tolerance)
{
  const PetscInt columns = draw->between(1, 3), spare = draw->between(0, 3);
  PetscInt       rows, all, lda;
  Mat            B, X;
  PetscScalar   *a;
  MatGetLocalSize(problem->A, &rows, nullptr);
  MatGetSize(problem->A, &all, nullptr);
  for (Mat *M : {&B, &X}) {
    MatCreate(PETSC_COMM_WORLD, M);
    MatSetSizes(*M, rows, PETSC_DECIDE, all, columns);
    MatSetType(*M, MATDENSE);
    MatDenseSetLDA(*M, std::max<PetscInt>(rows + spare, 1));
    MatSetUp(*M);
    MatDenseGetLDA(*M, &lda);
    MatDenseGetArray(*M, &a);
    for (PetscInt c = 0; c < columns; ++c)
      for (PetscInt r = 0; r < lda; ++r)
        a[c * lda + r] = r < rows ? Draw::noise(static_cast<std::uint64_t>(17 + c), r, rank) : 55;
    MatDenseRestoreArray(*M, &a);
    MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY);
  }
  EXPECT_FALSE(fails("PCMatApply", [&] { return PCMatApply(pc, B, X); })) << text;
  for (PetscInt c = 0; c < columns; ++c) {
    Vec b = vector(0), x = vector(0);
    MatGetColumnVector(B, b, c);
    MatGetColumnVector(X, x, c);
    const Numbers each = applied(b);
    EXPECT_LE(distance(gathered(x), each), tolerance * largest(each)) << "PCMatApply, column " << c;
    VecDestroy(&b);
    VecDestroy(&x);
  }
  int touched = 0;
  MatDenseGetArray(X, &a);
  for (PetscInt c = 0; c < columns; ++c)
    for (PetscInt r = rows; r < lda; ++r) touched += a[c * lda + r] != PetscScalar(55);
  MatDenseRestoreArray(X, &a);
  MPI_Allreduce(MPI_IN_PLACE, &touched, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  EXPECT_EQ(touched, 0) << "between the columns";
  MatDestroy(&B);
  MatDestroy(&X);
}

/// Whether the PC solves lines once, without products with the matrix.
bool is_one_solve(const Options &o)
{
  return o.ordering == PC_LINE_ORDERING_JACOBI && o.iterations == 1 &&
         o.direction.find(',') == std::string::npos && o.direction != "auto";
}

/// Twice the matrix gives half the solution, to the last digit, but only after PETSc requests a new set-up.
/// @param varies  allowed difference between two equal solutions, relative to their largest entry
void PCLineFuzz::judge_scaled(const Options &o, Draw *draw, double varies)
{
  Vec           b      = vector(5);
  const Numbers before = applied(b);
  Numbers       after;
  const bool    held = draw->one_in(2);
  PCSetReusePreconditioner(pc, held ? PETSC_TRUE : PETSC_FALSE);
  MatScale(problem->inner ? problem->inner : problem->A, 2);
  if (problem->rows) MatScale(problem->rows, 2);
  if (held) {
    const Numbers old = applied(b);
    if (is_one_solve(o)) {
      EXPECT_EQ(distance(old, before), 0) << "factors are reused";
    }
    PCSetReusePreconditioner(pc, PETSC_FALSE);
  }
  after = applied(b);
  for (PetscScalar &v : after) v *= 2;
  EXPECT_LE(distance(after, before), varies * largest(before)) << "twice the matrix";
  VecDestroy(&b);
}

/// Any Krylov method ends for one reason on all ranks. If it converges, the solution is accurate.
void PCLineFuzz::judge_krylov(const Options &o, Draw *draw)
{
  const char *const type = draw->of<const char *>({KSPPREONLY, KSPGMRES, KSPRICHARDSON, KSPCHEBYSHEV, KSPCG});
  KSP               ksp;
  KSPConvergedReason reason;
  Vec                b = vector(6), x = vector(7), r = vector(8);
  PetscReal          left, size;
  KSPCreate(PETSC_COMM_WORLD, &ksp);
  KSPSetPC(ksp, pc);
  KSPSetOperators(ksp, problem->A, problem->A);
  KSPSetType(ksp, type);
  KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 30);
  if (draw->one_in(3)) KSPSetErrorIfNotConverged(ksp, PETSC_TRUE);
  const bool error = fails("KSPSolve", [&] { return KSPSolve(ksp, b, x); });
  KSPGetConvergedReason(ksp, &reason);
  agreed(static_cast<int>(reason));
  if (!error && reason > 0 && sound(o) && std::strcmp(type, KSPCG) != 0 &&
      (std::strcmp(type, KSPPREONLY) != 0 || (problem->whole && o.direction == "auto" && o.omega == 0)) &&
      o.omega <= 1) {
    MatMult(problem->A, x, r);
    VecAXPY(r, -1, b);
    VecNorm(r, NORM_2, &left);
    VecNorm(b, NORM_2, &size);
    EXPECT_LE(left, 1e-4 * size) << type << " converged";
  }
  PCSetErrorIfFailure(pc, PETSC_FALSE);
  KSPDestroy(&ksp); // with Chebyshev's iteration this resets the PC
  PCSetOperators(pc, problem->A, problem->A);
  for (Vec *v : {&b, &x, &r}) VecDestroy(v);
}

/// The composition that auto selects, according to the view.
PCLineComposition PCLineFuzz::composed(const Options &o) const
{
  const std::string view = printed([this](PetscViewer viewer) { PCView(pc, viewer); });
  for (PCLineComposition c :
       {PC_LINE_COMPOSITION_MULTIPLICATIVE, PC_LINE_COMPOSITION_ADDITIVE, PC_LINE_COMPOSITION_SYMMETRIC})
    if (contains(view, std::string("sweep: ") + PCLineCompositions[c])) return c;
  return o.composition;
}

/// Checks the solutions after a successful set-up.
void PCLineFuzz::judge_answers(const Options &o, Draw *draw)
{
  Vec           x = vector(1), y = vector(2), sum = vector(1);
  const Numbers vx = gathered(x), vy = gathered(y), mx = applied(x), my = applied(y);
  PetscBool     has_transpose;
  MatHasOperation(problem->A, MATOP_MULT_TRANSPOSE, &has_transpose); // sweeps need it
  const Numbers tx = has_transpose ? applied(x, true) : Numbers(mx.size());
  // The size of vectors between the solves of a sweep.
  const double grown = 1 + largest_row() * std::max({largest(mx), largest(my), largest(tx),
                                                     sound(o) ? 0 : 1 / smallest_diagonal()});
  const bool   returns =
    // the backward half of the sweep amplifies vectors as much as the forward half
    composed(o) == PC_LINE_COMPOSITION_SYMMETRIC;
  const double tolerance = 1e4 * PETSC_MACHINE_EPSILON * (sound(o) ? 100 : std::pow(grown, returns ? 3 : 2)),
               size      = largest(mx) + largest(my);
  // These products add in any order: products with transposes, and products by cuSPARSE's default algorithm
  // if many rows are empty, as in columns of other ranks.
  PetscBool on_device;
  PetscObjectTypeCompareAny((PetscObject)problem->A, &on_device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE,
                            MATSEQAIJKOKKOS, MATMPIAIJKOKKOS, "");
  const double varies = on_device && !is_one_solve(o) ? tolerance : 0;
  EXPECT_LE(distance(applied(x), mx), varies * size) << "not the same twice";
  VecAXPBY(sum, -0.75, 0.5, y);
  Numbers expected = mx;
  for (std::size_t k = 0; k < mx.size(); ++k)
    expected[k] = PetscScalar(0.5) * mx[k] - PetscScalar(0.75) * my[k];
  EXPECT_LE(distance(applied(sum), expected), tolerance * size) << "not linear";
  const double n = static_cast<double>(mx.size()) + 1;
  if (has_transpose) {
    EXPECT_LE(distance(applied(x, true), tx), on_device ? tolerance * size : 0)
      << "transposed, not the same twice";
    EXPECT_LE(static_cast<double>(PetscAbsScalar(dot(vx, my) - dot(tx, vy))),
              tolerance * n * (size + largest(tx)))
      << "not its transpose";
  }
  const char *found;
  EXPECT_FALSE(fails("PCLineGetInfo",
                     [&] { return PCLineGetInfo(pc, &found, nullptr, nullptr, nullptr, nullptr, nullptr); }))
    << text;
  const std::string names = found;
  // A grid that PC line finds in the pattern is another one than the DMDA.
  const bool found_grid =
    contains(printed([this](PetscViewer viewer) { PCView(pc, viewer); }), ", from the matrix pattern");
  if (problem->da && !found_grid && mx.size() <= 300 && (o.shift == "none" || sound(o)) &&
      names.find_first_not_of("xyz,") == std::string::npos) {
    Sweep sweep;
    sweep.directions.clear();
    for (char c : names)
      if (c != ',') sweep.directions.push_back(c - 'x');
    sweep.composition = composed(o);
    sweep.ordering    = o.ordering;
    sweep.omega       = o.omega == 0 ? 1 : o.omega;
    sweep.iterations  = o.iterations;
    sweep.pieces      = o.cut == "local";
    EXPECT_LE(distance(Dense(problem->stored(), problem->da).apply(sweep, vx), mx), tolerance * largest(mx))
      << "not the reference, along " << names;
    ++references;
  }
  if (problem->whole && (o.shift == "none" || sound(o)) && (o.omega == 0 || o.omega == 1) &&
      o.direction == "auto") {
    Vec z = vector(0);
    MatMult(problem->A, x, z); // The original matrix may be on a device and need other vectors.
    EXPECT_LE(distance(applied(z), vx), tolerance) << "not exact";
    VecDestroy(&z);
  }
  for (Vec *v : {&x, &y, &sum}) VecDestroy(v);
  if (draw->one_in(2)) judge_batch(draw, tolerance);
  // The shift of a row of zeros does not grow with the matrix.
  const bool scales = problem->sound || (!problem->inner && o.shift == "none");
  if (draw->one_in(2) && scales) judge_scaled(o, draw, varies);
  if (draw->one_in(2)) judge_krylov(o, draw);
  ++right;
}

/// A set-up with these options, and the valid calls after it.
void PCLineFuzz::judge(const Options &o, Draw *draw)
{
  SCOPED_TRACE(problem->what + ", values " + std::to_string(static_cast<int>(problem->values)) + ": " +
               o.text);
  PetscOptions database;
  PetscOptionsCreate(&database);
  PetscOptionsInsertString(database, o.text.c_str());
  PetscObjectSetOptions((PetscObject)pc, database);
  PetscLogDouble before, after;
  PetscMallocGetCurrentUsage(&before);
  const bool unset = fails("PCSetFromOptions", [&] { return PCSetFromOptions(pc); });
  PetscMallocGetCurrentUsage(&after);
  if (unset) {
    EXPECT_LE(after - before, 256) << "PETSc itself leaves the names that it was given"; // up to 11
    excused += after - before;
  }
  PetscObjectSetOptions((PetscObject)pc, nullptr);
  PetscOptionsDestroy(&database);
  if (unset || !o.error.empty()) {
    EXPECT_TRUE(unset) << o.error << " has no error";
    // The second text is PETSc's message for NaN, since 3.24.
    EXPECT_TRUE(!o.error.empty() && (contains(text, o.error) || contains(text, "Newly set value"))) << text;
    ++refused;
    return;
  }
  const auto view = [&] {
    PetscViewer viewer;
    PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer);
    EXPECT_FALSE(fails("PCView", [&] { return PCView(pc, viewer); })) << text;
    PetscViewerDestroy(&viewer);
  };
  if (draw->one_in(3)) view();
  const bool        failed = fails("PCSetUp", [&] { return PCSetUp(pc); });
  const std::string why    = text;
  view();
  if (failed) {
    EXPECT_TRUE(is_to_the_point(why, o, *problem, ranks)) << why;
    EXPECT_TRUE(fails("PCSetUp", [&] { return PCSetUp(pc); })) << "the same once more has no error";
    EXPECT_EQ(text, why);
    EXPECT_TRUE(
      fails("PCLineGetInfo",
            [&] { return PCLineGetInfo(pc, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr); }))
      << "of a set-up that raised an error";
    ++refused;
    return;
  }
  EXPECT_EQ(problem->error, "") << "no error";
  if (agreed(failed_reason(pc)) != PC_NOERROR) {
    EXPECT_FALSE(sound(o) && o.algorithm != "one_pass") << "failed";
    Vec        b = vector(1);
    const bool some =
      contains(printed([&](PetscViewer viewer) { PCView(pc, viewer); }), "the others are solved");
    for (bool transposed : {false, true}) {
      int answers = 0;
      for (const PetscScalar &v : applied(b, transposed)) answers += PetscAbsScalar(v) < PETSC_MAX_REAL / 10;
      EXPECT_TRUE(answers == 0 || (some && !transposed)) << answers << " numbers for an answer";
    }
    VecDestroy(&b);
    if (draw->one_in(2)) judge_krylov(o, draw);
    ++failures;
    return;
  }
  EXPECT_FALSE(problem->spoilt) << "no failure";
  judge_answers(o, draw);
}

void PCLineFuzz::new_problem(Draw *draw)
{
  auto next = std::make_unique<Problem>();
  raised    = 0;
  draw_problem(draw, ranks, rank, next.get());
  ASSERT_EQ(raised, 0) << next->what << ": " << said;
  OK(PCReset(pc));
  OK(PCSetOperators(pc, next->A, next->A));
  OK(PCSetDM(pc, next->da && draw->one_in(3) ? next->da : nullptr));
  problem = std::move(next);
}

/// The same object still solves lines that every rank holds as a whole.
void PCLineFuzz::still_works()
{
  SCOPED_TRACE("afterwards");
  Draw    draw(1);
  Options plain;
  plain.say();
  auto next = std::make_unique<Problem>();
  draw_batch(&draw, ranks, rank, next.get(), false);
  OK(PCReset(pc));
  OK(PCSetOperators(pc, next->A, next->A));
  OK(PCSetDM(pc, nullptr));
  problem = std::move(next);
  judge(plain, &draw);
}

void PCLineFuzz::run_case(long number)
{
  Draw draw(static_cast<std::uint64_t>(environment("RIBBON_PETSC_FUZZ_SEED", 1)) * 1000003 +
            static_cast<std::uint64_t>(number) * 31 + static_cast<std::uint64_t>(ranks));
  OK(PCCreate(PETSC_COMM_WORLD, &pc));
  OK(PCSetType(pc, PCLINE));
  new_problem(&draw);
  judge(draw_options(&draw), &draw);
  for (PetscInt more = draw.below(3); more > 0; --more) {
    const PetscInt other = draw.below(6);
    if (other < 3) new_problem(&draw);
    if (other == 3) {
      OK(PCReset(pc));
      OK(PCSetOperators(pc, problem->A, problem->A));
    }
    judge(draw_options(&draw), &draw);
  }
  still_works();
  OK(PCDestroy(&pc));
  problem.reset();
}

TEST_F(PCLineFuzz, EndsInARightAnswerOrInOneClearError)
{
  const long one   = environment("RIBBON_PETSC_FUZZ_CASE", -1),
             cases = environment("RIBBON_PETSC_FUZZ", ranks == 1   ? 600
                                                      : ranks == 2 ? 300
                                                                   : 100);
  PetscBool traced;
  PetscMallocGetDebug(&traced, nullptr, nullptr);
  for (long k = one < 0 ? 0 : one; k < (one < 0 ? cases : one + 1) && !HasFailure(); ++k) {
    std::snprintf(running, sizeof running, "case %ld on %d ranks hangs or crashes\n", k,
                  static_cast<int>(ranks));
    SCOPED_TRACE("case " + std::to_string(k) + " on " + std::to_string(ranks) + " ranks, seed " +
                 std::to_string(environment("RIBBON_PETSC_FUZZ_SEED", 1)));
    const long views_before = views;
    alarm(100);
    run_case(k);
    if (traced) {
      PetscLogDouble before, after;
      const long     failed = failed_calls;
      excused               = 0;
      PetscMallocGetCurrentUsage(&before);
      run_case(k);
      PetscMallocGetCurrentUsage(&after);
      EXPECT_EQ(before + excused, after)
        << "bytes that PETSc counts, " << failed_calls - failed << " calls failed";
    }
    EXPECT_EQ(views, views_before) << "memory of Kokkos is left";
  }
  if (rank == 0)
    printf("%ld right (%ld by the reference), %ld refused, %ld failures\n", right, references, refused,
           failures);
}

} // namespace
