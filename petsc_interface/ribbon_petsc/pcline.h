/* SPDX-License-Identifier: BSD-2-Clause */
/* pcline.h  PC line: exact solves of the lines of a matrix. Included by ribbon.h. */
#pragma once

#include <ribbon_petsc/transport.h>

#include <petscpc.h>

/*MC
   PCLINE - Exact solves of the banded and block tridiagonal lines of an assembled matrix, in batches

   Options Database Keys:
+  -pc_line_direction <auto,x,y,z,rows,matrix> - the couplings that make the lines, or a list as x,y,z, which
      is swept in its order (default auto: the direction with the strongest couplings, all directions within
      10% of it, and others that many rows prefer)
.  -pc_line_composition <auto,multiplicative,additive,symmetric> - how the solves along several directions are
      composed (default auto: symmetric or additive, as Krylov methods for symmetric matrices need it)
.  -pc_line_ordering <auto,jacobi,zebra> - all lines of a direction at once, or every second line first and
      then the others with updated values (default auto: zebra on multigrid levels, otherwise jacobi)
.  -pc_line_strength <abs,sa,negative> - the measure of couplings along matrix (default abs: |a_ij|)
.  -pc_line_search <auto,host,rounds> - the search for lines along matrix (default auto: rounds for matrices in
      device memory that rounds accept, otherwise host)
.  -pc_line_label <name> - the label of a DMPLEX whose values mark lines (default none)
.  -pc_line_omega <omega> - damping of every solve, in [0, 2) (default 0: 1, or 0.8 (pentadiagonal lines: 0.6)
      on multigrid levels for compositions that would not smooth with 1)
.  -pc_line_iterations <its> - repetitions of the whole sweep (default 1)
.  -pc_line_lhs <auto,shared,classes,per_line> - how many different matrices are stored (default auto: as few
      as the entries allow)
.  -pc_line_lhs_tol <tol> - lines whose entries agree to tol times the largest entry of the row share a matrix
      (default 0: only equal lines share)
.  -pc_line_cut <auto,exact,drop,local,error> - how lines that span ranks are solved (default auto: drop if
      drop is exact to rounding, otherwise exact; local if it is unknown which sub-lines belong together)
.  -pc_line_cut_exchange <auto,every_rank,dealt_out> - who solves the reduced systems of lines that
      span ranks (default auto: the cheapest by a model)
.  -pc_line_cut_transport <auto,mpi,staged,nccl,peer> - how messages of lines that span ranks travel between
      devices (default auto: peer if the devices of all ranks reach each other, else nccl, if the set-up
      measures that it is faster; otherwise MPI (mpi or staged))
.  -pc_line_algorithm <auto,one_pass,thomas,pivoted,partition,tile_products,factored_reduction,
      cyclic_reduction,parallel_cyclic_reduction,cr_pcr,toeplitz_cr> - the kernel (default auto)
.  -pc_line_switch_rows <rows> - cr_pcr changes to parallel cyclic reduction where at most this many equations
      of a line are left (default 0: chosen)
.  -pc_line_precision <same,single,single_unrefined> - precision of the factors and solves along lines
      (default same: PETSc's precision; single: single precision with refined solves)
.  -pc_line_probe <auto,always,never> - how factors are judged (default auto: by certificates, and by test
      solves if there is no certificate)
.  -pc_line_zeropivot <tol> - a pivot up to tol times the largest entry of its row is zero (default 0: 100
      machine epsilon)
.  -pc_line_shift_type <none,nonzero,pin> - treatment of singular lines (default none: a failure, or pin if
      the null space of Pmat or Amat contains the constants)
.  -pc_line_shift_amount <amount> - first shift of nonzero, relative to the largest entry of a row (default 0:
      100 machine epsilon)
.  -pc_line_view <viewer> - every set-up prints the lines, the matrices, the kernel and the memory
-  -pc_line_compare <bool> - compare each application with a serial reference and print the largest difference
      (default false)

   Notes:
   Lines come from the DMDA of the PC or of the matrix, if its sizes fit. Otherwise they come from the
   pattern of the matrix: consecutive rows, or a grid in natural numbering. Otherwise lines follow the largest
   couplings. A line may be periodic, and has up to 8 entries on either side of the diagonal. If components of
   a grid point couple, a line consists of blocks of up to 8 unknowns. If they do not couple, each component
   is a line. MATMAIJ and MATKAIJ are read without assembling them.

   With KSPPREONLY, PCLINE solves batches of lines exactly. As a preconditioner, or as a smoother of PCMG, it
   is line Jacobi along one direction, or a composition of several directions. Symmetric composition, and
   additive composition in jacobi ordering, are symmetric if the matrix is. KSPCG needs a definite
   preconditioner as well: see PCLineSetComposition(). The PC runs all iterations of KSPRICHARDSON without
   norms (KSP_NORM_NONE, as PCMG sets it, or KSPConvergedSkip()) at once.

   PCGetFailedReason() reports zero pivots, NaN, and lines that every algorithm solves inaccurately.

   References:
.  * - A. Gloster, L. O Naraigh, K. E. Pang, cuPentBatch, Computer Physics Communications 241 (2019)

   Level: beginner
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
typedef enum { PC_LINE_STRENGTH_ABS, PC_LINE_STRENGTH_SA, PC_LINE_STRENGTH_NEGATIVE } PCLineStrength;
typedef enum { PC_LINE_SEARCH_AUTO, PC_LINE_SEARCH_HOST, PC_LINE_SEARCH_ROUNDS } PCLineSearch;
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
  PC_LINE_CUT_EXCHANGE_DEALT_OUT
} PCLineCutExchange;
typedef enum {
  PC_LINE_ALGORITHM_AUTO,
  PC_LINE_ALGORITHM_ONE_PASS,
  PC_LINE_ALGORITHM_THOMAS,
  PC_LINE_ALGORITHM_PIVOTED,
  PC_LINE_ALGORITHM_PARTITION,
  PC_LINE_ALGORITHM_TILE_PRODUCTS,
  PC_LINE_ALGORITHM_FACTORED_REDUCTION,
  PC_LINE_ALGORITHM_CYCLIC_REDUCTION,
  PC_LINE_ALGORITHM_PARALLEL_CYCLIC_REDUCTION,
  PC_LINE_ALGORITHM_CR_PCR,
  PC_LINE_ALGORITHM_TOEPLITZ_CR
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
PETSC_EXTERN const char *const PCLineStrengths[];
PETSC_EXTERN const char *const PCLineSearches[];
PETSC_EXTERN const char *const PCLineLhsTypes[];
PETSC_EXTERN const char *const PCLineCuts[];
PETSC_EXTERN const char *const PCLineCutExchanges[];
PETSC_EXTERN const char *const PCLineProbes[];
PETSC_EXTERN const char *const PCLineAlgorithms[];
PETSC_EXTERN const char *const PCLineShiftTypes[];
PETSC_EXTERN const char *const PCLinePrecisions[];

/* Each function takes effect at the next PCSetUp(). PCs of another type ignore values that are in range;
   PCLineSetDirections() checks its list only for PC line. A Get, and PCLineGetInfo(), is an error for PCs of
   another type. Sets are logically collective. */
