// SPDX-License-Identifier: BSD-2-Clause
// Checks a table of `auto` that ribbon-bench made. The compiler's command line includes the table.
#include <initializer_list>

namespace ribbon::choice {

constexpr bool has_every_key()
{
  constexpr int systems[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {1, 2}, {1, 4}};
  for (const auto &system : systems)
    for (Layout layout : {Layout::interleaved, Layout::contiguous})
      for (Source source : {Source::constant, Source::general, Source::per_line, Source::shifted})
        if (!find(auto_table, {system[0], system[1], layout, source}, any_rows)) return false;
  return true;
}

static_assert(well_formed(auto_table));
static_assert(has_every_key());
static_assert(fastest(auto_table, {1, 1, Layout::interleaved, Source::constant}, 64).rows_per_thread > 0);

} // namespace ribbon::choice
