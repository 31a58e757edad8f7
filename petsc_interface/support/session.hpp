// SPDX-License-Identifier: BSD-2-Clause
/// @file session.hpp  Objects that live from PetscInitialize() to PetscFinalize(): Kokkos, log events,
///   streams; and collective errors.
#pragma once

#include "compat.h"

#include <string>

namespace ribbon::petsc {

/// Events of -log_view. docs/reference/logging.md describes the work that each measures.
struct Events {
  PetscLogEvent detect = 0, extract = 0, factor = 0, rest = 0, solve = 0; ///< of PC line
  /// of lines that span ranks
  PetscLogEvent forward = 0, exchange = 0, backward = 0;
  PetscLogEvent prepare = 0, residual = 0, judge_lines = 0;       ///< of KSP line
  PetscLogEvent split = 0, mass = 0, spectra = 0;                 ///< of alternating directions
  PetscLogEvent color = 0, copy_colors = 0, sweep_colors = 0;     ///< of PC multicolor
  PetscLogEvent analyse = 0, scale = 0, eliminate = 0, judge = 0; ///< of multifrontal
};
/// The events, which are registered on first use.
PetscErrorCode GetEvents(const Events **events);

/// Runs f, which returns a PetscErrorCode, as an event. The event also ends if f fails, because the caller
/// may handle the error.
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

/// Starts Kokkos, unless it runs, on the device of PETSc. Called by the first set-up, never by
/// registration.
PetscErrorCode EnsureKokkos();

/// Execution space instance for work that PETSc queues now: its current stream on CUDA.
template <class Exec>
Exec current_space();

/// Waits until v may be written on the host. PETSc copies values to a device asynchronously, from pinned
/// memory that it reuses at once.
PetscErrorCode AwaitCopies(Vec v);

/// Prints a warning on stderr, once in a process for each `kind`. Logically collective: the
/// first rank of comm prints.
PetscErrorCode WarnOnce(MPI_Comm comm, const std::string &kind, const std::string &sentence);

/// Sends the sentence of the lowest rank that has one, and its number, to all ranks. Without a sentence
/// nothing changes. Collective.
PetscErrorCode AgreeOnSentence(MPI_Comm comm, std::string *what, int *number);

/// Raises the same error on all ranks of comm if any rank has one. `what` is empty on ranks without an
/// error. The text is that of the lowest rank with an error. Collective.
PetscErrorCode CollectiveError(MPI_Comm comm, PetscErrorCode code, const std::string &what);

/// An option with the prefix of an object.
/// @param name  without the dash
std::string option_of(PetscObject object, const char *name);

} // namespace ribbon::petsc
