// SPDX-License-Identifier: BSD-2-Clause
/// @file fuzz_fixture.hpp  Checks of random cases: one error on all ranks, memory that remains, a watchdog.
#pragma once

#include "fuzz_options.hpp"

#include <Kokkos_Core.hpp>

#include <csignal>
#include <cstring>
#include <memory>
#include <unistd.h>

namespace test {

inline long environment(const char *name, long otherwise)
{
  const char *value = std::getenv(name);
  return value ? std::atol(value) : otherwise;
}

inline char running[64]; // names the case that takes too long or ends the program
inline void stop(int)
{
  if (write(2, running, std::strlen(running)) < 0) _exit(2);
  _exit(1);
}

inline int            raised = 0; ///< errors that began in the current call
inline std::string    said;
inline PetscErrorCode count_error(MPI_Comm, int, const char *, const char *, PetscErrorCode code,
                                  PetscErrorType type, const char *message, void *)
{
  if (type == PETSC_ERROR_INITIAL) ++raised, said = message ? message : "";
  return code;
}

inline long views = 0; ///< existing views of Ribbon
inline bool is_ours(const char *label)
{
  return std::strncmp(label, "ribbon::", 8) == 0;
}

/// Calls that all ranks make together, and vectors whose entries all ranks know.
class Fuzz : public Petsc {
protected:
  void SetUp() override
  {
    Petsc::SetUp();
    PetscPushErrorHandler(count_error, nullptr);
    for (int s : {SIGALRM, SIGSEGV, SIGFPE, SIGABRT}) std::signal(s, stop);
    Kokkos::Tools::Experimental::set_allocate_data_callback([](const Kokkos::Tools::SpaceHandle,
                                                               const char *label, const void *,
                                                               std::uint64_t) { views += is_ours(label); });
    Kokkos::Tools::Experimental::set_deallocate_data_callback([](const Kokkos::Tools::SpaceHandle,
                                                                 const char *label, const void *,
                                                                 std::uint64_t) { views -= is_ours(label); });
  }
  void TearDown() override
  {
    alarm(0);
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
    PetscPopErrorHandler();
    Petsc::TearDown();
  }

  bool sound(const Options &o) const { return problem->sound && o.zero_pivot < 0.1; }

  /// A collective call. It succeeds on all ranks, or raises one error with the same text on all ranks.
  /// @return whether it failed
  bool fails(const char *name, const std::function<PetscErrorCode()> &call)
  {
    struct Report {
      int  failed, errors;
      char text[600];
    } mine{};
    raised      = 0, said.clear();
    mine.failed = call() != 0, mine.errors = raised;
    said.copy(mine.text, sizeof mine.text - 1);
    std::vector<Report> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, PETSC_COMM_WORLD);
    text = all[0].text;
    for (int r = 0; r < ranks; ++r) {
      const Report &it = all[static_cast<std::size_t>(r)];
      EXPECT_EQ(it.failed, all[0].failed)
        << name << ": rank " << r << " says: " << it.text << "; rank 0: " << text;
      EXPECT_EQ(it.errors, it.failed) << name << ": one call, one error; rank " << r << ": " << it.text;
      EXPECT_EQ(std::string(it.text), text) << name << ": one text on all ranks";
    }
    EXPECT_TRUE(!all[0].failed || !text.empty()) << name << ": an error without a word";
    failed_calls += all[0].failed;
    return all[0].failed != 0;
  }
  /// Checks that a value is the same on all ranks.
  int agreed(int mine)
  {
    int all[2] = {mine, -mine};
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    EXPECT_EQ(all[0], -all[1]) << "not the same on all ranks";
    return all[0];
  }

  Vec vector(std::uint64_t seed)
  {
    Vec      v;
    PetscInt begin, end;
    MatCreateVecs(problem->A, nullptr, &v);
    VecGetOwnershipRange(v, &begin, &end);
    PetscScalar *a;
    VecGetArray(v, &a);
    for (PetscInt k = begin; k < end; ++k) a[k - begin] = Draw::noise(seed, k, 1);
    VecRestoreArray(v, &a);
    return v;
  }
  /// M b, or M^T b.
  Numbers applied(Vec b, bool transposed = false)
  {
    Vec x;
    VecDuplicate(b, &x);
    VecSet(x, 77);
    EXPECT_FALSE(
      fails("PCApply", [&] { return transposed ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x); }))
      << text;
    Numbers result = gathered(x);
    VecDestroy(&x);
    return result;
  }
  static double largest(const Numbers &x)
  {
    double most = 0;
    for (const PetscScalar &v : x)
      most = std::max(most, std::isfinite(static_cast<double>(PetscAbsScalar(v)))
                              ? static_cast<double>(PetscAbsScalar(v))
                              : std::numeric_limits<double>::infinity());
    return most;
  }
  static double distance(const Numbers &x, const Numbers &y)
  {
    Numbers d = x;
    for (std::size_t k = 0; k < d.size(); ++k) d[k] -= y[k];
    return largest(d);
  }
  static PetscScalar dot(const Numbers &x, const Numbers &y)
  {
    PetscScalar sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
    return sum;
  }

  double largest_row() const
  {
    PetscReal norm;
    MatNorm(problem->stored(), NORM_INFINITY, &norm);
    return static_cast<double>(norm);
  }
  double smallest_diagonal() const
  {
    Vec       d;
    PetscReal least;
    MatCreateVecs(problem->stored(), nullptr, &d);
    MatGetDiagonal(problem->stored(), d);
    VecAbs(d);
    VecMin(d, nullptr, &least);
    VecDestroy(&d);
    return std::max(static_cast<double>(least), 1e-3);
  }

  PC                       pc = nullptr;
  std::unique_ptr<Problem> problem;
  std::string              text;             ///< of the last error
  long                     failed_calls = 0; ///< since the start of the test
};

} // namespace test
