/* SPDX-License-Identifier: BSD-2-Clause */
/* ribbon.h  What Ribbon adds to PETSc, for programs that link libribbon. Programs that only pass option flags
   need nothing of it. */
#pragma once

#include <petscpc.h>

/*MC
   PCLINE = "line" - Exact batched solves of the banded and block tridiagonal lines of the assembled operator.

   Options Database Keys:
+  -pc_line_direction <auto,x,y,z,rows,matrix> - which couplings make the lines, or a list as x,y,z to sweep
      (default auto: the strongest, all within 10% of it, with others where many rows prefer them)
.  -pc_line_composition <auto,multiplicative,additive,symmetric> - how the solves of a list are composed
      (default auto: symmetric or additive, as Krylov methods for symmetric matrices need it)
.  -pc_line_ordering <auto,jacobi,zebra> - all lines of a direction at once, or every second line and then the
      others (default auto: zebra on multigrid levels, else jacobi)
.  -pc_line_omega <omega> - damping of every solve, in [0, 2) (default 0: 1, or 0.8, with pentadiagonal lines
      0.6, on a multigrid level for compositions that would not smooth with 1)
.  -pc_line_iterations <its> - repeats of the whole (default 1)
.  -pc_line_lhs <auto,shared,classes,per_line> - how many different matrices are kept (default auto: as few as
      the values allow)
.  -pc_line_lhs_tol <tol> - lines whose entries agree to this times the largest of their row share a matrix
      (default 0: exactly)
.  -pc_line_cut <auto,exact,drop,local,error> - what to do with lines that the partition cuts (default auto:
      they are solved as one)
.  -pc_line_cut_exchange <auto,every_rank,dealt_out,groups> - who solves the reduced systems of these (default
      auto: the cheapest)
.  -pc_line_algorithm <auto,one_pass,thomas,pivoted> - the kernel (default auto)
.  -pc_line_precision <same,single,single_unrefined> - what lines are factored and solved in (default same:
      PETSc's own precision; single: its solves are refined)
.  -pc_line_probe <auto,always,never> - how factors are judged (default auto: by what the elimination proves,
      and by solves where it proves nothing)
.  -pc_line_zeropivot <tol> - a pivot this small relative to the largest entry of its row is zero (default 100
      machine epsilon)
.  -pc_line_shift_type <none,nonzero,pin> - what becomes of singular lines (default none: a failure, or pin
      where the null space of Pmat or Amat has the constants)
.  -pc_line_shift_amount <amount> - first shift of nonzero, relative to the largest entry of a row (default
      100 machine epsilon)
.  -pc_line_view <viewer> - every set-up says what lines it found, and what it made of them
-  -pc_line_compare <bool> - run the serial reference beside each application and say where they part (default
      false)

   Notes:
   Lines come from the DMDA of the PC or of the matrix, or, where there is none that fits, from the pattern of
   the matrix: consecutive rows, or a grid in natural numbering; else along its largest couplings. A line may
   be periodic and has up to 8 entries on either side of the diagonal. Components of a grid point are lines of
   their own where they do not couple, blocks of up to 8 where they do. MATMAIJ and MATKAIJ are read without
   assembling them. With KSPPREONLY it solves batches of lines exactly; as a preconditioner or as a smoother
   of PCMG it is line Jacobi, in one direction or composed of several. With symmetric composition, and with
   additive composition in jacobi ordering, it is symmetric where the matrix is. KSPRICHARDSON without norms
   (KSP_NORM_NONE, as PCMG sets it, or KSPConvergedSkip()) is done by the PC as a whole. KSPCG needs it
   definite, too: see PCLineSetComposition(). Zero pivots, NaN and matrices that lose their digits without
   pivoting are reported by PCGetFailedReason().

   References:
.  * - A. Gloster, L. O Naraigh, K. E. Pang, cuPentBatch, Computer Physics Communications 241 (2019)
M*/
#define PCLINE "line"

