// SPDX-License-Identifier: BSD-2-Clause
#include "session.hpp"

#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ribbon::petsc {

static bool events_are_registered = false; // until PetscFinalize() drops PETSc's registry of log events

static PetscErrorCode ForgetEvents()
{
  events_are_registered = false;
  return PETSC_SUCCESS;
}

PetscErrorCode GetEvents(const Events **events)
{
  static Events e;
  PetscFunctionBegin;
  if (!events_are_registered) { // once: every PetscClassIdRegister() creates a new class
    PetscClassId id = 0;
    PetscCall(PetscClassIdRegister("Ribbon", &id));
    const std::pair<const char *, PetscLogEvent *> all[] = {{"PCLineDetect", &e.detect},
                                                            {"PCLineExtract", &e.extract},
                                                            {"PCLineFactor", &e.factor},
                                                            {"PCLineRest", &e.rest},
                                                            {"PCLineSolve", &e.solve},
                                                            {"PCLineForward", &e.forward},
                                                            {"PCLineExchange", &e.exchange},
                                                            {"PCLineBackward", &e.backward},
                                                            {"KSPLinePrepare", &e.prepare},
                                                            {"KSPLineResidual", &e.residual},
                                                            {"KSPLineJudge", &e.judge_lines},
                                                            {"ADISplit", &e.split},
                                                            {"ADIMass", &e.mass},
                                                            {"ADISpectra", &e.spectra},
                                                            {"PCMultiColor", &e.color},
                                                            {"PCMultiCopy", &e.copy_colors},
                                                            {"PCMultiSweep", &e.sweep_colors},
                                                            {"MFAnalyse", &e.analyse},
                                                            {"MFScale", &e.scale},
                                                            {"MFFactor", &e.eliminate},
                                                            {"MFJudge", &e.judge}};
    for (const auto &[name, event] : all) PetscCall(PetscLogEventRegister(name, id, event));
    PetscCall(PetscRegisterFinalize(ForgetEvents));
    events_are_registered = true;
  }
  *events = &e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if !defined(PETSC_HAVE_KOKKOS)
/// Kokkos can start only once in a process, PETSc any number of times. So a Kokkos that Ribbon started ends
/// with the process.
static void finalize_kokkos()
{
  if (Kokkos::is_initialized()) Kokkos::finalize();
}
#endif

PetscErrorCode EnsureKokkos()
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_KOKKOS)
  PetscCall(PetscKokkosInitializeCheck());
#else
  if (Kokkos::is_initialized()) PetscFunctionReturn(PETSC_SUCCESS);
  #if defined(KOKKOS_ENABLE_CUDA)
  int device = 0;
  PetscCheck(cudaGetDevice(&device) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_LIB, "Ribbon: no CUDA device");
  PetscCallCXX(
    Kokkos::initialize(Kokkos::InitializationSettings().set_device_id(device).set_disable_warnings(true)));
  #else
  PetscCallCXX(Kokkos::initialize());
  #endif
  PetscCheck(std::atexit(finalize_kokkos) == 0, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "Ribbon: cannot have Kokkos end with the process");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA) && defined(RIBBON_PETSC_HAS_STREAMS)
/// An instance allocates memory. There is one for each of PETSc's streams. They are deleted before the
/// streams end with PETSc, or before Kokkos ends.
static std::map<cudaStream_t, Kokkos::Cuda> *instances = nullptr;

static PetscErrorCode DropInstances()
{
  delete instances;
  instances = nullptr;
  return PETSC_SUCCESS;
}
#endif

template <class Exec>
Exec current_space()
{
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
  #ifdef RIBBON_PETSC_HAS_STREAMS
    PetscDeviceContext context = nullptr;
    void              *handle  = nullptr;
    if (PetscDeviceContextGetCurrentContext(&context) == PETSC_SUCCESS &&
        PetscDeviceContextGetStreamHandle(context, &handle) == PETSC_SUCCESS && handle) {
      const cudaStream_t stream = *static_cast<cudaStream_t *>(handle);
      if (!instances) {
        instances = new std::map<cudaStream_t, Kokkos::Cuda>;
        Kokkos::push_finalize_hook([] { (void)DropInstances(); });
        (void)PetscRegisterFinalize(DropInstances);
      }
      const auto found = instances->find(stream);
      return found != instances->end() ? found->second
                                       : instances->emplace(stream, Kokkos::Cuda(stream)).first->second;
    }
  #endif
  }
#endif
  return Exec();
}

template HostExec current_space<HostExec>();
#if defined(PETSC_HAVE_CUDA) && defined(KOKKOS_ENABLE_CUDA)
template DeviceExec current_space<DeviceExec>();
#endif

PetscErrorCode AwaitCopies([[maybe_unused]] Vec v)
{
  PetscFunctionBegin;
  if constexpr (has_device) {
    PetscOffloadMask where;
    PetscCall(VecGetOffloadMask(v, &where));
    if (where == PETSC_OFFLOAD_BOTH) PetscCall(PetscDeviceContextSynchronize(nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WarnOnce(MPI_Comm comm, const std::string &kind, const std::string &sentence)
{
  static std::set<std::string> said;
  PetscFunctionBegin;
  if (said.insert(kind).second)
    PetscCall(PetscFPrintf(comm, PETSC_STDERR, "WARNING! %s\n", sentence.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode AgreeOnSentence(MPI_Comm comm, std::string *what, int *number)
{
  PetscMPIInt rank, size;
  int         mine[2], lowest[2];
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  mine[0] = what->empty() ? size : rank;
  mine[1] = *number;
  PetscCallMPI(MPI_Allreduce(mine, lowest, 1, MPI_2INT, MPI_MINLOC, comm));
  if (lowest[0] == size) PetscFunctionReturn(PETSC_SUCCESS);
  std::vector<char> text(1024, '\0');
  if (rank == lowest[0]) what->copy(text.data(), text.size() - 1);
  PetscCallMPI(MPI_Bcast(text.data(), static_cast<PetscMPIInt>(text.size()), MPI_CHAR, lowest[0], comm));
  *what   = text.data();
  *number = lowest[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CollectiveError(MPI_Comm comm, PetscErrorCode code, const std::string &what)
{
  std::string sentence = what;
  int         number   = static_cast<int>(code);
  PetscFunctionBegin;
  PetscCall(AgreeOnSentence(comm, &sentence, &number));
  PetscCheck(sentence.empty(), comm, static_cast<PetscErrorCode>(number), "%s", sentence.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string option_of(PetscObject object, const char *name)
{
  return std::string("-") + (object->prefix ? object->prefix : "") + name;
}

} // namespace ribbon::petsc
