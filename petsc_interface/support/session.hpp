// SPDX-License-Identifier: BSD-2-Clause
/// @file session.hpp  What is alive between PetscInitialize and PetscFinalize: Kokkos, log events,
///   streams, collective errors.
#pragma once

#include "compat.h"

#include <string>

namespace ribbon::petsc {

/// Events of -log_view; docs/reference/logging.md says what each covers.
struct Events {
  PetscLogEvent detect = 0, extract = 0, factor = 0, rest = 0, solve = 0; ///< of PC line
  /// of lines that the partition cuts
  PetscLogEvent forward = 0, exchange = 0, backward = 0;
  PetscLogEvent prepare = 0, residual = 0, judge_lines = 0;       ///< of KSP line
  PetscLogEvent split = 0, mass = 0, spectra = 0;                 ///< of alternating directions
  PetscLogEvent analyse = 0, scale = 0, eliminate = 0, judge = 0; ///< of multifrontal
};
/// Registered on first use.
PetscErrorCode GetEvents(const Events **events);

/// Runs f, which returns a PetscErrorCode, as an event, which ends where f fails,
/// too: an error may be handled.
template <class F>
PetscErrorCode Logged(PetscLogEvent Events::*event, const F &f)
{
  const Events *events;
  PetscFunctionBegin;
  PetscCall(GetEvents(&events));
  PetscCall(PetscLogEventBegin(events->*event, 0, 0, 0, 0));
  const PetscErrorCode error = f();
  PetscCall(PetscLogEventEnd(events->*event, 0, 0, 0, 0));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Starts Kokkos unless it runs, on the device that PETSc uses. Called by the first
/// set-up, never by registration.
PetscErrorCode EnsureKokkos();

/// Execution space instance for the work that PETSc queues now: its current stream on CUDA.
template <class Exec>
Exec current_space();

/// Waits until v may be written to on the host: PETSc copies numbers to a device behind the caller's back,
/// from pinned memory that it hands out again at once.
PetscErrorCode AwaitCopies(Vec v);

/// Prints a warning on stderr, once in a process for each `kind`. Logically collective: the
/// first rank of comm prints.
PetscErrorCode WarnOnce(MPI_Comm comm, const std::string &kind, const std::string &sentence);

/// Gives all ranks the sentence, and its number, of the lowest rank that has one; nothing changes where
/// all are empty. Collective.
PetscErrorCode AgreeOnSentence(MPI_Comm comm, std::string *what, int *number);

/// Raises one error with one text on all ranks of comm when any rank has one. Collective. `what` is empty on
/// ranks without an error; the text of the lowest rank that has one counts.
PetscErrorCode CollectiveError(MPI_Comm comm, PetscErrorCode code, const std::string &what);

} // namespace ribbon::petsc