typedef enum {
  PC_LINE_DIRECTION_AUTO,
  PC_LINE_DIRECTION_X,
  PC_LINE_DIRECTION_Y,
  PC_LINE_DIRECTION_Z,
  PC_LINE_DIRECTION_ROWS,
  PC_LINE_DIRECTION_MATRIX
} PCLineDirection;
typedef enum {
  PC_LINE_COMPOSITION_AUTO,
  PC_LINE_COMPOSITION_MULTIPLICATIVE,
  PC_LINE_COMPOSITION_ADDITIVE,
  PC_LINE_COMPOSITION_SYMMETRIC
} PCLineComposition;
typedef enum { PC_LINE_ORDERING_AUTO, PC_LINE_ORDERING_JACOBI, PC_LINE_ORDERING_ZEBRA } PCLineOrdering;
typedef enum { PC_LINE_LHS_AUTO, PC_LINE_LHS_SHARED, PC_LINE_LHS_CLASSES, PC_LINE_LHS_PER_LINE } PCLineLhs;
typedef enum { PC_LINE_SHIFT_NONE, PC_LINE_SHIFT_NONZERO, PC_LINE_SHIFT_PIN } PCLineShiftType;
typedef enum {
  PC_LINE_CUT_AUTO,
  PC_LINE_CUT_EXACT,
  PC_LINE_CUT_DROP,
  PC_LINE_CUT_LOCAL,
  PC_LINE_CUT_ERROR
} PCLineCut;
typedef enum {
  PC_LINE_CUT_EXCHANGE_AUTO,
  PC_LINE_CUT_EXCHANGE_EVERY_RANK,
  PC_LINE_CUT_EXCHANGE_DEALT_OUT,
  PC_LINE_CUT_EXCHANGE_GROUPS
} PCLineCutExchange;
typedef enum {
  PC_LINE_ALGORITHM_AUTO,
  PC_LINE_ALGORITHM_ONE_PASS,
  PC_LINE_ALGORITHM_THOMAS,
  PC_LINE_ALGORITHM_PIVOTED
} PCLineAlgorithm;
typedef enum {
  PC_LINE_PRECISION_SAME,
  PC_LINE_PRECISION_SINGLE,
  PC_LINE_PRECISION_SINGLE_UNREFINED
} PCLinePrecision;

typedef enum { PC_LINE_PROBE_AUTO, PC_LINE_PROBE_ALWAYS, PC_LINE_PROBE_NEVER } PCLineProbe;

PETSC_EXTERN const char *const PCLineDirections[];
PETSC_EXTERN const char *const PCLineCompositions[];
PETSC_EXTERN const char *const PCLineOrderings[];
PETSC_EXTERN const char *const PCLineLhsTypes[];
PETSC_EXTERN const char *const PCLineCuts[];
PETSC_EXTERN const char *const PCLineCutExchanges[];
PETSC_EXTERN const char *const PCLineProbes[];
PETSC_EXTERN const char *const PCLineAlgorithms[];
PETSC_EXTERN const char *const PCLineShiftTypes[];
PETSC_EXTERN const char *const PCLinePrecisions[];

/* Registers everything; callable after PetscInitialize(), any number of times. Errors: PETSC_ERR_LIB for a
   PETSc of another version, scalar, precision, width of indices, debugging, device or MPI than libribbon was
   built for. */
PETSC_EXTERN PetscErrorCode RibbonInitialize(void);

/* Each takes effect at the next PCSetUp(). PCs of another type ignore values that are in range;
   PCLineSetDirections() looks into its list for PC line alone. A Get, and PCLineGetInfo(), is an error there.
   Sets are logically collective. */
