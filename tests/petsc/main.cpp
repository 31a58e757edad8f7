// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.hpp"

/// Prints failures on ranks that print nothing else.
class Failures : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult &result) override
  {
    if (result.failed())
      fprintf(stderr, "rank %d: %s:%d: %s\n", rank, result.file_name() ? result.file_name() : "",
              result.line_number(), result.message());
  }
  int rank;

public:
  explicit Failures(int of) : rank(of) { }
};

int main(int argc, char **argv)
{
  testing::InitGoogleTest(&argc, argv);
  if (PetscInitialize(&argc, &argv, nullptr, nullptr) != 0) return 1;
  if (RibbonInitialize() != 0) return 1;
  char *options;
  if (PetscOptionsGetAll(nullptr, &options) != 0) return 1;
  test::command_line() = options;
  PetscFree(options);
  PetscMPIInt rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank != 0) {
    auto &listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures(static_cast<int>(rank)));
  }
  int mine = RUN_ALL_TESTS(), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  if (mine && rank != 0) fprintf(stderr, "rank %d: tests failed\n", static_cast<int>(rank));
  if (PetscFinalize() != 0) return 1;
  return all;
}
