// SPDX-License-Identifier: BSD-2-Clause
#include "run.hpp"

#include <petscdt.h>

#include <ctime>
#include <fstream>
#include <type_traits>
#ifdef __GLIBC__
  #include <malloc.h>
#endif
#include <unistd.h>
#include <vector>

using iga::Index;

// Part of this rank: consecutive elements, the functions that begin in them, and the items that it
// assembles, which are elements or functions.
struct Part {
  Index begin, end;  // elements
  Index first, last; // functions, without the one that is not an unknown
  Index first_item, items;
};

struct Objects {
  Mat A = NULL, B = NULL, X = NULL; // B, X: several right-hand sides and solutions
  Vec b = NULL, x = NULL;
  KSP ksp = NULL;
};

static PetscErrorCode Distribute(const Run &run, Part *part)
{
  const iga::SplineSpace<PetscReal> &space = run.d.space;
  PetscMPIInt                        size, rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  part->begin = space.elements * rank / size;
  part->end   = space.elements * (rank + 1) / size;
  part->first = space.first_function(part->begin);
  part->last  = part->end < space.elements ? space.first_function(part->end) : space.size();
  if (!space.periodic && part->first == 0 && part->last > 0) part->first = 1;
  part->first_item = run.d.collocation ? part->first : part->begin;
  part->items      = run.d.collocation ? part->last - part->first : part->end - part->begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Creates the objects, with the coordinates of the values that assemble() computes, in its order.
static PetscErrorCode Create(const Run &run, const Part &part, Objects *o)
{
  const iga::SplineSpace<PetscReal> &space = run.d.space;
  const PetscInt                     mine  = static_cast<PetscInt>(part.last - part.first);
  std::vector<PetscInt>              i, j, k;
  PetscMPIInt                        size;
  PC                                 pc;

  PetscFunctionBeginUser;
  for (Index item = part.first_item; item < part.first_item + part.items; item++) {
    Index e = item;
    if (run.d.collocation) (void)space.greville(item, &e);
    const Index column = space.first_function(e), end = column + space.degree;
    for (Index r = run.d.collocation ? item : column; r <= (run.d.collocation ? item : end); r++) {
      k.push_back(run.unknown(r));
      for (Index c = column; c <= end; c++) {
        i.push_back(run.unknown(r));
        j.push_back(run.unknown(c));
      }
    }
  }
  PetscCall(MatCreate(PETSC_COMM_WORLD, &o->A));
  PetscCall(MatSetSizes(o->A, mine, mine, run.unknowns(), run.unknowns()));
  PetscCall(MatSetType(o->A, MATAIJ));
  PetscCall(MatSetFromOptions(o->A));
  PetscCall(MatSetPreallocationCOO(o->A, static_cast<PetscCount>(i.size()), i.data(), j.data()));
  PetscCall(MatCreateVecs(o->A, &o->x, &o->b));
  PetscCall(VecSetOption(o->b, VEC_IGNORE_NEGATIVE_INDICES, PETSC_TRUE));
  PetscCall(VecSetPreallocationCOO(o->b, static_cast<PetscCount>(k.size()), k.data()));
  if (run.rhs > 1) {
    VecType type;
    PetscCall(VecGetType(o->x, &type));
    PetscCall(iga::CreateDense(PETSC_COMM_WORLD, type, mine, run.unknowns(), run.rhs, &o->B));
    PetscCall(MatDuplicate(o->B, MAT_DO_NOT_COPY_VALUES, &o->X));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &o->ksp));
  PetscCall(KSPSetType(o->ksp, KSPPREONLY));
  PetscCall(KSPGetPC(o->ksp, &pc));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PCSetType(pc, size > 1 ? PCREDUNDANT : PCLU));
  PetscCall(KSPSetOperators(o->ksp, o->A, o->A));
  PetscCall(KSPSetFromOptions(o->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Objects *o)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&o->ksp));
  PetscCall(MatDestroy(&o->A));
  PetscCall(MatDestroy(&o->B));
  PetscCall(MatDestroy(&o->X));
  PetscCall(VecDestroy(&o->b));
  PetscCall(VecDestroy(&o->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Phase of right-hand side k. Solutions differ only in this phase.
static PetscReal Phase(const Run &run, PetscInt k)
{
  return 2 * PETSC_PI * static_cast<PetscReal>(k) / static_cast<PetscReal>(run.rhs);
}

// Waits for all ranks and devices. *fastest becomes the minimum of itself and the seconds since *since.
// *since becomes the current time.
static PetscErrorCode Lap(const Run &run, PetscLogDouble *since, PetscLogDouble *fastest)
{
  PetscLogDouble now;

  PetscFunctionBeginUser;
  PetscCallCXX(Kokkos::fence());
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (run.cpu_time) { // PETSc's CPU time has a resolution of hundredths of seconds
    timespec t;
    PetscCheck(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0, PETSC_COMM_SELF, PETSC_ERR_SYS,
               "-cpu_time: the system does not tell");
    now = static_cast<PetscLogDouble>(t.tv_sec) + 1e-9 * static_cast<PetscLogDouble>(t.tv_nsec);
  } else PetscCall(PetscTime(&now));
  if (fastest) *fastest = PetscMin(*fastest, now - *since);
  *since = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Resident memory of this process in bytes; PETSc only reports the maximum so far. 0 if there is no /proc.
static PetscLogDouble Resident()
{
#ifdef __GLIBC__
  malloc_trim(0); // freed memory must not count
#endif
  std::ifstream  file("/proc/self/statm");
  PetscLogDouble pages = 0;
  file >> pages >> pages;
  return file ? pages * static_cast<PetscLogDouble>(sysconf(_SC_PAGESIZE)) : 0;
}

// Solves by LAPACK instead of a KSP (-lapack).
static PetscErrorCode SolveByLapack(const Run &run, const Objects &o, PetscLogDouble *time, Result *result)
{
  LapackBand   band;
  PetscScalar *x;

  PetscFunctionBeginUser;
  PetscCall(band.Load(o.A));
  if (o.B) PetscCall(MatCopy(o.B, o.X, SAME_NONZERO_PATTERN));
  else PetscCall(VecCopy(o.b, o.x));
  result->memory = static_cast<PetscLogDouble>(band.ab.size() * sizeof(PetscScalar) +
                                               band.pivots.size() * sizeof(PetscBLASInt));
  PetscCall(Lap(run, time, NULL));
  PetscCall(band.Factor());
  PetscCall(Lap(run, time, &result->setup));
  if (o.X) PetscCall(MatDenseGetArray(o.X, &x));
  else PetscCall(VecGetArray(o.x, &x));
  PetscCall(band.Solve(run.rhs, x));
  if (o.X) PetscCall(MatDenseRestoreArray(o.X, &x));
  else PetscCall(VecRestoreArray(o.x, &x));
  PetscCall(Lap(run, time, &result->solve));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Assembles, sets up and solves in the memory space of Exec, which is also that of the matrix.
template <class Exec>
static PetscErrorCode Solve(const Run &run, const Part &part, const Objects &o, Result *result)
{
  using Values = Kokkos::View<PetscScalar *, typename Exec::memory_space>;
  const Exec     exec;
  Values         matrix, vector;
  PetscLogDouble time = 0;
  // PETSc (3.24) reads values for distributed vectors of CUDA or HIP on the host
  PetscBool host_values;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)o.b, &host_values, "mpicuda", "mpihip", ""));
  PetscCallCXX(matrix =
                 Values("iga1d::matrix", static_cast<std::size_t>(part.items * run.d.matrix_entries())));
  PetscCallCXX(vector =
                 Values("iga1d::vector", static_cast<std::size_t>(part.items * run.d.vector_entries())));
  decltype(Kokkos::create_mirror_view(vector)) on_host;
  if (host_values) PetscCallCXX(on_host = Kokkos::create_mirror_view(vector));
  for (PetscInt n = 0; n < run.repeat; n++) {
    PetscCall(Lap(run, &time, NULL));
    PetscCallCXX(iga::assemble(exec, run.d, part.first_item, part.items, true, PetscReal(0), matrix));
    PetscCallCXX(exec.fence());
    PetscCall(MatSetValuesCOO(o.A, matrix.data(), INSERT_VALUES));
    for (PetscInt k = 0; k < run.rhs; k++) {
      PetscCallCXX(iga::assemble(exec, run.d, part.first_item, part.items, false, Phase(run, k), vector));
      PetscCallCXX(exec.fence());
      if (host_values) PetscCallCXX(Kokkos::deep_copy(on_host, vector));
      PetscCall(VecSetValuesCOO(o.b, host_values ? on_host.data() : vector.data(), INSERT_VALUES));
      if (o.B) {
        Vec column;
        PetscCall(MatDenseGetColumnVecWrite(o.B, k, &column));
        PetscCall(VecCopy(o.b, column));
        PetscCall(MatDenseRestoreColumnVecWrite(o.B, k, &column));
      }
    }
    PetscCall(Lap(run, &time, &result->assembly));
    if (run.lapack) {
      PetscCall(SolveByLapack(run, o, &time, result));
      continue;
    }
    const PetscLogDouble before = n == 0 ? Resident() : 0;
    PetscCall(KSPSetOperators(o.ksp, o.A, o.A));
    PetscCall(KSPSetUp(o.ksp));
    PetscCall(KSPSetUpOnBlocks(o.ksp));
    PetscCall(Lap(run, &time, &result->setup));
    if (o.B) PetscCall(KSPMatSolve(o.ksp, o.B, o.X));
    else PetscCall(KSPSolve(o.ksp, o.b, o.x));
    PetscCall(Lap(run, &time, &result->solve));
    if (n == 0) result->memory = PetscMax(0, Resident() - before);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Coefficients of the functions with support on elements of this rank; zero for a function that is not an
// unknown.
static PetscErrorCode Coefficients(const Run &run, const Part &part, Vec x,
                                   std::vector<PetscScalar> *coefficients)
{
  const iga::SplineSpace<PetscReal> &space = run.d.space;
  const Index                        first = space.first_function(part.begin),
              wanted =
                part.end > part.begin ? space.first_function(part.end - 1) + space.degree + 1 - first : 0;
  std::vector<PetscInt> from, to;
  Vec                   mine;
  IS                    unknowns, places;
  VecScatter            scatter;

  PetscFunctionBeginUser;
  coefficients->assign(static_cast<std::size_t>(wanted), 0);
  for (Index k = 0; k < wanted; k++) {
    if (run.unknown(first + k) < 0) continue;
    from.push_back(run.unknown(first + k));
    to.push_back(static_cast<PetscInt>(k));
  }
  PetscCall(
    VecCreateSeqWithArray(PETSC_COMM_SELF, 1, static_cast<PetscInt>(wanted), coefficients->data(), &mine));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(from.size()), from.data(),
                            PETSC_USE_POINTER, &unknowns));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(to.size()), to.data(), PETSC_USE_POINTER,
                            &places));
  PetscCall(VecScatterCreate(x, unknowns, mine, places, &scatter));
  PetscCall(VecScatterBegin(scatter, x, mine, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, mine, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&unknowns));
  PetscCall(ISDestroy(&places));
  PetscCall(VecDestroy(&mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The larger of two values, or NaN if one of them is NaN: a failed solve has no small error.
static PetscReal Larger(PetscReal a, PetscReal b)
{
  return a >= b || PetscIsNanReal(a) ? a : b;
}

// Relative errors of the spline with coefficients x. The quadrature has one more point than that of the
// matrix.
static PetscErrorCode Errors(const Run &run, const Part &part, Vec x, PetscReal phase, Result *result)
{
  std::vector<PetscScalar>   coefficients;
  iga::Quadrature<PetscReal> gauss;

  PetscFunctionBeginUser;
  PetscCall(Coefficients(run, part, x, &coefficients));
  gauss.points = run.d.gauss.points + 1;
  PetscCall(PetscDTGaussQuadrature(gauss.points, 0, 1, gauss.x, gauss.w));
  const auto s = iga::squares(run.d, gauss, part.begin, part.end - part.begin, phase, coefficients.data());
  PetscReal  sums[4] = {s.error, s.slope_error, s.u, s.slope};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  result->l2 = Larger(result->l2, PetscSqrtReal(sums[0] / sums[2]));
  result->h1 = Larger(result->h1, PetscSqrtReal((sums[0] + sums[1]) / (sums[2] + sums[3])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Writes the spline with coefficients x and the exact solution at the quadrature points of the matrix.
static PetscErrorCode WriteField(const Run &run, const Part &part, Vec x, PetscReal phase)
{
  std::vector<PetscScalar> coefficients;

  PetscFunctionBeginUser;
  PetscCall(Coefficients(run, part, x, &coefficients));
  for (Index e = part.begin; e < part.end; e++) {
    const iga::LocalKnots<PetscReal> t = run.d.space.local_knots(e);
    const PetscScalar               *c =
      coefficients.data() + (run.d.space.first_function(e) - run.d.space.first_function(part.begin));
    for (int q = 0; q < run.d.gauss.points; q++) {
      const auto point =
        run.d.curve.at(run.d.space.degree, t, t.left[0] + run.d.gauss.x[q] * (t.right[0] - t.left[0]));
      PetscScalar value = 0;
      for (int r = 0; r <= run.d.space.degree; r++) value += c[r] * point.basis.value[r];
      PetscCall(PetscSynchronizedFPrintf(
        PETSC_COMM_WORLD, run.field, "%d,%" PetscInt_FMT ",%.16e,%.16e,%.16e\n", run.d.space.degree,
        static_cast<PetscInt>(run.d.space.elements), (double)point.length, (double)PetscRealPart(value),
        (double)run.d.problem.exact(point.length, phase).value));
    }
  }
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, run.field));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Destroys b.
static PetscErrorCode BackwardError(Mat A, PetscReal norm, Vec x, Vec b, Result *result)
{
  PetscReal nb, nr, nx;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_INFINITY, &nb));
  PetscCall(VecNorm(x, NORM_INFINITY, &nx));
  PetscCall(VecScale(b, -1));
  PetscCall(MatMultAdd(A, x, b, b));
  PetscCall(VecNorm(b, NORM_INFINITY, &nr));
  result->backward = Larger(result->backward, nr / (norm * nx + nb));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Measure(const Run &run, Result *result)
{
  using Host              = Kokkos::DefaultHostExecutionSpace;
  using Device            = Kokkos::DefaultExecutionSpace;
  Part               part = {};
  Objects            o;
  PetscScalar       *array;
  PetscMemType       memory;
  PetscReal          norm;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Distribute(run, &part));
  PetscCall(Create(run, part, &o));
  PetscCall(VecGetArrayWriteAndMemType(o.b, &array, &memory));
  PetscCall(VecRestoreArrayWriteAndMemType(o.b, &array));
  PetscCheck(PetscMemTypeHost(memory) || !(std::is_same<Host, Device>::value), PETSC_COMM_WORLD,
             PETSC_ERR_SUP, "-mat_type: this Kokkos has no device, where such matrices are");
  if (PetscMemTypeHost(memory)) PetscCall(Solve<Host>(run, part, o, result));
  else PetscCall(Solve<Device>(run, part, o, result));
  if (run.lapack) reason = KSP_CONVERGED_ITS;
  else PetscCall(KSPGetConvergedReason(o.ksp, &reason));
  if (reason < 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s:\n", KSPConvergedReasons[reason]));
  PetscCall(MatNorm(o.A, NORM_INFINITY, &norm));
  for (PetscInt k = 0; k < run.rhs; k++) {
    if (o.B) {
      PetscCall(MatGetColumnVector(o.B, o.b, k));
      PetscCall(MatGetColumnVector(o.X, o.x, k));
    }
    PetscCall(Errors(run, part, o.x, Phase(run, k), result));
    if (run.write_field && k == 0) PetscCall(WriteField(run, part, o.x, Phase(run, k)));
    PetscCall(BackwardError(o.A, norm, o.x, o.b, result));
  }
  PetscCall(Destroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
