// SPDX-License-Identifier: BSD-2-Clause
/// @file choice.hpp  Format of a table of measurements, and lookup in it. `auto` uses auto_table.hpp.
#pragma once

#include <ribbon/algorithm/name.hpp>

#include <cstdint>
#include <limits>

namespace ribbon::choice {

enum class Layout { interleaved, contiguous };

/// Origin of the coefficients of a line.
enum class Source {
  constant, ///< one matrix for all lines, with equal rows except for a few at its ends
  general,  ///< one matrix for all lines, or a few matrices
  per_line, ///< one matrix per line
  shifted   ///< alpha_l A + beta_l B
};

/// A table can name one_pass, tile_products, thomas and partition.
using ribbon::Algorithm;

constexpr const char *to_string(Layout layout)
{
  return layout == Layout::interleaved ? "interleaved" : "contiguous";
}

constexpr const char *to_string(Source source)
{
  return source == Source::constant   ? "constant"
         : source == Source::general  ? "general"
         : source == Source::per_line ? "per_line"
                                      : "shifted";
}

/// Properties that a choice depends on, in addition to the length of the lines.
struct Key {
  int    K = 1, B = 1; ///< half-bandwidth, unknowns of a row
  Layout layout = Layout::interleaved;
  Source source = Source::constant;

  constexpr bool operator==(const Key &other) const
  {
    return K == other.K && B == other.B && layout == other.layout && source == other.source;
  }
};

constexpr std::int64_t any_rows = std::numeric_limits<std::int64_t>::max();

/// An entry of a table: the fastest algorithm for lines of up to `rows` rows, in a batch that fills the
/// device.
struct Entry {
  Key          key;
  std::int64_t rows      = any_rows;            ///< of B unknowns
  Algorithm    algorithm = Algorithm::one_pass; ///< the first choice of `auto`
  /// of one_pass, whether `auto` or the user chooses it; 0: the kernel has one shape
  int rows_per_thread = 0;
};

/// The first entry of the key whose `rows` is at least the length of the lines; null if there is no such
/// entry.
/// @param table  of Entry, an array or a vector
template <class Table>
constexpr const Entry *find(const Table &table, const Key &key, std::int64_t rows)
{
  for (const Entry &entry : table)
    if (entry.key == key && rows <= entry.rows) return &entry;
  return nullptr;
}

/// The same. A system without entries gets one_pass in the default shape of the kernel. `auto` tries other
/// algorithms if there is no such kernel.
template <class Table>
constexpr Entry fastest(const Table &table, const Key &key, std::int64_t rows)
{
  const Entry *entry = find(table, key, rows);
  return entry ? *entry : Entry{key};
}

/// The same in the table of auto_table.hpp. It is compiled once, so that a new table changes no kernel.
Entry measured(const Key &key, std::int64_t rows);

/// Whether every entry can be found: the rows of a key ascend, and lines of any length have an entry.
template <class Table>
constexpr bool well_formed(const Table &table)
{
  for (const Entry &entry : table)
    if (entry.rows < 1 || find(table, entry.key, entry.rows) != &entry || !find(table, entry.key, any_rows))
      return false;
  return true;
}

} // namespace ribbon::choice