/*@
   PCLineSetDirections - Sets the directions that are swept, in their order

   Input Parameters:
+  pc - the preconditioner
.  n - how many, at least 1
-  directions - PC_LINE_DIRECTION_AUTO, PC_LINE_DIRECTION_ROWS or PC_LINE_DIRECTION_MATRIX alone, or some of
      x, y and z, each once

   Options Database Key:
.  -pc_line_direction <auto,x,y,z,rows,matrix or a list> - the directions

   Level: intermediate

.seealso: PCLINE, PCLineSetDirection(), PCLineSetComposition()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetDirections(PC, PetscInt n, const PCLineDirection directions[]);
/* The array belongs to the PC and is valid until the next Set. Either pointer may be NULL. */
PETSC_EXTERN PetscErrorCode PCLineGetDirections(PC, PetscInt *n, const PCLineDirection *directions[]);
/* Sets a list of one direction. Get: the first direction of the list. */
PETSC_EXTERN PetscErrorCode PCLineSetDirection(PC, PCLineDirection);
PETSC_EXTERN PetscErrorCode PCLineGetDirection(PC, PCLineDirection *);
/*@
   PCLineSetRows - Sets the lines, as lists of rows

   Logically Collective

   Input Parameters:
+  pc - the preconditioner
.  rows - the rows of the lines of this rank, line after line, each row in its order along the line: global
      numbers of rows that this rank owns, each at most once. NULL: all rows of this rank in their order
-  offsets - the position in rows at which each line of this rank begins, and the number of rows: 0 first, one
      entry more than lines. NULL, with rows NULL: the PC finds lines itself, the default

   Notes:
   A direction other than PC_LINE_DIRECTION_AUTO does not use these lines. Lines may have any lengths,
   including zero. A row that is on no line is solved with its diagonal entry alone. If Pmat has a block size
   up to 8 and every line consists of whole blocks in their order, lines are lines of blocks, and a block on
   no line is solved alone. With MATMAIJ and MATKAIJ, rows are those of their AIJ matrix.

   Each rank uses its own part of the index sets, which may be sequential or parallel. Programs that do
   not link libribbon compose them as "PCLine_rows" and "PCLine_offsets" with the PC or with Pmat
   (PetscObjectCompose()), before the set-up. Those of the PC take precedence. The PC does not copy index sets:
   do not change them.

   A line keeps its entries up to 8 rows from the diagonal; lines of blocks of more than 3 rows keep those of
   the next block. The magnitudes of its other entries are added to the diagonals, so that lines of a positive
   definite matrix stay positive definite.

   Columns of n consecutive rows each: ISCreateStride(PETSC_COMM_SELF, columns + 1, 0, n, &offsets), and rows
   NULL.

   Level: intermediate

.seealso: PCLINE, PCLineSetDirection(), PetscObjectCompose()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetRows(PC, IS rows, IS offsets);
/* The index sets of the last PCLineSetRows(), borrowed, or NULL. Either pointer may be NULL. */
PETSC_EXTERN PetscErrorCode PCLineGetRows(PC, IS *rows, IS *offsets);
/*@
   PCLineSetLabel - Sets the label of a mesh whose values mark lines

   Logically Collective

   Input Parameters:
+  pc - the preconditioner
-  name - the name of a label of the DMPLEX of the PC, else of Pmat (PCSetDM(), MatSetDM()). NULL or "": none,
      the default

   Options Database Key:
.  -pc_line_label <name> - the label

   Notes:
   The unknowns of connected points with the same value are one line. Points of the line follow each other as
   in the mesh: a vertex, an edge that it bounds, the other vertex of this edge. Two points may also be
   connected through one point without the value, as two cells through their face. A line ends where the next
   point belongs to another rank. A point with unknowns has at most one value.

   Unknowns without the label are solved with their diagonal entries or blocks alone. PCLineSetRows() takes
   precedence. Another direction than PC_LINE_DIRECTION_AUTO is an error.

   Level: intermediate

.seealso: PCLINE, PCLineSetRows(), DMCreateLabel(), DMSetLabelValue()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetLabel(PC, const char name[]);
/* The name belongs to the PC. NULL: there is none. */
PETSC_EXTERN PetscErrorCode PCLineGetLabel(PC, const char *name[]);
/*@
   PCLineSetComposition - Sets how solves along several directions are composed

   Input Parameters:
+  pc - the preconditioner
-  composition - PC_LINE_COMPOSITION_MULTIPLICATIVE: one direction after another, each applied to the residual
      of the solves before it; PC_LINE_COMPOSITION_SYMMETRIC: the same, then in reverse order;
      PC_LINE_COMPOSITION_ADDITIVE: the average of all directions; PC_LINE_COMPOSITION_AUTO: symmetric;
      additive for wide lines in jacobi ordering, and for directions that are each strong in other rows;
      multiplicative in zebra ordering, during solves of a KSP of this PC that accepts any preconditioner

   Options Database Key:
.  -pc_line_composition <auto,multiplicative,additive,symmetric> - the composition

   Note:
   Krylov methods for symmetric matrices need PC_LINE_COMPOSITION_SYMMETRIC, or PC_LINE_COMPOSITION_ADDITIVE
   in jacobi ordering. If the matrix A is positive definite, additive composition always is. Symmetric
   composition is if lambda(A_d^-1 A) < 2 / omega for the lines A_d of every direction. Diagonally dominant
   matrices meet this condition. In zebra ordering only PC_LINE_COMPOSITION_SYMMETRIC is symmetric. A choice
   that is not symmetric prints one warning if the KSP of this PC is for symmetric matrices.

   Level: intermediate

.seealso: PCLINE, PCLineSetDirections(), PCLineSetOrdering()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetComposition(PC, PCLineComposition);
PETSC_EXTERN PetscErrorCode PCLineGetComposition(PC, PCLineComposition *);
/*@
   PCLineSetOrdering - Sets whether all lines of a direction are solved at once (jacobi), or every second line
   first and then the others with updated values (zebra)

   Input Parameters:
+  pc - the preconditioner
-  ordering - PC_LINE_ORDERING_JACOBI, PC_LINE_ORDERING_ZEBRA, or PC_LINE_ORDERING_AUTO: zebra on multigrid
      levels for tridiagonal lines of a grid, if the matrix is AIJ in host memory and directions are not
      averaged (PC_LINE_COMPOSITION_ADDITIVE), otherwise jacobi

   Options Database Key:
.  -pc_line_ordering <auto,jacobi,zebra> - the ordering

   Notes:
   If auto selects zebra ordering along one direction, and with PC_LINE_COMPOSITION_AUTO, both colours are
   swept twice.

   The colour of a line is the parity of the sum of its other grid indices. Without a DMDA it is the parity of
   the number of the line, where each sub-line of a line that spans ranks counts. If one colour has no line on
   any rank, the ordering is jacobi.

   Level: intermediate

.seealso: PCLINE, PCLineSetComposition()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetOrdering(PC, PCLineOrdering);
PETSC_EXTERN PetscErrorCode PCLineGetOrdering(PC, PCLineOrdering *);
/*@
   PCLineSetStrength - Sets the measure of couplings by which lines along the largest couplings are found

   Logically Collective

   Input Parameters:
+  pc - the preconditioner
-  strength - PC_LINE_STRENGTH_ABS: |a_ij|; PC_LINE_STRENGTH_SA: |a_ij| / sqrt(|a_ii a_jj|), the root of the
      measure of smoothed aggregation; PC_LINE_STRENGTH_NEGATIVE: max(0, -a_ij sign(a_ii)), as in classical
      algebraic multigrid; for complex numbers the positive part of the real part of -a_ij conj(a_ii) / |a_ii|

   Options Database Key:
.  -pc_line_strength <abs,sa,negative> - the measure

   Level: advanced

   Notes:
   Strengths are relative to the largest one of the row. The strength of a block is its Frobenius norm.
   PC_LINE_STRENGTH_SA divides it by norms of the diagonal blocks. PC_LINE_STRENGTH_NEGATIVE is 0 unless the
   sum of a_ij sign(a_ii) over the diagonal of the block is negative.

   The strength decides which rows form a line. Lines hold the entries of the matrix in every case. Directions
   other than PC_LINE_DIRECTION_MATRIX have no strength.

.seealso: PCLINE, PCLineSetDirections(), PCLineSetSearch(), PCGAMGSetThreshold()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetStrength(PC, PCLineStrength strength);
PETSC_EXTERN PetscErrorCode PCLineGetStrength(PC, PCLineStrength *strength);
/*@
   PCLineSetSearch - Sets the search for lines along the largest couplings

   Logically Collective

   Input Parameters:
+  pc - the preconditioner
-  search - PC_LINE_SEARCH_HOST: one coupling after another, on the host; PC_LINE_SEARCH_ROUNDS: in parallel,
      in the memory of the matrix; PC_LINE_SEARCH_AUTO: by rounds if the matrix is in device memory and
      rounds accept it, otherwise on the host

   Options Database Key:
.  -pc_line_search <auto,host,rounds> - the search

   Level: advanced

   Notes:
   PC_LINE_SEARCH_HOST copies a matrix in device memory to the host. PC_LINE_SEARCH_ROUNDS does not, unless lines are
   solved in zebra ordering or compared, or may span ranks (see PCLineSetCut()). On several ranks it copies the entries
   in columns of other ranks.

   Both searches find the same lines in two cases: if strong couplings form paths without corners, and if there are
   no ties and no rings.

   PC_LINE_SEARCH_ROUNDS is an error if the columns of a row do not ascend, if elements have more than 8 unknowns that
   do not couple with each other, or if a rank has 2^30 elements or more.

   Directions other than PC_LINE_DIRECTION_MATRIX have no search.

.seealso: PCLINE, PCLineSetDirections(), PCLineSetStrength()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetSearch(PC, PCLineSearch search);
PETSC_EXTERN PetscErrorCode PCLineGetSearch(PC, PCLineSearch *search);
/*@
   PCLineSetOmega - Sets the damping of every solve

   Input Parameters:
+  pc - the preconditioner
-  omega - in [0, 2); 0 stands for 1, or for 0.8 (pentadiagonal lines: 0.6) on multigrid levels for
      compositions that would not smooth with 1

   Options Database Key:
.  -pc_line_omega <omega> - the damping

   Note:
   With omega 1 and one direction, Richardson's iteration does not damp the error mode that is constant along
   the lines and alternates across them.

   Level: intermediate

.seealso: PCLINE, PCLineSetIterations()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetOmega(PC, PetscReal omega);
PETSC_EXTERN PetscErrorCode PCLineGetOmega(PC, PetscReal *omega);
/*@
   PCLineSetIterations - Sets how many times an application repeats the whole sweep

   Input Parameters:
+  pc - the preconditioner
-  iterations - at least 1

   Options Database Key:
.  -pc_line_iterations <its> - the repetitions

   Level: intermediate

.seealso: PCLINE, PCLineSetOmega()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetIterations(PC, PetscInt iterations);
PETSC_EXTERN PetscErrorCode PCLineGetIterations(PC, PetscInt *iterations);
PETSC_EXTERN PetscErrorCode PCLineSetLhs(PC, PCLineLhs);
PETSC_EXTERN PetscErrorCode PCLineGetLhs(PC, PCLineLhs *);
/*@
   PCLineSetLhsTol - Sets the tolerance within which the entries of lines are equal, so that the lines share a
   matrix

   Input Parameters:
+  pc - the preconditioner
-  tol - in [0, 1), relative to the largest entry of the row; 0: only equal lines share

   Options Database Key:
.  -pc_line_lhs_tol <tol> - the tolerance

   Note:
   All lines of a class are solved with the matrix of its first line. With 1e-12, lines of Galerkin
   levels that differ by rounding share a matrix. PCADI, KSPADI and TSADI solve lines exactly: inside them a
   tolerance above the square root of machine epsilon is an error.

   Level: intermediate

.seealso: PCLINE, PCLineSetLhs()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetLhsTol(PC, PetscReal tol);
PETSC_EXTERN PetscErrorCode PCLineGetLhsTol(PC, PetscReal *tol);
/*@
   PCLineSetProbe - Sets how the factors of lines are judged

   Logically Collective

   Input Parameters:
+  pc - the preconditioner
-  probe - PC_LINE_PROBE_AUTO: by certificates, which the elimination computes, and by test solves with a few
      right-hand sides if there is no certificate; PC_LINE_PROBE_ALWAYS: by test solves; PC_LINE_PROBE_NEVER:
      by certificates and pivots alone

   Options Database Key:
.  -pc_line_probe <auto,always,never> - how factors are judged

   Level: advanced

   Note:
   If there is no certificate, a set-up without test solves takes less time. It then does not detect an
   algorithm that is inaccurate for a matrix, and the condition number is unknown. Lines that span ranks, and
   singular lines that are pinned, are judged by test solves in every case.

.seealso: PCLINE, PCLineSetAlgorithm(), PCLineSetZeroPivot()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetProbe(PC, PCLineProbe probe);
PETSC_EXTERN PetscErrorCode PCLineGetProbe(PC, PCLineProbe *probe);
/*@
   PCLineSetCut - Sets how lines that span ranks are solved

   Input Parameters:
+  pc - the preconditioner
-  cut - PC_LINE_CUT_EXACT: over all ranks of the line; PC_LINE_CUT_DROP: by pairs of neighbouring ranks, as
      if sub-lines of other ranks did not couple with them; PC_LINE_CUT_AUTO: drop if drop is exact to
      rounding, otherwise exact, and local if the set-up does not know which sub-lines belong together;
      PC_LINE_CUT_LOCAL: each rank solves its sub-lines alone; PC_LINE_CUT_ERROR: such lines are an error

   Options Database Key:
.  -pc_line_cut <auto,exact,drop,local,error> - how they are solved

   Level: intermediate

.seealso: PCLINE, PCLineGetInfo()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetCut(PC, PCLineCut);
PETSC_EXTERN PetscErrorCode PCLineGetCut(PC, PCLineCut *);
/*@
   PCLineSetCutExchange - Sets who solves the reduced systems of lines that span ranks

   Input Parameters:
+  pc - the preconditioner
-  exchange - PC_LINE_CUT_EXCHANGE_EVERY_RANK: every rank of a line all of them;
      PC_LINE_CUT_EXCHANGE_DEALT_OUT: each rank those of some lines; PC_LINE_CUT_EXCHANGE_AUTO: pairs of
      neighbours if this is exact to rounding, otherwise the cheapest by a model of latency and bandwidth

   Options Database Key:
.  -pc_line_cut_exchange <auto,every_rank,dealt_out> - who solves them

   Level: intermediate

.seealso: PCLINE, PCLineSetCut()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetCutExchange(PC, PCLineCutExchange);
PETSC_EXTERN PetscErrorCode PCLineGetCutExchange(PC, PCLineCutExchange *);
/*@
   PCLineSetCutTransport - Sets how the messages of lines that span ranks travel between devices

   Input Parameters:
+  pc - the preconditioner
-  transport - see RibbonTransport

   Options Database Key:
.  -pc_line_cut_transport <auto,mpi,staged,nccl,peer> - how messages travel

   Notes:
   A transport that is not available is replaced, and the view says why. NCCL needs a build with NCCL and one
   device for each rank of a line. peer needs ranks on one host, and devices that reach each other's memory.
   Vectors on a host always use MPI.

   peer and NCCL connect the ranks in the first set-up. All objects that exchange with the same ranks share the
   connection, which PetscFinalize() ends.

   Level: intermediate

.seealso: PCLINE, PCLineSetCut(), MatCompactSetTransport()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetCutTransport(PC, RibbonTransport);
PETSC_EXTERN PetscErrorCode PCLineGetCutTransport(PC, RibbonTransport *);
PETSC_EXTERN PetscErrorCode PCLineSetAlgorithm(PC, PCLineAlgorithm);
PETSC_EXTERN PetscErrorCode PCLineGetAlgorithm(PC, PCLineAlgorithm *);
PETSC_EXTERN PetscErrorCode PCLineSetSwitchRows(PC, PetscInt rows);
PETSC_EXTERN PetscErrorCode PCLineGetSwitchRows(PC, PetscInt *rows);
/*@
   PCLineSetPrecision - Sets the precision of the factors and solves along lines

   Input Parameters:
+  pc - the preconditioner
-  precision - PC_LINE_PRECISION_SAME: PETSc's precision; PC_LINE_PRECISION_SINGLE: matrices and factors in
      single precision, in half the memory, and solves that are refined in PETSc's precision;
      PC_LINE_PRECISION_SINGLE_UNREFINED: without refinement, with relative errors of 1e-7 and more. Vectors
      keep PETSc's precision

   Options Database Key:
.  -pc_line_precision <same,single,single_unrefined> - the precision

   Note:
   A refined application is linear to the roundoff of PETSc's precision. It is the inverse of the lines with
   entries that are rounded to single precision. The set-up measures the number of refinement steps, and fails
   (PC_FACTOR_OTHER) if refinement stagnates. Without refinement the first application prints one warning,
   unless KSPLINE applies the PC and refines. Each right-hand side is scaled to the range of single precision
   line by line, so that small residuals stay accurate. Pivots are judged by the roundoff of single precision.
   PETSc in single precision ignores this option. With complex scalars PCSetUp() is an error.

   Level: intermediate

.seealso: PCLINE, KSPLINE, KSPLineSetPrecision()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetPrecision(PC, PCLinePrecision);
PETSC_EXTERN PetscErrorCode PCLineGetPrecision(PC, PCLinePrecision *);
/* tol >= 0; 0 stands for 100 machine epsilon. */
PETSC_EXTERN PetscErrorCode PCLineSetZeroPivot(PC, PetscReal tol);
PETSC_EXTERN PetscErrorCode PCLineGetZeroPivot(PC, PetscReal *tol);
/*@
   PCLineSetShiftType - Sets the treatment of singular lines

   Input Parameters:
+  pc - the preconditioner
-  type - PC_LINE_SHIFT_NONE: PCSetUp() fails; if a MatNullSpace of Pmat or of Amat contains the constants,
      none means PC_LINE_SHIFT_PIN. PC_LINE_SHIFT_NONZERO: if a pivot is zero, the diagonals of the matrices
      that are factored with it grow by PCLineSetShiftAmount() times the largest entry of their row, then by
      twice as much and so on, up to the square root of the machine epsilon, until no pivot is zero.
      PC_LINE_SHIFT_PIN: lines whose rows sum to zero (Neumann and periodic lines) have the least-squares
      solution of zero mean, which is the solution of smallest norm if the right-hand side is consistent.
      Parts of a line that do not couple with each other are pinned separately

   Options Database Key:
.  -pc_line_shift_type <none,nonzero,pin> - the type

   Note:
   PC_LINE_SHIFT_PIN is for scalar lines. Other singular lines, lines of blocks, and transposed solves with
   singular lines whose columns do not sum to zero fail as with PC_LINE_SHIFT_NONE.

   Level: intermediate

.seealso: PCLINE, PCLineSetShiftAmount(), PCLineSetZeroPivot(), MatSetNullSpace()
@*/
PETSC_EXTERN PetscErrorCode PCLineSetShiftType(PC, PCLineShiftType);
PETSC_EXTERN PetscErrorCode PCLineGetShiftType(PC, PCLineShiftType *);
/* First shift of PC_LINE_SHIFT_NONZERO, in [0, 1); 0 stands for 100 machine epsilon. */
PETSC_EXTERN PetscErrorCode PCLineSetShiftAmount(PC, PetscReal amount);
PETSC_EXTERN PetscErrorCode PCLineGetShiftAmount(PC, PetscReal *amount);
/*@
   PCLineSetCompare - Compares each solve along lines with a plain serial elimination with pivoting

   Input Parameters:
+  pc - the preconditioner
-  compare - PETSC_TRUE to compare

   Options Database Key:
.  -pc_line_compare <bool> - compare

   Note:
   Each application (with several columns: each call) prints one line: the largest difference of all its
   solves, with its row, line and rank. The difference is relative to the largest value of the reference on
   the same line. The comparison raises no error. The reference solves on the host, in extended precision,
   with the entries of the matrix at set-up. It serves to find errors, not for production.

   Level: intermediate

.seealso: PCLINE
@*/
PETSC_EXTERN PetscErrorCode PCLineSetCompare(PC, PetscBool compare);
PETSC_EXTERN PetscErrorCode PCLineGetCompare(PC, PetscBool *compare);

