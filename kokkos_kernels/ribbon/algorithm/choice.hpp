// SPDX-License-Identifier: BSD-2-Clause
/// @file choice.hpp  How a table of measurements is written down and looked up; auto_table.hpp is
///   the one that `auto` goes by.
#pragma once

#include <ribbon/algorithm/name.hpp>

#include <cstdint>
#include <limits>

namespace ribbon::choice {

enum class Layout { interleaved, contiguous };

/// Where the coefficients of a line come from.
enum class Source {
  constant, ///< one matrix for all lines, whose rows agree but for a few at its ends
  general,  ///< one matrix for all lines, or a few
  per_line, ///< one for every line
  shifted   ///< alpha_l A + beta_l B
};

/// A table names one_pass, tile_products, thomas and partition.
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

/// What a choice depends on besides the length of the lines.
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

/// A line of a table: what is fastest for lines of up to `rows` rows, in a batch that fills the device.
struct Entry {
  Key          key;
  std::int64_t rows      = any_rows;            ///< of B unknowns
  Algorithm    algorithm = Algorithm::one_pass; ///< what `auto` tries first
  /// of one_pass, be it chosen or asked for by name; 0: the kernel has one shape
  int rows_per_thread = 0;
};

/// The first entry of the key that reaches to lines of so many rows; null where there is none.
/// @param table  of Entry, an array or a vector
template <class Table>
constexpr const Entry *find(const Table &table, const Key &key, std::int64_t rows)
{
  for (const Entry &entry : table)
    if (entry.key == key && rows <= entry.rows) return &entry;
  return nullptr;
}

/// The same. A system without entries gets one_pass in the kernel's own shape, and `auto` goes on
/// where there is no such kernel.
template <class Table>
constexpr Entry fastest(const Table &table, const Key &key, std::int64_t rows)
{
  const Entry *entry = find(table, key, rows);
  return entry ? *entry : Entry{key};
}

/// The same in the table of auto_table.hpp, which is compiled once: a new table changes no kernel.
Entry measured(const Key &key, std::int64_t rows);

/// Whether every entry is reached, so that the rows of a key ascend, and lines of any length find one.
template <class Table>
constexpr bool well_formed(const Table &table)
{
  for (const Entry &entry : table)
    if (entry.rows < 1 || find(table, entry.key, entry.rows) != &entry || !find(table, entry.key, any_rows))
      return false;
  return true;
}

} // namespace ribbon::choice