/*@
   PCLineSetDirections - Sets the directions that are swept, in their order

   Input Parameters:
+  pc - the preconditioner
.  n - how many, at least 1
-  directions - PC_LINE_DIRECTION_AUTO, PC_LINE_DIRECTION_ROWS or PC_LINE_DIRECTION_MATRIX alone, or some of
      x, y and z, each once

   Options Database Key:
.  -pc_line_direction <auto,x,y,z,rows,matrix or a list> - the directions

.seealso: PCLINE, PCLineSetDirection(), PCLineSetComposition()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetDirections(PC, PetscInt n, const PCLineDirection directions[]);
/* The array belongs to the PC and holds until the next Set. Either pointer may be NULL. */
PETSC_EXTERN PetscErrorCode PCLineGetDirections(PC, PetscInt *n, const PCLineDirection *directions[]);
/* A list of one; Get: the first of the list. */
PETSC_EXTERN PetscErrorCode PCLineSetDirection(PC, PCLineDirection);
PETSC_EXTERN PetscErrorCode PCLineGetDirection(PC, PCLineDirection *);
/*@
   PCLineSetComposition - Sets how solves along several directions make one preconditioner

   Input Parameters:
+  pc - the preconditioner
-  composition - PC_LINE_COMPOSITION_MULTIPLICATIVE: one after another, each to the residual that the others
      left; PC_LINE_COMPOSITION_SYMMETRIC: the same there and back; PC_LINE_COMPOSITION_ADDITIVE: the average
      of all; PC_LINE_COMPOSITION_AUTO: symmetric; additive for wide lines in jacobi ordering and for
      directions of which each is strong elsewhere; in zebra ordering multiplicative during solves of a KSP of
      this PC that takes any preconditioner

   Options Database Key:
.  -pc_line_composition <auto,multiplicative,additive,symmetric> - the composition

   Note:
   Krylov methods for symmetric matrices need PC_LINE_COMPOSITION_SYMMETRIC, or PC_LINE_COMPOSITION_ADDITIVE
   in jacobi ordering. Of a positive definite matrix A the latter is always positive definite; the former is
   where lambda(A_d^-1 A) < 2 / omega for the lines A_d of every direction, as for diagonally dominant
   matrices. In zebra ordering only PC_LINE_COMPOSITION_SYMMETRIC is symmetric. A choice that is not symmetric
   prints one warning where the KSP of this PC is for symmetric matrices.

.seealso: PCLINE, PCLineSetDirections(), PCLineSetOrdering()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetComposition(PC, PCLineComposition);
PETSC_EXTERN PetscErrorCode PCLineGetComposition(PC, PCLineComposition *);
/*@
   PCLineSetOrdering - Sets whether all lines of a direction are solved at once (jacobi), or every second line
   first and then the others with fresh values (zebra)

   Input Parameters:
+  pc - the preconditioner
-  ordering - PC_LINE_ORDERING_JACOBI, PC_LINE_ORDERING_ZEBRA, or PC_LINE_ORDERING_AUTO: zebra on multigrid
      levels for tridiagonal lines of a grid, where AIJ is in host memory, unless they are averaged
      (PC_LINE_COMPOSITION_ADDITIVE), else jacobi

   Options Database Key:
.  -pc_line_ordering <auto,jacobi,zebra> - the ordering

   Notes:
   Where auto takes zebra ordering, along one direction and with PC_LINE_COMPOSITION_AUTO, both colours are
   swept twice.

   The colour of a line is the parity of the sum of its other grid indices, or, where there is no DMDA, of its
   number, which counts pieces of cut lines. Where one colour has no line on any rank this is jacobi.

.seealso: PCLINE, PCLineSetComposition()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetOrdering(PC, PCLineOrdering);
PETSC_EXTERN PetscErrorCode PCLineGetOrdering(PC, PCLineOrdering *);
/*@
   PCLineSetOmega - Sets the damping of every solve

   Input Parameters:
+  pc - the preconditioner
-  omega - in [0, 2); 0 stands for 1, or for 0.8 (0.6 where lines are pentadiagonal) on a multigrid level
      where compositions without damping of their own would not smooth

   Options Database Key:
.  -pc_line_omega <omega> - the damping

   Note:
   With omega 1 and one direction the error mode that is constant along the lines and alternates across them
   is not damped by Richardson's iteration.

.seealso: PCLINE, PCLineSetIterations()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetOmega(PC, PetscReal omega);
PETSC_EXTERN PetscErrorCode PCLineGetOmega(PC, PetscReal *omega);
/*@
   PCLineSetIterations - Sets how many times the whole sweep is repeated in an application

   Input Parameters:
+  pc - the preconditioner
-  iterations - at least 1

   Options Database Key:
.  -pc_line_iterations <its> - the repeats

.seealso: PCLINE, PCLineSetOmega()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetIterations(PC, PetscInt iterations);
PETSC_EXTERN PetscErrorCode PCLineGetIterations(PC, PetscInt *iterations);
PETSC_EXTERN PetscErrorCode PCLineSetLhs(PC, PCLineLhs);
PETSC_EXTERN PetscErrorCode PCLineGetLhs(PC, PCLineLhs *);
/*@
   PCLineSetLhsTol - Sets how far the entries of lines may differ that share a matrix

   Input Parameters:
+  pc - the preconditioner
-  tol - in [0, 1), relative to the largest entry of the row; 0: not at all

   Options Database Key:
.  -pc_line_lhs_tol <tol> - the tolerance

   Note:
   All lines of a class are solved with the matrix of the first one. Lines of Galerkin levels that differ by
   rounding share with 1e-12. Inside PCADI, KSPADI and TSADI, which solve lines exactly, a tolerance above the
   square root of machine epsilon is an error.

.seealso: PCLINE, PCLineSetLhs()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetLhsTol(PC, PetscReal tol);
PETSC_EXTERN PetscErrorCode PCLineGetLhsTol(PC, PetscReal *tol);
/*@
   PCLineSetProbe - Sets how the factors of lines are judged

   Logically Collective

   Input Parameters:
+  pc - the preconditioner
-  probe - PC_LINE_PROBE_AUTO: by what the elimination proves about its accuracy, and by solving with a few
      right-hand sides where it proves nothing; PC_LINE_PROBE_ALWAYS: by solving; PC_LINE_PROBE_NEVER: by what
      it proves and by its pivots alone

   Options Database Key:
.  -pc_line_probe <auto,always,never> - how they are judged

   Level: advanced

   Note:
   Without a probe a set-up is faster where nothing is proved: several right-hand sides are not solved. An
   algorithm that is inaccurate for a matrix is not found out then, and the condition number is not known.
   Lines that span ranks, and singular lines that are pinned, are judged by solving in every case.

.seealso: PCLINE, PCLineSetAlgorithm(), PCLineSetZeroPivot()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetProbe(PC, PCLineProbe probe);
PETSC_EXTERN PetscErrorCode PCLineGetProbe(PC, PCLineProbe *probe);
/*@
   PCLineSetCut - Sets what becomes of lines that the partition cuts

   Input Parameters:
+  pc - the preconditioner
-  cut - PC_LINE_CUT_EXACT: the pieces are solved together, over all ranks of a line; PC_LINE_CUT_DROP:
      together with those of the neighbours alone, as if further ones did not couple with them;
      PC_LINE_CUT_AUTO: as drop where that is exact to rounding, else exact, and local where nobody knows
      which pieces belong together; PC_LINE_CUT_LOCAL: each piece by itself; PC_LINE_CUT_ERROR: an error

   Options Database Key:
.  -pc_line_cut <auto,exact,drop,local,error> - what becomes of them

.seealso: PCLINE, PCLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetCut(PC, PCLineCut);
PETSC_EXTERN PetscErrorCode PCLineGetCut(PC, PCLineCut *);
/*@
   PCLineSetCutExchange - Sets who solves the reduced systems of lines that the partition cuts

   Input Parameters:
+  pc - the preconditioner
-  exchange - PC_LINE_CUT_EXCHANGE_EVERY_RANK: every rank of a line, all of them;
      PC_LINE_CUT_EXCHANGE_DEALT_OUT: each rank those of some lines; PC_LINE_CUT_EXCHANGE_GROUPS: in groups of
      ranks, then between the groups (with fewer than four ranks as dealt out); PC_LINE_CUT_EXCHANGE_AUTO:
      what a model of latency and bandwidth finds cheapest, and neighbours alone where that is exact to
      rounding

   Options Database Key:
.  -pc_line_cut_exchange <auto,every_rank,dealt_out,groups> - who solves them

.seealso: PCLINE, PCLineSetCut()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetCutExchange(PC, PCLineCutExchange);
PETSC_EXTERN PetscErrorCode PCLineGetCutExchange(PC, PCLineCutExchange *);
PETSC_EXTERN PetscErrorCode PCLineSetAlgorithm(PC, PCLineAlgorithm);
PETSC_EXTERN PetscErrorCode PCLineGetAlgorithm(PC, PCLineAlgorithm *);
/*@
   PCLineSetPrecision - Sets what lines are factored and solved in

   Input Parameters:
+  pc - the preconditioner
-  precision - PC_LINE_PRECISION_SAME: PETSc's own precision; PC_LINE_PRECISION_SINGLE: matrices and factors
      in single precision, in half the memory, and solves that are refined in that of PETSc;
      PC_LINE_PRECISION_SINGLE_UNREFINED: without refinement, with relative errors of 1e-7 and more; vectors
      stay what they are

   Options Database Key:
.  -pc_line_precision <same,single,single_unrefined> - the precision

   Note:
   A refined application is linear to the roundoff of PETSc's precision: the inverse of the lines with entries
   that are rounded to single precision. The set-up measures how many steps that takes, and fails
   (PC_FACTOR_OTHER) where refinement stagnates. Without refinement the first application prints one warning,
   unless KSPLINE applies it, which refines by itself. Every right-hand side is brought to the range of single
   precision line by line, so that small residuals keep their digits. Pivots are judged by the roundoff of
   single precision. PETSc in single precision ignores this; with complex scalars PCSetUp() is an error.

.seealso: PCLINE, KSPLINE, KSPLineSetPrecision()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetPrecision(PC, PCLinePrecision);
PETSC_EXTERN PetscErrorCode PCLineGetPrecision(PC, PCLinePrecision *);
/* tol >= 0; 0 stands for 100 machine epsilon */
PETSC_EXTERN PetscErrorCode PCLineSetZeroPivot(PC, PetscReal tol);
PETSC_EXTERN PetscErrorCode PCLineGetZeroPivot(PC, PetscReal *tol);
/*@
   PCLineSetShiftType - Sets what becomes of singular lines

   Input Parameters:
+  pc - the preconditioner
-  type - PC_LINE_SHIFT_NONE: PCSetUp() fails, unless a MatNullSpace of Pmat or of Amat has the constants,
      which means PC_LINE_SHIFT_PIN; PC_LINE_SHIFT_NONZERO: where a pivot is zero, the diagonals of the
      matrices that are factored with it get larger by PCLineSetShiftAmount() times the largest entry of their
      row, then by twice as much and so on, up to the square root of the machine epsilon, until no pivot is
      zero; PC_LINE_SHIFT_PIN: lines whose rows sum to zero (Neumann and periodic ones) are solved for least
      squares and zero mean, which is the solution of smallest norm where the right-hand side is consistent;
      each piece of a line that does not couple with the rest by itself

   Options Database Key:
.  -pc_line_shift_type <none,nonzero,pin> - the type

   Note:
   PC_LINE_SHIFT_PIN takes scalar lines. Other singular lines, lines of blocks, and transposed solves with
   singular lines whose columns do not sum to zero fail as with PC_LINE_SHIFT_NONE.

.seealso: PCLINE, PCLineSetShiftAmount(), PCLineSetZeroPivot(), MatSetNullSpace()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetShiftType(PC, PCLineShiftType);
PETSC_EXTERN PetscErrorCode PCLineGetShiftType(PC, PCLineShiftType *);
/* amount in [0, 1), the first one of PC_LINE_SHIFT_NONZERO; 0 stands for 100 machine epsilon */
PETSC_EXTERN PetscErrorCode PCLineSetShiftAmount(PC, PetscReal amount);
PETSC_EXTERN PetscErrorCode PCLineGetShiftAmount(PC, PetscReal *amount);
/*@
   PCLineSetCompare - Runs a plain serial elimination with pivoting beside each solve along lines

   Input Parameters:
+  pc - the preconditioner
-  compare - PETSC_TRUE to compare

   Options Database Key:
.  -pc_line_compare <bool> - compare

   Note:
   Each application (with several columns: each call) prints one line: the largest difference of all its
   solves, relative to the largest number that the reference has on the same line, with the row, the line and
   the rank where it is. Nothing is judged. The reference works on the host, in extended precision, from the
   entries that the matrix had at set-up; it is for finding errors, not for production.

.seealso: PCLINE
@*/
PETSC_EXTERN PetscErrorCode PCLineSetCompare(PC, PetscBool compare);
PETSC_EXTERN PetscErrorCode PCLineGetCompare(PC, PetscBool *compare);

