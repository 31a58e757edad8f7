// SPDX-License-Identifier: BSD-2-Clause
// Lines that the partition cuts.
#include "fixture.hpp"

using namespace test;

namespace {

class PCLineCuts : public Petsc {
protected:
  /// All ways to share the ranks among the dimensions.
  std::vector<std::vector<PetscInt>> splits(std::size_t dimensions) const
  {
    std::vector<std::vector<PetscInt>> all;
    for (PetscInt x = 1; x <= ranks; ++x)
      for (PetscInt y = 1; x * y <= ranks; ++y) {
        const PetscInt z = ranks / (x * y);
        if (x * y * z != ranks || (dimensions < 3 && z > 1) || (dimensions < 2 && y > 1)) continue;
        all.push_back({x, y, z});
      }
    return all;
  }
};

/// Where nothing couples but along the lines, a solve along them is exact whatever the partition.
TEST_F(PCLineCuts, EveryDirectionOfEveryDecomposition)
{
  for (std::size_t dimensions : {1, 2, 3})
    for (const auto &processes : splits(dimensions))
      for (std::size_t d = 0; d < dimensions; ++d)
        for (bool periodic : {false, true})
          for (PetscInt width : {1, 2}) {
            std::vector<PetscInt>  n = {dimensions == 1 ? 23 : 11, 10, 9};
            std::vector<PetscReal> strength(3, 0);
            for (std::size_t e = 0; e < 3; ++e) n[e] = std::max(n[e], processes[e] * (2 * width + 1));
            n.resize(dimensions), strength[d] = 3;
            Grid                  grid(n, strength, 0.5, periodic, std::vector<PetscInt>(processes.begin(), processes.begin() + static_cast<std::ptrdiff_t>(dimensions)), false, width);
            Line                  line(grid.A, grid.da);
            const PCLineDirection direction = static_cast<PCLineDirection>(PC_LINE_DIRECTION_X + static_cast<int>(d));
            OK(PCLineSetDirections(line.pc, 1, &direction));
            OK(PCLineSetCut(line.pc, PC_LINE_CUT_EXACT));
            const std::string what = std::to_string(dimensions) + "D along " + PCLineDirections[direction] + " on " + std::to_string(processes[0]) + " x " + std::to_string(processes[1]) + " x " +
                                     std::to_string(processes[2]) + (periodic ? ", periodic" : "") + ", width " + std::to_string(width);
            EXPECT_LT(line.residual(grid.A), 1e-13) << what;
            EXPECT_LT(line.residual(grid.A, true), 1e-13) << what;
          }
}

} // namespace
