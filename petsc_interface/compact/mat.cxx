// SPDX-License-Identifier: BSD-2-Clause
#include "mat.hpp"

#include "../support/format.hpp"
#include "../support/open_arrays.hpp"
#include "../support/session.hpp"

using namespace ribbon::petsc;

/// Factors. Collective.
static PetscErrorCode Prepare(Mat A, bool transposed, CompactLines *lines)
{
  std::string failure;
  PetscFunctionBegin;
  PetscCall(
    Logged(&Events::factor, [&] { return lines->prepare(CompactOf(A)->request, transposed, &failure); }));
  PetscCall(CollectiveError(PetscObjectComm((PetscObject)A), PETSC_ERR_MAT_LU_ZRPVT,
                            failure.empty() ? "" : "Mat compact: A cannot be solved: " + failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// y = A u + v, or A^T u + v, on a device if all vectors are there; v may be null. Collective.
static PetscErrorCode Multiply(Mat A, bool transposed, Vec u, Vec v, Vec y)
{
  Mat_Compact *mat    = CompactOf(A);
  const Scalar factor = mat->given.factor, shift = mat->given.shift;
  const bool   shifts = shift != Scalar(0);
  bool         device = false, also = false;
  PetscFunctionBegin;
  PetscCall(SetUpCompact(A));
  PetscCall(VecIsOnDevice(u, &device));
  for (Vec other : {v, y}) {
    if (!other || !device) continue;
    PetscCall(VecIsOnDevice(other, &also));
    device = also;
  }
  auto &lines = mat->lines[device];
  if (!lines) PetscCallCXX(lines = CompactLines::create(device));
  if (!lines->is_prepared(transposed)) {
    const PetscErrorCode error = Prepare(A, transposed, lines.get());
    if (error) lines.reset();
    PetscCall(error);
  }
  if (v) PetscCall(lines->apply(transposed, factor, u, Scalar(1), v, y));
  else PetscCall(lines->apply(transposed, factor, u, shift, shifts ? u : nullptr, y));
  if (v && shifts) PetscCall(VecAXPY(y, reinterpret_cast<const PetscScalar &>(shift), u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_Compact(Mat A, Vec u, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Multiply(A, false, u, nullptr, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode MatMultAdd_Compact(Mat A, Vec u, Vec v, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Multiply(A, false, u, v, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode MatMultTranspose_Compact(Mat A, Vec u, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Multiply(A, true, u, nullptr, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode MatMultTransposeAdd_Compact(Mat A, Vec u, Vec v, Vec y)
{
  PetscFunctionBegin;
  PetscCall(Multiply(A, true, u, v, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Products with columns of the identity: n^2 operations for lines of n rows.
static PetscErrorCode MatGetDiagonal_Compact(Mat A, Vec d)
{
  Mat_Compact        *mat = CompactOf(A);
  PetscScalar        *values;
  std::vector<Scalar> diagonal;
  PetscFunctionBegin;
  PetscCall(SetUpCompact(A));
  PetscCallCXX(diagonal = compact_diagonal(mat->request));
  PetscCall(VecGetArrayWrite(d, &values));
  const ribbon::LineSet &lines = mat->request.lines;
  auto                  *to    = reinterpret_cast<Scalar *>(values);
  for (std::int64_t l = 0; l < lines.lines(); ++l)
    for (std::int64_t i = 0; i < lines.rows; ++i)
      to[lines(l, i)] = mat->given.factor * diagonal[static_cast<std::size_t>(i)] + mat->given.shift;
  PetscCall(VecRestoreArrayWrite(d, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatScale_Compact(Mat A, PetscScalar a)
{
  CompactValues &given = CompactOf(A)->given;
  PetscFunctionBegin;
  given.factor *= reinterpret_cast<const Scalar &>(a);
  given.shift *= reinterpret_cast<const Scalar &>(a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShift_Compact(Mat A, PetscScalar a)
{
  PetscFunctionBegin;
  CompactOf(A)->given.shift += reinterpret_cast<const Scalar &>(a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static std::string scheme_of(const Mat_Compact *mat)
{
  if (mat->given.has_stencil()) return "stencil of the application";
  const bool  half = mat->staggered != MAT_COMPACT_STAGGERED_NONE;
  std::string scheme;
  if (mat->derivative > 0) scheme = format("derivative %d", static_cast<int>(mat->derivative));
  else scheme = half ? "interpolation" : format("filter %g", static_cast<double>(mat->filter));
  scheme += format(", order %d", static_cast<int>(mat->order));
  return half ? scheme + ", staggered " + MatCompactStaggereds[mat->staggered] : scheme;
}

static std::string ends_of(const Mat_Compact *mat)
{
  if (mat->request.scheme.periodic) return "periodic";
  if (mat->given.has_stencil()) return "of the stencil";
  return mat->derivative == 0 ? "values are copied" : format("order %d", static_cast<int>(mat->ends));
}

static std::string text_of(const Scalar &a)
{
  const auto &value    = reinterpret_cast<const PetscScalar &>(a);
  const auto  real     = static_cast<double>(PetscRealPart(value)),
             imaginary = static_cast<double>(PetscImaginaryPart(value));
  return imaginary == 0 ? format("%g", real) : format("%g%+gi", real, imaginary);
}

/// "-2 A^-1 B + 3"; empty for A^-1 B.
static std::string operator_of(const CompactValues &given)
{
  std::string text = given.factor == Scalar(1) ? "" : text_of(given.factor) + " ";
  if (given.shift != Scalar(0)) return text + "A^-1 B + " + text_of(given.shift) + " I";
  return text.empty() ? "" : text + "A^-1 B";
}

/// Whether a viewer prints text that describes an object, and no entries. Raises an error for one that needs
/// entries.
static PetscErrorCode CheckViewer(PetscViewer viewer, bool *prints)
{
  PetscBool         ascii, other;
  PetscViewerFormat format;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)viewer, &other, PETSCVIEWERSTRING, PETSCVIEWERSAWS, ""));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  *prints = ascii;
  switch (format) {
  case PETSC_VIEWER_DEFAULT:
  case PETSC_VIEWER_NATIVE:
  case PETSC_VIEWER_NOFORMAT:
  case PETSC_VIEWER_LOAD_BALANCE:
  case PETSC_VIEWER_ASCII_INFO:
  case PETSC_VIEWER_ASCII_INFO_DETAIL:
  case PETSC_VIEWER_ASCII_FACTOR_INFO:
    break;
  default:
    ascii = PETSC_FALSE;
  }
  PetscCheck(ascii || other, PetscObjectComm((PetscObject)viewer), PETSC_ERR_SUP,
             "MatView: a viewer of type %s and format %s prints entries, and Mat compact stores none: view "
             "the matrix of MatComputeOperator()",
             ((PetscObject)viewer)->type_name, PetscViewerFormats[format]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ribbon::petsc::ViewCompact(Mat A, PetscViewer viewer)
{
  const Mat_Compact *mat       = CompactOf(A);
  const char        *direction = MatCompactDirections[mat->direction];
  const std::string  times     = operator_of(mat->given);
  bool               prints    = false;
  PetscFunctionBegin;
  PetscCall(CheckViewer(viewer, &prints));
  if (!prints) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  scheme: %s\n", scheme_of(mat).c_str()));
  if (!times.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  operator: %s\n", times.c_str()));
  if (!mat->ready) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  direction: %s (not set up)\n", direction));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::string spacing;
  if (mat->derivative > 0 && !mat->given.has_stencil())
    spacing = format(", spacing %g", static_cast<double>(mat->used));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  direction: %s, lines of %lld rows%s%s\n", direction,
                                   static_cast<long long>(mat->request.rows), spacing.c_str(),
                                   mat->given.metric.empty() ? "" : ", with a metric"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ends: %s\n", ends_of(mat).c_str()));
  for (int device = 0; device < 2; ++device)
    for (bool transposed : {false, true}) {
      const std::string facts = mat->lines[device] ? mat->lines[device]->facts(transposed) : "";
      if (facts.empty()) continue;
      PetscCall(PetscViewerASCIIPrintf(viewer, "  %s%s: %s\n", transposed ? "transposed kernel" : "kernel",
                                       device ? " (device)" : "", facts.c_str()));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Sizes of the DMDA or of MatCompactSetGrid(), unless they are set.
static PetscErrorCode MatSetUp_Compact(Mat A)
{
  PetscInt local[3], all[3], dof;
  PetscFunctionBegin;
  PetscCall(GetCompactSizes(A, &local, &all, &dof));
  if (A->rmap->n < 0 && A->rmap->N < 0) {
    PetscCheck(dof > 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
               "Mat compact: there is no grid: call MatSetDM() with a DMDA, or MatCompactSetGrid()");
    const PetscInt n = local[0] * local[1] * local[2] * dof, N = all[0] * all[1] * all[2] * dof;
    PetscCall(MatSetSizes(A, n, n, N, N));
  }
  PetscCall(PetscLayoutSetUp(A->rmap));
  PetscCall(PetscLayoutSetUp(A->cmap));
  A->preallocated = A->assembled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors of the type of the DM.
static PetscErrorCode MatCreateVecs_Compact(Mat A, Vec *right, Vec *left)
{
  DM      dm;
  VecType type = nullptr;
  PetscFunctionBegin;
  PetscCheck(A->preallocated, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "Mat compact: call MatSetUp() before MatCreateVecs()");
  PetscCall(MatGetDM(A, &dm));
  if (dm) PetscCall(DMGetVecType(dm, &type));
  else PetscCall(MatGetVecType(A, &type));
  for (Vec *v : {right, left}) {
    if (!v) continue;
    PetscCall(VecCreate(PetscObjectComm((PetscObject)A), v));
    PetscCall(VecSetSizes(*v, A->rmap->n, A->rmap->N));
    PetscCall(VecSetBlockSize(*v, A->rmap->bs));
    PetscCall(VecSetType(*v, type ? type : VECSTANDARD));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetFromOptions_Compact(Mat A, RibbonOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(SetCompactFromOptions(A, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_Compact(Mat A)
{
  PetscFunctionBegin;
  PetscCall(ComposeCompactOptions(A, false));
  delete CompactOf(A);
  A->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_Compact(Mat A)
{
  PetscFunctionBegin;
  PetscCallCXX(A->data = new Mat_Compact);
  A->ops->setfromoptions   = MatSetFromOptions_Compact;
  A->ops->setup            = MatSetUp_Compact;
  A->ops->mult             = MatMult_Compact;
  A->ops->multadd          = MatMultAdd_Compact;
  A->ops->multtranspose    = MatMultTranspose_Compact;
  A->ops->multtransposeadd = MatMultTransposeAdd_Compact;
  A->ops->getdiagonal      = MatGetDiagonal_Compact;
  A->ops->scale            = MatScale_Compact;
  A->ops->shift            = MatShift_Compact;
  A->ops->view             = ViewCompact;
  A->ops->getvecs          = MatCreateVecs_Compact;
  A->ops->destroy          = MatDestroy_Compact;
  SetCompactOperations(A);
  PetscCall(ComposeCompactOptions(A, true));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATCOMPACT));
  PetscFunctionReturn(PETSC_SUCCESS);
}