/* What the last PCSetUp() found on this rank: names of the directions, lines, rows per line, distinct
   matrices, half-bandwidth, bytes held. Any pointer may be NULL. Lines, matrices and bytes are sums over
   directions and colours, rows are those of the first direction, the half-bandwidth is the largest.
   Errors: PETSC_ERR_ARG_WRONGSTATE before PCSetUp(). */
PETSC_EXTERN PetscErrorCode PCLineGetInfo(PC, const char **direction, PetscInt *lines, PetscInt *rows,
                                          PetscInt *matrices, PetscInt *half_bandwidth,
                                          PetscLogDouble *bytes);
/*@
   PCLineGetFactorInfo - Tells what the elimination of the lines of the first direction found of their
   matrices, over all ranks. Collective

   Input Parameter:
.  pc - the preconditioner, after PCSetUp()

   Output Parameters (any may be NULL; NaN where it is not known):
+  rcond - the smallest reciprocal condition estimate of a line, in the maximum norm
.  row - global number of the first row of that line, -1 where it is not known
.  growth - the largest entry that elimination met, relative to the largest of its row; known where it is
      eliminated without pivoting on the host
.  log_abs_det - log |det| of the matrix that has these lines and nothing else, which is Pmat where nothing
      couples but along them; not known where lines span ranks and are solved in pieces
-  det_sign - det / |det|, 0 where a line is singular

   Notes:
   Determinants are computed in this call. With PCLineSetPrecision() they are those of the rounded matrices,
   and rcond is an estimate in single precision. After a failed set-up all values are unknown.

   Errors: PETSC_ERR_ARG_WRONGSTATE before PCSetUp().

.seealso: PCLINE, PCLineGetInfo(), PCLineSetZeroPivot()
@*/
PETSC_EXTERN PetscErrorCode PCLineGetFactorInfo(PC, PetscReal *rcond, PetscInt *row, PetscReal *growth,
                                                PetscReal *log_abs_det, PetscScalar *det_sign);

