// SPDX-License-Identifier: BSD-2-Clause
/// @file name.hpp  Names of the values of options, and the algorithms of LineSolverOptions::algorithm.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace ribbon {

/// A value of an option, and its name.
template <class Enum>
struct Named {
  Enum        value;
  const char *name;
};

/// The value with this name, if there is one.
template <class Enum, std::size_t count>
std::optional<Enum> value_named(const Named<Enum> (&values)[count], const std::string &name)
{
  for (const Named<Enum> &entry : values)
    if (name == entry.name) return entry.value;
  return {};
}

/// "auto, always, never"
template <class Enum, std::size_t count>
std::string list_of(const Named<Enum> (&values)[count])
{
  std::string all;
  for (const Named<Enum> &entry : values) all += (all.empty() ? "" : ", ") + std::string(entry.name);
  return all;
}

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

inline constexpr Named<Algorithm> algorithm_names[] = {
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
  for (const Named<Algorithm> &entry : algorithm_names)
    if (entry.value == algorithm) return entry.name;
  return "";
}

inline std::optional<Algorithm> algorithm_named(const std::string &name)
{
  return value_named(algorithm_names, name);
}

} // namespace ribbon
