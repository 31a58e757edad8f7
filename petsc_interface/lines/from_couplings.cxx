// SPDX-License-Identifier: BSD-2-Clause
#include "line_map.hpp"

#include "packed.hpp"

namespace ribbon::petsc {

PetscErrorCode LinesFromCouplings(const LineSource &source, LineMap *map)
{
  const PetscInt    *ia, *ja;
  const PetscScalar *a;
  PetscInt           n, components;
  PetscBool          done;
  LineDirection      direction;
  PetscFunctionBegin;
  PetscCall(ElementSize(source, &components, nullptr));
  PetscCall(MatGetRowIJ(source.block, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "PC line: cannot read the pattern of a matrix of type %s", ((PetscObject)source.block)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(source.block, &a));
  LinesOfGraphOptions options;
  options.block = static_cast<int>(components);
  PetscCallCXX(direction = packed(lines_from_graph(CsrMatrix<Scalar, PetscInt>{n, ia, ja, reinterpret_cast<const Scalar *>(a)}, options)));
  PetscCall(MatSeqAIJRestoreArrayRead(source.block, &a));
  PetscCall(MatRestoreRowIJ(source.block, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
  direction.name       = "matrix";
  direction.components = static_cast<int>(components);
  direction.widest     = 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &direction.lines_all, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)source.rows)));
  map->source = "largest couplings of the matrix";
  map->directions.push_back(direction);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace ribbon::petsc