/*MC
   MATSOLVERMULTIFRONTAL = "multifrontal" - Direct solver for banded matrices: chains and rings of unknowns,
   by orthogonal elimination on a tree (nested dissection of the chain).

   Options Database Keys:
+  -pc_type lu -pc_factor_mat_solver_type multifrontal - use it (-pc_type cholesky takes it, too)
.  -mat_multifrontal_leaf_size <rows> - rows of a leaf of the tree (default 0: as many as suit the processor)
.  -mat_multifrontal_pivot <qr,none> - orthogonal elimination, or Schur complements without pivoting, which a
      probe checks
.  -mat_multifrontal_refine <steps> - steps of iterative refinement in a solve (default 0)
-  -mat_multifrontal_view <viewer> - every factorization says what it found, solves a random right-hand side
      and estimates the condition

   Notes:
   Takes AIJ, BAIJ and SBAIJ matrices, sequential or MPI, on the host or in the device types of AIJ, with up
   to 32 entries on either side of the diagonal in their own order, around a ring, or after reverse
   Cuthill-McKee. Elimination is orthogonal (QR) wherever a chain is cut, so that nothing grows; on a host
   with one thread per rank and one rank the chain is not cut, and eliminated by band LU with partial
   pivoting. A pivot below -pc_factor_zeropivot times the largest entry of its column is zero:
   MatFactorGetError() says so, MatFactorGetErrorZeroPivot() which column. Factors of MAT_FACTOR_CHOLESKY are
   the same, and know MatGetInertia(): eigenvalues within some roundings of zero are counted as zeros, all
   other signs are certain.

   References:
.  * - S. J. Wright, Stable parallel algorithms for two-point boundary value problems, SIAM J. Sci. Stat.
      Comput. 13 (1992)
M*/
#define MATSOLVERMULTIFRONTAL "multifrontal"

