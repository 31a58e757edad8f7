// SPDX-License-Identifier: BSD-2-Clause
/// @file name.hpp  The algorithms that LineSolverOptions::algorithm names.
#pragma once

#include <optional>
#include <string>

namespace ribbon {

enum class Algorithm {
  automatic, ///< chosen by measurements and rules
  one_pass,
  tile_products,
  thomas,
  pivoted,
  partition,
  factored_reduction,
  cyclic_reduction,
  parallel_cyclic_reduction,
  cr_pcr,
  toeplitz_cr
};

struct AlgorithmName {
  Algorithm   algorithm;
  const char *name;
};
inline constexpr AlgorithmName algorithm_names[] = {
  {Algorithm::automatic, "auto"},
  {Algorithm::one_pass, "one_pass"},
  {Algorithm::tile_products, "tile_products"},
  {Algorithm::thomas, "thomas"},
  {Algorithm::pivoted, "pivoted"},
  {Algorithm::partition, "partition"},
  {Algorithm::cyclic_reduction, "cyclic_reduction"},
  {Algorithm::parallel_cyclic_reduction, "parallel_cyclic_reduction"},
  {Algorithm::cr_pcr, "cr_pcr"},
  {Algorithm::toeplitz_cr, "toeplitz_cr"},
  {Algorithm::factored_reduction, "factored_reduction"},
};

constexpr const char *to_string(Algorithm algorithm)
{
  for (const AlgorithmName &entry : algorithm_names)
    if (entry.algorithm == algorithm) return entry.name;
  return "";
}

inline std::optional<Algorithm> algorithm_named(const std::string &name)
{
  for (const AlgorithmName &entry : algorithm_names)
    if (name == entry.name) return entry.algorithm;
  return {};
}

} // namespace ribbon