/* Returns the result of the last PCSetUp() on this rank: names of the directions, lines, rows per line,
   different matrices, half-bandwidth, bytes. Any pointer may be NULL. Lines, matrices and bytes are sums over
   directions and colours, rows are those of the first direction, the half-bandwidth is the largest.
   Errors: PETSC_ERR_ARG_WRONGSTATE before PCSetUp(). */
PETSC_EXTERN PetscErrorCode PCLineGetInfo(PC, const char **direction, PetscInt *lines, PetscInt *rows,
                                          PetscInt *matrices, PetscInt *half_bandwidth,
                                          PetscLogDouble *bytes);
/*@
   PCLineGetFactorInfo - Gets the condition, growth and determinant of the lines of the first direction

   Collective

   Input Parameter:
.  pc - the preconditioner, after PCSetUp()

   Output Parameters (any may be NULL; NaN if unknown):
+  rcond - the smallest reciprocal condition estimate of a line, in the maximum norm
.  row - global number of the first row of that line, -1 if unknown
.  growth - the largest entry during elimination, relative to the largest entry of its row; known for
      elimination without pivoting on the host
.  log_abs_det - log |det| of the matrix that consists of these lines, which is Pmat if no entry couples
      different lines; unknown if sub-lines of lines that span ranks are solved on their ranks
-  det_sign - det / |det|, 0 if a line is singular

   Notes:
   This call computes the determinants. With PCLineSetPrecision() they are those of the rounded matrices, and
   rcond is an estimate in single precision. After a failed set-up all values are unknown.

   Errors: PETSC_ERR_ARG_WRONGSTATE before PCSetUp().

   Level: intermediate

.seealso: PCLINE, PCLineGetInfo(), PCLineSetZeroPivot()
@*/
PETSC_EXTERN PetscErrorCode PCLineGetFactorInfo(PC, PetscReal *rcond, PetscInt *row, PetscReal *growth,
                                                PetscReal *log_abs_det, PetscScalar *det_sign);