typedef enum { MAT_MULTIFRONTAL_PIVOT_QR, MAT_MULTIFRONTAL_PIVOT_NONE } MatMultifrontalPivot;
PETSC_EXTERN const char *const MatMultifrontalPivots[];

/* Of a factored matrix, before its symbolic factorization, which reads the options; other solver types ignore
   a Set. Logically collective. Errors: PETSC_ERR_ARG_OUTOFRANGE for negative numbers, and what is no
   MatMultifrontalPivot. */
PETSC_EXTERN PetscErrorCode MatMultifrontalSetLeafSize(Mat F, PetscInt rows);
PETSC_EXTERN PetscErrorCode MatMultifrontalGetLeafSize(Mat F, PetscInt *rows);
PETSC_EXTERN PetscErrorCode MatMultifrontalSetPivot(Mat F, MatMultifrontalPivot pivot);
PETSC_EXTERN PetscErrorCode MatMultifrontalGetPivot(Mat F, MatMultifrontalPivot *pivot);
PETSC_EXTERN PetscErrorCode MatMultifrontalSetRefine(Mat F, PetscInt steps);
PETSC_EXTERN PetscErrorCode MatMultifrontalGetRefine(Mat F, PetscInt *steps);

#include <ribbon_petsc/kspadi.h>
#include <ribbon_petsc/kspline.h>
#include <ribbon_petsc/pcadi.h>
