// SPDX-License-Identifier: BSD-2-Clause
#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>

#include <string>

int main(int argc, char **argv)
{
  testing::InitGoogleTest(&argc, argv);
  bool lists = false;
  for (int k = 1; k < argc; ++k) lists = lists || std::string(argv[k]).find("--gtest_list_tests") == 0;
  if (lists || testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  Kokkos::initialize(argc, argv);
  const int result = RUN_ALL_TESTS();
  Kokkos::finalize();
  return result;
}
