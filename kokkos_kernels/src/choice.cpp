// SPDX-License-Identifier: BSD-2-Clause
#include <ribbon/algorithm/auto_table.hpp>

namespace ribbon::choice {

Entry measured(const Key &key, std::int64_t rows)
{
  return fastest(auto_table, key, rows);
}

} // namespace ribbon::choice
