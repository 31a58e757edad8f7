// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/algorithm/auto_table.hpp>

namespace ribbon::choice {

namespace {

constexpr bool policy_tries(Algorithm algorithm)
{
  return algorithm == Algorithm::one_pass || algorithm == Algorithm::tile_products ||
         algorithm == Algorithm::thomas || algorithm == Algorithm::partition;
}
constexpr bool policy_tries_all()
{
  for (const Entry &entry : auto_table)
    if (!policy_tries(entry.algorithm)) return false;
  return true;
}
static_assert(policy_tries_all(), "auto_table.hpp names an algorithm that Policy (policy.hpp) never tries: "
                                  "add it to Policy and to policy_tries()");

} // namespace

Entry measured(const Key &key, std::int64_t rows)
{
  return fastest(auto_table, key, rows);
}

} // namespace ribbon::choice
